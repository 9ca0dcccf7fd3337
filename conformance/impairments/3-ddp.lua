-- SPDX-License-Identifier: BSD-2-Clause
--
-- DDP Segments that no sender may send, with good CRCs: the receiver checks them before it places anything (RFC 5041 7.1), and says which error it was
-- (7.2). Which of 0x02 and 0x03 an MSN is that has no buffer, the text leaves open; so it does the order of checks.

local no_msn = { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }

local function edited(name, message, nth, expect, fields, purpose)
  impair {
    name = name, purpose = purpose, when = { message = message, nth = nth }, expect = expect,
    act = function(unit, event) unit:edit(fields(event)) end,
  }
end

impair { name = "send-twice", purpose = "an MSN that was used already", over = "tcp", when = { message = "Send", nth = 3 }, expect = no_msn,
  act = function(unit) unit:duplicate() end }
edited("msn-far", "Send", 3, no_msn, function(event) return { MSN = event.MSN + 1000000 } end, "an MSN far beyond all buffers")
edited("qn-unknown", "Send", 3, "DDP_INVALID_QN", function() return { QN = 7 } end, "a Queue Number that RDMAP does not have")
edited("mo-beyond", "Send", 3, { "DDP_INVALID_MO", "DDP_TOO_LONG" }, function() return { MO = 5000000 } end, "a Message Offset beyond each buffer")
edited("version-untagged", "Send", 3, "DDP_UNTAGGED_VERSION", function() return { DV = 2 } end, "a version of DDP that is not spoken")
edited("version-tagged", "RDMA Write", 1, "DDP_TAGGED_VERSION", function() return { DV = 2 } end, "the same in a tagged segment")
edited("stag-unknown", "RDMA Write", 1, { "DDP_INVALID_STAG", "DDP_NOT_ASSOCIATED" }, function(event)
  return { STag = event.STag ~ 0x5A5A5A5A }
end, "an STag that was not advertised")
edited("to-beyond", "RDMA Write", 1, "DDP_BOUNDS", function(event) return { TO = event.TO + (1 << 40) } end, "a Tagged Offset beyond the buffer")
