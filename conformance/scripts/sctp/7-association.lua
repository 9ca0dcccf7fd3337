-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 7.1 and 11: associations with and without DDP, packets with several chunks, and how sessions and
-- associations end.

defaults { llp = "sctp" }

local ABORTED = "ABORT"

-- How the device answers an association whose tester indicates `value` (false: nothing) and that asks for a session:
-- the first chunk of DDP, "refused", "ended", or nil when there was none (for the quiet time, unless `seconds` are
-- given).
local function procedures(t, value, seconds)
  local a = t:try_associate { tester = { adaptation = value } }
  if not a then return "refused" end
  if t.role == "responder" then
    if not a.handle:send { sid = 0, ppid = sctp.control, data = string.pack(">I2I2", 0, sctp.Initiate) } then return "ended" end
  end
  local got, why = a.handle:receive(seconds or t.quiet)
  a.handle:abort()
  if got then return got end
  return why ~= "timeout" and "ended" or nil
end

-- FAIL if the device sends a chunk of DDP where the tester indicates one of these values.
local function no_procedures(t, values)
  for _, value in ipairs(values) do
    local got = procedures(t, value)
    if type(got) == "table" and (got.ppid == sctp.segment or got.ppid == sctp.control) then
      t:fail("the peer says " .. indication_text(value) .. ": no procedures of DDP", "ABORT, or no chunk of PPID 16 or 17",
             "a chunk of PPID " .. got.ppid)
    end
  end
end

check {
  id = "SCTP5043-11.1-04",
  role = "both",
  purpose = "a peer without an adaptation indication: no procedures of DDP",
  run = function(t) no_procedures(t, { false }) end,
}

check {
  id = "SCTP5043-11.1-06",
  role = "both",
  purpose = "a peer with another adaptation indication: no procedures of DDP",
  run = function(t) no_procedures(t, { 0, 2, 3, 0x01000000 }) end,
}

check {
  id = "SCTP5043-11.1-03",
  role = "both",
  purpose = "the peer's adaptation indication decides what is done on the association",
  run = function(t)
    no_procedures(t, { false, 2, 0xFFFFFFFF })
    local got = procedures(t, sctp.DDP, t.reaction)
    if type(got) ~= "table" or got.ppid ~= sctp.control then
      t:fail("the peer says DDP", t.role == "responder" and "an answer to its Initiate" or "an Initiate", tostring(got or "nothing"))
    end
  end,
}

check {
  id = "SCTP5043-11.1-05",
  purpose = "a peer that indicates DDP gets an Accept or a Reject",
  sandwich = "association",
  run = function(t)
    local a = t:associate()
    a:control(0, "Initiate")
    local got, why = a:receive(0, 5)
    if not (got and got.kind == "control" and (got.code == sctp.Accept or got.code == sctp.Reject)) then
      t:fail("an Initiate where both sides indicate DDP", "Accept or Reject within 5 s", got and got.kind or why)
    end
  end,
}

check {
  id = "SCTP5043-7.1-04",
  frees = true,
  also = { "SCTP5043-7.1-05", "SCTP5043-11.1-07" },
  purpose = "associations of another mode may be refused, and do not disturb the first",
  run = function(t) t:survives_other_mode(false) end,
}

check {
  id = "SCTP5043-11.1-08",
  frees = true,
  purpose = "associations of DDP and RDMA together may be refused, and do not disturb the first",
  run = function(t) t:survives_other_mode(sctp["DDP+RDMA"]) end,
}

