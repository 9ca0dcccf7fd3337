-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 5.1 to 5.3, 5.5: Writes, Reads and Sends of the device, in the order in which its ULP posted them.

defaults { llp = "any" }

local STAG, TO = 0x12345678, 0x100000003

check {
  id = "RDMAP-5.1-01",
  role = "both",
  purpose = "Writes carry the STag that the ULP named, and stay in its range",
  run = function(t)
    local c, number = t:operating()
    for _, stag in ipairs { STAG, 1, 0xFEDCBA98 } do
      t.dut:write { stream = number, stag = stag, to = TO, length = 4000 }
      local segments = c:receive_message("a Write")
      for _, got in ipairs(segments) do
        t:equal("STag of the Write", string.format("%08x", stag), hex(got.ulpdu:sub(3, 6)))
        local to = string.unpack(">i8", got.ulpdu, 7)
        if to < TO or to + #got.ulpdu - 14 > TO + 4000 then
          t:fail("TO of a Write of 4000 octets", string.format("0x%x and 3999 more", TO), string.format("0x%x", to))
        end
      end
    end
  end,
}

check {
  id = "RDMAP-5.1-02",
  role = "both",
  purpose = "each segment of a Write is tagged, of one without payload, too",
  run = function(t)
    local c, number = t:operating()
    for _, octets in ipairs { 0, 1, 100000 } do
      t.dut:write { stream = number, stag = STAG, to = TO, length = octets }
      local taken = 0
      repeat
        local got = c:expect_segment("a Write of " .. octets .. " octets", "a segment of it")
        t:equal("T of a Write of " .. octets .. " octets", 1, got.ulpdu:byte(1) >> 7)
        taken = taken + #got.ulpdu - 14
      until taken >= octets
    end
  end,
}

local PIECES = { ("\1"):rep(1000), "\2", ("\3"):rep(3000), ("\4"):rep(7) }

local function gather(t, pieces)
  if not t.dut:capabilities().gather then t:skip("the device cannot be asked for a gather list") end
  local list = {}
  for i, piece in ipairs(pieces) do list[i] = hex(piece) end
  return list
end

