-- SPDX-License-Identifier: BSD-2-Clause
--
-- Sessions that `warpcheck explore` makes: a session is data, a list of steps with numbers (9-explored-steps.lua).
-- t:follow plays it and judges what the device makes of it: all that a legal step asks for has to come, on the wire and
-- at the ULP, and after a step that breaks a rule one of the reactions that the session allows (docs/exploring.md).

local Session = harness.session

local READ, READ_RESPONSE, TERMINATE, ATOMIC, ATOMIC_RESPONSE = 0x1, 0x2, 0x7, 0xA, 0xB

local function plural(count, what) return count .. " " .. what .. (count == 1 and "" or "s") end

--------------------------------------------------------------------------------------------------------------------
-- What comes

local names = { [0] = "Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
                "Send with SE and Invalidate", "Terminate", "Immediate Data", "Immediate Data with SE", "Atomic Request", "Atomic Response" }

local function entry_text(entry)
  return names[entry.opcode] .. (entry.data and " of " .. plural(#entry.data, "octet") or "")
end

function Session:awaited()
  local out = {}
  for _, list in ipairs { self.responses, self.incoming } do
    for _, entry in ipairs(list) do out[#out + 1] = entry_text(entry) end
  end
  return #out == 0 and "nothing" or table.concat(out, ", ")
end

function Session:unexpected(got)
  self.t:fail("what the device sends", self:awaited(), self.c:instead({}, got))
end

-- Payload is that of the entry at this offset: segments may come in any order (RFC 5041 5.2.2). True where the message
-- is complete.
function Session:take_payload(entry, got, at)
  local data = got.Opcode >> 1 == 4 and string.pack(">i8", got.Data) or got.data -- Immediate Data is a field
  local due = entry.data:sub(at + 1, at + #data)
  if data ~= due or at > #entry.data or (got.L == 1) ~= (at + #data == #entry.data) then
    self.t:fail("the payload of a " .. names[entry.opcode], string.format("%d octets, %s ... at %d", #entry.data, hex(due:sub(1, 8)), at),
                string.format("%d octets%s, %s ...", #data, got.L == 1 and ", the last" or "", hex(data:sub(1, 8))))
  end
  entry.last = entry.last or got.L == 1
  if not entry.seen then entry.seen = {} end
  if not entry.seen[at] then entry.got = entry.got + #data end
  entry.seen[at] = true
  return entry.last and entry.got >= #entry.data
end

function Session:take_response(got)
  local entry = self.responses[1]
  if not entry or entry.opcode ~= got.Opcode then self:unexpected(got) end
  if entry.opcode == ATOMIC_RESPONSE then
    if got.RequestId ~= entry.RequestId or got.Value ~= entry.Value then
      self.t:fail("an Atomic Response", string.format("RequestId 0x%x, original 0x%x", entry.RequestId, entry.Value), describe(got))
    end
  else
    local free, at = #entry.data == 0 and not self.t:copies_tag(), got.TO - entry.TO
    if not free and (got.STag ~= entry.STag or at < 0 or at > #entry.data) then
      self.t:fail("where a Read Response goes", string.format("STag 0x%x TO 0x%x", entry.STag, entry.TO), describe(got))
    end
    if not self:take_payload(entry, got, free and 0 or at) then return end
  end
  table.remove(self.responses, 1)
end

-- Fields of a request, or of a message's header, are those of the work.
function Session:same_fields(entry, got, fields)
  for _, field in ipairs(fields) do
    if entry[field] ~= nil and got[field] ~= entry[field] then
      self.t:suspect_number("ddp_untagged", field, entry[field], got[field])
      self.t:fail("the " .. field .. " of a " .. names[entry.opcode], string.format("0x%x", entry[field]), string.format("0x%x", got[field] or -1))
    end
  end
end

function Session:answer(entry, got)
  if entry.opcode == ATOMIC then
    return self:send_unmarked({ rdmap.atomic_response { RequestId = got.RequestId, Value = entry.Value } }, { wrong = entry.wrong })
  end
  local function make(at, part, last)
    return rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO + at, data = part, L = last }
  end
  local frames = Session.segments(entry.data, entry.piece, make)
  if entry.wrong then
    self:send_unmarked(frames, { wrong = entry.wrong })
  elseif entry.gap and #frames > 1 and self.lower.has_room(self, #entry.data) then
    self:answer_late(entry, frames)
  else
    self:send_unmarked(frames, {})
  end
end

-- All but the first segment of an answer come, and then that one: before it the Read is not done (RFC 5040 5.5).
function Session:answer_late(entry, frames)
  local others = table.move(frames, 2, #frames, 1, {})
  local complete = self.c:send_behind(frames[1], others)
  rig.wait(4 * self.t.round_trip)
  for _, event in ipairs(self.t:events_of(self.c)) do
    if event.event == "read_done" and math.tointeger(event.id) == entry.id then
      self.t:fail("a Read whose answer lacks its first segment", "no completion", "read_done")
    end
  end
  complete()
end

local requests = { [READ] = true, [ATOMIC] = true }

-- The device's own work goes out as it was posted; Reads and atomics may wait for those before them.
function Session:receive_message(got)
  for i, entry in ipairs(self.incoming) do
    if entry.opcode == got.Opcode then
      if requests[entry.opcode] then
        local nothing = entry.RDMARDSZ == 0 -- its STags and TOs name no memory (RFC 5040 5.2.1)
        self:same_fields(entry, got, nothing and { "RDMARDSZ" } or
                         { "SrcSTag", "SrcTO", "RDMARDSZ", "SinkSTag", "SinkTO", "STag", "TO", "Data", "AOpCode" })
        table.remove(self.incoming, i)
        return self:answer(entry, got)
      end
      local empty = entry.opcode == 0 and #entry.data == 0 -- it is written nowhere (RFC 5040 5.1)
      if not empty then self:same_fields(entry, got, { "STag", "InvalidateSTag" }) end
      local at = empty and 0 or entry.opcode == 0 and got.TO - entry.TO or got.MO
      if at < 0 or at > #entry.data then self:unexpected(got) end
      if self:take_payload(entry, got, at) then table.remove(self.incoming, i) end
      return
    end
    if not requests[entry.opcode] then break end
  end
  self:unexpected(got)
end

function Session:take(got)
  if got.kind ~= "segment" or got.Opcode == TERMINATE then self:unexpected(got) end
  if got.Opcode == READ_RESPONSE or got.Opcode == ATOMIC_RESPONSE then return self:take_response(got) end
  self:receive_message(got)
end

--------------------------------------------------------------------------------------------------------------------
-- All that was asked for has come

function Session:check_memory()
  for i, m in ipairs(self.regions) do
    if not m.dead then m:check("the device's region " .. i) end
  end
end

-- What the device sends next. While it takes some more of what was sent to it, its time begins anew: it may be slow to
-- acknowledge, and what it has to send may wait for that, as the next of its Reads for the Response to the one before.
local function receive_next(self)
  local got, left
  repeat
    left = self.lower.unacknowledged(self)
    got = self.c:receive()
  until got.kind ~= "timeout" or self.lower.unacknowledged(self) >= left
  return got
end

-- `alive`: what has come is processed, too, and not only taken.
function Session:settle(alive)
  if self.over then return end
  self:send_unmarked({}, {})
  while #self.responses + #self.incoming > 0 do self:take(receive_next(self)) end
  self.lower.await_taken(self)
  if self.undelivered > 0 then self:check_deliveries() end
  self.undelivered = 0
  if #self.completions > 0 then self:check_completions() end
  if alive then self.c:probe() end
end

--------------------------------------------------------------------------------------------------------------------
-- Reactions

-- What became of a step that is wrong, as words that name one of the reactions: "terminate 1201", "closes", "rejects",
-- "goes on", "silent"; and what came.
function Session:observe(started)
  local c, got = self.c, nil
  repeat got = started and c:receive() or self.lower.receive_start(self) until got.kind ~= "segment" or got.Opcode == TERMINATE
  if got.kind == "segment" then return string.format("terminate %04x", got.triple or 0), got end
  if got.kind == "fin" or got.kind == "reset" then return "closes", got end
  if got.kind == "reply" then
    if got.R == 1 then return "rejects", got end
    self.lower.agree(self, got)
  elseif got.kind ~= "timeout" then
    return "odd", got
  end
  if not started and self.t.role == "responder" and got.kind == "timeout" then return "silent", got end
  local alive, instead = c:alive()
  if alive then return "goes on", got end
  if instead.kind == "timeout" then return "silent", instead end
  if instead.kind == "fin" or instead.kind == "reset" then return "closes", instead end
  if is_terminate(instead) then return string.format("terminate %04x", instead.triple or 0), instead end
  return "odd", instead
end

local function reaction_text(reactions)
  local out = {}
  for i, reaction in ipairs(reactions) do
    local word = reaction:match("^terminate (%x%x%x%x)$")
    out[i] = reaction == "terminate 0" and "a Terminate of RDMAP" or
             reaction == "terminate 00" and "Terminate RDMAP / Local Catastrophic Error" or word and "Terminate " .. wire.describe(tonumber(word, 16)) or reaction
  end
  return table.concat(out, ", or ")
end

-- The draft's streams may fail without a word (SCTP-7.2-15): then the ULP knows.
function Session:has_ended_silently()
  for _, event in ipairs(self.t:events_of(self.c)) do
    if event.event == "error" or event.event == "closed" then return true end
  end
  return not self.t:reports_event("error")
end

-- A reaction that is not among those allowed. A bare end in place of a Terminate of DDP or MPA breaks a SHOULD alone
-- (RFC 5040 6.2.1); an FPDU that cannot be trusted may be dropped with its TCP segment (RFC 5044 8).
function Session:refuse(reactions, seen, got)
  local lower, mpa_error = false, false
  for _, reaction in ipairs(reactions) do
    local layer = reaction:match("^terminate (%x)")
    lower = lower or layer == "1" or layer == "2"
    mpa_error = mpa_error or layer == "2"
  end
  if seen == "silent" and mpa_error and self.lower.unacknowledged(self) > 0 then return end
  if seen == "silent" and self.t:is_draft() and self:has_ended_silently() then return end
  if seen == "closes" and lower then self.t:terminate_missing(reaction_text(reactions), describe(got)) end
  self.t:fail("how the device reacts", reaction_text(reactions), seen == "goes on" and "the stream goes on" or self.c:instead({}, got))
end

-- The reactions that are allowed on this stream: of "crc ..." and "markers ..." those whose condition holds. And those of
-- "warn ...", which a row asks to report all the same. Reads that are beyond IRD (session.beyond) may wait in TCP; those that
-- are taken are not served.
function Session:reactions_here()
  local framing, allowed, warned = self.lower.framing(self), {}, {}
  for _, reaction in ipairs(self.session.reactions) do
    local how, rest = reaction:match("^(%a+) (%a+ ?.*)$")
    if how == "warn" then warned[#warned + 1] = rest
    elseif how == "crc" or how == "markers" then
      if framing[how] then allowed[#allowed + 1] = rest end
    elseif reaction ~= "goes on" or not (self.taken and self.session.beyond) then allowed[#allowed + 1] = reaction end
  end
  return allowed, warned
end

local function is_among(reactions, seen)
  for _, reaction in ipairs(reactions) do
    if seen:sub(1, #reaction) == reaction or reaction == "any" then return true end
  end
  return false
end

-- Judges the reaction to what was wrong, and ends the session unless the stream goes on. Without a list of reactions
-- the check says what it saw: so predictions are made.
function Session:react(wrong, start)
  local t = self.t
  local seen, got = self:observe(not start)
  if not self.session.reactions then t:ambiguous(seen) end
  local reactions, warned = self:reactions_here()
  if not is_among(reactions, seen) then
    if is_among(warned, seen) then t:warn("how the device reacts", reaction_text(reactions), self.c:instead({}, got)) end
    self:refuse(reactions, seen, got)
  end
  t.refused = nil -- that the device's ULP came too late for its work is a part of an allowed end
  self.over, self.odd = true, seen == "goes on"
  if is_terminate(got) then
    local delay = (self.opening.device or {}).teardown_ms -- DDP does not end the stream by itself (RFC 5041 6.2)
    got = self.c:receive(delay and delay / 2000)
    if delay and fits(tcp.closed(), got) then
      t:fail("an error, and a ULP that does not close yet", "the stream is not closed", describe(got))
    end
    if got.kind == "segment" then t:fail("after its Terminate the device sends nothing", "the end of the stream", describe(got)) end
  end
  if self.session.untouched and not start then
    self:check_memory()
    self:check_deliveries()
  end
  if seen == "goes on" then self.c:finish() end
  return wrong
end

--------------------------------------------------------------------------------------------------------------------
-- The start-up

local flags = { "B", "C", "D" }

-- One RTR in answer to a word with A = 1: an initiator may refuse a Reply that names several (RFC 6581 9.2).
function Session.mirrored_rtr(asked)
  local named = "B"
  for i = #flags, 1, -1 do
    if asked[flags[i]] == 1 then named = flags[i] end
  end
  return { A = 1, IRD = asked.ORD, ORD = asked.IRD, [named] = 1 }
end

-- The answer to a word with A = 0. `named`: bits of B, C and D, which nobody looks at there (RFC 6581 9.2).
function Session.mirrored_depths(asked, named)
  local word = { IRD = asked.ORD, ORD = asked.IRD }
  for i, flag in ipairs(flags) do word[flag] = (named or 0) >> i - 1 & 1 end
  return word
end

-- The RTR of the tester, an initiator: the first that the word of the answer names.
function Session:send_rtr(word)
  if not word or word.A ~= 1 then return end
  for _, flag in ipairs(flags) do
    if word[flag] == 1 then
      self.c:send(rtr[flag]())
      if flag == "D" then self.c:expect(rdmap.read_response { data = "" }, { message = "the Read RTR is answered" }) end
      if flag == "B" then self.receives, self.c.msn[0] = self.receives - 1, 2 end
      return
    end
  end
end

-- An RTR of the device: over SCTP it is in no FPDU.
local function rtr_form(t, flag)
  local form = rtr_expected[flag]
  if not t:over_sctp() then return form end
  local given = copy_fields(form.given)
  given.fpdu = nil
  return setmetatable({ given = given }, { __index = form })
end

-- What the device sends first as the initiator: an RTR in the peer-to-peer model, or else a Send that it is asked for.
function Session:take_first(word)
  local c = self.c
  if not word or word.A ~= 1 then return c:first_send() end
  local wanted = { message = "the RTR of the device" }
  for _, flag in ipairs(flags) do
    if word[flag] == 1 then wanted[#wanted + 1] = rtr_form(self.t, flag) end
  end
  local got = c:expect_one_of(wanted)
  if got.Opcode == READ then c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO }) end
end

-- How many Reads and atomics of the tester may be open: what the device has said, and what the tester has.
function Session:agree_depth(word)
  local own = self.word
  local depth = (self.opening.device or {}).ird or 4
  if word and word.IRD < 0x3FFF then depth = math.min(depth, word.IRD) end
  if own and own.ORD < 0x3FFF then depth = math.min(depth, own.ORD) end
  self.depth = math.max(1, depth)
end

-- Private Data is what the other side has given: octets, or nil for those that nobody looks at. in_hex: it is in hex.
function Session:expect_private(due, got, whose, in_hex)
  if due == nil then return end
  if in_hex then due = hex(due) end
  if got ~= due then
    local size = in_hex and 2 or 1
    self.t:fail("the Private Data " .. whose, plural(#due // size, "octet"), plural(#(got or "") // size, "octet"))
  end
end

--------------------------------------------------------------------------------------------------------------------
-- A session

-- A session is none for a device that has no means for one of its steps, by its profile or its upper tester's answer.
-- What an option says that such a device does not know is true of it without the option.
local function fit(t, session)
  local device, over = session.open.device or {}, session.over or "tcp"
  if over ~= t.llp then t:skip("a session over " .. over .. ": --llp " .. over) end
  local function needs(name, wanted)
    if wanted and not rig.capability(name) then t:skip("needs " .. name .. ", but the profile has " .. name .. " = no") end
  end
  local atomic, immediate = session.atomics, false
  for _, step in ipairs(session) do
    atomic = atomic or step[1]:find("atomic", 1, true) or step.before
    immediate = immediate or step[1]:find("immediate", 1, true)
  end
  needs("atomics", atomic)
  needs("immediate", immediate)
  needs("mpa.markers", device.markers)
  local extended = rig.capability("atomics") or rig.capability("immediate")
  if not extended or not rig.capability("extensions.switch") then device.extensions = nil end
end

local shared = { "t", "session", "regions", "streams", "lower", "order" }

-- What a stream is about, which has memory and streams in common with the others of the session.
local function new_stream(of)
  local stream = { sent = 0, undelivered = 0, delivered = {}, responses = {}, incoming = {}, completions = {}, values = {}, depth = 4,
                   opening = of.session.open, salt = 0, receives = (of.session.open.device or {}).receives or 16 }
  for _, name in ipairs(shared) do stream[name] = of[name] end
  return setmetatable(stream, Session)
end

-- Another stream, whose start-up is that of the first one but for what the step says.
function Session:on_stream(step)
  local stream, opening = new_stream(self), copy_fields(self.session.open)
  opening.own, opening.device = copy_fields(opening.own), copy_fields(opening.device)
  for _, name in ipairs { "M", "C" } do
    if step[name] ~= nil then opening.own[name] = step[name] end
  end
  for _, name in ipairs { "markers", "crc", "ird", "ord", "pd" } do
    if step[name] ~= nil then opening.device[name] = step[name] end
  end
  opening.private, opening.device_private, opening.wrong = step.private, step.device_private, step.wrong
  if step.IRD then
    opening.own.enhanced = copy_fields(opening.own.enhanced)
    opening.own.enhanced.IRD, opening.own.enhanced.ORD = step.IRD, step.ORD
  end
  opening.rejects, opening.refuses = step.rejects, step.refuses
  stream.opening, stream.salt = opening, step.number
  return stream
end

function Session:make_regions()
  for i, region in ipairs(self.session.regions or {}) do
    local o = copy_fields(region)
    o.data = Session.octets_of(o.octets, i)
    if o.bound then o.bound = self.c end
    self.regions[i] = self.t:memory(o)
  end
end

-- All has come, and memory is as it should be; then each stream ends as the session says.
function Session:conclude()
  local live = {}
  for _, stream in pairs(self.streams) do
    if not stream.over then live[#live + 1] = stream end
  end
  for _, stream in ipairs(live) do
    stream:settle(true)
    stream.lower.look(stream)
  end
  if #live > 0 then self:check_memory() end
  for _, stream in ipairs(live) do stream.lower.ends[self.session.ends or "fin"](stream) end
end

-- What was wrong is of one stream: the others go on.
function Session:spare_others()
  for _, reaction in ipairs(self.session.reactions or {}) do
    if reaction == "any" then return end
  end
  for _, stream in pairs(self.streams) do
    if not stream.over and not stream.lower.is_gone(stream) then stream:settle(true) end
    if not stream.over and stream.lower.is_gone(stream) then stream.lower.spared(stream) end
  end
end

-- Plays a session (docs/exploring.md).
function Test:follow(session)
  self.followed = true
  fit(self, session)
  local first = new_stream { t = self, session = session, regions = {}, streams = {}, lower = harness.lower[self:over_sctp() and "sctp" or "tcp"],
                             order = session.atomics and self:byte_order() or nil }
  first.streams[1] = first
  first.lower.open(first)
  if not first.over then first:make_regions() end
  local reacted = first.over
  for i, step in ipairs(session) do
    if reacted then break end
    local on = first.streams[step.stream or 1]
    step.number = step.number or i
    for _, stream in pairs(first.streams) do stream.several = next(first.streams, 1) ~= nil end
    local over = on.over
    Session.steps[step[1]](on, step)
    reacted = on.over and not over and step[1] ~= "end" or step[1] == "another" and step.wrong ~= nil
  end
  if reacted then first:spare_others() else first:conclude() end
  for _, stream in pairs(first.streams) do stream.lower.close(stream) end
end
