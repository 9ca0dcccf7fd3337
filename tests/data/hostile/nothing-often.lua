-- run 0
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function(t)
    t:connect()
    return string.rep("", 1 << 62)
  end,
}
