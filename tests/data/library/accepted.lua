-- SPDX-License-Identifier: BSD-2-Clause
--
-- An upper tester may say "accepted" without the peer's port, and late: that of the connection before comes when the present one
-- is open already. What the same stream says later is whose it is.
check {
  id = "library-accepted",
  role = "responder",
  purpose = "an event of the connection before is not taken for one of this connection",
  run = function(t)
    local c = t:connect()
    c:start_as_initiator()
    t:gather_events()
    local own = t:stream_if_known(c)
    local port, strange = c.tcp:status().peer_port, own + 1000
    t.events[#t.events + 1] = { event = "accepted", stream = strange, port = port }
    t.events[#t.events + 1] = { event = "established", stream = strange, peer_port = c.tcp:status().local_port ~ 1, private_data = "" }
    t:equal("the connection's stream", own, t:stream_of(c))
  end,
}
