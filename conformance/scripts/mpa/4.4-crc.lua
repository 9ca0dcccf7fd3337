-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 4.4: the CRC: when it is used, what it covers, and that it is checked.

-- A Write of 40 octets whose CRC field is changed: an error, and the memory keeps what it had.
local function refused(t, c, memory, overrides, message)
  c:send(fpdu(memory:write(0, pattern(40)), overrides))
  c:expect_crc_error(message)
  memory:check(message .. ": nothing is placed")
end

check {
  id = "MPA-4.4-01",
  role = "both",
  purpose = "CRCs are implemented: sent right, and wrong ones are found",
  sandwich = "startup",
  judges = { "framing", "send from" },
  run = function(t)
    local c = t:open_with_framing()
    c:probe { message = "the FPDUs of the device have good CRCs" }
    c:send(fpdu(empty_read(7), { crc_flip = 0x100 }))
    c:expect_crc_error("a corrupted FPDU is found")
  end,
}

check {
  id = "MPA-4.4-06",
  role = "both",
  requires = "upper_tester",
  purpose = "C = 0 of the device alone does not switch checking off",
  run = function(t)
    local c = t:open_with_framing { dut_crc = false }
    refused(t, c, t:memory(), { crc_flip = 0x10 }, "the tester set C = 1: a wrong CRC is an error")
  end,
}

check {
  id = "MPA-4.4-09",
  role = "both",
  requires = "upper_tester",
  purpose = "C = 1 of the tester: CRCs are right in everything that the device sends, its Terminate included",
  sandwich = "startup",
  run = function(t)
    local c = t:open_with_framing { dut_crc = false, mss = 536 }
    c:probe()
    t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = 1 << 18 }
    local taken = 0
    repeat
      local got = c:expect(rdmap.write {}, { message = "each FPDU of a long Write has a good CRC" })
      taken = taken + #got.data
    until got.L == 1
    t:equal("octets of the Write", 1 << 18, taken)
    rig.wait(t.quiet)
    c:probe { message = "after an idle time CRCs are still used" }
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    c:expect_crc_error("the Terminate has a good CRC too")
  end,
}

check {
  id = "MPA-4.4-10",
  role = "both",
  purpose = "CRCs are checked to the end: after 10000 good FPDUs a bad one is found",
  run = function(t)
    local c = t:open_with_framing { markers = rig.has_upper_tester() and false or nil }
    local writes = {}
    for i = 1, 100 do writes[i] = rdmap.write { STag = 0, TO = i } end
    local block = not c.send_framing.markers and c:octets(table.unpack(writes))
    for _ = 1, 100 do
      if block then c:send(block) else c:send(table.unpack(writes)) end
      c:probe()
    end
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 0x80000000 }))
    c:expect_crc_error("after 10000 good FPDUs a wrong CRC is an error")
    if rig.has_upper_tester() then t:expect_deliveries(c, {}, "an FPDU with a wrong CRC is not delivered") end
  end,
}

check {
  id = "MPA-4.4-11",
  role = "both",
  sandwich = "startup",
  purpose = "C = 0 on both sides holds from the first FPDU on",
  run = function(t)
    local c = t:open_with_framing { crc = false, fresh = true }
    c:send(fpdu(empty_read(7), { crc_value = 0 }))
    c:expect(rdmap.read_response { STag = 7 }, { message = "the first FPDU has CRC field 0 and is taken" })
  end,
}

