-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 14: a depth of 3 becomes one of 4.
check {
  id = "EMPA-9.1-12",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Request with IRD 3, and a ULP that posts four Reads: three of them are sent",
  run = function(t)
    local c = t:ask({ IRD = 3, ORD = 4 }, { dut = { ird = 4, ord = 4 } })
    c:probe()
    c:reads_limited(4, 3)
  end,
}
