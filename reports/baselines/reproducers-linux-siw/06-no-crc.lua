-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 6: C of a device that nobody has configured.
check {
  id = "MPA-4.4-05",
  sandwich = "startup",
  purpose = "a Request with C = 0: the Reply asks for CRCs all the same",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { C = 0 })
    t:equal("C of the Reply", 1, c:expect(mpa.reply {}, { message = "a Request with C = 0" }).C)
  end,
}
