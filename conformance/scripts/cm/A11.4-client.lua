-- SPDX-License-Identifier: BSD-2-Clause
--
-- The REQ of a client whose addresses and ports are known (Annex A11.4, A11.5).
defaults { sandwich = "cm", llp = "cm" }

check {
  id = "A11-TXT-12",
  role = "initiator",
  requires = "upper_tester",
  purpose = "Source Port is the client's port, and its protocol stands in the Service ID",
  run = function(t)
    local got, exchange = t:cm_receive_request { source_port = 49409 }
    t:equal("Source Port", 49409, got.ip.SourcePort)
    t:cm_accept(exchange)
  end,
}

check {
  id = "A11-TXT-13",
  role = "initiator",
  purpose = "the addresses are the client's own and the remote one",
  run = function(t)
    local own, dut = rig.addresses()
    local got, exchange = t:cm_receive_request()
    t:equal("Source IP Address", hex(cm.address(dut)), hex(got.ip.Source))
    t:equal("Destination IP Address", hex(cm.address(own)), hex(got.ip.Destination))
    t:cm_accept(exchange)
  end,
}

check {
  id = "A11-TXT-15",
  role = "initiator",
  requires = "upper_tester",
  purpose = "a user of the service takes the Service ID of its protocol and port",
  run = function(t)
    local wanted = { { cm.TCP, 3260 }, { cm.SCTP, 2049 }, { cm.IB, 3260 } } -- those after the first where the device has such a protocol
    for i, case in ipairs(wanted) do
      local got, exchange = t:cm_receive_request { protocol = case[1], port = case[2], optional = i > 1 }
      if got then
        t:equal("Service ID", string.format("%016x", cm.service_id(case[1], case[2])), string.format("%016x", got.ServiceID))
        t:cm_accept(exchange)
        exchange:close()
      end
    end
  end,
}
