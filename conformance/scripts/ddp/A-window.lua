-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 appendix A: the receive window that the LLP advertises.

defaults { llp = "any" }

check {
  id = "DDP-A-01",
  llp = "tcp",
  role = "both",
  purpose = "while 1 MiB comes, the window that TCP advertises has room for several segments",
  run = function(t)
    local c = t:open()
    local octets = 65536
    local m = rig.has_upper_tester() and t:memory { octets = octets }
    local most = 0
    for round = 1, 16 do
      for at = 0, octets - 1024, 1024 do
        -- Without an upper tester there is no memory to write to, and an empty Write is all that is legal.
        c:send(m and m:write(at, pattern(1024, round)) or rdmap.write { STag = 0, TO = at })
      end
      c:probe { message = "Writes, 64 KiB at a time" }
      most = math.max(most, c.tcp:status().peer_window)
    end
    local segment = c.tcp:status().mss
    t:note(string.format("the largest window while Writes came: %d octets; a segment has %d", most, segment))
    if most < 2 * segment then
      t:warn("the receive window while 1 MiB of Writes come", 2 * segment .. " octets at least, two segments", most .. " octets at most")
    end
  end,
}
