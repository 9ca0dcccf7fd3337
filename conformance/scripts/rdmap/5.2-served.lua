-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 1.2, 5.2, 5.3, 6.1, 8.1: memory that is exposed, Read Requests served, and how many of them.

defaults { llp = "any" }

local SINK = 0x51A6
local INVALIDATED = { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" }

check {
  id = "RDMAP-1.2-02",
  role = "both",
  purpose = "an STag that a Send invalidated is dead for the peer",
  run = function(t)
    local c = t:open()
    local m = t:invalidatable(c, { data = pattern(16) })
    c:send(m:read(0, 4))
    c:expect_response(SINK, 0, pattern(4), "a Read before the STag is invalidated")
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "over" })
    t:expect_deliveries(c, { "over" }, "the Send with Invalidate")
    c:send(m:read(0, 4))
    local got = c:expect_terminate("RDMAP_INVALID_STAG", { next = true, warn = { "RDMAP_NOT_ASSOCIATED" },
                                                           message = "a Read of an STag that was invalidated" })
    if got.M ~= 1 or got.D ~= 1 or got.R ~= 1 then
      t:warn("what the Terminate quotes", "M = D = R = 1", header_bits(got))
    end
  end,
}

check {
  id = "RDMAP-1.2-03",
  role = "both",
  purpose = "an STag stays good for any number of Writes and Reads",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    local data = pattern(800)
    for i = 0, 99 do c:send(m:write(i * 8, data:sub(i * 8 + 1, i * 8 + 8))) end
    for i = 0, 99 do
      c:send(m:read(i * 8, 8))
      c:expect_response(SINK, 0, data:sub(i * 8 + 1, i * 8 + 8), "Read " .. i + 1 .. " after 100 Writes")
    end
  end,
}

check {
  id = "RDMAP-1.2-04",
  role = "both",
  purpose = "the sink STag of an open Read stays good, or the peer invalidates it: not both",
  run = function(t)
    local c, number = t:operating()
    local m = t:memory { bound = c, alone = true, octets = 64 }
    t:post_read(c, m, { length = 64 })
    local request = c:expect(rdmap.read_request { RDMARDSZ = 64 }, { message = "the Read that the device was asked for" })
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "over" },
           rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = pattern(64) })
    local got = c:receive(t.quiet)
    local placed = unhex(t.dut:mem_read { stag = m.STag }.data) == pattern(64)
    local reported = #t:collect_events(c, { receive = true }, 1, t.round_trip) == 1
    if reported and placed then
      t:fail("a Send that invalidates the sink of an open Read", "the Send in force, or the Read", "both: invalidation told, and data placed")
    end
    if got.kind == "timeout" and placed then t:ambiguous("A: the sink STag of a Read cannot be invalidated by the peer") end
    if is_terminate(got) and got.Layer == 0 and got.Code == 9 then
      t:ambiguous("A: the sink STag of a Read cannot be invalidated by the peer")
    end
    if is_terminate(got, { "DDP_INVALID_STAG", "DDP_NOT_ASSOCIATED" }) then
      t:ambiguous("B: every STag associated with the stream can be")
    end
    c:judge_close(got)
    t:fail("a Send that invalidates the sink of an open Read", "a Terminate x/x/09, 1/1/00 or 1/1/02, or the Read complete", describe(got))
  end,
}

check {
  id = "RDMAP-5.2.1-04",
  role = "both",
  purpose = "Read Requests are served without the ULP: no receive is posted, nothing is polled",
  run = function(t)
    local m = t:memory { data = pattern(4096) }
    local c = t:open { dut = { receives = 0 } }
    c:send(m:read(0, 4096))
    c:expect_response(SINK, 0, pattern(4096), "a Read while the ULP sleeps")
  end,
}

check {
  id = "RDMAP-5.2.1-05",
  role = "both",
  purpose = "a Read Request that is good is not delivered to the ULP, and uses up no receive",
  run = function(t)
    local m = t:memory { data = pattern(16) }
    local c = t:open { dut = { receives = 1, repost = false } }
    for i = 1, 5 do
      c:send(m:read(0, 16))
      c:expect_response(SINK, 0, pattern(16), "Read " .. i .. " of five")
    end
    c:send(rdmap.send { data = "only" })
    c:probe { message = "a Send to the one receive, after five Reads" }
    t:expect_deliveries(c, { "only" }, "the one receive is the Send's")
    t:ambiguous("A: the ULP at the Data Source is meant, where the request arrives")
  end,
}

