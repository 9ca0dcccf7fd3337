-- SPDX-License-Identifier: BSD-2-Clause
--
-- What SCTP does to a DDP chunk is no concern of DDP's: it comes once, and DDP-SSNs put chunks in order, however they come (RFC 5043 6.1, 10). What is wrong in
-- a packet its checksum shows, and SCTP repeats it (RFC 9260 6.8).

local function on(name, message, nth, expect, purpose, act)
  impair { name = name, purpose = purpose, over = "sctp", when = { message = message, nth = nth }, act = act, expect = expect }
end

on("chunk-delayed", "Send", 3, "survives", "a Send comes later", function(unit) unit:delay(0.05) end)
on("chunk-stalled", "RDMA Read Response", 2, "survives", "an association stands still", function(unit) unit:stall(0.6) end)
on("packet-lost", "Send", 3, "survives", "a packet is lost, and repeated", function(unit) unit:lose() end)
on("packet-corrupted", "Send", 3, "survives", "octets have changed, the checksum shows it", function(unit) unit:corrupt(20) end)
on("checksum-kept", "Send", 3, "survives", "a field has changed, the checksum shows it", function(unit, event)
  unit:edit({ MSN = event.MSN + 1 }, { crc = "kept" })
end)
on("chunks-swapped", "Send", 3, "survives", "a DDP-SSN comes before the one that is due", function(unit) unit:swap() end)
