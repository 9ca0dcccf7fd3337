-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4 to 7: what only an instrumented device shows, and what it does without a buffer.

defaults { llp = "any" }

-- What was placed or delivered on the stream since the last call.
local function records(t, c, kind)
  local out = {}
  for _, record in ipairs(t.dut:placements { stream = t:stream_of(c) }.records) do
    if record.kind == kind then out[#out + 1] = record end
  end
  return out
end

check {
  id = "DDP-4.2-10",
  purpose = "a tagged message is delivered with its STag",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    records(t, c, "delivered")
    c:send(m:write(0, pattern(40), { L = 0 }), m:write(40, pattern(24)))
    local response = c:ulpdu(rdmap.send { data = "behind" })
    c:send(raw.segment { data = response })
    t:expect_deliveries(c, { "behind" }, "a Send after a Write of two segments")
    local got = records(t, c, "delivered")
    t:equal("deliveries of a Write and a Send", 2, #got)
    t:equal("STag that the Write is delivered with", m.STag, got[1].stag)
  end,
}

-- Messages with the MSNs before and after this one, in both directions.
local function msns_around(t, top)
  local c = t:open { dut = { receives = 8 } }
  local stream = t:stream_of(c)
  c:probe()
  t.dut:msn { stream = stream, send = top - 1, receive = top - 1 }
  local wanted = {}
  for i, msn in ipairs { top - 1, top, (top + 1) & 0xFFFFFFFF, (top + 2) & 0xFFFFFFFF } do
    wanted[i] = "message " .. i
    c:send(rdmap.send { MSN = msn, data = wanted[i] })
    local posted, why = t:try("send", { stream = stream, data = hex(wanted[i]) })
    -- the stream has ended, as its frames show
    if not posted then t:note("the Send is refused: " .. tostring(why)) end
    local got = c:expect(rdmap.send { data = wanted[i] }, { message = "the device's Send" })
    t:equal("its MSN", msn, got.MSN)
  end
  t:expect_deliveries(c, wanted, string.format("Sends with MSNs from %X on", top - 1))
  c:probe()
end

check {
  id = "DDP-4.3-13",
  purpose = "the MSN after 0xFFFFFFFF is 0, and all 32 bits are counted, in both directions",
  rules = false,
  run = function(t)
    for _, top in ipairs { 0xFFFFFFFF, 0xFF, 0xFFFF, 0xFFFFFF } do msns_around(t, top) end
  end,
}
-- The octets of [0, size) that were placed at `base`, by a stream of placements.
local function covered(list, m, size)
  local seen, count = {}, 0
  for _, record in ipairs(list) do
    if record.tagged and record.stag == m.STag then
      for at = record.offset - m.TO, record.offset - m.TO + record.octets - 1 do
        if not seen[at] and at >= 0 and at < size then seen[at], count = true, count + 1 end
      end
    end
  end
  return count
end

check {
  id = "DDP-5.3-05",
  purpose = "segments may be placed in any order: each is, and the memory is right",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    records(t, c, "placed")
    local frames = {}
    for i = 1, 4 do frames[i] = m:write((i - 1) * 100, pattern(100, i), { L = i == 4 and 1 or 0 }) end
    c:send_shuffled(frames, { 3, 1, 4, 2 })
    c:probe { message = "a Write of four segments, which come as 3, 1, 4, 2" }
    t:equal("octets that the placements cover", 400, covered(records(t, c, "placed"), m, 400))
    for i = 1, 4 do m:patch((i - 1) * 100, pattern(100, i)) end
    m:check("a Write of four segments, which come as 3, 1, 4, 2")
  end,
}

check {
  id = "DDP-5.3-06",
  llp = "tcp",
  purpose = "a segment may be placed more than once: the memory is right",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    records(t, c, "placed")
    local octets = c:octets(m:write(0, pattern(100)))
    c.tcp:segments(octets, { #octets }, { 1, 1 })
    c:probe { message = "a Write whose TCP segment comes twice" }
    t:equal("octets that the placements cover", 100, covered(records(t, c, "placed"), m, 100))
    m:patch(0, pattern(100))
    m:check("a Write whose TCP segment comes twice")
  end,
}

check {
  id = "DDP-7-01",
  llp = "tcp",
  purpose = "an error of the LLP is passed up with the LLP's numbers",
  run = function(t)
    local c = t:open()
    c:probe()
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    c:expect_crc_error("an FPDU with a wrong CRC")
  end,
}

check {
  id = "DDP-7.2-02",
  purpose = "a local catastrophic error of DDP has type 0, code 0",
  run = function(t)
    local c = t:open()
    c:probe()
    t.dut:catastrophe { stream = t:stream_of(c), kind = "ddp" }
    c:expect_terminate("DDP_CATASTROPHIC", { message = "a local catastrophic error of DDP" })
    c:expect_end("a local catastrophic error of DDP")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- No buffer

-- A stream whose two receives are used up, and a Send more.
local function overrun(t)
  local c = t:open { dut = { receives = 2, repost = false } }
  t:stream_of(c)
  c:probe()
  c:send(rdmap.send { data = "one" }, rdmap.send { data = "two" }, rdmap.send { data = "three" })
  return c
end

check {
  id = "DDP-7.1-06",
  llp = "any-end",
  purpose = "a missing untagged buffer is a system fault",
  run = function(t)
    local c = overrun(t)
    local options = { warn = { "DDP_MSN_RANGE" }, message = "a Send without a receive", waits = true }
    if not c:expect_terminate("DDP_NO_BUFFER", options) then return end
    t:equal("system faults", 1, t.dut:ddp { stream = t:stream_of(c) }.system_faults)
  end,
}

check {
  id = "DDP-7.1-07",
  purpose = "a device without a buffer ends the stream, or waits for one: then nothing is lost",
  run = function(t)
    local c = overrun(t)
    rig.wait(t.quiet / 2)
    local got = c:receive(t.quiet / 2)
    if is_terminate(got) then
      c:expect_end("the end after the Terminate for a missing receive")
      return
    end
    if fits(tcp.closed(), got) then
      t:terminate_missing("a Terminate", describe(got))
    end
    if got.kind ~= "timeout" then t:fail("a Send without a receive", "a Terminate, or silence", describe(got)) end
    t.dut:post_recv { stream = t:stream_of(c) }
    t:expect_deliveries(c, { "one", "two", "three" }, "a Send that waited for its receive is not lost")
  end,
}

check {
  id = "DDP-7.1-08",
  purpose = "a device does not go on overrun by overrun",
  run = function(t)
    local c = overrun(t)
    for round = 1, 10 do
      local got = c:receive(t.round_trip * 4 + 0.05)
      if is_terminate(got) or fits(tcp.closed(), got) then return end
      if got.kind ~= "timeout" then t:fail("overrun " .. round, "a Terminate, FIN or RST, or silence", describe(got)) end
      t.dut:post_recv { stream = t:stream_of(c) }
      c:send(rdmap.send { data = "overrun " .. round }, rdmap.send { data = "and one more" })
    end
    t:warn("ten overruns of the receives, one after the other", "the stream ends", "it goes on")
  end,
}

check {
  id = "DDP-7.1-09",
  purpose = "a device without a buffer that ends reception tells its ULP",
  run = function(t)
    local c = overrun(t)
    local got = c:receive()
    if got.kind == "timeout" then return end -- it waits for a buffer: DDP-7.1-07
    t:expect_event("error", { stream = t:stream_of(c) }, "a Send without a receive")
    t:expect_deliveries(c, { "one", "two" }, "what had a receive is delivered, and nothing more")
  end,
}