-- The source's TO passes 2^33 between two segments of the Response, and within one.
local function across_4_gib(t)
  local data = pattern(8192)
  local m = t:memory { octets = 8192, data = data, base = 0x1FFFFF000, optional = true }
  if not m then return end -- the device chooses where its memory is
  local c = t:open()
  for _, case in ipairs { { 0, 8192 }, { 4095, 2 }, { 4000, 96 }, { 4096, 8 } } do
    c:send(m:read(case[1], case[2]))
    c:expect_response(SINK, 0, data:sub(case[1] + 1, case[1] + case[2]),
                      string.format("a Read of %d octets at TO 0x%x", case[2], m.TO + case[1]))
  end
end

-- Few octets on both sides of a page's end: less than a segment, and no page has them all.
local function across_pages(t)
  local data = pattern(4 * 4096)
  local m = t:memory { octets = #data, data = data, base = 0x110000000, anywhere = true }
  local c = t:open()
  for page = 4096, #data - 4096, 4096 do
    for _, before in ipairs { 6, 1, 15 } do
      local at = page - before
      c:send(m:read(at, 16))
      c:expect_response(SINK, 0, data:sub(at + 1, at + 16), "a Read of 16 octets at offset " .. at)
    end
  end
end

check {
  id = "RDMAP-5.2.1-14",
  purpose = "a good Read Request is answered, however long the peer's window stays shut",
  lasts = 6,
  run = function(t)
    local others = { ["across 4 GiB"] = across_4_gib, ["across pages"] = across_pages }
    t:each_value("Read", { 5000, t.large, "across 4 GiB", "across pages" }, function(octets)
      if others[octets] then return others[octets](t) end
      local m = t:memory { octets = octets }
      local c = t:open()
      c:probe()
      c:window(0)
      c:send(m:read(0, octets))
      rig.wait(3)
      c:window(65535)
      c:expect_response(SINK, 0, m.image, "a Read of " .. octets .. " octets after a window shut for 3 s")
      c:probe()
    end)
  end,
}

check {
  id = "RDMAP-5.2.1-21",
  role = "both",
  purpose = "a Read Request in two segments is put together, or refused; nothing else is read",
  run = function(t)
    local m = t:memory { data = pattern(64) }
    local c = t:open()
    local ulpdu = c:ulpdu(m:read(5, 8))
    c:send(raw.segment { data = string.char(ulpdu:byte(1) & 0xBF) .. ulpdu:sub(2, 18 + 16) },
           raw.segment { data = ulpdu:sub(1, 14) .. string.pack(">I4", 16) .. ulpdu:sub(18 + 17) })
    local got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 then
      t:equal("STag of the Read Response", SINK, got.STag)
      t:equal("octets of the Read Response", hex(pattern(64):sub(6, 13)), hex(got.data))
      t:ambiguous("A: a Read Request in two segments is put together and answered")
    end
    for _, name in ipairs { "DDP_INVALID_MO", "DDP_TOO_LONG", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER" } do
      if got.kind == "segment" and got.triple == wire.triple(name) then t:ambiguous("B: it is an error") end
    end
    t:fail("a Read Request in two segments", "its Read Response, or Terminate 1/2/04, 1/2/05, 0/2/07 or 0/2/FF", describe(got))
  end,
}

check {
  id = "RDMAP-5.2.2-01",
  role = "both",
  purpose = "a Read Response goes back on the stream of its request",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { data = pattern(100) }
    b:send(m:read(0, 100))
    b:expect_response(SINK, 0, pattern(100), "a Read on the second stream")
    t:equal("what comes on the first", "timeout", a:receive(t.quiet / 2).kind)
  end,
}

check {
  id = "RDMAP-5.2.2-07",
  role = "both",
  purpose = "the sink of a Read begins anywhere in its buffer",
  run = function(t)
    local c, number = t:operating()
    local m = t:memory { octets = 4096 }
    t.dut:read { stream = number, sink_stag = m.STag, sink_to = m.TO + 1001, source_stag = 1, length = 100 }
    local request = c:expect(rdmap.read_request { SinkTO = m.TO + 1001 }, { message = "the Read that the device was asked for" })
    c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = pattern(60), L = 0 },
           rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + 60, data = pattern(40, 60) })
    t:equal("completions", 1, #t:collect_events(c, { read_done = true }, 1))
    m:patch(1001, pattern(100))
    m:check("a Read Response in the middle of the sink's buffer")
  end,
}

