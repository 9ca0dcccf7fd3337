-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 5.1, 5.2 and 6: FPDUs in TCP segments of all kinds, and what may go up.

check {
  id = "MPA-5.1-05",
  role = "both",
  purpose = "five FPDUs in one TCP segment are all taken",
  run = function(t)
    local c = t:open_with_framing()
    local others, first = t:empty_messages(3)
    c:send(rdmap.send { data = "one" }, others[1], rdmap.send { data = "two" }, others[2], others[3])
    for i = first, #others do c:expect(rdmap.read_response { STag = i }, { message = "five FPDUs in one TCP segment" }) end
    c:expect_accepted({ "one", "two" }, "five FPDUs in one TCP segment")
  end,
}

check {
  id = "MPA-5.1-06",
  role = "both",
  sandwich = "startup",
  purpose = "FPDUs are taken from TCP segments of one octet, from two halves in one segment, and in pieces that come apart",
  run = function(t)
    t:with_and_without_markers(function(c, markers)
      local sent = { pattern(20, 1), pattern(530, 2), pattern(90, 3), pattern(91, 4), pattern(21, 5) }
      c:send_in_pieces(c:octets(rdmap.send { data = sent[1] }, rdmap.send { data = sent[2] }), 1)
      c:probe { message = "FPDUs in TCP segments of one octet" }
      local octets = c:octets(rdmap.send { data = sent[3] }, rdmap.send { data = sent[4] })
      c:send_segments { octets:sub(1, 60), octets:sub(61, 170), octets:sub(171) }
      c:probe { message = "two halves of FPDUs in one TCP segment" }
      -- What comes at once may be joined before MPA sees it (GRO). Cuts within ULPDU_Length, the DDP header, the
      -- payload, the CRC field.
      octets = c:octets(rdmap.send { data = sent[5] })
      c:send_apart { octets:sub(1, 1), octets:sub(2, 9), octets:sub(10, 30), octets:sub(31, -4), octets:sub(-3, -2), octets:sub(-1) }
      c:expect_accepted(sent, "FPDUs cut anywhere" .. (markers and ", with Markers" or ""))
    end)
  end,
}

check {
  id = "MPA-5.2-01",
  role = "both",
  sandwich = "startup",
  purpose = "without Markers the boundaries follow from ULPDU_Length: 50 FPDUs, aligned to nothing",
  run = function(t)
    local c = t:open_with_framing { markers = rig.has_upper_tester() and false or nil, dut = { receives = 64 } }
    local sent, frames = {}, {}
    for i = 1, 50 do
      sent[i] = pattern(i * 37 % 211, i)
      frames[i] = rdmap.send { data = sent[i] }
    end
    c:send_clear_of_trailers(frames, 127)
    c:expect_accepted(sent, "50 FPDUs in TCP segments of 127 octets")
  end,
}

check {
  id = "MPA-5.2-02",
  role = "both",
  purpose = "in order a wrong Marker may be looked at or not: taken, Terminate 2/0/03, or dropped",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local data = pattern(c:marker_distance() + 40)
    c:send(fpdu(rdmap.send { data = data }, { marker_index = 0, marker_flip = 4 }), empty_read(7))
    local outcome = c:mpa_outcome({ "MPA_MARKER" }, "a Marker whose FPDUPTR is wrong by 4, in order")
    t:note("a wrong Marker, in order: " .. outcome)
    if outcome == "accepted" then c:expect_accepted({ data }, "the FPDU is taken as ULPDU_Length has it") end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Section 6: what is verified before a ULPDU goes up

check {
  id = "MPA-6-01",
  role = "both",
  requires = "upper_tester",
  purpose = "an FPDU is verified before its ULPDU is placed",
  run = function(t)
    local c = t:open_with_framing()
    local memory = t:memory()
    c:send(fpdu(memory:write(64, pattern(600)), { crc_flip = 0x4000 }))
    c:expect_crc_error("a Write with a wrong CRC")
    memory:check("a Write with a wrong CRC is not placed")
  end,
}

-- A Write whose payload holds a whole good FPDU, a Write of its own to `forbidden`. Returns the octets and where the
-- look-alike begins.
local function lookalike(c, memory, forbidden)
  local inner = wire.frame(forbidden:write(0, "FORGED"):octets(), { markers = false, crc = true, position = 0 })
  local data = pattern(200) .. inner .. pattern(300, 7)
  memory:patch(0, data)
  local octets = c:octets(memory:write(0, data))
  return octets, octets:find(inner, 1, true)
end

check {
  id = "MPA-6-02",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "octets at the start of a TCP segment that look like an FPDU are not taken for one, after a gap or not",
  run = function(t)
    for _, order in ipairs { { 2, 1 }, { 1, 2 } } do
      t:with_and_without_markers(function(c)
        local memory, forbidden = t:memory(), t:memory()
        local octets, at = lookalike(c, memory, forbidden)
        if at then
          c:send_segments({ octets:sub(1, at - 1), octets:sub(at) }, order)
        else -- a Marker lies in the look-alike: the first segment ends before it
          c:send_segments({ octets:sub(1, 220), octets:sub(221) }, order)
        end
        c:probe { message = "a Write in two TCP segments" }
        forbidden:check("a look-alike of an FPDU within a payload is not executed")
        memory:check("the payload is placed as it is")
      end)
    end
  end,
}

check {
  id = "MPA-6-03",
  role = "both",
  purpose = "an FPDU whose last CRC octet is wrong does not go up",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "no" }, { crc_flip = 0xFF000000 }))
    c:expect_crc_error("the last octet of the CRC field is inverted")
    if rig.has_upper_tester() then t:expect_deliveries(c, {}, "an FPDU with a wrong CRC is not delivered") end
  end,
}

