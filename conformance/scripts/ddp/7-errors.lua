-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 6.2.2, 7.1 and 7.2: what the Data Sink checks before it places, and how it reports.

defaults { llp = "any" }

local RANGE = { warn = { "DDP_NO_BUFFER" } } -- 0x02 and 0x03 are not distinguished by the text (DDP-7.1-21)

-- One stream with the device as `dut` says; `frames` are sent, the Terminate is taken.
local function refused(t, dut, frames, names, message, warned)
  local c = t:open { dut = dut }
  c:send(table.unpack(frames))
  return c, c:expect_terminate(names, { message = message, warn = warned, waits = names == "DDP_NO_BUFFER" })
end

check {
  id = "DDP-7.1-01",
  role = "both",
  purpose = "untagged: the QN is one of the stream",
  run = function(t)
    -- One beyond, far beyond, and what is 0 in the low 8, 16 or 24 bits.
    for _, qn in ipairs { 4, 0xFFFFFFFF, 0x80000000, 0x100, 5, 0x10000, 0x1000000 } do
      local c = refused(t, nil, { rdmap.send { QN = qn, MSN = 1, data = "12345678" } }, "DDP_INVALID_QN",
                        string.format("a Send on QN 0x%x", qn))
      t:expect_deliveries(c, {}, "a message on a queue that does not exist is not delivered")
    end
  end,
}

check {
  id = "DDP-7.1-02",
  purpose = "untagged: QN and MSN have a buffer",
  run = function(t)
    local c = t:open { dut = { receives = 2, repost = false } }
    c:send(rdmap.send { data = "one" }, rdmap.send { data = "two" }, rdmap.send { data = "three" })
    local got = c:receive()
    if got.kind == "timeout" then
      -- The device may hold TCP back until there is a receive (DDP-7.1-07): then nothing is lost.
      t.dut:post_recv { stream = t:stream_of(c), count = 1 }
      t:expect_deliveries(c, { "one", "two", "three" }, "a message that waited for its receive is not lost")
      return
    end
    if is_terminate(got, "DDP_MSN_RANGE") then
      t:warn("the third Send into two receives", terminate_text("DDP_NO_BUFFER"), describe(got))
    elseif not is_terminate(got, "DDP_NO_BUFFER") then
      local text = terminate_text("DDP_NO_BUFFER")
      if fits(tcp.closed(), got) then t:warn("the third Send into two receives", text, describe(got)) end
      t:fail("the third Send into two receives", text, describe(got))
    end
    local quoted = c:quoted(got)
    if quoted.header then t:equal("MSN in the quoted header", 3, string.unpack(">I4", quoted.header, 11)) end
    t:expect_deliveries(c, { "one", "two" }, "what had a receive is delivered")
  end,
}

check {
  id = "DDP-7.1-03",
  purpose = "untagged: MO lies in the buffer",
  run = function(t)
    local length = t:receive_length(4096)
    local dut = { receives = 2, receive_octets = length }
    local cases = { { 0xFFFFFFF0, 32 }, { length + 1, 8 }, { 0xFFFFFFFF, 1 }, { 2 * length, 8 }, { 0x10000, 8 }, { 0x80000000, 8 } }
    for _, case in ipairs(cases) do
      if case[1] >= length then
        local c = refused(t, dut, { rdmap.send { MO = case[1], data = pattern(case[2]) } },
                          { "DDP_INVALID_MO", "DDP_TOO_LONG" }, string.format("MO 0x%x in a buffer of %d", case[1], length))
        t:expect_deliveries(c, {}, "a message with an MO outside its buffer is not delivered")
      end
    end
  end,
}

