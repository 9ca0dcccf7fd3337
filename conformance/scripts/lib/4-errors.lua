-- SPDX-License-Identifier: BSD-2-Clause
--
-- An error that the device answers by a Terminate, whichever that is: for checks that judge what follows, or the
-- message itself.

local own = harness -- a script may take the name away

-- Errors that any stream can have, the one first that checks prefer.
local errors = {
  { "a Write to an unknown STag", function() return bad_write() end },
  { "a Read of an unknown STag", function() return rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG } end },
  { "a Send of opcode D", function() return rdmap.send { Opcode = 0xD, data = "1234" } end },
  { "a Send on QN 9", function() return rdmap.send { QN = 9, MSN = 1, data = "12345678" } end },
}

-- The exchange: an error, and a Terminate. Which triple it has is for the row of that error to judge. `t.learns` gets
-- which one drew one.
own.exchanges["terminate"] = function(t)
  local got
  for i, case in ipairs(errors) do
    local c = t:open()
    c:send(case[2]())
    got = c:receive()
    c:close()
    if is_terminate(got) then
      if t.learns then t.learns.error = i end
      return
    end
  end
  t:fail("errors of " .. #errors .. " kinds", "a Terminate", describe(got))
end

-- Sends an error that the device terminates, and takes the Terminate, which is returned: for checks that need one,
-- whichever it is. options: message, within, next (nothing may come before it).
function Connection:draw_terminate(options)
  local o, t, got = options or {}, self.t, nil
  t:need("terminate")
  local what, frame = table.unpack(errors[t.services and t.services.error or 1])
  local passed = {}
  self:send(frame())
  repeat
    passed[#passed + 1] = got
    got = self:receive(o.within)
  until got.kind ~= "segment" or got.Opcode == 7 or o.next
  if is_terminate(got) then return got end
  self:judge_close(got)
  t:fail(o.message or what, "a Terminate", self:instead(passed, got))
end
