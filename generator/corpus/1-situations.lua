-- SPDX-License-Identifier: BSD-2-Clause
--
-- One capture for each situation that a decoder of iWARP has to master: opcodes, Terminates, framing, loss, late
-- captures. Frame and segment numbers matter: tests and tests/data/dissector/ name them.
corpus { folder = "generated", format = "pcap", start = 1700000000, step = 0.00025, text = [[
# Generated captures

Written by `warpcheck gen --corpus DIR` out of `generator/corpus/*.lua`, always the same to the octet: made by the project,
no traffic of anybody. Checksums of IP and TCP are right; unless the table says otherwise everything is lawful, and what is
found (`findings.tsv`) is the fault that the capture was made for. `every-opcode.pcap` has an Atomic whose mask is not all
ones, as many send it: RFC 7306 5.2.1 only recommends that.

`make check` makes them anew, compares them with those in git, audits them, and compares what the Wireshark plugin shows of
each with `tests/data/dissector/`.
]] }

local plain <const>, with_crc <const>, with_markers <const> = { C = 0 }, {}, { M = 1 }
local send <const>, write <const> = talk {}.send, talk {}.write

capture {
  name = "every-opcode", about = "every opcode, enhanced start-up, RTR",
  findings = { { "ATOM-5.2.1-13", "WARN", 11 } },
  run = function()
    local t = talk {}
    local word = { A = 1, C = 1, D = 1, IRD = 4, ORD = 3 }
    t:open({ enhanced = word }, { enhanced = { A = 1, C = 1, IRD = 4, ORD = 3 } })
    t.i:send(t.write(0, 0))
    t.i:send(send(40),
             rdmap.send_invalidate { InvalidateSTag = 0x1234, data = counting(41) },
             rdmap.send_se { data = counting(42) },
             rdmap.send_se_invalidate { InvalidateSTag = 0x1234, data = counting(43) },
             rdmap.immediate { Data = 0x0102030405060708 },
             rdmap.immediate { Opcode = 9, Data = 0x0102030405060708 })
    t.i:send(segments(rdmap.write, { STag = 0xB1, TO = 0x1000 }, counting(700):rep(2), 700))
    t.i:send(t.read(900))
    t.r:send(segments(rdmap.read_response, { STag = 0xA1, TO = 0x1000 }, counting(300):rep(3), 300))
    for i, opcode in ipairs { 0, 2, 1 } do
      t.i:put(rdmap.atomic_request { AOpCode = opcode, RequestId = 76 + i, STag = 0xC1, TO = 0x3000, Data = 5 })
    end
    t.i:flush()
    for i = 77, 79 do t.r:put(rdmap.atomic_response { RequestId = i, Value = 42 }) end
    t.r:flush()
    t:finish()
  end,
}

capture {
  name = "terminate-untagged", about = "Terminate that quotes an untagged header",
  run = function()
    local t, read = talk {}, nil
    t:open(plain)
    read = t.read(900)
    t.i:send(send(24), read)
    t.r:send(terminate_for("RDMAP_BOUNDS", read))
    t:finish()
  end,
}

capture {
  name = "terminate-tagged", about = "Terminate that quotes a tagged header",
  run = function()
    local t = talk {}
    t:open(plain)
    t.i:send(write(0xDEAD, 64))
    t.r:send(terminate_for("DDP_INVALID_STAG", write(0xDEAD, 64)))
    t:finish()
  end,
}

local function mixed(side)
  side:put(send(20), send(701), write(0xB1, 2900), send(62), send(1250))
end

local function with_framing(request, reply, given)
  local t = talk(given)
  t:open(request, reply)
  mixed(t.i)
  t.i:flush()
  mixed(t.r)
  t.r:flush(900)
  t:finish()
end

capture {
  name = "markers-both", about = "Markers both ways, several FPDUs a segment",
  run = function()
    with_framing(with_markers, with_markers)
  end,
}

capture {
  name = "markers-one-way", about = "Markers one way",
  run = function()
    with_framing(with_markers, with_crc)
  end,
}

capture {
  name = "markers-without-crc", about = "Markers, no CRC",
  run = function()
    with_framing({ C = 0, M = 1 }, { C = 0, M = 1 })
  end,
}

capture {
  name = "marker-wrong", about = "a wrong FPDUPTR",
  findings = { { "MPA-4.2-02", "FAIL", 8 }, { "MPA-4.3-05", "FAIL", 6 }, { "MPA-4.3-17", "FAIL", 6 } },
  run = function()
    local t = talk {}
    t:open { C = 0, M = 1 }
    mixed(t.i)
    local first = t.i.marks[2] -- where the first FPDU begins
    local low = t.i.stream:sub(first + 515, first + 516):byte()
    t.i:overwrite(first + 515, string.char(low ~ 0x08))
    t.i:overwrite(first + 1025, "\1") -- reserved
    t.i:flush()
    t:finish()
  end,
}

