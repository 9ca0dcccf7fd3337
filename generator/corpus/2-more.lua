-- SPDX-License-Identifier: BSD-2-Clause
--
-- More situations: start-up, messages of several segments, ULPs, and streams that are hard to follow.
corpus { folder = "generated", start = 1700000000, step = 0.00025 }

local plain <const>, with_crc <const>, with_markers <const> = { C = 0 }, {}, { M = 1 }
local send <const>, write <const> = talk {}.send, talk {}.write

capture {
  name = "split-start", about = "start-up frames cut within their first 20 octets",
  run = function()
    local t = talk {}
    t:handshake()
    t.i:put(mpa.request { private_data = ("private data that is cut somewhere" .. ("\0"):rep(6)) })
    t.i:packet { from = 0, to = 10 }
    t.i:flush()
    t.r:put(mpa.reply {})
    t.r:packet { from = 0, to = 19 }
    t.r:flush()
    t.i:send(send(31))
    t.r:put(send(30))
    t.r:flush(9)
    t:finish()
  end,
}

capture {
  name = "start-out-of-order", about = "second part of the Request first",
  run = function()
    local t = talk {}
    t:handshake()
    t.i:put(mpa.request {})
    t.r:put(mpa.reply {})
    t.i:packet { from = 12, to = 20 }
    t.i:packet { from = 0, to = 12 }
    t.r:flush()
    t.i:send(send(32))
    t.r:send(send(33))
    t:finish()
  end,
}

capture {
  name = "revision-0", about = "start-up of Revision 0, Markers and CRC",
  run = function()
    local t = talk {}
    t:open { Rev = 0, M = 1 }
    t.i:send(send(600))
    t.r:send(send(600))
    t:finish()
  end,
}

capture {
  name = "private-iser", about = "private data of iSER",
  run = function()
    local t = talk {}
    t:open { C = 0, private_data = unhex "C0000000" }
    t:finish()
  end,
}

capture {
  name = "faulty-replies", about = "five Replies that do not answer their Requests: no kind of RTR, A not echoed, too much ORD, another revision, S without Rev 2",
  findings = {
    { "EMPA-10-01", "FAIL", 29 }, { "EMPA-6-07", "FAIL", 37 },
    { "EMPA-9.1-12", "FAIL", 21 }, { "EMPA-9.2-12", "FAIL", 5 }, { "EMPA-9.2-13", "FAIL", 13 },
    { "EMPA-9.2-28", "FAIL", 13 }, { "MPA-7.1.1-19", "FAIL", 37 },
  },
  run = function()
    local request = { C = 0, enhanced = { A = 1, C = 1, IRD = 4, ORD = 4 } }
    local t = talk {}
    for _, reply in ipairs {
      { C = 0, enhanced = { A = 1, IRD = 4, ORD = 4 } },         -- no kind of RTR
      { C = 0, enhanced = { C = 1, IRD = 4, ORD = 4 } },         -- A is not echoed
      { C = 0, enhanced = { A = 1, C = 1, IRD = 4, ORD = 9 } },  -- more than the Request's IRD
      { C = 0, Rev = 3 },                                        -- a revision that was not asked for
      { C = 0, Rev = 1, S = 1 },                                 -- S without Rev 2
    } do
      t:open(request, reply)
      t:finish()
      t.port = t.port + 1
      t:anew()
    end
  end,
}

capture {
  name = "terminate-mpa", about = "Terminates with the codes of RFC 6581 8",
  run = function()
    local t = talk {}
    for _, name in ipairs { "MPA_CATASTROPHIC", "MPA_INSUFFICIENT_IRD", "MPA_NO_MATCHING_RTR" } do
      t:open { C = 0, enhanced = { A = 1, C = 1, IRD = 4, ORD = 4 } }
      t.i:send(terminate_for(name))
      t:finish()
      t.port = t.port + 1
      t:anew()
    end
  end,
}

capture {
  name = "long-messages", about = "Send, Write and Read Response of three segments, mixed",
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:put(segments(rdmap.write, { STag = 0xB1, TO = 0x1000 }, counting(400):rep(3), 400))
    t.i:put(segments(rdmap.send, {}, counting(200):rep(3), 200))
    t.i:put(t.read(900))
    t.i:flush()
    local response = { segments(rdmap.read_response, { STag = 0xA1, TO = 0x1000 }, counting(300):rep(3), 300) }
    t.r:put(response[1], send(40), response[2], response[3])
    t.r:flush(500)
    t.i:send(segments(rdmap.write, { STag = 0xB2, TO = 0x1000 }, counting(64):rep(2), 64))
    t:finish()
  end,
}

