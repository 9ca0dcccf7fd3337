-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 5, 7.1, 8 and 11.1: adaptation indication, numbers of streams, session control messages and their Private Data.

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

-- Without agreement on DDP the association may be aborted; where it stays up, DDP and RDMAP say nothing on it.
local function no_ddp(t, value)
  local a = t:try_associate { tester = { adaptation = value } }
  if not a then return end
  if t.role == "responder" then a.handle:send { sid = 0, ppid = sctp.control, data = string.pack(">I2I2", 0, sctp.Initiate) } end
  local got = a:receive(0, t.quiet)
  local words = value and string.format("indication 0x%x", value) or "no indication"
  t:equal("DATA of the device on an association with " .. words, nil, got and "PPID " .. got.ppid)
  a.handle:abort()
end

check {
  id = "SCTP5043-11.1-04",
  role = "both",
  purpose = "a peer that gives no adaptation indication gets no DDP",
  run = function(t) no_ddp(t, false) end,
}

check {
  id = "SCTP5043-11.1-06",
  role = "both",
  purpose = "a peer whose adaptation indication is another one gets no DDP",
  run = function(t)
    for _, value in ipairs { 0, 2, 3, 0x01000000, 0xFFFFFFFF } do no_ddp(t, value) end
  end,
}

check {
  id = "SCTP5043-11.1-03",
  role = "both",
  purpose = "the peer's adaptation indication is verified: DDP with 1, none without it",
  run = function(t)
    no_ddp(t, false)
    no_ddp(t, 3)
    local a = t:sctp_open()
    a:probe(a.sid)
  end,
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

check {
  id = "SCTP5043-11.1-05",
  role = "both",
  purpose = "with indication 1 the adaptation is in use",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
  end,
}

check {
  id = "SCTP5043-8-03",
  role = "initiator",
  purpose = "an association has equal numbers of streams in both directions",
  run = function(t)
    local status = t:associate().handle:status()
    t:equal("MIS of the device's INIT, which is to be its OS", status.outbound, status.inbound)
  end,
}

check {
  id = "SCTP5043-8-01",
  also = { "SCTP5043-4-01" },
  purpose = "all chunks of a session have the SID of its Initiate",
  run = function(t)
    for _, sid in ipairs { 5, 63 } do
      local a = t:associate()
      a:control(sid, "Initiate")
      local got = a.handle:receive(t.reaction)
      t:equal("the SID of the answer to an Initiate on SID " .. sid, sid, got and got.sid)
      a:segment(sid, empty_read(PROBE_STAG))
      got = a.handle:receive(t.reaction)
      t:equal("the SID of the Read Response", sid, got and got.sid)
      a.handle:abort()
    end
  end,
}

check {
  id = "SCTP5043-5.2.3-06",
  role = "both",
  purpose = "Private Data of no octets is fine",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
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
      a:expect_control(0, "Initiate", "Private Data of " .. octets .. " octets", { data = data })
      a.handle:abort()
    end
  end,
}

check {
  id = "SCTP5043-5.2.3-08",
  purpose = "an Initiate with more than 512 octets of Private Data harms nothing",
  run = function(t)
    for sid, octets in ipairs { 513, 1000 } do
      local a = t:associate()
      a:control(sid, "Initiate", { data = distinct(octets) })
      a:expect_acknowledged("an Initiate with " .. octets .. " octets of Private Data")
      local got = a:receive(sid, t.quiet)
      if got and got.kind == "control" and (got.code == sctp.Accept or got.code == sctp.Terminate) or not got then
        a.handle:abort()
      else
        t:fail("too much Private Data", "Terminate, Accept or nothing", "a chunk of PPID " .. got.ppid)
      end
    end
  end,
}

check {
  id = "SCTP5043-5.2.3-15",
  purpose = "an unknown Function Code is no Initiate",
  run = function(t)
    for sid, code in ipairs { 8, 9, 0xFFFF, 0 } do
      local a = t:associate()
      a:control(sid, code)
      local got = a:receive(sid, t.quiet)
      if got and not (got.kind == "control" and got.code == sctp.Terminate) then
        t:fail("Function Code " .. code .. " opens no session", "Terminate or nothing", "a chunk of PPID " .. got.ppid ..
               (got.code and " and code " .. got.code or ""))
      end
      a.handle:abort()
    end
  end,
}
