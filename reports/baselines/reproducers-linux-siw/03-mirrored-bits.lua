-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 3: the Request's R and reserved bits come back.
check {
  id = "MPA-7.1.1-17",
  sandwich = "startup",
  purpose = "a Request with R = 1: an accepting Reply",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { R = 1 })
    t:equal("R of the Reply", 0, c:expect(mpa.reply {}, { message = "R of a Request is not checked" }).R)
  end,
}
check {
  id = "MPA-7.1.1-20",
  sandwich = "startup",
  purpose = "a Request with a reserved bit set: a Reply with none",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { Res = 1 })
    t:equal("Res of the Reply", 0, c:expect(mpa.reply {}, { message = "Res is not checked" }).Res)
  end,
}
