-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6, 6.2 and 6.6: how sessions end, and when a SID may be used again.

defaults { llp = "sctp" }

-- All chunks of the SID until nothing comes any more, sorted by their DDP-SSNs.
local function take_all(t, a, seconds)
  local all = {}
  while true do
    local got, why = a:receive(a.sid, seconds or t.quiet)
    if not got then
      if not a:is_silence(why) then t:fail("the end of a session", "an association that stays up", a:words(nil, why)) end
      table.sort(all, function(x, y) return x.message_ssn < y.message_ssn end)
      return all
    end
    if not got.message_ssn then t:fail("the end of a session", "segments and a Terminate", a:words(got)) end
    all[#all + 1] = got
  end
end

local function is_terminate(got) return got.kind == "control" and got.code == sctp.Terminate end

check {
  id = "SCTP5043-6.2-05",
  role = "both",
  purpose = "a session that the ULP closes has a Terminate, the last chunk of the device",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating()
    t.dut:send { stream = a.stream, data = hex("the last message") }
    t.dut:disconnect { stream = a.stream }
    local all = take_all(t, a)
    for i, got in ipairs(all) do
      t:equal("the DDP-SSN of chunk " .. i .. " after the Read Response", i + 1, got.message_ssn)
    end
    local last = all[#all]
    if not last or not is_terminate(last) then
      t:fail("the ULP closes the session", "Terminate as the last chunk", last and a:words(last) or "nothing")
    end
  end,
}

check {
  id = "RDMAP-4.8-50",
  role = "both",
  purpose = "SCTP defines no termination codes: the Terminate for a bad Write has an error of RDMAP or DDP",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, bad_write())
    local got
    repeat got = a:receive(a.sid) until not got or (got.kind == "segment" and got.segment.Opcode == 7) or got.kind == "control"
    if not (got and got.kind == "segment") then
      t:fail("a Write to an STag that nobody gave out", "an RDMAP Terminate on SID " .. a.sid, a:words(got))
    end
    if got.segment.triple and got.segment.triple >> 12 == 2 then
      t:fail("a Write to an STag that nobody gave out", "an error of layer 0 or 1", "Terminate " .. wire.describe(got.segment.triple))
    end
  end,
}

check {
  id = "SCTP5043-6.2-06",
  role = "both",
  purpose = "the session's Terminate follows the RDMAP Terminate in the order of DDP-SSNs",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, bad_write())
    local all, got = {}, a:receive(a.sid)
    while got do
      all[#all + 1] = got
      got = #all < 2 and a:receive(a.sid, t.quiet) or nil
    end
    if #all == 1 then -- one side's Terminate is enough (6.2): the device's may come after the tester's, or never
      a:control(a.sid, "Terminate")
      all[2] = a:receive(a.sid, t.quiet)
    end
    table.sort(all, function(x, y) return (x.message_ssn or 0) < (y.message_ssn or 0) end)
    local first, second = all[1], all[2]
    if not (first and first.kind == "segment" and first.segment.Opcode == 7 and first.message_ssn == 2) then
      t:fail("a Write to an STag that nobody gave out", "an RDMAP Terminate with DDP-SSN 2 on SID " .. a.sid, a:words(first))
    end
    if second and not (is_terminate(second) and second.message_ssn == 3) then
      t:fail("after the RDMAP Terminate", "Terminate with DDP-SSN 3 on SID " .. a.sid, a:words(second))
    end
  end,
}

check {
  id = "SCTP5043-6.2-07",
  role = "both",
  purpose = "after the peer's Terminate the device may finish its segments, and sends none after its own Terminate",
  lasts = 5,
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating()
    a.handle:withhold(true)
    for _ = 1, 100 do t.dut:send { stream = a.stream, length = 1000 } end
    a:control(a.sid, "Terminate")
    a:expect_acknowledged("a Terminate while Sends wait")
    a.handle:withhold(false)
    local all = take_all(t, a, 5)
    local segments = 0
    for i, got in ipairs(all) do
      t:equal("the DDP-SSN of chunk " .. i .. " after the Read Response", i + 1, got.message_ssn)
      if is_terminate(got) and i < #all then
        t:fail("after the own Terminate", "nothing on SID " .. a.sid, a:words(all[i + 1]))
      end
      if got.kind == "segment" and got.segment.Opcode ~= 7 then segments = segments + 1 end
    end
    if segments < 100 then t:ambiguous("A: one Terminate ends both directions") end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- What waits for acknowledgements

check {
  id = "SCTP5043-6.6-01",
  role = "both",
  purpose = "a Terminate waits until the control message before it has come for certain",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_ready {}
    a.handle:withhold(true)
    if t.role == "responder" then
      a.sid = 0
      a:control(a.sid, "Initiate")
      a:expect_control(a.sid, "Accept", "an Initiate is accepted")
    else
      a:receive_initiate()
    end
    t.dut:disconnect { stream = a:stream_number() }
    a:expect_nothing(a.sid, "the first control message of the device is not acknowledged", 3)
    a.handle:withhold(false)
    if t.role == "initiator" then a:control(a.sid, "Accept") end
    a:expect_control(a.sid, "Terminate", "the control message before it has come", { ssn = 1 })
  end,
}

-- The session of the SID has ended on both sides, and so has everything that was sent in it; fields: as in a:control().
local function end_session(t, a, fields)
  t.dut:disconnect { stream = a.stream }
  a:expect_control(a.sid, "Terminate", "the ULP closes the session")
  a:control(a.sid, "Terminate", fields)
  a:expect_acknowledged("a Terminate in answer")
end

-- The device's ULP asks for a new session on the SID: it may refuse, or wait.
local function ask_again(t, a)
  return t:try("connect", { association = a.number, sid = a.sid, enhanced = false })
end

-- A new session on the SID, which the tester asks for, or the device that was asked to.
local function begins_again(t, a, by_tester)
  a.next_ssn[a.sid] = 0
  a.next_msn[a.sid << 16 | 1] = 0
  if by_tester then a:control(a.sid, "Initiate") end
  a:expect_control(a.sid, by_tester and "Accept" or "Initiate", "the SID is free for a new session", { ssn = 0 })
  if not by_tester then a:control(a.sid, "Accept") end
  a:probe(a.sid, "the second session on a SID")
end

-- 6.2-04: the last chunk of each side may be a Terminate, with the DDP-SSN that is next in its direction.
check {
  id = "SCTP5043-6.2-04",
  role = "both",
  purpose = "each side has one Terminate at most, its last chunk, and after both the SID is free",
  requires = "upper_tester",
  run = function(t)
    local seen = 0
    for _, first in ipairs { "the tester", "the device" } do
      local a = t:sctp_operating()
      local ssn = a.next_ssn[a.sid]
      local got
      if first == "the tester" then
        a:control(a.sid, "Terminate")
        got = a:expect_ended(a.sid, "the tester ends the session")
      else
        t.dut:disconnect { stream = a.stream }
        got = a:expect_control(a.sid, "Terminate", "the ULP ends the session")
        a:control(a.sid, "Terminate", { ssn = ssn })
      end
      if got then
        seen = seen + 1
        t:equal("DDP-SSN of the device's Terminate, after its Accept or Initiate and one segment", 2, got.message_ssn)
      end
      a:expect_acknowledged("a Terminate of the tester")
      a:expect_nothing(a.sid, "after the Terminates the session is over")
      if t.role == "initiator" then
        a:ask { sid = a.sid, enhanced = false }
      else
        a:skip_if_shut()
      end
      begins_again(t, a, t.role == "responder")
      a.handle:abort()
    end
    t:note(seen .. " of 2 sessions have a Terminate of the device")
  end,
}

check {
  id = "SCTP5043-6.6-04",
  role = "both",
  purpose = "a SID has no new session while a chunk of the last one may be outstanding",
  lasts = 4,
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating({}, { tester = { outbound = 1, inbound = 1 } })
    a.handle:withhold(true)
    end_session(t, a)
    local waits, why = ask_again(t, a)
    t:note(waits and "the device takes the request for a new session" or "the device refuses it: " .. tostring(why))
    a:expect_nothing(a.sid, "the Terminate of the last session is not acknowledged", 3)
    a.handle:withhold(false)
    -- One that waited comes now; one that was refused, when it is asked for again.
    local got = a:receive(a.sid, 1)
    if not got then
      a:skip_if_shut()
      if not ask_again(t, a) then t:inconclusive("the device asks for no second session on a SID") end
    else
      a.early[#a.early + 1] = got
    end
    begins_again(t, a)
  end,
}

check {
  id = "SCTP5043-6-02",
  role = "both",
  purpose = "no chunk of a session is carried over to the next one on its SID",
  lasts = 7,
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating()
    a.handle:withhold(true)
    local posted, since = 0, rig.now()
    -- Not for long: the SCTP of a device whose upper tester is slow would give the association up without SACKs.
    while posted < 1000 and rig.now() < since + 3 and t:try("send", { stream = a.stream, length = 100 }) do posted = posted + 1 end
    if posted == 0 then t:inconclusive("the device's ULP can post nothing") end
    local held = a.next_ssn[a.sid] + 4
    a:segment(a.sid, rdmap.send { data = "held" }, { ssn = held }) -- its turn never comes in this session
    t.dut:terminate { stream = a.stream }
    rig.wait(1)
    a.handle:withhold(false)
    local all = take_all(t, a, 5)
    local last = all[#all]
    local waits = last and last.kind == "segment" and last.segment.Opcode == 7 -- for the tester's Terminate (6.2-06)
    if not last or not waits and not is_terminate(last) then
      t:fail("the ULP ends a session with Sends that wait", "Terminate as the last chunk", last and a:words(last) or "nothing")
    end
    a:control(a.sid, "Terminate")
    if waits then a:expect_control(a.sid, "Terminate", "the tester's Terminate after an RDMAP Terminate of the device") end
    a:expect_acknowledged("a Terminate in answer")
    rig.wait(math.max(0.01, 4 * t.round_trip)) -- the device has the SACK of its Terminate, and its ULP the end of the session
    if t.role == "initiator" then a:ask { sid = a.sid, enhanced = false } end
    begins_again(t, a, t.role == "responder")
    a:expect_nothing(a.sid, "the second session has nothing of the first one")
    a:expect_forgotten(held, "a Read with the DDP-SSN of a segment that waited in the first session",
                       "a Send that waited for its turn when its session ended")
  end,
}
