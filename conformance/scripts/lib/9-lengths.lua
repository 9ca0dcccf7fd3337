-- SPDX-License-Identifier: BSD-2-Clause
--
-- Lengths of every residue modulo 4, in one segment and in several: each pad that there is (RFC 5044 4.1), in each kind
-- of message that has a payload.

local LENGTHS = {}
for residue = 0, 3 do
  LENGTHS[#LENGTHS + 1] = 96 + residue
  LENGTHS[#LENGTHS + 1] = 3200 + residue
end

-- The payload in segments of uneven lengths, so that pads of all kinds stand in the middle of messages: make(offset,
-- piece, L).
local function cut(data, make)
  local frames, at = {}, 0
  repeat
    local piece = data:sub(at + 1, at + 800 + #frames)
    frames[#frames + 1] = make(at, piece, at + #piece == #data and 1 or 0)
    at = at + #piece
  until at == #data
  return frames
end

-- The device reads from the tester, and gets these octets, if its interface can post a Read.
local function read_by_device(t, data, message)
  local sink = t:memory { octets = 4096 }
  local c, stream = t:operating()
  if not t:try("read", { stream = stream, sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = #data }) then return end
  c:expect(rdmap.read_request { RDMARDSZ = #data }, { message = message })
  c:send(table.unpack(cut(data, function(at, piece, last)
    return rdmap.read_response { STag = sink.STag, TO = sink.TO + at, L = last, data = piece }
  end)))
  c:probe { message = message }
  sink:patch(0, data)
  sink:check(message)
  c:finish()
end

-- The tester sends Sends and, to a device with an upper tester, Writes and Read Responses of all these lengths: they
-- arrive.
function Test:receives_all_lengths()
  local seen = rig.has_upper_tester()
  local c = self:open_with_framing { dut = seen and { receives = 16, receive_octets = 4096 } or nil }
  local memory, sent = seen and self:memory { octets = 8192 }, {}
  for i, octets in ipairs(LENGTHS) do
    if not seen and octets > 1000 then goto next end -- how large its receives are nobody knows
    sent[#sent + 1] = pattern(octets, i)
    c:send(table.unpack(cut(sent[#sent], function(at, piece, last) return rdmap.send { MO = at, L = last, data = piece } end)))
    c:probe { message = "a Send of " .. octets .. " octets" }
    if seen then
      local message = "a Write of " .. octets .. " octets"
      c:send(table.unpack(cut(sent[#sent], function(at, piece, last) return memory:write(i + at, piece, { L = last }) end)))
      c:probe { message = message }
      memory:patch(i, sent[#sent])
      memory:check(message)
    end
    ::next::
  end
  c:expect_accepted(sent, "Sends of all lengths modulo 4")
  c:finish()
  if not seen then return end
  for i, octets in ipairs(LENGTHS) do
    read_by_device(self, pattern(octets, i), "a Read Response of " .. octets .. " octets")
  end
end

-- Payloads of a short FPDU and of a long one, which have 1012 octets together, and two Markers: 4 octets less than two
-- intervals. After each such pair the next begins 4 octets sooner between Markers, until it has begun at each place
-- there.
local SHORT, LONG, PAIRS = 36, 928, 128

-- Markers stand at each place of FPDUs: before ULPDU_Length, in headers and payload, before the CRC field, right after
-- it. A device that has Markers takes these FPDUs; one whose ULP sends them sends them so.
function Test:markers_at_all_places()
  local c = self:stream_if_asked("open_with_framing", { markers = true, dut = { receives = 300 } }, "not received with Markers")
  if c then
    local sent, places, count = {}, {}, 0
    for i = 1, PAIRS do
      local place = c:marker_distance()
      if not places[place] then places[place], count = true, count + 1 end
      for _, octets in ipairs { SHORT, LONG } do
        sent[#sent + 1] = pattern(octets, i)
        c:send(rdmap.send { data = sent[#sent] })
      end
    end
    if count < PAIRS - 2 then self:inconclusive("FPDUs began at " .. count .. " places between Markers") end
    c:expect_accepted(sent, "Markers at all places of FPDUs")
    c:finish()
  end

  c = self:open_with_framing { own_markers = true }
  local stream = self:stream_of(c)
  for _ = 1, PAIRS do
    for _, octets in ipairs { SHORT, LONG } do
      self.dut:send { stream = stream, length = octets }
      repeat
        local got = c:expect(rdmap.send {}, { message = "an FPDU with Markers where they belong" })
      until got.L == 1
    end
  end
  c:finish()
end

-- The message of the device that comes next holds `data`.
local function message_holds(c, data, message)
  local segments, got = c:receive_message(message)
  if got ~= data then c.t:fail(message, #data .. " octets, those that were posted", #got .. " octets in " .. #segments .. " segments") end
end

-- The device sends Writes, Sends and Read Responses of all these lengths, and between them what has a length of its
-- own: they come whole, with their pads and CRCs.
function Test:sends_all_lengths()
  local c, stream = self:operating()
  local traits = self:traits()
  local memory = self:memory { octets = 4096 }
  local target = traits.atomics and self:target { value = 1 }
  for i, octets in ipairs(LENGTHS) do
    local data = pattern(octets, i)
    self.dut:send { stream = stream, data = hex(data) }
    message_holds(c, data, "a Send of " .. octets .. " octets")
    if self:try("write", { stream = stream, stag = 0x1234, to = 0, data = hex(data) }) then
      message_holds(c, data, "a Write of " .. octets .. " octets")
    end
    if traits.immediate and self:try("immediate", { stream = stream, data = hex(data:sub(1, 8)) }) then
      message_holds(c, data:sub(1, 8), "Immediate Data after a message of " .. octets .. " octets")
    end
    self.dut:mem_write { stag = memory.STag, offset = 0, data = hex(data) }
    c:send(memory:read(0, octets))
    c:expect_response(0x51A6, 0, data, "a Read Response of " .. octets .. " octets")
    if target then
      c:expect_operation_on(target, target:request(ADD, { Data = 1 }), i, i + 1,
                            "FetchAdd after a Read Response of " .. octets .. " octets")
    end
  end
end
