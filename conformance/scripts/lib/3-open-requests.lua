-- SPDX-License-Identifier: BSD-2-Clause
--
-- Reads and atomics that the device has open. How many it has at a time is its own matter, up to the ORD (RFC 5040
-- 6.1): a check that wants several of them, one after another, answers those before where the device waits for that
-- (c.answers_when_due). One that needs two at once is not decided on a device that has one.

local READ, TERMINATE, ATOMIC = 0x1, 0x7, 0xA -- opcodes
local responses = { [0x2] = true, [0xB] = true }

-- Notes a request; where nothing came and the check says c.answers_when_due, the oldest is answered, and what comes
-- then is returned.
function Connection:_note_request(got, seconds)
  self.open_requests = self.open_requests or {}
  if got.Opcode == READ or got.Opcode == ATOMIC then self.open_requests[#self.open_requests + 1] = got end
  self.t.timed_out = got.kind == "timeout" and #self.open_requests > 0 and self or nil
  if got.kind == "timeout" and self.answers_when_due and self:answer_open() then return self:receive(seconds) end
  return got
end

-- A response of the tester ends the oldest of them, whose member `answered` says so from then on.
function Connection:_count_response(segment)
  local fields = segment.defaults and segment.defaults.fields
  if fields and responses[fields.Opcode] and (segment.given.L or 1) ~= 0 and self.open_requests then
    local request = table.remove(self.open_requests, 1)
    if request then request.answered = true end
  end
end

-- Answers the oldest request that came and was not answered. False without one.
function Connection:answer_open()
  local request = self.open_requests and self.open_requests[1]
  if request == nil then return false end
  if request.Opcode == READ then
    local octets = string.rep("\0", request.RDMARDSZ or 0)
    self:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = octets })
  else
    self:send(rdmap.atomic_response { RequestId = request.RequestId, Value = 0 })
  end
  return true
end

-- "1 RDMA Read", "3 atomics", "2 RDMA Reads and atomics".
local function open_text(requests)
  local reads, atomics = 0, 0
  for _, request in ipairs(requests) do
    if request.Opcode == READ then reads = reads + 1 else atomics = atomics + 1 end
  end
  local count = reads + atomics
  local what = reads == 0 and "atomic" or atomics == 0 and "RDMA Read" or "RDMA Reads and atomic"
  return count .. " " .. what .. (count > 1 and "s" or "")
end

-- A check that waited without success, while requests of the device are open, is about to fail. Where what it waited
-- for comes when the oldest is answered, the device has no more of them open at a time: SKIP where its profile says so,
-- and else it does not serve as many as the check needs. `wants`: what would have been right; nil: any message of the
-- ULP. If nothing of that comes, the failure is about what was read before.
function Connection:judge_open_requests(wants)
  local place, kind = rig.looked()
  local text = open_text(self.open_requests or {})
  if self.t.timed_out ~= self or not self:answer_open() then return end
  local got = self:receive()
  local waited = got.kind == "segment" and got.Opcode ~= TERMINATE and wants == nil
  for _, want in ipairs(wants or {}) do waited = waited or want.kind == "segment" and fits(want, got) end
  if waited then self.t:too_few_open(text) end
  self.t.timed_out = nil
  rig.look_at(place, kind)
end

-- The device has no more than these requests open at a time, and the check needs more.
function Test:too_few_open(text)
  if text:sub(1, 2) == "1 " and self:depth_most("ord") == 1 then
    self:skip("the device has " .. text .. " of its ULP open at a time: needs ord of 2 or more, but the device has ord = 1")
  end
  if not rig.claims("reads_at_once") then
    self:skip("the device has " .. text .. " of its ULP open at a time: needs reads_at_once, but the profile has reads_at_once = no")
  end
  self:not_served("reads at once", "it has " .. text .. " open, and the next one waits (RDMAP-6.1-05)")
end

--------------------------------------------------------------------------------------------------------------------
-- How many a device has open, which a run learns

local TRIED = 8

-- Posts so many Reads, or atomics, at an ORD of as many, and counts those that come before any is answered. Nil where
-- nobody can ask for them.
function harness.count_open(t, kind)
  local c, stream = t:operating { ord = TRIED }
  local sink = kind == "read" and t:memory { octets = TRIED * 16 }
  for i = 0, TRIED - 1 do
    local given = sink and { stream = stream, source_stag = 1, length = 16, sink_stag = sink.STag, sink_to = sink.TO + 16 * i } or
                  { stream = stream, stag = 1, operation = "fetch_add" }
    if not t:command(kind, given).ok then
      if i == 0 then return nil end
      break
    end
  end
  local open = 0
  while open < TRIED do
    local got = c:receive(open == 0 and t.reaction or t.quiet)
    if got.Opcode ~= READ and got.Opcode ~= ATOMIC then break end
    open = open + 1
  end
  c:reset()
  return open > 0 and open or nil
end

-- So many of the device's Reads ("read") or atomics ("atomic") may be asked for at once: `wanted`, or as many as it has
-- open. Without `least` of them the check is not decided.
function Test:at_once(kind, wanted, least)
  local open = self.services and self.services[kind .. "s_open"] or wanted
  if open < (least or 1) then self:too_few_open("1 " .. (kind == "read" and "RDMA Read" or "atomic")) end
  return math.min(open, wanted)
end

-- Another Read Request may come, from a device that has several open: nothing else does.
function Connection:take_also_open(message)
  local got = self:receive(self.t.quiet / 4)
  if got.kind ~= "timeout" and got.Opcode ~= READ then
    self.t:fail(message, "an RDMA Read Request, or nothing", describe(got))
  end
end