capture {
  name = "messages-with-holes", about = "the middle of a Send and the end of a Write are missing",
  run = function()
    local t = talk {}
    t:open(with_crc)
    for count = 3, 1, -1 do t.i:put(segments(rdmap.send, {}, counting(500):rep(count), 500)) end
    t.i:put(segments(rdmap.write, { STag = 0xB1, TO = 0x1000 }, counting(500):rep(2), 500))
    t.i:put(segments(rdmap.write, { STag = 0xB2, TO = 0x1000 }, counting(500):rep(2), 500))
    for _ = 1, 10 do t.i:put(send(20)) end -- so that the holes are known not to be filled any more
    for i = 2, #t.i.marks - 1 do
      if i == 3 or i == 9 then
        t.i.sent = t.i.marks[i + 1]
      else
        t.i:packet { from = t.i.marks[i], to = t.i.marks[i + 1] }
      end
      t.r:ack()
    end
    t:finish()
  end,
}

capture {
  name = "atomics", about = "AOpCodes of both profiles and of neither, masks, reserved bits that are set",
  findings = {
    { "ATOM-5.2.1-02", "FAIL", 10 }, { "ATOM-5.2.1-04", "FAIL", 12 }, { "ATOM-5.2.1-11", "FAIL", 6 },
    { "ATOM-5.2.1-13", "WARN", 6 },
  },
  run = function()
    local t = talk {}
    t:open(with_crc)
    for i, opcode in ipairs { 0, 1, 2, 7 } do
      t.i:send(rdmap.atomic_request { Reserved = i == 3 and 0x123 or 0, AOpCode = opcode, RequestId = 99 + i, STag = 0xC1,
                                      TO = 0x3000, Data = 5, Mask = 0xFF00, CompareData = 9, CompareMask = 0x00FF })
      t.r:send(rdmap.atomic_response { RequestId = 99 + i, Value = 42 })
    end
    t:finish()
  end,
}

capture {
  name = "behind-the-terminate", about = "a Send after a Terminate",
  findings = { { "RDMAP-5.4-10", "FAIL", 7 } },
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(write(0xDEAD, 64))
    t.r:send(terminate_for("DDP_INVALID_STAG", write(0xDEAD, 64)), send(20))
    t:finish()
  end,
}

