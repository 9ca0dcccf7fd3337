-- SPDX-License-Identifier: BSD-2-Clause
--
-- Two reference stacks that talk over a simulated wire: what is captured is what they do. Each obeys the upper tester's
-- verbs (docs/upper-tester.md), and may have defects of reference-stack/defects/defects.tsv.

local Stacks, Side = {}, {}
Stacks.__index, Side.__index = Stacks, Side

local MEMBERS <const> = { "initiator", "responder", "ipv6", "port", "loss", "duplicate", "reorder", "latency" }
local STEP_NS <const>, LIMIT <const> = 100000, 30

-- A list of options for `listen` or `connect`, without what is not theirs.
local function options_of(given)
  local out = {}
  for name, value in pairs(given or {}) do
    if name ~= "defects" then out[name] = value end
  end
  return out
end

-- stacks { ipv6 =, port =, loss =, duplicate =, reorder =, latency =, initiator = { options of connect, defects = { ids
-- } }, responder = { options of listen, defects = { ids } } }
function stacks(given)
  given = given or {}
  only(given, "stacks", MEMBERS)
  local s = setmetatable({ given = given, port = given.port or 7174 }, Stacks)
  s.world = gen.stacks {
    loss = given.loss, duplicate = given.duplicate, reorder = given.reorder,
    latency_ns = given.latency and gen.nanoseconds(given.latency),
    initiator = given.initiator and given.initiator.defects, responder = given.responder and given.responder.defects,
  }
  for number, role in pairs { [0] = "initiator", "responder" } do
    s[role] = setmetatable({ stacks = s, number = number, role = role, options = options_of(given[role]), waiting = {} }, Side)
  end
  return s
end

-- The world goes on for so many seconds.
function Stacks:run(seconds)
  self.world:run(gen.nanoseconds(seconds))
end

-- No more of these stacks: what they hold is free.
function Stacks:close() self.world:close() end

-- A verb of the upper tester's with its members; verbs about a stream are about this side's (side.stream). Returns the
-- answer. One that the stack refuses is an error of the script, unless `members.refused` says that it should be.
function Side:verb(name, members)
  local request, refused = { verb = name }, false
  for member, value in pairs(members or {}) do
    if member == "refused" then refused = value else request[member] = value end
  end
  local answer = self.stacks.world:command(self.number, request)
  if not answer.ok and not refused then
    error("the " .. self.role .. " refuses " .. name .. ": " .. tostring(answer.error), 2)
  end
  return answer
end

local of_stream = { "post_recv", "send", "write", "read", "atomic", "immediate", "terminate", "disconnect", "abort", "status",
                    "accept", "reject" }
for _, verb in ipairs(of_stream) do
  Side[verb] = function(self, members)
    local given = { stream = self.stream }
    for member, value in pairs(members or {}) do given[member] = value end
    return self:verb(verb, given)
  end
end

-- Memory that peers may reach: { length =, access =, fill =, data =, ... }; the answer has stag and base.
function Side:reg_mr(members) return self:verb("reg_mr", members) end

local function fits_event(event, kind, want)
  if event.event ~= kind then return false end
  for name, value in pairs(want or {}) do
    if event[name] ~= value then return false end
  end
  return true
end

function Side:poll()
  for _, event in ipairs(self:verb("poll").events) do self.waiting[#self.waiting + 1] = event end
end

-- The next such event of this side (`want`: members that it has); the world goes on until it comes, at most `seconds`
-- (30).
function Side:await(kind, want, seconds)
  local left = gen.nanoseconds(seconds or LIMIT)
  local step = STEP_NS
  while true do
    self:poll()
    for i, event in ipairs(self.waiting) do
      if fits_event(event, kind, want) then
        table.remove(self.waiting, i)
        return event
      end
    end
    if left <= 0 then
      local seen = {}
      for i, event in ipairs(self.waiting) do seen[i] = event.event .. (event.text and " (" .. event.text .. ")" or "") end
      error("the " .. self.role .. " has no event " .. kind .. "; it has: " .. table.concat(seen, ", "), 2)
    end
    self.stacks.world:run(math.min(step, left))
    left = left - step
    step = math.min(step + step // 8, 50000000)
  end
end

-- Has such an event come? Time does not pass.
function Side:had(kind, want)
  self:poll()
  for _, event in ipairs(self.waiting) do
    if fits_event(event, kind, want) then return event end
  end
  return nil
end

-- The number of the nth packet with payload that this side has sent since `after` (a number of gen's, such as
-- s:mark()).
function Side:carried(after, nth)
  local frame = self.stacks.world:carried(self.number, after, nth or 1)
  if not frame then error("the " .. self.role .. " has sent no such packet", 2) end
  return frame
end

-- The number of the last packet so far.
function Stacks:mark() return gen.frames() end

-- The responder listens, the initiator connects, and both are in full operation unless `until_event` is another event
-- that the initiator has then ("rejected", "connect_failed", "error"; false: nothing is waited for).
function Stacks:connect(until_event)
  local listen = { port = self.port }
  for name, value in pairs(self.responder.options) do listen[name] = value end
  self.responder:verb("listen", listen)
  local connect = { address = self.given.ipv6 and "fd77::2" or "10.77.0.2", port = self.port }
  for name, value in pairs(self.initiator.options) do connect[name] = value end
  self.initiator.stream = self.initiator:verb("connect", connect).stream
  self.responder.stream = self.responder:await("accepted").stream
  if until_event == false then return end
  self.initiator:await(until_event or "established")
  if until_event == nil then self.responder:await("established") end
end

-- An orderly end: the initiator's ULP closes, then all is over on both sides.
function Stacks:finish()
  self.initiator:disconnect()
  self.initiator:await("closed")
  self.responder:await("closed")
end

-- A read answered, a Send delivered, and so on, by the event that says so.
function Side:sent(members)
  self:send(members)
  return self.stacks[self.role == "initiator" and "responder" or "initiator"]:await("receive")
end
