-- run 2 scripts may hold 256 MiB
-- SPDX-License-Identifier: BSD-2-Clause
-- What is decided after an allocation that failed is decided without what was asked for.
check {
  id = "A-1",
  purpose = "p",
  run = function(t)
    if not pcall(string.rep, "x", 1 << 40) and not pcall(string.rep, "x", 1 << 29) then t:fail("wrong") end
  end,
}
