-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 9: the two segments of a Write, the one with the higher TO first.
check {
  id = "DDP-5.3-09",
  requires = "upper_tester",
  purpose = "a Write of 16 octets in two segments, the second half first: placed",
  run = function(t)
    local c = t:open()
    local memory = t:memory()
    c:send(memory:write(8, "ABCDEFGH", { L = 0 }), memory:write(0, "12345678"))
    c:probe { message = "segments of a Write in falling order" }
    memory:patch(0, "12345678ABCDEFGH")
    memory:check("segments of a Write in falling order are placed")
  end,
}
