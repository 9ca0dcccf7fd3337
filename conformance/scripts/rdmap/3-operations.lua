-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 3.2, 4.3 to 4.7, 5.2 and 6.1: the device issues operations, the tester is the other end; and Read limits.

defaults { llp = "any" }

local SINK = 0x51A6

-- Takes one untagged message of the device: FAIL unless its segments follow one another by the book. Returns its data.
local function take_untagged(c, opcode, msn, invalidate, message)
  local data = ""
  repeat
    local got = c:receive()
    if got.kind ~= "segment" then c.t:fail(message, "a segment of it", describe(got)) end
    c.t:equal(message .. ": opcode, QN, MSN, MO and Invalidate STag",
              string.format("%d 0 %d %d 0x%x", opcode, msn, #data, invalidate or 0),
              string.format("%d %d %d %d 0x%x", got.Opcode, got.QN or -1, got.MSN or -1, got.MO or -1, got.InvalidateSTag or -1))
    data = data .. got.data
  until got.L == 1
  return data
end

local function take_write(c, stag, to, message)
  local data = ""
  repeat
    local got = c:expect(rdmap.write { STag = stag, TO = to + #data }, { message = message })
    data = data .. got.data
  until got.L == 1
  return data
end

check {
  id = "RDMAP-3.2-01",
  role = "both",
  purpose = "the device offers all six operations, each with what its ULP asked for",
  run = function(t)
    local c = t:open()
    c:probe()
    local number, first = t:stream_of(c), t.role == "initiator" and 2 or 1
    local function sent(opcode, msn, given)
      given.stream, given.length = number, 5000
      t.dut:send(given)
      local data = take_untagged(c, opcode, msn, given.invalidate, "opcode " .. opcode)
      t:equal("octets of opcode " .. opcode, 5000, #data)
      t:equal("octets of opcode " .. opcode .. " are the ULP's", true, data == counted(5000))
    end
    sent(3, first, {})
    sent(5, first + 1, { solicited = true })
    sent(4, first + 2, { invalidate = 0x12345678 })
    sent(6, first + 3, { invalidate = 0x89ABCDEF, solicited = true })
    t.dut:write { stream = number, stag = 0x01020304, to = 0x100000003, length = 5000 }
    t:equal("octets of a Write", true, take_write(c, 0x01020304, 0x100000003, "an RDMA Write") == counted(5000))
    local sink = t:memory { octets = 3000 }
    t:post_read(c, sink, { source_stag = 0x0A0B0C0D, source_to = "0x1122334455667788", length = 3000 })
    local request = c:expect(rdmap.read_request { QN = 1, MSN = 1, MO = 0, L = 1, SinkSTag = sink.STag, SinkTO = sink.TO,
                                                  RDMARDSZ = 3000, SrcSTag = 0x0A0B0C0D, SrcTO = 0x1122334455667788,
                                                  InvalidateSTag = 0, data = "" }, { message = "an RDMA Read" })
    local data = pattern(3000)
    for at = 0, 2000, 1000 do
      c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + at, data = data:sub(at + 1, at + 1000),
                                   L = at == 2000 and 1 or 0 })
    end
    t:expect_event("read_done", { stream = number }, "an RDMA Read that was answered")
    sink:patch(0, data)
    sink:check("the Read Response is in the sink")
  end,
}

check {
  id = "RDMAP-4.3-01",
  role = "both",
  purpose = "a Write of the device: STag as given, TO growing by the payload in 64 bits, L = 1 on the last",
  run = function(t)
    local c = t:open()
    c:probe()
    t.dut:write { stream = t:stream_of(c), stag = 0x89ABCDEF, to = "0xFFFFF003", length = 100000 }
    local data = take_write(c, 0x89ABCDEF, 0xFFFFF003, "a Write of 100000 octets across 2^32")
    t:equal("octets of the Write", true, data == counted(100000))
  end,
}

-- More messages of the tester than 8 bits count, on the queue of Sends and on that of the fence.
local function past_an_octet(t)
  local c, data = t:operating(), {}
  for i = 1, 260 do
    data[i] = string.char(i & 0xFF)
    c:send(rdmap.send { data = data[i] })
    c:probe { message = "message " .. i .. " of a stream, whose MSN is " .. i }
    c:keep_pace(data, "the first " .. i .. " Sends")
  end
  t:expect_deliveries(c, data, "Sends whose MSNs take more than 8 bits")
end

check {
  id = "DDP-4.3-11",
  role = "both",
  purpose = "MSNs rise by one for each message, for each queue on its own; tagged messages take none",
  run = function(t)
    local c = t:open { dut = { ord = 16 } }
    c:probe()
    local number, first = t:stream_of(c), t.role == "initiator" and 2 or 1
    local sink = t:memory()
    c.answers_when_due = true
    for i = 1, 5 do
      t.dut:send { stream = number, data = hex("Send") }
      c:expect(rdmap.send { QN = 0, MSN = first + i - 1 }, { message = "Send " .. i })
      t.dut:write { stream = number, stag = 1, to = 0, data = hex("Write") }
      c:expect(rdmap.write {}, { message = "Write " .. i })
      t:post_read(c, sink, { source_to = 0, length = 1 })
      c:expect(rdmap.read_request { QN = 1, MSN = i }, { message = "Read Request " .. i })
    end
    local got = c:draw_terminate()
    t:equal("QN and MSN of the Terminate", "2 1", got.QN .. " " .. got.MSN)
    t:if_served("decided without Sends to the device", past_an_octet, t)
  end,
}

check {
  id = "RDMAP-5.2-01",
  role = "both",
  purpose = "a Read is one Read Request and one Read Response message",
  sandwich = "startup",
  run = function(t)
    local data = pattern(65536)
    local m = t:memory { octets = 65536, data = data }
    local c = t:open()
    for _, size in ipairs { 1, 65536, 5000 } do
      c:send(m:read(0, size))
      c:expect_response(SINK, 0, data:sub(1, size), "a Read of " .. size .. " octets: one Read Response, one L = 1")
    end
    c:probe { message = "nothing of a Read Response is left" }
  end,
}

check {
  id = "RDMAP-5.2.1-15",
  role = "both",
  purpose = "a Read Request may have size zero",
  sandwich = "startup",
  judges = { "empty read" },
  run = function(t)
    local m = t:memory()
    local c = t:open()
    c:send(m:read(0, 0))
    local got = c:expect(rdmap.read_response { L = 1, data = "" }, { message = "a Read of no octets" })
    t:equal("octets of the ULPDU", 14, #got.ulpdu)
    t.dut:read { stream = t:stream_of(c), source_stag = 5, length = 0 }
    local request = c:expect(rdmap.read_request { RDMARDSZ = 0 }, { message = "a Read of no octets of the device" })
    c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO })
    t:expect_event("read_done", { stream = t:stream_of(c) }, "a Read of no octets that was answered")
  end,
}

-- A Read of 100 octets of the device is open: returns the connection, its sink and its Read Request.
local function open_read(t)
  local c = t:open()
  c:probe()
  local sink = t:memory { octets = 100 }
  t:post_read(c, sink, { source_stag = 0x77, length = 100 })
  return c, sink, c:expect(rdmap.read_request { RDMARDSZ = 100 }, { message = "the Read that the device was asked for" })
end

check {
  id = "RDMAP-5.2.2-05",
  role = "both",
  purpose = "a Read Response is delivered to the ULP that asked for it",
  run = function(t)
    local c, sink, request = open_read(t)
    c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = pattern(60), L = 0 })
    c:probe()
    if t:await_event("read_done", { stream = t:stream_of(c) }, t.round_trip) then
      t:suspect(read_done_early())
      t:fail("a Read whose last segment has not come", "no completion", "read_done")
    end
    c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + 60, data = pattern(40, 60) })
    t:expect_event("read_done", { stream = t:stream_of(c) }, "a Read that was answered")
    sink:patch(0, pattern(100))
    sink:check("the Read Response is in the sink")
  end,
}

