-- SPDX-License-Identifier: BSD-2-Clause
--
-- The same octets as TCP may bring them: cut anywhere, out of order, twice, with a hole, from the middle on. For
-- whoever writes a decoder: all but the last two have the same eight Sends in them.
--
--   warpcheck gen --corpus segments generator/examples/segments.lua

local function frames(side)
  local out = {}
  for i = 1, 8 do out[i] = side:octets(rdmap.send { data = distinct(100 * i) }) end
  return out
end

local function opened(given)
  local f = flow(given)
  f:open({}, { M = 1 }) -- the responder wants Markers, and so has them in what the initiator sends
  return f
end

capture { name = "aligned", about = "an FPDU a segment", run = function()
  local f = opened {}
  f.initiator:send_segments(frames(f.initiator))
  f:close()
end }

capture { name = "cut", about = "segments of 77 octets", run = function()
  local f = opened {}
  f.initiator:send_in_pieces(table.concat(frames(f.initiator)), 77)
  f:close()
end }

capture { name = "order", about = "the odd segments before the even ones, two of them twice", run = function()
  local f = opened { vlan = 77 }
  f.initiator:send_segments(frames(f.initiator), { 1, 3, 3, 5, 7, 2, 4, 6, 6, 8 })
  f:close()
end }

capture { name = "ipv6", about = "over IPv6, sequence numbers that wrap", run = function()
  local f = opened { ipv6 = true, initiator = { iss = 0xFFFFFF00 } }
  f.initiator:send_segments(frames(f.initiator))
  f:close()
end }

capture { name = "hole", about = "the third segment was not captured", run = function()
  local f = opened {}
  f.initiator:send_segments(frames(f.initiator), { 1, 2, 4, 5, 6, 7, 8 })
  f.responder:ack() -- acknowledges all of it: the hole is the capture's
  f:close()
end }

capture { name = "late", about = "the capture begins after start-up and four Sends", run = function()
  local f = flow {}
  f.initiator:lose(mpa.request {})
  f.responder:lose(mpa.reply { M = 1 })
  local all = frames(f.initiator)
  f.initiator:lose(table.concat(all, "", 1, 4))
  f.initiator:send_segments { table.unpack(all, 5) }
  f:close()
end }
