-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 1.2, 2.4, 3.1, 4.1, 4.2: the messages that the device makes of what its ULP posts.

defaults { llp = "any" }

local STAG, TO = 0x12345678, 0x100000003

-- The QN of a segment of the operation `opcode`. One that says to be of another queue's operation is of another message
-- (a message before may have ended too early), and has the QN of that (RFC 5040 4.1).
local function queue_of(segment, opcode)
  local own = segment.Opcode
  if own == nil or own < 1 or own > 6 or own == 2 then own = opcode end
  return own == 1 and "00000001" or "00000000"
end

-- Each operation of the device with 64 and with 5000 octets: judge(what, opcode, octets, segments, payload).
local function each_operation(t, judge)
  local c, number = t:operating()
  local sink = t:memory { octets = 5000 }
  c.answers_when_due = true
  for _, octets in ipairs { 64, 5000 } do
    local function done(opcode)
      local what = string.format("opcode %d, %d octets", opcode, octets)
      judge(what, opcode, octets, c:receive_message(what))
    end
    t.dut:write { stream = number, stag = STAG, to = TO, length = octets }
    done(0)
    t.dut:send { stream = number, length = octets }
    done(3)
    t.dut:send { stream = number, length = octets, invalidate = STAG }
    done(4)
    t.dut:send { stream = number, length = octets, solicited = true }
    done(5)
    t.dut:send { stream = number, length = octets, solicited = true, invalidate = STAG }
    done(6)
    t:post_read(c, sink, { source_stag = STAG, source_to = TO, length = octets })
    done(1)
  end
end

local function headers(opcode) return opcode == 0 and 14 or 18 end

check {
  id = "RDMAP-1.2-01",
  role = "both",
  purpose = "each Send and each Write is one message, whatever its size",
  run = function(t)
    local c, number = t:operating()
    local mulpdu = t.dut:status { stream = number }.mulpdu or 1454 -- not every device reports it: of 1460 octets of TCP
    local msn = c.first
    for _, octets in ipairs { 0, 1, mulpdu - 18, mulpdu - 14, 100000 } do
      t.dut:write { stream = number, stag = STAG, to = TO, length = octets }
      local _, data = c:receive_message("a Write of " .. octets .. " octets")
      t:equal("octets of the one Write", octets, #data)
      t.dut:send { stream = number, length = octets }
      local segments
      segments, data = c:receive_message("a Send of " .. octets .. " octets")
      t:equal("octets of the one Send", octets, #data)
      for _, got in ipairs(segments) do t:equal("MSN of a Send's segment", msn, got.MSN) end
      msn = msn + 1
    end
    t:equal("what follows", "timeout", c:receive(t.quiet).kind)
  end,
}

check {
  id = "RDMAP-2.4-02",
  role = "both",
  purpose = "each stream counts its own messages",
  run = function(t)
    local a, b = t:pair()
    local sink = t:memory()
    for _, c in ipairs { a, b } do
      c:probe()
      c.answers_when_due = true
    end
    local first = t.role == "initiator" and 2 or 1
    for i = 0, 3 do
      for _, c in ipairs { a, b } do
        t.dut:send { stream = c.stream, data = hex("1234") }
        c:expect(rdmap.send { QN = 0, MSN = first + i, data = "1234" }, { message = "Send " .. i + 1 .. " of one of two streams" })
        t.dut:read { stream = c.stream, sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = 4 }
        c:expect(rdmap.read_request { QN = 1, MSN = 1 + i }, { message = "Read " .. i + 1 .. " of one of two streams" })
      end
    end
  end,
}

check {
  id = "RDMAP-3.1-01",
  role = "both",
  purpose = "whatever the device sends is a DDP Segment: DDP's control octet, then RDMAP's",
  sandwich = "startup",
  judges = { "framing", "reads", "send from" },
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      for _, got in ipairs(segments) do
        t:equal(what .. ": DV", 1, got.ulpdu:byte(1) & 3)
        t:equal(what .. ": RV and opcode", string.format("%02x", 0x40 | opcode), hex(got.ulpdu:sub(2, 2)))
        if #got.ulpdu < headers(opcode) then t:fail(what, "a whole DDP header", #got.ulpdu .. " octets") end
      end
    end)
  end,
}

check {
  id = "RDMAP-3.1-03",
  role = "both",
  purpose = "Sends that wait together stay messages of their own",
  run = function(t)
    local c, number = t:operating()
    local sizes = {}
    c:window(0)
    t.dut:write { stream = number, stag = STAG, to = TO, length = t.large }
    for i = 1, 20 do
      sizes[i] = i % 5 == 0 and 5000 or i
      t.dut:send { stream = number, length = sizes[i] }
    end
    c:window(65535)
    c:receive_message("a Write before the Sends")
    for i, octets in ipairs(sizes) do
      local segments, data = c:receive_message("Send " .. i)
      t:equal("octets of Send " .. i, octets, #data)
      for _, got in ipairs(segments) do t:equal("MSN of Send " .. i, c.first + i - 1, got.MSN) end
    end
  end,
}

check {
  id = "RDMAP-3.1-05",
  role = "both",
  purpose = "RsvdULP has 1 octet in tagged segments and 5 in untagged ones",
  sandwich = "startup",
  judges = { "framing", "reads", "send from" },
  run = function(t)
    each_operation(t, function(what, opcode, octets, segments)
      local taken = 0
      for _, got in ipairs(segments) do taken = taken + #got.ulpdu - headers(opcode) end
      t:equal(what .. ": octets after the DDP headers", opcode == 1 and 28 or octets, taken)
    end)
  end,
}

check {
  id = "RDMAP-4.1-01",
  role = "both",
  purpose = "RDMAP's control octet is the first of RsvdULP",
  sandwich = "startup",
  judges = { "framing", "reads", "send from" },
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      for _, got in ipairs(segments) do
        t:equal(what .. ": octet 1", string.format("%02x", 0x40 | opcode), hex(got.ulpdu:sub(2, 2)))
      end
    end)
  end,
}

check {
  id = "RDMAP-4.1-04",
  role = "both",
  purpose = "the Tagged flag is the same in all segments of a message, and goes by its opcode",
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      for i, got in ipairs(segments) do
        t:equal(what .. ": T of segment " .. i, opcode == 0 and 1 or 0, got.ulpdu:byte(1) >> 7)
      end
    end)
  end,
}

