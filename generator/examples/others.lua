-- SPDX-License-Identifier: BSD-2-Clause
--
-- What is not TCP: DDP over SCTP, and a connection by the RDMA IP CM Service.
--
--   warpcheck gen --corpus others generator/examples/others.lua

capture {
  name = "sctp", about = "a session on SCTP stream 2: three Sends, the last one before the others and one of them twice",
  run = function()
    local a = association {}
    a:open()
    a.initiator:control("Enhanced Initiate", { SID = 2, private_data = "hello" })
    a.responder:control("Enhanced Accept", { SID = 2 })
    a:hold()
    for i = 1, 3 do a.initiator:send(rdmap.send { data = distinct(100 * i) }, { SID = 2 }) end
    a:release { 3, 1, 2, 2 }
    a.responder:sack()
    a.initiator:control("Terminate", { SID = 2 })
    a:close()
  end,
}

capture {
  name = "cm", about = "a REQ of the RDMA IP CM Service over RoCEv2, and its REJ: an unknown IP address",
  run = function()
    local ask, answer = { source = "192.0.2.1", destination = "192.0.2.2" }, { source = "192.0.2.2", destination = "192.0.2.1" }
    packet(net.cm_packet(net.cm_request {
      local_id = 1, transaction = 1, protocol = 6, source = "192.0.2.1", destination = "192.0.2.2", source_port = 49153,
      destination_port = 3260, consumer = "private data of the consumer",
    }, ask), { comment = "REQ" })
    packet(net.cm_packet(net.cm_reject { transaction = 1, remote_id = 1, reason = net.cm_reasons["Consumer Reject"], ari = "\0\6\0\0" }, answer),
           { comment = "REJ", inbound = true })
  end,
}
