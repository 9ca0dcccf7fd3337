-- run 2 spoils.lua
-- SPDX-License-Identifier: BSD-2-Clause
-- Whatever is loaded behind this one is not touched.
for name in pairs(string) do string[name] = nil end
_G.harness, _G.rig, _G.check = nil, nil, nil
check { id = "A-1", purpose = "p", run = function() end }
