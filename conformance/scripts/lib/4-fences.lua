-- SPDX-License-Identifier: BSD-2-Clause
--
-- Fences: what shows that a stream is alive, and that all that was sent before has been processed. Any exchange will do
-- that the device serves: the answer to a Read, or the delivery of a Send.

local own = harness -- a script may take the name away

-- The STag that fences name as their sink.
PROBE_STAG = 0x50524f42

local RECEIVE_OCTETS = 4096 -- of a receive, where a check asks for no other (docs/upper-tester.md)

local fences = {}
harness.fences = fences

local words = { ["empty read"] = "the answer to a zero-length RDMA Read", ["read"] = "the answer to an RDMA Read of its memory",
                ["send to"] = "the delivery of a Send" }

-- Each makes the frame, and a function that knows its answer.
fences["empty read"] = function(t, _)
  return empty_read(PROBE_STAG), function(got)
    if #got.data ~= 0 then return false end
    return got.STag == PROBE_STAG or not t:copies_tag()
  end
end

fences["read"] = function(t, c)
  local domain = c.pd or 0
  t.fenced_memory = t.fenced_memory or {}
  t.fenced_memory[domain] = t.fenced_memory[domain] or
                            t:memory { octets = 64, data = "fence of", access = { "read" }, pd = c.pd }
  return t.fenced_memory[domain]:read(0, 8, { SinkSTag = PROBE_STAG }), function(got)
    return got.STag == PROBE_STAG and got.data == "fence of"
  end
end

--------------------------------------------------------------------------------------------------------------------
-- A Send, and its delivery

-- A receive for it, where what the check has asked for posts none again.
local function make_room(c)
  local dut = rawget(c, "dut") or {}
  if dut.repost ~= false and dut.receives ~= 0 then return end
  local posted = c.t:command("post_recv", { stream = c.t:stream_of(c), length = dut.receive_octets or RECEIVE_OCTETS, count = 1 })
  if not posted.ok then c.t:not_served("empty read") end
end

-- Sends it outside the numbering of the check: what comes after it has MSNs one higher than the check says
-- (Connection:ulpdu()).
local function send_message(c)
  make_room(c)
  c.t:stream_of(c)
  c.fences_sent = (rawget(c, "fences_sent") or 0) + 1
  local data, next_msn = "fence " .. c.fences_sent, c.msn[0]
  c:send_unmarked(rdmap.send { MSN = next_msn - 1, data = data })
  c.msn[0] = next_msn
  return data
end

-- Waits until the ULP has its event, or the device has ended the stream.
local function await_message(c, data, seconds)
  local t = c.t
  local deadline = rig.now() + seconds
  local wait = t:waits(deadline)
  repeat
    t:gather_events()
    for i, event in ipairs(t.events) do
      if event.event == "receive" and event.stream == c.stream and event.data == hex(data) then
        table.remove(t.events, i)
        return { kind = "fence" }
      end
    end
    if c:ended_by_device() then return c:receive(0) end
    wait()
  until rig.now() >= deadline
  return { kind = "timeout" }
end

--------------------------------------------------------------------------------------------------------------------
-- What checks call

-- Sends a Read as a fence, which is no stimulus: what came before it is judged. Returns a function that knows its
-- answer, and words for what is expected.
function Connection:send_fence()
  local name = self.t:need(self.t:preferred("empty read", "read"))
  local request, answers = fences[name](self.t, self)
  self:send_unmarked(request)
  return function(got) return got.kind == "segment" and got.Opcode == 2 and answers(got) end, words[name]
end

-- Nothing has come, and the device's TCP has not taken all that was sent before: some of it since this was asked last.
function Connection:_is_taken_slowly()
  if not rawget(self, "tcp") or self.tcp:unacknowledged() == 0 then return false end
  local taken, before = self.tcp:acknowledged(), rawget(self, "taken_before") or 0
  self.taken_before = taken
  return taken > before
end

-- The exchange that is the fence. The delivery of a Send shows nothing of what the device sends: a check that judges
-- its answers rests on no Send because they are wrong.
function Test:fence()
  for _, name in ipairs { self:preferred("empty read", "read") } do
    if self:judging(name) then return name end
  end
  return self:need(self:preferred("empty read", "read", "send to"))
end

-- Is the fence passed? Otherwise what came in its place, after the segments that were passed over (`over`: all but
-- Terminates are), and words for what is expected.
function Connection:pass_fence(seconds, over)
  local name, passed, got = self.t:fence(), {}, nil
  if name == "send to" then
    got = await_message(self, send_message(self), seconds or self.t.reaction)
    return got.kind == "fence", got, passed, words[name]
  end
  local answers = self:send_fence()
  repeat
    passed[#passed + 1] = got
    got = self:receive(seconds)
    local goes_on = got.kind == "timeout" and self:_is_taken_slowly()
  until not goes_on and (got.kind ~= "segment" or answers(got) or got.Opcode == 7 or not over)
  if #passed > 0 and passed[1].kind == "timeout" then passed = {} end
  return answers(got), got, passed, words[name]
end

-- The stream is alive and all that was sent before has been processed: FAIL if not.
function Connection:probe(options)
  options = options or {}
  local good, got, passed, expected = self:pass_fence(options.within, true)
  if good then return got end
  self.t.timed_out = nil -- the answer to a Read of the peer has no reason to wait for the device's own Reads
  self.t:fail(options.message or "the stream should be alive", expected, self:instead(passed, got))
end

-- Is an FPDU of the tester executed? True when a fence is passed; the other outcome as second value.
function Connection:alive(seconds)
  local good, got = self:pass_fence(seconds, false)
  return good, got
end
