-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 5.1, 5.3 and 5.5: Sends of all kinds, and Writes before them, at the Data Sink.

defaults { llp = "any" }

check {
  id = "RDMAP-3.1-06",
  role = "both",
  purpose = "the ULP gets the length of the whole message",
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 8192 } }
    local data = pattern(5000)
    for at = 0, 4999, 1250 do
      c:send(rdmap.send { MSN = 1, MO = at, data = data:sub(at + 1, at + 1250), L = at == 3750 and 1 or 0 })
    end
    local got = t:expect_deliveries(c, { data }, "a Send of 5000 octets in four segments")
    t:equal("the length that the ULP is told", 5000, t:event_member(got[1], "octets"))
  end,
}

check {
  id = "RDMAP-5.1-03",
  role = "both",
  purpose = "a Write is not delivered to the ULP: it consumes no receive",
  run = function(t)
    local c = t:open { dut = { receives = 1, repost = false } }
    local m = t:memory()
    for i = 1, 5 do c:send(m:write(i, pattern(8))) end
    c:send(rdmap.send { data = "first receive" })
    t:expect_deliveries(c, { "first receive" }, "a Send after five Writes, with one receive")
    c:probe()
  end,
}

check {
  id = "RDMAP-5.1-09",
  purpose = "when a Send is delivered, the Writes before it are in memory",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local wanted = {}
    for round = 1, 50 do
      local data = pattern(300, round)
      wanted[round] = "round " .. round
      c:send(m:write(7, data), rdmap.send { data = wanted[round] })
      t:expect_deliveries(c, wanted, "the Send after a Write")
      m:patch(7, data)
      m:check("the Write before a delivered Send is in memory")
    end
  end,
}

check {
  id = "RDMAP-5.3-03",
  purpose = "each Send consumes one receive, whatever its length",
  run = function(t)
    local c = t:open { dut = { receives = 3, receive_octets = 4096, repost = false } }
    local wanted = { pattern(10), pattern(1400), "!" }
    local third = rdmap.send { data = wanted[3] }
    if t:peer_invalidates(c) then third = rdmap.send_invalidate { data = wanted[3], InvalidateSTag = t:invalidatable(c).STag } end
    c:send(rdmap.send { data = wanted[1] }, rdmap.send_se { data = wanted[2] }, third)
    t:expect_deliveries(c, wanted, "three Sends into three receives")
    c:send(rdmap.send { data = "fourth" })
    local got = c:receive()
    if got.kind == "timeout" then
      t.dut:post_recv { stream = t:stream_of(c), count = 1 }
      wanted[4] = "fourth"
      t:expect_deliveries(c, wanted, "a Send that waited for its receive")
      return
    end
    c:judge_close(got, terminate_text("DDP_NO_BUFFER"))
    if not is_terminate(got, "DDP_NO_BUFFER") and got.triple ~= wire.triple("DDP_MSN_RANGE") then
      t:fail("a fourth Send into three receives", terminate_text("DDP_NO_BUFFER"), describe(got))
    end
  end,
}

check {
  id = "RDMAP-5.3-04",
  role = "both",
  purpose = "a Send may be shorter than its receive, or fill it",
  run = function(t)
    local c = t:open { dut = { receives = 3, receive_octets = 1000 } }
    local wanted = { "1", pattern(999), pattern(1000) }
    for _, data in ipairs(wanted) do c:send(rdmap.send { data = data }) end
    t:expect_deliveries(c, wanted, "Sends of 1, 999 and 1000 octets into receives of 1000")
    c:probe()
  end,
}

check {
  id = "RDMAP-5.3-05",
  role = "both",
  purpose = "the ULP is told how many octets were written",
  run = function(t)
    local c = t:open()
    local data = pattern(1234)
    c:send(rdmap.send { MSN = 1, data = data:sub(1, 500), L = 0 }, rdmap.send { MSN = 1, MO = 500, data = data:sub(501) })
    local got = t:expect_deliveries(c, { data }, "a Send of 1234 octets in two segments")
    t:equal("the length that the ULP is told", 1234, t:event_member(got[1], "octets"))
  end,
}

check {
  id = "RDMAP-5.3-06",
  role = "both",
  purpose = "a Send larger than its receive is an error",
  run = function(t)
    local length = t:receive_length(100)
    local dut = { receives = 2, receive_octets = length }
    local c = t:open { dut = dut }
    c:send(c:send_frames(length + 80, length > 1400 and 1400 or 90))
    c:expect_terminate("DDP_TOO_LONG", { message = "a second segment that ends after a receive of " .. length })
    t:expect_deliveries(c, {}, "a Send too long is not delivered")
    t:each_value("octets too many", { 1, 2, 4, 28, 100, 1300 }, function(more)
      local message = string.format("%d octets into a receive of %d", length + more, length)
      c = t:open { dut = dut }
      c:send(c:send_frames(length + more))
      c:expect_terminate("DDP_TOO_LONG", { message = message })
      t:expect_deliveries(c, {}, message .. " are not delivered")
    end)
  end,
}

