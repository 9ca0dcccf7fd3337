-- SPDX-License-Identifier: BSD-2-Clause
--
-- Checks over SCTP: associations with the device, sessions on their streams (RFC 5043; the draft has none), and what
-- DATA chunks hold. The LLP says the profile: "sctp" is RFC 5043, "sctp-draft02" draft-stewart-rddp-sctp-02.

sctp = rig.sctp_names()
sctp.UNORDERED = 0x07 -- U, B and E: how DDP's chunks are sent (RFC 5043 10)

Association = {}
Association.__index = Association

-- The profile of the run.
function Test:is_draft() return self.llp == "sctp-draft02" end

local function usual(t, options)
  local own = copy_fields(options)
  if own.adaptation == nil then own.adaptation = t:is_draft() and sctp["DDP+RDMA"] or sctp.DDP end
  if own.adaptation == false then own.adaptation = nil end
  return own
end

local function new_association(t, handle)
  return setmetatable({ t = t, handle = handle, next_ssn = {}, next_msn = {}, early = {}, live = {} }, Association)
end

-- An association, whoever begins it: nil and why where it does not come up. options.tester: what the tester's INIT or
-- INIT ACK says (rig.sctp_connect; adaptation = false: no indication); options.dut: of the device's connect verb, which
-- may refuse them with options.special: SKIP.
function Test:try_associate(options)
  options = options or {}
  if self:is_draft() then self:draft_learn() end
  if self.role == "responder" then
    local handle, why = rig.sctp_connect(usual(self, options.tester))
    if not handle then return nil, why end
    return new_association(self, handle)
  end
  local request = copy_fields(options.dut)
  self.port = self.port + 1
  rig.sctp_listen(self.port, usual(self, options.tester))
  request.address, request.port = rig.addresses(), self.port
  -- codes 1 to 3; those of RFC 6581 where a check asks for them
  if request.enhanced == nil then request.enhanced = false end
  local answer = options.special and self:instrument("connect", request) or self.dut:connect(request)
  local handle = rig.sctp_accept(self.port, self.reaction)
  if not handle then return nil, "the device did not set it up" end
  local a = new_association(self, handle)
  a.stream, a.number = answer.stream, answer.association
  return a
end

function Test:associate(options)
  local a, why = self:try_associate(options)
  if not a then self:inconclusive("no SCTP association with the device: " .. why) end
  return a
end

-- The numbers of streams in both directions, as INIT and INIT ACK leave them, when the tester asks for equal ones (RFC
-- 5043 8).
function Test:sctp_equal_streams()
  local offered <const> = 64
  local said = self:associate { tester = { outbound = offered, inbound = offered } }.handle:status()
  if self.role == "initiator" then
    self:equal("MIS of the device's INIT, which is to be its OS", said.outbound, said.inbound)
  else
    self:equal("streams to the device by its INIT ACK, which are to be as many as those from it",
      math.min(said.outbound, offered), math.min(said.inbound, offered))
  end
end

-- An association that the device began by itself, which the tester has accepted.
function Test:sctp_adopt(handle)
  if not handle then self:inconclusive("no SCTP association with the device: the device did not set it up") end
  return new_association(self, handle)
end

--------------------------------------------------------------------------------------------------------------------
-- Sending

-- The DDP-SSN of the next chunk on the SID, which advances unless one is given.
local function take_ssn(a, sid, given)
  if given then return given end
  local ssn = a.next_ssn[sid] or (a.t:is_draft() and 1 or 0)
  a.next_ssn[sid] = (ssn + 1) & 0xFFFF
  return ssn
end

-- Has the device shut the association down, in order and with its last session? It may (RFC 5041 3, RFC 5043 11.3).
function Association:is_shut()
  local status = self.handle:status()
  return (status.cause == "SHUTDOWN" or status.state == "SHUTDOWN") and self.had_session and next(self.live) == nil
end

-- Why nothing came: no chunk in time, or the end of an association that has no session any more.
function Association:is_silence(why) return why == "timeout" or why == "SHUTDOWN" and self:is_shut() end

-- SKIP where it has: there can be no further session.
function Association:skip_if_shut()
  if self:is_shut() then
    self.t:skip("the device shuts an association down with its last session, as it may (RFC 5043 11.3): no other one can follow")
  end
end

-- One DATA chunk. chunk: sid, ppid, data, and flags, tsn, hold, once, later, bad_checksum as in a.handle:send().
function Association:chunk(chunk)
  if not self.handle:send(chunk) then
    self:skip_if_shut()
    self.t:fail("the association is there for the stimulus", "an association that is up", self:state_text())
  end
end

