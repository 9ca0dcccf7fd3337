-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 22: the depths of a Reply that rejects do not reach the ULP.
check {
  id = "EMPA-9.1-22",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Reply with R = 1, IRD 9 and ORD 3: the ULP is told of both",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 4 }
    c:answer({ IRD = 9, ORD = 3 }, { R = 1 })
    local event = t:await_event("rejected", { stream = c.stream })
    if not event then t:fail("the ULP is told of the rejection", "its event", "none") end
    t:equal("the peer's IRD as the ULP got it", 9, event.peer_ird)
    t:equal("the peer's ORD as the ULP got it", 3, event.peer_ord)
  end,
}
