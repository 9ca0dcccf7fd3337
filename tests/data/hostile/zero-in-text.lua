-- run 1 a␀b
-- SPDX-License-Identifier: BSD-2-Clause
-- A known deviation is recognised by the whole text.
check { id = "A-1", purpose = "p", run = function(t) t:fail("a\0b") end }
