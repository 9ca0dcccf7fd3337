-- run 2 does not end
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function()
    return ("a"):rep(60):find(("a*"):rep(30) .. "b")
  end,
}
