-- SPDX-License-Identifier: BSD-2-Clause
--
-- Reads and atomics that the device has open. How many it has at a time is its own matter, up to the ORD (RFC 5040 6.1): a check that
-- wants several of them, one after another, answers those before where the device waits for that.

local READ, ATOMIC = 1, 10 -- opcodes

-- Notes a request; where nothing came and the check says c.answers_when_due, the oldest is answered, and what comes then is returned.
function Connection:_note_request(got, seconds)
  self.open_requests = self.open_requests or {}
  if got.Opcode == READ or got.Opcode == ATOMIC then self.open_requests[#self.open_requests + 1] = got end
  if got.kind == "timeout" and self.answers_when_due and self:answer_open() then return self:receive(seconds) end
  return got
end

-- Answers the oldest request that came and was not answered here, whose member `answered` says so from then on. False without one.
function Connection:answer_open()
  local request = table.remove(self.open_requests or {}, 1)
  if request == nil then return false end
  request.answered = true
  if request.Opcode == READ then
    local octets = string.rep("\0", request.RDMARDSZ or 0)
    self:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = octets })
  else
    self:send(rdmap.atomic_response { RequestId = request.RequestId, Value = 0 })
  end
  return true
end

-- The next thing is this request, while those before it are open. SKIP where it comes when the oldest of them is answered.
function Connection:expect_also_open(want, options)
  local got = self:receive()
  if fits(want, got) then return got end
  if got.kind == "timeout" and self:answer_open() and fits(want, self:receive()) then
    self.t:skip("the device has one Read or atomic open at a time")
  end
  self.t:fail(options.message, describe(want), describe(got))
end

-- Another Read Request may come, from a device that has several open: nothing else does.
function Connection:take_also_open(message)
  local got = self:receive(self.t.quiet / 4)
  if got.kind ~= "timeout" and got.Opcode ~= READ then
    self.t:fail(message, "an RDMA Read Request, or nothing", describe(got))
  end
end
