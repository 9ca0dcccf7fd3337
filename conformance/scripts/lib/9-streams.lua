-- SPDX-License-Identifier: BSD-2-Clause
--
-- A DDP stream over SCTP with the verbs of a connection, for checks that say llp = "any": what is true of DDP, RDMAP
-- and atomics is true over both LLPs. Each stream has an association of its own. The session's Terminate stands for
-- FIN, and the end of the association for RST (RFC 5043 6.2); the draft has no sessions, and its stream ends with the
-- association.

local Stream = setmetatable({}, { __index = Connection })

-- What belongs to MPA and TCP, and the message of a check that names it.
local of_mpa = {
  tcp = "c.tcp", send_framing = "c.send_framing", receive_framing = "c.receive_framing", started = "c.started", peer = "c.peer",
  octets = "c:octets", frame = "c:frame", peek = "c:peek", send_last = "c:send_last",
  send_segments = "c:send_segments", send_in_pieces = "c:send_in_pieces", send_apart = "c:send_apart", agree = "c:agree",
  start_as_initiator = "c:start_as_initiator", start_as_responder = "c:start_as_responder", crc_of = "c:crc_of",
  marker_distance = "c:marker_distance", mpa_outcome = "c:mpa_outcome",
}

function Stream.__index(self, name)
  if of_mpa[name] then rawget(self, "t"):only_over_tcp(of_mpa[name]) end
  return Stream[name]
end

