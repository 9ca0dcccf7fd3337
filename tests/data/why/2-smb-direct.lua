-- SPDX-License-Identifier: BSD-2-Clause
--
-- Ends of connections with SMB Direct ([MS-SMBD]) above them, one situation a capture. tests/e2e/why.sh holds the
-- sentences to 2-smb-direct.txt, and every rule of conformance/requirements/smbd.tsv is broken by one of them.
corpus { folder = "smb-direct", format = "pcap", text = "# Ends with SMB Direct\n" }

local REQUEST <const> = { MinVersion = 0x100, MaxVersion = 0x100, CreditsRequested = 10, PreferredSendSize = 1364,
                          MaxReceiveSize = 1364, MaxFragmentedSize = 1 << 20 }
local RESPONSE <const> = { MinVersion = 0x100, MaxVersion = 0x100, NegotiatedVersion = 0x100, CreditsRequested = 10,
                           CreditsGranted = 3, MaxReadWriteSize = 1 << 20, PreferredSendSize = 1364,
                           MaxReceiveSize = 1364, MaxFragmentedSize = 1 << 20 }

local function with(fields, given)
  local out = {}
  for name, value in pairs(fields) do out[name] = value end
  for name, value in pairs(given or {}) do out[name] = value end
  return out
end

-- A Data Transfer with so many octets of data.
local function data(octets, given)
  local fields = with({ CreditsRequested = 10, CreditsGranted = 1, DataOffset = octets > 0 and 24 or 0,
                        DataLength = octets }, given)
  local payload = octets > 0 and ("\0"):rep(4) .. counting(octets) or ""
  return rdmap.send { data = wire.pack("smbd_data", fields) .. payload }
end

-- The ULPDU of a side's n-th FPDU, as it lies in the stream behind its start-up frame. No Markers.
local function sent(side, n)
  local at = side.marks[n + 1] + 2
  return side.stream:sub(at, at + string.unpack(">I2", side.stream:sub(at - 2, at)))
end

local function each(name, about, run, request, response, depths)
  capture { name = name, about = about, run = function()
    local t = talk {}
    local said = depths or {}
    t:open({ C = 0, private_data = said[1] }, { C = 0, private_data = said[2] })
    t.i:send(rdmap.send { data = wire.pack("smbd_request", with(REQUEST, request)) })
    t.r:send(rdmap.send { data = wire.pack("smbd_response", with(RESPONSE, response)) })
    run(t)
    t:finish()
  end }
end

local function reset(t) t.r:reset() end

-- The question of a kernel's developer in 2023: "why it's going wrong".
each("too-long", "a Send of 16,520 octets where 1,364 were negotiated, and the Terminate about it", function(t)
  t.i:send(data(0, { CreditsGranted = 10 }))
  t.i:send(data(100))
  t.r:send(data(200))
  t.i:send_each(segments(rdmap.send, {}, data(16496):octets():sub(wire.size("ddp_untagged") + 1), 1424))
  t.r:send(terminate_for("DDP_TOO_LONG", sent(t.i, 4)))
  t.r:reset()
end)

each("healthy", "credits, data and fragments as they should be, then a reset", function(t)
  t.i:send(data(0, { CreditsGranted = 10 }))
  t.i:send(data(1340, { RemainingDataLength = 500 }))
  t.r:send(data(16, { CreditsGranted = 2 }))
  t.i:send(data(500))
  t.i:reset()
end)

each("no-credit", "four messages with three credits", function(t)
  for _ = 1, 4 do t.i:send(data(40)) end
  t.r:send(terminate_for("DDP_NO_BUFFER", sent(t.i, 5)))
end)

each("last-credit", "the last credit is used without granting one, and both sides wait", function(t)
  t.i:send(data(40), data(40))
  t.i:send(data(40, { CreditsGranted = 0 }))
  t.i:reset()
end)

