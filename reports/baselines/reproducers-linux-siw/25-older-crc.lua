-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 25: memory changes while its Read Response waits for TCP's window. The Write of no octets is there for TCPs
-- that believe that a window has shrunk only from a later octet of the stream on.
check {
  id = "RDMAP-5.5-23",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the ULP changes what a Read fetches, before it has left: either version will do, in an FPDU with its own CRC",
  run = function(t)
    local m = t:memory { octets = 8192 }
    local c = t:open()
    c:probe()
    c.tcp:window(0)
    c:send(m:write(0, ""))
    c:send(m:read(0, 8192, { SinkSTag = 1 }))
    rig.wait(t.quiet / 4)
    t.dut:mem_write { stag = m.STag, offset = 0, data = ("5a"):rep(16) }
    c.tcp:window(65535)
    local left = 8192
    repeat left = left - #c:expect(rdmap.read_response { STag = 1 }, { message = "the Read Response" }).data until left <= 0
  end,
}
