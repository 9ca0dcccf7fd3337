-- SPDX-License-Identifier: BSD-2-Clause
--
-- A whole exchange between two peers: TCP handshake, enhanced start-up, an RDMA Write, a Send that says it is there, an
-- RDMA Read and its Response, the end. Everything that is not said has its proper value.
--
--   warpcheck gen generator/examples/exchange.lua -o exchange.pcapng

local f = flow {}
f:handshake()
f:start({ enhanced = { A = 1, C = 1, IRD = 4, ORD = 2 } }, { enhanced = { A = 1, C = 1, IRD = 2, ORD = 4 } })

-- The RTR that start-up agreed (C: a zero-length Write), before the responder may send.
f.initiator:send(rdmap.write { STag = 0, TO = 0 }, { comment = "the RTR message: a zero-length RDMA Write" })

-- 3,000 octets do not fit into one segment: the message has three.
local data = distinct(3000)
f.initiator:send_each(segments(rdmap.write, { STag = 0xB1, TO = 0x1000 }, data, 1440))
f.initiator:send(rdmap.send { data = "it is there" }, { comment = "tells the peer that the Write is complete" })
f.responder:ack()

f.responder:send(rdmap.read_request { SinkSTag = 0xC1, SinkTO = 0, RDMARDSZ = 64, SrcSTag = 0xA1, SrcTO = 0x2000 })
f.initiator:send(rdmap.read_response { STag = 0xC1, TO = 0, data = distinct(64) })
f:close()
