-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 2: the last octet of an FPDU comes in a TCP segment of its own.
check {
  id = "MPA-6-06",
  purpose = "one Read Request of no octets, its last octet apart: a Read Response",
  run = function(t)
    local c = t:open()
    local octets = c:octets(rdmap.read_request { SinkSTag = 7, RDMARDSZ = 0, SrcSTag = 0 })
    c:send_segments { octets:sub(1, -2) }
    c:expect_quiet { message = "the FPDU is not whole" }
    c:send_segments { octets:sub(-1) }
    c:expect(rdmap.read_response { STag = 7 }, { message = "the FPDU is whole" })
  end,
}