check {
  id = "DDP-7.1-04",
  purpose = "untagged: MO and payload together lie in the buffer",
  run = function(t)
    local length = t:receive_length(4096)
    local c = t:open { dut = { receives = 2, receive_octets = length } }
    for at = 0, length - 97, 1400 do
      c:send(rdmap.send { MSN = 1, MO = at, L = 0, data = pattern(math.min(1400, length - 96 - at)) })
    end
    c:send(rdmap.send { MSN = 1, MO = length - 96, data = pattern(97) })
    local got = c:expect_terminate("DDP_TOO_LONG", { message = "the last segment ends one octet after the buffer" })
    local quoted = c:quoted(got)
    if quoted.header then t:equal("MO in the quoted header", length - 96, string.unpack(">I4", quoted.header, 15)) end
    t:expect_deliveries(c, {}, "a message too long is not delivered")
    local cases = { { length - 1, 3 }, { length - 2, 6 }, { length - 100, 200 }, { length - 1296, 1400 } }
    if t:takes_long() then cases[#cases + 1] = { math.max(0, length - LONG + 1), LONG } end
    for _, case in ipairs(cases) do
      local message = string.format("%d octets at MO %d of a buffer of %d", case[2], case[1], length)
      c = refused(t, { receives = 2, receive_octets = length }, { rdmap.send { MO = case[1], data = pattern(case[2]) } },
                  "DDP_TOO_LONG", message)
      t:expect_deliveries(c, {}, message .. ": a message too long is not delivered")
    end
  end,
}

check {
  id = "DDP-7.1-05",
  role = "both",
  purpose = "untagged: the MSN is the next of its queue: not one before, not one far away",
  run = function(t)
    local zero = refused(t, nil, { rdmap.send { MSN = 0, data = "zero" } },
                         "DDP_MSN_RANGE", "MSN 0 where 1 is due", RANGE.warn)
    t:expect_deliveries(zero, {}, "a message with a wrong MSN is not delivered")
    local twice = refused(t, nil, { rdmap.send { MSN = 1, data = "one" }, rdmap.send { MSN = 1, data = "again" } },
                          "DDP_MSN_RANGE", "MSN 1 for the second time", RANGE.warn)
    t:expect_deliveries(twice, { "one" }, "an MSN is delivered once")
    local far = refused(t, nil, { rdmap.send { MSN = 0x80000001, data = "far" } },
                        { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "MSN 0x80000001 where 1 is due")
    t:expect_deliveries(far, {}, "a message with a wrong MSN is not delivered")
    for _, msn in ipairs { 0xFFFFFFFF, 0x80000000, 0x40000001, 0x10001 } do
      local message = string.format("MSN 0x%x where 1 is due", msn)
      far = refused(t, nil, { rdmap.send { MSN = msn, data = "far" } }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, message)
      t:expect_deliveries(far, {}, message .. " is not delivered")
    end
    local c = t:open()
    local sent, first = { "one", "two", "three", "four" }, c.msn[0]
    for _, data in ipairs(sent) do c:send(rdmap.send { data = data }) end
    c:expect_error(rdmap.send { MSN = first, data = "late" }, "DDP_MSN_RANGE", "the MSN of four messages ago", RANGE)
    t:expect_deliveries(c, sent, "the MSN of four messages ago delivers nothing")
  end,
}

check {
  id = "DDP-7.1-10",
  role = "both",
  purpose = "tagged: the STag is valid: not never given out, not with another key, not given up",
  run = function(t)
    local function refused_stag(stag, names, what)
      t:expect_error(rdmap.write { STag = stag, TO = 0x110000043, data = "12345678" }, names, "a Write to " .. what)
    end
    refused_stag(UNKNOWN_STAG, "DDP_INVALID_STAG", "an STag never given out")
    refused_stag(0, NO_WRITE_RIGHT, "STag 0")
    refused_stag(0xFFFFFFFF, NO_WRITE_RIGHT, "STag 0xFFFFFFFF")
    local m = t:memory()
    refused_stag(m.STag ~ 0xFF, "DDP_INVALID_STAG", "an STag with another key")
    m:check("nothing is placed under another key")
    t.dut:dereg { stag = m.STag }
    refused_stag(m.STag, "DDP_INVALID_STAG", "an STag whose memory was given up")
  end,
}

check {
  id = "DDP-7.1-11",
  purpose = "tagged: the buffer allows placement: an STag for remote read alone takes no Write",
  run = function(t)
    local c = t:open()
    local m = t:memory { access = { "read" } }
    c:expect_error(m:write(0, "12345678"), NO_WRITE_RIGHT, "a Write to an STag enabled for remote read alone")
    m:check("nothing is placed where remote write is not allowed")
    if t:takes_long() then
      local long = t:memory { access = { "read" }, octets = LONG }
      t:expect_error(long:write(0, pattern(LONG)), NO_WRITE_RIGHT, "a Write of " .. LONG .. " octets to an STag enabled for remote read alone")
      long:check("nothing is placed where remote write is not allowed")
    end
    local other = t:command("reg_mr", { length = 64, fill = 0xA5, access = { "remote_atomic" } })
    if other.ok then -- the interface has memory for atomics alone
      m = t:adopt(other)
      t:expect_error(m:write(0, "12345678"), NO_WRITE_RIGHT, "a Write to an STag enabled for atomics alone")
      m:check("nothing is placed where remote write is not allowed")
    end
    local answer = t:command("reg_mr", { length = 64, fill = 0xA5, access = { "local_read" }, local_write = false })
    if not answer.ok then return end -- the interface has no sink that cannot be written
    local sink = t:adopt(answer)
    local number
    c, number = t:operating()
    if not t:try("read", { stream = number, sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = 16 }) then return end
    local got = c:receive()
    if got.kind == "segment" and got.Opcode == 1 then
      local names = { "RDMAP_OPERATION_OTHER", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_CATASTROPHIC", table.unpack(NO_WRITE_RIGHT) }
      c:expect_error(rdmap.read_response { STag = sink.STag, TO = sink.TO, data = ("r"):rep(16) }, names,
                     "a Read Response to a sink that nobody may write to")
    end
    sink:check("a Read Response changes nothing in a sink that nobody may write to")
  end,
}

-- Stimuli whose triple nothing can be said against: what to send, and the error.
local function errors(t)
  local m = t:memory()
  return {
    { rdmap.send { QN = 9, MSN = 1, data = "12345678" }, "DDP_INVALID_QN", called = "QN" },
    { rdmap.send { MSN = 0, data = "12345678" }, "DDP_MSN_RANGE", { "DDP_NO_BUFFER" }, called = "MSN" },
    { rdmap.send { MO = t:receive_length(4096) - 96, data = pattern(97) }, "DDP_TOO_LONG", called = "length" },
    { bad_write(), "DDP_INVALID_STAG", called = "STag" },
    { m:write(-8, "12345678"), "DDP_BOUNDS", called = "base" },
    { m:write(m.octets - 4, "12345678"), "DDP_BOUNDS", called = "end" },
  }
end

check {
  id = "DDP-7.1-17",
  purpose = "each error is reported: one Terminate, the first message on QN 2",
  run = function(t)
    t:each_value("error of", errors(t), function(case)
      local c = t:open { dut = { receives = 2, receive_octets = 4096 } }
      c:send(case[1])
      local got = c:expect_terminate(case[2], { warn = case[3], message = "an error of DDP is reported" })
      if got then
        t:equal("QN of the Terminate", 2, got.QN)
        t:equal("MSN of the Terminate", 1, got.MSN)
      end
      c:expect_end("one Terminate for one error")
    end)
  end,
}

check {
  id = "DDP-7.1-18",
  purpose = "the report holds the header of the segment, as received, and its length",
  run = function(t)
    t:each_value("error of", errors(t), function(case)
      local c = t:open { dut = { receives = 2, receive_octets = 4096 } }
      local ulpdu = c:ulpdu(case[1])
      c:send(raw.segment { data = ulpdu })
      local got = c:expect_terminate(case[2], { warn = case[3], message = "an error of DDP is reported" })
      if got.M ~= 1 or got.D ~= 1 then
        t:warn("the report holds the segment's length and header", "M = 1 D = 1",
               header_bits(got))
      end
      local quoted = c:quoted(got)
      t:equal("the quoted header", hex(ulpdu:sub(1, #quoted.header)), hex(quoted.header))
      if quoted.Length ~= #ulpdu then
        local octets = #ulpdu - #quoted.header
        if quoted.Length == octets then
          t:warn("DDP Segment Length", tostring(#ulpdu), quoted.Length .. ", the payload alone")
        end
        t:equal("DDP Segment Length", #ulpdu, quoted.Length)
      end
    end)
  end,
}

check {
  id = "DDP-7.1-19",
  role = "both",
  purpose = "after an error all that still comes is dropped silently",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(bad_write("bad"), m:write(0, "good Write"),
           rdmap.send { data = "good Send" }, rdmap.write { STag = UNKNOWN_STAG ~ 1, TO = 0, data = "bad again" })
    c:expect_terminate("DDP_INVALID_STAG", { message = "the first of four segments is in error" })
    c:expect_end("one Terminate, though two segments are in error")
    m:check("a Write after an error is not placed")
    t:expect_deliveries(c, {}, "a Send after an error is not delivered")
    t:each_error(function(each, _, what)
      each:expect_end("one Terminate for " .. what .. ", whatever comes after it")
      m:check("a Write after " .. what .. " is not placed")
      t:expect_deliveries(each, {}, "a Send after " .. what .. " is not delivered")
    end, { after = function() return { m:write(0, "good Write"), rdmap.send { data = "good Send" }, bad_write() } end })
  end,
}

check {
  id = "DDP-7.1-20",
  role = "both",
  purpose = "the ULP can send one more message before the stream is ended: the Terminate comes whole, then the end",
  run = function(t)
    local c = t:open()
    local got = c:draw_terminate()
    t:equal("L, QN, MSN and MO of the Terminate", "1 2 1 0", string.format("%d %d %d %d", got.L, got.QN, got.MSN, got.MO))
    c:expect_end("the end after the Terminate")
    t:each_error(function(each, terminate, what)
      t:equal("L, QN, MSN and MO of the Terminate for " .. what, "1 2 1 0",
              string.format("%d %d %d %d", terminate.L, terminate.QN, terminate.MSN, terminate.MO))
    end, {
      without = function(got, what)
        if got.kind == "bad_fpdu" or got.kind == "garbage" then t:fail(what, "a whole Terminate", describe(got)) end
      end,
    })
  end,
}

check {
  id = "DDP-7.1-21",
  purpose = "0x02 and 0x03 belong to the MSN: no buffer after the last receive, range for one used before",
  run = function(t)
    local dut = { receives = 2, repost = false }
    local message = "MSN after the last receive"
    local frames = { rdmap.send { MSN = 1, data = "1" }, rdmap.send { MSN = 2, data = "2" }, rdmap.send { MSN = 3, data = "3" } }
    refused(t, dut, frames, "DDP_NO_BUFFER", message, { "DDP_MSN_RANGE" })
    refused(t, nil, { rdmap.send { MSN = 1, data = "1" }, rdmap.send { MSN = 1, data = "1" } }, "DDP_MSN_RANGE",
            "an MSN that was delivered already", { "DDP_NO_BUFFER" })
    refused(t, nil, { rdmap.send { MSN = 0x80000001, data = "1" } }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "MSN + 2^31")
  end,
}

check {
  id = "DDP-7.1-23",
  purpose = "of several errors of one segment any may be reported, but none that is not there",
  run = function(t)
    local m = t:memory()
    local cases = {
      { m:write(0, pattern(32), { TO = -16 }), { "DDP_TO_WRAP", "DDP_BOUNDS" }, "a TO that wraps, outside the range" },
      { rdmap.write { STag = UNKNOWN_STAG, TO = -16, data = pattern(32) },
        { "DDP_INVALID_STAG", "DDP_TO_WRAP" }, "an unknown STag and a TO that wraps" },
      { rdmap.send { QN = 9, MSN = 0, data = "1" }, { "DDP_INVALID_QN", "DDP_NO_BUFFER", "DDP_MSN_RANGE" },
        "a QN that does not exist, MSN 0" },
      { rdmap.write { STag = UNKNOWN_STAG, TO = 0, DV = 0, data = "1" }, { "DDP_TAGGED_VERSION", "DDP_INVALID_STAG" },
        "another DDP version and an unknown STag" },
    }
    for _, case in ipairs(cases) do refused(t, nil, { case[1] }, case[2], case[3]) end
    m:check("nothing is placed")
  end,
}

check {
  id = "DDP-7.1-24",
  purpose = "an MO at the end of the buffer is outside; one before it with too much payload is too long",
  run = function(t)
    local length = t:receive_length(4096)
    local dut = { receives = 2, receive_octets = length }
    local either = { "DDP_INVALID_MO", "DDP_TOO_LONG" }
    local cases = { { length, 1, either }, { length + 904, 1, either }, { length - 1, 2, "DDP_TOO_LONG" } }
    for _, case in ipairs(cases) do case.called = case[1] end
    t:each_value("MO", cases, function(case)
      local c = refused(t, dut, { rdmap.send { MO = case[1], data = pattern(case[2]) } }, case[3],
                        string.format("%d octets at MO %d of a buffer of %d", case[2], case[1], length))
      t:expect_deliveries(c, {}, "a message that leaves its buffer is not delivered")
    end)
  end,
}

check {
  id = "DDP-7.1-25",
  purpose = "an STag without the right to write has no code of DDP's own, but nothing is placed",
  run = function(t)
    local m = t:memory { access = { "read" } }
    t:expect_error(m:write(0, "12345678"), NO_WRITE_RIGHT, "a Write to an STag enabled for remote read alone")
    m:check("nothing is placed where remote write is not allowed")
  end,
}

check {
  id = "DDP-7.1-26",
  purpose = "an MSN beyond the next one is never delivered before it",
  run = function(t)
    local c = t:open { dut = { receives = 4 } }
    c:send(rdmap.send { MSN = 2, data = "two" })
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      t:expect_deliveries(c, {}, "MSN 2 is not delivered before MSN 1")
      c:send(rdmap.send { MSN = 1, data = "one" })
      t:expect_deliveries(c, { "one", "two" }, "both are delivered, in the order of their MSNs")
      return
    end
    t:expect_deliveries(c, {}, "MSN 2 is not delivered before MSN 1")
    c:judge_close(got, terminate_text("DDP_MSN_RANGE"))
    if not is_terminate(got, "DDP_MSN_RANGE") then
      t:fail("MSN 2 where 1 is due", terminate_text("DDP_MSN_RANGE"), describe(got))
    end
  end,
}

check {
  id = "DDP-7.2-01",
  role = "both",
  purpose = "errors are reported with DDP's types and codes in layer 1",
  run = function(t)
    t:each_value("error of", errors(t), function(case)
      local c = t:open { dut = { receives = 2, receive_octets = 4096 } }
      c:send(case[1])
      local got = c:expect_any_terminate("an error of DDP is reported", { close = "warn" })
      local wanted = wire.triple(case[2])
      if case[3] and got.triple == wire.triple(case[3][1]) then wanted = got.triple end
      t:equal("Layer, EType and Error Code of the Terminate", wire.describe(wanted), wire.describe(got.triple))
    end)
  end,
}

check {
  id = "DDP-7.2-03",
  purpose = "type 1 code 2: the STag exists, but belongs to another stream",
  run = function(t)
    local a, b, m, whose = t:apart()
    a:expect_error(m:write(0, "12345678"), "DDP_NOT_ASSOCIATED", "an STag " .. whose, { warn = { "DDP_INVALID_STAG" } })
    m:check("nothing is placed from a stream that the STag does not belong to")
    b:send(m:write(0, "of its own"))
    b:probe { message = "the stream that the STag belongs to goes on" }
    m:patch(0, "of its own")
    m:check("the stream that the STag belongs to places")
    local foreign = t:memory { pd = 2 }
    local c = t:open()
    c:expect_error(foreign:write(0, "12345678"), "DDP_NOT_ASSOCIATED",
                   "an STag of another domain", { warn = { "DDP_INVALID_STAG" } })
    foreign:check("nothing is placed from another domain")
  end,
}

local function wrong_version(t, make, name, what)
  for _, version in ipairs { 0, 2, 3 } do
    local c = t:open()
    local ulpdu = c:ulpdu(make(version))
    local got = c:expect_error(raw.segment { data = ulpdu }, name, string.format("DV = %d in %s", version, what))
    local quoted = got and c:quoted(got) or {}
    if quoted.header then t:equal("control octet in the quoted header", ulpdu:byte(1), quoted.header:byte(1)) end
    t:expect_deliveries(c, {}, "a segment of another DDP version is not delivered")
  end
end

check {
  id = "DDP-7.2-04",
  role = "both",
  purpose = "type 1 code 4: another DDP version in a tagged segment",
  run = function(t)
    local m = t:memory()
    wrong_version(t, function(version) return m:write(0, "12345678", { DV = version }) end, "DDP_TAGGED_VERSION", "a Write")
    m:check("a segment of another DDP version is not placed")
  end,
}

check {
  id = "DDP-7.2-05",
  role = "both",
  purpose = "type 2 code 6: another DDP version in an untagged segment",
  run = function(t)
    wrong_version(t, function(version) return rdmap.send { DV = version, data = "12345678" } end, "DDP_UNTAGGED_VERSION",
                  "a Send")
  end,
}

check {
  id = "DDP-7.2-06",
  llp = "tcp",
  purpose = "type 3 is the LLP's: an error of MPA is reported in layer 2",
  run = function(t)
    local c = t:open()
    c:probe() -- a responder may send only after the initiator's first FPDU (RFC 5044 7.1.2)
    c:send(fpdu(rdmap.send { data = "12345678" }, { crc_flip = 1 }))
    local outcome, got = c:mpa_outcome({ "MPA_CRC" }, "an FPDU with a wrong CRC")
    if outcome == "accepted" then t:fail("an FPDU with a wrong CRC", terminate_text("MPA_CRC"), describe(got)) end
    t:expect_deliveries(c, {}, "a segment with a wrong CRC is not delivered")
    if outcome ~= "terminate" then
      t:skip("the device drops an FPDU with a wrong CRC silently (RFC 5044 8): it reports no error of the LLP")
    end
  end,
}

check {
  id = "DDP-6.2.2-02",
  llp = "tcp",
  role = "both",
  purpose = "a fatal error of the LLP is told to the ULP, which terminates the stream",
  run = function(t)
    local c = t:open()
    c:draw_crc_terminate()
    c:expect_end("the end after the Terminate")
  end,
}

check {
  id = "DDP-6.2.2-03",
  role = "both",
  purpose = "an invalid DDP header is fatal: the stream ends with each of the errors of 7.1",
  run = function(t)
    t:each_value("error of", errors(t), function(case)
      local c = t:open { dut = { receives = 2, receive_octets = 4096 } }
      c:send(case[1])
      c:expect_terminate(case[2], { warn = case[3], message = "an invalid DDP header ends the stream" })
      c:expect_end("the end after the Terminate")
    end)
  end,
}
