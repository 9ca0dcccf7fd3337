-- SPDX-License-Identifier: BSD-2-Clause
--
-- The REQ of a client whose addresses and ports are known (Annex A11.4, A11.5).
defaults { sandwich = "cm", llp = "cm" }

-- A port of the client that the check asks for, and the next one: of the range for such (RFC 6335). The consumer data
-- of a REQ, by A11 Table 1.
local CLIENT_PORT <const>, IP_CONSUMER <const> = 49409, 56

-- `octets` of Private Data, the last one not zero: it has no length on the wire, and an event may leave out the zeros
-- that follow.
local function data_of(octets) return (("\xC5\x3A\x91\xFF"):rep(octets // 4 + 1)):sub(1, octets) end

check {
  id = "A11-TXT-12",
  role = "initiator",
  requires = "upper_tester",
  purpose = "Source Port is the client's port, and its protocol stands in the Service ID",
  run = function(t)
    for n = 0, 1 do -- the second one is not the first one's
      local got, exchange = t:cm_receive_request { source_port = CLIENT_PORT + n }
      t:equal("Source Port", CLIENT_PORT + n, got.ip.SourcePort)
      t:cm_accept(exchange)
      exchange:close()
    end
  end,
}

check {
  id = "CA11-1",
  role = "initiator",
  requires = "upper_tester",
  purpose = "the consumer data of a REQ are those of its ULP, and nothing of an earlier REQ",
  run = function(t)
    local own, dut = rig.addresses()
    for _, octets in ipairs { IP_CONSUMER, 20, 4, 3, 2, 1, 0 } do -- each less than the one before
      local data = data_of(octets)
      local got, exchange = t:cm_receive_request { data = data }
      t:equal("Source IP Address", hex(cm.address(dut)), hex(got.ip.Source))
      t:equal("Destination IP Address", hex(cm.address(own)), hex(got.ip.Destination))
      t:equal("consumer data of a ULP with " .. octets .. " octets", hex(cm.filled(data, IP_CONSUMER)), hex(got.private:sub(-IP_CONSUMER)))
      t:cm_accept(exchange)
      exchange:close()
    end
  end,
}

check {
  id = "A11-TXT-04",
  role = "both",
  requires = "upper_tester",
  purpose = "the Private Data of a REP are the ULP's alone: those of the server go out, those that a client gets are told",
  run = function(t)
    local lengths = { cm.REPLY_DATA, 20, 4, 3, 2, 1, 0 } -- each less than the one before
    if t.role == "initiator" then
      for _, octets in ipairs(lengths) do
        local data = data_of(octets)
        local _, exchange, number = t:cm_receive_request()
        t:cm_accept(exchange, "a REQ that is accepted with " .. octets .. " octets of Private Data", data)
        local event
        repeat event = t:cm_event("established") until event == nil or event.exchange == number
        if not event then t:fail("a REP with " .. octets .. " octets of Private Data", "the ULP is told of it", "no such event") end
        if octets == cm.REPLY_DATA and event.data == nil then t:skip("the device's upper tester does not tell Private Data of REPs") end
        t:equal("Private Data of a REP of " .. octets .. " octets, as the ULP is told", hex(data), cm.event_data(event))
        exchange:close()
      end
      return
    end
    local replies = {}
    for n, octets in ipairs(lengths) do replies[n] = hex(data_of(octets)) end
    t:cm_configure { reply = replies }
    for _, octets in ipairs(lengths) do
      local got = t:cm_expect_accept({}, "a REQ to a ULP that accepts it with " .. octets .. " octets")
      t:equal("Private Data of a REP whose ULP gives " .. octets .. " octets", hex(cm.filled(data_of(octets), cm.REPLY_DATA)),
              hex(cm.reply_data(got)))
    end
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
    -- those after the first where the device has such a protocol
    local wanted = { { cm.TCP, 3260 }, { cm.SCTP, 2049 }, { cm.IB, 3260 } }
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
