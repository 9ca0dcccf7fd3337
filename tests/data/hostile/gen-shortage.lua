-- gen 2 scripts may hold 256 MiB
pcall(string.rep, "x", 1 << 29)
packet("x")
