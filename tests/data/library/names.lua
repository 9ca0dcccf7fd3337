-- SPDX-License-Identifier: BSD-2-Clause
--
-- Every function and constant of the script library that a check can reach, as the actual outcome of a check that
-- fails: tests/e2e/script-library.sh holds docs/script-library.md against it.

-- Lua's own, and the other names of the sandbox that are none of the library's.
local lua = {}
for name in ([[_G _VERSION assert error getmetatable ipairs math next pairs pcall rawequal rawget rawlen rawset select setmetatable
  string table tonumber tostring type warn xpcall]]):gmatch("%S+") do lua[name] = true end
lua.warn = nil -- the library's `warn` stands in its place

local names = {}

local function add(prefix, methods)
  for name, value in pairs(methods) do
    if type(name) == "string" and name:sub(1, 1) ~= "_" and type(value) == "function" then
      names[#names + 1] = prefix .. name
    end
  end
end

local function methods_of(object)
  local index = getmetatable(object).__index
  return type(index) == "table" and index or getmetatable(object)
end

check {
  id = "library-names",
  purpose = "the names of the library",
  run = function(t)
    local classes = { Association = "a:", Connection = "c:", Test = "t:" }
    for name, value in pairs(_G) do
      if not lua[name] and classes[name] then
        add(classes[name], value)
      elseif not lua[name] and type(value) == "table" and name:find("^%l") and name ~= "rtr_expected" then
        add(name .. ".", value)
      elseif not lua[name] then
        names[#names + 1] = name
      end
    end
    t:open()
    add("m:", methods_of(t:memory()))
    add("target:", methods_of(t:target()))
    table.sort(names)
    t:fail("every name", "a list", table.concat(names, " "))
  end,
}
