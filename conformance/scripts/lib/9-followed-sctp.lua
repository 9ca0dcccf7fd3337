-- SPDX-License-Identifier: BSD-2-Clause
--
-- The lower layer of sessions that `warpcheck explore` makes, where it is SCTP (9-explored.lua): RFC 5043, or the draft, which
-- has no session control messages. A stream is a session on a SID; the streams of one session of the explorer share an
-- association. 9-followed-tcp.lua has the same functions.

local Session = harness.session
local lower = {}
harness.lower.sctp = lower

local function association_of(self) return self.streams[1].association end

--------------------------------------------------------------------------------------------------------------------
-- DATA chunks

-- A user message with the next DDP-SSN as a chunk, added to the list. odd: what is wrong with it: `gap` (a DDP-SSN before
-- it is never sent), `ssn` (added to its own), `sid` (added: the chunk is another SID's), `ppid`, `flags`, `keep` (octets of
-- it), `again` (the same chunk once more), `bad_checksum` (its packet is dropped, and comes again).
local function add_chunk(self, list, ppid, data, odd)
  local a, sid = association_of(self), self.c.sid
  local ssn = (a.next_ssn[sid] or (self.t:is_draft() and 1 or 0)) + (odd.gap and 1 or 0)
  if odd.sid and odd.sid % a:streams() == 0 then
    self.t:skip("the device has " .. a:streams() .. " streams in an association, and this takes a chunk of another one")
  end
  if not odd.sid then a.next_ssn[sid] = ssn + 1 & 0xFFFF end
  local chunk = { sid = odd.sid and (sid + odd.sid) % a:streams() or sid, ppid = odd.ppid or ppid, flags = odd.flags,
                  bad_checksum = odd.bad_checksum, data = string.pack(">I2", ssn + (odd.ssn or 0) & 0xFFFF) .. data }
  if odd.keep then chunk.data = chunk.data:sub(1, odd.keep) end
  list[#list + 1] = chunk
  if odd.again then list[#list + 1] = copy_fields(chunk) end
end

-- The chunks of these frames; w is nil where nothing is wrong.
function lower.units(self, frames, w)
  local ulpdus, wrong = self:ulpdus(frames, w)
  local ppid = self.t:is_draft() and sctp["draft segment"] or sctp.segment
  local out = {}
  for i, ulpdu in ipairs(ulpdus) do add_chunk(self, out, ppid, self.t:in_version(ulpdu), i == wrong and w.chunk or {}) end
  return out
end

-- Chunks go out: with step.cut so many of them in a packet, the last one with the first TSN where step.backwards is set;
-- with step.late the first one only when its retransmission is due.
function lower.put(self, units, step)
  local handle = association_of(self).handle
  self.c:_stimulus()
  for i = 1, #units do
    local chunk = units[step.backwards and #units + 1 - i or i]
    chunk.hold = step.cut and i % step.cut ~= 0 and i < #units or nil
    chunk.later = step.late and i == 1 and #units > 1 or nil
    handle:send(chunk)
  end
  if step.cut then handle:flush() end
end

function lower.framing() return {} end -- that is MPA's

function lower.unacknowledged(self) return association_of(self).handle:status().unacknowledged end

function lower.await_taken(self) association_of(self):expect_acknowledged("what was sent is acknowledged") end

--------------------------------------------------------------------------------------------------------------------
-- Session control messages

local function word_of(got)
  return #got.private_data >= 4 and wire.unpack("mpa_enhanced", got.private_data) or {}
end

-- The tester's Initiate or Accept; what is wrong with it: fields and length of the message, members of its chunk, `twice`,
-- and `before` (a segment takes its DDP-SSN).
local function send_control(self, name)
  local t, a, sid, w = self.t, association_of(self), self.c.sid, self.opening.wrong or {}
  local word = self.word
  local private = self.opening.private and t:private_data_most(self.opening.private + (word and 4 or 0)) - (word and 4 or 0)
  self.private = private and Session.octets_of(private, self.salt + 5)
  local data = (word and name ~= "Reject" and enhanced_word(word) or "") .. (self.private or "") -- a Reject has no word (RFC 6581 7)
  local code = sctp[(word and "Enhanced " or "") .. name]
  a:follow(sid, code)
  a.next_ssn[sid] = 0
  if w.before then self:send_unmarked({ empty_read(PROBE_STAG) }, {}) end
  for _ = 1, w.twice and 2 or 1 do
    local odd, list = w.chunk or {}, {}
    add_chunk(self, list, sctp.control, "", odd)
    local octets = wire.pack("ddp_sctp_control", { SSN = string.unpack(">I2", list[1].data .. "\0\0"), Code = code }) .. data
    octets = Session.change_octets(octets, w)
    for _, chunk in ipairs(list) do
      chunk.data = odd.keep and octets:sub(1, odd.keep) or octets
      a.handle:send(chunk)
    end
  end
end

-- The request waits for the device's ULP, which decides. Returns the event by which it is asked.
local function decide(self, device_private)
  local t, a = self.t, association_of(self)
  local event = t:await_event("accepted", { sid = self.c.sid, port = a.port })
  if not event then t:fail("a request that the device's ULP has to decide on", "its event", "none") end
  a:expect_nothing(self.c.sid, "the ULP has not decided on the request", t.quiet / 4)
  t.dut[self.opening.rejects and "reject" or "accept"](t.dut, { stream = event.stream, private_data = device_private and hex(device_private) })
  return event
end

-- A session that the tester asks for.
local function ask(self, device_private)
  local a, sid = association_of(self), self.c.sid
  send_control(self, "Initiate")
  if self.opening.wrong then return self:react(self.opening.wrong, true) end
  local asked = self.opening.asks and decide(self, device_private)
  if self.opening.rejects then
    local got = a:expect_control(sid, self.word and "Enhanced Reject" or "Reject", "the device's ULP rejects", { ssn = 0 })
    self:expect_private(device_private, got.private_data, "of the Reject")
    a:expect_nothing(sid, "after a Reject")
    self.over = true
    return
  end
  local got = a:expect_control(sid, self.word and "Enhanced Accept" or "Accept", "a good Initiate is accepted", { ssn = 0 })
  self:expect_private(device_private, got.private_data:sub(self.word and 5 or 1), "of the Accept")
  local event = asked or self.t:await_event("accepted", { sid = sid, port = a.port })
  if not event then self.t:inconclusive("the device does not report the session that was asked for") end
  self.c.stream, a.number = event.stream, event.association
  self:agree_depth(self.word and word_of(got))
  if self.word then self:send_rtr(word_of(got)) end
end

-- A session that the device asks for; `got` is its Initiate.
local function answer(self, got, device_private)
  local enhanced = got.code == sctp["Enhanced Initiate"]
  local asked = enhanced and word_of(got)
  self:expect_private(device_private, got.private_data:sub(enhanced and 5 or 1), "of the Initiate")
  self.word = asked and (asked.A == 1 and Session.mirrored_rtr(asked) or Session.mirrored_depths(asked, self.opening.flags)) or nil
  send_control(self, self.opening.refuses and "Reject" or "Accept")
  if self.opening.refuses then
    self.over = true
    association_of(self):expect_nothing(self.c.sid, "after a Reject")
    local event = self.t:reports_event("rejected") and self.t:await_event("rejected", { stream = self.c.stream })
    if event == nil then self.t:fail("a Reject: the ULP is told", "its event", "none") end
    if event and event.private_data then
      self:expect_private(self.private or "", event.private_data, "of the Reject, at the ULP", true)
    end
    return
  end
  if self.opening.wrong then return self:react(self.opening.wrong, true) end
  self:agree_depth(asked)
  if asked and asked.A == 1 then self:take_first(asked) end
end

local function begun(self, device_private)
  self.stream = self.c.stream
  local event = self.t:await_event("established", { stream = self.stream })
  if event and event.private_data and self.private then
    self:expect_private(self.private, event.private_data, "that the device's ULP has got", true)
  end
  self.device_private = device_private
end

--------------------------------------------------------------------------------------------------------------------
-- Opening

-- A stream on the SID: its DDP-SSNs, MSNs and all begin anew.
local function stream_on(self, sid, number)
  local a = association_of(self)
  a.sid = sid
  self.c = a:as_stream()
  self.c.stream = number
  a.next_ssn[sid] = nil
end

-- The draft's streams begin with their first segment, or once their association is up.
local function begin_draft(self)
  local t, a = self.t, association_of(self)
  if t.role == "initiator" then return end
  self:send_unmarked({ rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" } }, {})
  local event = t:await_event("accepted", { sid = self.c.sid, port = a.port })
  if not event then t:inconclusive("the device does not report the stream that has begun") end
  self.c.stream, a.number = event.stream, event.association
end

function lower.open(self)
  local t, o, device = self.t, self.opening, copy_fields(self.opening.device)
  local draft, private = t:is_draft(), o.device_private and Session.octets_of(o.device_private, self.salt + 3)
  if draft then private = nil end
  device.private_data = private and hex(private)
  self.word = not draft and o.own.enhanced or nil
  if t.role == "responder" then
    device.enhanced, device.accept = self.word ~= nil, o.asks and "manual" or o.rejects and "reject" or nil
    local port = t:listen(device)
    self.association = t:associate { tester = { port = port } }
    self.association.port = port
    stream_on(self, (o.sid or 0) % self.association:streams())
    if draft then begin_draft(self) else ask(self, private) end
  else
    device.enhanced = not draft and o.device_enhanced or false
    self.association = t:associate { dut = device }
    local got = not draft and self.association:expect_control(nil, device.enhanced and "Enhanced Initiate" or "Initiate", "the device asks for a session")
    stream_on(self, got and got.sid or self.association:session(), self.association.stream)
    if got then answer(self, got, private) else begin_draft(self) end
  end
  if not self.over then begun(self, private) end
end

-- A SID without a live stream of the session, the first one from `sid` on. The draft's aborted streams stay on theirs.
local function free_sid(self, sid)
  local streams, used = association_of(self):streams(), copy_fields(association_of(self).aborted)
  for _, stream in pairs(self.streams) do
    if stream.c and not stream.over then used[stream.c.sid] = true end
  end
  for i = 0, streams - 1 do
    if not used[(sid + i) % streams] then return (sid + i) % streams end
  end
  self.t:skip("the device has " .. streams .. " streams in an association, and this takes more")
end

-- Another stream of the association, perhaps on a SID that was used before. As a responder the device has the options of
-- its one listener.
function lower.another(self, step)
  local t, first = self.t, self.streams[1]
  local a, draft, sid = first.association, t:is_draft(), free_sid(self, step.sid or 0)
  a:skip_if_shut()
  self.word = first.word
  if t.role == "responder" then
    stream_on(self, sid)
    if draft then begin_draft(self) else ask(self, first.device_private) end
    return self.over or begun(self, first.device_private)
  end
  local o, request = self.opening, copy_fields(self.opening.device)
  local private = not draft and o.device_private and Session.octets_of(o.device_private, self.salt + 3) or nil
  request.private_data, request.sid, request.enhanced = private and hex(private), sid, not draft and o.device_enhanced or false
  local number = a:ask(request)
  local got = not draft and a:expect_control(sid, request.enhanced and "Enhanced Initiate" or "Initiate", "the device asks for another session")
  stream_on(self, sid, number)
  if got then answer(self, got, private) else begin_draft(self) end
  if not self.over then begun(self, private) end
end

-- What comes after an Initiate or Accept that is wrong, in the words of MPA's start-up.
function lower.receive_start(self)
  if self.t.role == "initiator" then return self.c:receive() end
  local got, why = association_of(self):receive(self.c.sid)
  if not got then return { kind = why == "timeout" and why or "reset", why = why } end
  if got.kind == "segment" then return got.segment end
  if got.kind ~= "control" then return { kind = "garbage", wanted = "session control message", octets = got.data } end
  if got.code == sctp.Terminate then return { kind = "fin" } end
  local rejects = got.code == sctp.Reject or got.code == sctp["Enhanced Reject"]
  return { kind = "reply", R = rejects and 1 or 0 }
end

function lower.agree() end

-- A session control message where the state of the session has none, or a control message of the draft: of so many octets
-- after its code. The draft's begins the stream anew.
Session.steps["control"] = function(self, step)
  local out, data = {}, Session.octets_of(step.octets or 0, step.number)
  local code = string.pack(self.t:is_draft() and ">I4" or ">I2", step.code)
  self:settle_all()
  if self.t:is_draft() then
    out[1] = { sid = self.c.sid, ppid = step.ppid or sctp["draft control"], data = code .. data }
    association_of(self).next_ssn[self.c.sid] = nil
    for queue in pairs(self.c.msn) do self.c.msn[queue] = 1 end
    self.c.next_ssn = 1
  else
    add_chunk(self, out, sctp.control, code .. data, step.wrong.chunk or {})
  end
  lower.put(self, out, step)
  self:react(step.wrong)
end

--------------------------------------------------------------------------------------------------------------------
-- The end

-- Has the stream gone with another one, as their association is over?
function lower.is_gone(self) return association_of(self).handle:status().cause ~= "open" end

-- What is wrong in one session is the end of that session, not of the association (RFC 5043 6.1).
function lower.spared(self)
  if self.t:is_draft() then return end
  self.t:fail("an error on another stream", "this one is in operation", "its association is " .. association_of(self).handle:status().cause)
end

function lower.has_room() return true end

function lower.look() end -- MULPDU is SCTP's own affair

-- The draft's stream is aborted, and its association goes on.
function lower.abort(self)
  local a = association_of(self)
  a.aborted = a.aborted or {}
  a.aborted[self.c.sid] = true
end

local function unless_gone(ending)
  return function(self)
    if not lower.is_gone(self) then ending(self) end
  end
end

lower.ends = {
  fin = unless_gone(function(self)
    local got = self.c:finish()
    if got.kind ~= "fin" and got.kind ~= "reset" then self.t:fail("the end of the stream", "Terminate", describe(got)) end
  end),
  half = unless_gone(function(self) self:close_halves() end),
  disconnect = unless_gone(function(self)
    if self.t:is_draft() then -- a stream has no end but that of its association
      self.t.dut:shutdown { association = association_of(self).number }
    else
      self.t.dut:disconnect { stream = self.stream }
      self:expect_work_refused()
    end
    self.c:expect_close { message = "the device's ULP ends the stream" }
    self.c:fin()
  end),
  reset = unless_gone(function(self) self.c:reset() end),
}

function lower.close(self)
  local a = association_of(self)
  if a and not a.left and self.c then self.c:close() end
  if a and self.c then a.left, self.c.closed = true, true end
end