check {
  id = "RDMAP-5.3-07",
  role = "both",
  purpose = "Sends of all kinds are delivered in the order in which they were sent",
  run = function(t)
    local c = t:open { dut = { receives = 64 } }
    local frames, order, wanted = {}, {}, {}
    local kinds = { rdmap.send, rdmap.send_se }
    if t:peer_invalidates(c) then kinds = { rdmap.send, rdmap.send_se, rdmap.send_invalidate, rdmap.send_se_invalidate } end
    for i = 1, 40 do
      wanted[i] = string.format("Send %d", i)
      local given = { data = wanted[i] }
      local kind = i % #kinds + 1
      if kind > 2 then given.InvalidateSTag = t:invalidatable(c, { octets = 8 }).STag end
      frames[i] = kinds[kind](given)
      order[i] = (i * 11) % 40 + 1
    end
    c:send_shuffled(frames, order)
    t:expect_deliveries(c, wanted, "40 Sends in permuted TCP segments")
  end,
}

check {
  id = "RDMAP-5.3-09",
  role = "both",
  purpose = "a Send that is not valid surfaces an error",
  run = function(t)
    local c = t:open { dut = { receives = 3 } }
    c:expect_error(rdmap.send { MSN = 7, data = "seven" }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "MSN 7 where 1 is due")
    t:expect_deliveries(c, {}, "a Send out of its range is not delivered")
  end,
}

check {
  id = "RDMAP-5.3-13",
  role = "both",
  purpose = "Sends of all kinds may be empty, and act as others do",
  run = function(t)
    local c = t:open()
    if not t:peer_invalidates(c) then
      c:send(rdmap.send {}, rdmap.send_se {})
      t:expect_deliveries(c, { "", "" }, "two empty Sends")
      return
    end
    local m = t:invalidatable(c)
    c:send(rdmap.send {}, rdmap.send_se {}, rdmap.send_invalidate { InvalidateSTag = m.STag })
    t:expect_deliveries(c, { "", "", "" }, "three empty Sends")
    c:send(m:read(0, 1))
    c:expect_terminate("RDMAP_INVALID_STAG", { warn = { "RDMAP_NOT_ASSOCIATED" },
                                               message = "a Read of the STag that an empty Send invalidated" })
  end,
}

check {
  id = "RDMAP-5.3-14",
  role = "both",
  purpose = "an empty Send consumes a receive",
  run = function(t)
    local c = t:open { dut = { receives = 2, repost = false } }
    c:send(rdmap.send {}, rdmap.send { data = "1234" })
    t:expect_deliveries(c, { "", "1234" }, "an empty Send and another, with two receives")
  end,
}

check {
  id = "RDMAP-5.3-18",
  purpose = "a Send with Invalidate is checked for its STag's association when it is delivered",
  run = function(t)
    local owner = t:open { dut = { pd = 2 } }
    local m = t:memory { pd = 2, bound = t:binds_memory() and owner or nil, data = pattern(8) }
    local c = t:open()
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1234" })
    c:expect_terminate({ "RDMAP_PROTECTION_INVALIDATE", "RDMAP_OPERATION_INVALIDATE", "RDMAP_NOT_ASSOCIATED",
                         "RDMAP_INVALID_STAG" }, { message = "an STag of another domain in a Send with Invalidate" })
    owner:send(m:read(0, 8))
    owner:expect_response(0x51A6, 0, pattern(8), "its owner still uses the STag")
  end,
}

check {
  id = "RDMAP-5.3-19",
  role = "both",
  purpose = "an associated STag is invalidated",
  run = function(t)
    local c = t:open()
    local m = t:invalidatable(c)
    c:send(m:write(0, "before"), rdmap.send_invalidate { InvalidateSTag = m.STag, data = "done" })
    m:patch(0, "before")
    t:expect_deliveries(c, { "done" }, "a Send with Invalidate")
    c:expect_error(m:write(0, "afterwards"), "DDP_INVALID_STAG",
                   "a Write to an invalidated STag", { warn = { "DDP_NOT_ASSOCIATED" } })
    m:check("nothing is placed under an invalidated STag")
  end,
}

check {
  id = "RDMAP-5.3-20",
  role = "both",
  purpose = "an STag that is not associated ends the stream with code 09",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send_se_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "1234" })
    local got = c:expect_terminate(CANNOT_INVALIDATE, { warn = { "RDMAP_INVALID_STAG" },
                                                 message = "an unknown STag in a Send with SE and Invalidate" })
    if got and got.D == 1 then t:equal("the quoted STag", "5bad57a6", hex(c:quoted(got).header:sub(3, 6))) end
  end,
}

