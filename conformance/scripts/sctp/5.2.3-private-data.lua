-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 5.2.3: Private Data of session control messages, sent and received.

defaults { llp = "sctp" }

local lengths = { 0, 1, 512 }

-- The device answers an Initiate by this message, with the Private Data that its ULP has for it.
local function answers_with(t, policy, name)
  for _, octets in ipairs(lengths) do
    local data = distinct(octets)
    local a = t:sctp_requested { accept = policy, private_data = octets > 0 and hex(data) or nil }
    a:expect_control(a.sid, name, "Private Data of " .. octets .. " octets", { ssn = 0, data = data })
    a.handle:abort()
  end
  -- One answer after another in the same association, each shorter than the one before.
  local a = t:sctp_ready { accept = "manual" }
  a.sid = 0
  for n, octets in ipairs { 512, 20, 1, 0 } do
    local sid = n == 1 and a.sid or a:other(n - 1)
    if sid == nil then break end
    local data = distinct(octets)
    a:control(sid, "Initiate")
    t.dut[name == "Accept" and "accept" or "reject"](t.dut, { stream = a:stream_number(sid), private_data = octets > 0 and hex(data) or nil })
    a:expect_control(sid, name, "Private Data of " .. octets .. " octets, after longer ones on other SIDs", { ssn = 0, data = data })
  end
end

check {
  id = "SCTP5043-5.2.3-04",
  purpose = "the Accept has the Private Data of the ULP",
  requires = "upper_tester",
  run = function(t) answers_with(t, "auto", "Accept") end,
}

check {
  id = "SCTP5043-5.2.3-05",
  also = { "SCTP5043-6.3-02" },
  purpose = "a ULP that rejects is heard: the Reject has its Private Data",
  requires = "upper_tester",
  run = function(t) answers_with(t, "reject", "Reject") end,
}

check {
  id = "SCTP5043-5.2.3-06",
  role = "both",
  sandwich = "association",
  purpose = "Initiate, Accept and Reject without Private Data are taken",
  run = function(t)
    local a = t:associate()
    a.sid = a:session()
    a:probe(a.sid, "after an Initiate or Accept without Private Data")
    if t.role == "responder" then return end
    a = t:sctp_requested()
    a:control(a.sid, "Reject")
    t:expect_event("rejected", { stream = a.stream }, "a Reject without Private Data", "the event \"rejected\"")
  end,
}

