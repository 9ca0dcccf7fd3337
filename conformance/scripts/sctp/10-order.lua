-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6.1, 10 and 11.2: chunks are unordered; DDP-SSN gives the order, and TSN nothing; no Send waits for others.

defaults { llp = "sctp" }

check {
  id = "SCTP5043-10-01",
  role = "both",
  purpose = "every DATA chunk of the device is unordered and whole",
  run = function(t)
    local a = t:associate()
    local sid = 0
    local function look(got, what)
      if not got then t:inconclusive("the device did not send " .. what) end
      if got.flags & 0x07 ~= sctp.UNORDERED then
        t:fail(what .. " is unordered", "flags U, B and E", string.format("flags 0x%02x", got.flags))
      end
      return got
    end
    if t.role == "responder" then
      a:control(0, "Initiate")
      look(a:receive(0), "the Accept")
    else
      sid = look(a:receive(), "the Initiate").sid
      a:control(sid, "Accept")
    end
    for _ = 1, 3 do
      a:segment(sid, empty_read(PROBE_STAG))
      look(a:receive(sid), "a Read Response")
    end
    a:control(sid, 9)
    look(a:receive(sid), "the Terminate")
  end,
}

check {
  id = "SCTP5043-10-03",
  also = { "SCTP5043-10-04" },
  role = "both",
  purpose = "messages are in the order of DDP-SSNs, whatever their TSNs and their SACKs",
  run = function(t)
    local a = t:sctp_open()
    a:expect_sorted(a.sid, { 3, 2, 1 }, 0.5)
  end,
}

check {
  id = "SCTP5043-10-05",
  purpose = "DDP-SSNs wrap from 65535 to 0 without loss of order",
  run = function(t)
    local a = t:sctp_open()
    a:advance(a.sid, 65534)
    a:expect_sorted(a.sid, { 3, 1, 4, 2 }, 0.5)
  end,
}

check {
  id = "SCTP5043-5.2.1-02",
  purpose = "the device's DDP-SSNs rise by one from segment to segment, and go on with 0 after 65535",
  requires = "upper_tester",
  lasts = 10,
  run = function(t) t:expect_wrap() end,
}

check {
  id = "SCTP5043-10-06",
  also = { "SCTP5043-10-07" }, -- Writes need no credits of a ULP: what limits them is the layer itself
  purpose = "no more than 32767 chunks of a SID are on their way without a SACK, and sending goes on with it",
  requires = "upper_tester",
  run = function(t) t:expect_limit() end,
}

check {
  id = "SCTP5043-10-11",
  role = "both",
  purpose = "a DDP-SSN that came before is not taken twice",
  run = function(t)
    local a = t:sctp_open()
    local ssn = a.next_ssn[a.sid]
    a:probe(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG, { MSN = 2 }), { ssn = ssn })
    local got = a:receive(a.sid, t.quiet)
    if got and got.kind == "segment" and got.segment.Opcode == 2 then
      t:fail("a duplicate of a DDP-SSN in a new TSN", "nothing, or the end of the session", describe(got.segment))
    end
  end,
}

check {
  id = "SCTP5043-10-02",
  role = "both",
  purpose = "a segment after a gap in the TSNs is placed without waiting for the gap",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_open { dut = {} }
    a:probe(a.sid)
    local memory = t:memory { octets = 16, data = string.rep("-", 16), access = { "write", "read" } }
    -- of no session
    a:chunk { sid = a:another(), ppid = sctp.control, data = string.pack(">I2I2", 0, sctp.Terminate), later = true }
    a:segment(a.sid, memory:write(0, "after the gap"))
    rig.wait(0.5)
    local early = unhex(t.dut:mem_read { stag = memory.STag, length = 13 }.data)
    a.handle:resend()
    a:expect_acknowledged("the chunk of the gap, and the one after it")
    a:probe(a.sid)
    local late = unhex(t.dut:mem_read { stag = memory.STag, length = 13 }.data)
    t:equal("memory after the gap was filled", "after the gap", late)
    if early ~= "after the gap" then
      t:warn("a Write after a gap in the TSNs", "it is placed before the gap is filled", "only then")
    end
  end,
}

check {
  id = "SCTP5043-10-09",
  role = "both",
  purpose = "a DDP-SSN that no missing chunk explains: whatever the device does, it is not delivered",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG), { ssn = 500 })
    a:expect_acknowledged("a chunk with DDP-SSN 500")
    local got = a:receive(a.sid, t.quiet)
    if got and got.kind == "segment" and got.segment.Opcode == 2 then
      t:fail("a segment with DDP-SSN 500 after DDP-SSN 1", "nothing, or the end of the session", describe(got.segment))
    end
  end,
}

check {
  id = "SCTP5043-10-12",
  role = "both",
  sandwich = "startup",
  purpose = "an ordered chunk: taken by its DDP-SSN, or the end of its session",
  run = function(t)
    local a = t:sctp_open()
    a:segment(a.sid, empty_read(PROBE_STAG), { flags = 0x03 }) -- B, E; SCTP's SSN is 0
    a:expect_acknowledged("an ordered chunk")
    local got, why = a:receive(a.sid)
    if got and got.kind == "segment" and fits(rdmap.read_response {}, got.segment) then
      t:ambiguous("A: an ordered chunk is taken by its DDP-SSN")
    elseif got and (got.kind == "control" and got.code == sctp.Terminate or got.kind == "segment" and got.segment.Opcode == 7) then
      t:ambiguous("B: it ends the session")
    end
    t:fail("a segment in an ordered chunk", "the answer to it, or the end of the session", got and got.kind or why)
  end,
}

check {
  id = "SCTP5043-11.2-01",
  role = "both",
  purpose = "a single Send does not wait for others that could share its packet",
  requires = "upper_tester",
  run = function(t) t:expect_prompt_sends() end,
}
