-- SPDX-License-Identifier: BSD-2-Clause
--
-- DDP streams of draft-stewart-rddp-sctp-02: in operation, aborted, and begun again by a Stream Reset.

-- A Stream Reset on the SID: what comes after it is a new DDP stream. By the code table, on the PPID of adaptation
-- control. With `goes_on` the tester's MSNs are those after the last ones that the device has taken (SCTP-7.2-14,
-- reading B), else they begin with 1.
function Association:reset(sid, ppid, goes_on)
  self:chunk { sid = sid, ppid = ppid or sctp["draft control"], data = string.pack(">I4", sctp["Stream Reset"]) }
  self.next_ssn[sid] = nil
  for queue, last in pairs(copy_fields(self.next_msn)) do
    if queue >> 16 == sid then self.next_msn[queue] = goes_on and last or nil end
  end
end

-- Queue Numbers with their SID, as MSNs are counted.
local function queue_of(sid, qn) return sid << 16 | qn end

-- The DDP stream of the SID begins again by a Stream Reset of the tester: a Read is answered after it. The device may
-- answer the Reset by its own, and may let MSNs begin anew or go on (SCTP-7.2-13, -14): whichever, the tester follows,
-- and a.first_msn is the MSN of the next Read. Returns the Response (or what came in its place, and why), and whether
-- the device's Reset came.
function Association:reopen(sid, ppid, message)
  local before = self.next_msn[queue_of(sid, 1)]
  local answered = false
  local function ask()
    self:segment(sid, empty_read(PROBE_STAG))
    local got, why = self:receive(sid, self.t.reaction)
    if got and got.kind == "reset" then
      answered = true
      got, why = self:receive(sid, self.t.reaction)
    end
    return got, why
  end
  self:reset(sid, ppid)
  if message then message() end
  local got, why = ask()
  if got and got.kind == "segment" and before and is_terminate(got.segment, "DDP_MSN_RANGE") then
    self.next_msn[queue_of(sid, 1)] = before
    self:reset(sid, ppid, true)
    got, why = ask()
    if got and got.kind == "segment" and got.segment.Opcode == 2 then
      self.t:note("MSNs go on across a Stream Reset (SCTP-7.2-14, reading B)")
    end
  end
  self.first_msn = (self.next_msn[queue_of(sid, 1)] or 0) + 1
  return got, why, answered
end

-- The same: FAIL unless the Read is answered.
function Association:expect_reopened(sid, ppid, message)
  local got, why, answered = self:reopen(sid, ppid)
  if not (got and got.kind == "segment" and fits(rdmap.read_response {}, got.segment)) then
    self.t:fail(message or "a Read after a Stream Reset", "its Response", self:words(got, why))
  end
  return got, answered
end

-- The SID after an error: a Write to an unknown STag. An RDMAP Terminate of the device is passed over.
function Association:abort_stream(sid)
  self:segment(sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
  self:expect_acknowledged("a Write to an unknown STag")
  local got = self:receive(sid, self.t.quiet)
  if got and not (got.kind == "segment" and got.segment.Opcode == 7) then
    self.t:fail("a Write to an unknown STag", "an RDMAP Terminate, or nothing", got.segment and describe(got.segment) or got.kind)
  end
end

-- An association whose ULP the check may ask: a stream in operation, and its number.
function Test:draft_posted()
  local port = self.role == "responder" and self:listen {} or nil
  local a = self:sctp_open { tester = { port = port }, dut = {} }
  a.port = port
  a:probe(a.sid)
  return a, a:stream_number(a.sid)
end

-- What became of a stimulus: "answered" by a Response, "aborted" or "silent".
function Association:outcome(sid, what)
  local got, why = self:receive(sid, self.t.quiet)
  if got and got.kind == "reset" then got, why = self:receive(sid, self.t.quiet) end -- the device's answer to a Reset
  self:expect_acknowledged(what)
  if not got then
    if why ~= "timeout" then self.t:fail(what, "the association goes on", why) end
    return "silent"
  end
  if got.kind == "segment" and got.segment.Opcode == 7 then return "aborted" end
  if got.kind == "segment" and fits(rdmap.read_response {}, got.segment) then return "answered" end
  self.t:fail(what, "a Response, a Terminate or nothing", got.segment and describe(got.segment) or got.kind)
end

-- The segment that answers an empty Read on an association of its own; nil: none does.
local function answer_to_read(self)
  local a = self:try_associate()
  if not a then return nil end
  local sid = a:session()
  a:segment(sid, empty_read(PROBE_STAG))
  local got = a:receive(sid, self.reaction)
  a.handle:abort()
  a.handle:close()
  return got and got.kind == "segment" and got.segment or nil
end

-- Devices of older drafts speak version 0 of DDP and RDMAP (SCTP-2.2-08, reading B), and refuse version 1 by a
-- Terminate that has it, or end the stream without one: then the tester speaks it, too. A run learns it once for each
-- role (harness.learn); a check of which nothing was learned asks before its first association.
function Test:draft_learn()
  if self.draft_asked then return end
  self.draft_asked = true
  local learned = self.version_learned or self.services and self.services.draft_version
  if learned then
    self.draft_version = learned == 0 and 0 or nil
    return
  end
  local answer = answer_to_read(self)
  if answer and not (answer.DV == 0 and answer.RV == 0 and is_terminate(answer, "DDP_UNTAGGED_VERSION")) then return end
  self.draft_version = 0
  if not answer then
    answer = answer_to_read(self)
    if not answer or not fits(rdmap.read_response {}, answer) then
      self.draft_version = nil
      return
    end
  end
  self:note("the device speaks version 0 of DDP and RDMAP (SCTP-2.2-08, reading B)")
end
