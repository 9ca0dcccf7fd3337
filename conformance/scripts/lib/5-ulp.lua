-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the device's ULP has: memory with an STag, and deliveries (docs/writing-checks.md, "The device's ULP").

-- An STag that no device has given out: one of 2^32, and not the kind that counters reach.
UNKNOWN_STAG = 0x5BAD57A6

-- What a device may say of a tagged buffer without the right to write, which has no code of its own (DDP-7.1-25).
NO_WRITE_RIGHT = { "DDP_INVALID_STAG", "DDP_BOUNDS", "DDP_NOT_ASSOCIATED", "RDMAP_ACCESS", "RDMAP_PROTECTION_OTHER" }

-- And of an STag that a Send cannot invalidate (RDMAP-5.3-21).
CANNOT_INVALIDATE = { "RDMAP_PROTECTION_INVALIDATE", "RDMAP_OPERATION_INVALIDATE" }

-- 256 octets of a pattern, from a place on that is a multiple of 256.
local blocks = {}

local function block(place)
  local first = ((place >> 8) + (place >> 16) * 37) & 0xFF -- 64 KiB further on they differ, too
  if blocks[first] == nil then
    local out = {}
    for i = 0, 255 do out[i + 1] = string.char((first + i * 7) & 0xFF) end
    blocks[first] = table.concat(out)
  end
  return blocks[first]
end

