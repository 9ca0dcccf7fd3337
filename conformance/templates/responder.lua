-- SPDX-License-Identifier: BSD-2-Clause
--
-- Template: the device is the responder, and the wire alone shows what it does. Copy this file, give the check an id
-- (of the catalogue, or of your own) and a purpose, and change stimulus and outcomes.
--
--   warpcheck run --simulate --script responder.lua                                the reference stack: PASS
--   warpcheck run --simulate --script responder.lua --defect ddp-qn-wrong-code     with a fault: FAIL
--   warpcheck run --dut my-rnic.json --script responder.lua                        your device

check {
  id = "template-responder",
  role = "responder",
  purpose = "a Send to a queue number that does not exist is answered by a Terminate, and the stream ends",
  run = function(t)
    -- A stream in full operation: TCP, MPA start-up, CRCs on, no Markers. t:open takes options.
    local c = t:open()

    -- The stimulus. A probe first: the device is known to serve this stream before the error comes.
    c:probe()
    c:send(rdmap.send { QN = 7, data = "12345678" })

    -- The outcomes that the text allows. Each line that is not kept ends the check with FAIL, and its message says what
    -- had been sent. `warn` lists Terminates that are tolerated.
    local terminate = c:expect_terminate("DDP_INVALID_QN", { message = "a Send on QN 7" })

    -- More of the same answer: t:equal compares one value.
    t:equal("QN of the Terminate", 2, terminate.QN)
    c:expect_end("nothing but the end of the stream follows the Terminate")
  end,
}
