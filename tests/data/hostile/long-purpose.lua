-- run 2 purpose is longer than 4096 octets
-- SPDX-License-Identifier: BSD-2-Clause
check { id = "A-1", purpose = ("p"):rep(1 << 26), run = function() end }
