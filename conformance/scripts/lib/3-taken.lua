-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a device's ULP takes that nobody asked it for. A device without an upper tester has a ULP of its own, and the
-- texts leave to it what becomes of a good message: it may close or reset a connection after a Send that it does not
-- understand, post few or short receives, or none, or end each connection after one exchange. A run learns how many
-- Sends the device takes, how long, and how many exchanges; a check that needs more of them is not decided, and no
-- check fails because of that.

local own = harness -- a script may take the name away

-- Sends that are tried one after another, their octets; and so many in a row.
local LENGTHS, COUNTS = { 1, 16, 64, 256, 1424 }, { 16, 128 }

-- What ends a connection where a ULP has ended it, or had no receive: no text demands anything else.
local function by_ulp(got)
  return got.kind == "fin" or got.kind == "reset" or is_terminate(got, { "DDP_NO_BUFFER", "DDP_TOO_LONG" })
end

local function is_send(segment)
  local given, defaults = segment.given, segment.defaults
  if defaults == nil or defaults.tagged or defaults.fields.QN ~= 0 then return false end
  for _, name in ipairs { "Opcode", "QN", "T", "DV", "RV", "Rsvd", "Rsv" } do
    if given[name] ~= nil and given[name] ~= defaults.fields[name] then return false end
  end
  return true
end

-- A good Send of the tester to a ULP that nobody has prepared for it.
function Connection:_count_unasked(segment)
  if rawget(self, "spoilt") or not is_send(segment) then return end
  if segment.given.MSN ~= nil and segment.given.MSN ~= self.msn[0] then return end
  self.sends_sent = (rawget(self, "sends_sent") or 0) + ((segment.given.L or 1) ~= 0 and 1 or 0)
  self.longest_sent = math.max(rawget(self, "longest_sent") or 0, (segment.given.MO or 0) + #(segment.given.data or ""))
end

--------------------------------------------------------------------------------------------------------------------
-- What a ULP says by itself

-- opcodes of Writes, Sends, Immediate Data
local messages = { [0] = true, [3] = true, [4] = true, [5] = true, [6] = true, [8] = true, [9] = true }

-- A good message of a responder whose ULP nobody can ask for one: a greeting, or an answer to a Send. No check waits
-- for it; rules judge it.
function Connection:_is_unasked(got)
  local good = got.kind == "segment" and messages[got.Opcode] and got.DV == 1 and got.RV == 1 and not got.cut and not got.other_model and
               (got.T == 1 or got.QN == 0)
  return good and self.t.role == "responder" and not rig.has_upper_tester() and rawget(self, "tcp") ~= nil
end

--------------------------------------------------------------------------------------------------------------------
-- Connections

-- The exchange: a start-up while another connection is in operation. A device that serves one at a time leaves it
-- waiting.
own.exchanges["connections"] = function(t)
  if t:over_sctp() or t.role ~= "responder" then t:skip("it is asked of a responder over TCP") end
  local first = t:open()
  local second = t:connect()
  second:send(mpa.request())
  local got = second:receive()
  first:reset()
  second:reset()
  if got.kind ~= "reply" then t:fail("a Request while another connection is in operation", "an MPA Reply", describe(got)) end
end

-- Before another connection: a device that serves one at a time gets it when those before are over. One that the check
-- still uses is given up then, and a check that needs it is not decided.
function Test:give_way()
  if self.services == nil or self:serves("connections") or self.learns then return end
  for _, c in ipairs(self.connections) do
    if not rawget(c, "given_way") then
      c.given_way, c.superseded = true, not rawget(c, "ended") or nil
      pcall(c.reset, c)
    end
  end
end

--------------------------------------------------------------------------------------------------------------------
-- Private Data

-- A start-up frame has the Private Data that the device's ULP wants (profile: request_private_data, reply_private_data)
-- where a check does not set it. A listener that the upper tester has made is no ULP's.
function Connection:_want_private(frame)
  local given = frame.given
  local wanted = not rawget(self, "configured") and rig.private_data(frame.kind)
  if not wanted or given.raw or given.PD_Length then return end
  if given.private_data == nil then given.private_data = wanted end
  self.other_private = given.private_data ~= wanted
end

-- The device refused a frame with other Private Data than its ULP wants: that is the ULP's right (RFC 5044 7.1.2).
function Connection:judge_private_data(got)
  if not rawget(self, "other_private") then return end
  if got.kind == "fin" or got.kind == "reset" or got.kind == "reply" and got.R == 1 then
    self.t:skip("the device's ULP wants Private Data of its own in a start-up frame, as the profile says, and this check sends other")
  end
end

--------------------------------------------------------------------------------------------------------------------
-- Sends

-- A number of Sends, each of so many octets, and whether what follows them is answered.
local function taken(c, count, octets)
  for i = 1, count do c:send_unmarked(rdmap.send { data = pattern(octets, i) }) end
  c:_stimulus()
  return c:alive()
end

-- The exchange: Sends of several lengths, then many in a row, each time on what is left of a connection. `t.learns`
-- gets what was taken.
own.exchanges["unasked send"] = function(t)
  if rig.has_upper_tester() then t:skip("the upper tester is the ULP") end
  local most = { count = 0, octets = 0 }
  local c = t:open()
  c:probe()
  local good, got
  for i, octets in ipairs(LENGTHS) do
    good, got = taken(c, 1, octets)
    if not good then break end
    most.count, most.octets = i, octets
  end
  for _, count in ipairs(good and COUNTS or {}) do
    good, got = taken(c, count, 1)
    if not good then break end
    most.count = most.count + count
  end
  if t.learns then
    t.learns.takes_sends, t.learns.longest_send = most.count, most.octets
    t.learns.ends_by_ulp = not good and by_ulp(got)
  end
  if most.count == 0 then t:fail("it takes none", "the answer to a Read after it", c:instead({}, got)) end
  c:close()
end

-- SKIP where the profile says that the device's ULP takes no more.
function Test:skip_beyond(item, needed)
  local most = rig.capability(item)
  if math.type(most) == "integer" and needed > most then
    self:skip(string.format("needs %s of %d or more, but the profile has %s = %d", item, needed, item, most))
  end
end

-- Before a verdict: what the check had sent is more than the device's ULP takes, and it ended the stream as it does
-- then.
function Test:judge_ulp_limits()
  local services = self.services
  if services == nil or rig.has_upper_tester() then return end
  for _, c in ipairs(self.connections) do
    local sends, longest, ended = rawget(c, "sends_sent") or 0, rawget(c, "longest_sent") or 0, rawget(c, "ended")
    local by = ended and by_ulp(ended)
    if by and services.ends_by_ulp and (sends > services.takes_sends or longest > services.longest_send) then
      self:skip_beyond("ulp.sends", sends)
      self:skip_beyond("ulp.send_octets", longest)
      self:not_served("unasked send", services.takes_sends > 0 and
                    string.format("its ULP takes %d of at most %d octets", services.takes_sends, services.longest_send) or nil)
    end
    if by and services.ends_after and (rawget(c, "answers") or 0) + sends >= services.ends_after then
      if not rig.capability("ulp.exchanges") then self:skip("needs ulp.exchanges, but the profile has ulp.exchanges = no") end
      self:not_served("several exchanges", "its ULP ends a connection after " .. (services.ends_after > 1 and services.ends_after or "one"))
    end
  end
end
