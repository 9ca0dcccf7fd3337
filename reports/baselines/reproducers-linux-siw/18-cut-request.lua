-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 18: what refuses a cut frame is cut in the same way.
check {
  id = "EMPA-6-12",
  sandwich = "tcp",
  purpose = "a Request with S = 1 and 2 octets of Private Data: a close, or a Reply with R = 1 that is well-formed",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { S = 1, Rev = 2, private_data = "\0\0" })
    c:expect_one_of {
      tcp.closed(), mpa.reply { R = 1, S = 0 }, mpa.reply { R = 1, S = 1, enhanced = {} },
      message = "S = 1 with 2 octets of Private Data cannot hold the word",
    }
  end,
}
