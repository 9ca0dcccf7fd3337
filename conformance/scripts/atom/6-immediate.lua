-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 6: Immediate Data, as the device's ULP sees it.

defaults { llp = "any" }

local EIGHT = "\1\2\3\4\5\6\7\8"

local function immediate(octets, given)
  local f = copy_fields(given)
  f.Data = string.unpack(">i8", octets)
  return rdmap.immediate(f)
end

-- An opcode 8 with so many octets.
local function of_length(c, octets)
  return raw.segment { data = c:ulpdu(rdmap.send { Opcode = 8, data = pattern(octets, 1) }) }
end

local WRONG_LENGTH = { "RDMAP_OPCODE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER", "RDMAP_CATASTROPHIC",
                       "DDP_TOO_LONG" }

-- Immediate Data of each length is refused and not delivered.
local function refused(t, lengths)
  for _, octets in ipairs(lengths) do
    local c = t:open()
    t:stream_of(c)
    c:expect_error(of_length(c, octets), WRONG_LENGTH, "Immediate Data of " .. octets .. " octets", { next = true })
    t:equal("deliveries of Immediate Data of " .. octets .. " octets", 0, #t:deliveries(c))
  end
end

check {
  id = "ATOM7306-6-01",
  role = "both",
  purpose = "a lone Immediate Data is delivered, with no Write before it",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:send(immediate(EIGHT))
    t:expect_deliveries(c, { EIGHT }, "Immediate Data without a Write before it")
  end,
}

check {
  id = "ATOM-6.1-03",
  role = "both",
  purpose = "the ULP gets all eight octets, in their order, and learns which kind it is",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:send(immediate(EIGHT), immediate("\xF1\xF2\xF3\xF4\xF5\xF6\xF7\xF8", { Opcode = 9 }))
    local got = t:expect_deliveries(c, { EIGHT, "\xF1\xF2\xF3\xF4\xF5\xF6\xF7\xF8" }, "Immediate Data")
    t:equal("the first one's opcode", 8, t:event_member(got[1], "opcode"))
    t:equal("the second one's opcode", 9, t:event_member(got[2], "opcode"))
  end,
}

check {
  id = "ATOM-6.1-04",
  role = "both",
  purpose = "opcode 9 asks for a Solicited Event, and by the draft opcode 8 does not",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:send(immediate(EIGHT), immediate(EIGHT, { Opcode = 9 }))
    local got = t:expect_deliveries(c, { EIGHT, EIGHT }, "Immediate Data")
    t:equal("Solicited Event for opcode 9", true, t:event_member(got[2], "solicited"))
    if got[1].solicited then t:warn("Solicited Event for opcode 8", "none (RFC 7306 tolerates it)", "one") end
  end,
}

check {
  id = "ATOM-6.1-06",
  role = "both",
  purpose = "Immediate Data in error: the ULP is told and a Terminate is sent",
  run = function(t)
    local c = t:open()
    local stream = t:stream_of(c)
    c:expect_error(of_length(c, 9), WRONG_LENGTH, "Immediate Data of 9 octets", { next = true })
    t:expect_event("error", { stream = stream }, "the ULP learns of Immediate Data in error", "an error event of the stream")
  end,
}

check {
  id = "ATOM-6.3-02",
  purpose = "Immediate Data takes one receive",
  run = function(t)
    local c = t:open { dut = { receives = 1, repost = false } }
    t:stream_of(c)
    c:send(immediate(EIGHT))
    t:expect_deliveries(c, { EIGHT }, "Immediate Data into the one receive")
    c:send(rdmap.send { data = "second" })
    local got = c:receive(t.quiet)
    t:expect_deliveries(c, { EIGHT }, "the Send after it is not delivered")
    c:judge_close(got, terminate_text("DDP_NO_BUFFER") .. ", or nothing")
    if is_terminate(got, "DDP_MSN_RANGE") then
      t:note("a message without a buffer draws MSN range, not no buffer")
    elseif got.kind ~= "timeout" and got.triple ~= wire.triple("DDP_NO_BUFFER") then
      t:fail("the Send after finds no receive", terminate_text("DDP_NO_BUFFER") .. ", or nothing", describe(got))
    end
  end,
}

check {
  id = "ATOM-6.3-03",
  role = "both",
  purpose = "Immediate Data is delivered in the order sent, Sends among it",
  run = function(t)
    local c = t:open { dut = { receives = 128 } }
    t:stream_of(c)
    local frames, wanted, opcodes = {}, {}, {}
    for i = 1, 100 do
      local octets = string.pack(">I8", i)
      wanted[i], opcodes[i] = octets, i % 3 == 0 and 3 or 8 + i % 2
      frames[i] = i % 3 == 0 and rdmap.send { data = octets } or immediate(octets, { Opcode = opcodes[i] })
    end
    -- At once: a list of its own for Immediate Data is emptied before or after the Sends. Of the second half the first
    -- comes last, so that all of it is delivered in one moment over each LLP.
    c:send(table.unpack(frames, 1, 50))
    local order = {}
    for i = 1, 50 do order[i] = i % 50 + 1 end
    c:send_shuffled({ table.unpack(frames, 51) }, order)
    local got = t:expect_deliveries(c, wanted, "Immediate Data and Sends in one burst")
    for i, delivery in ipairs(got) do t:equal("opcode of delivery " .. i .. " of 100", opcodes[i], delivery.opcode or opcodes[i]) end
  end,
}

check {
  id = "ATOM-6.2-02",
  role = "both",
  purpose = "no byte order is named for Immediate Data: the octets arrive as they were sent, or reversed as a whole",
  run = function(t)
    local c = t:open()
    local stream = t:stream_of(c)
    c:send(immediate(EIGHT))
    local event = t:await_event("receive", { stream = stream, opcode = 8 })
    local data = event and unhex(t:event_member(event, "data")) or ""
    if data == string.reverse(EIGHT) then t:ambiguous("a number of 64 bits in the host's order") end
    t:equal("octets of Immediate Data in memory", hex(EIGHT), hex(data))
  end,
}

check {
  id = "ATOM-7-01",
  role = "both",
  purpose = "Immediate Data and Sends complete in the order in which they were sent",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:send(immediate(EIGHT), rdmap.send { data = "between" }, immediate(string.reverse(EIGHT)))
    t:expect_deliveries(c, { EIGHT, "between", string.reverse(EIGHT) }, "Immediate Data, a Send, Immediate Data")
  end,
}

check {
  id = "ATOM-6.3-07",
  role = "both",
  purpose = "the receiver checks that Immediate Data has exactly eight octets",
  run = function(t) refused(t, { 0, 7, 9, 16 }) end,
}

check {
  id = "ATOM-6.3-08",
  purpose = "which error a wrong length draws is not named: the device's is recorded",
  run = function(t)
    local c = t:open()
    c:send(of_length(c, 9))
    local terminate = c:expect_terminate(WRONG_LENGTH, { message = "Immediate Data of 9 octets", next = true })
    t:note("Immediate Data of 9 octets: " .. wire.describe(terminate.triple))
  end,
}

check {
  id = "ATOM7306-6.3-01",
  role = "both",
  purpose = "the length of Immediate Data is that of the DDP Segment",
  run = function(t) refused(t, { 7, 9 }) end,
}

check {
  id = "ATOM-6.3-09",
  role = "both",
  purpose = "Immediate Data in two segments is one message, or an error",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:send(rdmap.send { Opcode = 8, L = 0, MO = 0, data = EIGHT:sub(1, 4) }, rdmap.send { Opcode = 8, MO = 4, data = EIGHT:sub(5) },
           empty_read(1))
    local got = c:expect_one_of { rdmap.read_response { STag = 1 }, rdmap.terminate {}, message = "two segments of Immediate Data" }
    t:expect_deliveries(c, got.Opcode == 7 and {} or { EIGHT }, "Immediate Data in two segments")
    t:note("Immediate Data in two segments is " .. (got.Opcode == 7 and "refused" or "taken"))
  end,
}

check {
  id = "ATOM-6.1-02",
  role = "both",
  purpose = "the source's ULP learns that its Immediate Data is done",
  run = function(t)
    local c = t:open_for_posting()
    t:post_immediate(c, EIGHT, { id = 71 })
    c:expect(rdmap.immediate { Data = 0x0102030405060708 }, { message = "Immediate Data that the device was asked for" })
    t:expect_event("immediate_done", { id = 71 }, "Immediate Data completes at its source")
  end,
}

check {
  id = "ATOM-6.1-07",
  role = "both",
  purpose = "the source's ULP learns of the Terminate that its Immediate Data drew",
  run = function(t)
    local c = t:open_for_posting()
    local stream = t:stream_of(c)
    t:post_immediate(c, EIGHT)
    c:expect(rdmap.immediate {}, { message = "Immediate Data that the device was asked for" })
    c:send(rdmap.terminate { Layer = 1, EType = 2, Code = 2 })
    local event = t:await_event("terminate_received", { stream = stream })
    if not event then t:fail("the ULP is told of a Terminate", "terminate_received", "nothing") end
    t:equal("the triple that the ULP is told", "1/2/2", t:event_member(event, "layer") .. "/" .. event.etype .. "/" .. event.code)
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- What the device sends

check {
  id = "ATOM-6-01",
  role = "both",
  purpose = "a Write, then the Immediate Data after it: eight octets",
  run = function(t)
    local c = t:open_for_posting()
    local stream = t:stream_of(c)
    t.dut:write { stream = stream, stag = 5, to = 0, data = hex(pattern(64)) }
    t:post_immediate(c, EIGHT)
    c:expect(rdmap.write { STag = 5, data = pattern(64) }, { message = "the Write goes first" })
    local got = c:expect(rdmap.immediate { Data = 0x0102030405060708 }, { message = "the Immediate Data follows" })
    t:equal("octets of the Immediate Data's DDP Segment", 26, #got.ulpdu)
  end,
}

check {
  id = "ATOM-6.2-01",
  role = "both",
  purpose = "the eight octets follow the DDP header at once, unchanged",
  run = function(t)
    local c = t:open_for_posting()
    for opcode = 8, 9 do
      t:post_immediate(c, EIGHT, { solicited = opcode == 9 })
      local got = c:receive()
      t:equal("octets 18 to 25 of the DDP Segment", hex(EIGHT), hex((got.ulpdu or ""):sub(19, 26)))
      t:equal("opcode", opcode, got.Opcode)
      t:equal("octets of the DDP Segment", 26, #got.ulpdu)
    end
  end,
}

check {
  id = "ATOM-6.3-06",
  role = "both",
  purpose = "Immediate Data leaves in the order in which it was submitted",
  run = function(t)
    local c = t:open_for_posting()
    local stream = t:stream_of(c)
    -- A Read that waits for its response and all of ORD after it keep what is posted together.
    local sink = t:memory { octets = 64, access = {} }
    for _ = 1, 5 do t.dut:read { stream = stream, source_stag = 9, sink_stag = sink.STag, sink_to = string.format("0x%x", sink.TO), length = 8 } end
    t.dut:write { stream = stream, stag = 5, to = 0, data = "11" }
    t:post_immediate(c, EIGHT)
    t.dut:send { stream = stream, data = "22" }
    t:post_immediate(c, string.reverse(EIGHT))
    c.answers_when_due = true
    for _ = 1, 4 do
      local read = c:expect(rdmap.read_request {}, { message = "Reads that were posted first" })
      c.reads = c.reads or {}
      c.reads[#c.reads + 1] = read
    end
    local function answer(read) c:send(rdmap.read_response { STag = read.SinkSTag, TO = read.SinkTO, data = pattern(8) }) end
    if not c.reads[1].answered then answer(c.reads[1]) end
    c:expect(rdmap.read_request {}, { message = "the fifth Read" })
    c:expect(rdmap.write { data = "\x11" }, { message = "first the Write" })
    c:expect(rdmap.immediate { Data = 0x0102030405060708 }, { message = "then Immediate Data" })
    c:expect(rdmap.send { data = "\x22" }, { message = "then the Send" })
    c:expect(rdmap.immediate { Data = 0x0807060504030201 }, { message = "then the second Immediate Data" })
  end,
}