each("flags", "Flags with a bit that is not defined", function(t)
  t.i:send(data(40, { Flags = 0x8001 }))
  reset(t)
end)

each("asks-for-none", "a Data Transfer asks for no credits", function(t)
  t.i:send(data(40, { CreditsRequested = 0 }))
  reset(t)
end)

each("unaligned", "the data follow the header at once", function(t)
  t.i:send(data(40, { DataOffset = 20 }))
  reset(t)
end)

each("beyond", "the data reach beyond the message", function(t)
  t.i:send(data(40, { DataLength = 41 }))
  reset(t)
end)

each("fragments", "the fragments together are more than the other side puts together", function(t)
  t.i:send(data(1000, { RemainingDataLength = 1 << 20 }))
  reset(t)
end)

each("headless", "a message without a header", function(t)
  t.i:send(rdmap.send { data = counting(12) })
  reset(t)
end)

each("request-credits", "the Request asks for no credits", reset, { CreditsRequested = 0 })
each("request-receives", "the Request's MaxReceiveSize is too small", reset, { MaxReceiveSize = 127 })
each("request-fragments", "the Request's MaxFragmentedSize is too small", reset, { MaxFragmentedSize = 65536 })
each("response-version", "the Response names no version", function(t) t.i:reset() end, nil, { NegotiatedVersion = 0 })
each("response-receives", "the Response's MaxReceiveSize is too small", function(t) t.i:reset() end, nil, { MaxReceiveSize = 64 })
each("response-fragments", "the Response's MaxFragmentedSize is too small", function(t) t.i:reset() end, nil,
     { MaxFragmentedSize = 65536 })
each("response-grants", "the Response grants no credits", function(t) t.i:reset() end, nil, { CreditsGranted = 0 })
each("response-credits", "the Response asks for no credits", function(t) t.i:reset() end, nil, { CreditsRequested = 0 })
each("response-sends", "the Response would send more than the Request receives", function(t) t.i:reset() end, nil,
     { PreferredSendSize = 8192 })
each("refused", "the Response refuses: nothing is negotiated", function(t) t.i:reset() end, nil,
     { Status = 0xC00000BB, CreditsGranted = 0 })

-- Before RFC 6581 the depths were in the Private Data: IRD and ORD, in either order of octets.
local BIG <const>, LITTLE <const> = string.pack(">I4I4", 2, 8), string.pack("<I4I4", 8, 2)

-- SMB2 READ and WRITE ([MS-SMB2] 2.2.19, 2.2.21) of 600 octets at Offset 0x10000 of a Token, in a Data Transfer.
local READ <const>, WRITE <const>, RDMA <const>, INVALIDATE <const>, PENDING <const> = 8, 9, 1, 2, 0x103

local function smb2(flags, command, id, body, status)
  return string.pack("<c4I2I2I4I2I2I4I4I8", "\xfeSMB", 64, 1, status or 0, command, 1, flags, 0, id) .. ("\0"):rep(32) .. body
end

