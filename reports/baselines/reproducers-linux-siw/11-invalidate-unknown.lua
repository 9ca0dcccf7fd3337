-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 11: an STag that nobody gave out is to be invalidated; nothing follows.
check {
  id = "RDMAP-4.8-29",
  purpose = "one Send with Invalidate for an unknown STag: a Terminate",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send_invalidate { InvalidateSTag = 0x7FFFFFFE, data = "1234" })
    c:expect_terminate({ "RDMAP_PROTECTION_INVALIDATE", "RDMAP_OPERATION_INVALIDATE", "RDMAP_INVALID_STAG" },
                       { message = "an unknown STag in a Send with Invalidate" })
  end,
}
