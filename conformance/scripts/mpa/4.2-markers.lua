-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 4.2 and 4.3: Markers, received by a device that asked for them (M = 1), and sent by one that was asked.

-- A Send whose payload is long enough to have `count` Markers inside, at the present position.
local function with_markers(c, count)
  return rdmap.send { data = pattern(c:marker_distance() + 512 * (count - 1) + 40, count) }
end

check {
  id = "MPA-4.2-03",
  role = "both",
  purpose = "the reserved half of a Marker is not looked at, but is in the CRC",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local sent = {}
    for i = 1, 2 do
      local frame = with_markers(c, 2)
      sent[i] = frame.given.data
      c:send(fpdu(frame, { marker_index = i - 1, marker_reserved = 0xFFFF }))
    end
    c:expect_accepted(sent, "Markers with reserved = FF FF that are in the CRC")
    c:finish()
    c = t:open_with_framing { markers = true }
    local frame = with_markers(c, 1)
    local crc = c:crc_of(frame)
    frame.given.MSN = nil
    c:send(fpdu(frame, { marker_index = 0, marker_reserved = 0xFFFF, crc_value = crc }))
    c:expect_crc_error("a Marker with reserved = FF FF, and the CRC of zeros")
  end,
}

check {
  id = "MPA-4.2-06",
  role = "both",
  purpose = "the two low bits of FPDUPTR count as zero",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local sent = {}
    for bits = 1, 3 do
      local frame = with_markers(c, 2)
      sent[bits] = frame.given.data
      c:send(fpdu(frame, { marker_index = bits % 2, marker_flip = bits }))
    end
    c:expect_accepted(sent, "Markers whose FPDUPTR has its low bits set")
  end,
}

check {
  id = "MPA-4.3-03",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a device that is asked for Markers sends them, at their places",
  run = function(t)
    local c = t:open_with_framing { own_markers = true }
    t.dut:send { stream = t:stream_of(c), length = 4096 }
    local taken, markers = 0, 0
    repeat
      local got = c:expect(rdmap.send {}, { message = "FPDUs with Markers where they belong" })
      taken = taken + #got.data
      markers = markers + got.fpdu.markers
    until got.L == 1
    t:equal("octets of the message", 4096, taken)
    if markers < 7 then t:fail("Markers in 4096 octets", "8", tostring(markers)) end
  end,
}

check {
  id = "MPA-4.3-06",
  role = "both",
  purpose = "Markers are found across a wrap of the TCP sequence number, also with the segments turned round",
  sandwich = "startup",
  run = function(t)
    for _, order in ipairs { { 1, 2 }, { 2, 1 } } do
      local c = t:open_with_framing { markers = true, fresh = true, iss = 0xFFFFFEEB }
      local data = pattern(758 - 18)
      local octets = c:octets(rdmap.send { data = data })
      c:send_segments({ octets:sub(1, 256), octets:sub(257) }, order)
      c:expect_accepted({ data }, "an FPDU over the wrap of the sequence number, segments " .. table.concat(order, ", "))
      c:finish()
    end
  end,
}

check {
  id = "MPA-4.3-10",
  role = "both",
  purpose = "a Marker between two FPDUs is in the CRC of the second",
  run = function(t)
    for _, right in ipairs { true, false } do
      local c = t:open_with_framing { markers = true, fresh = true }
      local first, second = pattern(502 - 18), pattern(30)
      c:send(rdmap.send { data = first })
      t:equal("where the second FPDU begins", 512, c.send_framing.position)
      if right then
        c:send(rdmap.send { data = second })
        c:expect_accepted({ first, second }, "an FPDU after a Marker between FPDUs")
        c:finish()
      else
        local _, octets = c:crc_of(rdmap.send { data = second })
        c.fenced = nil
        c:send(fpdu(rdmap.send { data = second }, { crc_value = wire.crc32c(octets:sub(5, -5)) }))
        c:expect_crc_error("the CRC of the second FPDU without the Marker before it")
      end
    end
  end,
}

check {
  id = "MPA-4.3-11",
  role = "both",
  purpose = "low bits of FPDUPTR count as zero where a Marker is used to find an FPDU after a gap",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local sent = { pattern(300, 1), pattern(700, 2), pattern(300, 3) }
    local octets = c:octets(rdmap.send { data = sent[1] })
    octets = octets .. c:octets(fpdu(rdmap.send { data = sent[2] }, { marker_index = 0, marker_flip = 1 }))
    octets = octets .. c:octets(rdmap.send { data = sent[3] })
    c:send_segments({ octets:sub(1, 200), octets:sub(201, 900), octets:sub(901) }, { 2, 3, 1 })
    c:expect_accepted(sent, "a Marker with FPDUPTR | 1 after a gap, and the gap closed")
  end,
}

check {
  id = "MPA-4.3-15",
  role = "both",
  sandwich = "startup",
  purpose = "Markers are counted from the octet after the start-up frame, Private Data included",
  run = function(t)
    for _, octets in ipairs { 3, 100 } do
      local c = t:open_with_framing { markers = true, fresh = true, private_data = string.rep("p", octets) }
      local data = pattern(1000 - 18 - 14)
      c:send(rdmap.send { data = data })
      c:expect_accepted({ data }, "Markers after " .. octets .. " octets of Private Data")
      c:finish()
    end
  end,
}

