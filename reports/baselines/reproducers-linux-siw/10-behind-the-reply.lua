-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 10, a race: the first FPDU follows the Reply at once. Some of a hundred connections are enough to see it.
check {
  id = "MPA-7.1-06",
  sandwich = "startup",
  judges = { "reads", "framing" },
  purpose = "a Read Request right behind the Reply: a Read Response, a hundred times",
  run = function(t)
    for i = 1, 100 do
      local c = t:connect()
      c.at_once = true
      c:start_as_initiator {}
      c:send(rdmap.read_request { SinkSTag = 7, RDMARDSZ = 0, SrcSTag = 0 })
      c:expect(rdmap.read_response { STag = 7 }, { message = string.format("connection %d: the first FPDU", i) })
      c.tcp:close()
    end
  end,
}
