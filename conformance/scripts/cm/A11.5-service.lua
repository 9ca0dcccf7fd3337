-- SPDX-License-Identifier: BSD-2-Clause
--
-- Service IDs, and what is answered where nobody listens (Annex A11.5, A11.6).
defaults { sandwich = "cm", llp = "cm" }

local function port_of()
  local _, _, port = rig.addresses()
  return port
end

-- Nobody listens there: reason 8, or an unspecified rejection (A11-TXT-17).
local function expect_nobody(t, fields, message)
  local got = t:cm_expect_reject(fields, message)
  local unspecified = got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code == 0
  if got.Reason ~= cm.INVALID_SERVICE_ID and not unspecified then
    t:fail(message, "REJ with reason 8, or reason 28 with ARI 00 00", cm.describe(got))
  end
  return got
end

check {
  id = "CA11-6-02",
  purpose = "a server is reached at exactly the Service ID of its protocol and port",
  run = function(t)
    local port = port_of()
    t:cm_expect_accept({}, "a REQ for TCP's port " .. port)
    expect_nobody(t, { protocol = cm.UDP }, "a REQ for UDP's port " .. port .. ", where nobody listens")
    expect_nobody(t, { port = (port << 8 | port >> 8) & 0xFFFF }, "a REQ for the port with its octets exchanged")
    -- The other way about, where the device can listen at a port of UDP alone.
    local other = port % 0xFFFF + 1
    if not t:cm_can_configure { listen = { { protocol = cm.TCP }, { protocol = cm.UDP, port = other } } } then return end
    expect_nobody(t, { port = other }, "a REQ for TCP's port " .. other .. ", where UDP alone is listened at")
    t:cm_expect_accept({}, "a REQ for TCP's port " .. port .. ", beside a listener of UDP")
  end,
}

check {
  id = "A11-AMB-11",
  purpose = "protocol numbers beside TCP, UDP and SCTP are in the range",
  run = function(t)
    local ipv = {}
    for _, protocol in ipairs { cm.IB, 0x00 } do
      expect_nobody(t, { protocol = protocol }, string.format("a REQ for protocol %d, where nobody listens", protocol))
    end
    if not t:cm_can_configure { listen = { { protocol = cm.TCP }, { protocol = cm.IB } } } then return end
    ipv = t:cm_ask { protocol = cm.IB, IPV = 5 }
    t:ambiguous(ipv.name == "REJ" and "A: every protocol number in the range is an IP service" or
                "B: only TCP, UDP and SCTP are")
  end,
}

check {
  id = "CA11-7",
  purpose = "Private Data of a REQ in the range is read as A11 Table 1",
  run = function(t)
    t:cm_expect_reject({ private = ("\0"):rep(92) }, "a REQ whose Private Data is zero")
    t:cm_expect_reject({ private = ("\xAA"):rep(92) }, "a REQ whose Private Data is AA..AA")
    if not rig.has_upper_tester() then return end
    -- The ULP's event has what stands in each REQ, and not what stood in one before.
    local base = t:cm_base()
    for n = 1, 3 do
      local port = 49600 + n
      local source = base.Source:sub(1, 15) .. string.char(100 + n)
      t:cm_expect_accept({ SourcePort = port, Source = source }, "a good REQ of another client")
      local event = t:cm_request_event(port)
      for name, wanted in pairs { source = source, destination = base.Destination } do
        if event[name] then t:equal("the REQ's " .. name .. " address, as the ULP is told", hex(wanted), hex((cm.address(event[name])))) end
      end
      for name, wanted in pairs { protocol = cm.TCP, destination_port = port_of() } do
        if event[name] then t:equal("the REQ's " .. name .. ", as the ULP is told", wanted, event[name]) end
      end
    end
  end,
}

check {
  id = "CA11-7-02",
  purpose = "Private Data of a REQ outside the range is the ULP's alone",
  run = function(t)
    t:cm_configure { listen = { { protocol = 6 }, { service_id = "0x1000000000000cbc" } } }
    t:cm_expect_accept({ ServiceID = 0x1000000000000cbc, private = ("\xAA"):rep(92) }, "a REQ outside the range")
    local event = t:cm_event("request")
    while event and event.service_id ~= "0x1000000000000cbc" do event = t:cm_event("request") end
    t:equal("the Private Data that the ULP is told of", ("aa"):rep(92), event and event.data or "none")
  end,
}

