-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 A.5: Don't Fragment (A.5.1), and a path whose MTU has shrunk below an FPDU (A.5.2).

-- How long a device may take that drops what comes out of order, and waits until TCP repeats it.
local PATIENCE = 30

check {
  id = "MPA-A.5.2-01",
  role = "both",
  sandwich = "startup",
  purpose = "a large FPDU in TCP segments of 100 octets, the last one first, is taken in the end",
  run = function(t)
    local c = t:open_with_framing()
    local data = pattern(1400)
    local octets = c:octets(rdmap.send { data = data })
    local pieces, order = {}, {}
    for at = 1, #octets, 100 do
      pieces[#pieces + 1] = octets:sub(at, at + 99)
      table.insert(order, 1, #pieces)
    end
    c:send_segments(pieces, order)
    local message = #octets .. " octets of an FPDU in TCP segments of 100, the last one first"
    local alive, got = c:alive(PATIENCE)
    if not alive then t:fail(message, "a Read Response to the Read Request after it, within " .. PATIENCE .. " s", describe(got)) end
    c:expect_accepted({ data }, message)
  end,
}

check {
  id = "MPA-A.5.1-01",
  role = "both",
  purpose = "IPv4 may not fragment the segments that carry FPDUs: Don't Fragment is set",
  run = function(t)
    if rig.addresses():find(":", 1, true) then t:skip("IPv6 has no Don't Fragment bit: no router fragments it") end
    local c = t:open()
    for _ = 1, 8 do c:probe { message = "a Read" } end
    local clear = c.tcp:status().fragmentable
    if clear ~= 0 then t:warn("segments that carry FPDUs", "Don't Fragment is set", "it is clear") end
  end,
}
