-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 section 3 and 4.5: ULPDUs, their sizes, and MULPDU.

-- The device sends a Send of `octets`; all of its segments are taken. Returns their ULPDU_Lengths.
local function sent_lengths(t, c, octets, message)
  t.dut:send { stream = t:stream_of(c), length = octets }
  local lengths, taken = {}, 0
  repeat
    local got = c:expect(rdmap.send {}, { message = message })
    lengths[#lengths + 1] = got.fpdu.length
    taken = taken + #got.data
  until got.L == 1
  t:equal("octets of the message that the device sent", octets, taken)
  return lengths
end

-- Full segments have ULPDU_Length 128 at least, also where EMSS itself is 128 or a little more: what MPA adds is taken
-- off.
local function floor_kept(t, octets, sizes)
  for _, mss in ipairs(sizes) do
    for _, markers in ipairs { false, true } do
      local c = t:open_with_framing { mss = mss, own_markers = markers }
      local lengths = sent_lengths(t, c, octets, "FPDUs over segments of " .. mss .. " octets")
      local status = rig.command { verb = "status", stream = t:stream_of(c) }
      if status.ok and status.mulpdu and status.mulpdu < 128 then
        t:fail("MULPDU at an MSS of " .. mss, "128 or more", tostring(status.mulpdu))
      end
      local largest = 0
      for i = 1, #lengths - 1 do largest = math.max(largest, lengths[i]) end
      if #lengths > 1 and largest < 128 then
        t:warn("full DDP segments at an MSS of " .. mss, "ULPDU_Length 128 or more", "at most " .. largest)
      end
      c:finish()
    end
  end
end

check {
  id = "MPA-3-04",
  role = "both",
  requires = "upper_tester",
  purpose = "MULPDU is never below 128: at an MSS of 88 to 140 FPDUs span TCP segments",
  run = function(t) floor_kept(t, 4096, { 88, 130, 136, 140 }) end,
}

check {
  id = "MPA-4.5-07",
  role = "both",
  requires = "upper_tester",
  purpose = "an EMSS below 128, at 128 and one beyond leaves MULPDU at 128",
  run = function(t) floor_kept(t, 1024, { 88, 127, 128, 129 }) end,
}

check {
  id = "MPA-3-05",
  role = "both",
  requires = "upper_tester",
  purpose = "MULPDU is never above 64768, however large the EMSS",
  run = function(t)
    local c = t:open_with_framing { mss = 65495, dut = { emss = 65495 } }
    for _, length in ipairs(sent_lengths(t, c, 200000, "a large message")) do
      if length > 0xFD00 then t:fail("ULPDU_Length at an EMSS of 65495", "at most 64768", tostring(length)) end
    end
  end,
}

check {
  id = "MPA-3-07",
  role = "both",
  sandwich = "startup",
  purpose = "short ULPDUs are taken: 14, 18, 19, 20 and 21 octets in one TCP segment",
  judges = { "reads", "framing" },
  run = function(t)
    local c = t:open_with_framing()
    c:send(rdmap.write { STag = 0, TO = 0 }, rdmap.send {}, rdmap.send { data = "1" }, rdmap.send { data = "22" },
           rdmap.send { data = "333" })
    c:expect_accepted({ "", "1", "22", "333" }, "short ULPDUs are legal")
  end,
}

check {
  id = "MPA-3-10",
  role = "both",
  purpose = "each ULPDU goes up with its length: 100 Sends of 0 to 99 octets in TCP segments of any size",
  run = function(t)
    local c = t:open_with_framing { dut = { receives = 128 } }
    local octets, messages = {}, {}
    for i = 0, 99 do
      messages[#messages + 1] = pattern(i, i)
      octets[#octets + 1] = c:octets(rdmap.send { data = messages[#messages] })
    end
    octets = table.concat(octets)
    local pieces, at, size = {}, 1, 1
    while at <= #octets do
      size = size * 73 % 1021 + 1
      pieces[#pieces + 1] = octets:sub(at, at + size - 1)
      at = at + size
    end
    c:send_segments(pieces)
    c:expect_accepted(messages, "100 Sends of 0 to 99 octets")
  end,
}

check {
  id = "MPA-3-16",
  role = "both",
  requires = "upper_tester",
  purpose = "an FPDU of one MTU is taken; of 16384 and 64768 octets over many segments: taken, or refused",
  sandwich = "startup",
  run = function(t)
    local c = t:open_with_framing()
    local reading = "A: an FPDU larger than the link MTU is taken, since alignment may be lost"
    local memory = t:memory { octets = 65536 }
    -- What an Ethernet MTU leaves over IPv4 and over IPv6, and one octet more.
    local link = (rig.addresses()):find(":", 1, true) and 1440 or 1460
    local fitting = mulpdu_of(link, c.send_framing.markers)
    for _, length in ipairs { fitting - 12, fitting, fitting + 1, 16384, 64768 } do
      local data = pattern(length - 14, length)
      c:send(memory:write(0, data))
      local alive, got = c:alive()
      if alive then
        memory:patch(0, data)
        memory:check("a Write in an FPDU with ULPDU_Length " .. length)
      elseif length <= fitting then
        t:fail("an FPDU that fits one TCP segment", "it is taken", describe(got))
      elseif fits(tcp.closed(), got) or (is_terminate(got)) then
        reading = "B: buffers are sized by the MTU, so it may be refused"
        break
      else
        t:fail("an FPDU with ULPDU_Length " .. length, "it is taken, or a Terminate, or FIN or RST", describe(got))
      end
    end
    t:ambiguous(reading)
  end,
}