check {
  id = "MPA-6-04",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "in order an FPDU begins where the one before ends, whatever a TCP segment begins with",
  run = function(t)
    local c = t:open_with_framing { markers = false }
    local memory, forbidden = t:memory(), t:memory()
    local look = unhex "002a4143"
    local data = string.rep(look .. pattern(96), 8)
    memory:patch(0, data)
    local octets = c:octets(memory:write(0, data))
    local pieces, at = {}, 1
    while at <= #octets do
      local stop = octets:find(look, at + 1, true) or #octets + 1
      pieces[#pieces + 1] = octets:sub(at, stop - 1)
      at = stop
    end
    c:send_segments(pieces)
    c:probe { message = "TCP segments that begin like FPDUs" }
    memory:check("look-alikes at the start of TCP segments are payload")
    local more, begin = lookalike(c, memory, forbidden)
    c:send_segments { more:sub(1, begin - 1), more:sub(begin) }
    c:probe { message = "a TCP segment that begins with a whole FPDU of another's payload" }
    memory:check("a look-alike at the start of a TCP segment is payload")
    forbidden:check("a look-alike at the start of a TCP segment is not executed")
  end,
}

check {
  id = "MPA-6-06",
  role = "both",
  purpose = "an FPDU goes up when it is complete: not without the last octet of its CRC field",
  run = function(t)
    t:each_value("then", { "octet", "fin" }, function(ending)
      local c = t:open_with_framing()
      local octets = c:octets(empty_read(7))
      c:send_segments { octets:sub(1, -2) }
      c:expect_quiet { message = "the last octet of the CRC field is missing: no Read Response" }
      if ending == "octet" then
        c:send_segments { octets:sub(-1) }
        c:expect(rdmap.read_response { STag = 7 }, { message = "the last octet has come: the Read Response" })
        c:finish()
      else
        local got = c:finish()
        if not fits(tcp.closed(), got) then
          t:fail("a FIN in place of the last octet", "FIN or RST", describe(got))
        end
      end
    end)
  end,
}

check {
  id = "MPA-6-07",
  role = "both",
  sandwich = "startup",
  purpose = "without agreed CRCs lengths chain through FPDUs with any CRC field",
  run = function(t)
    local c = t:open_with_framing { crc = false, dut = { receives = 64 } }
    local sent = {}
    for i = 1, 20 do
      sent[i] = pattern(i * 13, i)
      c:send(fpdu(rdmap.send { data = sent[i] }, { crc_value = (i * 2654435761) & 0xFFFFFFFF }))
      if i % 10 == 0 then c:probe { message = "FPDUs with arbitrary CRC fields" } end
    end
    local alive, got = c:alive()
    if not alive and (fits(tcp.closed(), got) or got.triple) then
      t:ambiguous("B: chaining needs a verified CRC")
    elseif not alive then
      t:fail("FPDUs with arbitrary CRC fields", "they are taken", describe(got))
    end
    if rig.has_upper_tester() then t:expect_deliveries(c, sent, "FPDUs with arbitrary CRC fields") end
    t:ambiguous("A: with CRC off every CRC field counts as valid, so lengths chain on")
  end,
}
