-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 5.5 and Appendix B: what completes when, and in which order.

defaults { llp = "any" }

local DONE = { send_done = true, write_done = true, read_done = true, flushed = true }

check {
  id = "RDMAP-5.5-10",
  role = "both",
  purpose = "Reads complete in the order of their responses, and none before DDP delivers it",
  run = function(t)
    local count = t:at_once("read", 4, 2)
    local c, number = t:operating { ord = 4 }
    local sink = t:memory()
    local responses, expected = {}, {}
    for i = 1, count do
      t.dut:read { stream = number, sink_stag = sink.STag, sink_to = sink.TO + 64 * i, source_stag = 1, length = 64, id = i }
    end
    for i = 1, count do
      local got = c:expect(rdmap.read_request {}, { message = string.format("Read %d of %d", i, count) })
      expected[i] = "read_done " .. i
      responses[i] = rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(64, i) }
    end
    local fill = c:send_behind(responses[1], { responses[2] })
    local early = t:collect_events(c, DONE, 1, t.quiet / 2)
    t:equal("completions while the first response is missing", "none", event_list(early))
    fill()
    c:send(table.unpack(responses, 3))
    t:equal("completions", table.concat(expected, ", "), event_list(t:collect_events(c, DONE, count)))
  end,
}

check {
  id = "RDMAP-5.5-21",
  role = "both",
  purpose = "a Read is not complete before the last segment of its response is delivered",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    t:post_read(c, sink, { length = 3000, id = 1 })
    local got = c:expect(rdmap.read_request {}, { message = "the Read that the device was asked for" })
    for at = 0, 1000, 1000 do
      c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO + at, data = pattern(1000, at), L = 0 })
    end
    c:probe()
    t:equal("completions before the last segment", "none", event_list(t:collect_events(c, DONE, 1, t.quiet / 2)))
    c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO + 2000, data = pattern(1000, 2000) })
    t:equal("completions", "read_done 1", event_list(t:collect_events(c, DONE, 1)))
  end,
}

check {
  id = "RDMAP-5.5-24",
  role = "both",
  purpose = "a Read Response is enough to complete the Read",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    t:post_read(c, sink, { length = 64, id = 1 })
    local got = c:expect(rdmap.read_request {}, { message = "the Read that the device was asked for" })
    c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(64) })
    t:equal("completions while nothing more comes", "read_done 1", event_list(t:collect_events(c, DONE, 1)))
  end,
}

check {
  id = "RDMAP-5.5-16",
  role = "both",
  purpose = "a Write or Send is not complete before the LLP has taken it",
  run = function(t)
    for _, kind in ipairs { "write", "send" } do
      local c, number = t:operating()
      c:window(0)
      t.dut[kind](t.dut, { stream = number, stag = kind == "write" and 1 or nil, length = t.large, id = 1 })
      t:equal("completions of " .. t.large .. " octets while the window is shut", "none", event_list(t:collect_events(c, DONE, 1, t.quiet / 2)))
      c:window(65535)
      c:pass_message(t.large .. " octets")
      t:equal("completions", kind .. "_done 1", event_list(t:collect_events(c, DONE, 1)))
    end
  end,
}

check {
  id = "RDMAP-5.5-17",
  role = "both",
  purpose = "operations complete in the order in which they were posted",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    t:post_read(c, sink, { length = 64, id = 1 })
    t.dut:write { stream = number, stag = 1, length = 8, id = 2 }
    t.dut:send { stream = number, length = 8, id = 3 }
    local got = c:expect(rdmap.read_request {}, { message = "a Read" })
    c:expect(rdmap.write {}, { message = "a Write after it" })
    c:expect(rdmap.send {}, { message = "a Send after that" })
    t:equal("completions before the Read's", "none", event_list(t:collect_events(c, DONE, 1, t.quiet / 4)))
    c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(64) })
    t:equal("completions", "read_done 1, write_done 2, send_done 3", event_list(t:collect_events(c, DONE, 3)))
  end,
}

check {
  id = "RDMAP-5.5-14",
  role = "both",
  purpose = "a Send or Write that the ULP fenced goes out after the responses of all earlier Reads",
  run = function(t)
    local count = t:at_once("read", 2, 1)
    for _, kind in ipairs { "send", "write" } do
      local c, number = t:operating { ord = 2 }
      local sink = t:memory()
      local responses = {}
      for i = 1, count do t:post_read(c, sink, { sink_to = sink.TO + 64 * i, length = 64 }) end
      local given = { stream = number, stag = kind == "write" and 1 or nil, length = 8, fence = true }
      t.dut[kind](t.dut, given)
      for i = 1, count do
        local got = c:expect(rdmap.read_request {}, { message = string.format("Read %d of %d", i, count) })
        responses[i] = rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(64, i) }
      end
      for i = 1, count do
        c:expect_quiet { message = string.format("the fenced %s waits: %d of %d Reads are open", kind, count - i + 1, count) }
        c:send(responses[i])
      end
      c:expect(rdmap[kind] {}, { message = "the fenced " .. kind .. " after the last Read Response" })
    end
  end,
}

