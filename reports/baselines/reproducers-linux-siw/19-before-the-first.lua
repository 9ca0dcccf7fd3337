-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 19: the responder's Send does not wait for the initiator's first FPDU.
check {
  id = "MPA-7.1.2-17",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the responder's ULP posts a Send, the initiator has sent no FPDU: nothing",
  run = function(t)
    local c = t:connect()
    c:start_as_initiator()
    t.dut:send { stream = t:stream_of(c), data = "31323334" }
    c:expect_quiet { message = "a responder sends neither FPDU nor Marker before it has received an FPDU" }
  end,
}
