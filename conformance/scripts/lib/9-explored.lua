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
    return self:put(self.c:octets(rdmap.atomic_response { RequestId = got.RequestId, Value = entry.Value }), {})
  end
  local function make(at, part, last)
    return rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO + at, data = part, L = last }
  end
  self:put(self.c:octets(table.unpack(Session.segments(entry.data, entry.piece, make))), {})
end

local requests = { [READ] = true, [ATOMIC] = true }

-- The device's own work goes out as it was posted; Reads and atomics may wait for those before them.
function Session:take_message(got)
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
  self:take_message(got)
end

--------------------------------------------------------------------------------------------------------------------
-- All that was asked for has come

-- Deliveries, in the order of the Sends, with what the ULP gets with each.
function Session:check_deliveries()
  local wanted = {}
  for i, delivery in ipairs(self.delivered) do wanted[i] = delivery.data end
  local got = self.t:expect_deliveries(self.c, wanted, "what the device's ULP receives")
  for i, delivery in ipairs(self.delivered) do
    for _, field in ipairs { "opcode", "solicited", "invalidated" } do
      local due, told = delivery[field], got[i][field]
      local free = field == "solicited" and delivery.opcode == 8 -- an event may be made of each (RFC 7306 6.1)
      if not free and told ~= nil and (told or nil) ~= (due or nil) then
        self.t:fail("what the ULP is told of delivery " .. i .. ": " .. field, tostring(due), tostring(told))
      end
    end
  end
end

local done = { send_done = true, write_done = true, read_done = true, atomic_done = true, immediate_done = true, flushed = true }