capture {
  name = "octet-by-octet", about = "segments of 1, 5 and 7 octets",
  run = function()
    local t = talk {}
    t:handshake()
    t.i:put(mpa.request {})
    t.r:put(mpa.reply {})
    t.i:flush(7)
    t.r:flush(1)
    t.i:put(send(20), send(3))
    t.i:flush(5)
    t.r:put(send(17))
    t.r:flush(1)
    t:finish()
  end,
}

capture {
  name = "short-tails", about = "segments that end 1 to 7 octets into an FPDU",
  run = function()
    local t = talk {}
    t:open(with_crc)
    for octets = 1, 7 do -- that the segment has of the second FPDU
      t.i:put(send(20 + octets), send(50))
      t.i:packet { from = t.i.sent, to = t.i.marks[#t.i.marks - 1] + octets }
      t.i:flush()
    end
    t:finish()
  end,
}

capture {
  name = "behind-the-reply", about = "FPDUs after the Reply in one segment",
  findings = { { "MPA-7.1.2-17", "FAIL", 5 } },
  run = function()
    local t = talk {}
    t:handshake()
    t.i:send(mpa.request {})
    t.r:send(mpa.reply {}, send(30), send(31))
    t.i:send(send(32))
    t:finish()
  end,
}

capture {
  name = "many-in-one", about = "nine FPDUs in one segment",
  run = function()
    local t = talk {}
    t:open(plain)
    for i = 0, 8 do t.i:put(send(16 + i)) end
    t.i:flush()
    t.r:send(send(44))
    t:finish()
  end,
}

capture {
  name = "out-of-order", about = "segments out of order",
  run = function()
    local t = talk {}
    t:open(with_crc)
    local from = t.i.sent
    for i = 0, 5 do t.i:put(send(100 + 3 * i)) end
    for _, at in ipairs { 0, 400, 200 } do t.i:packet { from = from + at, to = from + at + 200 } end
    t.i:flush()
    t:finish()
  end,
}

capture {
  name = "retransmitted", about = "new octets after retransmitted ones",
  run = function()
    local t = talk {}
    t:open(with_crc)
    local from = t.i:put(send(100), send(110))
    t.i:flush()
    t.i:packet { from = from, to = #t.i.stream }
    t.i:put(send(120))
    t.i:packet { from = from + 50, to = #t.i.stream }
    t:finish()
  end,
}

-- One segment of unaligned FPDUs is missing in the capture; the peer has it.
local function lost(word, count)
  local t = talk {}
  t:open(word)
  local from = t.i.sent
  for i = 0, count - 1 do t.i:put(send(100 + 3 * i)) end
  t.i:packet { from = from, to = from + 300 }
  t.i.sent = from + 800
  while t.i.sent < #t.i.stream do
    t.i:packet { from = t.i.sent, to = math.min(t.i.sent + 500, #t.i.stream) }
    t.r:ack()
  end
  t:finish()
end

capture {
  name = "lost-with-crc", about = "a lost segment, CRC",
  run = function()
    lost(with_crc, 40)
  end,
}

capture {
  name = "lost-with-markers", about = "a lost segment, Markers and CRC",
  run = function()
    lost(with_markers, 40)
  end,
}

capture {
  name = "four-tuple-reuse", about = "4-tuple used again",
  run = function()
    local t = talk {}
    t:open(plain)
    t.i:send(send(33))
    t:finish()
    t.iss = { t.iss[1] + 70000, t.iss[2] + 90000 }
    t:anew()
    t:open(with_markers)
    t.i:put(send(34), send(1200))
    t.i:flush()
    t:finish()
  end,
}

capture {
  name = "snapped", about = "capture of 128 octets a frame",
  snap = 128,
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(send(700))
    t.i:put(segments(rdmap.write, { STag = 0xB1, TO = 0x1000 }, counting(900):rep(2), 900))
    t.i:flush(920)
    t.r:send(t.read(500))
    t.i:send(t.response(500))
    t:finish()
  end,
}

-- The capture begins after the start-up frames.
local function mid_stream(word)
  local t = talk {}
  t.i:lose(mpa.request(word))
  t.r:lose(mpa.reply(word))
  t.i:lose(send(500))
  for i = 0, 3 do t.i:send(send(900 + i)) end
  for i = 0, 1 do t.r:send(send(300 + i)) end
  t:finish()
end

capture {
  name = "mid-stream-with-crc", about = "begins in mid-stream, CRC",
  run = function()
    mid_stream(with_crc)
  end,
}

capture {
  name = "mid-stream-with-markers", about = "begins in mid-stream, Markers",
  run = function()
    mid_stream(with_markers)
  end,
}

capture {
  name = "mid-stream-without-crc", about = "begins in mid-stream, neither",
  run = function()
    mid_stream(plain)
  end,
}

capture {
  name = "one-way", about = "only the Initiator captured",
  run = function()
    local t = talk {}
    t.i:put(mpa.request {})
    t.r:lose(mpa.reply {})
    t.i:syn { acknowledgment = 0 }
    t.i:ack()
    t.i:flush()
    for i = 0, 39 do t.i:send(send(50 + i)) end
    t.i:fin()
  end,
}

capture {
  name = "sequence-wrap", about = "sequence numbers wrap",
  run = function()
    with_framing(with_markers, with_markers, { iss = { 0xFFFFFFFF - 3000, 0xFFFFFFFF - 7000 } })
  end,
}

capture {
  name = "bad-crc", about = "a bad CRC",
  findings = { { "MPA-4.4-14", "FAIL", 7 } },
  run = function()
    local t = talk {}
    t:open(with_crc)
    for i = 0, 2 do
      t.i:put(send(40 + i))
      local at = #t.i.stream - 10
      if i == 1 then t.i:overwrite(at, string.char(t.i.stream:sub(at, at + 1):byte() ~ 1)) end
      t.i:flush()
    end
    t:finish()
  end,
}

capture {
  name = "short-sends", about = "Sends of 0 to 16 octets",
  run = function()
    local t = talk {}
    t:open(plain)
    for _, octets in ipairs { 0, 1, 4, 8, 12, 15, 16 } do t.i:send(send(octets)) end
    t:finish()
  end,
}

capture {
  name = "long-sends", about = "Sends of several segments",
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:put(segments(rdmap.send, {}, counting(600):rep(3), 600))
    t.i:put(segments(rdmap.send, {}, counting(64):rep(2), 64))
    t.i:flush(1000)
    t:finish()
  end,
}

capture {
  name = "send-at-offset", about = "a Send without its beginning",
  findings = { { "DDP-4.3-16", "FAIL", 6 } },
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(rdmap.send { MO = 4000, data = counting(97) })
    t:finish()
  end,
}

capture {
  name = "short-ulpdus", about = "ULPDUs too short for a header",
  findings = { { "DDP-4.4-01", "FAIL", 6 }, { "MPA-7.1.2-24", "FAIL", 6 } },
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(raw.segment { data = "" })
    t.i:send(raw.segment { data = "\x41\x43\0\0" })
    t.i:send(send(20))
    t:finish()
  end,
}

capture {
  name = "rejected", about = "rejected",
  run = function()
    local t = talk {}
    t:open({}, { C = 0, R = 1, private_data = "no" })
    t:finish()
  end,
}

capture {
  name = "not-negotiated", about = "depths not negotiated",
  run = function()
    local t = talk {}
    t:open { C = 0, enhanced = { IRD = 0x3FFF, ORD = 0x3FFF } }
    t.i:send(send(20))
    t:finish()
  end,
}

capture {
  name = "wrong-rtr", about = "an RTR of a kind not agreed",
  findings = { { "EMPA-9.2-20", "FAIL", 6 } },
  run = function()
    local t = talk {}
    t:open { C = 0, enhanced = { A = 1, D = 1, IRD = 1, ORD = 1 } }
    t.i:send(write(0, 0))
    t:finish()
  end,
}

capture {
  name = "private-data", about = "private data",
  run = function()
    local rpc, nvme = unhex "F6AB0E18 01010303", string.pack(">I4I2I2", 0x100, 0x8000, 0x7F00) .. string.rep("\0", 24)
    local t = talk {}
    for _, words in ipairs { { rpc, rpc }, { nvme }, { string.pack(">I4I4", 16, 1) } } do
      t:open({ C = 0, private_data = words[1] }, { C = 0, private_data = words[2] })
      t:finish()
      t.port = t.port + 1
      t:anew()
    end
  end,
}

capture {
  name = "malformed-start", about = "malformed start-up frame",
  findings = { { "MPA-7.1.1-32", "FAIL", 4 } },
  run = function()
    local t = talk {}
    t:handshake()
    t.i:put(mpa.request { C = 0, PD_Length = 600 }, send(20))
    t.i:flush()
    t:finish()
  end,
}

capture {
  name = "over-ipv6", about = "IPv6",
  run = function()
    with_framing(with_markers, with_markers, { ipv6 = true })
  end,
}
