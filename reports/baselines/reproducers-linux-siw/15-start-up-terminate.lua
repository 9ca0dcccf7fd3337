-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 15: the Terminate that answers a Reply has no CRC.
check {
  id = "MPA-7.1.1-13",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Reply with C = 1 and an ORD of 16382: what the device sends then, a Terminate or a Send, has a CRC",
  run = function(t)
    local c = t:receive_request { ird = 2, ord = 2 }
    c:answer({ ORD = 0x3FFE }, { C = 1 })
    t.dut:send { stream = c.stream, data = "66697273" }
    local got = c:receive()
    local first = got.fpdu or got -- receive() takes a zero for the CRC of a first Terminate
    if first.crc == nil then t:fail("a Reply with an ORD of 16382", "an FPDU", describe(got)) end
    t:equal("the CRC of the first FPDU", "right", first.crc_ok and "right" or string.format("wrong: %08x", first.crc))
  end,
}
