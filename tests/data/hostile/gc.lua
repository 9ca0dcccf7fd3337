-- run 2 may not have __gc
-- SPDX-License-Identifier: BSD-2-Clause
-- A finalizer runs where no instruction is counted, also when the program has decided to end.
setmetatable({}, { __gc = function() while true do end end })
