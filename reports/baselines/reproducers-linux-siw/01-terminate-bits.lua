-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 1: an unknown STag draws a Terminate whose word is 11 00 03 00 in place of 11 00 C0 00.
check {
  id = "RDMAP-4.8-02",
  purpose = "one Write of 8 octets to an STag that nobody gave out: M and D stand in the high bits of octet 2",
  run = function(t)
    local c = t:open()
    c:send(rdmap.write { STag = 0x7FFFFFFE, TO = 0, data = "12345678" })
    local got = c:receive(t.reaction)
    t:equal("what came", "Terminate", got.name)
    t:equal("the Terminate Control word", "1100c000", hex(got.ulpdu:sub(19, 22)))
  end,
}
