-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 17: 4 and 252 are 256, of which PD_Length has the low octet.
check {
  id = "EMPA-6-10",
  requires = "upper_tester",
  sandwich = "tcp",
  purpose = "a ULP with 252 octets of Private Data: PD_Length of the enhanced Reply is 256",
  run = function(t)
    local _, reply = t:ask({}, { dut = { private_data = ("78"):rep(252) },
                                 message = "252 octets of the ULP's Private Data: PD_Length counts the word too" })
    t:equal("PD_Length", 256, reply.PD_Length)
  end,
}
