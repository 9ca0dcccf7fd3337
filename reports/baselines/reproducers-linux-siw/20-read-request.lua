-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 20: of a Read Request the MSN alone is looked at.
check {
  id = "RDMAP-7.2-07",
  purpose = "a Read Request of no octets with MO 0x1000: Terminate 1/2/04 or 1/2/05",
  run = function(t)
    local c = t:open()
    c:send(rdmap.read_request { MO = 0x1000, SinkSTag = 7, RDMARDSZ = 0, SrcSTag = 0 })
    c:expect_terminate({ "DDP_INVALID_MO", "DDP_TOO_LONG" }, { message = "a Read Request with MO 0x1000", next = true })
  end,
}
check {
  id = "RDMAP-4.1-16",
  purpose = "a Read Request of no octets on queue 0: a Terminate",
  run = function(t)
    local c = t:open()
    c:send(rdmap.read_request { QN = 0, MSN = 1, SinkSTag = 7, RDMARDSZ = 0, SrcSTag = 0 })
    c:expect_terminate({ "DDP_INVALID_QN", "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_OPCODE", "RDMAP_OPERATION_OTHER" },
                       { message = "a Read Request on QN 0", next = true })
  end,
}
