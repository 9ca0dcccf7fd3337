-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 26: a segment is read by its opcode alone: of a Write's opcode with T = 0, the header of a Write is taken
-- off.
check {
  id = "RDMAP-4.8-34",
  purpose = "the opcode of a Write with T = 0: the Terminate's DDP Segment Length is that of the segment, or of its payload",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send { Opcode = 0, data = "1234" })
    local got = c:receive()
    if got.kind ~= "segment" or not got.triple then t:fail("the opcode of a Write with T = 0", "a Terminate", describe(got)) end
    local quoted = c:quoted(got)
    if got.M == 1 and quoted.Length ~= 22 and quoted.Length ~= 4 then
      t:fail("DDP Segment Length", "22", tostring(quoted.Length))
    end
  end,
}