-- A control message of either side, and what it makes of the SID's session.
function Association:follow(sid, code)
  if code == sctp.Accept or code == sctp["Enhanced Accept"] then
    self.live[sid], self.had_session = true, true
  elseif code == sctp.Terminate or code == sctp.Reject or code == sctp["Enhanced Reject"] then
    self.live[sid], self.had_session = nil, true
  end
end

-- A session control message. more: ssn, data (Private Data), and the members of a chunk.
function Association:control(sid, code, more)
  local chunk = copy_fields(more)
  local ssn = take_ssn(self, sid, chunk.ssn)
  if type(code) == "string" then code = sctp[code] end
  self:follow(sid, code)
  chunk.ssn, chunk.sid, chunk.ppid = nil, sid, chunk.ppid or sctp.control
  chunk.data = string.pack(">I2I2", ssn, code) .. (chunk.data or "")
  self:chunk(chunk)
end

-- A DDP Segment out of an RDMAP frame. more: ssn, and the members of a chunk. The MSN is the next of its queue unless
-- given.
function Association:segment(sid, frame, more)
  local chunk = copy_fields(more)
  local ssn = take_ssn(self, sid, chunk.ssn)
  chunk.ssn, chunk.sid = nil, sid
  chunk.ppid = chunk.ppid or (self.t:is_draft() and sctp["draft segment"] or sctp.segment)
  chunk.data = string.pack(">I2", ssn) .. self:octets(sid, frame)
  self:chunk(chunk)
end

-- With the MSN that is due on this SID.
local function msn_octets(self, sid, frame)
  if frame.given.MSN or frame.defaults.tagged then return frame:octets() end
  local queue = sid << 16 | (frame.given.QN or frame.defaults.fields.QN)
  local msn = (self.next_msn[queue] or 0) + 1
  self.next_msn[queue] = msn
  frame.given.MSN = msn
  local octets = frame:octets()
  frame.given.MSN = nil
  return octets
end

-- Checks name versions as if the device spoke version 1 of DDP and RDMAP. With one that speaks version 0
-- (Test:draft_learn) the two change places in what is sent and what comes, so that the right version is the right one,
-- and another stays another one.
local changed = { [0] = 1, 0, 2, 3 }

-- The same of a DDP header that begins at octet `at`, or what there is of it: DV and RV.
local function change_header(octets, at)
  local ddp, rdmap = octets:byte(at, at + 1)
  if ddp then octets = octets:sub(1, at - 1) .. string.char(ddp & ~3 | changed[ddp & 3]) .. octets:sub(at + 1) end
  if rdmap then octets = octets:sub(1, at) .. string.char(rdmap & 0x3F | changed[rdmap >> 6] << 6) .. octets:sub(at + 2) end
  return octets
end

-- What a Terminate quotes was sent in the version of the device, too.
local TERMINATE <const>, QUOTED_AT <const> = 7, 25

-- A ULPDU in the version of the device, or one of the device as the check is to read it.
function Test:in_version(ulpdu)
  if not self.draft_version then return ulpdu end
  local ddp, rdmap, flags = ulpdu:byte(1), ulpdu:byte(2), ulpdu:byte(21)
  local quotes = flags and ddp & 0x80 == 0 and rdmap & 0x0F == TERMINATE and flags & 0xC0 == 0xC0
  if quotes and ulpdu:sub(15, 18) == "\0\0\0\0" then ulpdu = change_header(ulpdu, QUOTED_AT) end
  return change_header(ulpdu, 1)
end

-- The octets of a frame: its MSN is counted for this SID, and its version is the device's.
function Association:octets(sid, frame)
  return self.t:in_version(frame.given and msn_octets(self, sid, frame) or frame:octets())
end

--------------------------------------------------------------------------------------------------------------------
-- Receiving

-- What a chunk holds: kind "control" (code, ssn, data), "segment" (ssn, segment: as from c:receive()), "reset" or
-- "other".
local function read_chunk(t, got)
  local draft = t:is_draft()
  local is_segment = got.ppid == (draft and sctp["draft segment"] or sctp.segment)
  if draft and #got.data == 4 and got.ppid <= 2 then
    got.kind, got.code = "reset", string.unpack(">I4", got.data)
  elseif not draft and got.ppid == sctp.control and #got.data >= 4 then
    got.kind = "control"
    got.message_ssn, got.code = string.unpack(">I2I2", got.data)
    got.private_data = got.data:sub(5)
  elseif is_segment and #got.data >= 2 then
    got.kind = "segment"
    got.message_ssn = string.unpack(">I2", got.data)
    got.segment = read_segment(t:in_version(got.data:sub(3)))
  else
    got.kind = "other"
  end
  return got
end

