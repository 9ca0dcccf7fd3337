-- run 2 does not end
-- SPDX-License-Identifier: BSD-2-Clause
-- xpcall's handler is called within the count's own error.
check {
  id = "A-1",
  purpose = "p",
  run = function()
    xpcall(function() while true do end end, function() while true do end end)
  end,
}
