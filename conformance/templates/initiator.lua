-- SPDX-License-Identifier: BSD-2-Clause
--
-- Template: the device is the initiator, and its ULP sends what its upper tester asks for (docs/upper-tester.md).
-- Without an upper tester the check is skipped. Copy this file, give the check an id and a purpose, and change stimulus
-- and outcomes.
--
--   warpcheck run --simulate --script initiator.lua                                the reference stack: PASS
--   warpcheck run --simulate --script initiator.lua --defect ddp-msn-later         with a fault: FAIL
--   warpcheck run --dut my-rnic.json --script initiator.lua                        your device

check {
  id = "template-initiator",
  role = "initiator", -- "both" runs it once in each role
  requires = "upper_tester",
  purpose = "a Send of 5000 octets leaves in segments of one message, and its completion is reported to the ULP",
  run = function(t)
    -- A stream on which the device may send. c.first is the MSN of its next Send; `stream` is its number for the verbs.
    local c, stream = t:operating()

    -- The stimulus: a verb of the upper tester.
    t.dut:send { stream = stream, length = 5000, id = 1 }

    -- The outcome on the wire: the segments up to the one with L = 1, and their payload.
    local segments, data = c:receive_message("a Send of 5000 octets")
    t:equal("octets of the Send", 5000, #data)
    for i, segment in ipairs(segments) do t:equal("MSN of segment " .. i, c.first, segment.MSN) end

    -- The outcome at the device's ULP: an event of the upper tester.
    t:expect_event("send_done", { stream = stream, id = 1 }, "a Send that was posted")

    -- The stream is alive afterwards.
    c:probe()
  end,
}
