-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 6581 7 and 9: sessions over SCTP whose Initiate, Accept and Reject carry the IRD/ORD word (Function Codes 5, 6
-- and 7).

defaults { llp = "sctp" }

local DATA = distinct(20)

-- The next control message, nil where something else came: then what it was, in words.
local function next_control(a, sid, seconds)
  local got, why = a:receive(sid, seconds)
  if got and got.kind == "control" then return got end
  return nil, got and "a chunk of PPID " .. got.ppid or why
end

local function code_text(got, why) return got and "Function Code " .. got.code or why end

check {
  id = "EMPA-7-02",
  role = "both",
  sandwich = "association",
  purpose = "Function Codes 5, 6 and 7: Enhanced Initiate, Accept and Reject, each by the side and for the reason that is its",
  requires = "upper_tester",
  run = function(t)
    if t.role == "initiator" then
      t:enhanced_asked()
      return
    end
    for policy, answer in pairs { auto = "Accept", reject = "Reject" } do
      local a = t:enhanced_asked({ dut = { accept = policy } })
      a:expect_control(a.sid, ENHANCED[answer], "the ULP's answer to an Enhanced Initiate: " .. answer)
      a.handle:abort()
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Rejection

check {
  id = "EMPA-7-03",
  role = "responder",
  purpose = "a session that is refused for its IRD gets an Enhanced Reject, and is accepted without the word",
  run = function(t)
    local a = t:enhanced_asked({ dut = { accept = "manual" }, fields = { IRD = 0 }, data = DATA })
    t.dut:reject { stream = a:stream_number(a.sid) }
    a:expect_control(a.sid, ENHANCED.Reject, "a ULP that needs ORD 1 refuses an Enhanced Initiate with IRD 0", { ssn = 0 })
    a:expect_acknowledged("an Enhanced Initiate")
    local sid = a:other() or a.sid
    if sid == a.sid then a.next_ssn[sid] = 0 end
    a:control(sid, "Initiate", { data = DATA })
    t.dut:accept { stream = a:stream_number(sid) }
    a:expect_control(sid, "Accept", "the same configuration by a plain Initiate is accepted", { ssn = 0 })
  end,
}

check {
  id = "EMPA-7-04",
  role = "responder",
  purpose = "a ULP that refuses everything: the refusal of an enhanced session is an Enhanced Reject",
  run = function(t)
    local a = t:enhanced_asked({ dut = { accept = "reject" } })
    local got, why = next_control(a, a.sid)
    if got and got.code == sctp[ENHANCED.Reject] then t:ambiguous("A: every refusal of an enhanced session is an Enhanced Reject (7)") end
    if got and got.code == sctp.Reject then t:warn("the ULP refuses an enhanced session", ENHANCED.Reject, "B: a plain Reject (3)") end
    t:fail("the ULP refuses an enhanced session", ENHANCED.Reject, code_text(got, why))
  end,
}

check {
  id = "EMPA-7-22",
  role = "both",
  purpose = "Initiate (5) and Reject (7) are a whole session: nothing follows, and the SID is free again",
  requires = "upper_tester",
  run = function(t)
    if t.role == "initiator" then
      local a = t:enhanced_asked()
      a:control(a.sid, ENHANCED.Reject, { data = enhanced_word() })
      if not t:await_event("rejected", { stream = a.stream }) then
        t:fail("an Enhanced Reject ends the session", "the ULP is told that it was rejected", "no such event")
      end
      a:expect_nothing(a.sid, "after an Enhanced Reject the session is over")
      a.next_ssn[a.sid] = nil
      a:ask { sid = a.sid, enhanced = true }
      a:expect_control(a.sid, ENHANCED.Initiate, "the SID of a rejected session is used again", { ssn = 0 })
      return
    end
    local a = t:enhanced_asked({ dut = { accept = "reject" } })
    for _ = 1, 2 do
      local got, why = next_control(a, a.sid)
      if got and got.code == sctp.Reject then t:warn("the ULP refuses an enhanced session", ENHANCED.Reject, "a plain Reject (3)") end
      if not got or got.code ~= sctp[ENHANCED.Reject] then
        t:fail("the ULP refuses an enhanced session", ENHANCED.Reject, code_text(got, why))
      end
      a:expect_nothing(a.sid, "after an Enhanced Reject the session is over")
      if a:is_shut() then return end
      a:control(a.sid, ENHANCED.Initiate, { data = enhanced_word(), ssn = 0 })
    end
  end,
}

check {
  id = "EMPA-7-10",
  frees = true,
  role = "responder",
  purpose = "the Private Data of an Enhanced Reject: with the word before the ULP's, or without",
  run = function(t)
    local a = t:enhanced_asked({ dut = { accept = "reject", private_data = hex(DATA) } })
    local data = a:expect_control(a.sid, ENHANCED.Reject, "the ULP refuses an enhanced session").private_data
    if data == DATA then t:ambiguous("B: its Private Data is the ULP's alone") end
    if data:sub(5) == DATA then t:ambiguous("A: the Enhanced Reject carries the 4-octet word") end
    t:fail("the Private Data of an Enhanced Reject", "the ULP's 20 octets, perhaps after the word", hex(data))
  end,
}

-- The answer to an Initiate with A = 1 that offers a kind of RTR which the device lacks.
local function lacking(t)
  local a = t:enhanced_asked({ dut = { rtr = { "write" }, p2p = true }, fields = { A = 1, B = 1 } })
  local got, why = next_control(a, a.sid)
  return got, code_text(got, why), got and #got.private_data >= 4 and wire.unpack("mpa_enhanced", got.private_data) or {}
end

check {
  id = "EMPA-7-16",
  frees = true,
  role = "responder",
  requires = "upper_tester",
  purpose = "where no kind of RTR fits, an Enhanced Reject may come, or an Accept that names others",
  run = function(t)
    local got, text, flags = lacking(t)
    local others = flags.C == 1 or flags.D == 1
    if got and got.code == sctp[ENHANCED.Reject] and (#got.private_data < 4 or others) then return end
    if got and got.code == sctp[ENHANCED.Accept] and others then return end
    t:fail("an Enhanced Initiate whose kind of RTR the device lacks", "Enhanced Reject or Enhanced Accept that names another kind",
           text .. (got and " without another kind of RTR" or ""))
  end,
}

check {
  id = "EMPA-7-17",
  role = "responder",
  requires = "upper_tester",
  purpose = "where no kind of RTR fits: who refuses, the Provider or nobody",
  run = function(t)
    local got, text = lacking(t)
    if got and got.code == sctp[ENHANCED.Reject] then t:ambiguous("A: the Provider may reject by itself (RFC 6581)") end
    if got and got.code == sctp[ENHANCED.Accept] then t:ambiguous("B: a Reject comes from the ULP only (RFC 5043 6.3)") end
    local what = "an Enhanced Initiate whose kind of RTR the device lacks"
    if got and got.code == sctp.Terminate then t:warn(what, "Enhanced Reject or Enhanced Accept", "Terminate") end
    t:fail(what, "Enhanced Reject or Enhanced Accept", text)
  end,
}

check {
  id = "EMPA-7-23",
  role = "responder",
  purpose = "an Enhanced Initiate beyond the limit of pending requests gets a Terminate without Private Data",
  requires = "upper_tester",
  run = function(t)
    local a, sids, said = t:overload(ENHANCED.Initiate, enhanced_word())
    for _, got in pairs(said) do
      if not (got.kind == "control" and got.code == sctp.Terminate and got.private_data == "") then
        t:fail("an Enhanced Initiate beyond the limit", "Terminate without Private Data",
               got.kind == "control" and "Function Code " .. got.code .. " and " .. #got.private_data .. " octets" or a:words(got))
      end
    end
    if next(said) == nil then
      t:fail(#sids .. " Enhanced Initiates that the ULP does not answer", "the limit of pending requests that the upper tester tells",
             "no Terminate")
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Private Data

check {
  id = "EMPA-7-06",
  role = "initiator",
  purpose = "an Enhanced Initiate has the ULP's Private Data beside the word",
  run = function(t)
    for _, octets in ipairs { 20, 0 } do
      local data = distinct(octets)
      local a, got = t:enhanced_asked({ dut = { private_data = octets > 0 and hex(data) or nil } })
      if #got.private_data ~= 4 + octets or not got.private_data:find(data, 1, true) then
        t:fail("an Enhanced Initiate whose ULP gave " .. octets .. " octets", "these and the 4 octets of the word", hex(got.private_data))
      end
      a.handle:abort()
    end
  end,
}

check {
  id = "EMPA-7-11",
  role = "initiator",
  purpose = "no control message has more than 512 octets of Private Data, the word with them",
  requires = "upper_tester",
  run = function(t)
    local _, got = t:enhanced_asked({ dut = { private_data = hex(distinct(508)) } })
    t:equal("octets of Private Data in an Enhanced Initiate whose ULP gave 508", 512, #got.private_data)
    t.port = t.port + 1
    rig.sctp_listen(t.port, { adaptation = sctp.DDP })
    local answer = t:command("connect", { address = rig.addresses(), port = t.port, enhanced = true, private_data = hex(distinct(509)) })
    if not answer.ok then return end
    local handle = rig.sctp_accept(t.port, t.quiet)
    local chunk = handle and handle:receive(t.quiet)
    if chunk and #chunk.data > 4 + 512 then
      t:fail("a ULP that gives 509 octets", "an error, or at most 512 octets", #chunk.data - 4 .. " octets")
    end
  end,
}

-- FAIL unless the ULP's octets follow the word.
local function word_first(t, what, data)
  t:equal("the ULP's Private Data in an " .. what .. ", from octet 4 on", hex(DATA), hex(data:sub(5)))
end

check {
  id = "EMPA-7-08",
  role = "initiator",
  purpose = "in an Enhanced Initiate the ULP's Private Data follows the word",
  run = function(t)
    local _, got = t:enhanced_asked({ dut = { private_data = hex(DATA) } })
    word_first(t, ENHANCED.Initiate, got.private_data)
  end,
}

check {
  id = "EMPA-7-09",
  role = "responder",
  purpose = "in an Enhanced Accept the ULP's Private Data follows the word",
  run = function(t)
    local _, _, got = t:enhanced_opened({ dut = { private_data = hex(DATA) } })
    word_first(t, ENHANCED.Accept, got.private_data)
  end,
}

check {
  id = "EMPA-7-07",
  role = "responder",
  purpose = "Enhanced Accept and Enhanced Reject have the ULP's Private Data",
  requires = "upper_tester",
  run = function(t)
    for _, answer in ipairs { "Accept", "Reject" } do
      local a = t:enhanced_asked({ dut = { private_data = hex(DATA), accept = answer == "Accept" and "auto" or "reject" } })
      local got = a:expect_control(a.sid, ENHANCED[answer], "the ULP's answer to an Enhanced Initiate")
      if not got.private_data:find(DATA, 1, true) then
        t:fail("an " .. ENHANCED[answer] .. " whose ULP gave 20 octets", hex(DATA), hex(got.private_data))
      end
      a.handle:abort()
    end
  end,
}

check {
  id = "EMPA-7-12",
  role = "responder",
  purpose = "an Enhanced Initiate with 513 octets of Private Data opens no session",
  run = function(t)
    local a = t:enhanced_asked({ data = distinct(509) })
    local got, why = next_control(a, a.sid)
    a:expect_acknowledged("an Enhanced Initiate with 513 octets of Private Data")
    local what = "an Enhanced Initiate with 513 octets of Private Data"
    if got and got.code == sctp.Terminate or not got and why == "ABORT" then
      t:ambiguous("A: an illegal message ends the session (RFC 5043 6.1)")
    elseif got and got.code == sctp[ENHANCED.Reject] or not got and why == "timeout" then
      t:ambiguous("B: it is refused or ignored")
    elseif got and got.code == sctp[ENHANCED.Accept] then
      t:warn(what, "Terminate, Enhanced Reject or nothing", ENHANCED.Accept)
    end
    t:fail(what, "Terminate, Enhanced Reject or nothing", code_text(got, why))
  end,
}

-- FAIL unless the upper tester reports a control message with this code.
local function expect_event_of(t, name)
  local event = t:await_event("control", { code = sctp[name] })
  t:equal("the ULP is told of an " .. name, true, event ~= nil)
end

check {
  id = "EMPA-7-14",
  role = "both",
  purpose = "the ULP is told of enhanced session control messages, with IRD, ORD and flags",
  requires = "upper_tester",
  run = function(t)
    if t.role == "responder" then
      local a = t:enhanced_asked({ dut = {}, fields = { IRD = 5, ORD = 3 } })
      expect_event_of(t, ENHANCED.Initiate)
      local event = t:await_event("connect_request", { stream = a:stream_number(a.sid) })
      t:equal("IRD of the Initiate, as the ULP is told", 5, event and event.peer_ird)
      t:equal("ORD of the Initiate, as the ULP is told", 3, event.peer_ord)
      return
    end
    local a = t:enhanced_opened({ fields = { IRD = 5, ORD = 3 } })
    expect_event_of(t, ENHANCED.Accept)
    local event = t:await_event("established", { stream = a.stream })
    t:equal("IRD of the Accept, as the ULP is told", 5, event and event.peer_ird)
    t:equal("ORD of the Accept, as the ULP is told", 3, event.peer_ord)
    a = t:enhanced_asked()
    a:control(a.sid, ENHANCED.Reject, { data = enhanced_word() })
    expect_event_of(t, ENHANCED.Reject)
  end,
}

check {
  id = "EMPA-7-15",
  role = "responder",
  purpose = "the ULP is given the Private Data of an Enhanced Initiate: its own octets, without the word",
  requires = "upper_tester",
  run = function(t)
    for _, octets in ipairs { 20, 508 } do
      local a = t:enhanced_asked({ dut = {}, data = distinct(octets) })
      local event = t:await_event("connect_request", { stream = a:stream_number(a.sid) })
      t:equal("Private Data, as the ULP is given it", hex(distinct(octets)), event and event.private_data)
    end
  end,
}

check {
  id = "EMPA-9-05",
  role = "initiator",
  purpose = "plain Initiates have the ULP's Private Data alone",
  run = function(t)
    local a = t:associate { dut = { enhanced = false, private_data = hex(DATA) } }
    local got = a:expect_control(nil, "Initiate", "the device asks for a session without the word")
    if got.private_data:sub(5) == DATA then t:ambiguous("B: the plain codes 1 and 2 may carry it too") end
    t:equal("the Private Data of a plain Initiate", hex(DATA), hex(got.private_data))
    t:ambiguous("A: only the enhanced codes 5 and 6 carry the word")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- In operation, and at the end

check {
  id = "EMPA-7-05",
  role = "both",
  purpose = "an enhanced session has DDP-SSNs from 0, unordered chunks and one SID, as a plain one has",
  run = function(t)
    local a, sid, first = t:enhanced_opened({ last = true })
    local function look(got, ssn, what)
      t:equal("DDP-SSN of " .. what, ssn, got.message_ssn)
      t:equal("flags U, B and E of " .. what, sctp.UNORDERED, got.flags & sctp.UNORDERED)
    end
    if t.role == "initiator" then first = nil end
    if first then look(first, 0, "the Enhanced Accept") end
    for n = 1, 3 do look(a:probe(sid), n, "segment " .. n) end
  end,
}

check {
  id = "EMPA-7-18",
  role = "both",
  purpose = "the device ends an enhanced session by the ordinary Terminate, and the SID can be used again",
  requires = "upper_tester",
  run = function(t)
    local a, sid = t:enhanced_opened({ dut = {} })
    a:probe(sid)
    t.dut:disconnect { stream = a:stream_number(a.sid) }
    a:expect_control(sid, "Terminate", "the ULP ends an enhanced session", { ssn = 2, data = "" })
    if t.role == "initiator" then return end
    a:control(sid, "Terminate")
    a.next_ssn[sid], a.next_msn = nil, {}
    a:control(sid, ENHANCED.Initiate, { data = enhanced_word() })
    a:expect_control(sid, ENHANCED.Accept, "the SID is used again", { ssn = 0 })
  end,
}

check {
  id = "EMPA-7-19",
  role = "both",
  sandwich = "startup",
  purpose = "either side may send the first segment",
  run = function(t)
    local a, sid = t:enhanced_opened({ dut = t.role == "responder" and {} or nil })
    if t.role == "initiator" then
      a:probe(sid, "a segment right after the tester's Accept is taken")
      return
    end
    a:probe(sid, "the initiator's segment is the first")
    local b, other = t:enhanced_opened({ dut = {} })
    t.dut:send { stream = b:stream_number(other), data = hex("first") }
    b:expect_segment(other, rdmap.send { data = "first" }, "the responder's ULP sends first")
    b:probe(other, "and the initiator after it")
  end,
}

check {
  id = "EMPA-7-20",
  frees = true,
  role = "both",
  purpose = "A = 1 over SCTP: is the first segment an RTR?",
  requires = "upper_tester",
  run = function(t)
    local a, sid = t:enhanced_opened({ dut = { p2p = true, rtr = { "write" } }, fields = { A = 1, C = 1 } })
    t.dut:send { stream = a:stream_number(a.sid), data = hex("first") }
    if t.role == "initiator" then
      local got, why = a:receive(sid)
      if not (got and got.kind == "segment") then t:fail("the device's first segment", "an RTR or a Send", got and got.kind or why) end
      if fits(rdmap.write { T = 1, L = 1, data = "" }, got.segment) then
        a:expect_segment(sid, rdmap.send { data = "first" }, "after the RTR comes what the ULP sends")
        t:ambiguous("A: A=1 demands an RTR over SCTP too")
      elseif fits(rdmap.send { data = "first" }, got.segment) then
        t:ambiguous("B: either side may send first, so no RTR is needed")
      end
      t:fail("the device's first segment", "an RTR Write or the Send", describe(got.segment))
    end
    local got = a:receive(sid, t.quiet)
    if got then
      if not (got.kind == "segment" and fits(rdmap.send { data = "first" }, got.segment)) then
        t:fail("the device's first segment", "the Send", got.segment and describe(got.segment) or got.kind)
      end
      t:ambiguous("B: either side may send first, so no RTR is needed")
    end
    a:segment(sid, rtr.C())
    a:expect_segment(sid, rdmap.send { data = "first" }, "after the RTR the responder sends")
    t:ambiguous("A: A=1 demands an RTR over SCTP too")
  end,
}

check {
  id = "EMPA-7-21",
  role = "both",
  purpose = "Initiate (5), Accept (6), segments, Terminate (4): a whole enhanced session",
  run = function(t)
    local a, sid = t:enhanced_opened()
    for _ = 1, 2 do a:probe(sid) end
    a:control(sid, "Terminate")
    local got = a:receive(sid, t.quiet)
    if got and not (got.kind == "control" and got.code == sctp.Terminate and got.private_data == "") then
      t:fail("after a Terminate of the tester", "a Terminate, or nothing", code_text(got.code and got, "a chunk of PPID " .. got.ppid))
    end
    a:expect_acknowledged("the Terminate")
    a:expect_nothing(sid, "after the Terminates the session is over")
  end,
}

check {
  id = "EMPA-7-24",
  role = "initiator",
  purpose = "a plain Accept in answer to an Enhanced Initiate ends the session",
  run = function(t)
    local a = t:enhanced_asked()
    a:control(a.sid, "Accept", { data = enhanced_word() })
    a:segment(a.sid, empty_read(PROBE_STAG))
    local got, why = a:receive(a.sid)
    if not got and why == "timeout" then
      t:warn("a plain Accept in answer to an Enhanced Initiate", "Terminate", "the session is closed without a message")
    end
    if not got and why == "ABORT" or got and got.kind == "control" and got.code == sctp.Terminate then return end
    t:fail("a plain Accept in answer to an Enhanced Initiate", "Terminate",
           got and (got.segment and describe(got.segment) or "Function Code " .. tostring(got.code)) or why)
  end,
}

check {
  id = "EMPA-8-05",
  frees = true,
  role = "initiator",
  purpose = "an Enhanced Accept that confirms no kind of RTR: a Terminate of MPA's layer, or the session just ends",
  run = function(t)
    local a = t:enhanced_asked({ dut = { p2p = true, rtr = { "write" } } })
    a:control(a.sid, ENHANCED.Accept, { data = enhanced_word { A = 1 } })
    local got, why = a:receive(a.sid)
    if got and got.kind == "segment" and got.segment.Opcode == 7 then
      if is_terminate(got.segment, "MPA_NO_MATCHING_RTR") or is_terminate(got.segment, "MPA_INSUFFICIENT_IRD") then
        t:ambiguous("A: the MPA codes (layer 2, type 0) are used over SCTP too")
      end
      t:fail("an Enhanced Accept that confirms no kind of RTR", "Terminate 2/0/07 or 2/0/06", describe(got.segment))
    elseif got and got.kind == "control" and got.code == sctp.Terminate then
      t:ambiguous("B: no code exists, the session just ends")
    end
    t:fail("an Enhanced Accept that confirms no kind of RTR", "Terminate of RDMAP or of the session",
           got and (got.segment and describe(got.segment) or "Function Code " .. tostring(got.code)) or why)
  end,
}
