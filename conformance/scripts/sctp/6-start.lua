-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6.1 to 6.6: how sessions begin, who decides, and what may be sent before the answer.

defaults { llp = "sctp" }

-- So many requests one after another show whether a device counts those that are over.
local REQUESTS_MOST <const> = 64

--------------------------------------------------------------------------------------------------------------------
-- The ULP decides

check {
  id = "SCTP5043-6.2-02",
  purpose = "the passive side sends nothing before the ULP has accepted, then the Accept",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_requested { accept = "manual" }
    a:stream_number()
    a:expect_nothing(a.sid, "the ULP has not decided", 3)
    t.dut:accept { stream = a.stream, private_data = hex("yes") }
    a:expect_control(a.sid, "Accept", "the ULP accepts", { ssn = 0, data = "yes" })
    a:probe(a.sid)
  end,
}

check {
  id = "SCTP5043-5.2.3-13",
  purpose = "at least one request may wait for the ULP",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_requested { accept = "manual" }
    a:expect_nothing(a.sid, "one request waits for the ULP")
    t.dut:accept { stream = a:stream_number() }
    a:expect_control(a.sid, "Accept", "the request that waited", { ssn = 0 })
    -- Requests that have had their decision do not count: one after another may wait, on one SID or on several.
    local answer = t:command("association", { association = a.number })
    local sid = a:other() or a.sid
    for n = 1, math.min(answer.ok and answer.pending_limit or REQUESTS_MOST, REQUESTS_MOST) + 1 do
      if sid == a.sid then break end -- its session lasts
      a.next_ssn[sid] = 0
      a:control(sid, "Initiate")
      a:expect_nothing(sid, "request " .. n .. " waits for the ULP, and no other one does", t.quiet / 8)
      t.dut:reject { stream = a:stream_number(sid) }
      a:expect_control(sid, "Reject", "request " .. n .. ", which the ULP rejects", { ssn = 0 })
      a:expect_acknowledged("request " .. n)
    end
  end,
}

