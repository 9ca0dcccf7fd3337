-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 1.1, 2.4, 3.2, 5.3, 5.4, 6.2.1, 7.1: what the device's ULP may ask for, and what is reported to it.

defaults { llp = "any" }

local DONE = { send_done = true, write_done = true, read_done = true, flushed = true }
local FAULTS = { error = true, terminate_received = true }

check {
  id = "RDMAP-1.1-01",
  role = "both",
  purpose = "an operation of 2^32 octets is refused when it is posted",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    for _, case in ipairs {
      { "read", { sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1 } }, { "write", { stag = 1 } }, { "send", {} },
    } do
      local given = copy_fields(case[2])
      given.stream, given.length = number, 1 << 32
      if t:try(case[1], given) then t:fail("a " .. case[1] .. " of 2^32 octets", "refused", "posted") end
    end
    t:equal("what comes", "timeout", c:receive(t.quiet).kind)
    c:probe()
  end,
}

check {
  id = "RDMAP-2.4-01",
  role = "both",
  purpose = "the ULP has no operation that sends a Terminate as data",
  run = function(t)
    local c, number = t:operating()
    if t:try("send", { stream = number, length = 24, opcode = 7 }) then
      local got = c:receive()
      t:fail("a Send with opcode 7", "refused", "posted, then " .. describe(got))
    end
    t:equal("what comes", "timeout", c:receive(t.quiet).kind)
    c:probe()
  end,
}

check {
  id = "RDMAP-3.2-02",
  role = "both",
  purpose = "a Send with Solicited Event and Invalidate: the ULP has its length, octets, event and STag",
  run = function(t)
    local c = t:open()
    local sent = {}
    for i, octets in ipairs { 100, 50 } do
      local m = t:invalidatable(c)
      sent[i] = pattern(octets)
      c:send(rdmap.send_se_invalidate { InvalidateSTag = m.STag, data = sent[i] })
      local got = t:expect_deliveries(c, sent, "a Send with SE and Invalidate")[i]
      t:equal("octets", octets, t:event_member(got, "octets"))
      -- An upper tester that reports the opcode and no STag, or `false` in place of one, says that none was invalidated.
      if not got.invalidated and not got.kept then t:event_member(got, "opcode") end
      t:equal("the STag that was invalidated", m.STag, got.invalidated)
      if not got.solicited then t:note("no Solicited Event: 5.3 leaves it to the sink") end
    end
  end,
}

check {
  id = "RDMAP-3.2-03",
  role = "both",
  purpose = "a Send that fails is told to the sink's ULP, too",
  run = function(t)
    local c = t:open { dut = { receives = 1, receive_octets = 4096 } }
    local data = pattern(4097)
    local msn = c.msn[0]
    c:send(rdmap.send { MSN = msn, data = data:sub(1, 1400), L = 0 }, rdmap.send { MSN = msn, MO = 1400, data = data:sub(1401, 2800), L = 0 },
           rdmap.send { MSN = msn, MO = 2800, data = data:sub(2801) })
    c:expect_terminate("DDP_TOO_LONG", { message = "4097 octets for a receive of 4096" })
    if #t:collect_events(c, { error = true, flushed = true }, 1) == 0 then
      t:fail("a Send that failed", "an error told to the ULP, or its receive completed in error", "neither")
    end
  end,
}

-- A Read and two Sends are under way when a Terminate comes: c, the events that follow.
local function terminated(t, given)
  local c, number = t:operating()
  local sink = t:memory()
  t:post_read(c, sink, { length = 64, id = 1 })
  t.dut:send { stream = number, length = 8, id = 2 }
  local request = c:expect(rdmap.read_request {}, { message = "a Read" })
  local send = c:expect(rdmap.send {}, { message = "a Send" })
  local frame = given(c, request, send)
  c:send(frame)
  return c, t:collect_events(c, { terminate_received = true, read_done = true, send_done = true, flushed = true, closed = true }, 4), frame
end

local function has(events, kind, id)
  for i, event in ipairs(events) do
    if event.event == kind and (id == nil or event.id == id) then return i, event end
  end
end

