-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 12: the ULP names an STag to invalidate, the message another: 0. The fault of siw's user-space provider.
check {
  id = "RDMAP-5.3-16",
  requires = "upper_tester",
  purpose = "one Send with Solicited Event and Invalidate: the STag that the ULP named",
  run = function(t)
    local c = t:open()
    c:probe()
    t.dut:send { stream = t:stream_of(c), invalidate = 0x12345678, solicited = true, data = "31323334" }
    local got = c:expect(rdmap.send_se_invalidate {}, { message = "the message that was posted" })
    t:equal("Invalidate STag", "12345678", string.format("%08x", got.InvalidateSTag))
  end,
}
