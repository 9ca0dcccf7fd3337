-- SPDX-License-Identifier: BSD-2-Clause
--
-- The steps of sessions that `warpcheck explore` makes: what the tester sends, right or wrong, and what the device's
-- ULP is asked for (docs/exploring.md).

local Session = {}
Session.__index = Session
harness.session = Session -- 9-explored.lua has the rest of it
harness.lower = {}        -- and 9-followed-tcp.lua and 9-followed-sctp.lua what is below DDP

local READ, READ_RESPONSE, TERMINATE, ATOMIC, ATOMIC_RESPONSE = 0x1, 0x2, 0x7, 0xA, 0xB

-- Octets of messages and memory: each message has its own place in one long row.
local ROW, PLACES, STRIDE = 20000, 97, 31
local row

function Session.octets_of(count, number)
  row = row or pattern(ROW + PLACES * STRIDE)
  local first = number % PLACES * STRIDE
  local octets = first + count <= #row and row or row:rep((first + count) // #row + 1)
  return octets:sub(first + 1, first + count)
end

--------------------------------------------------------------------------------------------------------------------
-- What is wrong in a step

-- One field of a header that begins at octet w.at of these octets: w.add is added to it, w.flip is exclusive-ored.
local function change_field(octets, w)
  local size = wire.size(w.of)
  local fields = #octets >= w.at + size and wire.unpack(w.of, octets, w.at + 1)
  if not fields then return octets end
  local value = math.tointeger(tonumber(fields[w.field])) or 0
  local mask = w.bits == 64 and -1 or (1 << w.bits) - 1
  fields[w.field] = (value + (w.add or 0) ~ (w.flip or 0)) & mask
  return octets:sub(1, w.at) .. wire.pack(w.of, fields) .. octets:sub(w.at + size + 1)
end

