-- SPDX-License-Identifier: BSD-2-Clause
--
-- RDMA Messages that no sender may send, with good CRCs and DDP headers (RFC 5040 4.8, 7).

local function edited(name, message, nth, expect, fields, purpose)
  impair {
    name = name, purpose = purpose, when = { message = message, nth = nth }, expect = expect,
    act = function(unit, event) unit:edit(fields(event)) end,
  }
end

edited("rdmap-version", "Send", 3, "RDMAP_VERSION", function() return { RV = 3 } end, "a version of RDMAP that is not spoken")
edited("opcode-unassigned", "Send", 3, "RDMAP_OPCODE", function() return { Opcode = 15 } end, "an opcode that no text assigns")
edited("read-stag-unknown", "RDMA Read Request", 2, { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" }, function(event)
  return { SrcSTag = event.SrcSTag ~ 0x5A5A5A5A }
end, "a Read of an STag that was not advertised")
edited("read-beyond", "RDMA Read Request", 2, "RDMAP_BOUNDS", function() return { RDMARDSZ = 1 << 30 } end, "a Read beyond the buffer")
