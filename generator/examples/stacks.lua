-- SPDX-License-Identifier: BSD-2-Clause
--
-- What two reference stacks do on a wire that loses packets, and what a stack with a defect does: nothing is crafted
-- here, the stacks are driven by the upper tester's verbs (docs/upper-tester.md).
--
--   warpcheck gen --corpus stacks --seed 3 generator/examples/stacks.lua

capture {
  name = "read-under-loss", about = "a Read of 20,000 octets; one packet in ten is lost, and sent again by TCP",
  run = function()
    local s = stacks { loss = 0.1, responder = { markers = true } }
    s:connect()
    local source = s.responder:reg_mr { length = 20000, fill = "count" }
    local sink = s.initiator:reg_mr { length = 20000 }
    s.initiator:read { source_stag = source.stag, sink_stag = sink.stag, length = 20000 }
    s.initiator:await("read_done")
    s:finish()
  end,
}

capture {
  name = "no-such-memory", about = "a Write to an STag that nobody gave out is answered by a Terminate",
  run = function()
    local s = stacks {}
    s:connect()
    s.initiator:write { stag = 0x12345678, to = 0, length = 100 }
    local reported = s.initiator:await("terminate_received")
    if reported.layer ~= 1 or reported.etype ~= 1 or reported.code ~= 0 then error("another Terminate: " .. reported.what) end
    s:run(6)
  end,
}
