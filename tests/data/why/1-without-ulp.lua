-- SPDX-License-Identifier: BSD-2-Clause
--
-- Ends of connections without a ULP, one situation a capture: what each quotes, and who broke which rule first
-- (RFC 5040 4.8, RFC 5044 7.1). tests/e2e/why.sh holds the sentences to 1-without-ulp.txt.
corpus { folder = "without-ulp", format = "pcap", text = "# Ends without a ULP\n" }

local plain <const>, with_crc <const> = { C = 0 }, {}
local send <const>, write <const>, read <const> = talk {}.send, talk {}.write, talk {}.read

local function each(name, about, run)
  capture { name = name, about = about, run = function()
    local t = talk {}
    run(t)
    t:finish()
  end }
end

-- The ULPDU of a side's n-th FPDU, as it lies in the stream behind its start-up frame. No Markers.
local function sent(side, n)
  local at = side.marks[n + 1] + 2
  return side.stream:sub(at, at + string.unpack(">I2", side.stream:sub(at - 2, at)))
end

-- A Terminate that quotes a segment, its control word in the order of a little-endian compiler's bit-fields.
local function swapped(triple, ulpdu)
  local error = wire.triple(triple)
  return terminate_for(triple, ulpdu, { Layer = error >> 8 & 0xF, EType = error >> 12, M = 0, D = 0, Reserved = 0x300 })
end

each("right-fields", "a Terminate quotes a Write, all its fields right", function(t)
  t:open(plain)
  t.i:send(send(24), write(0xDEAD, 64))
  t.r:send(terminate_for("DDP_INVALID_STAG", sent(t.i, 2)))
end)

each("swapped-fields", "a Terminate whose nibbles are swapped: its own fault comes after what it is about", function(t)
  t:open(plain)
  t.i:send(write(0xDEAD, 64))
  t.r:send(swapped("DDP_INVALID_STAG", sent(t.i, 1)))
  t.r:reset()
end)

each("many-segments", "a Terminate quotes the second segment of a Send of four", function(t)
  t:open(plain)
  t.i:send_each(segments(rdmap.send, {}, counting(4000), 1000))
  t.r:send(terminate_for("DDP_TOO_LONG", sent(t.i, 2)))
end)

each("read-request", "a Terminate quotes a Read Request with its header", function(t)
  t:open(with_crc)
  t.i:send(read(900))
  t.r:send(terminate_for("RDMAP_BOUNDS", sent(t.i, 1)))
end)

each("crc", "a CRC is wrong, a Terminate reports it and quotes nothing, a reset follows", function(t)
  t:open(with_crc)
  t.i:send(fpdu(send(40), { crc_flip = 1 }))
  t.r:send(terminate_for("MPA_CRC"))
  t.r:reset()
end)

each("crc-reset", "a CRC is wrong, and a reset is all that comes", function(t)
  t:open(with_crc)
  t.i:send(send(40))
  t.i:send(fpdu(send(41), { crc_flip = 1 }))
  t.r:reset()
end)

each("never-sent", "a Terminate quotes a header that nobody sent", function(t)
  t:open(plain)
  t.i:send(send(24))
  t.r:send(terminate_for("DDP_INVALID_STAG", write(0xBEEF, 10)))
end)

each("quotes-nothing", "a Terminate quotes nothing, and no rule was broken before it", function(t)
  t:open { C = 0, enhanced = { A = 1, C = 1, IRD = 4, ORD = 4 } }
  t.i:send(terminate_for("MPA_CATASTROPHIC"))
end)

each("rejected", "the responder rejects, and no rule was broken", function(t)
  t:open({ C = 0, enhanced = { IRD = 4, ORD = 9 } }, { C = 0, R = 1, enhanced = { IRD = 2, ORD = 4 } })
end)

each("reset", "a reset without a reason", function(t)
  t:open(with_crc)
  t.i:send(send(40))
  t.r:send(send(40))
  t.i:reset()
end)

each("both", "both sides break rules: a wrong MO, then FPDUs of a side that has terminated", function(t)
  t:open(plain)
  t.i:send(send(24))
  t.i:send(rdmap.send { MO = 12, data = counting(20) })
  t.r:send(terminate_for("DDP_INVALID_MO", sent(t.i, 2)))
  t.r:send(send(16))
  t.r:reset()
end)

each("version", "the Reply has another revision, long before the reset", function(t)
  t:open({ C = 0 }, { C = 0, Rev = 3 })
  t.i:reset()
end)
