-- gen 2 computes for ever
packet(("a"):rep(60):gsub(("a*"):rep(30) .. "b", ""))