check {
  id = "RDMAP-5.2.2-06",
  role = "both",
  purpose = "a Read Response to an STag that is not valid surfaces an error",
  run = function(t)
    local c, sink = open_read(t)
    c:send(rdmap.read_response { STag = UNKNOWN_STAG, TO = sink.TO, data = "12345678" })
    local names = { "DDP_BOUNDS", "DDP_NOT_ASSOCIATED", "RDMAP_OPERATION_OTHER", "RDMAP_CATASTROPHIC_STREAM",
                    "RDMAP_CATASTROPHIC", "DDP_CATASTROPHIC" }
    c:expect_terminate("DDP_INVALID_STAG", { warn = names, message = "a Read Response to an unknown STag" })
    sink:check("nothing is placed")
  end,
}

check {
  id = "RDMAP-5.2.2-09",
  role = "both",
  purpose = "a Read Response that does not fit its request is refused, or stays in the device's own memory",
  run = function(t)
    local refusals = { "DDP_INVALID_STAG", "DDP_BOUNDS", "DDP_NOT_ASSOCIATED", "RDMAP_OPERATION_OTHER",
                       "RDMAP_CATASTROPHIC_STREAM", "DDP_CATASTROPHIC" }
    local other = t:memory()
    local cases = {
      { "96 octets for 100", function(request) return { STag = request.SinkSTag, TO = request.SinkTO, data = pattern(96) } end },
      { "another TO", function(request) return { STag = request.SinkSTag, TO = request.SinkTO + 4, data = pattern(96) } end },
      { "another STag", function() return { STag = other.STag, TO = other.TO, data = pattern(100) } end },
    }
    for _, case in ipairs(cases) do
      local c, _, request = open_read(t)
      c:send(rdmap.read_response(case[2](request)))
      local got = c:receive(t.quiet)
      if got.kind == "timeout" then
        if not t:await_event("read_done", { stream = t:stream_of(c) }) then
          t:fail("a Read Response with " .. case[1], "a Terminate, or the completion of the Read", "neither")
        end
      else
        -- A local catastrophe may have any code (RFC 6580 3.1).
        c:judge_close(got)
        local good = got.triple and got.triple >> 8 == wire.triple("RDMAP_CATASTROPHIC") >> 8
        for _, name in ipairs(refusals) do good = good or got.triple == wire.triple(name) end
        if not good then t:fail("a Read Response with " .. case[1], "a Terminate, or the completion of the Read", describe(got)) end
      end
    end
  end,
}