local function carried(message, kind, given)
  local fields = { CreditsRequested = 10, CreditsGranted = 3, DataOffset = 24, DataLength = #message }
  return (kind or rdmap.send)(with({ data = wire.pack("smbd_data", fields) .. ("\0"):rep(4) .. message }, given))
end

local function request(command, id, token, channel)
  local tail = string.pack("<I4I4I2I2", channel, 0, 112, 16)
  local fixed = command == READ and string.pack("<I2", 49) .. ("\0"):rep(34) .. tail or string.pack("<I2", 49) .. ("\0"):rep(30) .. tail .. ("\0"):rep(4)
  return carried(smb2(0, command, id, fixed .. wire.pack("smbd_descriptor", { Offset = 0x10000, Token = token, Length = 600 })))
end

local function response(command, id, status, invalidates)
  return carried(smb2(1, command, id, ("\0"):rep(16), status), invalidates and rdmap.send_invalidate, invalidates and { InvalidateSTag = invalidates })
end

local function written(token, octets, at)
  return rdmap.write { STag = token, TO = 0x10000 + (at or 0), data = counting(octets) }
end

-- The Responder reads `octets` from the Token; the Initiator answers.
local function fetch(t, token, octets)
  t.r:send(rdmap.read_request { SinkSTag = 1, SinkTO = 0x1000, RDMARDSZ = octets, SrcSTag = token, SrcTO = 0x10000, MSN = 1 })
  t.i:send(rdmap.read_response { STag = 1, TO = 0x1000, data = counting(octets) })
end

each("shares", "a READ whose memory is written and invalidated, a WRITE whose memory is read", function(t)
  t.i:send(request(READ, 5, 0xA1, INVALIDATE))
  t.r:send(response(READ, 5, PENDING))
  t.r:send(written(0xA1, 600))
  t.r:send(response(READ, 5, 0, 0xA1))
  t.i:send(request(WRITE, 6, 0xA2, RDMA))
  fetch(t, 0xA2, 600)
  t.r:send(response(WRITE, 6))
  t.i:reset()
end)

each("another-token", "the data of a READ are written to memory that no request named", function(t)
  t.i:send(request(READ, 5, 0xA1, RDMA))
  t.r:send(written(0xA0, 600))
  t.i:send(terminate_for("DDP_INVALID_STAG", sent(t.r, 2)))
end)

each("wrong-way", "the memory of a READ is read", function(t)
  t.i:send(request(READ, 5, 0xA1, RDMA))
  fetch(t, 0xA1, 600)
  t.i:reset()
end)

each("client-writes", "the client writes memory of the server", function(t)
  t.i:send(request(WRITE, 5, 0xA1, RDMA))
  t.i:send(written(0xA1, 600))
  t.r:send(terminate_for("DDP_INVALID_STAG", sent(t.i, 3)))
end)

each("rounded-up", "the data of a READ are written in a whole page", function(t)
  t.i:send(request(READ, 5, 0xA1, RDMA))
  t.r:send(written(0xA1, 1024))
  t.i:send(terminate_for("DDP_BOUNDS", sent(t.r, 2)))
end)

each("written-late", "the response comes before the last octets", function(t)
  t.i:send(request(READ, 5, 0xA1, RDMA))
  t.r:send(written(0xA1, 400))
  t.r:send(response(READ, 5))
  t.r:send(written(0xA1, 200, 400))
  t.i:send(terminate_for("DDP_INVALID_STAG", sent(t.r, 4)))
end)

each("invalidates-unasked", "a response invalidates memory of a request that did not ask for it", function(t)
  t.i:send(request(READ, 5, 0xA1, RDMA))
  t.r:send(written(0xA1, 600))
  t.r:send(response(READ, 5, 0, 0xA1))
  t.i:reset()
end)

each("encrypted", "where SMB2 is encrypted, nothing is known of memory", function(t)
  t.i:send(carried("\xfdSMB" .. counting(100)))
  t.r:send(written(0xA1, 600))
  t.i:reset()
end)

local function reads(t, count)
  for i = 1, count do t.r:send(rdmap.read_request { SinkSTag = 1, SinkTO = 0x1000 * i, RDMARDSZ = 64, SrcSTag = 2, SrcTO = 0x10000, MSN = i }) end
end

each("depths-kept", "as many Reads at once as the other side's Private Data says", function(t)
  t.i:send(request(WRITE, 5, 2, RDMA))
  reads(t, 2)
  t.i:reset()
end, nil, nil, { BIG, LITTLE })

each("depths-exceeded", "one Read more than the other side's Private Data says", function(t)
  t.i:send(request(WRITE, 5, 2, RDMA))
  reads(t, 3)
  t.i:reset()
end, nil, nil, { BIG, LITTLE })

each("depths-of-others", "Reads where no depths were said", function(t)
  t.i:send(request(WRITE, 5, 2, RDMA))
  reads(t, 3)
  t.i:reset()
end)