check {
  id = "SCTP5043-11.2-03",
  sandwich = "startup",
  purpose = "chunks that share a packet are each handled",
  run = function(t)
    local a = t:sctp_open()
    -- of no octets: placed nowhere
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" }, { hold = true })
    a:segment(a.sid, empty_read(PROBE_STAG), { hold = true })
    local other = a:other()
    if other then
      a:control(other, "Initiate", { hold = true })
    else
      a:segment(a.sid, empty_read(PROBE_STAG + 1), { hold = true })
    end
    a.handle:flush()
    a:expect_segment(a.sid, rdmap.read_response {}, "a Read after a Write in one packet is answered")
    if other then
      a:expect_control(other, "Accept", "an Initiate in the same packet is accepted")
    else
      a:expect_segment(a.sid, rdmap.read_response {}, "a second Read in the same packet is answered")
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Ends

local MANY <const> = 20 -- sessions of an association, where the device has so many streams

-- An association with so many sessions, or as many as it has streams, in operation: a.sids.
local function sessions(t, count, options)
  local a = t:associate(options)
  a.sid = a:session()
  a:probe(a.sid)
  a.sids = { a.sid }
  for n = 1, math.min(count, a:streams()) - 1 do
    local sid = a:other(n)
    if t.role == "initiator" then t.dut:connect { association = a.number, sid = sid, enhanced = false } end
    a:session(sid)
    a:probe(sid)
    a.sids[#a.sids + 1] = sid
  end
  return a
end

check {
  id = "SCTP5043-11.3-01",
  purpose = "an association that fails by an error of SCTP's is ended by SCTP, not by its streams",
  run = function(t)
    local a = sessions(t, MANY)
    a:probe(a.sid)
    local status = a.handle:status()
    -- DATA without user data
    a.handle:raw(string.pack(">BBI2I4I2I2I4", 0, sctp.UNORDERED, 16, status.next_tsn, a.sid, 0, sctp.segment))
    local deadline, chunks = rig.now() + 5, 0
    repeat
      local got, why = a.handle:receive(math.max(0, deadline - rig.now()))
      if got then chunks = chunks + 1 end
    until not got
    t:equal("how an association with a DATA chunk without user data ends within 5 s", ABORTED, a.handle:status().cause)
    if chunks > 0 then t:warn("an association that SCTP ends", "no chunks of DDP because of it", chunks .. " chunks") end
  end,
}

check {
  id = "SCTP5043-11.3-02",
  purpose = "before an association is ended, not each stream has its RDMAP Terminate",
  requires = "upper_tester",
  run = function(t)
    local port = t:listen {}
    local a = sessions(t, MANY, { tester = { port = port } })
    local up = t:await_event("association_up", { port = port })
    if not up then t:inconclusive("the upper tester does not tell of the association") end
    t:instrument("abort_association", { association = up.association })
    local terminates = 0
    local deadline = rig.now() + 5
    repeat
      local got = a.handle:receive(math.max(0, deadline - rig.now()))
      if got and got.ppid == sctp.segment and read_segment(got.data:sub(3)).Opcode == 7 then terminates = terminates + 1 end
    until not got
    if a.handle:status().cause == "open" then t:fail("the ULP ends the association", "its end within 5 s", "it is up") end
    if terminates > 1 then t:warn("the ULP ends an association with " .. #a.sids .. " sessions", "one RDMAP Terminate at most", terminates .. " of them") end
  end,
}

check {
  id = "SCTP5043-11.3-03",
  purpose = "all users of streams are told when their association has ended",
  requires = "upper_tester",
  run = function(t)
    local port = t:listen {}
    local a = sessions(t, MANY, { tester = { port = port } })
    local streams = {}
    for _, sid in ipairs(a.sids) do
      local event = t:await_event("accepted", { port = port, sid = sid })
      if not event then t:inconclusive("the upper tester does not tell of the sessions") end
      streams[#streams + 1] = event.stream
    end
    a.handle:abort()
    for _, stream in ipairs(streams) do
      if not t:await_event("closed", { stream = stream }, 5) then
        t:fail("an ABORT with " .. #a.sids .. " sessions open", "their users are told that their stream has ended", "the user of one is not")
      end
    end
  end,
}

-- An error of one session: its RDMAP Terminate on its SID, and the others go on.
local function one_ends(t)
  local a = sessions(t, 2)
  a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
  local got, why = a:receive(a.sid)
  if not (got and got.kind == "segment" and is_terminate(got.segment, { "DDP_INVALID_STAG", "RDMAP_INVALID_STAG" })) then
    t:fail("a Write to an unknown STag", "RDMAP Terminate 1/1/00 or 0/1/00 on its SID",
           got and (got.segment and describe(got.segment) or got.kind) or why)
  end
  return a, got
end

check {
  id = "SCTP5043-11.3-04",
  role = "both",
  purpose = "a stream that ends for a reason of DDP's has its RDMAP Terminate, then the session's",
  run = function(t)
    local a, got = one_ends(t)
    t:equal("QN of the RDMAP Terminate", 2, got.segment.QN)
    t:equal("MSN of the RDMAP Terminate", 1, got.segment.MSN)
    a:control(a.sid, "Terminate")
    a:expect_ended(a.sid, "after the RDMAP Terminate the session ends")
    a:expect_acknowledged("a Terminate after the RDMAP Terminate")
    if a.sids[2] then a:probe(a.sids[2], "the other session of the association goes on") end
  end,
}

check {
  id = "SCTP5043-11.3-05",
  role = "both",
  purpose = "the end of the only session: the association stays, or is shut down in order",
  run = function(t)
    for _, ending in ipairs { "Terminate", 9 } do
      local a = t:sctp_open()
      a:probe(a.sid)
      a:control(a.sid, ending)
      local got, why
      repeat got, why = a:receive(a.sid, t.quiet) until not got
      if why == ABORTED then
        t:fail("the end of the only session", "the association stays, or is shut down", "ABORT")
      elseif why == "timeout" then
        if ending == "Terminate" and t.role == "responder" then
          a.next_ssn[a.sid], a.next_msn = nil, {}
          a:session(a.sid)
          a:probe(a.sid, "a new session on the SID")
        end
        a.handle:heartbeat()
        rig.wait(t.quiet)
        t:equal("HEARTBEATs that are answered", 1, a.handle:status().heartbeats)
      end
      a.handle:abort()
    end
  end,
}

-- The indication of a device whose ULP asks for this one (0: an endpoint without DDP). An association without DDP may
-- end at once.
local function indicated(t, value)
  local port = t.role == "responder" and t:listen({ indication = value }, true) or nil
  local a, why = t:try_associate { tester = { port = port }, dut = { indication = value }, special = true }
  if not a then t:inconclusive("no association with an endpoint whose ULP names indication " .. value .. ": " .. why) end
  local adaptation = a.handle:status().adaptation
  a.handle:abort()
  return adaptation
end

check {
  id = "SCTP5043-7.1-01",
  role = "both",
  sandwich = "association",
  purpose = "the ULP names the adaptation indication of its endpoint",
  requires = "upper_tester",
  run = function(t)
    t:equal("the indication of an endpoint for DDP", sctp.DDP, indicated(t, sctp.DDP))
    t:equal("the indication of an endpoint without DDP", nil, indicated(t, 0))
  end,
}
