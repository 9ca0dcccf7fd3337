-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, sections 1 to 4 and 7.1: adaptation indication, modes, numbers of streams.

defaults { llp = "sctp-draft02" }

local ABORTED = "ABORT"
local RDMA = sctp["DDP+RDMA"]

local function is_ddp(got)
  return got.ppid == sctp["draft segment"] or got.ppid == sctp["draft control"]
end

check {
  id = "SCTP-1-01",
  role = "both",
  purpose = "what DDP discards is acknowledged all the same, HEARTBEATs are answered, and the association stays",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
    a:segment(a.sid, empty_read(PROBE_STAG))
    a:expect_acknowledged("a bad segment, and one on the aborted stream")
    a.handle:heartbeat()
    rig.wait(t.quiet)
    local status = a.handle:status()
    t:equal("HEARTBEATs that are answered", 1, status.heartbeats)
    t:equal("the association after an error of DDP", "open", status.cause)
  end,
}

local function same_sid(t)
  local a = t:associate()
  local last = a:streams() - 1
  for _, sid in ipairs { last // 2, last } do
    a:segment(sid, empty_read(PROBE_STAG + sid))
    local got, why = a.handle:receive(t.reaction)
    if not got then t:fail("a Read on SID " .. sid, "its Response", why) end
    t:equal("the SID of the answer to a Read on SID " .. sid, sid, got.sid)
  end
end

check {
  id = "SCTP-1.1-01",
  also = { "SCTP-4-01", "SCTP-4-05" },
  role = "both",
  sandwich = "association",
  purpose = "a DDP stream is the pair of SCTP streams of one SID; segments may come first on any",
  run = same_sid,
}

local function own_indication(t)
  local status = t:associate().handle:status()
  if status.adaptation ~= sctp.DDP and status.adaptation ~= RDMA then
    t:fail("the adaptation indication of the device", "1 or 2", tostring(status.adaptation or "none"))
  end
end

check {
  id = "SCTP-2.1-02",
  role = "both",
  sandwich = "association",
  purpose = "INIT and INIT ACK have the adaptation indication",
  run = own_indication,
}

check {
  id = "SCTP-7.1-01",
  role = "initiator",
  sandwich = "association",
  purpose = "an initiator that wants DDP or RDMA has the indication in its INIT",
  run = own_indication,
}

check {
  id = "SCTP-7.1-02",
  sandwich = "association",
  purpose = "a responder that wants DDP or RDMA has the indication in its INIT ACK",
  run = own_indication,
}

-- The device's answer to a Read on an association with these parameters: "refused", "ended", "silent" or the chunk.
-- `write`: a Write that goes before it.
local function answer_of(t, tester, write)
  local a = t:try_associate { tester = tester }
  if not a then return "refused" end
  local sid = a:session()
  local ssn = 1
  if write then
    if not a.handle:send { sid = sid, ppid = sctp["draft segment"], data = string.pack(">I2", ssn) .. write:octets() } then return "ended" end
    ssn = ssn + 1
  end
  local octets = string.pack(">I2", ssn) .. a:octets(sid, empty_read(PROBE_STAG))
  if not a.handle:send { sid = sid, ppid = sctp["draft segment"], data = octets } then return "ended" end
  local got, why = a.handle:receive(t.quiet)
  a.handle:abort()
  return got or (why == "timeout" and "silent" or "ended")
end

-- FAIL if the device sends a chunk of DDP where the tester indicates one of these values.
local function no_procedures(t, values)
  for _, value in ipairs(values) do
    local got = answer_of(t, { adaptation = value })
    if type(got) == "table" and is_ddp(got) then
      t:fail("the peer says " .. indication_text(value) .. ": no procedures of DDP", "ABORT, or no chunk of PPID 1 or 2",
             "a chunk of PPID " .. got.ppid)
    end
  end
end

local function expect_response(t, value)
  local got = answer_of(t, { adaptation = value })
  if type(got) ~= "table" or got.ppid ~= sctp["draft segment"] then
    t:fail("the peer says " .. indication_text(value), "a Read Response", type(got) == "table" and "PPID " .. got.ppid or got)
  end
end

check {
  id = "SCTP-7.1-04",
  role = "both",
  purpose = "a peer without an adaptation indication: no procedures of DDP",
  run = function(t)
    local memory = rig.has_upper_tester() and t:memory { octets = 16, access = { "write", "read" } } or nil
    local got = answer_of(t, { adaptation = false }, memory and memory:write(0, "no procedures"))
    if type(got) == "table" and is_ddp(got) then
      t:fail("the peer says " .. indication_text(false) .. ": no procedures of DDP", "ABORT, or no chunk of PPID 1 or 2",
             "a chunk of PPID " .. got.ppid)
    end
    if memory then memory:check("a Write on an association whose peer indicates nothing") end
  end,
}

check {
  id = "SCTP-7.1-08",
  role = "both",
  purpose = "a peer with another adaptation indication: no procedures of DDP",
  run = function(t) no_procedures(t, { 0, 3, 0x00000101, 0x00000102, 0x01000000, 0xFFFFFFFF }) end,
}

check {
  id = "SCTP-7.1-03",
  role = "both",
  purpose = "the peer's adaptation indication decides what is done on the association",
  run = function(t)
    no_procedures(t, { false, 3, 0xFFFFFFFF })
    expect_response(t, RDMA)
  end,
}

check {
  id = "SCTP-7.1-06",
  role = "both",
  sandwich = "association",
  purpose = "both sides indicate DDP and RDMA: Reads are answered, errors have their RDMAP Terminate",
  run = function(t)
    expect_response(t, RDMA)
    local a = t:sctp_open()
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
    local got = a:receive(a.sid, t.quiet)
    if got and not (got.kind == "segment" and is_terminate(got.segment)) then
      t:fail("a Write to an unknown STag", "an RDMAP Terminate, or the silent end of the stream",
             got.segment and describe(got.segment) or got.kind)
    end
  end,
}

check {
  id = "SCTP-7.1-09",
  role = "both",
  purpose = "a device of DDP and RDMA whose peer has DDP alone: no RDMA, or no association",
  run = function(t)
    local got = answer_of(t, { adaptation = sctp.DDP })
    if got == "refused" or got == "ended" then t:ambiguous("B: the association is refused") end
    if type(got) == "table" and got.ppid == sctp["draft segment"] then
      t:fail("the peer says DDP alone", "no procedure of RDMAP", "an answer to its Read Request")
    end
    t:ambiguous("A: both fall back to plain DDP")
  end,
}

check {
  id = "SCTP-7.1-07",
  role = "both",
  purpose = "a device of DDP alone whose peer has DDP and RDMA: no procedure of RDMAP",
  requires = "upper_tester",
  run = function(t)
    local port = t.role == "responder" and t:listen({ indication = sctp.DDP }, true) or nil
    local a = t:try_associate { tester = { port = port }, dut = { indication = sctp.DDP }, special = true }
    if not a then return end -- a different indication may end the association (3.1)
    rig.wait(t.round_trip)
    if a.handle:status().cause ~= "open" then return end -- the same, as the device has seen the INIT ACK
    t:equal("the indication of a device of DDP alone", sctp.DDP, a.handle:status().adaptation)
    local sid = a:session()
    a:segment(sid, empty_read(PROBE_STAG))
    local got, why = a:receive(sid, t.quiet)
    if got and got.kind == "segment" then
      t:fail("a Read Request to a device that indicates DDP alone", "nothing of RDMAP, or the end of the association", describe(got.segment))
    end
    if why == "timeout" then a:expect_acknowledged("a Read Request") end
  end,
}

check {
  id = "SCTP-3.1-01",
  role = "both",
  sandwich = "association",
  purpose = "the ULP names the adaptation indication of its endpoint",
  requires = "upper_tester",
  run = function(t)
    for _, value in ipairs { sctp.DDP, RDMA } do
      local port = t.role == "responder" and t:listen({ indication = value }, true) or nil
      local a = t:associate { tester = { port = port }, dut = { indication = value } }
      t:equal("the device's indication, as its ULP has named it", value, a.handle:status().adaptation)
      a.handle:abort()
    end
  end,
}

-- An association as it should be works as it should.
local function in_order(t)
  local a = t:sctp_open()
  for _ = 1, 2 do a:probe(a.sid) end
  a.handle:abort()
end

-- The Adaptation Layer Indication with another length: 4 has no value, 12 has four octets more.
local function parameter(length, ...)
  return string.pack(">I2I2", 0xC006, length) .. string.pack(string.rep(">I4", select("#", ...)), ...)
end

check {
  id = "SCTP-2.1-04",
  frees = true,
  role = "both",
  purpose = "an adaptation indication of another length than 8 does no harm",
  lasts = 4,
  run = function(t)
    local short = answer_of(t, { adaptation = false, parameters = parameter(4) })
    if type(short) == "table" and is_ddp(short) then
      t:fail("an indication without a value", "ABORT, or no procedures of DDP", "a chunk of PPID " .. short.ppid)
    end
    local long = answer_of(t, { adaptation = false, parameters = parameter(12, RDMA, 0) })
    in_order(t)
    if type(long) == "table" and is_ddp(long) then t:ambiguous("B: its length is variable as printed") end
    t:ambiguous("A: the parameter is 8 octets long (RFC 5061)")
  end,
}

check {
  id = "SCTP-7.1-10",
  frees = true,
  role = "both",
  purpose = "two adaptation indications in one INIT or INIT ACK",
  run = function(t)
    in_order(t)
    -- parameters come after the indication
    local got = answer_of(t, { adaptation = 3, parameters = parameter(8, RDMA) })
    if got == "refused" or got == "ended" then
      local other = answer_of(t, { adaptation = RDMA, parameters = parameter(8, 3) })
      if type(other) == "table" and is_ddp(other) then t:ambiguous("A: the first indication counts") end
      t:ambiguous("C: the INIT is refused")
    end
    if type(got) == "table" and is_ddp(got) then t:ambiguous("B: the last one") end
    t:ambiguous("A: the first indication counts")
  end,
}

check {
  id = "SCTP-3.1-03",
  purpose = "a device that has fixed its indications ends requests with another one",
  run = function(t)
    for _, value in ipairs { 3, false } do
      local a = t:try_associate { tester = { adaptation = value } }
      local why = "refused"
      if a then why = select(2, a.handle:receive(t.reaction)) end
      if why == "timeout" then
        t:warn("a request with " .. indication_text(value), "ABORT, or no set-up", "an association that stays up")
      end
    end
  end,
}

check {
  id = "SCTP-3.1-06",
  purpose = "DDP alone meets DDP and RDMA: refused, or DDP alone",
  run = function(t)
    local got = answer_of(t, { adaptation = sctp.DDP })
    if got == "refused" or got == "ended" then t:ambiguous("A: a different indication ends the association (3.1)") end
    if type(got) == "table" and got.ppid == sctp["draft segment"] then
      t:fail("the peer says DDP alone", "ABORT, or no use of RDMAP", "an answer to its Read Request")
    end
    t:ambiguous("B: both fall back to DDP (table 7.1)")
  end,
}

check {
  id = "SCTP-2.1-06",
  frees = true,
  also = { "SCTP-2.1-07", "SCTP-3.1-04", "SCTP-3.1-05" },
  purpose = "associations of another mode may be refused, and do not disturb the first",
  run = function(t) t:survives_other_mode(sctp.DDP) end,
}

check {
  id = "SCTP-4-03",
  role = "both",
  sandwich = "association",
  purpose = "an association has equal numbers of streams in both directions",
  run = function(t) t:sctp_equal_streams() end,
}

check {
  id = "SCTP-4-04",
  purpose = "a peer that offers unequal numbers of streams: refused, or the smaller number both ways",
  run = function(t)
    local b = t:try_associate { tester = { outbound = 8, inbound = 2 } }
    if b and b.handle:status().cause == "open" then
      for sid = b:streams(), 7 do b:segment(sid, empty_read(PROBE_STAG)) end -- no answer can come
      local got = b:receive(nil, t.quiet)
      if got then t:fail("an INIT with OS 8 and MIS 2", "no chunk on a SID beyond those that both directions have", b:words(got)) end
      if b.handle:status().cause == "open" then b:probe(b:streams() - 1, "an INIT with OS 8 and MIS 2: the last SID that both directions have") end
    end
    local a = t:try_associate { tester = { outbound = 2, inbound = 8 } }
    local status = a and a.handle:status()
    if not a or status.cause ~= "open" then t:ambiguous("A: unequal stream numbers are refused") end
    local sid = a:streams() - 1
    a:segment(sid, empty_read(PROBE_STAG))
    local got, why = a.handle:receive(t.reaction)
    if not got then
      if why == ABORTED then t:ambiguous("A: unequal stream numbers are refused") end
      t:fail("a Read on the last SID of both directions", "its Response, or the end of the association", why)
    end
    t:equal("the SID of the answer", sid, got.sid)
    t:ambiguous("B: the smaller number is used in both directions")
  end,
}
