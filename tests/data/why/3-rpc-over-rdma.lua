-- SPDX-License-Identifier: BSD-2-Clause
--
-- Ends of connections with RPC-over-RDMA (RFC 8166) above them, one situation a capture. tests/e2e/why.sh holds the
-- sentences to 3-rpc-over-rdma.txt, and every rule of conformance/requirements/rpcrdma.tsv is broken by one of them.
corpus { folder = "rpc-over-rdma", format = "pcap", text = "# Ends with RPC-over-RDMA\n" }

local MSG <const>, NOMSG <const>, MSGP <const>, DONE <const>, ERROR <const> = 0, 1, 2, 3, 4
local DATA <const>, REPLY <const> = 0xD1, 0xB1 -- STags of what is written, and of the Reply chunk

local function words(list) return string.pack(">" .. ("I4"):rep(#list), table.unpack(list)) end

-- Private Data of RFC 8797: sizes in kilo-octets beyond the first.
local function private(send, receive, r, reserved)
  return wire.pack("rpcrdma_private", { Format = 0xf6ab0e18, Version = 1, R = r, Reserved = reserved or 0, SendSize = send,
                                        ReceiveSize = receive })
end

local function segment(stag, octets, offset)
  return wire.pack("rpcrdma_segment", { Handle = stag, Length = octets, Offset = offset or 0x10000 })
end

-- Lists: reads = { { position, stag, octets } }, writes = { { { stag, octets }, ... }, ... }, reply = { { stag, octets } }.
local function lists(l)
  local out = {}
  for _, r in ipairs(l.reads or {}) do out[#out + 1] = words { 1, r[1] } .. segment(r[2], r[3]) end
  out[#out + 1] = words { 0 }
  for _, chunk in ipairs(l.writes or {}) do
    out[#out + 1] = words { 1, #chunk }
    for _, s in ipairs(chunk) do out[#out + 1] = segment(s[1], s[2], s[3]) end
  end
  out[#out + 1] = words { 0 }
  if l.reply then
    out[#out + 1] = words { 1, #l.reply }
    for _, s in ipairs(l.reply) do out[#out + 1] = segment(s[1], s[2], s[3]) end
  else
    out[#out + 1] = words { 0 }
  end
  return table.concat(out)
end

local function header(xid, proc, given)
  return wire.pack("rpcrdma_header", { XID = xid, Version = given.version or 1, Credits = given.credits or 8, Procedure = proc })
end

local function rpc_call(xid) return words { xid, 0, 2, 100003, 3, 0, 0, 0, 0, 0 } end
local function rpc_reply(xid) return words { xid, 1, 0, 0, 0, 0 } end

local function send(octets, given)
  if given.invalidates then return rdmap.send_invalidate { InvalidateSTag = given.invalidates, data = octets } end
  return rdmap.send { data = octets }
end

-- RDMA_MSG with a Call or a Reply; given: lists, credits, version, rpc_xid, more (octets after it), invalidates.
local function call(xid, given)
  given = given or {}
  return send(header(xid, MSG, given) .. (given.raw or lists(given)) .. rpc_call(given.rpc_xid or xid) .. ("\0"):rep(given.more or 0), given)
end
local function reply(xid, given)
  given = given or {}
  return send(header(xid, MSG, given) .. lists(given) .. rpc_reply(given.rpc_xid or xid) .. ("\0"):rep(given.more or 0), given)
end
local function nomsg(xid, given) return send(header(xid, NOMSG, given) .. lists(given), given) end
local function failure(xid, code, given)
  given = given or {}
  return send(header(xid, ERROR, given) .. words { code } .. (code == 1 and words { 1, 1 } or ""), given)
end

local function write(stag, octets, to) return rdmap.write { STag = stag, TO = to or 0x10000, data = counting(octets) } end
local function read(stag, octets, to)
  return rdmap.read_request { SinkSTag = 0x51, SinkTO = 0x2000, RDMARDSZ = octets, SrcSTag = stag, SrcTO = to or 0x10000 }
end
local function answer(octets) return rdmap.read_response { STag = 0x51, TO = 0x2000, data = counting(octets) } end

-- The ULPDU of a side's n-th FPDU, as it lies in the stream behind its start-up frame. No Markers.
local function sent(side, n)
  local at = side.marks[n + 1] + 2
  return side.stream:sub(at, at + string.unpack(">I2", side.stream:sub(at - 2, at)))
end

-- A first exchange, which grants 8 credits; then the situation; then a reset by the side that it happens to.
local function each(name, about, run, given)
  given = given or {}
  capture { name = name, about = about, run = function()
    local t = talk {}
    t:open({ C = 0, private_data = given.request }, { C = 0, private_data = given.reply })
    t.i:send(call(0x70))
    if not given.alone then t.r:send(reply(0x70)) end
    run(t)
    t:finish()
  end }
end

local function by_responder(run) return function(t) run(t) t.r:reset() end end
local function by_initiator(run) return function(t) run(t) t.i:reset() end end

-- ---- lawful -------------------------------------------------------------------------------------------------------

each("healthy", "every kind of exchange as it should be, then a reset", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 }, { DATA + 1, 100 } } } }))
  t.i:send(call(2))
  t.r:send(write(DATA, 600), write(DATA + 1, 50))
  t.r:send(reply(1, { writes = { { { DATA, 600 }, { DATA + 1, 50 } } } }))
  t.r:send(reply(2))
  t.i:send(call(3, { reads = { { 40, DATA, 300 } } }))
  t.r:send(read(DATA, 300))
  t.i:send(answer(300))
  t.r:send(reply(3))
  t.i:send(nomsg(4, { reads = { { 0, DATA, 700 } }, reply = { { REPLY, 4096 } } }))
  t.r:send(read(DATA, 700))
  t.i:send(answer(700))
  t.r:send(write(REPLY, 500), write(REPLY, 500, 0x10000 + 500))
  t.r:send(nomsg(4, { reply = { { REPLY, 1000 } } }))
  t.i:send(call(5, { version = 1 }))
  t.r:send(failure(5, 2))
end))

each("callback", "the server calls too, and the client replies", by_initiator(function(t)
  t.i:send(call(1))
  t.r:send(call(0x900, { credits = 1 }))
  t.i:send(reply(0x900, { credits = 1 }))
  t.r:send(reply(1))
  t.r:send(call(0x901, { credits = 1 }))
  t.i:send(reply(0x901, { credits = 1 }))
end))

each("long-agreed", "4096 octets inline, and remote invalidation, as the Private Data of both allow", by_initiator(function(t)
  t.i:send(call(1, { more = 1100, reply = { { REPLY, 4096 } } }))
  t.r:send(reply(1, { reply = { { REPLY, 0 } }, invalidates = REPLY }))
end), { request = private(3, 3, 1), reply = private(3, 3, 1) })

-- ---- credits and sizes --------------------------------------------------------------------------------------------

each("credits", "three Calls with two credits", function(t)
  t.i:send(call(1))
  t.r:send(reply(1, { credits = 2 }))
  t.i:send(call(2), call(3), call(4))
  t.r:send(terminate_for("DDP_NO_BUFFER", sent(t.i, 5)))
end)

each("grants-none", "a Reply that grants no credits", by_initiator(function(t)
  t.i:send(call(1))
  t.r:send(reply(1, { credits = 0 }))
end))

each("eager", "a second Call before the first Reply", by_responder(function(t)
  t.i:send(call(1))
end), { alone = true })

each("too-long", "a Call of more than 1024 octets", by_responder(function(t)
  t.i:send(call(1, { more = 1100 }))
end))

each("too-long-for-it", "a Reply of more than the client receives", by_initiator(function(t)
  t.i:send(call(1))
  t.r:send(reply(1, { more = 1100 }))
end), { request = private(3, 0, 1), reply = private(3, 3, 0) })

each("reserved", "Private Data with a reserved bit", by_responder(function(t)
  t.i:send(call(1))
end), { request = private(3, 3, 0, 64), reply = private(3, 3, 0) })

-- ---- headers ------------------------------------------------------------------------------------------------------

each("broken-list", "a Write list whose end is no 0", by_responder(function(t)
  t.i:send(call(1, { raw = words { 0, 7, 0 } }))
end))

each("cut-list", "a Write chunk of more segments than there are", by_responder(function(t)
  t.i:send(call(1, { raw = words { 0, 1, 40 } .. segment(DATA, 100) }))
end))

each("procedure", "a procedure that is not defined", by_responder(function(t)
  t.i:send(send(header(1, 5, {}) .. lists {}, {}))
end))

each("xid", "a Call with another XID in its RPC header", by_responder(function(t)
  t.i:send(call(1, { rpc_xid = 2 }))
end))

each("version", "a Call of version 2", by_responder(function(t)
  t.i:send(call(1, { version = 2 }))
end))

each("nothing-holds-it", "an RDMA_NOMSG without a chunk for the Call", by_responder(function(t)
  t.i:send(nomsg(1, { reads = { { 4, DATA, 700 } }, reply = { { REPLY, 4096 } } }))
end))

each("error-to-the-server", "the client answers a Reply with an RDMA_ERROR", by_responder(function(t)
  t.i:send(call(1))
  t.r:send(reply(1))
  t.i:send(failure(1, 2))
end))

each("error-version", "an RDMA_ERROR of another version than the Call", by_initiator(function(t)
  t.i:send(call(1))
  t.r:send(failure(1, 2, { version = 2 }))
end))

each("error-code", "an RDMA_ERROR with an errno", by_initiator(function(t)
  t.i:send(call(1))
  t.r:send(failure(1, 22))
end))

each("msgp", "an RDMA_MSGP", by_responder(function(t)
  t.i:send(send(header(1, MSGP, {}) .. words { 8, 64 } .. lists {} .. rpc_call(1), {}))
end))

each("done", "an RDMA_DONE", by_responder(function(t)
  t.i:send(call(1))
  t.r:send(reply(1))
  t.i:send(send(header(1, DONE, {}), {}))
end))

-- ---- chunks -------------------------------------------------------------------------------------------------------

each("position", "a Read chunk at octet 41", by_responder(function(t)
  t.i:send(call(1, { reads = { { 41, DATA, 300 } } }))
end))

each("reply-reads", "a Reply that repeats the Read list", by_initiator(function(t)
  t.i:send(call(1, { reads = { { 40, DATA, 300 } } }))
  t.r:send(read(DATA, 300))
  t.i:send(answer(300))
  t.r:send(reply(1, { reads = { { 40, DATA, 300 } } }))
end))

each("write-list-lost", "a Reply without the Write list of its Call", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(reply(1))
end))

each("reply-before-writes", "the Reply overtakes a Write", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(reply(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(write(DATA, 600))
end))

each("reply-chunk-lost", "a short Reply without the Reply chunk of its Call", by_initiator(function(t)
  t.i:send(call(1, { reply = { { REPLY, 4096 } } }))
  t.r:send(reply(1))
end))

each("reply-chunk-unwritten", "a Reply chunk that was not written as far as it says", by_initiator(function(t)
  t.i:send(call(1, { reply = { { REPLY, 4096 } } }))
  t.r:send(write(REPLY, 100))
  t.r:send(nomsg(1, { reply = { { REPLY, 1000 } } }))
end))

each("unadvertised", "a Write to memory that no Call has named", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(write(0xBAD, 100))
end))

each("wrong-way", "a Write to what is advertised for reading", by_initiator(function(t)
  t.i:send(call(1, { reads = { { 40, DATA, 300 } } }))
  t.r:send(write(DATA, 100))
end))

each("beyond", "a Write that ends beyond its segment, and the Terminate about it", function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(write(DATA, 500), write(DATA, 101, 0x10000 + 500))
  t.i:send(terminate_for("DDP_BOUNDS", sent(t.r, 3)))
  t.i:reset()
end)

each("read-after-reply", "a Read after the Reply", by_initiator(function(t)
  t.i:send(call(1, { reads = { { 40, DATA, 300 } } }))
  t.r:send(read(DATA, 300))
  t.i:send(answer(300))
  t.r:send(reply(1))
  t.r:send(read(DATA, 300))
end))

each("write-after-reply", "a Write after the Reply", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(write(DATA, 600))
  t.r:send(reply(1, { writes = { { { DATA, 600 } } } }))
  t.r:send(write(DATA, 600))
end))

each("invalidates-unasked", "a Send with Invalidate that the client has not offered", by_initiator(function(t)
  t.i:send(call(1, { reply = { { REPLY, 4096 } } }))
  t.r:send(reply(1, { reply = { { REPLY, 0 } }, invalidates = REPLY }))
end), { request = private(3, 3, 0), reply = private(3, 3, 1) })

each("invalidates-anothers", "a Send with Invalidate of another exchange's STag, which is written then", by_initiator(function(t)
  t.i:send(call(1, { writes = { { { DATA, 600 } } } }))
  t.i:send(call(2, { writes = { { { DATA + 1, 600 } } } }))
  t.r:send(reply(1, { writes = { { { DATA, 0 } } }, invalidates = DATA + 1 }))
  t.r:send(write(DATA + 1, 600))
end), { request = private(3, 3, 1), reply = private(3, 3, 1) })