local function new_stream(t, a)
  local c = setmetatable({
    t = t, association = a, sid = a.sid,
    as_initiator = t.role == "responder",
    msn = { [0] = 1, 1, 1, 1 },           -- next MSN that the tester sends, by queue number
    stream = a.stream,
    next_ssn = 1, waiting = {},           -- the DDP-SSN of what the device sends next; chunks that came before their turn
  }, Stream)
  t.connections[#t.connections + 1] = c
  return c
end

-- The stream of a.sid, for who sets up its session by steps (9-followed-sctp.lua).
function Association:as_stream() return new_stream(self.t, self) end

--------------------------------------------------------------------------------------------------------------------
-- Opening

local only_tcp = { "request", "reply", "mss", "iss", "window", "sack" }

-- The device's number of a stream that it has accepted on the port. Events of others before that are ignored.
local function forget_accepted(t, port)
  t:gather_events()
  for i = #t.events, 1, -1 do
    if t.events[i].event == "accepted" and t.events[i].port == port then table.remove(t.events, i) end
  end
end

local function ask_number(t, c, port)
  local event = t:await_event("accepted", { sid = c.sid, port = port })
  if event then c.stream = event.stream end
end

-- A device takes so many associations at once for granted; a check that opens more has done with those that the device
-- has ended.
local OPEN_MOST = 16

local function let_go(t)
  local open = {}
  for _, c in ipairs(t.connections) do
    if not c.closed and not c.left then open[#open + 1] = c end
  end
  for i = 1, #open >= OPEN_MOST and #open or 0 do
    -- An aborted stream of the draft may be silent: the oldest ones give way.
    if open[i]:ended_by_device() or (t:is_draft() and i <= #open - OPEN_MOST // 2) then open[i]:leave() end
  end
end

-- The draft has no Initiate and no Accept. A responder's stream begins with the tester's first segment, an empty Write,
-- which is placed nowhere; an initiator's once its association is up.
local function begin_draft(t, c)
  if t.role == "responder" then
    c:send_unmarked(rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" })
  elseif not t:await_event("established", { stream = c.stream }) then
    t:inconclusive("the device does not report that its stream is in operation")
  end
end

-- As t:open, over SCTP.
function Test:open_over_sctp(options)
  for _, name in ipairs(only_tcp) do
    if options[name] ~= nil then self:only_over_tcp("t:open's option " .. name) end
  end
  local dut, tester = copy_fields(options.dut), {}
  if dut.enhanced == nil then dut.enhanced = false end -- codes 1 to 3; those of RFC 6581 where a check asks for them
  if dut.rev ~= nil or dut.markers ~= nil or dut.crc ~= nil then self:only_over_tcp("a device with options for MPA") end
  if self.role == "responder" then
    local _, _, usual = rig.addresses()
    tester.port = options.dut and self:listen(dut) or options.port or usual
  end
  local asks = self.role == "responder" and rig.has_upper_tester() and self:reports_event("accepted")
  if asks then forget_accepted(self, tester.port) end
  let_go(self)
  local a = self:associate { tester = tester, dut = dut }
  a.sid = a:session()
  local c = new_stream(self, a)
  c.pd = dut.pd
  if self:is_draft() then begin_draft(self, c) end
  if asks then ask_number(self, c, tester.port) end
  if self.role == "initiator" then
    c:ask_first_send()
    c:expect(rdmap.send {}, { message = "the device's first Send" })
  end
  return c
end

-- The moments that MPA's devices need have no counterpart here.
function Stream:settle() end

function Stream:teller() return function() return false end end

--------------------------------------------------------------------------------------------------------------------
-- Sending

-- Octets of user data that the tester sends in one chunk: a segment is never in fragments (RFC 5043 9).
local MOST = 1432

-- A segment with more data than a packet takes as several of the same message: FPDUs may be longer than that.
local PIECE = 1024

local function cut(frame)
  local given = frame.given
  if not frame.defaults or type(given.data) ~= "string" or #given.data <= MOST - 20 then return { frame } end
  local place, out = frame.defaults.tagged and "TO" or "MO", {}
  for at = 0, #given.data - 1, PIECE do
    local f = copy_fields(given)
    f.data, f[place] = given.data:sub(at + 1, at + PIECE), (given[place] or 0) + at
    if at + PIECE < #given.data then f.L = 0 end
    out[#out + 1] = setmetatable({ given = f }, { __index = frame })
  end
  return out
end

-- The octets of a segment after the next DDP-SSN.
local function next_data(c, frame)
  if frame.kind == "fpdu" then c.t:only_over_tcp("fpdu()") end
  local a = c.association
  local ssn = a.next_ssn[c.sid] or (c.t:is_draft() and 1 or 0)
  local data = string.pack(">I2", ssn) .. c.t:in_version(c:ulpdu(frame))
  if #data > MOST then error("a segment of " .. #data .. " octets: over SCTP a check sends at most " .. MOST, 3) end
  a.next_ssn[c.sid] = (ssn + 1) & 0xFFFF
  return data
end

-- As a DATA chunk; an association that has ended takes none, which the check sees by its end.
local function send_data(c, data, later)
  c.association.handle:send {
    sid = c.sid, ppid = c.t:is_draft() and sctp["draft segment"] or sctp.segment, data = data, later = later,
  }
end

function Stream:send_unmarked(...)
  for _, frame in ipairs { ... } do
    for _, piece in ipairs(cut(frame)) do send_data(self, next_data(self, piece)) end
  end
end

-- What is sent now is the stimulus: how many chunks were before it.
function Stream:_stimulus()
  if self.closed then error("the stream was closed by the check", 3) end
  self.t:asked()
  local status = self.association.handle:status()
  self.stimulus_at = status.acknowledged + status.unacknowledged
end

function Stream:send(...)
  self:_stimulus()
  self:send_unmarked(...)
end

Stream.send_each = Stream.send

-- DDP-SSNs go by the frames, and TSNs by `order`; those of what comes later are in front.
function Stream:send_shuffled(frames, order)
  local data, late = {}, {}
  for i, frame in ipairs(frames) do data[i], late[i] = next_data(self, frame), true end
  for _, i in ipairs(order) do late[i] = false end
  self:_stimulus()
  for i in ipairs(frames) do
    if late[i] then send_data(self, data[i], true) end
  end
  for _, i in ipairs(order) do send_data(self, data[i]) end
end

function Stream:send_behind(missing, frames, order)
  local first, behind = {}, {}
  for i, frame in ipairs(missing.kind and { missing } or missing) do first[i] = next_data(self, frame) end
  for i, frame in ipairs(frames) do behind[i] = next_data(self, frame) end
  for i in ipairs(frames) do send_data(self, behind[order and order[i] or i]) end
  return function()
    for _, data in ipairs(first) do send_data(self, data) end
  end
end

function Stream:fin()
  if self.t:is_draft() then
    self.association.handle:shutdown()
  elseif self.association.handle:status().state == "ESTABLISHED" then
    self.association:control(self.sid, "Terminate")
    self.finished = true
  end
end

function Stream:reset() self.association.handle:abort() end

function Stream:close()
  if self.closed then return end
  self.closed = true
  self.association.handle:abort()
  self.association.handle:close()
end

-- The association is over; what has come on the stream can still be read.
function Stream:leave()
  self.left = true
  self.association.handle:abort()
end

function Stream:window(octets) self.association.handle:window(octets) end

-- Chunks, in place of octets.
function Stream:octets_received() return self.association.handle:status().received end

function Stream:withhold(withheld) self.association.handle:withhold(withheld) end

function Stream:mark_reported() self.association.handle:mark_reported() end

--------------------------------------------------------------------------------------------------------------------
-- Receiving

-- The chunk with the next DDP-SSN: TSNs say nothing of the order (RFC 5043 5.1). One that does not come leaves those
-- after it where they are until the time is up; they are taken then.
local function next_chunk(c, seconds)
  local deadline = rig.now() + seconds
  while true do
    local got, why = c.waiting[c.next_ssn], nil
    if got == nil then
      got, why = c.association:receive(c.sid, math.max(0, deadline - rig.now()))
      if got == nil and next(c.waiting) then
        for ssn in pairs(c.waiting) do
          local lead = (ssn - c.next_ssn) & 0xFFFF
          got = (got == nil or lead < (got.message_ssn - c.next_ssn) & 0xFFFF) and c.waiting[ssn] or got
        end
        c.next_ssn = got.message_ssn
      end
    end
    if got == nil or got.message_ssn == nil then return got, why end
    if got.message_ssn == c.next_ssn then
      c.waiting[got.message_ssn] = nil
      c.next_ssn = (c.next_ssn + 1) & 0xFFFF
      return got
    end
    if (got.message_ssn - c.next_ssn) & 0xFFFF >= 0x8000 then return got end -- once more, or too late: as it comes
    c.waiting[got.message_ssn] = got
  end
end

-- Has the tester's Terminate ended the session? The device has it, and has let its time go by without one of its own,
-- which it may (RFC 5043 6.2): one side at least sends a Terminate.
function Stream:_is_over_by_tester(seconds)
  return self.finished and (seconds or self.t.reaction) >= self.t.reaction and self.association.handle:status().unacknowledged == 0
end

-- The next thing of this stream as it was sent: a segment, "fin" (the session's Terminate), "reset" (the association's
-- end), "timeout".
function Stream:_message(seconds)
  -- After its Terminate a stream of the draft says nothing more: it has no other end.
  local wait = self.terminated and self.t:is_draft() and self.t.quiet or self.t.reaction
  local got, why = next_chunk(self, self.ended and 0 or seconds or wait)
  if got then self.t:answered() end
  if got == nil then
    if why == "timeout" and self:_is_over_by_tester(seconds) then self.ended, self.unanswered = "fin", true end
    if why == "timeout" then return { kind = self.ended or "timeout", unanswered = self.unanswered } end
    self.ended = self.ended or "reset"
    return { kind = self.ended, why = why, comes = true }
  elseif got.kind == "control" and got.code == sctp.Terminate then
    self.ended = "fin"
    return { kind = "fin", comes = true }
  elseif got.kind == "segment" then
    local segment = got.segment
    if segment.triple and not segment.swapped and self.t:terminates_swapped() then read_terminate(segment, true) end
    self:_observe(segment)
    self.terminated = self.terminated or segment.Opcode == 7
    return segment
  end
  return { kind = "garbage", wanted = "DDP Segment", octets = got.data }
end

-- The same, with the segments of a message in rising order (2-order.lua).
function Stream:receive(seconds)
  local got = self:_in_order(seconds, self._message)
  if got.kind == "garbage" then return got end
  if got.kind == "timeout" and self:is_aborted() then return { kind = "aborted" } end
  if not got.comes then return self:_note_request(got, seconds) end
  self:_judge_end(got)
  return got
end

-- Has nothing come because an error has aborted the draft's stream, whose device sends nothing then? (Test:aborts_silently)
function Stream:is_aborted()
  if not self.aborted and not self.terminated and self.t:aborts_silently() then self.aborted = self:shows_abort() end
  return self.aborted
end

-- A stream that was aborted in silence: the upper tester reports an error. One that reports no errors cannot: then SCTP
-- has acknowledged all that was sent, and a Read is not answered.
function Stream:shows_abort()
  local t = self.t
  if rig.has_upper_tester() and t:reports_event("error") then
    t:gather_events()
    local stream = t:stream_if_known(self)
    for _, event in ipairs(t.events) do
      if event.event == "error" and event.stream == stream then return true end
    end
    if stream then return false end
  end
  if self.association.handle:status().unacknowledged > 0 then return false end
  self:send_unmarked(empty_read(PROBE_STAG))
  return self:_message(t.reaction).kind == "timeout"
end

-- SACKs may come so much later than what they answer (RFC 9260 6.2).
local SACK_SECONDS = 0.5

-- As over TCP: an end answers the stimulus only when the device had it, which a SACK of its first TSN shows.
function Stream:_judge_end(got)
  if self.stimulus_at == nil or self.stream and self.t.ended_by_ulp[self.stream] then return end
  local handle = self.association.handle
  local deadline = rig.now() + SACK_SECONDS
  local pause = self.t:waits(deadline)
  while handle:status().acknowledged <= self.stimulus_at and handle:status().state ~= "CLOSED" and rig.now() < deadline do
    pause()
  end
  if handle:status().acknowledged <= self.stimulus_at then
    got.premature = "the device ended the stream (" .. describe(got) .. ") before it acknowledged what was sent to it"
  end
end

-- What the device has ended the stream with and the check has not taken yet.
function Stream:ended_by_device()
  if self.closed then return nil end
  if self.terminated and self.t:is_draft() then return "Terminate" end -- the stream has no other end there
  local a = self.association
  local got, why = a.handle:receive(0)
  while got do
    a.early[#a.early + 1] = a:read(got)
    got, why = a.handle:receive(0)
  end
  for _, chunk in ipairs(a.early) do
    if chunk.sid == self.sid and (chunk.kind == "control" and chunk.code == sctp.Terminate or
                                  chunk.kind == "segment" and chunk.segment.Opcode == 7) then
      return "Terminate"
    end
  end
  if self.ended or why ~= "timeout" then return "the end of the session" end
end
