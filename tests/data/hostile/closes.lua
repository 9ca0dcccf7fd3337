-- run 2 closed by this script
-- SPDX-License-Identifier: BSD-2-Clause
-- The connection goes while a call on it reads its arguments.
check {
  id = "A-1",
  purpose = "p",
  run = function(t)
    local c = t:connect().tcp
    c:raw(setmetatable({}, { __index = function() c:close() end }))
  end,
}