check {
  id = "SCTP5043-6.4-04",
  purpose = "a request beyond the limit gets a Terminate, and those that wait can still be accepted",
  requires = "upper_tester",
  run = function(t)
    local a, sids, said = t:overload("Initiate")
    local waiting = {}
    for _, sid in ipairs(sids) do
      local got = said[sid]
      if got and not (got.kind == "control" and got.code == sctp.Terminate) then
        t:fail("an Initiate that the ULP has not answered", "nothing, or a Terminate", a:words(got))
      end
      if got then t:equal("the DDP-SSN of the Terminate on SID " .. sid, 0, got.message_ssn) end
      if not got then waiting[#waiting + 1] = sid end
    end
    if next(said) == nil then
      t:fail(#sids .. " Initiates that the ULP does not answer", "Terminates beyond the limit that the upper tester tells", "no Terminate")
    end
    if #waiting == 0 then t:fail("the first of " .. #sids .. " Initiates", "it waits for the ULP", "a Terminate on each SID") end
    if waiting[#waiting] ~= #waiting - 1 then
      t:fail("requests that wait", "the first " .. #waiting .. " of them", "SID " .. waiting[#waiting] .. " waits, a SID before it does not")
    end
    for _, sid in ipairs(waiting) do
      t.dut:accept { stream = a:stream_number(sid) }
      a:expect_control(sid, "Accept", "a request that waited before others were refused", { ssn = 0 })
    end
    -- A SID whose request was refused is as free as before, once another request does not wait any more.
    local refused = sids[#sids]
    a.next_ssn[refused] = 0
    a:control(refused, "Initiate")
    local event = t:await_event("accepted", { sid = refused, port = a.port, association = a.number })
    if not event then
      t:fail("a request on a SID on which one was refused before", "it is put to the ULP", "the ULP is not told of it")
    end
    t.dut:accept { stream = event.stream }
    a:expect_control(refused, "Accept", "a request on a SID on which one was refused before", { ssn = 0 })
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Rejected

check {
  id = "SCTP5043-6.3-03",
  role = "both",
  purpose = "after a Reject nothing more comes in that session, and nothing is taken",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_requested(t.role == "responder" and { accept = "reject" } or nil)
    if t.role == "responder" then
      a:expect_control(a.sid, "Reject", "the ULP rejects", { ssn = 0 })
    else
      a:control(a.sid, "Reject")
    end
    a:expect_nothing(a.sid, "after a Reject")
    a:segment(a.sid, empty_read(PROBE_STAG))
    local how, got, why = a:reaction(a.sid)
    if how == "over" then
      t:warn("a segment after a Reject", "nothing on SID " .. a.sid, a:words(got))
    elseif how ~= "silent" then
      t:fail("a segment after a Reject", "nothing on SID " .. a.sid, a:words(got, why))
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Out of place

check {
  id = "SCTP5043-6.1-04",
  role = "both",
  purpose = "a session that an illegal chunk has ended is closed, by whatever message or none",
  run = function(t)
    for _, code in ipairs { 9, 0, 0xFFFF } do
      local what = "Function Code " .. code .. " in an open session"
      local a = t:sctp_open()
      a:control(a.sid, code)
      local how, got, why = a:reaction(a.sid)
      if how == "chunk" or how == "ended" then t:fail(what, "Terminate or nothing on SID " .. a.sid, a:words(got, why)) end
      a:expect_closed(a.sid, "after " .. what)
      if t.role == "initiator" then
        what = "Function Code " .. code .. " in place of an answer"
        a = t:sctp_requested()
        a:control(a.sid, code)
        how, got, why = a:reaction(a.sid)
        if how == "chunk" or how == "ended" then t:fail(what, "Terminate or nothing on SID " .. a.sid, a:words(got, why)) end
        a:control(a.sid, "Accept")
        a:expect_closed(a.sid, "after " .. what)
      end
    end
  end,
}

check {
  id = "SCTP5043-6.4-05",
  role = "initiator",
  purpose = "Initiates of both sides on one SID end in Terminate, and nobody waits for ever",
  run = function(t)
    local a = t:sctp_requested()
    a:control(a.sid, "Initiate")
    local how, got, why = a:reaction(a.sid, 30)
    if how == "chunk" and got.kind == "control" and got.code == sctp.Accept then
      t:warn("Initiates of both sides on one SID", "Terminate on SID " .. a.sid, a:words(got))
    elseif how ~= "over" then
      t:fail("Initiates of both sides on one SID", "Terminate on SID " .. a.sid .. " within 30 s", a:words(got, why))
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Before the answer

-- The device has asked for a session, with SACKs withheld from the beginning, and its ULP has posted Sends.
local function withheld(t)
  local a = t:associate_withheld()
  a:receive_initiate()
  for _ = 1, 3 do
    local posted, why = t:try("send", { stream = a.stream, data = hex("posted early") })
    if not posted then t:skip("nothing can be posted before the session is open: " .. tostring(why)) end
  end
  a:expect_nothing(a.sid, "neither a SACK of the Initiate nor an answer has come", 3)
  return a
end

-- The session is open: what was posted comes now, or what is posted now.
local function goes_on(t, a, seen)
  if not seen then
    t.dut:send { stream = a.stream, data = hex("posted late") }
    local got, why = a:receive(a.sid)
    if not (got and got.kind == "segment") then
      t:fail("a session that was accepted", "the segments that the ULP posts", a:words(got, why))
    end
  end
end

-- A segment that may have come before the Accept: true, false for none.
local function look_early(t, a, what)
  local got, why = a:receive(a.sid, t.quiet)
  if got and got.kind == "segment" then return true end
  if got or why ~= "timeout" then t:fail(what, "nothing, or a segment", a:words(got, why)) end
  return false
end

check {
  id = "SCTP5043-6.6-02",
  also = { "SCTP5043-6.5-02" },
  role = "initiator",
  purpose = "the active side sends no segment before its Initiate has come for certain",
  requires = "upper_tester",
  run = function(t)
    local a = withheld(t)
    a.handle:withhold(false)
    a:control(a.sid, "Accept")
    goes_on(t, a, false)
  end,
}

check {
  id = "SCTP5043-6.2-08",
  role = "initiator",
  purpose = "segments wait for the SACK of the Initiate, or for the Accept",
  requires = "upper_tester",
  run = function(t)
    local a = withheld(t)
    a.handle:withhold(false)
    local early = look_early(t, a, "the Initiate is acknowledged, and not answered")
    a:control(a.sid, "Accept")
    goes_on(t, a, early)
    if early then t:ambiguous("B: the SACK of the Initiate is enough (6.6)") end
  end,
}

check {
  id = "SCTP5043-6.6-03",
  role = "initiator",
  purpose = "segments may follow the SACK of the Initiate, and its answer",
  lasts = 6,
  requires = "upper_tester",
  run = function(t)
    local a = withheld(t)
    a.handle:withhold(false)
    local early = look_early(t, a, "the Initiate is acknowledged, and not answered")
    a:control(a.sid, "Accept")
    goes_on(t, a, early)
    a = withheld(t)
    a:control(a.sid, "Accept")
    early = look_early(t, a, "the Initiate is answered, and not acknowledged")
    a.handle:withhold(false)
    goes_on(t, a, early)
  end,
}

check {
  id = "SCTP5043-6.6-05",
  role = "initiator",
  purpose = "segments that overtake the Accept are held, and processed after it",
  run = function(t)
    local a = t:sctp_requested()
    a:segment(a.sid, empty_read(PROBE_STAG), { ssn = 1 })
    a:segment(a.sid, empty_read(PROBE_STAG), { ssn = 2 })
    local how, got, why = a:reaction(a.sid, 1)
    if how == "over" then t:ambiguous("B: they break the pattern and end the session") end
    if how ~= "silent" then t:fail("segments before the Accept", "nothing yet", a:words(got, why)) end
    a:control(a.sid, "Accept", { ssn = 0 })
    for n = 1, 2 do
      a:expect_segment(a.sid, rdmap.read_response {}, "segment " .. n .. " of two that came 1 s before the Accept")
    end
  end,
}
