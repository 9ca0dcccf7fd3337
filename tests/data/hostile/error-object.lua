-- run 2 does not end
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function()
    error { verdict = "FAIL", message = setmetatable({}, { __tostring = function() while true do end end }) }
  end,
}
