-- SPDX-License-Identifier: BSD-2-Clause
--
-- The lower layer of sessions that `warpcheck explore` makes, where it is MPA over TCP (9-explored.lua): how a stream opens,
-- what its octets are, and how it ends. 9-followed-sctp.lua has the same functions. Each takes the stream's own session.

local Session = harness.session
local lower = {}
harness.lower.tcp = lower

--------------------------------------------------------------------------------------------------------------------
-- FPDUs

-- The members of w.fpdu as wire.frame has them; `longer` is relative to the ULPDU's own length.
local function overrides_of(w, ulpdu)
  local out = copy_fields(w.fpdu)
  if out.longer then
    out.length = math.max(0, math.min(0xFFFF, #ulpdu + out.longer))
    out.longer = nil
  end
  if out.pad_octets then out.pad, out.pad_octets = ("\x5A"):rep(out.pad_octets), nil end
  if out.pad_value then out.pad, out.pad_value = string.char(out.pad_value):rep(-(2 + #ulpdu) % 4), nil end
  return out
end

-- The FPDUs of these frames, each as octets; w is nil where nothing is wrong.
function lower.units(self, frames, w)
  local ulpdus, wrong = self:ulpdus(frames, w)
  local out = {}
  for i, ulpdu in ipairs(ulpdus) do
    out[i] = self.c:frame(fpdu(raw.segment { data = ulpdu }, overrides_of(i == wrong and w or {}, ulpdu)))
  end
  return out
end

-- Octets go out: in TCP segments of step.cut octets, the last one first where step.backwards is set.
function lower.put(self, units, step)
  local octets = table.concat(units)
  if #octets == 0 then return end
  if not step.cut then return self.c:send_segments { octets } end
  local pieces, order = {}, step.backwards and {} or nil
  for at = 1, #octets, step.cut do pieces[#pieces + 1] = octets:sub(at, at + step.cut - 1) end
  for i = 1, order and #pieces or 0 do order[i] = #pieces + 1 - i end
  self.c:send_segments(pieces, order)
end

-- Does the device's window have room for a message of so many octets, with its headers, in segments out of order?
function lower.has_room(self, octets) return 2 * octets + 1000 < self.c.tcp:status().peer_window end

-- Are CRCs and Markers in what the device reads?
function lower.framing(self) return self.c.send_framing or {} end

function lower.unacknowledged(self) return self.c.tcp:unacknowledged() end

-- The device may take long to acknowledge: what it has not got yet it cannot have delivered.
function lower.await_taken(self)
  local left
  repeat
    left = self.c.tcp:unacknowledged()
    self.c:await_acknowledged()
  until self.c.tcp:unacknowledged() == 0 or self.c.tcp:unacknowledged() >= left
end

--------------------------------------------------------------------------------------------------------------------
-- The start-up

-- The MPA part of a start-up: the tester's frame goes out. Its octets where it is wrong, else nil.
local function send_start(self)
  local t, o, own = self.t, self.opening, copy_fields(self.opening.own)
  local asked = t.role == "initiator" and self.c.request.enhanced
  -- A Reply has the enhanced word where the Request has it (RFC 6581 6), whatever the session expected of the device.
  if asked and asked.A == 1 then
    own.enhanced = Session.mirrored_rtr(asked)
  elseif asked then
    own.enhanced = own.enhanced or Session.mirrored_depths(asked, o.flags)
  elseif t.role == "initiator" then
    own.enhanced = nil
  end
  -- The word is a part of what a device takes as Private Data (RFC 6581 6).
  local word = own.enhanced and 4 or 0
  self.private = o.private and Session.octets_of(t:private_data_most(o.private + word) - word, self.salt + 5)
  own.private_data = self.private
  own.R = o.refuses and 1 or own.R
  self.frame, self.word = t:start_frame(own), own.enhanced
  local octets = Session.change_octets(self.c:octets(self.frame), o.wrong or {})
  if o.wrong and o.wrong.twice then octets = octets .. octets end
  if o.wrong then self.frame = { octets = function() return octets .. ("\0"):rep(20) end, given = {} } end
  lower.put(self, { octets }, { cut = o.cut, backwards = o.backwards })
  if o.wrong and o.wrong.fin then self.c:fin() end
end

-- The Request waits for the device's ULP, which is asked, and decides.
local function decide(self, private)
  local t, o, stream = self.t, self.opening, self.t:stream_of(self.c)
  local event = t:await_event("connect_request", { stream = stream })
  if not event then t:fail("a Request that the device's ULP has to decide on", "its event", "none") end
  if event.private_data then self:expect_private(self.private or "", event.private_data, "that the device's ULP is asked about", true) end
  self:expect_depths_reported(event)
  local got = self.c:receive(t.quiet)
  if got.kind ~= "timeout" then t:fail("the ULP has not decided on the Request", "nothing", describe(got)) end
  t.dut[o.rejects and "reject" or "accept"](t.dut, { stream = stream, private_data = private and hex(private) })
end

-- How many streams the device's ULP has been given by now.
local function count_established(t)
  if not rig.has_upper_tester() or not t:reports_event("established") then return 0 end
  t:gather_events()
  local count = 0
  for _, event in ipairs(t.events) do
    if event.event == "established" then count = count + 1 end
  end
  return count
end

-- The device's ULP has rejected the Request: its Reply says so, or TCP closes without one (RFC 5044 7.1.2; MPA-7.1.2-05).
local function rejected(self, reply)
  local t, c = self.t, self.c
  local got = c:expect_one_of { reply, tcp.closed(), message = "the device's ULP rejects" }
  if fits(tcp.closed(), got) then t:warn("the device's ULP rejects", describe(reply), describe(got)) end
  got = c:receive(t.quiet)
  if got.kind ~= "timeout" and got.kind ~= "fin" then t:fail("after a rejecting Reply", "nothing, or FIN", describe(got)) end
end

-- The tester's Reply has R = 1: no FPDU comes, and the ULP receives its event.
local function refuse(self)
  local t, c = self.t, self.c
  local got = c:receive(t.quiet)
  if got.kind == "reset" then t:warn("a Reply with R = 1", "an open connection, or FIN", "RST") end
  if got.kind ~= "timeout" and got.kind ~= "fin" then t:fail("a Reply with R = 1: the initiator leaves MPA", "nothing, or FIN", describe(got)) end
  self.over = true
  if not t:reports_event("rejected") then return end
  local event = t:await_event("rejected", { stream = c.stream })
  if not event then t:fail("a Reply with R = 1: the ULP is told", "its event", "none") end
  if event.private_data then self:expect_private(self.private or "", event.private_data, "of the rejection, at the ULP", true) end
end

function lower.open(self)
  local t, o, device = self.t, self.opening, copy_fields(self.opening.device)
  local private = o.device_private and Session.octets_of(o.device_private, self.salt + 3)
  device.private_data = private and hex(private)
  device.accept = o.asks and "manual" or o.rejects and "reject" or device.accept
  self.c = t:awaiting_start { dut = device, mss = o.mss }
  local before = o.wrong and o.wrong.fin and count_established(t)
  if o.refuses then self.c:ask_first_send() end
  send_start(self)
  if o.refuses then return refuse(self) end
  if o.asks and not o.wrong then decide(self, private) end
  if o.wrong then
    if t.role == "initiator" then
      self.c:agree(self.frame, self.c.request)
      self.c:ask_first_send()
    end
    local reaction = self:react(o.wrong, true)
    if before and count_established(t) > before then
      t:fail("a start-up frame that a FIN cuts short", "no stream for the device's ULP", "its event")
    end
    return reaction
  end
  local peer = self.c.request
  if o.rejects then
    self.over = true
    return rejected(self, mpa.reply { R = 1, private_data = private })
  end
  if t.role == "responder" then
    peer = self.c:expect(mpa.reply { R = 0, private_data = private }, { message = "a good Request is answered by an accepting Reply" })
  else
    self:expect_private(private, peer.private_data, "of the Request")
  end
  self.c:agree(self.frame, peer)
  self:agree_depth(peer.enhanced)
  self.stream = t:stream_of(self.c)
  if t.role == "responder" then self:send_rtr(peer.enhanced) else self:take_first(peer.enhanced) end
  local event = t:start_event(self.c)
  if event and event.private_data then
    self:expect_private(self.private, event.private_data, "that the device's ULP has got", true)
  end
  if event and t.role == "responder" then self:expect_depths_reported(event) end
end

-- Another stream is another connection.
function lower.another(self) lower.open(self) end

-- What comes after a start-up frame that is wrong.
function lower.receive_start(self) return self.c:receive() end

function lower.agree(self, reply) self.c:agree(self.frame, reply) end

--------------------------------------------------------------------------------------------------------------------
-- The end

lower.ends = {
  fin = function(self)
    local got = self.c:finish()
    if got.kind ~= "fin" and got.kind ~= "reset" then self.t:fail("the end of the stream", "FIN", describe(got)) end
  end,
  half = function(self) self:close_halves() end,
  disconnect = function(self)
    self.t.dut:disconnect { stream = self.stream }
    self:expect_work_refused()
    self.c:expect_close { message = "the device's ULP ends the stream" }
    self.c:fin()
  end,
  reset = function(self)
    self.c:reset()
    self:expect_loss_reported()
  end,
}

-- Has the stream gone with another one? Each has its own connection.
function lower.is_gone() return false end
function lower.spared() end

-- What the device reports of the stream, before it ends.
function lower.look(self) self:expect_mulpdu() end

function lower.close(self) self.c:close() end