check {
  id = "RDMAP-3.1-02",
  role = "both",
  purpose = "three untagged queues: 0 for all Sends, 1 for Read Requests, 2 for the Terminate",
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      for _, got in ipairs(segments) do
        if opcode ~= 0 then t:equal(what .. ": QN", queue_of(got, opcode), hex(got.ulpdu:sub(7, 10))) end
      end
    end)
    local c = t:operating()
    c:send(rdmap.send { Opcode = 0xC, data = "x" })
    local got = c:expect_segment("an unexpected opcode", "a Terminate")
    t:equal("QN of the Terminate", "00000002", hex(got.ulpdu:sub(7, 10)))
  end,
}

check {
  id = "RDMAP-3.1-04",
  role = "both",
  purpose = "RsvdULP is the same in all segments of a message, as RDMAP gave it",
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      local last = opcode == 0 and 2 or 6
      for i, got in ipairs(segments) do
        t:equal(what .. ": RsvdULP of segment " .. i, hex(segments[1].ulpdu:sub(2, last)), hex(got.ulpdu:sub(2, last)))
      end
    end)
  end,
}

check {
  id = "RDMAP-4.1-02",
  role = "both",
  purpose = "RDMAP's control octet: RV in its high bits, then two reserved ones, then the opcode",
  sandwich = "startup",
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      local control = segments[1].ulpdu:byte(2)
      t:equal(what .. ": RV, reserved bits and opcode", "1 0 " .. opcode,
              string.format("%d %d %d", control >> 6, control >> 4 & 3, control & 15))
    end)
  end,
}

check {
  id = "RDMAP-4.1-15",
  role = "both",
  purpose = "Writes and Read Responses carry STag and TO of the sink, all others a Queue Number",
  sandwich = "startup",
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      local at = TO
      for _, got in ipairs(segments) do
        if opcode == 0 then
          t:equal(what .. ": STag and TO", string.format("%08x %016x", STAG, at), hex(got.ulpdu:sub(3, 6)) .. " " .. hex(got.ulpdu:sub(7, 14)))
          at = at + #got.ulpdu - 14
        else
          t:equal(what .. ": QN", queue_of(got, opcode), hex(got.ulpdu:sub(7, 10)))
        end
      end
    end)
    local c, m = t:open(), t:memory { data = pattern(3000) }
    c:send(m:read(0, 3000, { SinkSTag = 0x0A0B0C0D, SinkTO = TO }))
    c:expect_response(0x0A0B0C0D, TO, pattern(3000), "a Read Response of 3000 octets")
  end,
}

check {
  id = "RDMAP-5.1-10",
  role = "both",
  purpose = "one Write has one STag, from its first segment to its last",
  run = function(t)
    local c, number = t:operating()
    for _, stag in ipairs { STAG, 0x0A0B0C0D } do
      t.dut:write { stream = number, stag = stag, to = TO, length = 10000 }
      for i, got in ipairs(c:receive_message("a Write")) do
        t:equal("STag of segment " .. i, string.format("%08x", stag), hex(got.ulpdu:sub(3, 6)))
      end
    end
  end,
}

