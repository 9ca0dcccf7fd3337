-- SPDX-License-Identifier: BSD-2-Clause
--
-- `pairs` in the order of the keys: numbers, then strings. Lua's own order changes from process to process, and with it
-- the frames that a script sends, and the one of several differences that its failure names.

local next, type, sort = next, type, table.sort

local function before(a, b)
  local kind, other = type(a), type(b)
  if kind ~= other then return kind < other end
  if kind == "number" or kind == "string" then return a < b end
  return false
end

function pairs(t)
  local keys, i = {}, 0
  for key in next, t do keys[#keys + 1] = key end
  if #keys > 1 then sort(keys, before) end
  return function()
    while true do
      i = i + 1
      local key = keys[i]
      if key == nil then return nil end
      local value = t[key]
      if value ~= nil then return key, value end
    end
  end
end