-- A device without the service: one that is so, or one whose upper tester switches it off.
local function without_service(t, listen)
  if rig.has_upper_tester() then t:cm_configure { service = false, listen = listen } end
end

check {
  id = "A11-TXT-16",
  frees = true,
  purpose = "a CM without the service may pass Private Data on to whoever listens",
  sandwich = "cm answer",
  run = function(t)
    without_service(t, { { service_id = string.format("0x%016x", cm.service_id(cm.TCP, port_of())) } })
    local got = t:cm_ask { private = ("\xAA"):rep(92) }
    if got.silent then t:fail("a REQ to a CM without the service", "REP or REJ", got.name) end
    t:note("the device answered by " .. cm.describe(got))
  end,
}

check {
  id = "CA11-8",
  purpose = "a CM without the service answers a REQ in the range by Invalid Service ID",
  sandwich = "cm answer",
  run = function(t)
    without_service(t)
    local got = t:cm_ask {}
    if got.name ~= "REJ" then t:warn("a REQ to a CM without the service", "REJ with reason 8", cm.describe(got)) end
    if got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code == 0 then return end -- A11-AMB-01
    if got.Reason ~= cm.INVALID_SERVICE_ID then
      t:warn("a REQ to a CM without the service", "REJ with reason 8, or reason 28 with ARI 00 00", cm.describe(got))
    end
  end,
}

check {
  id = "A11-AMB-01",
  purpose = "whether reason 8 is mandatory for a CM without the service",
  sandwich = "cm answer",
  run = function(t)
    without_service(t)
    local got = t:cm_ask {}
    if got.name ~= "REJ" then t:warn("a REQ to a CM without the service", "REJ with reason 8 or 28", cm.describe(got)) end
    if got.Reason == cm.INVALID_SERVICE_ID then
      t:ambiguous("A: reason 8 is mandatory, as the statement stands in the mandatory list")
    elseif got.Reason == cm.CONSUMER then
      t:ambiguous("B: it is advice ('should'), and reason 28 with ARI 00 00 is as good")
    end
    t:warn("a REQ to a CM without the service", "REJ with reason 8 or 28", cm.describe(got))
  end,
}

check {
  id = "A11-TXT-17",
  frees = true,
  also = { "A11-TXT-23" },
  purpose = "a server may reject any REQ of the service without a reason",
  sandwich = "cm answer",
  run = function(t)
    local got = t:cm_ask {}
    t:cm_need_reachable(got, "a good REQ")
    if got.name == "REJ" and (got.Reason ~= cm.CONSUMER or got.ari.Layer == 1 or got.ari.Code == 0) then
      t:note("the device rejects a good REQ: " .. cm.describe(got))
    elseif got.name ~= "REP" then
      t:fail("a good REQ", "REP, or REJ with a reason that fits", cm.describe(got))
    end
    if not t:cm_can_configure { unspecified = true } then return end
    t:cm_expect_code({ MajV = 1 }, {}, "a REQ that the server is told to refuse without a reason", true)
  end,
}

check {
  id = "A11-AMB-12",
  purpose = "what is answered where Private Data is bad and nobody listens",
  run = function(t)
    local message = "a REQ with MajV 1, where nobody listens"
    local got = t:cm_expect_reject({ protocol = cm.UDP, MajV = 1 }, message)
    if got.Reason == cm.INVALID_SERVICE_ID then t:ambiguous("A: the missing listener wins, reason 8") end
    if got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code <= 1 then
      t:ambiguous("B: the bad private data wins, reason 28 with ARI")
    end
    t:fail(message, "REJ with reason 8, or reason 28 with ARI 00 01 or 00 00", cm.describe(got))
  end,
}

check {
  id = "A11-TXT-18",
  role = "initiator",
  purpose = "a rejection with reason 28 and ARI 00 00 proves nothing about the service",
  requires = "upper_tester",
  run = function(t)
    local _, exchange = t:cm_receive_request {}
    cm.reject(exchange, cm.CONSUMER, "\0\0\0\0")
    local event = t:cm_event("rejected")
    if not event then t:fail("a REJ with reason 28 and ARI 00 00", "an event of the rejection", "none") end
    if event.service_proven then t:fail("a REJ with reason 28 and ARI 00 00", "no proof of the service", "the ULP is told that the device has it") end
  end,
}
