-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 7: the payload of an FPDU with a wrong CRC is in memory when the Terminate leaves.
check {
  id = "MPA-6-01",
  requires = "upper_tester",
  purpose = "one Write of 8 octets with a wrong CRC: memory as it was",
  run = function(t)
    local c = t:open_with_framing()
    local memory = t:memory()
    c:send(fpdu(memory:write(0, "12345678"), { crc_flip = 1 }))
    c:expect_crc_error("a Write with a wrong CRC")
    memory:check("a Write with a wrong CRC is not placed")
  end,
}
