-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 13: a Terminate quotes the Read Request that failed: MSN 1 is quoted as the size of the Read, and the length
-- is 0.
local function failed_read(t)
  local c = t:open()
  local frame = rdmap.read_request { SinkSTag = 7, RDMARDSZ = 8, SrcSTag = 0x7FFFFFFE }
  local ulpdu = c:ulpdu(frame)
  c:send(fpdu(ulpdu))
  return c:quoted(c:expect_terminate("RDMAP_INVALID_STAG", { message = "a Read of an unknown STag" })), ulpdu
end
check {
  id = "RDMAP-4.8-37",
  purpose = "a Read Request with MSN 1 for 8 octets of an unknown STag: the Terminate quotes its header",
  run = function(t)
    local quoted, ulpdu = failed_read(t)
    t:equal("the quoted header", hex(ulpdu:sub(1, 18)), hex(quoted.header or ""))
  end,
}
check {
  id = "RDMAP-4.8-34",
  purpose = "a Read Request for 8 octets of an unknown STag: DDP Segment Length is the request's, 46",
  run = function(t) t:equal("DDP Segment Length", 46, failed_read(t).Length) end,
}
