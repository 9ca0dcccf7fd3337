-- SPDX-License-Identifier: BSD-2-Clause
--
-- The segments of a message should leave in rising order of MO or TO, and need not (RFC 5041 5.3): DDP-5.3-03 and -04
-- judge that, on connections with c.as_sent. The one with L = 1 is the last to leave, and of a tagged message it may
-- have any TO (4.1). To all other checks c:receive() gives them in rising order, with L = 1 in the one that comes last
-- then: a segment that runs ahead of its message is kept until the message is whole. Where that does not come, all of
-- it is given as it was sent.

local RESPONSE, WRITE = 0x2, 0x0 -- opcodes

-- Tagged messages of the device that are to come: where they go, and how many octets they have.
local function messages_of(c, segment)
  return segment.Opcode == RESPONSE and c.reads_sent or segment.Opcode == WRITE and c.t.posted_writes or {}
end

-- The message that a segment is of, and the place of its first octet there; nil where that is unknown.
local function place_of(c, segment)
  if segment.cut or segment.other_model or segment.Opcode == nil then return nil end
  if segment.T == 0 then return segment.QN << 32 | segment.MSN, segment.MO end
  for _, message in ipairs(messages_of(c, segment)) do
    local at = message.STag == segment.STag and segment.TO - message.TO
    if at and at >= 0 and at + #segment.data <= message.octets then return message, at end
  end
end

-- A segment was given to the check: the next one of its message begins here. `key` and `at`: place_of() it.
local function give(c, segment, key, at)
  c.message, c.message_at = key, key and at + #segment.data
  if type(key) ~= "table" or c.message_at < key.octets then return end
  for i, message in ipairs(messages_of(c, segment)) do
    if message == key then return table.remove(messages_of(c, segment), i) end
  end
end

-- Does a segment there begin after octets of its message that have not come?
local function runs_ahead(c, key, at)
  return key ~= nil and at > (c.message == key and c.message_at or 0)
end

-- Segments of a message that came before their turn: where it goes on, which have come, and how many octets it has
-- (nil: not known yet).
local function holding(key, due)
  return { due = due, octets = 0, list = {}, ends = type(key) == "table" and key.octets or nil }
end

local L_BIT = 0x40 -- of a segment's first octet

-- The same segment with this L bit.
local function with_last(segment, last)
  if segment.L == last then return segment end
  local out = copy_fields(segment)
  out.L, out.ulpdu = last, string.char(segment.ulpdu:byte() ~ L_BIT) .. segment.ulpdu:sub(2)
  return out
end

-- In rising order, if they are the whole message from `due` on, whose last segment came last; else nil.
local function hold(c, held, segment)
  local _, at = place_of(c, segment)
  table.insert(held.list, { at = at, segment = segment })
  held.octets = held.octets + #segment.data
  if segment.L == 1 and segment.T == 0 then held.ends = at + #segment.data end
  if segment.L ~= 1 or held.ends == nil or held.octets ~= held.ends - held.due then return nil end
  table.sort(held.list, function(x, y) return x.at < y.at end)
  local out, next_at = {}, held.due
  for i, one in ipairs(held.list) do
    if one.at ~= next_at then return nil end
    next_at, out[i] = next_at + #one.segment.data, with_last(one.segment, i == #held.list and 1 or 0)
  end
  return out
end

-- The next FPDU's segment, or what came in its place. `take`: takes it, as it was sent.
function Connection:_in_order(seconds, take)
  local ready = rawget(self, "ready")
  if ready then
    self.given = self.given + 1
    local got = ready[self.given]
    if self.given == #ready then self.ready = nil end
    if got.kind == "segment" then give(self, got, place_of(self, got)) end
    return got
  end
  local got = take(self, seconds)
  if got.kind ~= "segment" or self.as_sent then return got end
  local key, at = place_of(self, got)
  if not runs_ahead(self, key, at) then
    give(self, got, key, at)
    return got
  end
  local held = holding(key, self.message == key and self.message_at or 0)
  local sorted, same = hold(self, held, got), true
  while same and not sorted do
    local more = take(self, seconds)
    same = more.kind == "segment" and place_of(self, more) == key
    if same then sorted = hold(self, held, more) else self.after = more end
  end
  if not sorted then
    sorted = {}
    for i, one in ipairs(held.list) do sorted[i] = one.segment end
  end
  sorted[#sorted + 1], self.after = self.after, nil
  self.ready, self.given = sorted, 0
  return self:_in_order(seconds, take)
end