local function about_send(_, _, send)
  return rdmap.terminate { Layer = 1, EType = 2, Code = 5, M = 1, D = 1, data = string.pack(">I2", #send.ulpdu) .. send.ulpdu:sub(1, 18) }
end

local function about_read(_, request)
  return rdmap.terminate { Layer = 0, EType = 1, Code = 0, M = 1, D = 1, R = 1,
                           data = string.pack(">I2", #request.ulpdu) .. request.ulpdu }
end

check {
  id = "RDMAP-3.2-04",
  role = "both",
  purpose = "the ULP is told of a Terminate: layer, type and code; what is open is flushed",
  run = function(t)
    local _, events = terminated(t, about_send)
    local _, reported = has(events, "terminate_received")
    if not reported then t:fail("a Terminate", "terminate_received", event_list(events)) end
    t:equal("layer, type and code", "1 2 5", string.format("%d %d %d", reported.layer, reported.etype, reported.code))
    if not has(events, "flushed", 1) then t:fail("the open Read", "flushed 1", event_list(events)) end
  end,
}

check {
  id = "RDMAP-5.4-06",
  role = "both",
  purpose = "a Terminate comes to RDMAP whole: all of its fields",
  run = function(t)
    local c, events, frame = terminated(t, about_read)
    local _, reported = has(events, "terminate_received")
    if not reported then t:fail("a Terminate", "terminate_received", event_list(events)) end
    t:equal("its octets", hex(t:in_version(c:ulpdu(frame)):sub(19)), t:event_member(reported, "headers"))
    t:equal("layer, type and code", "0 1 0", string.format("%d %d %d", reported.layer, reported.etype, reported.code))
  end,
}

check {
  id = "RDMAP-5.4-07",
  role = "both",
  purpose = "a Terminate is delivered to the ULP, before or with the flush of its work",
  run = function(t)
    local _, events = terminated(t, about_read)
    local reported, flushed = has(events, "terminate_received"), has(events, "flushed", 1)
    if not reported then t:fail("a Terminate with work open", "terminate_received", event_list(events)) end
    if not flushed then t:fail("the open Read", "flushed 1", event_list(events)) end
    if reported > flushed and not has(events, "closed") then t:note("the flush is told first") end
  end,
}

check {
  id = "RDMAP-3.2-06",
  role = "both",
  purpose = "Read Requests that are served raise nothing at the ULP",
  run = function(t)
    local c = t:operating()
    local m = t:memory { octets = 65536 }
    for i = 1, 10 do
      local octets = ({ 1, 65536, 100, 5000 })[(i - 1) % 4 + 1]
      c:send(m:read(0, octets))
      c:expect_response(0x51A6, 0, m.image:sub(1, octets), "Read " .. i .. " of ten")
    end
    local events = t:collect_events(c, { receive = true, send_done = true, write_done = true, read_done = true, flushed = true,
                                      error = true }, 1, t.quiet / 4)
    t:equal("events of ten good Reads", "none", event_list(events))
  end,
}

check {
  id = "RDMAP-3.2-08",
  purpose = "an STag stands in the device's table as it was asked for: range, rights, domain, stream",
  run = function(t)
    local c = t:open()
    local cases = {
      { t:memory { access = { "read" }, octets = 64 }, "remote_read" },
      { t:memory { access = { "write" }, octets = 65, base = 0x1000, anywhere = true }, "remote_write" },
      { t:memory { octets = 66, pd = 3 }, "remote_read remote_write", 3 },
      { t:memory { access = {}, octets = 68 }, "" },
    }
    if t:binds_memory() then
      cases[#cases + 1] = { t:memory { octets = 67, bound = c }, "remote_read remote_write", 0, t:stream_of(c) }
    end
    local rows = {}
    for _, row in ipairs(t:instrument("regions", {}).regions) do rows[row.stag] = row end
    for _, case in ipairs(cases) do
      local m, row = case[1], rows[case[1].STag]
      if not row then t:fail(string.format("STag 0x%08x in the device's table", m.STag), "a row", "none") end
      local rights = {}
      for _, right in ipairs(row.access) do
        if right:find("^remote") then rights[#rights + 1] = right end
      end
      t:equal("base, length, rights, domain, stream",
              string.format("0x%x %d %s %d %d", m.TO, m.octets, case[2], case[3] or 0, case[4] or 0),
              string.format("%s %d %s %d %d", row.base, row.length, table.concat(rights, " "), row.pd, row.stream))
    end
  end,
}

check {
  id = "RDMAP-3.2-11",
  role = "both",
  purpose = "each operation that was posted completes, once, with its result",
  run = function(t)
    local c, number = t:operating { ord = 8 }
    local sink = t:memory()
    local function read(id)
      t:post_read(c, sink, { length = 16, id = id })
      return c:expect(rdmap.read_request {}, { message = "a Read" })
    end
    local wanted = {}
    for i = 1, 10 do
      t.dut:send { stream = number, length = 8, id = 3 * i }
      c:expect(rdmap.send {}, { message = "Send " .. i })
      t.dut:write { stream = number, stag = 1, length = 8, id = 3 * i + 1 }
      c:expect(rdmap.write {}, { message = "Write " .. i })
      local got = read(3 * i + 2)
      c:send(rdmap.read_response { STag = got.SinkSTag, TO = got.SinkTO, data = pattern(16) })
      wanted[#wanted + 1] = string.format("send_done %d, write_done %d, read_done %d", 3 * i, 3 * i + 1, 3 * i + 2)
    end
    t:equal("completions", table.concat(wanted, ", "), event_list(t:collect_events(c, DONE, 30)))
    read(40)
    t:post_read(c, sink, { length = 16, id = 41 })
    c:take_also_open("a second Read")
    c:send(rdmap.terminate { Layer = 0, EType = 1, Code = 0 })
    t:equal("completions of two Reads that a Terminate answers", "flushed 40, flushed 41", event_list(t:collect_events(c, DONE, 3, t.quiet / 2)))
  end,
}

check {
  id = "RDMAP-5.3-08",
  role = "both",
  purpose = "Sends without Solicited Event raise none",
  run = function(t)
    local c = t:open()
    local m = t:invalidatable(c)
    c:send(rdmap.send { data = "a" }, rdmap.send_invalidate { InvalidateSTag = m.STag, data = "b" }, rdmap.send_se { data = "c" })
    local got = t:expect_deliveries(c, { "a", "b", "c" }, "a Send, one with Invalidate, one with Solicited Event")
    for i, name in ipairs { "a Send", "a Send with Invalidate" } do
      if got[i].solicited then t:fail("the event of " .. name, "none solicited", "solicited") end
    end
    if not got[3].solicited then t:note("no Solicited Event for opcode 5: it is the sink's choice") end
  end,
}

check {
  id = "RDMAP-5.3-23",
  role = "both",
  purpose = "a Send whose invalidation failed is never delivered as good with its STag invalidated",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, data = pattern(10) })
    local got = c:receive()
    for _, event in ipairs(t:collect_events(c, { receive = true }, 1, t.quiet / 2)) do
      if event.invalidated then t:fail("a Send whose STag is unknown", "no invalidation told", "invalidated told") end
    end
    if not is_terminate(got) or got.Layer ~= 0 then
      t:fail("a Send with Invalidate of an unknown STag", "a Terminate x/x/09", c:instead({}, got))
    end
    t:ambiguous(#t:collect_events(c, { error = true }, 1) == 1 and "A: the Send completes in error" or "B: it is flushed with the stream")
  end,
}

check {
  id = "RDMAP-5.4-09",
  purpose = "at the end each operation that was posted completes exactly once, those not begun in error",
  run = function(t)
    local SENDS, OCTETS = 50, 128 << 10
    local c, number = t:operating()
    c:window(0)
    for i = 1, SENDS do t.dut:send { stream = number, length = OCTETS, id = i } end
    c:send(rdmap.terminate {})
    local seen, last = {}, nil
    for _, event in ipairs(t:collect_events(c, DONE, SENDS)) do
      seen[event.id] = (seen[event.id] or 0) + 1
      last = event.event
    end
    for i = 1, SENDS do
      if seen[i] ~= 1 then t:fail("completions of Send " .. i .. " of " .. SENDS, "1", tostring(seen[i] or 0)) end
    end
    t:equal("completion of the last, which TCP has not taken", "flushed", last)
    t:equal("further completions", "none", event_list(t:collect_events(c, DONE, 1, t.round_trip)))
  end,
}

check {
  id = "RDMAP-6.2.1-04",
  role = "both",
  purpose = "on a Terminate all that is open counts as completed in error",
  run = function(t)
    local c, number = t:operating { ord = 4 }
    local sink = t:memory()
    for i = 1, 5 do t.dut:send { stream = number, length = 8, id = i } end
    for i = 6, 7 do
      t:post_read(c, sink, { length = 16, id = i })
    end
    for i = 1, 6 do c:receive_message("message " .. i) end
    c:take_also_open("the second Read")
    c:send(rdmap.terminate { Layer = 0, EType = 1, Code = 0 })
    local seen = {}
    for _, event in ipairs(t:collect_events(c, DONE, 8, t.quiet / 2)) do
      seen[event.id] = (seen[event.id] and seen[event.id] .. " " or "") .. event.event
    end
    for i = 1, 5 do
      if seen[i] ~= "send_done" and seen[i] ~= "flushed" then t:fail("completion of Send " .. i, "one", seen[i] or "none") end
    end
    for i = 6, 7 do t:equal("completion of a Read that is open", "flushed", seen[i] or "none") end
  end,
}

check {
  id = "RDMAP-7.1-01",
  role = "both",
  purpose = "an error is told to the ULP of the device that found it, too",
  run = function(t)
    local m = t:memory()
    for _, frame in ipairs {
      bad_write(), rdmap.send { QN = 7, data = "x" },
      rdmap.send { RV = 3, data = "x" }, rdmap.send { Opcode = 0xC, data = "x" }, m:read(-1, 1),
      rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "x" },
    } do
      local c = t:open()
      c:send(frame)
      local got = c:expect_any_terminate("a message in error")
      local reported = t:collect_events(c, FAULTS, 1)
      if #reported == 0 then t:fail("what the ULP is told of " .. wire.describe(got.triple), "an error", "nothing") end
    end
    t:each_error(function(c, got)
      if #t:collect_events(c, FAULTS, 1) == 0 then
        t:fail("what the ULP is told of " .. wire.describe(got.triple), "an error", "nothing")
      end
    end)
  end,
}

check {
  id = "RDMAP-7.1-02",
  role = "both",
  purpose = "an error in making a request: it is refused, or a Terminate goes out in its place",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory { octets = 64 }
    t.dut:dereg { stag = sink.STag }
    local posted = t:try("read", { stream = number, sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = 16 })
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      if posted and #t:collect_events(c, { flushed = true, error = true }, 1, t.quiet) == 0 then
        t:fail("a Read whose sink is not registered", "refused, completed in error, or a Terminate", "taken, and nothing comes of it")
      end
      c:probe()
      return
    end
    if not is_terminate(got) then t:fail("a Read whose sink is not registered", "nothing, or a Terminate", describe(got)) end
    t:equal("M, D and R of the Terminate", "0 0 0", string.format("%d %d %d", got.M, got.D, got.R))
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Catastrophes

local function catastrophe(t, before)
  local c, number = t:operating()
  if before then before(c) end
  t.dut:terminate { stream = number, layer = 0, etype = 0, code = 0 }
  local got
  repeat got = c:receive() until got.kind ~= "segment" or got.Opcode ~= 2
  if not is_terminate(got) then t:fail("a local catastrophe", "a Terminate 0/0", describe(got)) end
  t:equal("octet 0 of the Terminate", "00", hex(got.ulpdu:sub(19, 19)))
  return got
end

check {
  id = "RDMAP-4.8-10",
  role = "both",
  purpose = "a Terminate for a local catastrophe has neither length nor headers",
  run = function(t)
    local got = catastrophe(t)
    if #got.ulpdu ~= 22 or got.M ~= 0 or got.D ~= 0 or got.R ~= 0 then
      t:warn("a Terminate 0/0", "22 octets, M = D = R = 0",
             string.format("%d octets, M = %d D = %d R = %d", #got.ulpdu, got.M, got.D, got.R))
    end
  end,
}

check {
  id = "RDMAP-4.8-17",
  role = "both",
  purpose = "0/0 Local Catastrophic Error: sent by its octet 0, and taken with any code",
  run = function(t)
    catastrophe(t)
    for _, code in ipairs { 0, 0xFF } do
      local c = t:open()
      c:send(rdmap.terminate { Layer = 0, EType = 0, Code = code })
      local reported = t:collect_events(c, FAULTS, 1)
      t:equal(string.format("what the ULP is told of a Terminate 0/0/%02X", code), "terminate_received", event_list(reported))
      t:equal("layer, type and code", "0 0 " .. code, string.format("%d %d %d", reported[1].layer, reported[1].etype, reported[1].code))
    end
  end,
}

check {
  id = "RDMAP-4.8-38",
  role = "both",
  purpose = "a Terminate for a local catastrophe quotes no DDP header, also while a Send comes in",
  run = function(t)
    local got = catastrophe(t, function(c)
      c:send(rdmap.send { MSN = c.msn[0], data = pattern(100), L = 0 })
      rig.wait(4 * t.round_trip)
    end)
    t:equal("D, and octets after the control word", "0 0", got.D .. " " .. #got.ulpdu - 22)
  end,
}

check {
  id = "RDMAP-4.8-28",
  purpose = "0/2/08: a catastrophe of the device is told on each of its streams",
  run = function(t)
    local streams = { t:open(), t:open(), t:open() }
    for _, c in ipairs(streams) do c:probe() end
    t:instrument("fault", {})
    for i, c in ipairs(streams) do
      local got = c:expect_any_terminate("a fault of the device, on stream " .. i)
      if got.triple ~= wire.triple("RDMAP_CATASTROPHIC_GLOBAL") and not (got.Layer == 0 and got.EType == 0) then
        t:fail("a fault of the device, on stream " .. i, "Terminate 0/2/08 or 0/0", describe(got))
      end
    end
  end,
}
