-- run 2 an octet of id is zero
-- SPDX-License-Identifier: BSD-2-Clause
check { id = "A-1\0/../../outside", purpose = "p", run = function() end }
