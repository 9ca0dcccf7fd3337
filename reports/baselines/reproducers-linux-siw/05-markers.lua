-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 5: the peer wants Markers.
check {
  id = "MPA-7.1.1-07",
  sandwich = "startup",
  purpose = "a Request with M = 1: an accepting Reply",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { M = 1 })
    t:equal("R of the Reply", 0, c:expect(mpa.reply {}, { message = "Markers are sent on demand" }).R)
  end,
}