check {
  id = "RDMAP-5.1-07",
  role = "both",
  purpose = "a gather list leaves as one Write",
  run = function(t)
    local list = gather(t, PIECES)
    local c, number = t:operating()
    t.dut:write { stream = number, stag = STAG, to = TO, data = list }
    local segments, data = c:receive_message("a Write of four pieces")
    t:equal("octets of the one Write", 4008, #data)
    t:equal("its payload", true, data == table.concat(PIECES))
    local at = TO
    for _, got in ipairs(segments) do
      t:equal("TO", string.format("%016x", at), hex(got.ulpdu:sub(7, 14)))
      at = at + #got.ulpdu - 14
    end
  end,
}

check {
  id = "RDMAP-5.3-10",
  role = "both",
  purpose = "a gather list leaves as one Send",
  run = function(t)
    local pieces = { ("\1"):rep(100), "", ("\3"):rep(5000) }
    local list = gather(t, pieces)
    local c, number = t:operating()
    t.dut:send { stream = number, data = list }
    local segments, data = c:receive_message("a Send of three pieces")
    t:equal("octets of the one Send", 5100, #data)
    t:equal("its payload", true, data == table.concat(pieces))
    for _, got in ipairs(segments) do t:equal("MSN", c.first, got.MSN) end
  end,
}

-- Work that waits while the window is shut: 60 messages of 1 and of 20000 octets in turn.
local function in_order(t, post, number_of)
  local c, number = t:operating()
  c:window(0)
  t.dut:write { stream = number, stag = STAG, to = 0, length = t.large }
  for k = 1, 60 do post(number, k, k % 2 == 1 and 1 or 20000) end
  c:window(65535)
  c:receive_message("a Write before")
  for k = 1, 60 do
    local segments, data = c:receive_message("message " .. k)
    t:equal("number of message " .. k, k, number_of(segments[1], data))
    t:equal("octets of message " .. k, k % 2 == 1 and 1 or 20000, #data)
  end
end

check {
  id = "RDMAP-5.1-08",
  role = "both",
  purpose = "Writes go out in the order in which they were posted",
  run = function(t)
    in_order(t, function(number, k, octets)
      t.dut:write { stream = number, stag = STAG, to = 20000 * k, length = octets }
    end, function(got) return string.unpack(">i8", got.ulpdu, 7) // 20000 end)
  end,
}

check {
  id = "RDMAP-5.3-12",
  role = "both",
  purpose = "Sends go out in the order in which they were posted",
  run = function(t)
    in_order(t, function(number, k, octets)
      t.dut:send { stream = number, data = hex(string.char(k):rep(octets)) }
    end, function(_, data) return data:byte(1) end)
  end,
}

check {
  id = "RDMAP-5.5-15",
  role = "both",
  purpose = "messages of all kinds go out in the order in which they were posted",
  run = function(t)
    local c, number = t:operating { ord = 8 }
    local sink = t:memory()
    local kinds = { 0, 3, 1, 0, 3, 1 }
    c.answers_when_due = true
    c:window(0)
    t.dut:write { stream = number, stag = STAG, to = 0, length = t.large }
    for k, kind in ipairs(kinds) do
      if kind == 0 then t.dut:write { stream = number, stag = k, to = 0, length = 100000 } end
      if kind == 3 then t.dut:send { stream = number, length = k } end
      if kind == 1 then
        t:post_read(c, sink, { source_stag = k, length = 8 })
      end
    end
    c:window(65535)
    c:receive_message("a Write before")
    for k, kind in ipairs(kinds) do
      t:equal("opcode of message " .. k, kind, opcode_of(c:receive_message("message " .. k)[1]))
    end
  end,
}

check {
  id = "RDMAP-5.2.1-01",
  role = "both",
  purpose = "a Read Request goes to an untagged buffer: 18 octets of header, MO 0",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    t:post_read(c, sink, { source_stag = STAG, source_to = TO, length = 8 })
    local got = c:receive_message("a Read")[1]
    t:equal("octets 0 and 1", "4141", hex(got.ulpdu:sub(1, 2)))
    t:equal("octets of the ULPDU", 46, #got.ulpdu)
    t:equal("SinkSTag after 18 octets", string.format("%08x", sink.STag), hex(got.ulpdu:sub(19, 22)))
    t:equal("MO", "00000000", hex(got.ulpdu:sub(15, 18)))
  end,
}

check {
  id = "RDMAP-5.2.1-02",
  role = "both",
  purpose = "a Read Request is untagged, right after a Write, too",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    c.answers_when_due = true
    for _ = 1, 2 do
      t.dut:write { stream = number, stag = STAG, to = 0, length = 8 }
      t:post_read(c, sink, { source_stag = STAG, length = 8 })
      c:receive_message("a Write")
      t:equal("octet 0 of a Read Request", "41", hex(c:receive_message("a Read")[1].ulpdu:sub(1, 1)))
    end
  end,
}

check {
  id = "RDMAP-5.2.1-07",
  role = "both",
  purpose = "Read Requests count on a queue of their own: the first has MSN 1 after any Sends",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    for _ = 1, 3 do
      t.dut:send { stream = number, length = 8 }
      c:receive_message("a Send")
    end
    c.answers_when_due = true
    for i = 1, 2 do
      t:post_read(c, sink, { source_stag = STAG, length = 8 })
      t:equal("QN and MSN of a Read Request", string.format("00000001%08x", i), hex(c:receive_message("a Read")[1].ulpdu:sub(7, 14)))
    end
  end,
}

check {
  id = "RDMAP-5.2.1-09",
  role = "both",
  purpose = "Read Requests go out in the order in which they were posted, after a stall, too",
  run = function(t)
    local c, number = t:operating { ord = 2 }
    local sink = t:memory()
    for k = 1, 16 do
      t:post_read(c, sink, { source_stag = STAG, source_to = k, length = 100 + k })
    end
    for k = 1, 16 do
      local got = c:expect(rdmap.read_request { MSN = k, SrcTO = k, RDMARDSZ = 100 + k }, { message = "Read " .. k .. " of 16" })
      c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(100 + k) })
    end
  end,
}

check {
  id = "RDMAP-5.2.1-11",
  role = "both",
  purpose = "to read from two buffers takes two Read Requests",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    c:window(0)
    t.dut:write { stream = number, stag = STAG, to = 0, length = t.large }
    for _, stag in ipairs { 0x11111111, 0x22222222 } do
      t:post_read(c, sink, { source_stag = stag, length = 8 })
    end
    c:window(65535)
    c:receive_message("a Write before")
    c.answers_when_due = true
    for i, stag in ipairs { "11111111", "22222222" } do
      local got = c:receive_message("Read " .. i)[1]
      t:equal("octets of the ULPDU of Read " .. i, 46, #got.ulpdu)
      t:equal("SrcSTag of Read " .. i, stag, hex(got.ulpdu:sub(35, 38)))
    end
  end,
}

local function sends_untagged(t, judge)
  local c, number = t:operating()
  for _, given in ipairs { {}, { solicited = true }, { invalidate = STAG }, { invalidate = STAG, solicited = true } } do
    given.stream, given.length = number, 5000
    t.dut:send(given)
    local taken = 0
    repeat
      local got = c:expect_segment("a Send of 5000 octets", "a segment of it")
      judge(got, taken)
      taken = taken + #got.ulpdu - 18
    until taken >= 5000
  end
end

check {
  id = "RDMAP-5.3-01",
  role = "both",
  purpose = "all Sends go to untagged buffers: QN, MSN and MO in their headers",
  run = function(t)
    sends_untagged(t, function(got, taken)
      t:equal("T of a Send", 0, got.ulpdu:byte(1) >> 7)
      t:equal("QN and MO of a Send", string.format("00000000 %08x", taken), hex(got.ulpdu:sub(7, 10)) .. " " .. hex(got.ulpdu:sub(15, 18)))
    end)
  end,
}

check {
  id = "RDMAP-5.3-02",
  role = "both",
  purpose = "all segments of all Sends are untagged",
  run = function(t)
    sends_untagged(t, function(got) t:equal("octet 0 of a Send but for L", 0x01, got.ulpdu:byte(1) & 0xBF) end)
  end,
}