local function words(list) return string.pack(">" .. ("I4"):rep(#list), table.unpack(list)) end

capture {
  name = "nfs-rdma", about = "NFS calls over RDMA, one in two segments",
  run = function()
    local call = function(id) return words { id, 1, 8, 0, 0, 0, 0, id, 0, 2, 100003, 3, 0, 0, 0, 0, 0 } end
    local t = talk {}
    t:open(with_crc)
    t.i:send(rdmap.send { data = call(0x77) })
    t.r:send(rdmap.send { data = words { 0x77, 1, 8, 0, 0, 0, 0, 0x77, 1, 0, 0, 0, 0 } })
    t.i:put(rdmap.send { L = 0, data = call(0x78):sub(1, 32) }, rdmap.send { MO = 32, data = call(0x78):sub(33) })
    t.i:flush(60)
    t:finish()
  end,
}

capture {
  name = "smb-direct", about = "SMB Direct negotiates",
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(rdmap.send { data = unhex "0001000100000a000004000000040000 00000200" })
    t.r:send(rdmap.send { data = unhex "0001000100010000ff00ff0000000000 00000200000400000004000000000200" })
    t:finish()
  end,
}

capture {
  name = "waits-at-the-end", about = "ends after a hole, without a FIN",
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:send(send(50))
    local from = t.i:put(send(60), send(61), send(62))
    t.i:packet { from = from, to = from + 30 }
    t.i:packet { from = t.i.marks[#t.i.marks - 2], to = #t.i.stream }
  end,
}

capture {
  name = "unaligned", about = "40 FPDUs, none aligned with a TCP segment",
  findings = { { "MPA-5.1-04", "WARN", 42 } },
  run = function()
    local t = talk { mss = 1460 }
    t:open(with_crc)
    for i = 0, 39 do
      t.i:put(send(300 + i))
      while #t.i.stream - t.i.sent >= 477 do t.i:packet { from = t.i.sent, to = t.i.sent + 477 } end
      if i % 8 == 0 then t.r:ack() end
    end
    t.i:flush(477)
    t:finish()
  end,
}

-- Only one side was captured; no FIN says more.
local function one_side(role, word)
  local t = talk {}
  local side = t[role]
  t.i:put(mpa.request(word))
  t.r:put(mpa.reply(word))
  side.peer.sent = 20
  side:syn { acknowledgment = role == "i" and 0 or nil }
  side:flush()
  for i = 0, 39 do side:send(send(50 + 7 * i)) end
  side:fin()
end

capture {
  name = "one-way-responder", about = "only the Responder captured",
  run = function()
    one_side("r", with_crc)
  end,
}

capture {
  name = "one-way-with-markers", about = "only the Initiator captured, Markers",
  run = function()
    one_side("i", with_markers)
  end,
}

capture {
  name = "one-way-without-crc", about = "only the Initiator captured, neither CRC nor Markers",
  run = function()
    one_side("i", plain)
  end,
}

capture {
  name = "markers-alone", about = "one FPDU a segment, several Markers in each",
  run = function()
    local t = talk {}
    t:open(with_markers)
    for i = 0, 3 do (i % 2 == 0 and t.i or t.r):send(send(1250 + i)) end
    t:finish()
  end,
}

local function cut(word)
  local t = talk {}
  t:open(word)
  for i = 0, 3 do t.i:send(send(600 + i), write(0xB1, 700 + i)) end
  t:finish()
end

capture {
  name = "snapped-without-crc", about = "capture of 96 octets a frame, no CRC",
  snap = 96,
  run = function()
    cut(plain)
  end,
}

capture {
  name = "snapped-with-markers", about = "capture of 96 octets a frame, Markers",
  snap = 96,
  run = function()
    cut(with_markers)
  end,
}

-- Neither CRC nor Markers: headers are all there is.
capture {
  name = "lost-without-crc", about = "a lost segment, neither CRC nor Markers",
  run = function()
    local t = talk {}
    t:open(plain)
    local from = t.i.sent
    for i = 0, 29 do t.i:put(send(100 + 3 * i)) end
    t.i:packet { from = from, to = from + 300 }
    t.i.sent = from + 800
    while t.i.sent < #t.i.stream do
      t.i:packet { from = t.i.sent, to = math.min(t.i.sent + 500, #t.i.stream) }
      t.r:ack()
    end
    t:finish()
  end,
}

capture {
  name = "wrap-unaligned", about = "sequence numbers wrap inside an FPDU",
  run = function()
    local t = talk { iss = { 0xFFFFFFFF - 4200, 0xFFFFFFFF - 6000 } }
    t:open(with_crc)
    for i = 0, 19 do (i % 2 == 0 and t.i or t.r):put(send(400 + i)) end
    t.i:flush(510)
    t.r:flush(511)
    t:finish()
  end,
}

-- The first octets count.
capture {
  name = "overlap-differs", about = "a retransmission with other octets",
  run = function()
    local t = talk {}
    t:open(with_crc)
    local from = t.i:put(send(100), send(110))
    t.i:packet { from = from, to = from + 60 }
    t.i:overwrite(from + 40, ("\xEE"):rep(20))
    t.i:packet { from = from + 40, to = #t.i.stream }
    t:finish()
  end,
}

capture {
  name = "not-iwarp", about = "no iWARP at all",
  run = function()
    local t, out = talk {}, {}
    for i = 0, 2999 do out[i + 1] = string.char(i * i % 251) end
    t.i:put(table.concat(out))
    t.i:flush(1000)
    t.i:fin()
  end,
}

capture {
  name = "reset", about = "RST in the middle of an FPDU",
  run = function()
    local t = talk {}
    t:open(with_crc)
    t.i:put(send(70))
    t.i:packet { from = t.i.sent, to = #t.i.stream - 30 }
    t.r:reset()
  end,
}

capture {
  name = "three-flows", about = "three connections whose segments take turns",
  run = function()
    local flows = {}
    for i, word in ipairs { plain, with_crc, with_markers } do
      flows[i] = talk { port = 39999 + i, time = 0.0001 * (i - 1), iss = { 7000 * i, 7000 * i } }
      flows[i]:open(word)
    end
    for turn = 0, 11 do
      local t = flows[turn % 3 + 1]
      t.i:put(send(700 + turn), send(800 + turn))
      t.i:flush(1000)
      t.r:send(send(40 + turn))
    end
    for _, t in ipairs(flows) do t:finish() end
  end,
}

-- Messages as Linux's iwpmd sends them: its Request has 16 octets more than the text's.
capture {
  name = "port-mapper", about = "the port mapper over UDP: a Request of each form, Accept, Ack and Reject; a connection to the port that stands for 4420",
  run = function()
    local AP <const>, CP <const> = "10.77.0.2", "10.77.0.1"
    local function address(text) return string.char(text:match("(%d+)%.(%d+)%.(%d+)%.(%d+)")) .. ("\0"):rep(12) end
    local function say(type, port, handle, added)
      local asks = type == 0 or type == 2
      local said = wire.pack("port_mapper", { MT = type, IPVer = 4, Reserved = added or 0, ApPort = port, CpPort = 40000,
                                              AssocHandle = handle, CpIPAddr = address(CP), ApIPAddr = address(AP) })
      packet(net.udp { source = asks and CP or AP, destination = asks and AP or CP, source_port = asks and 51000 or 3935,
                       destination_port = asks and 3935 or 51000,
                       payload = said .. (added and wire.pack("port_mapper_mapped", { MappedCpIPAddr = address(CP) }) or "") })
    end
    say(0, 4420, 0x1000, 50001)
    say(1, 41001, 0x1000)
    say(2, 41001, 0x1000)
    say(0, 4421, 0x1010)
    say(3, 4421, 0x1010)
    local f = flow { initiator = { address = CP, port = 50001 }, responder = { address = AP, port = 41001 } }
    f:open()
    f.initiator:send(rdmap.send { data = "hello" })
    f.responder:ack()
    f.responder:reset()
  end,
}