-- What was sent before a Read Request is held back: no Read Response, empty or not, until it is there.
local function behind_gap(t, c, m, before, at, octets, message)
  local fill = c:send_behind(before, { m:read(at, #octets, { SinkSTag = 3 }) })
  c:expect_quiet { message = "no Read Response of " .. #octets .. " octets while " .. message .. " is missing" }
  fill()
  c:expect_response(3, 0, octets, "the gap is filled")
end

check {
  id = "RDMAP-B-01",
  role = "both",
  purpose = "Send, then Read: no Read Response before the Send is delivered",
  judges = { "send to" },
  run = function(t)
    local m = t:memory { data = pattern(16) }
    for _, octets in ipairs { pattern(16), "" } do
      local c = t:operating()
      behind_gap(t, c, m, rdmap.send { data = "before" }, 0, octets, "the Send before it")
      t:expect_deliveries(c, { "before" }, "the Send before the Read")
    end
    t:ambiguous("A: DDP delivery of the Send is enough")
  end,
}

check {
  id = "RDMAP-B-02",
  role = "both",
  purpose = "Write, then Read: the Read Response has what the Write placed",
  run = function(t)
    local data = pattern(8192)
    for _, octets in ipairs { data:sub(8189), "" } do
      local c = t:operating()
      local m = t:memory { octets = 8192 }
      local frames = {}
      for at = 0, 8191, 1024 do
        frames[#frames + 1] = m:write(at, data:sub(at + 1, at + 1024), { L = at + 1024 == 8192 and 1 or 0 })
      end
      behind_gap(t, c, m, frames, 8188, octets, "the Write before it")
      t:equal("octets placed", true, unhex(t.dut:mem_read { stag = m.STag }.data) == data)
    end
  end,
}

check {
  id = "RDMAP-B-04",
  role = "both",
  purpose = "Read, then Read: no part of the second response before the end of the first",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open { dut = { ird = 2 } }
    c:send(m:read(0, t.large, { SinkSTag = 1 }), m:read(0, 1, { SinkSTag = 2 }))
    c:expect_response(1, 0, m.image, "the first of two Reads")
    c:expect_response(2, 0, "\xA5", "the second, of one octet")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Completion queues

-- Two streams; the first has a completion queue of 4, and 20 Sends that nobody polls for. The second has Sends before
-- and after: event lists of both, and both connections.
local function overflows(t)
  local port = t:instrument("listen", { completions = 4 }).port
  local a = t:open { port = port }
  t:stream_of(a)
  local b = t:open { dut = { completions = 64 } }
  t:stream_of(b)
  a:probe()
  b:probe()
  local function post(c, from, to)
    for i = from, to do t:try("send", { stream = c.stream, length = 8, id = i }) end
  end
  post(b, 1, 3)
  post(a, 1, 20)
  post(b, 4, 6)
  return a, b
end

check {
  id = "RDMAP-8.1.1-14",
  purpose = "a completion queue that overflows leaves the others as they are",
  run = function(t)
    local a, b = overflows(t)
    t:equal("completions of the other queue", "send_done 1, send_done 2, send_done 3, send_done 4, send_done 5, send_done 6",
            event_list(t:collect_events(b, { send_done = true, flushed = true }, 6)))
    -- A device may let its Sends wait for one another (RFC 5043 11.2): as long as some come, the queue may still fill.
    local got
    repeat got = a:receive() until not fits(rdmap.send {}, got)
    if #t:collect_events(a, { error = true }, 1) == 0 then t:fail("a completion queue of 4 with 20 Sends", "its overflow told", "nothing") end
    b:probe()
  end,
}

check {
  id = "RDMAP-8.1.1-15",
  purpose = "streams that do not use a completion queue that overflows go on",
  run = function(t)
    local _, b = overflows(t)
    local m = t:memory { data = pattern(100) }
    for i = 1, 6 do b:expect(rdmap.send {}, { message = "Send " .. i .. " of a stream with another queue" }) end
    b:send(m:read(0, 100), rdmap.send { data = "alive" })
    b:expect_response(0x51A6, 0, pattern(100), "a Read on that stream")
    t:expect_deliveries(b, { "alive" }, "a Send on that stream")
  end,
}