check {
  id = "RDMAP-5.3-21",
  purpose = "code 09 comes under type 1 or type 2",
  run = function(t)
    local readings = {}
    local stags = { { UNKNOWN_STAG, called = "that nobody has" }, { t:memory({ pd = 2 }).STag, called = "of another domain" } }
    t:each_value("STag", stags, function(one)
      local stag, c = one[1], t:open()
      c:send(rdmap.send_invalidate { InvalidateSTag = stag, data = "1234" })
      local got = c:expect_terminate(CANNOT_INVALIDATE, { warn = { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" },
                                                   message = "an STag that cannot be invalidated" })
      readings[got.EType] = true
    end)
    t:ambiguous(readings[1] and (readings[2] and "both" or "A: 0/1/09, a protection error") or "B: 0/2/09, an operation error")
  end,
}

check {
  id = "RDMAP-5.3-22",
  purpose = "a failed invalidate is told by code 09, or by that of its STag",
  run = function(t)
    local reading = "A: code 09 for every failed invalidate"
    local stags = { { UNKNOWN_STAG, called = "that nobody has" }, { t:memory({ pd = 2 }).STag, called = "of another domain" } }
    t:each_value("STag", stags, function(one)
      local stag, c = one[1], t:open()
      c:send(rdmap.send_invalidate { InvalidateSTag = stag, data = "1234" })
      local names = { "RDMAP_PROTECTION_INVALIDATE", "RDMAP_OPERATION_INVALIDATE", "RDMAP_INVALID_STAG" }
      if stag ~= UNKNOWN_STAG then names[4] = "RDMAP_NOT_ASSOCIATED" end
      local got = c:expect_terminate(names, { message = "an STag that cannot be invalidated" })
      if got.Code ~= 9 then reading = "B: 0/1/00 and 0/1/03 where the STag is invalid or of another stream" end
    end)
    t:ambiguous(reading)
  end,
}

check {
  id = "RDMAP-5.5-09",
  role = "both",
  purpose = "a Send is delivered after the Writes before it, though TCP brings it first",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local fill = c:send_behind(m:write(3, "earlier Write"), { rdmap.send { data = "Send" } })
    c:expect_quiet { message = "nothing follows from a segment after a gap" }
    t:expect_deliveries(c, {}, "the Write before the Send is missing")
    fill()
    t:expect_deliveries(c, { "Send" }, "the Write has come")
    m:patch(3, "earlier Write")
    m:check("the Write before a delivered Send is in memory")
  end,
}

check {
  id = "RDMAP-5.5-18",
  role = "both",
  purpose = "a Send is delivered when all of it is there, not when its last segment is",
  run = function(t)
    local c = t:open()
    local data = pattern(300)
    local frames = {}
    for i = 1, 3 do
      frames[i] = rdmap.send { MSN = 1, MO = i * 100 - 100, data = data:sub(i * 100 - 99, i * 100), L = i == 3 and 1 or 0 }
    end
    c:send_unmarked(frames[1])
    local fill = c:send_behind(frames[2], { frames[3] })
    c:expect_quiet { message = "nothing follows from a segment after a gap" }
    t:expect_deliveries(c, {}, "the middle segment is missing")
    fill()
    t:expect_deliveries(c, { data }, "the middle segment has come")
  end,
}

check {
  id = "RDMAP-5.5-19",
  purpose = "the source of a Read is read after the request was delivered: a Write before it counts",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local fill = c:send_behind(m:write(0, "new contents"), { m:read(0, 12, { SinkSTag = 4 }) })
    c:expect_quiet { message = "no Read Response while what comes before the request is missing" }
    fill()
    c:expect_response(4, 0, "new contents", "the Read after the Write")
  end,
}

check {
  id = "RDMAP-5.5-22",
  purpose = "with several Reads open the responses come in the order of the requests",
  run = function(t)
    local data = string.rep(pattern(65536), 16)
    local m = t:memory { octets = #data, data = data }
    local c = t:open { dut = { ird = 4 } }
    -- While the first has to wait for the window all others are there, however the LLP brings them.
    local large = t:memory { octets = t.large }
    c:probe()
    c:window(0)
    c:send(large:read(0, t.large, { SinkSTag = 1 }), m:read(0, 70000, { SinkSTag = 2 }), m:read(0, 4, { SinkSTag = 3 }))
    rig.wait(t.quiet / 4)
    c:window(65535)
    c:expect_response(1, 0, large.image, "the first of three Reads, behind a shut window")
    c:expect_response(2, 0, data:sub(1, 70000), "the second of three Reads")
    c:expect_response(3, 0, data:sub(1, 4), "the third of three Reads")
    for round = 1, 60 do
      -- Large ones first, and at all places: what is read sooner must not go sooner.
      local sizes = ({ { #data, 4, 0, 70000 }, { 4, 70000, 0, 1 }, { 20000, 4, 0, 7000 }, { 0, 0, 20000, 4 } })[round % 4 + 1]
      if sizes[1] == #data and round > 12 then sizes = { 70000, 4, 0, 70000 } end
      local frames = {}
      for i, size in ipairs(sizes) do frames[i] = m:read(0, size, { SinkSTag = round * 10 + i }) end
      c:send(table.unpack(frames))
      for i, size in ipairs(sizes) do
        c:expect_response(round * 10 + i, 0, data:sub(1, size), string.format("round %d, Read %d of four", round, i))
      end
    end
  end,
}