check {
  id = "RDMAP-5.2.2-12",
  role = "both",
  purpose = "an empty Read Response has the sink's STag and TO; whoever takes it need not look at them",
  sandwich = "startup",
  run = function(t)
    local c = t:open()
    local number = t:stream_of(c)
    c:send(rdmap.read_request { SinkSTag = 0xCAFE0001, SinkTO = 77, RDMARDSZ = 0, SrcSTag = 5, SrcTO = 6 })
    local got = c:expect(rdmap.read_response { L = 1, data = "" }, { message = "an empty Read" })
    if got.STag ~= 0xCAFE0001 or got.TO ~= 77 then
      t:warn("STag and TO of an empty Read Response", "0xcafe0001 77", string.format("0x%08x %d", got.STag, got.TO))
    end
    t.dut:read { stream = number, source_stag = 5, length = 0 }
    c:expect(rdmap.read_request { RDMARDSZ = 0 }, { message = "an empty Read of the device" })
    c:send(rdmap.read_response { STag = 0, TO = 0 })
    if #t:collect_events(c, { read_done = true }, 1) == 0 then
      got = c:receive(t.quiet)
      local strict = got.kind == "segment" and
                     (is_terminate(got, "DDP_INVALID_STAG") or is_terminate(got, "DDP_BOUNDS"))
      if not strict then t:fail("an empty Read Response with STag 0", "the Read completes", describe(got)) end
      t:warn("an empty Read Response with STag 0", "the Read completes", describe(got))
    end
    t:ambiguous("A: STag and TO of an empty response are the copied ones")
  end,
}