-- The device sends until its next FPDU begins `before` octets before a Marker is due. Its Sends are short, as it may
-- cut a long one where it likes (RFC 5041 5.2). An FPDU has 24 octets and a payload that is a multiple of 4.
local function send_until_marker(t, c, stream, before, message)
  while (c.receive_framing.position + before) % 512 ~= 0 do
    local position = c.receive_framing.position
    local room = -(position + before) % 512
    -- Where the rest is too short for an FPDU, this one passes the place.
    local payload = (room < 28 or room > 140) and 76 or room - 24
    -- One Marker stands before ULPDU_Length, or between here and there.
    if payload == room - 24 and position % 512 == 0 then payload = payload - 4 end
    t.dut:send { stream = stream, length = payload }
    local got = c:expect(rdmap.send {}, { message = message })
    if got.L == 0 then t:skip("the device cuts Sends of " .. payload .. " octets, so that its FPDUs cannot be placed") end
    if #got.data ~= payload then t:fail(message, "a Send of " .. payload .. " octets, as its ULP posted it", describe(got)) end
  end
end

check {
  id = "MPA-4.3-19",
  role = "both",
  sandwich = "startup",
  requires = "upper_tester",
  purpose = "a Marker right after ULPDU_Length and two octets of the header, and at each other place: received, and sent",
  run = function(t)
    local c = t:open_with_framing { markers = true, fresh = true }
    local sent = { pattern(498 - 18), pattern(40) }
    c:send(rdmap.send { data = sent[1] })
    t:equal("where the second FPDU begins", 508, c.send_framing.position)
    c:send(rdmap.send { data = sent[2] })
    c:expect_accepted(sent, "a Marker within the DDP header")
    c:finish()

    c = t:open_with_framing { own_markers = true }
    local stream = t:stream_of(c)
    send_until_marker(t, c, stream, 4, "an FPDU with Markers")
    t:equal("where the device's next FPDU begins", 508, c.receive_framing.position % 512)
    t.dut:send { stream = stream, length = 40 }
    c:expect(rdmap.send { L = 1, data = function(v) return #v == 40 end },
             { message = "an FPDU with a Marker after its first 4 octets" })
    c:finish()
    t:markers_at_all_places()
  end,
}

check {
  id = "MPA-4.3-20",
  role = "both",
  purpose = "ULPDUs keep their boundaries: ten FPDUs in one TCP segment, then one FPDU over ten",
  run = function(t)
    local c = t:open_with_framing()
    local sent, frames = {}, {}
    for i = 1, 10 do
      sent[i] = pattern(i * 3, i)
      frames[i] = rdmap.send { data = sent[i] }
    end
    c:send(table.unpack(frames))
    sent[11] = pattern(476)
    c:send_in_pieces(c:octets(rdmap.send { data = sent[11] }), 50)
    c:expect_accepted(sent, "ten FPDUs in one segment, one FPDU over ten segments")
  end,
}

check {
  id = "MPA-4.3-21",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the ULPDU goes up without Markers, pad and CRC: the memory holds the payload, and nothing else is touched",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local memory = t:memory { octets = 8192 }
    for pad = 0, 3 do
      local data = pattern(1300 + pad, pad)
      c:send(memory:write(100 + pad * 2000, data))
      memory:patch(100 + pad * 2000, data)
    end
    c:probe { message = "Writes with Markers inside" }
    memory:check("1300 octets with Markers inside")
    c:send(memory:read(100, 1300, { SinkSTag = 0x51A6, SinkTO = 0 }))
    c:expect_response(0x51A6, 0, pattern(1300, 0), "what was written is read back")
  end,
}

check {
  id = "MPA-4.3-22",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Marker due at the end of what is sent: at once or with the next FPDU; received alone it is taken",
  run = function(t)
    local c = t:open_with_framing { own_markers = true }
    local stream = t:stream_of(c)
    send_until_marker(t, c, stream, 0, "an FPDU that ends where a Marker is due")
    t:equal("where the device's Marker is due", 0, c.receive_framing.position % 512)
    local early = c:peek(4, t.quiet)
    if #early > 0 then t:equal("the Marker between FPDUs", "00000000", hex(early:sub(1, 4))) end
    t.dut:send { stream = stream, length = 40 }
    c:expect(rdmap.send { L = 1 }, { message = "the Marker is in the CRC of the FPDU after it" })
    c:finish()

    c = t:open_with_framing { markers = true, fresh = true }
    local sent = { pattern(502 - 18), pattern(40) }
    c:send(rdmap.send { data = sent[1] })
    local octets = c:octets(rdmap.send { data = sent[2] })
    c:send_segments { octets:sub(1, 4) }
    rig.wait(t.round_trip * 2)
    c:send_segments { octets:sub(5) }
    c:expect_accepted(sent, "a Marker alone in a TCP segment")
    t:ambiguous(#early > 0 and "A: a Marker due at the end of the sent data goes out at once"
                or "B: it goes out with the next FPDU")
  end,
}

check {
  id = "MPA-4.4-17",
  role = "both",
  sandwich = "startup",
  purpose = "a Marker between pad and CRC field is in the CRC, and is not the CRC",
  run = function(t)
    for _, right in ipairs { true, false } do
      local c = t:open_with_framing { markers = true, fresh = true }
      local data = pattern(505 - 18)
      local _, octets = c:crc_of(rdmap.send { data = data })
      t:equal("the Marker before the CRC field", "000001fc", hex(octets:sub(513, 516)))
      if right then
        c:send(rdmap.send { data = data })
        c:expect_accepted({ data }, "an FPDU with a Marker right before its CRC field")
        c:finish()
      else
        c:send(fpdu(rdmap.send { data = data }, { crc_value = wire.crc32c(octets:sub(1, 512)) }))
        c:expect_crc_error("the CRC without the Marker before it")
      end
    end
  end,
}
