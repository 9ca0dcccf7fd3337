-- run 2 does not end
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function()
    while true do rig.wait(80000) end
  end,
}
