-- SPDX-License-Identifier: BSD-2-Clause
--
-- DDP streams of draft-stewart-rddp-sctp-02: in operation, aborted, and begun again by a Stream Reset.

-- A Stream Reset on the SID: what comes after it is a new DDP stream. By the code table, on the PPID of adaptation control.
function Association:reset(sid, ppid)
  self:chunk { sid = sid, ppid = ppid or sctp["draft control"], data = string.pack(">I4", sctp["Stream Reset"]) }
  self.next_ssn[sid] = nil
  for queue in pairs(copy_fields(self.next_msn)) do
    if queue >> 16 == sid then self.next_msn[queue] = nil end
  end
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

-- An association whose ULP the check may ask: a stream in operation on SID 0, and its number.
function Test:draft_posted()
  local port = self.role == "responder" and self:listen {} or nil
  local a = self:sctp_open { tester = { port = port }, dut = {} }
  a.port = port
  a:probe(a.sid)
  return a, a:known(a.sid)
end