check {
  id = "MPA-4.4-20",
  role = "both",
  sandwich = "startup",
  purpose = "good CRCs are found good: all pads, ULPDUs of 20 to 1440 octets, with Markers where the device wants them",
  run = function(t)
    t:with_and_without_markers(function(c)
      local sent = {}
      for octets = 2, 1424, 79 do
        sent[#sent + 1] = pattern(octets, octets)
        c:send(rdmap.send { data = sent[#sent] })
        c:probe { message = "a good FPDU with a Send of " .. octets .. " octets" }
        c:keep_pace(sent, "Sends of 2 to " .. octets .. " octets")
      end
      c:expect_accepted(sent, "Sends of 2 to 1424 octets")
    end)
  end,
}

-- One bit of the octet `at` (from 1, or from the end; nil: of a Marker) of an FPDU turned over: an error, and nothing
-- is placed.
local function bit_refused(t, options, at, message, bit, payload)
  local c = t:open_with_framing(options)
  local memory = t:memory { octets = math.max(4096, payload or 0) }
  local marker = c:marker_distance() + 2
  local octets = c:octets(memory:write(0, pattern(payload or 541)))
  at = at or marker
  if at < 0 then at = #octets + 1 + at end
  local bad = octets:sub(1, at - 1) .. string.char(octets:byte(at) ~ (bit or 0x20)) .. octets:sub(at + 1)
  c:send_segments { bad }
  c:expect_crc_error(message)
  memory:check(message .. ": nothing is placed")
  c.tcp:close()
end

check {
  id = "MPA-4.4-21",
  role = "both",
  requires = "upper_tester",
  purpose = "one wrong bit in payload, pad, Marker or any octet of the CRC field makes an FPDU invalid",
  run = function(t)
    bit_refused(t, {}, 20, "a wrong bit in the payload")
    bit_refused(t, {}, -5, "a wrong bit in the pad")
    for octet = 1, 4 do bit_refused(t, {}, -octet, "a wrong bit in octet " .. 5 - octet .. " of the CRC field") end
    for octet = 1, 4 do
      for _, bit in ipairs { 0x01, 0x04, 0x80 } do
        bit_refused(t, {}, -octet, string.format("bit %02X wrong in octet %d of the CRC field", bit, 5 - octet), bit)
      end
    end
    for _, payload in ipairs { 1, 64, 1376 } do
      bit_refused(t, {}, -2, "a wrong bit in the CRC field of a Write of " .. payload .. " octets", 0x10, payload)
    end
    if t:takes_long() then bit_refused(t, {}, -2, "a wrong bit in the CRC field of a Write of " .. LONG .. " octets", 0x10, LONG) end
    for octet = 3, 16 do bit_refused(t, {}, octet, "a wrong bit in octet " .. octet .. " of the FPDU", 0x01) end
    local c = t:open_with_framing { dut = { markers = true } }
    if c.send_framing.markers then bit_refused(t, { markers = true }, nil, "a wrong bit in a Marker") end
  end,
}

-- Figure 5 of the RFC, as the first FPDU of a stream with Markers.
local figure_5 = unhex("00000000 002A 4143 00000000 00000000 00000001 00000000" .. string.rep("00", 24))

check {
  id = "MPA-4.4-22",
  role = "both",
  purpose = "the FPDU of Figure 5 is taken, CRC 52 23 99 83; with 83 99 23 52 it is not",
  run = function(t)
    local c = t:open_with_framing { markers = true, fresh = true }
    c:send(figure_5 .. unhex "52239983")
    c.msn[0] = 2
    c:expect_accepted({ string.rep("\0", 24) }, "the FPDU of Figure 5")
    c:finish()
    c = t:open_with_framing { markers = true, fresh = true }
    c:send(figure_5 .. unhex "83992352")
    c:expect_crc_error("the FPDU of Figure 5 with its CRC field turned round")
  end,
}

check {
  id = "MPA-4.4-23",
  role = "both",
  sandwich = "startup",
  purpose = "the FPDU of Figure 6, with a Marker inside, is taken",
  run = function(t)
    local c = t:open_with_framing { markers = true, fresh = true }
    local first = pattern(482 - 18)
    c:send(rdmap.send { data = first })
    t:equal("where Figure 6 begins in the stream", 0x1EC, c.send_framing.position)
    c:send(unhex("002A 4143 00000000 00000000 00000002 00000000 00000014" .. string.rep("00", 24) .. "84925898"))
    c.msn[0] = 3
    c:expect_accepted({ first, string.rep("\0", 24) }, "the FPDU of Figure 6")
  end,
}

check {
  id = "MPA-4.4-24",
  role = "both",
  purpose = "a wrong CRC comes before all faults of the headers: Terminate 2/0/02 and no other",
  run = function(t)
    local faults = {
      { "a DDP version of 3", rdmap.send { DV = 3, data = "x" }, called = "DDP version" },
      { "an unknown STag", bad_write("x"), called = "STag" },
      { "an unknown queue", rdmap.send { QN = 9, MSN = 1, data = "x" }, called = "queue" },
    }
    t:each_value("header with a wrong", faults, function(fault)
      local c = t:open_with_framing()
      c:send(fpdu(fault[2], { crc_flip = 0x10000 }))
      c:expect_crc_error("a wrong CRC and " .. fault[1] .. ": the CRC counts")
      c.tcp:close()
    end)
  end,
}

check {
  id = "MPA-4.4-02",
  role = "both",
  sandwich = "startup",
  purpose = "CRCs are off only where both sides ask for it: with C = 0 of the device alone they are sent and checked",
  run = function(t)
    local c = t:open_with_framing()
    t:equal("C of a device left as it is", 1, c.peer.C)
    c = t:open_with_framing { dut_crc = false }
    c:send(fpdu(rdmap.send { data = "wrong" }, { crc_flip = 2 }))
    c:expect_crc_error("a wrong CRC, where the device's frame has C = " .. c.peer.C .. " and the tester's C = 1")
  end,
}