local code_names = { "Initiate", "Accept", "Reject", "Terminate", "Enhanced Initiate", "Enhanced Accept", "Enhanced Reject" }

-- A chunk in words, or how the association ended.
local function chunk_text(got, why)
  if not got then return why == "timeout" and "nothing" or "the end of the association (" .. why .. ")" end
  local place = " on SID " .. got.sid
  if got.kind == "control" then
    return (code_names[got.code] or "a control message with code " .. got.code) .. " with DDP-SSN " .. got.message_ssn .. place
  elseif got.kind == "segment" then
    return describe(got.segment) .. " with DDP-SSN " .. got.message_ssn .. place
  elseif got.kind == "reset" then
    return "a Stream Reset" .. place
  end
  return "a chunk of PPID " .. got.ppid .. place
end

-- The same for others: what came, or nil and why.
function Association:words(got, why) return chunk_text(got, why or "timeout") end

-- What the handle received, with what it holds.
function Association:read(got)
  read_chunk(self.t, got)
  if got.kind == "control" then self:follow(got.sid, got.code) end
  return got
end

function Association:state_text()
  local status = self.handle:status()
  return status.cause == "open" and status.state or "the end of the association (" .. status.cause .. ")"
end

-- The next DATA chunk of the SID (nil: of any), or nil and why. Chunks of other SIDs wait for who asks for them.
-- `seconds`: the reaction time.
function Association:receive(sid, seconds)
  for i, got in ipairs(self.early) do
    if sid == nil or got.sid == sid then return table.remove(self.early, i) end
  end
  local deadline = rig.now() + (seconds or self.t.reaction)
  while true do
    local got, why = self.handle:receive(math.max(0, deadline - rig.now()))
    if not got then return nil, why end
    read_chunk(self.t, got)
    if got.kind == "control" then self:follow(got.sid, got.code) end
    if sid == nil or got.sid == sid then return got end
    self.early[#self.early + 1] = got
  end
end

local function on_sid(sid) return sid and " on SID " .. sid or "" end

-- The chunk after an RDMAP Terminate: the session's Terminate, which may wait for that of the tester (SCTP5043-6.2-06).
function Association:receive_last(sid)
  local got, why = self:receive(sid)
  if not got and self:is_silence(why) and not self.t:is_draft() then
    self:control(sid, "Terminate")
    got, why = self:receive(sid)
  end
  return got, why
end

-- FAIL unless the next chunk of the SID (nil: of any) is this control message. fields: ssn, data. Returns it.
function Association:expect_control(sid, name, message, fields)
  local got, why = self:receive(sid)
  local good = got and got.kind == "control" and got.code == sctp[name]
  for member, value in pairs({ message_ssn = fields and fields.ssn, private_data = fields and fields.data }) do
    good = good and got[member] == value
  end
  if not got then self:skip_if_shut() end
  if not good then
    local wanted = name .. (fields and fields.ssn and " with DDP-SSN " .. fields.ssn or "") .. on_sid(sid)
    local text = chunk_text(got, why)
    if got and got.kind == "control" and fields and fields.data then
      wanted = wanted .. " and " .. #fields.data .. " octets of Private Data"
      text = text .. " and " .. #got.private_data .. " octets of Private Data" ..
             (#got.private_data == #fields.data and ", others" or "")
    end
    self.t:fail(message, wanted, text)
  end
  return got
end

-- FAIL unless the next chunk of the SID is this segment. Returns it.
function Association:expect_segment(sid, frame, message)
  local got, why = self:receive(sid)
  if not (got and got.kind == "segment" and fits(frame, got.segment)) then
    self.t:fail(message, describe(frame) .. " on SID " .. sid, chunk_text(got, why))
  end
  return got
end

-- FAIL if a chunk comes on the SID, or the association ends, for so long (`quiet` time unless said).
function Association:expect_nothing(sid, message, seconds)
  local got, why = self:receive(sid, seconds or self.t.quiet)
  if got or not self:is_silence(why) then self.t:fail(message, "nothing on SID " .. sid, chunk_text(got, why)) end
end

-- FAIL unless all that was sent is acknowledged: what DDP refuses, SCTP takes all the same. What is lost comes by
-- retransmissions, one timer after another: a device that acknowledges some more has its time anew for the rest.
function Association:expect_acknowledged(message)
  local left, least, deadline, pause
  repeat
    if least then pause() end
    left = self.handle:status().unacknowledged
    if least == nil or left < least then
      least, deadline = left, rig.now() + self.t.reaction
      pause = self.t:waits(deadline)
    end
  until left == 0 or rig.now() >= deadline
  if left > 0 then self:skip_if_shut() end
  if left > 0 then self.t:fail(message, "a SACK of each chunk", left .. " chunks without") end
end

-- The session of the SID is over: the next chunks are a Terminate of the device, perhaps after an RDMAP Terminate.
-- Returns the Terminate, and how many chunks came before it.
function Association:expect_over(sid, message)
  local got, why = self:receive(sid)
  local before = got and got.kind == "segment" and got.segment.Opcode == 7 and 1 or 0
  if before > 0 then got, why = self:receive_last(sid) end
  if not (got and got.kind == "control" and got.code == sctp.Terminate) then
    self.t:fail(message, "Terminate on SID " .. sid, chunk_text(got, why))
  end
  return got, before
end

--------------------------------------------------------------------------------------------------------------------
-- Sessions

-- SIDs below this have a pair: the least of both sides' numbers (RFC 5043 8).
function Association:streams()
  local status = self.handle:status()
  return math.min(status.own_outbound, status.own_inbound, status.outbound, status.inbound)
end

-- The n-th SID (1, 2, ...) that is not the one in use; nil where the association has no more.
function Association:other(n)
  local used, streams = self.sid or 0, self:streams()
  return (n or 1) < streams and (used + (n or 1)) % streams or nil
end

-- The same: SKIP where the device has fewer streams (RFC 5043 8 sets no least number).
function Association:another(n)
  local sid = self:other(n)
  if sid == nil then
    self.t:skip("the device has " .. self:streams() .. " streams in an association, and this takes " .. (n or 1) + 1)
  end
  return sid
end

-- The SID that an initiator of the draft has chosen, which no message shows: its upper tester may know.
local function own_sid(a)
  if a.t.role == "responder" or not (a.stream and rig.has_upper_tester()) then return 0 end
  local deadline = rig.now() + a.t.quiet
  local wait = a.t:waits(deadline)
  while true do
    local answer = a.t:command("status", { stream = a.stream })
    if answer.unsupported or answer.ok and not answer.sid then return 0 end
    if answer.ok and answer.sid >= 0 then return answer.sid end -- below: it has chosen none yet
    if rig.now() >= deadline then return 0 end
    wait()
  end
end

-- A session on the SID; in the draft there is none. As initiator, the device asks for it, on whichever SID it likes
-- unless one is given. Returns the SID.
function Association:session(sid, fields)
  if self.t:is_draft() then return sid or own_sid(self) end
  if self.t.role == "responder" then
    self:control(sid or 0, "Initiate", fields)
    self:expect_control(sid or 0, "Accept", "an Initiate is accepted")
    return sid or 0
  end
  local got = self:expect_control(sid, "Initiate", "the device asks for a session")
  self:control(got.sid, "Accept", fields)
  return got.sid
end

-- The tester has ended the session of the SID by its own Terminate: the device may have one, too (RFC 5043 6.2),
-- perhaps after an RDMAP Terminate. FAIL for anything else. Returns the device's Terminate, or nil.
function Association:expect_ended(sid, message)
  local got, why = self:receive(sid, self.t.quiet)
  if got and got.kind == "segment" and got.segment.Opcode == 7 then got, why = self:receive(sid, self.t.quiet) end
  if got == nil and self:is_silence(why) then return nil end
  if not (got and got.kind == "control" and got.code == sctp.Terminate) then
    self.t:fail(message, "Terminate or nothing on SID " .. sid, chunk_text(got, why))
  end
  return got
end

-- A Read for no octets is answered on the SID: the stream is in operation.
function Association:probe(sid, message)
  self:segment(sid, empty_read(PROBE_STAG))
  return self:expect_segment(sid, rdmap.read_response {}, message or "the stream is in operation")
end

-- An association with a session in operation.
function Test:sctp_open(options)
  local a = self:associate(options)
  a.sid = a:session(options and options.sid)
  return a
end

-- The good exchange before and after a check: an association ("association"), a session in it ("startup"), or a Read,
-- too.
function Test:sctp_exchange(kind)
  local a = self:associate()
  if kind ~= "association" then a.sid = a:session() end
  if kind ~= "association" and kind ~= "startup" then a:probe(a.sid, "the good exchange") end
  a.handle:abort()
  a.handle:close()
end

-- The adaptation indication of an INIT or INIT ACK, for messages.
function indication_text(value) return value and string.format("indication 0x%08x", value) or "no indication" end

-- The first association stays up, whether one of another mode (the tester's indication) is accepted or not.
function Test:survives_other_mode(indication)
  local a = self:sctp_open()
  a:probe(a.sid)
  local b = self:try_associate { tester = { adaptation = indication } }
  if b then b.handle:receive(self.quiet) end
  a:probe(a.sid, "after an association with " .. indication_text(indication) .. " the first one is in operation")
  if b then b.handle:abort() end
end
