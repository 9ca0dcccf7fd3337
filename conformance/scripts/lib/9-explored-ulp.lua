-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the device's ULP does in a session that `warpcheck explore` makes, beside its work: it gives memory up, asks for what its
-- own side has to refuse, and learns how a stream begins and ends, what was delivered and what is done.

local Session = harness.session
local steps = Session.steps

local TERMINATE = 0x7

-- Memory that has no STag any more is gone; where the STag alone is invalid it can still be looked at.
function Session:revoke(number, how)
  local m = self.regions[number]
  self.t.dut[how](self.t.dut, { stag = m.STag })
  m.dead = how == "dereg"
end

steps["device revoke"] = function(self, step)
  self:settle()
  self:revoke(step.region, step.how)
end

-- The frames before the wrong one go out, and are placed; then the ULP gives the memory up. The frames that are left.
function Session:revoke_within(step, frames)
  local wrong, before, left = Session.wrong_place(frames, step.wrong), {}, {}
  for i, frame in ipairs(frames) do
    local list = i < wrong and before or left
    list[#list + 1] = frame
  end
  self:settle_all()
  self:send_unmarked(before, {})
  self.lower.await_taken(self)
  rig.wait(2 * self.t.round_trip)
  self:revoke(step.region, step.revoked)
  return left
end

--------------------------------------------------------------------------------------------------------------------
-- What its own side refuses

-- A Read whose sink is not there: it is refused, completed in error, or a Terminate goes out in its place (RFC 5040 7.1).
local function read_into(self, sink)
  local t, c = self.t, self.c
  if not t:try("read", { stream = self.stream, source_stag = 1, length = 16, sink_stag = sink.stag, sink_to = sink.to }) then return end
  local got = c:receive(t.quiet)
  if is_terminate(got) then
    self.over = true
  elseif got.kind ~= "timeout" then
    t:fail("a Read whose sink is not there", "nothing, or a Terminate", describe(got))
  elseif #t:collect_events(c, { flushed = true, error = true }, 1, t.quiet) == 0 then
    t:fail("a Read whose sink is not there", "refused, completed in error, or a Terminate", "taken, and nothing comes of it")
  end
end

local function refused(self, verb, arguments, what)
  if self.t:try(verb, arguments) then self.t:fail(what, "it is refused", "it is taken") end
end

local LONG = 1 << 32 -- octets: more than a message of DDP has (RFC 5041 5.2)

local foreign = {
  ["sink"] = function(self) read_into(self, { stag = UNKNOWN_STAG, to = 0 }) end,
  ["beyond"] = function(self)
    local m = self.regions[1]
    if m and not m.dead then read_into(self, { stag = m.STag, to = m.TO + m.octets - 1 }) end
  end,
  ["opcode"] = function(self) refused(self, "send", { stream = self.stream, data = hex("no Terminate"), opcode = TERMINATE }, "a Send with the opcode of a Terminate") end,
  ["long send"] = function(self) refused(self, "send", { stream = self.stream, length = LONG }, "a Send of 2^32 octets") end,
  ["long write"] = function(self) refused(self, "write", { stream = self.stream, stag = 1, length = LONG }, "a Write of 2^32 octets") end,
  ["hidden"] = function(self)
    refused(self, "reg_mr", { length = 64, access = { "local_read", "remote_read" }, mapping = "none" }, "addresses at which the ULP has no memory")
  end,
  ["read-only"] = function(self)
    refused(self, "reg_mr", { length = 64, access = { "local_read", "remote_write" }, mapping = "read_only" }, "memory that is mapped read-only, for remote write")
  end,
}

steps["device refuses"] = function(self, step)
  self:settle()
  foreign[step.what](self)
end

-- After the ULP's close no work is accepted (RFC 5041 6.2.1).
function Session:expect_work_refused()
  refused(self, "send", { stream = self.stream, data = "99" }, "a Send after the close")
end

--------------------------------------------------------------------------------------------------------------------
-- The device's half of a stream

local POSTED_AFTER_FIN = 2 -- Sends

-- The tester has closed its half. What the device's ULP posts then goes out, until it closes its own (RFC 5041 6.2.1).
function Session:close_halves()
  local t, c, what = self.t, self.c, "a Send that is posted after the peer has closed its half"
  c:fin()
  local reported = t:reports_event("half_closed") and t:await_event("half_closed", { stream = self.stream })
  if not reported then rig.wait(t.quiet / 2) end
  for i = 1, POSTED_AFTER_FIN do
    local data = Session.octets_of(3000, i)
    if not t:try("send", { stream = self.stream, data = hex(data) }) then t:warn(what, "it is taken", "it is refused") end
    self.incoming[#self.incoming + 1] = { opcode = 3, data = data, got = 0, InvalidateSTag = 0 }
  end
  while #self.incoming > 0 do
    local got = c:receive()
    if got.kind ~= "segment" then t:warn(what, "it comes whole", self.c:instead({}, got)) end
    self:take(got)
  end
  t.dut:disconnect { stream = self.stream }
  c:expect_second_half("the end of both halves")
end

--------------------------------------------------------------------------------------------------------------------
-- What it learns

-- The depths of the tester's word (RFC 6581 9.1).
function Session:expect_depths_reported(event)
  for field, due in pairs { peer_ird = self.word and self.word.IRD, peer_ord = self.word and self.word.ORD } do
    if event[field] ~= nil and event[field] ~= due then
      self.t:fail("the depths that the ULP is told of: " .. field, tostring(due), tostring(event[field]))
    end
  end
end

-- The loss of the connection is fatal to the stream, and the ULP knows (RFC 5041 6.2.2).
function Session:expect_loss_reported()
  local t = self.t
  if not t:reports_event("error") or not self.stream then return end
  if not t:await_event("error", { stream = self.stream }, nil, true) then t:fail("a RST: the ULP is told", "its event", "none") end
end

-- MULPDU is never below 128 (RFC 5044 3), where the device reports it.
function Session:expect_mulpdu()
  local answer = self.stream and self.t:command("status", { stream = self.stream }) or {}
  if answer.ok and answer.mulpdu and answer.mulpdu < 128 then
    self.t:fail("MULPDU", "128 or more", tostring(answer.mulpdu))
  end
end

--------------------------------------------------------------------------------------------------------------------
-- What the ULP receives of messages and of its own work

-- Deliveries, in the order of the Sends, with what the ULP gets with each.
function Session:check_deliveries()
  local wanted = {}
  for i, delivery in ipairs(self.delivered) do wanted[i] = delivery.data end
  local got = self.t:expect_deliveries(self.c, wanted, "what the device's ULP receives")
  for i, delivery in ipairs(self.delivered) do
    for _, field in ipairs { "opcode", "solicited", "invalidated" } do
      local due, reported = delivery[field], got[i][field]
      local free = field == "solicited" and delivery.opcode == 8 -- an event may be made of each (RFC 7306 6.1)
      if not free and reported ~= nil and (reported or nil) ~= (due or nil) then
        self.t:fail("what the ULP is told of delivery " .. i .. ": " .. field, tostring(due), tostring(reported))
      end
    end
  end
end

local done = { send_done = true, write_done = true, read_done = true, atomic_done = true, immediate_done = true, flushed = true }

-- The ULP of an atomic gets the value that the target had (RFC 7306 5.2.2).
function Session:check_value(event)
  local due = event.event == "atomic_done" and event.value ~= nil and self.values[math.tointeger(event.id)]
  if due and event.value ~= string.format("0x%016x", due) then
    self.t:fail("the original value of an atomic, at the device's ULP", string.format("0x%016x", due), tostring(event.value))
  end
end

-- Work completes in the order in which it was posted.
function Session:check_completions()
  local deadline = rig.now() + self.t.reaction
  local wait, reported = self.t:waits(deadline), nil
  repeat
    if reported then wait() end
    reported = {}
    for _, event in ipairs(self.t:events_of(self.c)) do
      self:check_value(event)
      if done[event.event] and event.id then reported[#reported + 1] = event.event .. " " .. math.tointeger(event.id) end
    end
  until #reported >= #self.completions or rig.now() >= deadline
  local due = {}
  for i, name in ipairs(self.completions) do due[i] = name .. " " .. i end
  if table.concat(reported, ", ") ~= table.concat(due, ", ") then
    self.t:fail("completions of what the device's ULP has posted", table.concat(due, ", "), table.concat(reported, ", "))
  end
end
