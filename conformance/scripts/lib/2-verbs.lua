-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a check does with a connection beside frames. Over SCTP a stream has the same verbs (9-streams.lua), so that a check which
-- uses these, and not c.tcp, runs over both.

-- Sends frames that are no stimulus: the judgement of an end goes by what was sent before.
function Connection:put(...) self.tcp:send(self:octets(...)) end

-- Frames of a TCP segment (or DATA chunk) each, sent in `order` (indexes from 1). What it leaves out comes later, by retransmission.
function Connection:send_shuffled(frames, order)
  local pieces = {}
  for i, frame in ipairs(frames) do pieces[i] = self:octets(frame) end
  self:send_segments(pieces, order)
end

-- Frames of a TCP segment (or DATA chunk) each, before which `missing` is missing: returns the function that sends it.
function Connection:send_behind(missing, frames)
  local first, behind = self:octets(missing), {}
  local at = #first
  for i, frame in ipairs(frames) do
    behind[i] = self:octets(frame)
    self.tcp:raw { offset = at, octets = behind[i] }
    at = at + #behind[i]
  end
  return function() self.tcp:send(first .. table.concat(behind)) end
end

-- The tester has nothing more to send: FIN.
function Connection:fin() self.tcp:fin() end

-- It ends at once: RST.
function Connection:reset() self.tcp:reset() end

-- Nobody reads it any more.
function Connection:close() self.tcp:close() end

-- So many octets the device may send from now on.
function Connection:window(octets) self.tcp:window(octets) end

-- The upper tester has told what the device made of the connection: a verdict is about that.
function Connection:told() self.tcp:told() end

-- A function: is this event "accepted" about the connection?
function Connection:teller()
  local status = self.tcp:status()
  return function(event)
    return (event.peer_port or status.local_port) == status.local_port and event.port == status.peer_port
  end
end
