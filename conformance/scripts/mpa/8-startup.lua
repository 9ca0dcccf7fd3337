-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 section 8: error code 4, an invalid Request or Reply.

defaults { sandwich = "tcp" }

local function faults(t)
  return {
    { "a bad Key", t:start_frame { key = "MPA ID R__ Frame" } },
    { "revision 255", t:start_frame { Rev = 255 } },
    { "513 octets of Private Data", t:start_frame { private_data = string.rep("p", 513) } },
  }
end

check {
  id = "MPA-8-04",
  role = "both",
  purpose = "an invalid start-up frame is detected: bad Key, bad Rev, bad PD_Length",
  run = function(t)
    for _, fault in ipairs(faults(t)) do
      local c = t:awaiting_start()
      c:send(fault[2])
      c:expect_refusal(fault[1] .. " makes a start-up frame invalid")
      c.tcp:close()
    end
  end,
}

check {
  id = "MPA-8-09",
  role = "both",
  purpose = "on an invalid start-up frame TCP is closed at once",
  run = function(t)
    local c = t:awaiting_start()
    local begun = rig.now()
    c:send(faults(t)[1][2])
    c:expect_refusal("an invalid start-up frame closes TCP", { within = math.max(t.reaction, 30) })
    local delay = rig.now() - begun
    if delay > t.reaction then
      t:fail("TCP is closed at once", "FIN or RST", string.format("FIN or RST after %.1f s", delay))
    elseif delay > 1 + 10 * t.round_trip then
      t:warn("TCP is closed at once", "FIN or RST within a second", string.format("after %.1f s", delay))
    end
  end,
}

check {
  id = "MPA-8-16",
  role = "both",
  purpose = "error code 4: the connection closes, with one Terminate 2/0/04 before it or without; a responder sends no FPDU",
  run = function(t)
    local c = t:awaiting_start()
    c:send(faults(t)[1][2])
    local _, terminate = c:expect_refusal("an invalid start-up frame closes the connection")
    t:ambiguous(terminate and "B: one Terminate 2/0/04 precedes the close" or "A: the connection closes without a word")
  end,
}