-- The device may refuse Private Data that long; what it sends has at most 512 octets of it.
local function look_at_length(t, a, octets)
  local got = a:receive()
  if not (got and got.kind == "control") then
    t:inconclusive("no control message came with " .. octets .. " octets of Private Data")
  end
  if #got.private_data > 512 then
    t:fail("Private Data has at most 512 octets", "4 to 516 octets of user data", 4 + #got.private_data .. " octets")
  end
  a.handle:abort()
end

local function ask_responder(t, config, octets)
  local answer = t:command("listen", config)
  if not answer.ok then return end
  local a = t:associate { tester = { port = answer.port } }
  a:control(0, "Initiate")
  look_at_length(t, a, octets)
end

local function ask_initiator(t, config, octets)
  t.port = t.port + 1
  rig.sctp_listen(t.port, { adaptation = sctp.DDP })
  config.address, config.port = rig.addresses(), t.port
  if not t:command("connect", config).ok then return end
  local a = t:sctp_adopt(rig.sctp_accept(t.port, t.reaction))
  look_at_length(t, a, octets)
end

check {
  id = "SCTP5043-5.2.3-07",
  role = "both",
  purpose = "no control message has more than 512 octets of Private Data, whatever the ULP asks for",
  requires = "upper_tester",
  run = function(t)
    if t.role == "responder" then
      look_at_length(t, t:sctp_requested { private_data = hex(distinct(512)) }, 512)
    else
      look_at_length(t, t:associate { dut = { private_data = hex(distinct(512)) } }, 512)
    end
    for _, octets in ipairs { 513, 600 } do
      local config = { private_data = hex(distinct(octets)), enhanced = false }
      if t.role == "responder" then ask_responder(t, config, octets) else ask_initiator(t, config, octets) end
    end
  end,
}

-- The ULP has had Private Data that is too long: all of it, or its first 512 octets.
local function look_at_reported(t, a, kind, data)
  local event = t:expect_event(kind, { stream = a:stream_number() }, "Private Data of " .. #data .. " octets",
                               "the event \"" .. kind .. "\"")
  local reported = event.private_data or ""
  if reported ~= hex(data) and reported ~= hex(data:sub(1, 512)) then
    t:fail("Private Data of " .. #data .. " octets", "all of them for the ULP, or the first 512", #reported // 2 .. " octets, others")
  end
end

local function takes_too_much(t, octets)
  local data = distinct(octets)
  local a = t:sctp_requested({}, { fields = { data = data } })
  local what = "Private Data of " .. octets .. " octets"
  if t.role == "initiator" then a:control(a.sid, "Accept", { data = data }) end
  local how, got, why = a:reaction(a.sid)
  local accepted = how == "chunk" and got.kind == "control" and got.code == sctp.Accept
  if t.role == "initiator" and how == "silent" then
    a:segment(a.sid, empty_read(PROBE_STAG))
    got = a:receive(a.sid, t.quiet)
    accepted = got and got.kind == "segment" and got.segment.Opcode == 2
  elseif how == "ended" or how == "chunk" and not accepted then
    t:fail(what, "Terminate, nothing, or a session", a:words(got, why))
  end
  a:expect_acknowledged(what)
  if accepted then look_at_reported(t, a, t.role == "initiator" and "established" or "connect_request", data) end
  if a:other() then a:further(a:other(), "another session after " .. what) end
  return how ~= "over"
end

check {
  id = "SCTP5043-5.2.3-08",
  role = "both",
  purpose = "Private Data above 512 octets ends the session, or is ignored, or taken; it harms nothing else",
  requires = "upper_tester",
  run = function(t)
    local taken = false
    for _, octets in ipairs { 513, 1000 } do taken = takes_too_much(t, octets) or taken end
    if taken then t:ambiguous("B: it is taken or cut") end
  end,
}

check {
  id = "SCTP5043-5.2.3-10",
  role = "both",
  purpose = "a Terminate with Private Data ends the session",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:control(a.sid, "Terminate", { data = distinct(8) })
    local how, got, why = a:reaction(a.sid)
    if how == "chunk" or how == "ended" then
      t:fail("a Terminate with Private Data", "Terminate or nothing on SID " .. a.sid, a:words(got, why))
    end
    a:expect_acknowledged("a Terminate with Private Data")
    a:expect_closed(a.sid, "after a Terminate with Private Data")
  end,
}

-- The tester says this, with Private Data of each length, and the event has them.
local function reported(t, kind, say)
  for _, octets in ipairs(lengths) do
    local data = distinct(octets)
    local a = t:sctp_requested({}, { fields = { data = data } })
    if say then a:control(a.sid, say, { data = data }) end
    local event = t:expect_event(kind, { stream = a:stream_number() }, "Private Data of " .. octets .. " octets",
                                 "the event \"" .. kind .. "\"")
    t:equal("the Private Data that the ULP gets", hex(data), event.private_data or "")
    a.handle:abort()
  end
end

-- The same of several Initiates in one association, each with less than the one before.
local function reported_less_and_less(t)
  local a = t:sctp_ready {}
  a.sid = 0
  for n, octets in ipairs { 512, 20, 1, 0 } do
    local sid = n == 1 and a.sid or a:other(n - 1)
    if sid == nil then return end
    local data = distinct(octets)
    a:control(sid, "Initiate", { data = data })
    local event = t:expect_event("connect_request", { stream = a:stream_number(sid) }, "Private Data of " .. octets .. " octets, after more on other SIDs",
                                 "the event \"connect_request\"")
    t:equal("the Private Data that the ULP gets, after more on other SIDs", hex(data), event.private_data or "")
  end
end

check {
  id = "SCTP5043-5.2.3-12",
  role = "both",
  purpose = "the ULP gets the Private Data of Initiate, Accept and Reject whole",
  requires = "upper_tester",
  run = function(t)
    if t.role == "responder" then
      reported(t, "connect_request")
      reported_less_and_less(t)
    else
      reported(t, "established", "Accept")
      reported(t, "rejected", "Reject")
    end
  end,
}
