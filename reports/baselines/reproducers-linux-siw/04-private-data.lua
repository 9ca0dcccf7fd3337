-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 4: 257 octets of Private Data, of the 512 that are allowed.
check {
  id = "MPA-7.1.1-29",
  sandwich = "startup",
  purpose = "a Request with 257 octets of Private Data: a Reply",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { private_data = string.rep("x", 257) })
    c:expect(mpa.reply { R = 0 }, { message = "257 octets of Private Data are allowed" })
  end,
}
