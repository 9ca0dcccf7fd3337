-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the device's ULP decides and learns of sessions (RFC 5043 5.2.3, 6.4), and streams that end while their
-- association goes on (RFC 5041 3, RFC 5040 7).

defaults { llp = "sctp" }

check {
  id = "SCTP5043-5.2.3-11",
  role = "both",
  purpose = "the ULP is told of the control messages that come",
  requires = "upper_tester",
  run = function(t)
    local function reported(name)
      t:equal("the ULP is told of the " .. name, true, t:await_event("control", { code = sctp[name] }) ~= nil)
    end
    local a = t:sctp_operating()
    reported(t.role == "responder" and "Initiate" or "Accept")
    a:control(a.sid, "Terminate")
    reported("Terminate")
    if t.role == "responder" then return end
    a = t:sctp_requested()
    a:control(a.sid, "Reject")
    reported("Reject")
  end,
}

check {
  id = "SCTP5043-6.4-01",
  purpose = "an Initiate is accepted or rejected when the ULP has decided, and as it has",
  requires = "upper_tester",
  run = function(t)
    for _, decision in ipairs { "accept", "reject" } do
      local a = t:sctp_requested { accept = "manual" }
      a:stream_number()
      a:expect_nothing(a.sid, "the ULP has not decided on the Initiate")
      t.dut[decision](t.dut, { stream = a.stream })
      a:expect_control(a.sid, decision == "accept" and "Accept" or "Reject", "the ULP's decision: " .. decision, { ssn = 0 })
    end
  end,
}

-- An error of DDP on one of two sessions: its RDMAP Terminate. Returns the association and the other SID.
local function one_of_two(t)
  local a = t:sctp_operating()
  local other = a:further(a:another(), "a second session")
  a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
  local got, why = a:receive(a.sid)
  if not (got and got.kind == "segment" and is_terminate(got.segment)) then
    t:fail("a Write to an unknown STag", "an RDMAP Terminate on its SID", got and (got.segment and describe(got.segment) or got.kind) or why)
  end
  return a, other
end

check {
  id = "RDMAP-7-02",
  role = "both",
  purpose = "an error on one stream of an association: it ends alone, and the ULP is told",
  requires = "upper_tester",
  run = function(t)
    local a, other = one_of_two(t)
    for _ = 1, 3 do a:probe(other, "the other stream of the association") end
    if not t:await_event("error", { stream = a.stream }) then
      t:fail("a Write to an unknown STag", "the ULP is told that its stream is in error", "no such event")
    end
    a:control(a.sid, "Terminate")
    a:expect_ended(a.sid, "after the RDMAP Terminate the session ends")
    rig.wait(t.quiet)
    a:probe(other, "the other stream, after the session with the error has ended")
    t:equal("the association", "open", a.handle:status().cause)
  end,
}

check {
  id = "RDMAP-7-03",
  role = "both",
  purpose = "after its Terminate the device sends no segment on the stream, and the others go on",
  requires = "upper_tester",
  run = function(t)
    local a, other = one_of_two(t)
    for n = 1, 3 do a:segment(a.sid, empty_read(PROBE_STAG + n)) end
    a:probe(other, "the other stream of the association")
    local got
    repeat
      got = a:receive(a.sid, t.quiet)
      if got and got.kind == "segment" then
        t:fail("Reads on a stream after its Terminate", "no segment on its SID", describe(got.segment))
      end
    until not got
    a:probe(other, "the other stream of the association, after that")
  end,
}

check {
  id = "DDP-3-16",
  role = "both",
  purpose = "the last session of an association has ended: the association goes down, or another session works",
  lasts = 30,
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating()
    a:control(a.sid, "Terminate")
    a:expect_ended(a.sid, "a Terminate of the tester's")
    rig.wait(30)
    if a.handle:status().cause ~= "open" then
      t:ambiguous("A: the connection goes down with its last stream (RFC 5041)")
    end
    local sid = a.sid
    if a:other() then
      sid = a:other()
    else
      a.next_ssn[sid], a.next_msn[sid << 16 | 1] = 0, 0
    end
    a:probe(a:further(sid, "another session, 30 s after the last one has ended"))
    t:ambiguous("B: the association stays and stream ids are used again (RFC 5043)")
  end,
}
