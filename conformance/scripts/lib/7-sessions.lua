-- SPDX-License-Identifier: BSD-2-Clause
--
-- Sessions over SCTP, step by step: how a session begins, who has which number, and what may come when it ends (RFC
-- 5043 6).

-- An association whose first session has not been answered. config: options of the device's listen or connect; options:
-- `tester` as for t:associate, `fields` of the tester's Initiate. As responder, the device has got an Initiate on SID
-- 0; as initiator, its own has come (a.initiate).
function Test:sctp_requested(config, options)
  local given = copy_fields(options)
  local a = self:sctp_ready(config, given)
  if self.role == "responder" then
    a.sid = given.sid or 0
    a:control(a.sid, "Initiate", given.fields)
  else
    a:receive_initiate()
  end
  return a
end

-- The same before the Initiate is sent, or taken: as initiator the device has been asked to connect.
function Test:sctp_ready(config, options)
  local given = copy_fields(options)
  local tester = copy_fields(given.tester)
  if self.role == "responder" and config then
    local listen = copy_fields(config)
    if listen.enhanced == nil then listen.enhanced = false end
    tester.port = self:listen(listen)
  end
  local a = self:associate { tester = tester, dut = config }
  a.port = tester.port
  return a
end

-- The device's Initiate, of its session on a.sid.
function Association:receive_initiate()
  self.initiate = self:receive(nil)
  local got = self.initiate
  if not (got and got.kind == "control" and got.code == sctp.Initiate) then
    self.t:inconclusive("the device does not ask for a session")
  end
  self.sid = got.sid
  return got
end

-- The device's numbers for the session of the SID and for the association, once its ULP knows of it: a.stream,
-- a.number.
function Association:stream_number(sid)
  if self.t.role == "responder" then
    local match = { sid = sid or self.sid, port = self.port, association = self.number }
    local event = self.t:await_event("accepted", match)
    if not event then self.t:inconclusive("the device does not report the session that was asked for") end
    self.stream, self.number = event.stream, event.association
  end
  return self.stream
end

-- A session in operation whose stream is known to the device's upper tester, and in which the device may send.
function Test:sctp_operating(config, options)
  local a = self:sctp_requested(config or {}, options)
  if self.role == "responder" then
    a:expect_control(a.sid, "Accept", "an Initiate is accepted")
  else
    a:control(a.sid, "Accept")
  end
  a:probe(a.sid)
  a:stream_number()
  return a
end

-- What the session of the SID has after a stimulus: "over" (Terminate, perhaps after an RDMAP Terminate), "silent",
-- "ended" (the association), or the chunk itself.
function Association:reaction(sid, seconds)
  local got, why = self:receive(sid, seconds or self.t.quiet)
  if got and got.kind == "segment" and got.segment.Opcode == 7 then got, why = self:receive_last(sid) end
  if got and got.kind == "control" and got.code == sctp.Terminate then return "over", got end
  if got then return "chunk", got end
  return self:is_silence(why) and "silent" or "ended", nil, why
end

-- FAIL if a segment that is good in itself has an effect on the SID: no session is there. A Terminate may answer it.
function Association:expect_closed(sid, message, more)
  self:segment(sid, empty_read(PROBE_STAG), more)
  local how, got, why = self:reaction(sid)
  if how == "chunk" or how == "ended" then
    self.t:fail(message, "nothing, or a Terminate, on SID " .. sid, self:words(got, why))
  end
end

-- The device's ULP asks for a session in the same association: `request` is of its verb connect. SKIP where the
-- association was shut down with its last session. Returns the device's number for the stream.
function Association:ask(request)
  request.association = self.number
  self:skip_if_shut()
  local answer = self.t:command("connect", request)
  if not answer.ok then
    rig.wait(self.t.round_trip)
    self:skip_if_shut()
    self.t:inconclusive("the upper tester could not connect: " .. tostring(answer.error))
  end
  self.asked = answer.stream
  return answer.stream
end

-- A further session in the same association, asked for by its side of the check's role: the association goes on.
-- config: of the device's verb connect. Returns the SID.
function Association:further(sid, message, config)
  if self.t.role == "responder" and not config then
    self:control(sid, "Initiate", { ssn = 0 })
    self.next_ssn[sid] = 1
    self:expect_control(sid, "Accept", message, { ssn = 0 })
  else
    local request = copy_fields(config)
    request.enhanced = false
    self:ask(request)
    local got, why = self.handle:receive(self.t.reaction)
    got = got and self:read(got)
    if not (got and got.kind == "control" and got.code == sctp.Initiate) then
      self.t:fail(message, "an Initiate on another SID", self:words(got, why))
    end
    sid = got.sid
    self:control(sid, "Accept", { ssn = 0 })
    self.next_ssn[sid] = 1
  end
  self.next_msn[sid << 16 | 1] = 0
  self:probe(sid, message)
  return sid
end

-- SIDs that a tester asks for where it looks for the device's limits, and associations that it begins for that.
local SIDS_MOST, ASSOCIATIONS_MOST = 1024, 4

-- How many requests may wait for the device's ULP on the association (RFC 5043 6.4): nil where its upper tester does
-- not tell.
local function pending_limit(t, port)
  local up = t:await_event("association_up", { port = port }, t.quiet)
  local answer = up and t:command("association", { association = up.association })
  return answer and answer.ok and answer.pending_limit or nil
end

-- Asks for sessions that the device's ULP does not answer, on all SIDs of one association after another, until some are
-- refused: by the control message `name` with `data`. Returns the association in which that was so, and two lists: the
-- SIDs that were asked for, in order, and by SID what the device said there. SKIP where its limit is beyond what the
-- SIDs allow.
function Test:overload(name, data)
  local port, asked = self:listen({ accept = "manual" }, true), 0
  for _ = 1, ASSOCIATIONS_MOST do
    local a = self:associate { tester = { port = port, outbound = SIDS_MOST, inbound = SIDS_MOST } }
    local limit, streams = pending_limit(self, port), a:streams()
    a.port = port
    if limit and limit >= streams then
      self:skip(limit .. " requests may wait for the device's ULP, and an association has " .. streams .. " streams")
    end
    local sids, said = {}, {}
    for sid = 0, math.min(streams, limit and limit + 1 + limit // 2 or streams) - 1 do
      a:control(sid, name, { data = data })
      sids[#sids + 1] = sid
      if #sids % 32 == 0 then a:expect_acknowledged("Initiates") end
    end
    asked = asked + #sids
    a:expect_acknowledged(#sids .. " Initiates")
    rig.wait(self.quiet)
    local got = a:receive(nil, 0)
    while got do
      said[got.sid] = got
      got = a:receive(nil, 0)
    end
    if limit or next(said) then return a, sids, said end
  end
  self:skip("the device takes " .. asked .. " requests without an answer of its ULP, and its upper tester tells no limit")
end

-- The device, as initiator, has begun an association; the tester acknowledges nothing, not even the first Initiate.
function Test:associate_withheld(options)
  local a = self:associate(options)
  a.handle:withhold(true)
  return a
end
