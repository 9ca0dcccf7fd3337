-- SPDX-License-Identifier: BSD-2-Clause
--
-- Template: an MPA start-up frame, in both roles. To a responder the tester sends a Request, to an initiator a Reply.
-- Copy this file, give the check an id and a purpose, and change stimulus and outcomes.
--
--   warpcheck run --simulate --script startup.lua                                  the reference stack: PASS
--   warpcheck run --simulate --script startup.lua --defect mpa-request-revision-unchecked   with a fault: FAIL
--   warpcheck run --dut my-rnic.json --script startup.lua                          your device

-- The good exchange before and after only opens a TCP connection: this check judges start-up also where start-up is
-- broken.
defaults { sandwich = "tcp" }

check {
  id = "template-startup",
  role = "both",
  purpose = "a start-up frame of revision 255 is refused, and a good one is taken afterwards",
  run = function(t)
    -- A connection on which the device waits for the tester's frame.
    local c = t:awaiting_start()

    -- The stimulus: the tester's frame in this role. Fields that are not given have their proper value.
    c:send(t:start_frame { Rev = 255 })

    -- The outcome: the device closes, and does not reply.
    c:expect_refusal("a start-up frame of revision 255")
    c.tcp:close()

    -- Another connection: a good frame leads to full operation, and an RDMA Read is answered.
    c = t:awaiting_start()
    local frame = t:start_frame { private_data = "hello" }
    c:send(frame)
    c:expect_operation(frame, "a good start-up frame after a bad one")
    c:finish()
  end,
}
