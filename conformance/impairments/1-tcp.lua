-- SPDX-License-Identifier: BSD-2-Clause
--
-- The suite of `warpcheck bridge`: what TCP does to an FPDU is no concern of MPA's (RFC 5044 5.2: a receiver finds FPDUs however they are
-- segmented, and loses nothing that TCP repeats). Each stream goes on, and ends in order.

local function on(name, message, nth, purpose, act)
  impair { name = name, purpose = purpose, over = "tcp", when = { message = message, nth = nth }, act = act, expect = "survives" }
end

on("send-delayed", "Send", 3, "a Send comes later", function(unit) unit:delay(0.05) end)
on("response-delayed", "RDMA Read Response", 2, "a Read Response comes later", function(unit) unit:delay(0.05) end)
on("send-stalled", "Send", 3, "a stream stands still for longer than TCP waits", function(unit) unit:stall(0.6) end)
on("cut-in-length", "Send", 3, "a segment ends within ULPDU_Length", function(unit) unit:cut(1) end)
on("cut-in-header", "Send", 3, "segments end within the DDP header", function(unit) unit:cut(3, 9, 19) end)
on("cut-in-payload", "RDMA Read Response", 2, "a segment ends within the payload", function(unit) unit:cut(200) end)
on("cut-in-crc", "Send", 3, "a segment ends within the CRC", function(unit, event)
  unit:cut((2 + event.length + 3) // 4 * 4 + 1)
end)
on("send-joined", "Send", 3, "a segment has two FPDUs", function(unit) unit:join() end)
on("send-lost", "Send", 3, "a segment is lost, and repeated", function(unit) unit:lose() end)
on("request-lost", "RDMA Read Request", 2, "a segment with a Read Request is lost", function(unit) unit:lose() end)
