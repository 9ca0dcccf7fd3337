-- SPDX-License-Identifier: BSD-2-Clause
-- Finding 24: a segment that ends within its header is judged when octets behind it have filled the header up, and by
-- MPA.
check {
  id = "DDP-4.4-01",
  purpose = "a ULPDU of one octet: the stream ends",
  run = function(t)
    local c = t:open()
    c:send(fpdu("\xC1"))
    local got = c:receive()
    if got.kind == "timeout" then
      local answered, what = c:alive()
      t:fail("a header cut short is a fatal error (RFC 5041 6.2.2)", "a Terminate, FIN or RST",
             answered and "the stream goes on" or "silence, and behind the next FPDU " .. describe(what))
    elseif not (got.kind == "segment" and got.Opcode == 7) and got.kind ~= "fin" and got.kind ~= "reset" then
      t:fail("a header cut short is a fatal error (RFC 5041 6.2.2)", "a Terminate, FIN or RST", describe(got))
    end
  end,
}
check {
  id = "RDMAP-4.2-07",
  purpose = "a Read Request of 27 octets: a Terminate of RDMAP or DDP",
  run = function(t)
    local c = t:open()
    c:send(fpdu(c:ulpdu(rdmap.read_request { SinkSTag = 7, RDMARDSZ = 0, SrcSTag = 0 }):sub(1, 18 + 27)))
    local got = c:receive()
    if got.kind ~= "segment" or not got.triple or got.Layer > 1 then
      t:fail("a Read Request of 27 octets", "a Terminate of layer 0 or 1", describe(got))
    end
  end,
}