function Session.change_octets(octets, w)
  if w.field then octets = change_field(octets, w) end
  if w.octet and w.octet < #octets then
    local before = octets:byte(w.octet + 1)
    octets = octets:sub(1, w.octet) .. string.char(before ~ w.by & 0xFF) .. octets:sub(w.octet + 2)
  end
  if w.keep then octets = octets:sub(1, w.keep) end
  if w.less then octets = octets:sub(1, math.max(0, #octets - w.less)) end
  if w.more then octets = octets .. Session.octets_of(w.more, 11) end
  return octets
end

-- Which of these frames is wrong: number w.frame, counted from 1 and round.
function Session.wrong_place(frames, w) return (w.frame - 1) % math.max(#frames, 1) + 1 end

-- What these frames are for DDP, in the order in which they go out, and which of them is wrong: w is nil where nothing
-- is. A frame that is missing, comes twice or in another place is all that is wrong with it.
function Session:ulpdus(frames, w)
  local out, wrong = {}, w and Session.wrong_place(frames, w)
  for i, frame in ipairs(frames) do out[i] = self.c:ulpdu(frame) end
  if w and w.missing then table.remove(out, wrong) end
  if w and w.exchanged and out[wrong + 1] then out[wrong], out[wrong + 1] = out[wrong + 1], out[wrong] end
  if w and w.twice then table.insert(out, wrong, out[wrong]) end
  if out[wrong] then out[wrong] = Session.change_octets(out[wrong], w) end
  return out, wrong
end

-- Frames go out as the lower layer has them (harness.lower), with those that the step before has held.
function Session:send_unmarked(frames, step)
  local held = self.held or {}
  for _, unit in ipairs(self.lower.units(self, frames, step.wrong)) do held[#held + 1] = unit end
  self.held = step.held and held or nil
  if not step.held and #held > 0 then self.lower.put(self, held, step) end
end

function Session:send(step, frames)
  self.sent = self.sent + #frames
  if step.wrong then self:settle_all() end -- what came before is judged before, on each stream
  self:send_unmarked(frames, step)
  if step.wrong then self:react(step.wrong) end
end

--------------------------------------------------------------------------------------------------------------------
-- What the tester sends

-- The segments of a message, none with more than `piece` octets of payload; make(at, data, last) makes one.
function Session.segments(data, piece, make)
  local frames, at = {}, 0
  repeat
    local part = data:sub(at + 1, at + (piece or #data))
    frames[#frames + 1] = make(at, part, at + #part >= #data and 1 or 0)
    at = at + math.max(#part, 1)
  until at >= #data
  return frames
end

local sends = { [3] = rdmap.send, [4] = rdmap.send_invalidate, [5] = rdmap.send_se, [6] = rdmap.send_se_invalidate }

local steps = {}
Session.steps = steps

steps["send"] = function(self, step)
  local opcode, data = step.opcode or 3, Session.octets_of(step.octets, step.number)
  local m, msn = step.region and self.regions[step.region], self.c.msn[0]
  if self.undelivered >= self.receives then self:settle() end
  local function make(at, part, last)
    return sends[opcode] { MSN = msn, MO = at, L = last, data = part, InvalidateSTag = m and m.STag }
  end
  if not step.wrong then
    self.undelivered = self.undelivered + 1
    self.delivered[#self.delivered + 1] = { data = data, opcode = opcode, solicited = opcode > 4, invalidated = m and m.STag }
    if m then m.dead = true end
  end
  self:send(step, Session.segments(data, step.piece, make))
end

steps["write"] = function(self, step)
  local data, m = Session.octets_of(step.octets, step.number), self.regions[step.region]
  local frames = Session.segments(data, step.piece, function(at, part, last) return m:write(step.at + at, part, { L = last }) end)
  local right = step.wrong and data:sub(1, (step.piece or #data) * (Session.wrong_place(frames, step.wrong) - 1)) or data
  if #right > 0 then m:patch(step.at, right) end
  self:send(step, step.revoked and self:revoke_within(step, frames) or frames)
end

steps["read"] = function(self, step)
  local m, sink = self.regions[step.region], { SinkSTag = 0x51A60000 + step.number, SinkTO = step.sink or 0 }
  if #self.responses >= self.depth then self:settle() end
  if not step.wrong then
    self.responses[#self.responses + 1] = { opcode = READ_RESPONSE, STag = sink.SinkSTag, TO = sink.SinkTO, got = 0,
                                            data = m.image:sub(step.at + 1, step.at + step.octets) }
  end
  local frames = {}
  for i = 1, step.times or 1 do frames[i] = m:read(step.at, step.octets, sink) end
  self:send(step, frames)
end

-- A sum field by field: each ends with its highest bit in `mask`, and no carry leaves it (RFC 7306 5.1.1).
local function sum(before, data, mask) return ((before & ~mask) + (data & ~mask)) ~ ((before ~ data) & mask) end

local function after(before, request)
  if request.AOpCode == ADD then return sum(before, request.Data, request.Mask) end
  if request.AOpCode == SWAP then return request.Data end
  if (before ~ request.CompareData) & request.CompareMask ~= 0 then return before end
  return before & ~request.Mask | request.Data & request.Mask
end

-- step.matches: what is compared is what the target holds.
steps["atomic"] = function(self, step)
  local t, m, id, order = self.t, self.regions[step.region], 0x41540000 + step.number, self.order
  if #self.responses >= self.depth then self:settle() end
  local before = step.wrong and 0 or string.unpack(order .. "i8", m.image, step.at + 1)
  local request = { AOpCode = step.operation, RequestId = id, STag = m.STag, TO = m.TO + step.at, Data = step.data,
                    CompareData = step.matches and before or step.compare or 0,
                    Mask = step.mask or step.operation == ADD and 0 or ALL_BITS, CompareMask = step.compare_mask or ALL_BITS }
  if not step.wrong then
    self.responses[#self.responses + 1] = { opcode = ATOMIC_RESPONSE, RequestId = id, Value = before }
    m:patch(step.at, string.pack(order .. "i8", after(before, request)))
  end
  self:send(step, { rdmap.atomic_request(request) })
  return t
end

-- Reads while the tester takes nothing: all of them stay open, the first with more octets than the device's TCP has room for.
-- Atomics that were answered before them (step.before) hold no place any more. A Send after them shows whether they wait in
-- TCP, where IRD does not count them.
steps["reads"] = function(self, step)
  local t, c = self.t, self.c
  local target = step.before and t:target { value = 0 }
  for i = 1, step.before or 0 do
    local request = target:request(ADD, { Data = 1, RequestId = i })
    c:send(request)
    c:expect_atomic(request, nil, "an atomic before Reads")
  end
  c:shut_with_reads(t:memory { octets = t.large }, step.times, step.octets)
  c:send(rdmap.send { data = "after them" })
  rig.wait(t.quiet)
  self.taken = #t:deliveries(c) > 0
  c:window(65535)
  self:react(step.wrong)
end

steps["immediate"] = function(self, step)
  local data, opcode = Session.octets_of(8, step.number), step.solicited and 9 or 8
  if self.undelivered >= self.receives then self:settle() end
  if not step.wrong then
    self.undelivered = self.undelivered + 1
    self.delivered[#self.delivered + 1] = { data = data, opcode = opcode, solicited = opcode == 9 }
  end
  self:send(step, { rdmap.immediate { Opcode = opcode, Data = string.unpack(">i8", data) } })
end

-- A response to nothing: always wrong.
steps["response"] = function(self, step)
  local m = self.regions[step.region]
  self:send(step, { rdmap.read_response { STag = m.STag, TO = m.TO + step.at, data = Session.octets_of(step.octets, step.number) } })
end

steps["atomic response"] = function(self, step)
  self:send(step, { rdmap.atomic_response { RequestId = step.number, Value = step.number } })
end

-- The device's ULP receives the event of the Terminate.
function Session:expect_terminate_reported(step)
  local t = self.t
  if not t:reports_event("terminate_received") or t:traits().terminate_events == false then return end
  local event = t:await_event("terminate_received", { stream = self.stream })
  if not event then t:fail("the tester's Terminate: the ULP is told", "its event", "none") end
  for field, due in pairs { layer = step.layer, etype = step.etype, code = step.code } do
    if event[field] ~= nil and event[field] ~= due then
      t:fail("the tester's Terminate, at the ULP: " .. field, tostring(due), tostring(event[field]))
    end
  end
end

-- The tester's Terminate, after which the device ends the stream too.
steps["terminate"] = function(self, step)
  self:settle()
  self:send(step, { rdmap.terminate { Layer = step.layer, EType = step.etype, Code = step.code } })
  if self.over then return end
  local got = self.c:receive()
  if got.kind == "timeout" then
    self.c:fin()
    got = self.c:receive()
  end
  if got.kind ~= "fin" and got.kind ~= "reset" then
    self.t:fail("after the tester's Terminate nothing comes but the end of the stream", "FIN or RST", describe(got))
  end
  self.over = true
  self:expect_terminate_reported(step)
end

--------------------------------------------------------------------------------------------------------------------
-- What the device is asked for

-- Posts work, which completes in its turn; `entry` is what comes of it on the wire.
function Session:post(verb, arguments, done, entry)
  arguments.stream, arguments.id = self.stream, #self.completions + 1
  local answer = self.t:post(verb, arguments)
  if not answer.ok and self.c:ended_by_device() then self:settle() end -- what the wire shows is the cause
  if not answer.ok then
    self.t:fail("work that the device's ULP posts: " .. verb, "it is taken", tostring(answer.error))
  end
  entry.id, self.values[arguments.id] = arguments.id, entry.Value
  self.completions[#self.completions + 1] = done
  self.incoming[#self.incoming + 1] = entry
end

steps["device send"] = function(self, step)
  local data = Session.octets_of(step.octets, step.number)
  local invalidate = step.invalidate and 0x1A000000 + step.number
  local opcode = (invalidate and 4 or 3) + (step.solicited and 2 or 0)
  self:post("send", { data = hex(data), solicited = step.solicited or nil, invalidate = invalidate }, "send_done",
            { opcode = opcode, data = data, got = 0, InvalidateSTag = invalidate or 0 })
end

steps["device write"] = function(self, step)
  local data, stag = Session.octets_of(step.octets, step.number), 0x2B000000 + step.number
  self:post("write", { stag = stag, to = step.to or 0, data = hex(data) }, "write_done",
            { opcode = 0, data = data, got = 0, STag = stag, TO = step.to or 0 })
end

-- The answer to what the device's ULP has posted last is wrong. Octets of the segments before the wrong one are placed.
function Session:answer_wrongly(step, entry)
  entry.wrong = step.wrong
  self:take(self.c:receive())
  self:react(step.wrong)
  -- A device that goes on has taken the response by its MSN (ATOM-5.2.2-09): then its atomic is done.
  if entry.opcode ~= ATOMIC or not self.odd or step.wrong.field ~= "RequestId" then return end
  if not self.t:await_event("atomic_done", { stream = self.stream, id = entry.id }) then
    self.t:fail("an Atomic Response with another RequestId is taken", "the atomic completes", "it does not")
  end
end

steps["device read"] = function(self, step)
  local m = self.regions[step.region]
  if step.wrong then self:settle_all() end
  local entry = { opcode = READ, SrcSTag = 0x3C000000 + step.number, SrcTO = step.to or 0, RDMARDSZ = step.octets,
                  SinkSTag = m.STag, SinkTO = m.TO + step.at, piece = step.piece, gap = step.gap,
                  data = Session.octets_of(step.octets, step.number) }
  self:post("read", { source_stag = entry.SrcSTag, source_to = entry.SrcTO, sink_stag = m.STag, sink_to = entry.SinkTO,
                      length = step.octets }, "read_done", entry)
  if not step.wrong then return m:patch(step.at, entry.data) end
  local piece = step.piece or step.octets
  local right = entry.data:sub(1, piece * ((step.wrong.frame - 1) % ((step.octets + piece - 1) // piece)))
  if #right > 0 then m:patch(step.at, right) end
  self:answer_wrongly(step, entry)
end

-- Its ULP posts Reads that are never answered: the stream ends before.
steps["device reads"] = function(self, step)
  local m = self.regions[step.region]
  for i = 1, step.times do
    local answer = self.t:post("read", { stream = self.stream, id = #self.completions + i, source_stag = 0x3D000000 + i, source_to = 0,
                                         sink_stag = m.STag, sink_to = m.TO, length = step.octets })
    if not answer.ok then self.t:fail("work that the device's ULP posts: read", "it is taken", tostring(answer.error)) end
  end
  rig.wait(self.t.round_trip)
end

steps["device atomic"] = function(self, step)
  local stag, name = 0x4D000000 + step.number, step.operation == COMPARE and "compare_swap" or "fetch_add"
  local entry = { opcode = ATOMIC, STag = stag, TO = step.to or 0, Data = step.data, AOpCode = step.operation,
                  Value = 0x5E00000000 + step.number }
  if step.wrong then self:settle_all() end
  self:post("atomic", { operation = name, stag = stag, to = step.to or 0, data = step.data, compare = step.compare }, "atomic_done", entry)
  if step.wrong then self:answer_wrongly(step, entry) end
end

steps["device immediate"] = function(self, step)
  local data = Session.octets_of(8, step.number)
  self:post("immediate", { data = hex(data), solicited = step.solicited or nil }, "immediate_done",
            { opcode = step.solicited and 9 or 8, data = data, got = 0 })
end

function Session:settle_all()
  for _, stream in pairs(self.streams) do stream:settle(self.several) end
end

steps["settle"] = function(self) self:settle_all() end

-- Another stream with the same start-up, or once more one that has ended.
steps["another"] = function(self, step)
  local stream = self:on_stream(step)
  self.streams[step.opens] = stream
  stream.lower.another(stream, step)
end

-- The stream fails by a Write to nobody.
local function fail_stream(self)
  self:send_unmarked({ rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" } }, {})
  local got
  repeat got = self.c:receive() until got.kind ~= "segment" or got.Opcode == TERMINATE
  if got.kind == "segment" then got = self.c:receive(self.t.quiet) end
  if got.kind == "segment" then self.t:fail("after its Terminate the device sends nothing", "the end of the stream", describe(got)) end
  if self.t:is_draft() then self.lower.abort(self) end
  if got.kind == "reset" or self.t:is_draft() then return end
  self.c:fin()
  -- The device may wait for the tester's end before its own (SCTP5043-6.2-06): a session after it would meet that.
  if got.kind ~= "fin" then self.c:receive() end
end

-- The stream ends, by a RST or an error in the middle of its work; others go on.
steps["end"] = function(self, step)
  if step.how == "error" then
    fail_stream(self)
  else
    if step.how ~= "reset" then self:settle(true) end
    self.lower.ends[step.how or "fin"](self)
  end
  self.over = true
end

steps["pause"] = function(self, step)
  self:send_unmarked({}, {})
  rig.wait(step.milliseconds / 1000)
end
