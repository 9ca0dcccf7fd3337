-- SPDX-License-Identifier: BSD-2-Clause
--
-- The good exchanges that a device may serve, and which of them it does (docs/writing-checks.md, "What the device
-- serves"). A run learns that once for each role, before the role's first check; the engine keeps it (services.h).
-- Checks rest on an exchange that the device has served in this run: none of them need be this or that one.

local own = harness -- a script may take the name away

local exchanges = {}

-- What each is called in messages; the same words as in services.c.
local names = {
  ["startup"] = "a start-up",
  ["enhanced startup"] = "an enhanced start-up (RFC 6581)",
  ["empty read"] = "a zero-length RDMA Read",
  ["read"] = "an RDMA Read of its memory",
  ["send to"] = "a Send to its ULP",
  ["send from"] = "a Send of its ULP",
  ["unasked send"] = "a Send that nobody asked for",
  ["reads at once"] = "several Reads or atomics of its ULP at once",
  ["several exchanges"] = "several exchanges on one connection",
  ["connections"] = "two connections at a time",
  ["terminate"] = "a Terminate for an error",
}

--------------------------------------------------------------------------------------------------------------------
-- What is known

-- Was this exchange served? True also where nothing is known of the device: a script that runs by itself.
function Test:serves(name)
  return self.services == nil or self.services.exchanges[name] == true
end

-- Ends the check as INCONCLUSIVE: the device does not serve this. `why` where it is known from elsewhere. SKIP where
-- nobody can ask the device for a start-up.
function Test:not_served(name, why)
  if name == "startup" and self.services and self.services.exchanges.startup == nil and not why then
    self:skip("nobody can ask the device for a start-up as " .. self.role)
  end
  why = why or self.services and self.services.exchanges[name]
  local what = "the device does not serve " .. (names[name] or name) .. " as " .. self.role
  local cause, hint = self:not_served_cause(name)
  error({ verdict = "INCONCLUSIVE", not_served = true, message = what .. (type(why) == "string" and ": " .. why or ""),
          cause = cause, hint = hint }, 0)
end

-- What results that rest on it have in common, and a hint: that which made it fail, if it is known.
function Test:not_served_cause(name)
  local causes = self.services and self.services.causes or {}
  local cause = causes[name] or causes["startup"] -- without a start-up nothing more is tried
  if cause then return cause.name, cause.hint end
  return name:gsub(" ", "-") .. "-not-served-as-" .. self.role,
         "the device does not serve " .. (names[name] or name) .. " as " .. self.role
end

-- Is this exchange what the check judges (its `judges`)? "reads" are both kinds together, and "framing" stands for all
-- exchanges in full operation: where the device serves none of them, and answers no error, it may be the framing that
-- is wrong.
local groups = { reads = { "empty read", "read" }, framing = { "empty read", "read", "send to", "send from" } }

function Test:judging(name)
  for _, judged in ipairs(self.judges or {}) do
    if judged == "framing" and self.services and self.services.exchanges["terminate"] == true then goto next end
    local together = groups[judged] or { judged }
    local concerns, served, framed, refused = false, false, judged == "framing", false
    for _, one in ipairs(together) do
      concerns = concerns or one == name
      served = served or self:serves(one)
      local how = self:refused_in_frames(one)
      framed, refused = framed and how ~= false, refused or how == true
    end
    if concerns and not served and not (framed and refused) and not self:takes_no_reads(name) then return true end
    ::next::
  end
  return false
end

-- Was this exchange refused by a Terminate of DDP or RDMAP? That came in an FPDU, and answers what was in one: whatever
-- the device does not serve, it is not the framing. nil where it was served, or where nobody could ask for it.
function Test:refused_in_frames(name)
  local why = self.services and self.services.exchanges[name]
  if why == nil or why == true then return nil end
  return self.services.causes ~= nil and (self.services.causes[name] or {}).name ~= nil and
         self.services.causes[name].name:find("^terminate%-0x[01]") ~= nil
end

-- Does it take no Read Request at all? "No buffer available" on its queue is an IRD of zero, which RFC 5040 6.1 leaves
-- to the ULPs.
function Test:takes_no_reads(name)
  return (name == "empty read" or name == "read") and self.services ~= nil and self.services.causes ~= nil and
         (self.services.causes[name] or {}).name == "terminate-0x1202-for-message"
end

-- The first of these exchanges that the device serves, or that is judged; INCONCLUSIVE where there is none.
function Test:need(...)
  local wanted = { ... }
  for _, name in ipairs(wanted) do
    if self:serves(name) then return name end
  end
  for _, name in ipairs(wanted) do
    if self:judging(name) then return name end
  end
  self:not_served(wanted[1])
end

-- What is judged takes place in this exchange. It is noted, not asked for: a check may pass without it.
function Test:rests_on(name)
  self.rests[name] = true
end

-- A check is about to fail that rests on an exchange which the device does not serve: INCONCLUSIVE, unless the exchange
-- is what it judges.
function Test:judge_exchanges()
  self:judge_ulp_limits()
  for _, name in ipairs { "empty read", "read", "send to", "send from" } do
    if self.rests[name] and not self:serves(name) and not self:judging(name) then self:not_served(name) end
  end
  if self.timed_out then self.timed_out:judge_open_requests() end
end

-- `got` is none of `wants`. A ULP may reject any Request (RFC 5044 7.1.2): a device whose ULP rejects each good one
-- serves no start-up, which is no breach of what needs one.
function Test:judge_outcome(wants, got)
  if wants.rests_on then self:need(wants.rests_on) end
  if wants.plain and (got.kind == "fin" or got.kind == "reset") then self:judge_lost_startup(got) end
  local want = wants[1]
  if not (want.kind == "reply" and want.given.R == 0 and got.kind == "reply" and got.R == 1) then return end
  if self.learns then self.learns.rejects = true end
  if self.services and self.services.rejects and not self:serves("startup") then self:not_served("startup") end
end

-- The device ended a connection in place of its Reply to a Request that is not what is judged. Where it serves the next
-- start-up, as it did before the check, this one was chance: a device that loses connections fails nothing that is not
-- about them.
function Test:judge_lost_startup(got)
  if self.learns or self.again or not self:serves("startup") then return end
  local t, place, kind = own.test(self.role, "served"), rig.looked()
  t.again = true
  if pcall(exchanges["startup"], t) then
    self.cause, self.hint = "startup-lost", "the device ends some connections in place of its Reply, and serves others"
    self:inconclusive("the device ended a connection (" .. (got.kind == "fin" and "FIN" or "RST") ..
                      ") in place of its Reply, and served the next start-up")
  end
  rig.look_at(place, kind)
end

-- Has the Response to an empty Read the STag and TO of the Request? Either is allowed (RDMAP-5.2.2-12).
function Test:copies_tag()
  return self.services == nil or self.services.copies_tag ~= false
end

-- These exchanges, with the one first that the device's profile prefers (docs/profiles.md, `good_exchange`).
function Test:preferred(...)
  local wanted, first = {}, self.services and self.services.prefers
  for _, name in ipairs { ... } do
    table.insert(wanted, name == first and 1 or #wanted + 1, name)
  end
  return table.unpack(wanted)
end

-- How long the device takes: while it is learned what it serves, the slowest answer of a good exchange is kept. A check
-- that waits for silence has to wait longer than that, or it takes an answer that is on its way for none. One within
-- half of that time changes nothing.
function Test:asked()
  if self.learns then self.asked_at = rig.now() end
end

function Test:answered()
  if not self.learns or not self.asked_at then return end
  local took = rig.now() - self.asked_at
  if 2 * took > self.quiet then self.learns.answers_in = math.max(self.learns.answers_in or 0, took) end
end

-- Seconds until nothing has come, and until nothing will come any more, by what was learned of the device.
function Test:patient(reaction, quiet_time)
  local slowest = self.services and self.services.answers_in or 0
  return math.max(reaction, 4 * slowest), math.max(quiet_time, 2 * slowest)
end

--------------------------------------------------------------------------------------------------------------------
-- The exchanges, each on a connection of its own. A failure is an error, as in a check.

harness.exchanges = exchanges

local function started(t, dut)
  t:only_over_tcp("a start-up of MPA")
  if t.role == "responder" then return t:connect { port = dut and t:listen(dut) } end
  local given = copy_fields(dut)
  if given.rev == nil then given.rev = t:plain_rev() end
  return t:accept { dut = given }
end

exchanges["startup"] = function(t)
  if t:over_sctp() then return t:sctp_exchange("startup") end
  local c = started(t)
  if t.role == "responder" then c:start_as_initiator() else c:start_as_responder() end
  c:close()
end

-- A start-up with an enhanced Request. A ULP that needs more ORD than the Request has IRD may reject it and say so (RFC
-- 6581 9.1): then it is offered that, or what no ULP needs more than.
local PLENTY = 0x3FFE

function Test:connect_enhanced()
  for _, needs in ipairs { 0, 1, PLENTY } do
    local c, word = self:connect(), self:word()
    if needs == 1 then needs = self.needs or PLENTY end
    word.IRD = math.max(word.IRD, needs)
    local request = mpa.request { enhanced = word }
    c:send(request)
    local reply = c:receive()
    if reply.kind ~= "reply" or reply.R == 0 or needs == PLENTY then
      reply = c:expect_one_of { mpa.reply { R = 0 }, got = reply, message = "a good Request is answered by an accepting Reply" }
      if self.learns and needs > 0 then self.learns.needs_ird = needs end
      c:agree(request, reply)
      return c
    end
    self.needs = reply.enhanced and reply.enhanced.ORD ~= 0x3FFF and reply.enhanced.ORD or nil
    c:close()
  end
end

exchanges["enhanced startup"] = function(t)
  local c
  if t:is_draft() then t:skip("the draft has no messages that set a stream up") end
  if t:over_sctp() then
    c = t:enhanced_opened()
    c.handle:abort()
    c.handle:close()
    return
  end
  if t.role == "responder" then
    c = t:connect_enhanced()
  else
    c = t:accept { dut = { rev = 2, enhanced = true } }
    c:start_as_responder()
  end
  if c.peer.S ~= 1 or c.peer.Rev < 2 then t:fail("an enhanced start-up", "a frame with S = 1, Rev 2", describe(c.peer)) end
  c:close()
end

-- Sends a Read and takes the answer: one that `answers` is true of. `ends`: called where the stream ends in its place.
local function read_served(c, name, request, answers, ends)
  c:send(request)
  local got = c:receive()
  if ends and (got.kind == "fin" or got.kind == "reset") then return ends(got) end
  if got.kind ~= "segment" or got.Opcode ~= 2 or not answers(got) then
    c.t:fail("a good Read", "the answer to " .. names[name], c:instead({}, got))
  end
  return got
end

-- Several of them: what a device has of the Read before it does not look like a copy, and a ULP may end each connection
-- after a few exchanges.
local EMPTY_READS = 8

exchanges["empty read"] = function(t)
  local c = t:open()
  local copied, ends_after = true, nil
  local function ended()
    c:close()
    c = t:open()
  end
  for i = 0, EMPTY_READS - 1 do
    local function ask(ends)
      local request = empty_read(PROBE_STAG + i, { SinkTO = 77 * i })
      return read_served(c, "empty read", request, function(answer) return #answer.data == 0 end, ends)
    end
    local got = ask(i > 0 and ended or nil)
    if got == nil then
      ends_after, got = ends_after or i, ask()
    end
    copied = copied and got.STag == PROBE_STAG + i and got.TO == 77 * i
  end
  -- A ULP of the device's own may end what has been idle for a moment, or has had its exchange.
  local idle = not rig.has_upper_tester() and c:receive(t.quiet)
  if idle and (idle.kind == "fin" or idle.kind == "reset") then ends_after = ends_after or 1 end
  if t.learns then t.learns.copies_tag, t.learns.ends_after = copied, ends_after end
  if not (idle and idle.kind ~= "timeout") then c:finish() end
  c:close()
end

exchanges["read"] = function(t)
  local c = t:open()
  local request, answers = own.fences["read"](t, c)
  read_served(c, "read", request, answers)
  c:finish()
  c:close()
end

exchanges["send to"] = function(t)
  local c = t:open()
  t:stream_of(c)
  c:send(rdmap.send { data = "served" })
  t:expect_deliveries(c, { "served" }, "a good Send")
  t:answered()
  c:finish()
  c:close()
end

-- A responder may send only after the initiator's first FPDU (RFC 5044 7.1.2), which is a Send too.
exchanges["send from"] = function(t)
  local c = t:open()
  if t.role == "responder" then
    local stream = t:stream_of(c)
    c:send(rdmap.send { data = "first" })
    t.dut:send { stream = stream, data = hex("served") }
    c:expect(rdmap.send { data = "served" }, { message = "the Send that the device was asked for" })
  end
  c:finish()
  c:close()
end

--------------------------------------------------------------------------------------------------------------------
-- The sandwich around each check

-- From the least that a check may rest on to the most. "tcp" is for checks that judge start-up frames: where the device
-- serves a start-up they rest on one, and else on TCP alone. A profile may put another before these.
local fillings = { "empty read", "read", "send to", "send from" }

local function touch(t)
  if t.role ~= "responder" then return end
  local c = t:connect()
  rig.wait(math.max(0.01, 4 * t.round_trip)) -- the device takes it before it is closed
  c:close()
end

local function run_exchange(t, name)
  if name == "empty read" or name == "read" then
    local c = t:open()
    c:probe()
    c:finish()
    c:close()
  else
    exchanges[name](t)
  end
end

function harness.exchange(t, check)
  rig.ipsec_base() -- what a check has changed below TCP
  if check.llp and check.llp:sub(1, 4) == "sctp" then return t:sctp_exchange(check.sandwich) end
  local kind = check.sandwich or "rdma"
  if kind == "cm" or kind == "cm answer" then
    cm.exchange(t, kind)
  elseif kind == "rdma" then
    t:need("startup")
    run_exchange(t, t:need(t:preferred(table.unpack(fillings))))
  elseif kind == "startup" then
    t:need("startup")
    run_exchange(t, "startup")
  elseif kind ~= "tcp" then
    error("check " .. check.id .. ": sandwich is \"tcp\", \"startup\", \"rdma\", \"cm\" or \"cm answer\"", 0)
  elseif t:over_sctp() or t.services ~= nil and t:serves("startup") then
    run_exchange(t, "startup")
  else
    touch(t)
  end
end

--------------------------------------------------------------------------------------------------------------------
-- Learning

local ATTEMPTS = 3

local order = { "enhanced startup", "empty read", "read", "send to", "send from", "terminate", "unasked send", "connections" }

-- What is asked by the help of exchanges that were served before.
local rests = { ["unasked send"] = true }

-- What ended an exchange, as a sentence.
local function reason(err)
  local text = err.message or "no reason given"
  if err.actual then text = text .. ": " .. err.actual .. " came in place of " .. tostring(err.expected) end
  return text
end

-- true; nil where nobody can ask for it; false, a sentence and what is known of the cause. Something that happens once
-- may be chance.
local function attempt(services, f)
  local why, cause
  for _ = 1, ATTEMPTS do
    local t = own.test(services.role, "served")
    t.version_learned = services.draft_version
    local good, err = pcall(f, t)
    -- A device that serves one connection at a time has to have done with these before the next attempt.
    for _, c in ipairs(t.connections) do pcall(c.reset, c) end
    if good then return true end
    if type(err) ~= "table" then error(err, 0) end
    if err.verdict == "SKIP" then return nil end
    why, cause = reason(err), err.cause and { name = err.cause, hint = err.hint } or nil
  end
  return false, why, cause
end

-- The octets with which the device opens, or answers a good Request with this Private Data; and the Request.
local function first_answer(t, private_data)
  local request = mpa.request { private_data = private_data }
  local c = started(t)
  if t.role == "responder" then c:send(request) end
  local got = c:receive()
  c:close()
  return got, request:octets()
end

-- Does the device speak MPA, even if it is wrong? Its answer resembles a start-up frame, and it is no echo: a device
-- that gives back what it is sent is asked again with Private Data that no device has of itself, and so is one that was
-- silent.
local function first_words(t)
  local got, sent = first_answer(t, nil) -- none, or what the profile says
  if t.role == "responder" and (got.kind == "timeout" or got.octets == sent) then
    got, sent = first_answer(t, "not an echo")
  end
  if got.octets == sent then t:fail("it is an echo", "an MPA Reply", "the Request itself") end
  if got.kind == "request" or got.kind == "reply" then return end
  local key, alike = "MPA ID Req Frame", 0
  for i = 1, got.kind == "garbage" and 16 or 0 do
    if got.octets:byte(i) == key:byte(i) then alike = alike + 1 end
  end
  if alike >= 10 then return end
  t:fail("it does not speak MPA", t.role == "responder" and "an MPA Reply" or "an MPA Request", describe(got))
end

-- A start-up, and whether the device speaks MPA at all; a device that spoke once and does so no more has stopped.
local function learn_startup(services)
  if rig.llp() ~= "tcp" then -- SCTP says by itself who speaks it
    local good, why, cause = attempt(services, exchanges["startup"])
    services.speaks = good
    return good, why, cause
  end
  local good, why, cause = attempt(services, first_words)
  services.speaks = good
  if not good then return good, why, cause end
  good, why, cause = attempt(services, function(t)
    t.learns = services
    exchanges["startup"](t)
  end)
  if not good and not attempt(services, first_words) then services.speaks = false end
  return good, why, cause
end

function harness.learn(role)
  local services = { role = role, exchanges = {}, causes = {} }
  local function keep(name, good, why, cause)
    if good == nil then return end
    services.exchanges[name] = good or why
    services.causes[name] = cause
  end
  attempt(services, function(t)
    if not t:is_draft() then return end
    t:draft_learn()
    services.draft_version = t.draft_version or 1
  end)
  local good, why, cause = learn_startup(services)
  keep("startup", good, why, cause)
  if not good then return services end
  for _, name in ipairs(order) do
    keep(name, attempt(services, function(t)
      t.learns = services
      if rests[name] then t.services = { exchanges = services.exchanges, causes = services.causes } end
      exchanges[name](t)
    end))
  end
  if services.exchanges["send from"] == true then
    for _, kind in ipairs { "read", "atomic" } do
      attempt(services, function(t) services[kind .. "s_open"] = own.count_open(t, kind) end)
    end
  end
  return services
end
