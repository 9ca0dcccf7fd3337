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
-- which one drew one, or that over the draft each of them aborted its stream in silence.
own.exchanges["terminate"] = function(t)
  local silent, got = t:is_draft(), nil
  for i, case in ipairs(errors) do
    local c = t:open()
    c:send(case[2]())
    got = c:receive()
    silent = silent and got.kind == "timeout" and c:shows_abort()
    t.asked_at = nil -- what comes later is no slow answer to this
    c:close()
    if is_terminate(got) then
      if t.learns then t.learns.error = i end
      return
    end
  end
  if t.learns then t.learns.aborts_silently = silent or nil end
  t:fail("errors of " .. #errors .. " kinds", "a Terminate", describe(got))
end

--------------------------------------------------------------------------------------------------------------------
-- Streams that are aborted in silence

-- In the draft's aborted state new messages of the ULP "MUST NOT be accepted". Whether RDMAP's Terminate is one of them
-- has two readings (SCTP-7.2-15). By reading A an error of any kind ends the stream without it.
local SILENT <const> = "A: nothing is sent in aborted state, no RDMAP Terminate either (SCTP-7.2-15)"

-- Does the device follow that reading? It is one where no error draws a Terminate: a device that sends some of them
-- owes the others. A run learns it once for each role (harness.learn); a check of which nothing was learned asks when
-- it matters. A session of `explore` has its own words for silence.
function Test:aborts_silently()
  if not self:is_draft() or self.learns or self.followed then return false end
  if self.services then return self.services.aborts_silently == true end
  if self.silent == nil then
    local learns, t = {}, own.test(self.role, "served")
    t.learns, t.version_learned = learns, self.draft_version or 1
    pcall(own.exchanges["terminate"], t)
    for _, c in ipairs(t.connections) do pcall(c.close, c) end
    self.silent = learns.aborts_silently == true
  end
  return self.silent
end

-- AMBIGUOUS where a Terminate is missing that such a device does not send. What else is expected of it is judged.
function Test:judge_silence(expected)
  if not tostring(expected):find("Terminate") then return end
  for _, c in ipairs(self.connections) do
    if rawget(c, "aborted") then self:ambiguous(SILENT) end
  end
end

-- The same for a check that needs a Terminate, whichever it is.
function Test:need_terminate()
  if not self:serves("terminate") and self:aborts_silently() then self:ambiguous(SILENT) end
  self:need("terminate")
end

-- Sends an error that the device terminates, and takes the Terminate, which is returned: for checks that need one,
-- whichever it is. options: message, within, next (nothing may come before it).
function Connection:draw_terminate(options)
  local o, t, got = options or {}, self.t, nil
  t:need_terminate()
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
