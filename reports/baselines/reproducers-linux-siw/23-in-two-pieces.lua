-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 23: a Write that ends behind its buffer comes in two TCP segments; the first of them is within.
check {
  id = "DDP-7.1-16",
  requires = "upper_tester",
  purpose = "a Write of 17 octets into a buffer of 16, 8 of them in the first TCP segment: nothing is placed",
  run = function(t)
    local memory = t:memory { octets = 16 }
    local c = t:open()
    local octets = c:octets(memory:write(0, "12345678ABCDEFGHI"))
    c:send_segments { octets:sub(1, 2 + 14 + 8) }
    if #c:peek(1, t.quiet) == 0 then -- its header alone says where it ends: a device may refuse it at once
      c:send_segments { octets:sub(2 + 14 + 8 + 1) }
    end
    c:expect_terminate("DDP_BOUNDS", { message = "17 octets into a buffer of 16" })
    memory:check("no octet of a segment that fails a check is placed")
  end,
}
