-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 section 8: error codes of the connection set-up.

check {
  id = "EMPA-8-01",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "set-up errors are told in a Terminate of layer 2, error type 0",
  sandwich = "startup",
  run = function(t)
    local own = t:rtr_kinds()[1]
    local faults = {
      { "an ORD that no device serves", {}, { ORD = 0x3FFE } },
      { "an RTR that was not offered", { p2p = true, rtr = { own } }, { [own == "read" and "C" or "D"] = 1 } },
    }
    for _, fault in ipairs(faults) do
      local c = t:receive_request(fault[2])
      c:answer(fault[3])
      local got = c:receive()
      if got.kind == "segment" and got.Opcode ~= 7 then
        t:note(fault[1] .. ": the device is able to do it")
      else
        local terminate = rdmap.terminate { T = 0, QN = 2, MSN = 1, MO = 0, L = 1, Layer = 2, EType = 0 }
        if not fits(terminate, got) then
          t:fail(fault[1] .. ": layer 2, error type 0, on QN 2 with MSN 1", "Terminate, control octet 20",
                 got.triple and string.format("Terminate 0x%04x QN %d MSN %d", got.triple, got.QN, got.MSN)
                 or describe(got))
        end
      end
      c.tcp:close()
    end
  end,
}

check {
  id = "EMPA-8-04",
  role = "responder",
  purpose = "a failure of the responder before any FPDU: R = 1 or close; a Terminate is the other reading",
  sandwich = "tcp",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { S = 1, Rev = 2, private_data = "\0\0" })
    local got = c:receive()
    if fits(tcp.closed(), got) then
      t:ambiguous("B: the responder may not send an FPDU yet, so it rejects or closes")
    end
    if got.kind == "reply" and got.R == 1 then
      c.started = true
      got = c:receive(t.quiet)
      if got.kind == "timeout" or fits(tcp.closed(), got) then
        t:ambiguous("B: the responder may not send an FPDU yet, so it rejects or closes")
      end
    elseif got.kind == "garbage" then
      local used, f = wire.parse_fpdu(got.octets, { markers = false, crc = true, position = 0 })
      if used then got = read_segment(f.ulpdu) end
    end
    if is_terminate(got) and got.Layer == 2 then
      t:ambiguous("A: the error goes out as a Terminate")
    end
    t:fail("a failure of the responder before any FPDU", "R = 1, or FIN or RST, or a Terminate of layer 2", describe(got))
  end,
}
