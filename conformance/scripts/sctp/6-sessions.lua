-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6: sessions, what is legal in them, and how they end.

defaults { llp = "sctp" }

local illegal = {
  { "an Accept in an open session", function(a, sid) a:control(sid, "Accept") end },
  { "Function Code 9", function(a, sid) a:control(sid, 9) end },
  { "an Initiate in an open session", function(a, sid) a:control(sid, "Initiate") end },
  { "a Reject after the Accept", function(a, sid) a:control(sid, "Reject") end },
}

local function ends_session(t, n)
  local words, stimulus = table.unpack(illegal[n])
  local a = t:sctp_open()
  a:probe(a.sid)
  stimulus(a, a.sid)
  a:expect_over(a.sid, words .. " ends the session")
  a:expect_acknowledged(words)
  a:segment(a.sid, empty_read(PROBE_STAG))
  a:expect_nothing(a.sid, "after " .. words .. " the session is over")
end

-- A Send after the tester's own Terminate, by its DDP-SSN: it comes first, so that both are there at once.
local function after_terminate(t)
  local port = t.role == "responder" and rig.has_upper_tester() and t:listen {} or nil
  local a = t:sctp_open { tester = { port = port } }
  a:probe(a.sid)
  local ssn = a.next_ssn[a.sid]
  a:segment(a.sid, rdmap.send { data = "late" }, { ssn = ssn + 1 })
  a:control(a.sid, "Terminate", { ssn = ssn })
  a:expect_acknowledged("a Send after a Terminate")
  local got = a:receive(a.sid, t.quiet)
  local reported = got and got.kind == "segment" and got.segment.Opcode == 7 -- by one reading it goes before the Terminate (6.1-04)
  if reported then got = a:receive(a.sid, t.quiet) end
  if got and got.kind == "control" and got.code == sctp.Terminate then got = a:receive(a.sid, t.quiet) end
  if got then
    t:fail("after the tester's Terminate the session is over", "Terminate at most",
           got.segment and describe(got.segment) or "a chunk of PPID " .. got.ppid)
  end
  if rig.has_upper_tester() and t:await_event("receive", { data = hex("late") }, t.quiet) then
    t:fail("after the tester's Terminate the session is over", "the Send is not delivered", "the ULP is given it")
  end
end

check {
  id = "SCTP5043-6.1-03",
  role = "both",
  purpose = "a chunk that fits no legal pattern ends the session",
  run = function(t)
    for n in ipairs(illegal) do ends_session(t, n) end
    after_terminate(t)
    if t.role == "responder" then return end
    local a = t:associate()
    local got = a:expect_control(nil, "Initiate", "the device asks for a session")
    a:segment(got.sid, empty_read(PROBE_STAG), { ssn = 0 })
    a:control(got.sid, "Accept", { ssn = 1 })
    a:segment(got.sid, empty_read(PROBE_STAG + 1, { MSN = 1 }), { ssn = 2 })
    got = a:receive(got.sid, t.quiet)
    if got and not (got.kind == "control" and got.code == sctp.Terminate) then
      t:fail("a segment with the DDP-SSN of the answer ends the session", "Terminate or nothing",
             got.segment and describe(got.segment) or "a chunk of PPID " .. got.ppid)
    end
  end,
}

check {
  id = "SCTP5043-6-01",
  purpose = "a second Initiate does not open a second session",
  run = function(t) ends_session(t, 3) end,
}

check {
  id = "SCTP5043-6.1-05",
  role = "both",
  purpose = "legal is what is legal in the order of the DDP-SSNs, not in that of arrival",
  run = function(t)
    local b = t:sctp_open()
    b:probe(b.sid)
    local ssn = b.next_ssn[b.sid]
    b:control(b.sid, "Terminate", { ssn = ssn + 1 })
    b:expect_acknowledged("a Terminate before its turn")
    b:segment(b.sid, empty_read(PROBE_STAG))
    b:expect_segment(b.sid, rdmap.read_response {}, "a Read whose DDP-SSN is before that of the Terminate, which came first")
    b:expect_ended(b.sid, "the tester's Terminate, in its turn")
    if t.role == "responder" then return end
    local a = t:associate()
    local got = a:expect_control(nil, "Initiate", "the device asks for a session")
    a:segment(got.sid, empty_read(PROBE_STAG), { ssn = 1 })
    a:expect_acknowledged("a segment before the Accept")
    a:control(got.sid, "Accept", { ssn = 0 })
    a:expect_segment(got.sid, rdmap.read_response {}, "a segment that came before the Accept is processed after it")
  end,
}

check {
  id = "SCTP5043-6.3-04",
  also = { "SCTP5043-5.2.3-14", "SCTP5043-6.4-03" },
  purpose = "an Initiate beyond the limit of pending requests gets a Terminate",
  requires = "upper_tester",
  run = function(t)
    local a, sids, said = t:overload("Initiate")
    for _, got in pairs(said) do
      if not (got.kind == "control" and got.code == sctp.Terminate and got.message_ssn == 0) then
        t:fail("an Initiate beyond the limit", "Terminate with DDP-SSN 0", a:words(got))
      end
    end
    if next(said) == nil then
      t:fail(#sids .. " Initiates that the ULP does not answer", "the limit of pending requests that the upper tester tells", "no Terminate")
    end
  end,
}