-- Octets that differ from their neighbours and from place to place; `first` shifts them.
function pattern(octets, first)
  local from = (first or 0) + 1
  local before, out = from & 0xFF, {}
  for place = from - before, from + octets - 1, 256 do out[#out + 1] = block(place) end
  return table.concat(out):sub(before + 1, before + octets)
end

local Memory = {}
Memory.__index = Memory

-- A busy device needs long to read a request: many octets go in several, each with a time limit of its own.
local PIECE = 1 << 18

-- Does the device bind memory to single streams (RFC 5041 8.2)? Verbs of user space do not: there it belongs to a Protection Domain.
function Test:binds_memory() return self:traits().stream_memory ~= false end

-- Can a peer invalidate memory? Where the device binds none to a stream, it may count that of a domain as shared, and refuse
-- (RDMAP-8.1.1-10: RFC 5040 leaves that open). That is tried once a check, on a stream of its own. `c`: the stream that is there
-- already, if any.
function Test:peer_invalidates(c)
  if self.invalidates == nil then
    self.invalidates = true
    if not self:binds_memory() then
      if c then self:stream_of(c) end -- which one it is, is to be known before another begins
      local trial, m = self:open(), self:memory { octets = 16 }
      trial:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1" })
      self.invalidates = trial:alive()
      if not self.invalidates then self:note("the device lets no peer invalidate memory of a Protection Domain") end
    end
  end
  return self.invalidates
end

-- Memory that the peer of `c` can invalidate; options as for t:memory. SKIP where the device has none.
function Test:invalidatable(c, options)
  if not self:peer_invalidates(c) then self:skip("the device lets no peer invalidate memory of a Protection Domain (RFC 5040 8.1.1)") end
  local o = copy_fields(options)
  o.bound, o.alone = c, true
  return self:memory(o)
end

-- A stream, another one, memory that the second reaches and the first does not, and words for whose it is; options as for t:memory.
function Test:apart(options)
  local o = copy_fields(options)
  if self:binds_memory() then
    local a, b = self:pair()
    o.bound = b
    return a, b, self:memory(o), "of another stream"
  end
  o.pd = 2
  return self:open(), self:open { dut = { pd = 2 } }, self:memory(o), "of a stream of another domain"
end

-- Memory that the device exposes. options: octets (4096), base (0x110000043: beyond 32 bits, aligned to nothing),
-- access = list of "read" and "write" (both), data = octets at its front, bound = connection that alone may use it (stream: its
-- number), pd.
-- Where the device chooses the base itself: optional: nil, and no SKIP; anywhere: any base will do.
-- alone: the check has no other stream, so that memory of the stream's domain will do where devices bind to no stream.
-- The result has STag, TO (its base), last (base + octets), octets, and `image`: what should be in it.
function Test:memory(options)
  local o = options or {}
  local rights = { "local_read" }
  for _, right in ipairs(o.access or { "read", "write" }) do rights[#rights + 1] = "remote_" .. right end
  local octets, base = o.octets or 4096, o.base or 0x110000043
  local bound = o.bound
  if o.alone and self:traits().stream_memory == false then bound = nil end
  local answer = self.dut:reg_mr {
    length = octets, base = string.format("0x%x", base), access = rights, fill = 0xA5,
    data = o.data and hex(o.data:sub(1, PIECE)), pd = o.pd, stream = o.stream or bound and self:stream_of(bound),
  }
  local got = math.tointeger(tonumber(answer.base))
  if got and got ~= base then
    if o.optional then
      self.dut:dereg { stag = answer.stag }
      return nil
    end
    if o.base and not o.anywhere then self:skip(string.format("the device cannot expose memory at TO 0x%x", base)) end
    base = got
  end
  for at = PIECE, #(o.data or "") - 1, PIECE do
    self.dut:mem_write { stag = answer.stag, offset = at, data = hex(o.data:sub(at + 1, at + PIECE)) }
  end
  local image = (o.data or "") .. string.rep("\xA5", octets - #(o.data or ""))
  local m = setmetatable({ t = self, STag = answer.stag, TO = base, last = base + octets, octets = octets, image = image },
                         Memory)
  self.memories = self.memories or {}
  if answer.guarded then self.memories[#self.memories + 1] = m end
  return m
end

-- Octets in front of memory, and behind it, belong to no region: FAIL if they have changed.
local function expect_guarded(m, answer)
  if answer.guarded ~= false then return end
  m.t:suspect("beside-memory", "octets outside of a buffer are written when its first or last ones are")
  m.t:fail("memory of " .. m.octets .. " octets", "the octets in front of it and behind it as they were", "octets beside it have changed")
end

-- The same of all memory of the check whose device looks after such octets. Returns `decision`.
function Test:guarded(decision)
  for _, m in ipairs(self.memories or {}) do
    local answer = self:command("mem_read", { stag = m.STag, length = 0 })
    if answer.ok then expect_guarded(m, answer) end -- else it was given up
  end
  return decision
end

-- The same of what a `reg_mr` answered that had members of its own, and "fill":0xA5.
function Test:adopt(answer)
  local base = math.tointeger(tonumber(answer.base))
  return setmetatable({ t = self, STag = answer.stag, TO = base, last = base + answer.length, octets = answer.length,
                        image = ("\xA5"):rep(answer.length) }, Memory)
end

-- `data` is expected at this offset from now on.
function Memory:patch(offset, data)
  self.image = self.image:sub(1, offset) .. data .. self.image:sub(offset + #data + 1)
end

local function first_difference(a, b)
  for i = 1, math.max(#a, #b) do
    if a:byte(i) ~= b:byte(i) then return i - 1 end
  end
end

-- How many octets of two texts differ, and the offset of the last of them.
local function differences(a, b)
  local count, last, block = 0, 0, 4096
  for at = 1, math.max(#a, #b), block do
    local x, y = a:sub(at, at + block - 1), b:sub(at, at + block - 1)
    for i = 1, x == y and 0 or math.max(#x, #y) do
      if x:byte(i) ~= y:byte(i) then count, last = count + 1, at + i - 2 end
    end
  end
  return count, last
end

-- FAIL unless the memory holds its image, octet for octet.
function Memory:check(message)
  local answer = self.t.dut:mem_read { stag = self.STag }
  local got = unhex(answer.data)
  expect_guarded(self, answer)
  if got == self.image then return end
  local at = first_difference(self.image, got)
  local count, last = differences(self.image, got)
  self.t:fail(message, string.format("at offset %d: %s", at, hex(self.image:sub(at + 1, at + 16))),
              string.format("at offset %d: %s; %d octets differ, up to offset %d", at, hex(got:sub(at + 1, at + 16)), count, last))
end

-- What its first octets hold now.
function Memory:octets_now(octets)
  return unhex(self.t.dut:mem_read { stag = self.STag, length = octets }.data)
end

-- A Write into it, at an offset (which may lie outside); `given` overrides header fields.
function Memory:write(offset, data, given)
  local f = copy_fields(given)
  f.STag, f.TO, f.data = f.STag or self.STag, f.TO or self.TO + offset, data
  return rdmap.write(f)
end

-- A Read Request of it; `given` overrides header fields.
function Memory:read(offset, octets, given)
  local f = copy_fields(given)
  f.SrcSTag, f.SrcTO, f.RDMARDSZ = f.SrcSTag or self.STag, f.SrcTO or self.TO + offset, f.RDMARDSZ or octets
  f.SinkSTag, f.SinkTO = f.SinkSTag or 0x51A6, f.SinkTO or 0
  return rdmap.read_request(f)
end

-- Two streams in full operation, both known to the upper tester by their numbers. options as for t:open.
function Test:pair(options)
  local a = self:open(options)
  self:stream_of(a)
  local b = self:open(options)
  self:stream_of(b)
  return a, b
end

-- The beginning of a stream's life is the same whatever is judged.
local beginnings = { accepted = true, connect_request = true, established = true, transmit_ready = true, streaming = true }

-- Events of the send queue, of the receive queue, and the others: no text orders those of one against those of another.
local QUEUES = 3
local of_send_queue = { send_done = true, write_done = true, read_done = true, atomic_done = true, immediate_done = true }

local function queue_of(event)
  if event.event == "receive" or event.work == "receive" then return 2 end
  return (of_send_queue[event.event] or event.work) and 1 or 3
end

-- The events that the device's ULP has got on one connection, queue by queue, as an outcome lists them: "receive (4
-- octets, 0x5bad57a6 invalidated)". The text is empty without an upper tester.
function Test:events_text(c)
  if not rig.has_upper_tester() then return "" end
  local answer = self:command("poll")
  self.events = self.events or {}
  if answer.ok then self:gather_events(answer) end
  local stream, out, queues = self:stream_if_known(c), {}, {}
  if stream == nil then return "" end
  for i = 1, QUEUES do queues[i] = {} end
  for _, event in ipairs(self.events) do
    if event.stream == stream and not beginnings[event.event] then
      local more = {}
      if event.octets then more[#more + 1] = event.octets .. " octets" end
      if event.invalidated then more[#more + 1] = string.format("0x%x invalidated", event.invalidated) end
      if event.work then more[#more + 1] = event.work end
      if event.text then more[#more + 1] = event.text end
      table.insert(queues[queue_of(event)], event.event .. (#more > 0 and " (" .. table.concat(more, ", ") .. ")" or ""))
    end
  end
  for _, queue in ipairs(queues) do table.move(queue, 1, #queue, #out + 1, out) end
  return "; its ULP was told: " .. (#out > 0 and table.concat(out, ", ") or "nothing")
end

-- What has been delivered to the ULP on this stream so far, oldest first: { data, octets, opcode, solicited, invalidated }; kept: it says
-- that no STag was invalidated.
function Test:deliveries(c)
  self:need_event("receive")
  local number = self:stream_of(c)
  self.events = self.events or {}
  self:gather_events()
  c:mark_reported() -- a verdict on them names the stimulus, not the last frame that was read
  local out = {}
  for _, event in ipairs(self.events) do
    if event.guarded == false and event.stream == number then
      self:fail(event.octets and "a receive of " .. event.octets .. " octets" or "a receive that was flushed",
                "the octets in front of it and after it as they were", "octets around it have changed")
    end
    if event.event == "receive" and event.stream == number then
      out[#out + 1] = { data = unhex(self:event_member(event, "data")), octets = event.octets, opcode = event.opcode,
                        solicited = event.solicited, invalidated = event.invalidated or nil, kept = event.invalidated == false }
    end
  end
  return out
end

-- The same when there are so many, or the time is up: a fence may be answered before the ULP sees what came ahead of it.
function Test:await_deliveries(c, count)
  local deadline = rig.now() + self.reaction
  local wait = self:waits(deadline)
  local got = self:deliveries(c)
  while #got < count and rig.now() < deadline do
    wait()
    got = self:deliveries(c)
  end
  return got
end

-- Of many Sends no more may be under way than the ULP has posted receives, which it posts again when it sees them: after
-- every few, all of `sent` so far are delivered. Without an upper tester nobody knows.
function Connection:keep_pace(sent, message)
  local t, receives = self.t, 16 -- docs/upper-tester.md, `listen` and `connect`
  if #sent % (receives // 2) == 0 and rig.has_upper_tester() and t:reports_event("receive") then t:expect_deliveries(self, sent, message) end
end

local function messages_text(list)
  local out = {}
  for i, data in ipairs(list) do out[i] = #data .. " octets" .. (#data <= 8 and #data > 0 and " (" .. hex(data) .. ")" or "") end
  return #out == 0 and "no delivery" or #out .. " deliveries: " .. table.concat(out, ", ")
end

-- FAIL unless exactly these messages (strings) are delivered, in this order, within t.reaction. Returns the deliveries.
function Test:expect_deliveries(c, wanted, message)
  if #wanted > 0 then self:rests_on("send to") end
  local got = self:await_deliveries(c, #wanted)
  local data = {}
  for i, delivery in ipairs(got) do data[i] = delivery.data end
  for i = 1, math.max(#wanted, #data) do
    if wanted[i] ~= data[i] then self:fail(message, messages_text(wanted), messages_text(data)) end
  end
  return got
end

--------------------------------------------------------------------------------------------------------------------
-- Read Responses and Terminates

-- Takes the whole Read Response to a request: FAIL unless STag and TO are those of the sink and the octets are `data`.
function Connection:expect_response(sink_stag, sink_to, data, message)
  local at = 0
  repeat
    local got = self:expect(rdmap.read_response { STag = sink_stag, TO = sink_to + at }, { message = message })
    local wanted = data:sub(at + 1, at + #got.data)
    if got.data ~= wanted then self.t:fail(message, "octets " .. hex(wanted:sub(1, 16)), "octets " .. hex(got.data:sub(1, 16))) end
    at = at + #got.data
    if got.L == 1 and at ~= #data then self.t:fail(message, #data .. " octets", at .. " octets") end
    if at == #data and got.L == 0 then self.t:fail(message, "L = 1 with the last octet", "L = 0") end
  until got.L == 1
end

-- What a Terminate quotes: { Length, header, rdmap, rest }, each nil when its bit says that it is absent. FAIL when it is
-- shorter than its bits say.
function Connection:quoted(terminate)
  local data, out = terminate.data or "", {}
  self.t:suspect(wire.hint_terminate(data, terminate.M, terminate.D, terminate.R))
  local function take(octets, what)
    if #data < octets then
      self.t:fail("a Terminate is as long as its bits M, D and R say", what .. ": " .. octets .. " octets", #data .. " octets")
    end
    local head = data:sub(1, octets)
    data = data:sub(octets + 1)
    return head
  end
  if terminate.M == 1 or terminate.D == 1 then out.Length = string.unpack(">I2", take(2, "DDP Segment Length")) end
  if terminate.D == 1 then
    out.header = take((data:byte(1) or 0) & 0x80 ~= 0 and 14 or 18, "terminated DDP header")
  end
  if terminate.R == 1 then out.rdmap = take(28, "terminated RDMA header") end
  out.rest = data
  return out
end

-- After its Terminate, which came, the device sends nothing more and closes, or leaves closing to the tester; what the tester
-- sends meanwhile need not be acknowledged. Returns "fin", "reset" or
-- "left" (to us; then it has closed after our FIN).
function Connection:expect_end(message)
  local got = self:receive()
  if got.kind == "fin" or got.kind == "reset" then return got.kind end
  if got.kind ~= "timeout" then self.t:fail(message, "FIN or RST, nothing before it", describe(got)) end
  self:fin()
  got = self:receive()
  if got.kind ~= "fin" and got.kind ~= "reset" then
    self.t:fail(message, "FIN or RST after the tester's FIN", describe(got))
  end
  return "left"
end

--------------------------------------------------------------------------------------------------------------------
-- What the device's interface refuses

-- FAIL unless the device refuses this verb; SKIP where it has no such thing. Returns its sentence.
function Test:expect_refused(verb, arguments, message)
  local answer = self:command(verb, arguments)
  if answer.unsupported then self:skip("the device cannot be asked to " .. verb .. " so: " .. tostring(answer.error)) end
  if answer.ok then self:fail(message, "an error", "it is taken") end
  return answer.error
end

-- All events of the stream so far, oldest first, taken ones left out.
function Test:events_of(c)
  local number, out = self:stream_of(c), {}
  self.events = self.events or {}
  self:gather_events()
  for _, event in ipairs(self.events) do
    if event.stream == number then out[#out + 1] = event end
  end
  return out
end
