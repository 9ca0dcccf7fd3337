-- gen 2 does not end
-- SPDX-License-Identifier: BSD-2-Clause
packet(("a"):rep(60):gsub(("a*"):rep(30) .. "b", ""))