local function requests_at_once(t, count, options, octets)
  local m = t:memory { octets = t.large }
  local c = t:open { dut = options }
  c:probe()
  c:shut_with_reads(m, count, octets)
  c:window(65535)
  return c
end

check {
  id = "RDMAP-5.2.2-04",
  purpose = "as many Read Requests as were agreed are taken at once, none of them answered yet",
  run = function(t)
    local c = requests_at_once(t, 4, { ird = 4 })
    for i = 1, 4 do
      local size = i == 1 and t.large or 16
      local at = 0
      repeat
        local got = c:expect(rdmap.read_response { STag = i }, { message = string.format("Read %d of four, with an IRD of 4", i) })
        at = at + #got.data
      until got.L == 1
      t:equal("octets of Read Response " .. i, size, at)
    end
  end,
}

-- So many Read Requests at once, with this IRD, each but the first of so many octets: whether all are answered, and
-- what came.
local function served(t, count, ird, octets)
  local c = requests_at_once(t, count, { ird = ird }, octets)
  local got, passed, responses = nil, {}, 0
  repeat
    passed[#passed + 1] = got
    got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 and got.L == 1 then responses = responses + 1 end
  until got.kind ~= "segment" or got.Opcode ~= 2 or responses == count
  if responses == count then passed[#passed + 1] = got end
  return responses == count, got, c, passed
end

-- Where none was agreed, the first is one too many: what the device made of it.
local function answer_where_none(t, octets)
  local m = t:memory()
  local c = t:open { dut = { ird = 0 } }
  c:send(m:read(0, octets))
  return c:receive()
end

check {
  id = "RDMAP-6.1-08",
  purpose = "Read Requests beyond the agreed number are not taken",
  run = function(t)
    for _, octets in ipairs { 16, 0 } do
      local got = answer_where_none(t, octets)
      if got.kind == "segment" and got.Opcode == 2 then
        t:fail(string.format("a Read Request of %d octets with an IRD of 0", octets), "no Read Response", describe(got))
      end
    end
    for _, ird in ipairs { 2, 3, 5 } do -- 3 and 5: a number of places that is rounded to a power of two is another
      local most, came
      for _, count in ipairs { ird + 1, ird + 2, 8, 20 } do -- how far beyond is part of what the device does
        local all, got, c, passed = served(t, count, ird)
        if all and most == nil and t:leaves_in_tcp(count, ird) then break end
        if all then
          most, came = count, describe_messages(passed)
        elseif most == nil and not is_terminate(got) and not c:reset_while_shut(got) then
          t:warn(string.format("%d Read Requests with an IRD of %d", count, ird), "a Terminate", c:instead(passed, got))
        end
        if not all then break end
      end
      if most then
        t:fail("Read Requests at once with an IRD of " .. ird, "a Terminate for the one beyond", most .. " are served: " .. came)
      end
    end
    if served(t, 6, 2, 0) and not t:leaves_in_tcp(6, 2, 0) then
      t:fail("Read Requests at once with an IRD of 2", "a Terminate for the one beyond", "6 are served, of which 5 have size 0")
    end
  end,
}

check {
  id = "RDMAP-6.1-09",
  purpose = "a Read Request too many is told as a missing buffer, or as a catastrophe of the stream",
  run = function(t)
    local all, got, c, passed = served(t, 3, 2)
    if all and t:leaves_in_tcp(3, 2) then t:ambiguous("C: the request waits in TCP until another is answered, and is no error") end
    local codes = { "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER" }
    if c:reset_while_shut(got) then
      t:inconclusive("the device resets a stream in error at once: while the tester's window is shut its Terminate has no way")
    end
    if not is_terminate(got, codes) then
      local expected = "Terminate " .. wire.describe(wire.triple(codes[1])) .. ", or another of a missing buffer or a catastrophe"
      if fits(tcp.closed(), got) then t:terminate_missing(expected, c:instead(passed, got)) end
      t:fail("three Read Requests with an IRD of 2", expected, c:instead(passed, got))
    end
    t:ambiguous(got and got.Layer == 1 and "A: no QN 1 buffer left, a DDP error (1/2/02, 1/2/03)"
                or "B: an RDMAP catastrophe of the stream")
  end,
}
