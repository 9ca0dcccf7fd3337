-- run 4 waits for ever
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function()
    while true do rig.wait(80000) end
  end,
}
