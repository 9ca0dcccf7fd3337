-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 8: a message one octet longer than its buffer.
check {
  id = "DDP-7.1-04",
  requires = "upper_tester",
  purpose = "a Send of 17 octets into a buffer of 16: Terminate 1/2/05",
  run = function(t)
    local c = t:open { dut = { receives = 1, receive_octets = 16 } }
    c:send(rdmap.send { data = "12345678901234567" })
    c:expect_terminate("DDP_TOO_LONG", { message = "a message that is one octet too long" })
  end,
}
