-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 4.2 to 4.5 and 5.2: Read Requests and their Read Responses, the device being the Data Source.

defaults { llp = "any", sandwich = "startup" }

local SINK = 0x51A6

check {
  id = "RDMAP-4.2-06",
  role = "both",
  purpose = "Write and all Sends carry payload of any length, from none to many segments",
  run = function(t)
    local c = t:open { dut = { receives = 32, receive_octets = 8192 } }
    local m = t:memory { octets = 8192 }
    local wanted = {}
    local function in_segments(make, data)
      local at = 0
      repeat
        local piece = data:sub(at + 1, at + 1400)
        c:send(make(at, piece, at + #piece >= #data and 1 or 0))
        at = at + #piece
      until at >= #data
    end
    for i, size in ipairs { 0, 1, 1400, 4200 } do
      local data = pattern(size, i)
      in_segments(function(at, piece, last) return m:write(at, piece, { L = last }) end, data)
      m:patch(0, data)
      for _, send in ipairs { rdmap.send, rdmap.send_se } do
        in_segments(function(at, piece, last) return send { MO = at, data = piece, L = last } end, data)
        wanted[#wanted + 1] = data
      end
      if t:peer_invalidates(c) then
        local spent = t:invalidatable(c, { octets = 16 })
        in_segments(function(at, piece, last)
          return rdmap.send_invalidate { MO = at, data = piece, L = last, InvalidateSTag = spent.STag }
        end, data)
        wanted[#wanted + 1] = data
      end
    end
    t:expect_deliveries(c, wanted, "Sends of 0, 1, 1400 and 4200 octets")
    m:check("Writes of 0, 1, 1400 and 4200 octets")
    c:probe()
  end,
}

check {
  id = "RDMAP-4.2-07",
  role = "both",
  purpose = "a Read Request that is not 28 octets long is not executed",
  run = function(t)
    local m = t:memory { data = pattern(64) }
    t:each_value("octets", { 27, 4, 0, 26, 24, 16, 1 }, function(octets)
      local c = t:open()
      c:send(m:read(0, 4))
      c:expect_response(SINK, 0, pattern(4), "a good Read Request")
      local ulpdu = c:ulpdu(m:read(0, 4))
      c:send(raw.segment { data = ulpdu:sub(1, 18 + octets) })
      local got = c:receive()
      c:judge_close(got)
      if not is_terminate(got) or got.Layer > 1 then
        t:fail(string.format("a Read Request of %d octets", octets), "a Terminate of layer 0 or 1", describe(got))
      end
    end)
    for _, surplus in ipairs { 4, 1, 28, 1000 } do
      local c = t:open()
      c:send(raw.segment { data = c:ulpdu(m:read(0, 4)) .. ("more"):rep(250):sub(1, surplus) })
      local got = c:receive()
      local what = string.format("a Read Request of %d octets", 28 + surplus)
      if got.kind == "segment" and got.Opcode == 2 then
        t:warn(what, "a Terminate of layer 0 or 1", describe(got))
      end
      c:judge_close(got)
      if not is_terminate(got) or got.Layer > 1 then
        t:fail(what, "a Terminate of layer 0 or 1", describe(got))
      end
    end
  end,
}

check {
  id = "RDMAP-4.4-02",
  role = "both",
  purpose = "the Read Request Header is read as it is laid out: all fields, in all their bits",
  judges = { "read" },
  run = function(t)
    local m = t:memory { data = pattern(64), base = 0x1122334455667780 }
    local c = t:open()
    c:send(m:read(5, 16, { SinkSTag = 0x11223344, SinkTO = 0x5566778899AABBCC }))
    c:expect_response(0x11223344, 0x5566778899AABBCC, pattern(64):sub(6, 21), "16 octets at base + 5")
  end,
}

check {
  id = "RDMAP-4.4-03",
  role = "both",
  purpose = "SinkSTag is copied without looking at it",
  run = function(t)
    local m = t:memory { data = pattern(8) }
    local c = t:open()
    for _, sink in ipairs { 0, 0xFFFFFFFF, 0xDEADBEEF, m.STag } do
      c:send(m:read(0, 8, { SinkSTag = sink }))
      c:expect_response(sink, 0, pattern(8), string.format("a Read into SinkSTag 0x%08x", sink))
    end
  end,
}

check {
  id = "RDMAP-4.4-04",
  role = "both",
  purpose = "SinkTO is copied in all its 64 bits",
  run = function(t)
    local m = t:memory { data = pattern(8) }
    local c = t:open()
    for _, to in ipairs { 0, 1, 0x8000000000000001, 0x7FFFFFFFFFFFFFF0, -256 } do
      c:send(m:read(0, 8, { SinkTO = to }))
      c:expect_response(SINK, to, pattern(8), string.format("a Read into SinkTO 0x%x", to))
    end
  end,
}

check {
  id = "RDMAP-4.4-05",
  purpose = "SinkTO starts anywhere: no alignment is asked for",
  run = function(t)
    local data = pattern(4097)
    local m = t:memory { octets = 4097, data = data }
    local c = t:open()
    c:send(m:read(0, 4097, { SinkTO = 3 }))
    c:expect_response(SINK, 3, data, "4097 octets into SinkTO 3")
  end,
}

-- The device as requester: the response to its Read goes to a TO from which its octets wrap, and is refused.
local function wrapped_response(t)
  local c = t:open()
  c:probe()
  local sink = t:memory { octets = 64, access = {} }
  local low = t:memory { octets = 64, base = 0 }
  t:post_read(c, sink, { length = 16 })
  local request = c:expect(rdmap.read_request {}, { message = "the Read that was posted" })
  c:send(rdmap.read_response { STag = request.SinkSTag, TO = -8, data = pattern(16) })
  c:expect_terminate({ "DDP_TO_WRAP", "DDP_BOUNDS", "RDMAP_OPERATION_OTHER", "RDMAP_CATASTROPHIC_STREAM",
                       "RDMAP_CATASTROPHIC", "DDP_CATASTROPHIC" },
                     { message = "a Read Response of 16 octets to TO 0xFFFFFFFFFFFFFFF8" })
  sink:check("nothing of a Read Response that wraps is placed")
  low:check("nothing of a Read Response that wraps is placed at TO 0")
end

check {
  id = "RDMAP-4.4-06",
  purpose = "a SinkTO that wraps is copied, or refused by its code; a requester refuses a Read Response that wraps",
  run = function(t)
    if rig.has_upper_tester() then wrapped_response(t) end
    local m = t:memory { data = pattern(16) }
    local c = t:open()
    c:send(m:read(0, 16, { SinkTO = -8 }))
    local got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 then
      t:equal("TO of the Read Response", -8, got.TO)
      t:equal("octets of the Read Response", hex(pattern(16)), hex(got.data))
      t:ambiguous("A: the responder copies the SinkTO without judging it")
    end
    if is_terminate(got, { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" }) then
      t:ambiguous("B: it may refuse a SinkTO that wraps")
    end
    t:fail("a Read into SinkTO 0xFFFFFFFFFFFFFFF8, 16 octets", "a Read Response to that TO, or Terminate 0x0104", describe(got))
  end,
}

check {
  id = "RDMAP-4.4-07",
  role = "both",
  purpose = "RDMARDSZ is a number of 32 bits without sign",
  run = function(t)
    local m = t:memory { data = pattern(8) }
    local c = t:open()
    c:send(m:read(0, 1))
    c:expect_response(SINK, 0, pattern(1), "one octet")
    t:each_value("octets", { 0x80000000, 0xFFFFFFFF }, function(size)
      c = t:open()
      c:send(m:read(0, size))
      c:expect_terminate("RDMAP_BOUNDS", { next = true, message = string.format("a Read of 0x%x octets from 4096", size) })
    end)
  end,
}

check {
  id = "RDMAP-4.4-08",
  purpose = "SrcTO starts anywhere inside the buffer",
  judges = { "read" },
  run = function(t)
    local data = pattern(4096)
    local m = t:memory { data = data }
    local c = t:open()
    for _, case in ipairs { { 1, 3 }, { 4095, 1 }, { 2, 7 }, { 1001, 99 } } do
      c:send(m:read(case[1], case[2]))
      c:expect_response(SINK, 0, data:sub(case[1] + 1, case[1] + case[2]),
                        string.format("%d octets at base + %d", case[2], case[1]))
    end
  end,
}

check {
  id = "RDMAP-4.5-01",
  role = "both",
  purpose = "TO grows by the payload from segment to segment of a Read Response, in 64 bits; L = 1 on the last alone",
  run = function(t)
    local data = pattern(50000)
    local m = t:memory { octets = 50000, data = data }
    local c = t:open()
    c:send(m:read(0, 50000, { SinkSTag = 0xA5A5A501, SinkTO = 0xFFFFFFF0 }))
    c:expect_response(0xA5A5A501, 0xFFFFFFF0, data, "a Read Response of 50000 octets across 2^32")
    c:probe()
  end,
}

check {
  id = "RDMAP-5.2.1-10",
  role = "both",
  purpose = "Read Requests are processed in the order in which they were sent",
  run = function(t)
    local data = pattern(16384)
    local m = t:memory { octets = 16384, data = data }
    local c = t:open { dut = { ird = 4 } }
    local sizes = { 16384, 1, 0, 4096 }
    local frames = {}
    for i, size in ipairs(sizes) do frames[i] = m:read(0, size, { SinkSTag = i }) end
    c:send(table.unpack(frames))
    for i, size in ipairs(sizes) do
      c:expect_response(i, 0, data:sub(1, size), string.format("Read %d of four, of %d octets", i, size))
    end
  end,
}

check {
  id = "RDMAP-5.2.2-08",
  purpose = "Read Responses go out in the order of their requests, and do not mix",
  run = function(t)
    local data = pattern(10000)
    local m = t:memory { octets = 10000, data = data }
    local c = t:open { dut = { ird = 8 } }
    local frames = {}
    for i = 1, 8 do frames[i] = m:read(0, ({ 10000, 1, 10000, 0 })[(i - 1) % 4 + 1], { SinkSTag = i }) end
    c:send(table.unpack(frames))
    for i = 1, 8 do
      c:expect_response(i, 0, data:sub(1, ({ 10000, 1, 10000, 0 })[(i - 1) % 4 + 1]), "Read " .. i .. " of eight")
    end
  end,
}

check {
  id = "RDMAP-5.2.1-12",
  purpose = "a Read Request reads from one tagged buffer, not from the one after it",
  run = function(t)
    local m = t:memory()
    local behind = t:memory { base = m.last, data = "of another buffer", optional = true }
    local c = t:open()
    c:send(m:read(m.octets - 4, 8))
    c:expect_terminate("RDMAP_BOUNDS", { next = true, message = "a Read that runs into the next buffer" })
    for _, case in ipairs { { -1, 1 }, { m.octets - 1, 2 }, { 0, m.octets + 1 }, { 0, 2 * m.octets } } do
      t:expect_error(m:read(case[1], case[2]), "RDMAP_BOUNDS",
                     string.format("a Read of %d octets at base %+d of %d", case[2], case[1], m.octets), { next = true })
    end
    if behind == nil then t:note("the device chooses where memory is: what lies beyond the buffer is not known") end
  end,
}

check {
  id = "RDMAP-5.2.1-13",
  role = "both",
  purpose = "a Read Request may ask for all of a buffer, or for part of it",
  run = function(t)
    local data = pattern(4096)
    local m = t:memory { data = data }
    local c = t:open()
    c:send(m:read(0, 4096))
    c:expect_response(SINK, 0, data, "a Read of the whole buffer")
    c:send(m:read(4095, 1))
    c:expect_response(SINK, 0, data:sub(4096), "a Read of its last octet")
  end,
}

check {
  id = "RDMAP-5.2.1-16",
  role = "both",
  purpose = "SrcSTag of a Read that is not empty is checked, key and all",
  run = function(t)
    local m = t:memory()
    for _, stag in ipairs { m.STag ~ 1, m.STag ~ 0xFF, UNKNOWN_STAG } do
      local c = t:open()
      c:send(m:read(0, 1, { SrcSTag = stag }))
      c:expect_terminate("RDMAP_INVALID_STAG", { next = true, message = string.format("SrcSTag 0x%08x", stag) })
    end
  end,
}

check {
  id = "RDMAP-5.2.1-17",
  role = "both",
  purpose = "SrcTO of a Read that is not empty is checked at both ends",
  run = function(t)
    local m = t:memory()
    for _, offset in ipairs { -1, m.octets } do
      local c = t:open()
      c:send(m:read(offset, 1))
      c:expect_terminate("RDMAP_BOUNDS", { next = true, message = string.format("one octet at base %+d", offset) })
    end
  end,
}

check {
  id = "RDMAP-5.2.1-18",
  role = "both",
  purpose = "SrcSTag of an empty Read is not looked at",
  judges = { "empty read" },
  run = function(t)
    local c = t:open()
    local write_only = t:memory { access = { "write" } }
    for _, stag in ipairs { UNKNOWN_STAG, 0, 0xFFFFFFFF, write_only.STag } do
      c:send(rdmap.read_request { SinkSTag = 7, SinkTO = 7, RDMARDSZ = 0, SrcSTag = stag, SrcTO = write_only.TO })
      c:expect_response(7, 7, "", string.format("a Read of no octets of SrcSTag 0x%08x", stag))
    end
  end,
}

check {
  id = "RDMAP-5.2.1-19",
  role = "both",
  purpose = "SrcTO of an empty Read is not looked at",
  judges = { "empty read" },
  run = function(t)
    local c = t:open()
    local m = t:memory()
    for _, to in ipairs { -1, m.last + 100, 0 } do
      c:send(m:read(0, 0, { SrcTO = to, SinkSTag = 7 }))
      c:expect_response(7, 0, "", string.format("a Read of no octets at SrcTO 0x%x", to))
    end
  end,
}

check {
  id = "RDMAP-5.2.1-20",
  role = "both",
  purpose = "an empty Read is answered by an empty Read Response, in its turn",
  judges = { "empty read" },
  run = function(t)
    local m = t:memory { data = pattern(100) }
    local c = t:open()
    local reads = { m:read(0, 100, { SinkSTag = 1 }), m:read(0, 0, { SinkSTag = 0xCAFE0001, SinkTO = 0x77 }),
                    m:read(0, 100, { SinkSTag = 3 }) }
    local at_once = t:depth("ird", #reads) == #reads -- otherwise one after another
    if at_once then c:send(table.unpack(reads)) end
    local function asks_for(read)
      if not at_once then c:send(read) end
    end
    asks_for(reads[1])
    c:expect_response(1, 0, pattern(100), "the Read before the empty one")
    asks_for(reads[2])
    c:expect(rdmap.read_response { L = 1, data = "" }, { message = "the empty Read" }) -- its STag: RDMAP-5.2.2-12
    asks_for(reads[3])
    c:expect_response(3, 0, pattern(100), "the Read after the empty one")
  end,
}

check {
  id = "RDMAP-5.2.2-02",
  judges = { "read" },
  role = "both",
  purpose = "a Read Response is tagged, with the STag of the sink",
  run = function(t)
    local m = t:memory { data = pattern(32) }
    local c = t:open()
    c:send(m:read(0, 32, { SinkSTag = 0x0BADF00D })) -- one segment of a device that makes small ones
    local got = c:expect_segment("a Read of 32 octets", "a Read Response")
    t:equal("control octet of DDP", "c1", hex(got.ulpdu:sub(1, 1)))
    t:equal("STag", "0badf00d", hex(got.ulpdu:sub(3, 6)))
    t:equal("octets of the ULPDU", 46, #got.ulpdu)
  end,
}

check {
  id = "RDMAP-5.2.2-03",
  purpose = "each segment of a Read Response is tagged",
  run = function(t)
    local m = t:memory { octets = 20000 }
    local c = t:open()
    for _, size in ipairs { 0, 64, 20000 } do
      c:send(m:read(0, size))
      repeat
        local got = c:expect_segment("a Read of " .. size .. " octets", "a Read Response")
        local last = got.ulpdu:byte(1) & 0x40 ~= 0
        t:equal("control octet of DDP", last and "c1" or "81", hex(got.ulpdu:sub(1, 1)))
      until last
    end
  end,
}

check {
  id = "RDMAP-5.2.2-10",
  purpose = "a Read Response is for one tagged buffer: its STag stays the same",
  run = function(t)
    local data = pattern(20000)
    local m = t:memory { octets = 20000, data = data }
    local c = t:open()
    c:send(m:read(0, 20000, { SinkSTag = 0x01020304 }))
    c:expect_response(0x01020304, 0, data, "a Read Response of 20000 octets")
  end,
}

check {
  id = "RDMAP-5.2.2-11",
  role = "both",
  purpose = "a Read Response without an open Read is not taken for one",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(rdmap.read_response { STag = m.STag, TO = m.TO, data = "1234" })
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      c:probe { message = "a device that takes no notice goes on" }
      t:warn("a Read Response without an open Read", "a Terminate", "nothing")
    end
    local names = { RDMAP_OPCODE = 1, RDMAP_CATASTROPHIC_STREAM = 1, RDMAP_OPERATION_OTHER = 1, DDP_CATASTROPHIC = 1,
                    DDP_INVALID_STAG = 1, DDP_BOUNDS = 1, DDP_NOT_ASSOCIATED = 1, DDP_TO_WRAP = 1 }
    local good = is_terminate(got) and got.Layer == 0 and got.EType == 0
    for name in pairs(names) do good = good or got.triple == wire.triple(name) end
    if not good then t:fail("a Read Response without an open Read", "a Terminate 0/2/06, 0/2/07, 0/2/FF, 0/0, 1/0 or 1/1", describe(got)) end
  end,
}

check {
  id = "RDMAP-5.5-11",
  role = "both",
  purpose = "a Read Request, empty or not, is not processed before DDP has delivered it",
  judges = { "empty read" },
  run = function(t)
    for _, size in ipairs { 16, 0 } do
      local c = t:open()
      local m = t:memory { data = pattern(16) }
      local fill = c:send_behind(rdmap.send { data = "before" }, { m:read(0, size, { SinkSTag = 3 }) })
      c:expect_quiet { message = "no Read Response while what comes before the request is missing" }
      fill()
      c:expect_response(3, 0, pattern(16):sub(1, size), "the gap is filled")
    end
  end,
}

check {
  id = "RDMAP-5.5-12",
  llp = "tcp",
  purpose = "a Read after a Write to the same octets returns what was written",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    for round = 1, 50 do
      local data = pattern(200 + round, round)
      local size = 37 + round * 13 % 400
      c:send_clear_of_trailers({ m:write(round, data), m:read(round, #data, { SinkSTag = round }) }, size)
      c:expect_response(round, 0, data, "round " .. round .. ": the Read after the Write")
    end
  end,
}
