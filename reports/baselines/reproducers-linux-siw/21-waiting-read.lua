-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 21: the device's second Read waits for ORD, and the peer's Read waits with it.
check {
  id = "RDMAP-6.1-07",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "ORD 1, the ULP posts two Reads, the first is not answered yet: a Read Request of the peer is answered",
  run = function(t)
    local c = t:ask({ IRD = 1, ORD = 4 }, { dut = { ird = 4, ord = 4 } })
    c:probe()
    local sink = t:memory()
    for _ = 1, 2 do
      t.dut:read { stream = t:stream_of(c), sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = 8 }
    end
    local first = c:expect(rdmap.read_request {}, { message = "the first Read" })
    c:expect_quiet { message = "the second Read waits" }
    c:probe { message = "a Read Request of the peer, while a Read of the device waits for ORD" }
    c:send(rdmap.read_response { STag = first.SinkSTag, TO = first.SinkTO, data = "12345678" })
    c:expect(rdmap.read_request {}, { message = "the second Read" })
  end,
}
