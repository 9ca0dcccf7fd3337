-- run 2 outside.lua:3: check: an id
-- SPDX-License-Identifier: BSD-2-Clause
check { id = "../../outside", purpose = "p", run = function() end }
