-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 16: 0x3FFF says that a depth is not negotiated.
check {
  id = "EMPA-9.1-26",
  sandwich = "startup",
  purpose = "a Request with ORD 0x3FFF: a Reply with IRD 0x3FFF",
  run = function(t)
    t:ask({ ORD = 0x3FFF }, { reply = { enhanced = { IRD = 0x3FFF } }, message = "ORD 0x3FFF is answered with IRD 0x3FFF" })
  end,
}
check {
  id = "EMPA-9.1-30",
  role = "initiator",
  sandwich = "startup",
  purpose = "a Reply with ORD 0x3FFF: the initiator goes on",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 4 }
    c:answer { ORD = 0x3FFF }
    c:first_send("ORD 0x3FFF in the Reply: no Terminate")
  end,
}