-- Work completes in the order in which it was posted.
function Session:check_completions()
  local deadline = rig.now() + self.t.reaction
  local wait, told = self.t:waits(deadline), nil
  repeat
    if told then wait() end
    told = {}
    for _, event in ipairs(self.t:events_of(self.c)) do
      if done[event.event] and event.id then told[#told + 1] = event.event .. " " .. math.tointeger(event.id) end
    end
  until #told >= #self.completions or rig.now() >= deadline
  local due = {}
  for i, name in ipairs(self.completions) do due[i] = name .. " " .. i end
  if table.concat(told, ", ") ~= table.concat(due, ", ") then
    self.t:fail("completions of what the device's ULP has posted", table.concat(due, ", "), table.concat(told, ", "))
  end
end

function Session:check_memory()
  for i, m in ipairs(self.regions) do
    if not m.dead then m:check("the device's region " .. i) end
  end
end

-- The device may take long to acknowledge: what it has not got yet it cannot have delivered.
function Session:await_taken()
  local left
  repeat
    left = self.c.tcp:unacknowledged()
    self.c:await_acknowledged()
  until self.c.tcp:unacknowledged() == 0 or self.c.tcp:unacknowledged() >= left
end

function Session:settle()
  if self.over then return end
  self:put("", {})
  while #self.responses + #self.incoming > 0 do self:take(self.c:receive()) end
  self:await_taken()
  if self.undelivered > 0 then self:check_deliveries() end
  self.undelivered = 0
  if #self.completions > 0 then self:check_completions() end
end

--------------------------------------------------------------------------------------------------------------------
-- Reactions

-- What became of a step that is wrong, as words that name one of the reactions: "terminate 1201", "closes", "rejects",
-- "goes on", "silent"; and what came.
function Session:observe(started)
  local c, got = self.c, nil
  repeat got = c:receive() until got.kind ~= "segment" or got.Opcode == TERMINATE
  if got.kind == "segment" then return string.format("terminate %04x", got.triple or 0), got end
  if got.kind == "fin" or got.kind == "reset" then return "closes", got end
  if got.kind == "reply" then
    if got.R == 1 then return "rejects", got end
    c:agree(self.frame, got)
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
    out[i] = reaction == "terminate 00" and "Terminate RDMAP / Local Catastrophic Error" or word and "Terminate " .. wire.describe(tonumber(word, 16)) or reaction
  end
  return table.concat(out, ", or ")
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
  if seen == "silent" and mpa_error and self.c.tcp:unacknowledged() > 0 then return end
  if seen == "closes" and lower then self.t:terminate_missing(reaction_text(reactions), describe(got)) end
  self.t:fail("how the device reacts", reaction_text(reactions), seen == "goes on" and "the stream goes on" or self.c:instead({}, got))
end

-- Judges the reaction to what was wrong, and ends the session unless the stream goes on. Without a list of reactions
-- the check says what it saw: so predictions are made.
function Session:react(wrong, start)
  local t = self.t
  local seen, got = self:observe(not start)
  local reactions = self.session.reactions
  if not reactions then t:ambiguous(seen) end
  local allowed = false
  for _, reaction in ipairs(reactions) do allowed = allowed or seen:sub(1, #reaction) == reaction or reaction == "any" end
  if not allowed then self:refuse(reactions, seen, got) end
  t.refused = nil -- that the device's ULP came too late for its work is a part of an allowed end
  self.over, self.odd = true, seen == "goes on"
  if is_terminate(got) then
    got = self.c:receive()
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

-- One RTR: an initiator may refuse a Reply that names several (RFC 6581 9.2).
local function first_flag(word)
  for _, flag in ipairs(flags) do
    if word[flag] == 1 then return flag end
  end
  return "B"
end

-- The RTR of the tester, an initiator: the first that the Reply names.
function Session:send_rtr(reply)
  local word = reply.enhanced
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

-- What the device sends first as the initiator: an RTR in the peer-to-peer model, or else a Send that it is asked for.
function Session:take_first()
  local c, word = self.c, self.c.request.enhanced
  if word and word.A == 1 then
    local wanted = { message = "the RTR of the device" }
    for _, flag in ipairs(flags) do
      if word[flag] == 1 then wanted[#wanted + 1] = rtr_expected[flag] end
    end
    local got = c:expect_one_of(wanted)
    if got.Opcode == READ then c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO }) end
    return
  end
  c:first_send()
end

-- How many Reads and atomics of the tester may be open: what the device has said, and what the tester has.
function Session:agree_depth(peer)
  local word, own = peer and peer.enhanced, self.frame.given.enhanced
  local depth = (self.session.open.device or {}).ird or 4
  if word and word.IRD < 0x3FFF then depth = math.min(depth, word.IRD) end
  if own and own.ORD < 0x3FFF then depth = math.min(depth, own.ORD) end
  self.depth = math.max(1, depth)
end

function Session:open()
  local t, o = self.t, self.session.open
  local device, own = copy_fields(o.device), copy_fields(o.own)
  if o.device_private then device.private_data = hex(Session.octets_of(o.device_private, 3)) end
  self.c = t:awaiting_start { dut = device, mss = o.mss }
  local asked = t.role == "initiator" and self.c.request.enhanced
  -- A Reply has the enhanced word where the Request has it (RFC 6581 6), whatever the session expected of the device.
  if asked and asked.A == 1 then
    own.enhanced = { A = 1, IRD = asked.ORD, ORD = asked.IRD, [first_flag(asked)] = 1 }
  elseif asked then
    own.enhanced = own.enhanced or { IRD = asked.ORD, ORD = asked.IRD }
  elseif t.role == "initiator" then
    own.enhanced = nil
  end
  -- The word is a part of what a device takes as Private Data (RFC 6581 6).
  local word = own.enhanced and 4 or 0
  local private_octets = o.private and t:private_data_most(o.private + word) - word
  if private_octets then own.private_data = Session.octets_of(private_octets, 5) end
  self.frame = t:start_frame(own)
  local octets = Session.change_octets(self.c:octets(self.frame), o.wrong or {})
  if o.wrong and o.wrong.twice then octets = octets .. octets end
  if o.wrong then self.frame = { octets = function() return octets .. ("\0"):rep(20) end, given = {} } end
  self:put(octets, { cut = o.cut, backwards = o.backwards })
  if o.wrong then
    if t.role == "initiator" then
      self.c:agree(self.frame, self.c.request)
      self.c:ask_first_send()
    end
    return self:react(o.wrong, true)
  end
  local private = o.device_private and Session.octets_of(o.device_private, 3)
  local peer = self.c.request
  if t.role == "responder" then
    peer = self.c:expect(mpa.reply { R = 0, private_data = private }, { message = "a good Request is answered by an accepting Reply" })
  elseif private and peer.private_data ~= private then
    t:fail("the Private Data of the Request", plural(#private, "octet"), plural(#(peer.private_data or ""), "octet"))
  end
  self.c:agree(self.frame, peer)
  self:agree_depth(peer)
  self.stream = t:stream_of(self.c)
  if t.role == "responder" then self:send_rtr(peer) else self:take_first() end
  local event = t:start_event(self.c)
  if event and event.private_data and private_octets and event.private_data ~= hex(Session.octets_of(private_octets, 5)) then
    t:fail("the Private Data that the device's ULP is told", plural(private_octets, "octet"), plural(#event.private_data // 2, "octet"))
  end
end

local endings = {
  fin = function(self)
    local got = self.c:finish()
    if got.kind ~= "fin" and got.kind ~= "reset" then self.t:fail("the end of the stream", "FIN", describe(got)) end
  end,
  disconnect = function(self)
    self.t.dut:disconnect { stream = self.stream }
    self.c:expect_close { message = "the device's ULP ends the stream" }
    self.c:fin()
  end,
  reset = function(self) self.c:reset() end,
}

-- A session is none for a device that has no means for one of its steps, by its profile or its upper tester's answer.
-- What an option says that such a device does not know is true of it without the option.
local function fit(t, session)
  local device = session.open.device or {}
  local function needs(name, wanted)
    if wanted and not rig.capability(name) then t:skip("needs " .. name .. ", but the profile has " .. name .. " = no") end
  end
  local atomic, immediate = session.atomics, false
  for _, step in ipairs(session) do
    atomic = atomic or step[1]:find("atomic", 1, true)
    immediate = immediate or step[1]:find("immediate", 1, true)
  end
  needs("atomics", atomic)
  needs("immediate", immediate)
  needs("mpa.markers", device.markers)
  local extended = rig.capability("atomics") or rig.capability("immediate")
  if not extended or not rig.capability("extensions.switch") then device.extensions = nil end
end

-- Plays a session (docs/exploring.md).
function Test:follow(session)
  fit(self, session)
  local self = setmetatable({ t = self, session = session, sent = 0, undelivered = 0, delivered = {}, responses = {}, incoming = {},
                              completions = {}, regions = {}, depth = 4,
                              receives = (session.open.device or {}).receives or 16 }, Session)
  if session.atomics then self.order = self.t:byte_order() end
  self:open()
  for i, region in ipairs(self.over and {} or session.regions or {}) do
    local o = copy_fields(region)
    o.data = Session.octets_of(o.octets, i)
    if o.bound then o.bound = self.c end
    self.regions[i] = self.t:memory(o)
  end
  for i, step in ipairs(session) do
    if self.over then break end
    step.number = step.number or i
    Session.steps[step[1]](self, step)
  end
  if not self.over then
    self:settle()
    self.c:probe()
    self:check_memory()
    endings[session.ends or "fin"](self)
  end
  self.c:close()
end
