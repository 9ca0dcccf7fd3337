-- SPDX-License-Identifier: BSD-2-Clause
--
-- Reads and atomics that the device has open. How many it has at a time is its own matter, up to the ORD (RFC 5040 6.1): a check that
-- wants several of them, one after another, answers those before where the device waits for that (c.answers_when_due). One that needs
-- two at once is not decided on a device that has one.

local READ, TERMINATE, ATOMIC = 0x1, 0x7, 0xA -- opcodes
local responses = { [0x2] = true, [0xB] = true }

-- Notes a request; where nothing came and the check says c.answers_when_due, the oldest is answered, and what comes then is returned.
function Connection:_note_request(got, seconds)
  self.open_requests = self.open_requests or {}
  if got.Opcode == READ or got.Opcode == ATOMIC then self.open_requests[#self.open_requests + 1] = got end
  -- A device with two of them open has more than one at a time, and waits for something else.
  self.t.in_vain = got.kind == "timeout" and #self.open_requests == 1 and self or nil
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

-- A check that waited in vain, while one request of the device is open, is about to fail. Where what it waited for comes when that is
-- answered, the device has one open at a time: SKIP where its profile says so, and else it does not serve two. `wants`: what would
-- have been right; nil: any message of the ULP. If nothing of that comes, the failure is about what was read before.
function Connection:weigh_open(wants)
  local place, kind = rig.looked()
  if self.t.in_vain ~= self or not self:answer_open() then return end
  local got = self:receive()
  local waited = got.kind == "segment" and got.Opcode ~= TERMINATE and wants == nil
  for _, want in ipairs(wants or {}) do waited = waited or want.kind == "segment" and fits(want, got) end
  if waited and not rig.claims("reads_at_once") then
    self.t:skip("the device has one Read or atomic open at a time: needs reads_at_once, but the profile has reads_at_once = no")
  elseif waited then
    self.t:unserved("reads at once", "it keeps one outstanding, and the next one waits (RDMAP-6.1-05)")
  end
  self.t.in_vain = nil
  rig.look_at(place, kind)
end

-- Another Read Request may come, from a device that has several open: nothing else does.
function Connection:take_also_open(message)
  local got = self:receive(self.t.quiet / 4)
  if got.kind ~= "timeout" and got.Opcode ~= READ then
    self.t:fail(message, "an RDMA Read Request, or nothing", describe(got))
  end
end
