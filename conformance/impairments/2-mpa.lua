-- SPDX-License-Identifier: BSD-2-Clause
--
-- Octets that TCP's checksum does not protect any more: a receiver that uses CRCs reports them (RFC 5044 4.4, 8). Without CRCs nothing is done.

local function corrupted(name, message, nth, at, purpose)
  impair {
    name = name, purpose = purpose, over = "tcp", when = { message = message, nth = nth }, expect = "MPA_CRC",
    act = function(unit, event)
      if unit:crc_in_use() then unit:corrupt(at(event)) end
    end,
  }
end

corrupted("payload-corrupted", "Send", 3, function(event) return 2 + event.length - 1 end, "the last octet of a Send")
corrupted("header-corrupted", "Send", 3, function() return 2 + 8 end, "an octet of the DDP header")
corrupted("crc-corrupted", "Send", 3, function() return -1 end, "an octet of the CRC itself")
corrupted("write-corrupted", "RDMA Write", 1, function() return 2 + 14 + 5 end, "an octet of what is written")
impair {
  name = "field-edited-crc-kept", purpose = "a field has changed on the way", over = "tcp", when = { message = "Send", nth = 3 }, expect = "MPA_CRC",
  act = function(unit, event)
    if unit:crc_in_use() then unit:edit({ MSN = event.MSN + 1 }, { crc = "kept" }) end
  end,
}
