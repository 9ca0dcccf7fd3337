-- SPDX-License-Identifier: BSD-2-Clause
--
-- Sessions over SCTP, step by step: how a session begins, who has which number, and what may come when it ends (RFC 5043 6).

-- An association whose first session has not been answered. config: options of the device's listen or connect; options:
-- `tester` as for t:associate, `fields` of the tester's Initiate. As responder, the device has got an Initiate on SID 0; as
-- initiator, its own has come (a.initiate).
function Test:sctp_requested(config, options)
  local given = copy_fields(options)
  local a = self:sctp_ready(config, given)
  if self.role == "responder" then
    a.sid = 0
    a:control(0, "Initiate", given.fields)
  else
    a:take_initiate()
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
function Association:take_initiate()
  self.initiate = self:receive(0)
  local got = self.initiate
  if not (got and got.kind == "control" and got.code == sctp.Initiate) then
    self.t:inconclusive("the device does not ask for a session")
  end
  self.sid = got.sid
  return got
end

-- The device's numbers for the session of the SID and for the association, once its ULP knows of it: a.stream, a.number.
function Association:known(sid)
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
    a:expect_control(0, "Accept", "an Initiate is accepted")
  else
    a:control(a.sid, "Accept")
  end
  a:probe(a.sid)
  a:known()
  return a
end

-- What the session of the SID has after a stimulus: "over" (Terminate, perhaps after an RDMAP Terminate), "silent", "ended"
-- (the association), or the chunk itself.
function Association:reaction(sid, seconds)
  local got, why = self:receive(sid, seconds or self.t.quiet)
  if got and got.kind == "segment" and got.segment.Opcode == 7 then got, why = self:receive(sid) end
  if got and got.kind == "control" and got.code == sctp.Terminate then return "over", got end
  if got then return "chunk", got end
  return why == "timeout" and "silent" or "ended", nil, why
end

-- FAIL if a segment that is good in itself has an effect on the SID: no session is there. A Terminate may answer it.
function Association:expect_closed(sid, message, more)
  self:segment(sid, empty_read(PROBE_STAG), more)
  local how, got, why = self:reaction(sid)
  if how == "chunk" or how == "ended" then
    self.t:fail(message, "nothing, or a Terminate, on SID " .. sid, self:words(got, why))
  end
end

-- A further session in the same association, asked for by its side of the check's role: the association goes on. config: of
-- the device's verb connect. Returns the SID; a.other is the device's number for the stream, as initiator.
function Association:further(sid, message, config)
  if self.t.role == "responder" and not config then
    self:control(sid, "Initiate", { ssn = 0 })
    self.next_ssn[sid] = 1
    self:expect_control(sid, "Accept", message, { ssn = 0 })
  else
    local request = copy_fields(config)
    request.association, request.enhanced = self.number, false
    self.other = self.t.dut:connect(request).stream
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

-- The device, as initiator, has begun an association; the tester acknowledges nothing, not even the first Initiate.
function Test:associate_withheld(options)
  local a = self:associate(options)
  a.handle:withhold(true)
  return a
end
