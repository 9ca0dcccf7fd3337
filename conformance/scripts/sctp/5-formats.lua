-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 5, 7.1, 8 and 11.1: adaptation indication, numbers of streams, session control messages and their Private
-- Data.

defaults { llp = "sctp" }

local function own_indication(t)
  local a = t:associate()
  local status = a.handle:status()
  t:equal("the adaptation indication of the device", sctp.DDP, status.adaptation)
end

check {
  id = "SCTP5043-5.1-03",
  role = "both",
  purpose = "INIT and INIT ACK have the adaptation indication of DDP",
  run = own_indication,
}

check {
  id = "SCTP5043-11.1-01",
  role = "initiator",
  purpose = "the initiator's INIT has the adaptation indication of DDP",
  run = own_indication,
}

check {
  id = "SCTP5043-11.1-02",
  purpose = "the responder's INIT ACK has the adaptation indication of DDP",
  run = own_indication,
}

check {
  id = "SCTP5043-7.1-03",
  purpose = "an endpoint for DDP ends associations with another adaptation indication",
  run = function(t)
    for _, value in ipairs { false, 2, 3, 0xFFFFFFFF } do
      local a = t:try_associate { tester = { adaptation = value } }
      local _, why = nil, "refused"
      if a then _, why = a.handle:receive(t.reaction) end
      if why == "timeout" then
        t:warn("an association that cannot carry DDP is ended", "ABORT, or no set-up", "an association that stays up")
      end
    end
  end,
}

-- A peer with so many outbound and inbound streams: the device uses the SIDs alone that both directions have, or
-- refuses.
local function equal_numbers(t, outbound, inbound)
  local a = t:try_associate { tester = { outbound = outbound, inbound = inbound } }
  if not a or a.handle:status().cause ~= "open" then return end
  local what = string.format("an INIT with OS %d and MIS %d", outbound, inbound)
  local last = a:streams() - 1
  for sid = last + 1, outbound - 1 do
    a:control(sid, "Initiate") -- no answer can come: an ERROR, or nothing
  end
  local got = a:receive(nil, t.quiet)
  if got then t:fail(what, "no chunk on a SID beyond those that both directions have", a:words(got)) end
  if a.handle:status().cause ~= "open" then return end
  a:control(last, "Initiate")
  a:expect_control(last, "Accept", what .. ": a session on the last SID that both directions have")
  a:probe(last)
end

check {
  id = "SCTP5043-8-03",
  role = "both",
  purpose = "an association has equal numbers of streams in both directions",
  run = function(t)
    t:sctp_equal_streams()
    if t.role ~= "responder" then return end
    equal_numbers(t, 2, 8)
    equal_numbers(t, 8, 2)
  end,
}

check {
  id = "SCTP5043-8-01",
  purpose = "all chunks of a session have the SID of its Initiate",
  run = function(t)
    local last = t:associate():streams() - 1
    for _, sid in ipairs { last // 2, last } do
      local a = t:associate()
      a:control(sid, "Initiate")
      local got = a.handle:receive(t.reaction)
      t:equal("the SID of the answer to an Initiate on SID " .. sid, sid, got and got.sid)
      a:segment(sid, empty_read(PROBE_STAG))
      got = a.handle:receive(t.reaction)
      t:equal("the SID of the Read Response", sid, got and got.sid)
      a.handle:abort()
    end
    -- Two sessions at once: each is answered on its own SID, whichever began first.
    local a = t:sctp_open()
    local other = a:other() and a:further(a:other(), "a second session")
    for _, sid in ipairs { other, a.sid, other } do
      a:segment(sid, empty_read(PROBE_STAG))
      local got = a.handle:receive(t.reaction)
      t:equal("the SID of a Read Response, with two sessions", sid, got and got.sid)
    end
  end,
}

check {
  id = "SCTP5043-4-01",
  role = "both",
  purpose = "an answer belongs to the session of its SID, whichever was asked for first",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_requested { accept = "manual" }
    local second = a:another()
    if t.role == "initiator" then
      a:ask { sid = second, enhanced = false }
      a:expect_control(second, "Initiate", "the device asks for a second session")
      for _, sid in ipairs { second, a.sid } do
        a:control(sid, "Accept")
        a:probe(sid, "a session on SID " .. sid .. " that was accepted, of two that were asked for")
      end
      return
    end
    a:control(second, "Initiate")
    local streams = { [a.sid] = a:stream_number(a.sid) }
    streams[second] = a:stream_number(second)
    for _, sid in ipairs { second, a.sid } do
      t.dut:accept { stream = streams[sid] }
      a:expect_control(sid, "Accept", "the ULP accepts the request on SID " .. sid, { ssn = 0 })
      a:probe(sid, "the session on SID " .. sid)
    end
  end,
}

local lengths = { 0, 1, 512 }

check {
  id = "SCTP5043-5.2.3-03",
  role = "initiator",
  purpose = "the Initiate has the Private Data of the ULP",
  run = function(t)
    for _, octets in ipairs(lengths) do
      local data = distinct(octets)
      local a = t:associate { dut = { private_data = octets > 0 and hex(data) or nil } }
      a:expect_control(nil, "Initiate", "Private Data of " .. octets .. " octets", { data = data })
      a.handle:abort()
    end
    -- One Initiate after another in the same association, each shorter than the one before.
    local a = t:associate { dut = { private_data = hex(distinct(512)) } }
    a.sid = a:expect_control(nil, "Initiate", "an Initiate with 512 octets").sid
    for n, octets in ipairs { 20, 1, 0 } do
      local sid, data = a:other(n), distinct(octets)
      if sid == nil or not rig.has_upper_tester() then return end
      a:ask { sid = sid, enhanced = false, private_data = octets > 0 and hex(data) or nil }
      a:expect_control(sid, "Initiate", "Private Data of " .. octets .. " octets, after longer ones on other SIDs", { data = data })
    end
  end,
}

-- The Function Code opens no session.
local function opens_nothing(t, code, more)
  local a = t:associate { tester = { port = more and more.port } }
  a:control(0, code, { data = more and more.data })
  local got = a:receive(0, t.quiet)
  if got and not (got.kind == "control" and got.code == sctp.Terminate) then
    t:fail("Function Code " .. code .. " opens no session", "Terminate or nothing", "a chunk of PPID " .. got.ppid ..
           (got.code and " and code " .. got.code or ""))
  end
  a.handle:abort()
end

check {
  id = "SCTP5043-5.2.3-15",
  purpose = "an unknown Function Code is no Initiate; to a device without RFC 6581 code 5 is one",
  run = function(t)
    for _, code in ipairs { 0, 8, 9, 0xFFFF } do opens_nothing(t, code) end
    if not rig.has_upper_tester() then return end
    local port = t:listen({ enhanced = false }, true)
    opens_nothing(t, sctp["Enhanced Initiate"], { port = port, data = wire.pack("mpa_enhanced", { IRD = 1, ORD = 1 }) })
  end,
}