local PAST_OCTET = 260 -- messages: their numbers take more than 8 bits

check {
  id = "RDMAP-5.2.1-03",
  role = "both",
  purpose = "each Read Request takes one buffer of QN 1, and none of QN 0",
  run = function(t)
    local ord = t:depth("ord", 32)
    local c, number = t:operating { ord = ord }
    local sink = t:memory()
    c.answers_when_due = true -- of a device that has fewer open than its ORD
    for i = 1, PAST_OCTET do
      if i > ord then c:answer_open() end
      t:post_read(c, sink, { source_stag = STAG, length = 8 })
      t:equal("QN and MSN of Read " .. i, string.format("00000001%08x", i), hex(c:receive_message("Read " .. i)[1].ulpdu:sub(7, 14)))
      t.dut:send { stream = number, length = 8 }
      t:equal("QN and MSN of Send " .. i, string.format("00000000%08x", c.first + i - 1), hex(c:receive_message("Send " .. i)[1].ulpdu:sub(7, 14)))
    end
  end,
}

check {
  id = "RDMAP-5.3-17",
  role = "both",
  purpose = "control field and STag of a Send with Invalidate stand in each of its segments",
  run = function(t)
    local c, number = t:operating()
    for _, solicited in ipairs { false, true } do
      t.dut:send { stream = number, length = 5000, invalidate = STAG, solicited = solicited }
      for i, got in ipairs(c:receive_message("a Send with Invalidate")) do
        t:equal("octets 1 to 5 of segment " .. i, string.format("%02x%08x", solicited and 0x46 or 0x44, STAG), hex(got.ulpdu:sub(2, 6)))
      end
    end
  end,
}

check {
  id = "RDMAP-4.2-03",
  role = "both",
  purpose = "payload follows the DDP header at once in Writes, Sends and Read Responses",
  sandwich = "startup",
  run = function(t)
    each_operation(t, function(what, opcode, octets, _, data)
      if opcode ~= 1 and data ~= counted(octets) then
        t:fail(what .. ": payload", hex(counted(16)) .. " ...", #data .. " octets: " .. hex(data:sub(1, 16)) .. " ...")
      end
    end)
    local c, m = t:open(), t:memory { data = pattern(3000) }
    c:send(m:read(0, 3000))
    c:expect_response(0x51A6, 0, pattern(3000), "a Read Response of 3000 octets")
  end,
}

check {
  id = "RDMAP-4.2-01",
  role = "both",
  purpose = "the header of a Read Request is 28 octets right after the DDP header",
  run = function(t)
    local c, number = t:operating { ord = 8 }
    local sink = t:memory { octets = 1 << 20 }
    c.answers_when_due = true
    for _, octets in ipairs { 0, 1, 4096, 1 << 20 } do
      t:post_read(c, sink, { source_stag = STAG, source_to = TO, length = octets })
      local segments = c:receive_message("a Read of " .. octets .. " octets")
      t:equal("octets of the ULPDU", 46, #segments[1].ulpdu)
      t:equal("MO and L", "00000000 1", hex(segments[1].ulpdu:sub(15, 18)) .. " " .. (segments[1].ulpdu:byte(1) >> 6 & 1))
      t:equal("RDMARDSZ", octets, string.unpack(">I4", segments[1].ulpdu, 31))
    end
  end,
}

check {
  id = "RDMAP-4.2-04",
  role = "both",
  purpose = "nothing follows the header of a Read Request, whatever waits after it",
  run = function(t)
    local c, number = t:operating()
    local sink = t:memory()
    t:post_read(c, sink, { source_stag = STAG, source_to = TO, length = 9 })
    t.dut:send { stream = number, data = hex("after the Read") }
    t:equal("octets of the Read Request's ULPDU", 46, #c:receive_message("a Read")[1].ulpdu)
    local _, data = c:receive_message("a Send after the Read")
    t:equal("octets of the Send", "after the Read", data)
  end,
}

check {
  id = "RDMAP-6.1-02",
  role = "both",
  purpose = "between start-up and the end only RDMA Messages go over the stream",
  sandwich = "startup",
  judges = { "reads", "framing" },
  run = function(t)
    each_operation(t, function(what, opcode, _, segments)
      for _, got in ipairs(segments) do t:equal(what .. ": opcode", opcode, opcode_of(got)) end
    end)
    local c = t:open()
    c:probe()
    local got = c:finish()
    if not fits(tcp.closed(), got) then t:fail("the end of the stream", "FIN or RST", describe(got)) end
  end,
}
