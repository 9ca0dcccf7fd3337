-- gen 2 scripts may hold 256 MiB
-- SPDX-License-Identifier: BSD-2-Clause
pcall(string.rep, "x", 1 << 29)
packet("x")
