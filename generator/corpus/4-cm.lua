-- SPDX-License-Identifier: BSD-2-Clause
--
-- CM messages with the private data of the RDMA IP CM Service (Annex A11), over what can carry them.
local START <const>, STEP <const> = 1000000000, 0.0001
corpus { folder = "generated", start = START, step = STEP }

local INITIATOR <const>, RESPONDER <const> = 1, 2
local CONSUMER_REJECT <const>, INVALID_SERVICE_ID <const> = net.cm_reasons["Consumer Reject"], net.cm_reasons["Invalid Service ID"]
local UNSUPPORTED <const> = net.cm_reasons["Unsupported request"]

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

local function request(ipv6, id, protocol, port, consumer, source)
  return net.cm_request {
    local_id = id, transaction = id, protocol = protocol, source_port = 49153, destination_port = port, consumer = consumer,
    source = source or ipv6 and "fd00::1" or "192.0.2.1", destination = ipv6 and "fd00::2" or "192.0.2.2" }
end

local function answer(name, own, other)
  return net.cm_answer { attribute = net.cm_attributes[name], transaction = 1, local_id = own, remote_id = other }
end

-- The ARI of the service's rejections (A11.7 Table 4): a code of Table 5 by its name or number, and the value that is
-- suggested.
local function ari(code, suggested)
  suggested = suggested or ""
  return string.char(0, net.cm_codes[code] or code, #suggested, 0) .. suggested
end

local codes = {}
for _, code in pairs(net.cm_codes) do codes[#codes + 1] = code end
table.sort(codes)

-- Accepted, and rejected for every reason of Annex A11.
local function exchanges(given)
  local give = carrier(given)
  give(INITIATOR, request(given.ipv6, 0xA1, 6, 3260, "consumer"))
  give(RESPONDER, patched(answer("MRA", 0xB1, 0xA1), 33, "\xA0"))
  give(RESPONDER, answer("REP", 0xB1, 0xA1))
  give(INITIATOR, answer("RTU", 0xA1, 0xB1))
  give(INITIATOR, answer("DREQ", 0xA1, 0xB1))
  give(RESPONDER, answer("DREP", 0xB1, 0xA1))
  local rejections = { ari("Major Version", "\0"), "\1\9" } -- MajV 0 is suggested; by the ULP
  for _, code in ipairs(codes) do table.insert(rejections, ari(code)) end -- each code of Table 5
  for i, ari in ipairs(rejections) do
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

-- Where the annex can be read in more than one way: what a server of each reading answers.
local INFO_LENGTH <const> = 33 -- of a REJ: 7 bits
local function service(code, suggested, length) return { CONSUMER_REJECT, ari(code, suggested), length } end
local readings = {
  -- `octets` of the REQ that are not as usual; its `protocol`, `port` and `source`; and the answers: a REP, or a REJ's
  -- reason, ARI and length. A11-AMB-01: no service.
  { { INVALID_SERVICE_ID }, service("Unspecified") },
  -- A11-AMB-03: MajV 1.
  { octets = { 164, "\x10" }, { UNSUPPORTED }, service("Major Version") },
  -- A11-AMB-04: MinV 1.
  { octets = { 164, "\x01" }, service("Unspecified"), service("Minor Version") },
  -- A11-AMB-05: both.
  { octets = { 164, "\x11" }, service("Major Version"), service("Minor Version") },
  -- A11-AMB-06: IPV 5.
  { octets = { 165, "\x50" }, service("IPV", "\x04"), service("IPV", "\x40") },
  -- A11-AMB-07: Reject Info Length.
  { octets = { 165, "\x50" }, service("IPV", nil, 4), service("IPV", nil, 72), service("IPV", nil, 0) },
  -- A11-AMB-08: an IPv4-mapped source.
  { source = "::ffff:192.0.2.1", "REP", service("Source IP Address") },
  -- A11-AMB-10: a padding that is not zero.
  { octets = { 170, "\9" }, "REP", service("Source IP Address") },
  -- A11-AMB-11: protocol 0.
  { protocol = 0, "REP", service("IPV") },
  -- A11-AMB-12: IPV 5, and nobody listens.
  { octets = { 165, "\x50" }, port = 7, { INVALID_SERVICE_ID }, service("IPV") },
}

capture {
  name = "cm-readings", about = "IP CM: what the annex leaves open, answered in each way",
  findings = { -- of the REQs
    { "A11-TXT-07", "FAIL", 5 }, { "A11-TXT-07", "FAIL", 7 }, { "A11-TXT-08", "FAIL", 9 }, { "A11-TXT-08", "FAIL", 11 },
    { "A11-TXT-07", "FAIL", 13 }, { "A11-TXT-08", "FAIL", 13 }, { "A11-TXT-07", "FAIL", 15 }, { "A11-TXT-08", "FAIL", 15 },
    { "A11-TXT-09", "FAIL", 17 }, { "A11-TXT-09", "FAIL", 19 }, { "A11-TXT-09", "FAIL", 21 }, { "A11-TXT-09", "FAIL", 23 },
    { "A11-TXT-09", "FAIL", 25 }, { "A11-TXT-13", "FAIL", 27 }, { "A11-TXT-13", "FAIL", 29 }, { "CA11-5-02", "FAIL", 31 },
    { "CA11-5-02", "FAIL", 33 }, { "A11-TXT-09", "FAIL", 39 }, { "A11-TXT-09", "FAIL", 41 },
  },
  run = function()
    local give, id = carrier { carrier = "roce_v2" }, 0x100
    for _, case in ipairs(readings) do
      for _, got in ipairs(case) do
        id = id + 1
        local req = request(case.source ~= nil, id, case.protocol or 6, case.port or 3260, nil, case.source)
        give(INITIATOR, case.octets and patched(req, case.octets[1], case.octets[2]) or req)
        if got == "REP" then
          give(RESPONDER, answer("REP", id + 0x1000, id))
        else
          local rej = net.cm_reject { transaction = id, remote_id = id, reason = got[1], ari = got[2] or "" }
          give(RESPONDER, got[3] and patched(rej, INFO_LENGTH, string.char(got[3] << 1)) or rej)
        end
      end
    end
  end,
}
