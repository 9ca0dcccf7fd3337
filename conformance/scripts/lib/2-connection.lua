-- SPDX-License-Identifier: BSD-2-Clause
--
-- A connection of the lower tester: TCP below, MPA's framing state, and what was agreed at start-up. Positions, MSNs
-- and the negotiated framing are kept here so that a check only says what is special in it.

Connection = {}
Connection.__index = Connection

local class = Connection -- a script may take the name away

function new_connection(t, tcp, as_initiator)
  local c = setmetatable({
    t = t, tcp = tcp,
    as_initiator = as_initiator,          -- the tester's MPA role
    started = false,                      -- start-up frames are exchanged
    send_framing = { markers = false, crc = true, position = 0 },
    receive_framing = { markers = false, crc = true, position = 0 },
    msn = { [0] = 1, 1, 1, 1 },           -- next MSN that the tester sends, by queue number
  }, class)
  t.connections[#t.connections + 1] = c
  return c
end

-- Octets of frames in stream order; FPDUs take their place in the marker grid, missing MSNs are filled in.
function Connection:octets(...)
  local out = {}
  for _, frame in ipairs { ... } do
    if type(frame) == "string" then
      out[#out + 1] = frame
      if self.started then self.send_framing.position = self.send_framing.position + #frame end
    elseif frame.kind == "request" or frame.kind == "reply" then
      if self.t then self:_want_private(frame) end
      out[#out + 1] = frame:octets()
    else
      out[#out + 1] = self:frame(frame)
    end
  end
  return table.concat(out)
end

local function spoils(overrides)
  for name in next, overrides do
    if name ~= "pad" and name ~= "markers" and name ~= "crc" then return true end
  end
  return false
end

-- One FPDU at the present position.
function Connection:frame(frame)
  local overrides = {}
  local inner = frame
  if frame.kind == "fpdu" then inner, overrides = frame.inner, frame.overrides end
  self.spoilt = spoils(overrides)
  local options = { markers = self.send_framing.markers, crc = self.send_framing.crc,
                    position = self.send_framing.position }
  for k, v in next, overrides do options[k] = v end
  local octets = wire.frame(type(inner) == "string" and inner or self:ulpdu(inner), options)
  self.send_framing.position = self.send_framing.position + #octets
  return octets
end

-- The ULPDU of a segment; an untagged one without an MSN gets the next of its queue, which advances with L.
function Connection:ulpdu(segment)
  local defaults = segment.defaults
  if self.t and defaults and defaults.fields.Opcode == 1 then -- captures are made without a test
    local given = segment.given
    self.t:rests_on((given.RDMARDSZ or defaults.fields.RDMARDSZ) == 0 and "empty read" or "read")
    self.reads_sent = self.reads_sent or {} -- where the responses go
    self.reads_sent[#self.reads_sent + 1] = { STag = given.SinkSTag or 0, TO = given.SinkTO or 0, octets = given.RDMARDSZ or 0 }
  end
  if self.t then self:_count_unasked(segment) end
  if defaults and not defaults.tagged then
    local qn = segment.given.QN or defaults.fields.QN
    if segment.given.MSN == nil then
      segment.given.MSN = self.msn[qn] or 1
    end
    local last = segment.given.L
    if self.msn[qn] and (last == nil or last == 1 or last == true) and segment.given.MSN == self.msn[qn] then
      self.msn[qn] = (self.msn[qn] + 1) & 0xFFFFFFFF
    end
  end
  if self.t then self:_count_response(segment) end
  local fenced = self.t and rawget(self, "fences_sent") -- Sends that the check does not count
  if not fenced or defaults == nil or defaults.tagged or (segment.given.QN or defaults.fields.QN) ~= 0 then return segment:octets() end
  segment.given.MSN = segment.given.MSN + fenced & 0xFFFFFFFF
  local octets = segment:octets()
  segment.given.MSN = segment.given.MSN - fenced & 0xFFFFFFFF
  return octets
end

-- What is sent now is the stimulus: its first octet's place in the stream.
function Connection:_stimulus()
  self.t:asked()
  local acknowledged, _, waiting = self.tcp:acknowledged()
  self.stimulus_at = acknowledged + waiting
end

-- Sends frames (or octets) as the stream's next octets, in segments of the MSS.
function Connection:send(...)
  local octets = self:octets(...)
  self:_stimulus()
  self.tcp:send(octets)
end

-- Sends one frame a TCP segment.
function Connection:send_each(...)
  self:_stimulus()
  for _, frame in ipairs { ... } do self.tcp:send(self:octets(frame)) end
end

-- Sends frames (or octets), and a FIN with the last of them.
function Connection:send_last(...)
  local octets = self:octets(...)
  self:_stimulus()
  self.tcp:fin(octets)
end

local ends = { fin = true, reset = true, timeout = true }

-- The stream ends, or the time, and so many octets of something have come: 0, or fewer than it has.
local function partial(what, octets, due, state)
  if #octets == 0 then return { kind = state } end
  return { kind = state == "timeout" and state or "garbage", wanted = "whole " .. what, octets = octets, whole = what, due = due,
           ended = state }
end

function Connection:_start_frame(kind, seconds)
  local least, due = 1, nil
  local deadline = rig.now() + seconds
  while true do
    local octets, state = self.tcp:read(least, math.max(0, deadline - rig.now()))
    if #octets > 0 then
      local used, fields, more = wire.parse_start(octets, kind)
      if used then
        self.tcp:consume(used)
        fields.kind, fields.frame_octets = kind, octets:sub(1, used)
        return fields
      elseif fields ~= "more" then
        return { kind = "garbage", wanted = "MPA " .. kind, octets = octets }
      end
      due = more
    end
    if state ~= "open" then return partial("MPA " .. kind, octets, due, state) end
    least = #octets + 1
  end
end

-- The longest FPDU that is looked for at first: of the octets that wait, no more are handed over for each FPDU.
local SLICE = 2048

-- The next FPDU, which is consumed: its fields, how many octets it had, and these octets. Or nil, and what came in its
-- place.
function Connection:_take_fpdu(seconds)
  local least, most, due = 1, SLICE, nil
  local deadline = rig.now() + seconds
  while true do
    local octets, state, waiting = self.tcp:read(least, math.max(0, deadline - rig.now()), most)
    if #octets > 0 then
      local used, f, more = wire.parse_fpdu(octets, self.receive_framing)
      due = more
      if used then
        local name, hint
        if not (f.markers_ok and f.crc_ok) then name, hint = wire.hint_fpdu(self.tcp:read(0, 0), self.receive_framing) end
        self.tcp:consume(used)
        self.receive_framing.position = self.receive_framing.position + used
        return f, used, octets, name, hint
      end
    end
    if state ~= "open" and #octets == waiting then
      if #octets > 0 then self.t:suspect(wire.hint_fpdu(octets, self.receive_framing)) end
      return nil, partial("FPDU", octets, due, state)
    end
    least, most = #octets + 1, math.max(2 * most, due or 0)
  end
end

function Connection:_fpdu(seconds)
  local f, used, octets, name, hint = self:_take_fpdu(seconds)
  if not f then return used end
  local segment = f.markers_ok and read_segment(f.ulpdu)
  -- A Terminate of start-up may be built before there are CRCs on that side: MPA-7.1.1-13 judges that.
  local early = segment and is_early_terminate(f, used, self.receive_framing.position - (rawget(self, "early_octets") or 0))
  if early then self.early_octets = self.receive_framing.position end
  if not f.markers_ok or not f.crc_ok and not early then
    f.kind = "bad_fpdu"
    self.t:suspect(name, hint)
    return f
  end
  if segment.triple and not segment.swapped and self.t:terminates_swapped() then read_terminate(segment, true) end
  segment.fpdu = f
  self:_observe(segment, octets:sub(1, used), f.markers > 0)
  return segment
end

-- The next thing that the device sent: a start-up frame, a segment, { kind = "fin" | "reset" | "timeout" }, ...
-- The end of a stream that came before the device had acknowledged anything is an answer to nothing: INCONCLUSIVE.
function Connection:receive(seconds)
  seconds = seconds or self.t.reaction
  local deadline = rig.now() + seconds
  local got
  if self.started then
    repeat got = self:_in_order(math.max(0, deadline - rig.now()), self._fpdu) until not self:_is_unasked(got)
  else
    got = self:_start_frame(self.as_initiator and "reply" or "request", seconds)
  end
  if got.kind == "fin" or got.kind == "reset" then self:_judge_end(got) end
  if got.kind == "fin" or got.kind == "reset" or got.triple then self.ended = self.ended or got end
  if got.kind ~= "timeout" then self.t:answered() end
  return self:_note_request(got, seconds)
end

-- Whoever resets or closes each connection refuses nothing: only the end that came when the device's TCP had some of
-- the stimulus answers it, and only from a device that takes a good one. got.premature: why this end can be no PASS.
function Connection:_judge_end(got)
  if self.superseded and rawget(self, "given_way") then
    if not rig.capability("ulp.connections") then self.t:skip("needs ulp.connections, but the profile has ulp.connections = no") end
    self.t:not_served("connections")
  end
  if self.superseded then self.t:skip("connect_command serves one connection at a time, and this check needs two") end
  if self.stimulus_at == nil or self.stream and self.t.ended_by_ulp[self.stream] then return end
  local _, acknowledged = self.tcp:acknowledged()
  local how = got.kind == "fin" and "FIN" or "RST"
  if acknowledged <= self.stimulus_at then
    got.premature = "the device ended the connection (" .. how .. ") before it acknowledged what was sent to it"
    if acknowledged == 0 then self.t:inconclusive(got.premature) end
  end
  if not self.started and not self.t:serves("startup") and not self.t:serves("enhanced startup") then
    got.premature = "the device ends the connection (" .. how .. "), but it has not accepted a good start-up frame as " ..
                    self.t.role .. " in this run"
    got.cause, got.hint = self.t:not_served_cause("startup")
  end
end

-- What the device has ended the stream with and the check has not taken yet: "FIN", "RST", "Terminate" and its triple;
-- nil where it goes on.
function Connection:ended_by_device()
  local open, octets, state = pcall(self.tcp.read, self.tcp, 0, 0)
  if not open then return nil end -- closed by the check
  local framing = copy_fields(self.receive_framing)
  while self.started and #octets > 0 do
    local used, f = wire.parse_fpdu(octets, framing)
    if not used then break end
    local segment = f.markers_ok and read_segment(f.ulpdu)
    if segment and segment.Opcode == 7 then return "Terminate", segment.triple end
    octets, framing.position = octets:sub(used + 1), framing.position + used
  end
  return state == "fin" and "FIN" or state == "reset" and "RST" or nil
end

-- Octets as they come, at least `least`, not decoded and not consumed; and how the input stands.
function Connection:peek(least, seconds)
  local octets, state = self.tcp:read(least, seconds or self.t.reaction)
  if self.started then self.peeked, self.peeked_at = octets, (rig.looked()) end
  return octets, state
end

--------------------------------------------------------------------------------------------------------------------
-- Expectations

local function same(want, got)
  if type(want) == "function" then return got ~= nil and want(got) end
  if type(want) == "boolean" then return (got == 1 or got == true) == want end
  if type(want) == "table" then
    if type(got) ~= "table" then return false end
    for k, v in pairs(want) do if not same(v, got[k]) then return false end end
    return true
  end
  return want == got
end

local ends_stream = { fin = true, reset = true, aborted = true } -- the last one: over the draft alone (Stream:is_aborted)

-- Does what came fit one expectation?
function fits(want, got)
  local fit = want.kind == got.kind or want.kind == "closed" and ends_stream[got.kind]
  if fit and got.premature then
    error({ verdict = "INCONCLUSIVE", message = got.premature, cause = got.cause, hint = got.hint }, 0)
  end
  if want.kind == "closed" then return fit end
  if want.kind == "quiet" then return got.kind == "timeout" or got.kind == "aborted" end
  if want.kind ~= got.kind then return false end
  if want.defaults and got.Opcode ~= (want.given.Opcode or want.defaults.fields.Opcode) then return false end
  -- A device need not copy these into an empty Read Response (RDMAP-5.2.2-12, which judges that).
  local free = class.tags_free and got.Opcode == 2 and got.data == ""
  for k, v in pairs(want.given or {}) do
    if not same(v, got[k]) and not (free and (k == "STag" or k == "TO")) then return false end
  end
  return true
end

tcp = {
  fin = function() return { kind = "fin" } end,
  reset = function() return { kind = "reset" } end,
  closed = function() return { kind = "closed" } end,
}
function quiet() return { kind = "quiet" } end

-- Marks an expectation as less than a pass.
function warn(want, why) return setmetatable({ verdict = "WARN", why = why }, { __index = want }) end
function ambiguous(want, reading) return setmetatable({ verdict = "AMBIGUOUS", why = reading }, { __index = want }) end

local function list_text(wants)
  local out = {}
  for i, want in ipairs(wants) do
    out[i] = describe(want) .. (want.verdict and (" (" .. want.verdict .. ")") or "")
  end
  return table.concat(out, ", or ")
end

-- Takes what comes next and compares: returns it, or ends the check with FAIL. `within` seconds, `message` for people;
-- `rests_on`: an exchange that this is a part of and not what is judged: INCONCLUSIVE where the device does not serve
-- it.
function Connection:expect_one_of(wants)
  local got = wants.got or self:receive(wants.within) -- got: what has come already
  for _, want in ipairs(wants) do
    if fits(want, got) then
      if want.verdict == "WARN" then self.t:warn(want.why, list_text(wants), describe(got)) end
      if want.verdict == "AMBIGUOUS" then self.t:ambiguous(want.why) end
      return got
    end
  end
  if wants[1].defaults and wants[1].kind == got.kind then self:_suspect_fields(wants[1], got) end
  if #wants == 1 then self.t:suspect_expected(wants[1], got) end
  self:judge_private_data(got)
  self.t:judge_outcome(wants, got)
  self:judge_open_requests(wants)
  self.t:fail(wants.message, list_text(wants), describe(got))
end

-- A field has what was expected of it, with its octets in reverse order.
function Connection:_suspect_fields(want, got)
  local layouts = { want.defaults.tagged and "ddp_tagged" or "ddp_untagged", want.defaults.header }
  for field, value in pairs(want.given) do
    for _, layout in ipairs(layouts) do self.t:suspect_number(layout, field, value, got[field]) end
  end
end

function Connection:expect(want, options)
  options = options or {}
  return self:expect_one_of { want, within = options.within, message = options.message, plain = options.plain }
end

-- The stream ends by FIN or RST, and nothing else comes before.
function Connection:expect_close(options)
  return self:expect({ kind = "closed" }, options)
end

-- Nothing comes for a while (half the time is enough when a probe follows).
function Connection:expect_quiet(options)
  options = options or {}
  return self:expect({ kind = "quiet" }, { within = options.within or self.t.quiet, message = options.message })
end

local function triples(names)
  local out = {}
  for _, name in ipairs(names) do out[#out + 1] = wire.triple(name) end
  return out
end

local function contains(list, value)
  for _, v in ipairs(list) do if v == value then return true end end
  return false
end

-- What happened in place of what was expected: the segments that were passed over, what came in the end, and where
-- nothing came what the device's ULP received, which no wire shows.
function Connection:instead(passed, got)
  local text = describe(got)
  if #passed > 0 then text = describe_messages(passed) .. ", then " .. text end
  if got.kind == "timeout" or got.kind == "aborted" then text = text .. self.t:events_text(self) end
  return text
end

-- The device answers with a Terminate whose triple is one of `names` (PASS) or of options.warn (WARN).
-- FIN or RST without it: FAIL for RDMAP's errors, WARN for those of DDP and MPA, where sending it is a SHOULD
-- (RFC 5040 6.2.1); options.close = "pass" where the text allows to drop the stream silently.
-- options.waits: it is about a Send that has no receive, which a device may leave in TCP until there is one.
-- Other segments that the device had under way are passed over, unless options.next is set. Returns the Terminate, or
-- nil after a bare close.
function Connection:expect_terminate(names, options)
  options = options or {}
  if type(names) == "string" then names = { names } end
  local good, tolerated = triples(names), triples(options.warn or {})
  local words = {}
  for i, triple in ipairs(good) do words[i] = "Terminate " .. wire.describe(triple) end
  local expected = table.concat(words, ", or ")
  local got, passed = nil, {}
  repeat
    passed[#passed + 1] = got
    got = self:receive(options.within)
  until got.kind ~= "segment" or got.Opcode == 7 or options.next
  if got.kind == "segment" and got.triple then
    if got.swapped then self.t:note("the Terminate word has its nibbles swapped (RDMAP-4.8-02); read as meant") end
    if contains(good, got.triple) then return got end
    if contains(tolerated, got.triple) then
      self.t:warn(options.message, expected, describe(got))
      return got
    end
  elseif fits(tcp.closed(), got) then
    if options.close == "pass" then return nil end
    local lower = false
    for _, triple in ipairs(good) do lower = lower or triple >> 12 ~= 0 end
    if lower then
      self.t:terminate_missing(expected, self:instead(passed, got))
      return nil
    end
  end
  if options.waits and got.kind == "timeout" and self:takes_when_posted() then return nil end
  self.t:fail(options.message, expected, self:instead(passed, got))
end

--------------------------------------------------------------------------------------------------------------------
-- Start-up by the book

-- What both start-up frames mean for the framing of each direction (RFC 5044 7.1): M of one side rules what the other
-- sends; CRCs are used when either side set C. A tester that may send now waits for the moment that settle() explains.
-- `own` is the tester's frame, or its fields.
function Connection:agree(own, peer)
  if own.octets then own = wire.unpack("mpa_start", own:octets()) end
  local flag = function(v) return v == 1 or v == true end
  local crc = flag(own.C) or flag(peer.C)
  self.send_framing = { markers = flag(peer.M), crc = crc, position = 0 }
  self.receive_framing = { markers = flag(own.M), crc = crc, position = 0 }
  self.started = true
  self.peer = peer
  if self.as_initiator and not flag(peer.R) then
    self:settle()
    self:_suspect_first()
  end
end

-- A moment between the handshake and the Request, and between the device's Reply and the tester's first FPDU. Some
-- stacks lose sight of an FPDU that comes while they are still on their way into full operation, until something else
-- comes: MPA-7.1-06 judges that, other checks should not (c.at_once = true: no moment). An upper tester that says so
-- ("ready_event") says when that is over.
function Connection:settle()
  if self.at_once or self.settled then return end
  self.settled = self.started
  if self.started and self.as_initiator and self.t:traits().ready_event then
    self.t:await_event("established", { stream = self.t:stream_of(self) }, self.t.reaction / 4, true)
  end
  rig.wait(math.min(4 * self.t.round_trip, 0.05))
end

-- The tester as initiator: Request out, Reply in. `given` are fields of the Request. Returns the Reply.
function Connection:start_as_initiator(given)
  local request = mpa.request(given)
  self:send(request)
  local reply = self:expect(mpa.reply { R = 0 }, { message = "a good Request is answered by an accepting Reply", plain = not given })
  self:agree(request, reply)
  return reply
end

-- Fields of a Reply: `given`, and what is not given there as the Request has it: Rev, and the enhanced word mirrored,
-- also where another Rev is given that has one, so that it is the Rev that is judged and not a word that is missing.
function mirrored(request, given)
  local reply = copy_fields(given)
  if request == nil then return reply end
  if reply.Rev == nil then reply.Rev = request.Rev end
  if reply.enhanced == nil and request.enhanced and reply.S == nil and reply.raw == nil and reply.Rev >= request.Rev then
    local e = request.enhanced
    reply.enhanced = { A = e.A, B = e.B, C = e.C, D = e.D, IRD = e.ORD, ORD = e.IRD }
    -- it covers the word (RFC 6581 6)
    if reply.PD_Length then reply.PD_Length = math.min(reply.PD_Length + 4, 0xFFFF) end
  end
  return reply
end

-- The tester as responder: Request in, Reply out. `given` are fields of the Reply; an enhanced Request gets the
-- enhanced word mirrored unless `given` says otherwise. Returns the Request.
function Connection:start_as_responder(given)
  local request = self:expect(mpa.request {}, { message = "an initiator opens with a Request" })
  local frame = mpa.reply(mirrored(request, given))
  self:send(frame)
  self:agree(frame, request)
  return request
end

function copy_fields(fields)
  local out = {}
  for k, v in next, fields or {} do out[k] = v end
  return out
end

-- Octets of the device's stream so far.
function Connection:octets_received() return self.tcp:status().octets_received end

-- An orderly end from the tester's side: FIN, and the device's FIN (or RST) is waited for.
function Connection:finish()
  self:fin()
  local got
  repeat got = self:receive(self.t.reaction) until ends[got.kind] or got.kind == "garbage" or got.kind == "bad_fpdu"
  return got
end
