-- SPDX-License-Identifier: BSD-2-Clause
--
-- CM messages with the private data of the RDMA IP CM Service (Annex A11), over what can carry them.
local START <const>, STEP <const> = 1000000000, 0.0001
corpus { folder = "generated", start = START, step = STEP }

local INITIATOR <const>, RESPONDER <const> = 1, 2
local CONSUMER_REJECT <const>, INVALID_SERVICE_ID <const> = net.cm_reasons["Consumer Reject"], net.cm_reasons["Invalid Service ID"]

local function ends(from, ipv4)
  local form = ipv4 and "192.0.2.%d" or "fe80::%d"
  return form:format(from), form:format(3 - from)
end

-- What gives a MAD of one side to the capture. given: carrier, ipv6, erf.
local function carrier(given)
  return function(from, mad)
    local source, destination = ends(from, given.carrier == "roce_v2" and not given.ipv6)
    local octets = net.cm_packet(mad, { carrier = given.carrier, source = source, destination = destination,
                                        source_lid = from, destination_lid = 3 - from })
    packet(given.erf and net.erf(octets, START * 1000000000) or octets, { inbound = from == RESPONDER })
  end
end

local function request(ipv6, id, protocol, port, consumer)
  return net.cm_request {
    local_id = id, transaction = id, protocol = protocol, source_port = 49153, destination_port = port, consumer = consumer,
    source = ipv6 and "fd00::1" or "192.0.2.1", destination = ipv6 and "fd00::2" or "192.0.2.2" }
end

local function answer(name, own, other)
  return net.cm_answer { attribute = net.cm_attributes[name], transaction = 1, local_id = own, remote_id = other }
end

-- Accepted, and rejected for every reason of Annex A11.
local function exchanges(given)
  local give = carrier(given)
  give(INITIATOR, request(given.ipv6, 0xA1, 6, 3260, "consumer"))
  give(RESPONDER, patched(answer("MRA", 0xB1, 0xA1), 33, "\xA0"))
  give(RESPONDER, answer("REP", 0xB1, 0xA1))
  give(INITIATOR, answer("RTU", 0xA1, 0xB1))
  give(INITIATOR, answer("DREQ", 0xA1, 0xB1))
  give(RESPONDER, answer("DREP", 0xB1, 0xA1))
  for i, ari in ipairs { "\0\1\1\0\0", "\0\6\0\0", "\1\9", "\0\0" } do
    local id = 0xC0 + i
    give(INITIATOR, request(given.ipv6, id, 132, 2049, "consumer"))
    give(RESPONDER, net.cm_reject { transaction = id, remote_id = id, reason = CONSUMER_REJECT, ari = ari })
  end
  for _ = 1, 2 do give(INITIATOR, request(given.ipv6, 0xD1, 17, 7, "consumer")) end
  give(RESPONDER, net.cm_reject { transaction = 0xD1, remote_id = 0xD1, reason = INVALID_SERVICE_ID })
end

capture {
  name = "cm-roce-v2", about = "IP CM over RoCEv2: accepted, and rejected for every reason of Annex A11",
  run = function()
    exchanges { carrier = "roce_v2" }
  end,
}

capture {
  name = "cm-roce-v2-ipv6", about = "the same over IPv6",
  run = function()
    exchanges { carrier = "roce_v2", ipv6 = true }
  end,
}

capture {
  name = "cm-roce-v1", about = "the same over RoCE (v1)",
  run = function()
    exchanges { carrier = "roce_v1" }
  end,
}

capture {
  name = "cm-infiniband", about = "the same on InfiniBand, and the plain CM's other messages",
  link = "erf",
  run = function()
    exchanges { carrier = "infiniband_global", erf = true }
    exchanges { carrier = "infiniband", erf = true }
  end,
}

capture {
  name = "cm-faults", about = "IP CM: versions and IPV that do not exist, padding that is not zero",
  findings = {
    { "A11-TXT-07", "FAIL", 1 }, { "A11-TXT-08", "FAIL", 2 }, { "A11-TXT-09", "FAIL", 3 },
    { "A11-TXT-10", "FAIL", 4 }, { "CA11-5-02", "FAIL", 5 }, { "CA11-5-02", "FAIL", 6 },
  },
  run = function()
    local give = carrier { carrier = "roce_v2" }
    for i, fault in ipairs { { 164, 0x10 }, { 164, 0x01 }, { 165, 0x50 }, { 165, 0x46 }, { 170, 9 }, { 186, 9 } } do
      give(INITIATOR, patched(request(false, 0xA0 + i, 6, 3260), fault[1], string.char(fault[2])))
    end
  end,
}
