-- run 2 without __len
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "A-1",
  purpose = "p",
  run = function()
    local endless = { __len = function() return 1 << 60 end, __index = getmetatable, __metatable = "" }
    return table.concat(setmetatable({}, endless))
  end,
}
