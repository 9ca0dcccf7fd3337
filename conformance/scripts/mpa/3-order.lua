-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 section 2 and 3: one ULPDU in one FPDU, delivered in the order of sending.

check {
  id = "MPA-2-01",
  role = "both",
  purpose = "FPDUs whose TCP segments come in the order 3, 1, 2 are delivered as 1, 2, 3, once each",
  run = function(t)
    local c = t:open_with_framing()
    local sent = { "the first", "the second", "the third" }
    local pieces = {}
    for i, data in ipairs(sent) do pieces[i] = c:octets(rdmap.send { data = data }) end
    c:send_segments(pieces, { 3, 1, 2 })
    c:expect_accepted(sent, "TCP segments in the order 3, 1, 2")
  end,
}

check {
  id = "MPA-3-01",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "an FPDU holds exactly one DDP segment: those of a Write of 8 KiB, then 20 Sends of 1 octet",
  run = function(t)
    local c = t:open_with_framing()
    local stream = t:stream_of(c)
    t.dut:write { stream = stream, stag = 0x1234, to = 0, length = 8192 }
    local at = 0
    repeat
      local got = c:expect(rdmap.write { STag = 0x1234, TO = at }, { message = "an FPDU of a Write of 8 KiB" })
      at = at + #got.data
    until got.L == 1
    t:equal("octets of the Write", 8192, at)
    for _ = 1, 20 do t.dut:send { stream = stream, data = "31" } end
    local msn
    for i = 1, 20 do
      local what = string.format("Send %d of 20, in an FPDU of its own", i)
      local got = c:expect(rdmap.send { MSN = msn, L = 1, data = "1" }, { message = what })
      msn = got.MSN + 1
    end
  end,
}
