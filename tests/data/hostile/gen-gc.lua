-- gen 2 may not have __gc
-- SPDX-License-Identifier: BSD-2-Clause
setmetatable({}, { __gc = function() while true do end end })
packet("x")