check {
  id = "RDMAP-5.3-15",
  role = "both",
  purpose = "an empty Send without a receive is an error, or waits for one: it is not lost",
  run = function(t)
    local c = t:open { dut = { receives = 0, repost = false } }
    c:send(rdmap.send {})
    local got = c:receive(t.quiet)
    for _, name in ipairs { "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_OPERATION_OTHER" } do
      if got.kind == "segment" and got.triple == wire.triple(name) then
        t:ambiguous("A: an empty Send needs a receive buffer, 1/2/02")
      end
    end
    c:judge_close(got, "Terminate 1/2/02")
    if got.kind ~= "timeout" then t:fail("an empty Send without a receive", "Terminate 1/2/02", describe(got)) end
    t.dut:post_recv { stream = t:stream_of(c), length = 64 }
    t:expect_deliveries(c, { "" }, "an empty Send that came before its receive")
    t:ambiguous("B: it is not checked and waits for a buffer")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- How many Read Requests may be open

check {
  id = "RDMAP-6.1-04",
  purpose = "the inbound limit of Reads is the one agreed with the ULP: so many are served at once",
  run = function(t)
    for _, limit in ipairs { 2, 4, 8 } do
      local m = t:memory { octets = t.large }
      local c = t:open { dut = { ird = limit } }
      c:probe()
      c:shut_with_reads(m, limit)
      c:window(65535)
      c:expect_responses(limit, "an IRD of " .. limit)
      c:probe()
    end
  end,
}

-- Over SCTP a Read stays open only while its response fills the device's SCTP, so that each has t.large octets: two are
-- open all the time.
local function keep_two_open(t)
  local m = t:memory { octets = t.large }
  local c = t:open { dut = { ird = 2 } }
  c:probe()
  c:window(0)
  rig.wait(math.min(math.max(4 * t.round_trip, 0.02), 0.05))
  c:send(m:read(0, t.large, { SinkSTag = 1 }), m:read(0, t.large, { SinkSTag = 2 }))
  rig.wait(t.quiet / 4)
  c:window(65535)
  for i = 1, 3 do
    local what = "Read " .. i .. " with two open all the time"
    repeat
      local got = c:expect(rdmap.read_response { STag = i }, { message = what })
    until got.L == 1
    if i == 1 then c:send(m:read(0, t.large, { SinkSTag = 3 })) end
  end
end

check {
  id = "RDMAP-6.1-10",
  purpose = "the place of a Read Request is free again when the last segment of its response came",
  run = function(t)
    local READS, LIMIT = 2000, 4
    if t:over_sctp() then keep_two_open(t) end
    local m = t:memory { data = pattern(16) }
    local c = t:open { dut = { ird = LIMIT } }
    c:probe()
    local frames = {}
    for i = 1, LIMIT do frames[i] = m:read(0, 16, { SinkSTag = i }) end
    c:send(table.unpack(frames))
    for i = 1, READS do
      c:expect_response(i, 0, pattern(16), "Read " .. i .. " with " .. LIMIT .. " open all the time")
      if i + LIMIT <= READS then c:send(m:read(0, 16, { SinkSTag = i + LIMIT })) end
    end
    -- The acknowledgement of a response is held back until the next request has been sent.
    c:withhold(true)
    c:send(m:read(0, 16, { SinkSTag = 1 }))
    local got = c:receive()
    if got.kind ~= "segment" or got.Opcode ~= 2 then t:fail("a Read", "its Read Response", describe(got)) end
    c:send(m:read(0, 16, { SinkSTag = 2 }))
    got = c:receive()
    if is_terminate(got) then
      t:warn("a Read Request before the response to the one before is acknowledged", "a Read Response", describe(got))
    end
    c:withhold(false)
    if got.kind == "timeout" then got = c:receive() end
    if not fits(rdmap.read_response { STag = 2 }, got) then t:fail("a Read", "its Read Response", describe(got)) end
    t:ambiguous("A: a Read is outstanding until its last response segment was sent")
  end,
}

check {
  id = "RDMAP-8.1.1-16",
  purpose = "the administrator's cap on outstanding Read Requests holds",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open { dut = { ird = 2 } }
    c:probe()
    c:shut_with_reads(m, 3)
    c:window(65535)
    local got, whole = nil, 0
    repeat
      got = c:receive()
      if got.kind == "segment" and got.Opcode == 2 and got.L == 1 then whole = whole + 1 end
    until got.kind ~= "segment" or got.triple or whole == 3
    if whole == 3 and t:leaves_in_tcp(3, 2) then return end
    if whole == 3 then t:warn("a third Read Request with a cap of 2", "a Terminate", "its Read Response") end
    if got.kind ~= "segment" and not c:reset_while_shut(got) then
      t:warn("a third Read Request with a cap of 2", "a Terminate", describe(got))
    end
  end,
}

check {
  id = "RDMAP-8.1.2-09",
  purpose = "streams do not share the places of their Read Requests",
  run = function(t)
    local m = t:memory { octets = t.large }
    local a, b = t:open { dut = { ird = 4 } }, t:open { dut = { ird = 4 } }
    a:probe()
    b:probe()
    a:shut_with_reads(m, 4)
    b:shut_with_reads(m, 4)
    b:window(65535)
    b:expect_responses(4, "Reads on a second stream while those of the first wait")
    a:window(65535)
    a:expect_responses(4, "Reads on the first stream")
  end,
}

-- The device's own Reads were open when streams ended: a new one has its whole outbound limit, and takes a Terminate as
-- its first.
local function own_reads_given_up(t)
  local sink = t:memory()
  for i = 1, 4 do
    local c = t:operating { ord = 2 }
    for k = 1, 2 do
      t:post_read(c, sink, { length = 64 })
      c:expect(rdmap.read_request { MSN = k }, { message = "a Read of the device" })
    end
    if i % 2 == 1 then
      c:reset()
    else
      c:send(bad_write())
      c:expect_over("a Write to an unknown STag while Reads are open")
    end
  end
  local c, number = t:operating { ord = 2 }
  t:post_read(c, sink, { length = 64 })
  c:expect(rdmap.read_request { MSN = 1 }, { message = "a Read, after streams that ended while Reads were open" })
  c:send(rdmap.terminate { Layer = 0, EType = 1, Code = 0 })
  t:expect_event("terminate_received", { stream = number }, "the ULP is told of a Terminate, after streams that failed")
end

-- A stream that was reset leaves no receive, and no part of an FPDU, to the next one.
local function nothing_left(t, port)
  local dut, sends = { receives = 2, repost = false }, { "first", "second" }
  t:open { dut = dut }:reset()
  local c = t:open { dut = dut }
  for _, data in ipairs(sends) do c:send(rdmap.send { data = data }) end
  c:probe { message = "two Sends for two receives, after a stream that was reset with two of its own" }
  t:expect_deliveries(c, sends, "Sends after a stream that was reset")
  if t:over_sctp() then return end -- no message comes in parts
  c = t:open { port = port }
  c:probe()
  c:send(c:octets(rdmap.send { data = pattern(40) }):sub(1, 30))
  c:await_acknowledged()
  c:reset()
  t:open { port = port }:probe { message = "the first FPDU of a stream, after one that was reset within an FPDU" }
end

check {
  id = "RDMAP-6.2-02",
  purpose = "after a reset nothing of the stream is left: its Read Requests have given up their places",
  run = function(t)
    local m = t:memory { octets = t.large }
    local port = t:listen { ird = 4 }
    for i = 1, 100 do
      local c = t:open { port = port }
      c:probe()
      c:window(0)
      c:send(m:read(0, t.large))
      rig.wait(4 * t.round_trip)
      c:reset()
    end
    local c = t:open { port = port }
    c:probe()
    c:shut_with_reads(m, 4)
    c:window(65535)
    c:expect_responses(4, "Reads after 100 streams that were reset")
    t:if_served("decided without Sends to the device", nothing_left, t, port)
    t:if_served("decided without own Reads of the device", own_reads_given_up, t)
  end,
}
