-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a check does with a connection in addition to frames. Over SCTP a stream has the same verbs (9-streams.lua), so
-- that a check which uses these, and not c.tcp, runs over both.

-- Sends frames that are no stimulus: the judgement of an end goes by what was sent before.
function Connection:send_unmarked(...) self.tcp:send(self:octets(...)) end

-- Frames of a TCP segment (or DATA chunk) each, sent in `order` (indexes from 1). What it leaves out comes later, by
-- retransmission.
function Connection:send_shuffled(frames, order)
  local pieces = {}
  for i, frame in ipairs(frames) do pieces[i] = self:octets(frame) end
  self:send_segments(pieces, order)
end

-- Frames of a TCP segment (or DATA chunk) each, before which `missing` (a frame, or a list of them) is missing, in
-- `order` (default as they stand): returns the function that sends it, with which TCP brings what is after once more.
-- What lies beyond the device's receive window comes with that alone: TCP hands nothing over from there (RFC 5044 A.3).
function Connection:send_behind(missing, frames, order)
  local deadline = rig.now() + self.t.reaction
  while select(3, self.tcp:acknowledged()) > 0 and self:_is_open() and rig.now() < deadline do rig.wait(self.t.round_trip) end
  local room, sent = self.tcp:status().peer_window, 0
  local first, pieces, offsets = self:octets(table.unpack(missing.kind and { missing } or missing)), {}, {}
  local at = #first
  for i, frame in ipairs(frames) do
    pieces[i], offsets[i] = self:octets(frame), at
    at = at + #pieces[i]
  end
  for i in ipairs(frames) do
    local n = order and order[i] or i
    if offsets[n] + #pieces[n] <= room then
      self.tcp:raw { offset = offsets[n], octets = pieces[n] }
      sent = sent + 1
    end
  end
  if sent == 0 then self.t:inconclusive("the device's receive window of " .. room .. " octets has no room for a segment after a gap") end
  return function() self.tcp:send(first .. table.concat(pieces)) end
end

-- Pieces of which none is longer than a TCP segment of this connection may be, and their order.
local function within_mss(pieces, order, mss)
  local out, places = {}, {}
  for i, piece in ipairs(pieces) do
    places[i] = {}
    for at = 1, math.max(#piece, 1), mss do
      out[#out + 1] = piece:sub(at, at + mss - 1)
      table.insert(places[i], #out)
    end
  end
  if #out == #pieces then return pieces, order end
  local ordered = order and {}
  for _, i in ipairs(order or {}) do table.move(places[i], 1, #places[i], #ordered + 1, ordered) end
  return out, ordered
end

-- Exact TCP segments: pieces of octets, sent in `order` (indexes from 1; default as they stand). What is longer than
-- the device's MSS or the link's goes in several, one after another.
function Connection:send_segments(pieces, order)
  local lengths = {}
  pieces, order = within_mss(pieces, order, self.tcp:status().mss)
  for i, piece in ipairs(pieces) do lengths[i] = #piece end
  self:_stimulus()
  local octets = table.concat(pieces)
  local sent = self.tcp:segments(octets, lengths, order)
  if not sent then -- what the device has had no room for leaves first
    self:await_acknowledged()
    sent = self.tcp:segments(octets, lengths, order)
  end
  if not sent and self:_is_open() then -- what the device did is seen when the check reads
    self.t:inconclusive("the device takes no more: " .. self.tcp:unacknowledged() .. " octets still wait to be sent, its receive window is " ..
                        self.tcp:status().peer_window .. " octets")
  end
end

-- Cuts octets into TCP segments of `size` octets each.
function Connection:send_in_pieces(octets, size)
  local pieces = {}
  for at = 1, #octets, size do pieces[#pieces + 1] = octets:sub(at, at + size - 1) end
  self:send_segments(pieces)
end

-- The tester has nothing more to send: FIN.
function Connection:fin() self.tcp:fin() end

-- It ends at once: RST.
function Connection:reset() self.tcp:reset() end

-- Nobody reads it any more.
function Connection:close() self.tcp:close() end

-- So many octets the device may send from now on.
function Connection:window(octets) self.tcp:window(octets) end

-- Nothing that comes is acknowledged from now on, or everything again.
function Connection:withhold(withheld) self.tcp:ack(withheld and "withheld" or "now") end

-- The upper tester has reported what the device made of the connection: a verdict is about that.
function Connection:mark_reported() self.tcp:mark_reported() end

-- A function: is the i-th of these events, "accepted", about the connection? One that does not say itself whose it is may be followed
-- by one of the same stream that does.
function Connection:teller()
  local status = self.tcp:status()
  return function(events, i)
    local event = events[i]
    for after = i, #events do
      local other = events[after]
      if other.stream == event.stream and (other.peer_port or status.local_port) ~= status.local_port then return false end
    end
    return event.port == status.peer_port
  end
end

-- A piece when the device's TCP has acknowledged the one before, so that neither the link nor the device joins them.
function Connection:send_apart(pieces)
  for _, piece in ipairs(pieces) do
    self:send_segments { piece }
    self:await_acknowledged()
  end
end

-- A stream that the device has reset acknowledges nothing any more: nobody waits for it.
function Connection:await_acknowledged()
  local deadline = rig.now() + self.t.reaction
  local pause = self.t:waits(deadline)
  while self.tcp:unacknowledged() > 0 and self:_is_open() and rig.now() < deadline do pause() end
end

-- Has the device not reset the stream?
function Connection:_is_open() return self.tcp:status().input ~= "reset" end
