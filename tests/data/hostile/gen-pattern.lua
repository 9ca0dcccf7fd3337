-- gen 2 computes for ever
-- SPDX-License-Identifier: BSD-2-Clause
packet(("a"):rep(60):gsub(("a*"):rep(30) .. "b", ""))
