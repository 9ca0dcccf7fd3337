-- SPDX-License-Identifier: BSD-2-Clause
--
-- The test object `t` that a check's run function gets, and the sandwich around it (docs/writing-checks.md).

Test = {}
Test.__index = Test

local Upper = {}

harness = {}

local own, connections = harness, Connection -- a script may take the names away

-- A device may try again by itself what a check before this one has ended (RFC 6581 10): nothing listens there any more.
-- A check has its ports by its name, the same in every run; few have those of another one.
local PORTS, PLACES, PORTS_EACH = 7000, 599, 64

local function ports_of(id, role)
  local place = 0
  for _, octet in ipairs { (id .. role):byte(1, -1) } do place = (place * 31 + octet) % PLACES end
  return PORTS + place * PORTS_EACH
end

-- `id`: the one of the check's ids that this run of it decides.
function harness.test(role, id)
  local reaction, quiet_time, round_trip = rig.limits()
  local t = setmetatable({ role = role, id = id, reaction = reaction, quiet = quiet_time, round_trip = round_trip,
                           port = ports_of(id, role), llp = rig.llp(), ended_by_ulp = {}, rests = {}, connections = {}, posted_reads = {}, posted_writes = {}, recent = {} }, Test)
  t.dut = setmetatable({ t = t }, Upper)
  t.services = rig.services()
  t.reaction, t.quiet = t:patient(reaction, quiet_time)
  describe_over(t.llp)
  -- more octets than the device's TCP or SCTP takes while the tester's window is shut
  local held = rig.send_buffer()
  t.large = held + math.max(held // 4, 1 << 18)
  connections.tags_free = not t:copies_tag()
  return t
end

--------------------------------------------------------------------------------------------------------------------
-- Verdicts. Each ends the check.

local function decide(verdict, message, expected, actual, reading, t)
  error({ verdict = verdict, message = message, expected = expected, actual = actual, reading = reading,
          cause = t and t.cause, hint = t and t.hint }, 0)
end

-- What follows from an exchange that the device does not serve is reported once, and is no fault of what is judged here.
function Test:fail(message, expected, actual)
  self:judge_silence(expected)
  self:judge_exchanges()
  self:suspect_observation(expected, actual, message)
  self:point_at(message, expected, actual)
  decide("FAIL", message, expected, actual, nil, self)
end
function Test:warn(message, expected, actual)
  self:judge_silence(expected)
  self:judge_ulp_limits()
  self:suspect_observation(expected, actual, message)
  self:point_at(message, expected, actual)
  decide("WARN", message, expected, actual, nil, self)
end
function Test:ambiguous(reading) decide(self:guarded("AMBIGUOUS"), nil, nil, nil, reading) end
function Test:skip(reason) decide("SKIP", reason) end
function Test:inconclusive(reason)
  self:judge_silence(reason)
  decide("INCONCLUSIVE", reason, nil, nil, nil, self)
end

-- RFC 5040 6.2.1: a Terminate is a SHOULD for errors of DDP and MPA.
function Test:terminate_missing(expected, actual)
  self:warn("the stream ended without the Terminate that RFC 5040 6.2.1 asks for", expected, actual)
end

function Test:note(text) rig.note(text) end

-- Ends with FAIL unless both are equal.
function Test:equal(what, expected, actual)
  if expected ~= actual then
    self:fail(what, tostring(expected), tostring(actual))
  end
end

--------------------------------------------------------------------------------------------------------------------
-- The upper tester: t.dut:verb { ... } gives the answer; an error answer makes the check INCONCLUSIVE

-- The answer, whatever it is; SKIP without an upper tester.
function Test:command(verb, arguments)
  if not rig.has_upper_tester() then
    self:skip("this check needs the device's upper tester (profile: \"control\")")
  end
  local request = copy_fields(arguments)
  request.verb = verb
  local number = function(v) return math.tointeger(tonumber(v)) end
  if verb == "read" then -- as numbers: what the device's Read Request should hold
    self.posted_reads[#self.posted_reads + 1] = {
      SinkSTag = number(request.sink_stag), SinkTO = number(request.sink_to), RDMARDSZ = number(request.length),
      SrcSTag = number(request.source_stag), SrcTO = number(request.source_to),
    }
  elseif verb == "write" then
    local data = type(request.data) == "table" and table.concat(request.data) or request.data
    self.posted_writes[#self.posted_writes + 1] = {
      STag = number(request.stag), TO = number(request.to or 0), octets = data and #data // 2 or number(request.length or 0),
    }
  elseif verb == "reset" then self.fenced_memory, self.memories = nil, nil end -- which the device drops
  return rig.command(request)
end

function Upper:__index(verb)
  return function(self, arguments)
    local t = rawget(self, "t")
    local answer = t:post(verb, arguments)
    if verb == "send" then t:rests_on("send from") end
    if verb == "disconnect" and arguments.stream then t.ended_by_ulp[arguments.stream] = true end
    if answer.unsupported then
      t:skip("the device cannot be asked to " .. verb .. " so: " .. tostring(answer.error))
    end
    if not answer.ok and t:refused_by_end(verb, arguments, answer) then return answer end
    if not answer.ok then
      t:inconclusive("the upper tester could not " .. verb .. ": " .. tostring(answer.error))
    end
    return answer
  end
end

-- Work that a ULP posts, whose answer says nothing more.
local posts = { send = true, write = true, read = true, atomic = true, immediate = true, post_recv = true }

-- An upper tester need not take work for a stream whose start-up is not over yet, and the tester's Reply may be on its
-- way: a command that it refused is sent again when it reports "established". False: that was reported before, or does not
-- come.
function Test:comes_up(verb, arguments)
  local stream = arguments and arguments.stream
  if not posts[verb] or not stream or not rig.has_upper_tester() or not self:reports_event("established") then return false end
  self.up = self.up or {}
  local deadline = rig.now() + self.reaction
  local wait = self:waits(deadline)
  if self.up[stream] then return false end
  repeat
    self:gather_events()
    if self.up[stream] then return true end
    for _, c in ipairs(self.connections) do
      if c.stream == stream and c:ended_by_device() then return false end
    end
    wait()
  until rig.now() >= deadline
  return false
end

-- The answer to a command, whatever it is; to work that is posted, when the stream has come up or does not.
function Test:post(verb, arguments)
  local answer = self:command(verb, arguments)
  if not answer.ok and not answer.unsupported and self:comes_up(verb, arguments) then answer = self:command(verb, arguments) end
  return answer
end

-- Work that is refused because the device has ended the stream is no fault of the environment. The check goes on, and
-- meets on the wire what ended the stream; it cannot pass any more.
function Test:refused_by_end(verb, arguments, answer)
  if not posts[verb] then return false end
  for _, c in ipairs(self.connections) do
    if c.stream ~= nil and c.stream == arguments.stream then
      local how = c:ended_by_device()
      if how then
        self.refused = "the device ended the stream (" .. how .. ") before its ULP could " .. verb .. ": " .. tostring(answer.error)
        self:note(self.refused)
        return true
      end
    end
  end
  return false
end

-- Asks for something that a device need not have: an instrument (docs/upper-tester.md), or an option of listen and
-- connect. SKIP when it is refused; the answer as a table.
function Test:instrument(verb, arguments)
  local answer = self:command(verb, arguments)
  if not answer.ok then self:skip("the device has no such instrument: " .. tostring(answer.error)) end
  return answer
end

-- A function that waits between two polls: a round trip first, then longer and longer, never beyond the deadline.
function Test:waits(deadline)
  local pause = math.max(self.round_trip, 0.0001)
  return function()
    rig.wait(math.min(pause, math.max(0, deadline - rig.now())))
    pause = math.min(pause * 2, self.reaction / 50)
  end
end

-- Does the upper tester report such events? One that says nothing of its events reports all but "half_closed", which
-- many interfaces do not know.
function Test:reports_event(kind)
  local events = self:traits().events
  if events == nil then return kind ~= "half_closed" end
  for _, event in ipairs(events) do
    if event == kind then return true end
  end
  return false
end

-- SKIP where it does not: that the event does not come says nothing then.
function Test:need_event(kind)
  if not self:reports_event(kind) then
    self:skip("the device's upper tester does not tell of the event \"" .. kind .. "\"")
  end
end

-- Appends the events that the device has to tell. Work that ended in another error than a flush is completed in error
-- all the same (RFC 5040 5.5 names no statuses): its event counts as "flushed", and keeps its text.
function Test:gather_events(answer)
  answer = answer or self.dut:poll()
  self.events, self.up = self.events or {}, self.up or {}
  for _, event in ipairs(answer.events or {}) do
    if event.event == "error" and event.work and event.id then event.event = "flushed" end
    if event.event == "established" then self.up[event.stream] = true end
    self.events[#self.events + 1] = event
  end
end

-- A member of an event, or of a delivery, that the ULP has to receive: an upper tester may not know it, which says
-- nothing of the device: SKIP.
function Test:event_member(event, member)
  if event == nil then return nil end
  if event[member] == nil then
    self:skip(string.format("the device's upper tester does not tell \"%s\" of the event \"%s\"", member, event.event or "receive"))
  end
  return event[member]
end

-- Polls the device until an event of this kind has come (other conditions: fields of `match`); nil when the time is up.
-- With `keep` it is there for others, too. SKIP where the upper tester does not tell of such events.
function Test:await_event(kind, match, seconds, keep)
  -- Above verbs the ULP learns that the stream has ended, or that it is in error, and by no API why.
  local ended = (kind == "terminate_received" or kind == "error") and self:traits().terminate_events == false
  if not ended then self:need_event(kind) elseif not self:reports_event("error") then self:need_event("closed") end
  local deadline = rig.now() + (seconds or self.reaction)
  local wait = self:waits(deadline)
  self.events = self.events or {}
  while true do
    for i, event in ipairs(self.events) do
      local good = event.event == kind or ended and (event.event == "error" or event.event == "closed")
      for k, v in pairs(match or {}) do good = good and event[k] == v end
      if good then
        if not keep then table.remove(self.events, i) end
        return event
      end
    end
    if rig.now() >= deadline then return nil end
    self:gather_events()
    wait()
  end
end

-- The latest event "accepted" that may be about the connection, and that no other one has taken; nil without.
local function accepted_of(t, c)
  local is_reported, events = c:teller(), t.events or {}
  for i = #events, 1, -1 do
    if events[i].event == "accepted" and not events[i].taken and is_reported(events, i) then return events[i] end
  end
end

-- The device's number for a connection where it is known by now; nil where it is not, or where nobody can be asked.
function Test:stream_if_known(c)
  if c.stream or not rig.has_upper_tester() then return c.stream end
  local event = accepted_of(self, c)
  return event and event.stream
end

--------------------------------------------------------------------------------------------------------------------
-- Connections

-- TCP only: the tester is the active side, nothing is sent yet. options: port, mss, iss, window, sack (SACK-permitted
-- is offered).
function Test:connect(options)
  self:only_over_tcp("t:connect")
  self:give_way()
  local tcp, why = rig.connect(options or {})
  if not tcp then self:inconclusive("no TCP connection to the device: " .. why) end
  local c = new_connection(self, tcp, true)
  c.configured = options ~= nil and options.port ~= nil
  if options and options.first then c.stimulus_at = 0 end
  if not (options and options.first) then
    c:settle()
    local state = tcp:status().input
    if state ~= "open" then
      self:inconclusive("the device ended the connection (" .. (state == "fin" and "FIN" or "RST") ..
                        ") before anything was sent to it")
    end
  end
  return c
end

function Test:over_ipv6() return (rig.addresses()):find(":", 1, true) ~= nil end

-- The device opens a connection to the tester (role initiator). options.dut: configuration of its connect verb;
-- options.mss, options.iss, options.sack: of our side. options.withheld: nothing is acknowledged until c.tcp:ack.
-- options.special: it may not know what options.dut asks for: SKIP. The Request is not read yet.
function Test:accept(options)
  options = options or {}
  self:only_over_tcp("t:accept")
  local own = rig.addresses()
  self.port = self.port + 1
  rig.listen(self.port, { mss = options.mss, iss = options.iss, withheld = options.withheld, sack = options.sack })
  if self:is_started() then return self:accept_started(options) end
  self:need_limits(options.dut)
  local request = copy_fields(options.dut)
  request.address, request.port = own, self.port
  local answer = options.special and self:instrument("connect", request) or self.dut:connect(request)
  local tcp = rig.accept(self.port, self.reaction)
  if not tcp then self:inconclusive("the device did not open a TCP connection to the tester") end
  local c = new_connection(self, tcp, false)
  c.stream = answer.stream
  return c
end

-- Is the device an initiator without an upper tester, which the profile's connect_command starts? It connects as it
-- likes.
function Test:is_started()
  return self.role == "initiator" and not rig.has_upper_tester() and rig.has_connect_command()
end

-- What a program may take to start and to connect.
local STARTED_SECONDS = 10

-- A connection of such an initiator, which is started for it. A check that asks the device for something is skipped.
function Test:accept_started(options)
  for name, value in pairs(options.dut or {}) do
    if not (name == "rev" and value == nil) then
      self:skip("connect_command starts the initiator as it is: nobody can ask it for " .. name .. " = " .. tostring(value))
    end
  end
  for _, c in ipairs(self.connections) do c.superseded = true end -- its program ends before the next one starts
  rig.start_initiator(self.port)
  local tcp = rig.accept(self.port, math.max(self.reaction, STARTED_SECONDS))
  if not tcp then self:inconclusive("the initiator that connect_command started did not open a TCP connection to the tester") end
  rig.initiator_connected()
  return new_connection(self, tcp, false)
end

-- The Rev of the device's Requests if a check sets none: 1; nil (any): connect_command starts it, or its `rev` does not list 1.
function Test:plain_rev()
  if self:is_started() then return nil end
  if self.rev == nil then
    self.rev = 1
    local list = self.dut:capabilities().rev
    if list and #list > 0 then
      self.rev = false
      for _, rev in ipairs(list) do self.rev = rev == 1 and 1 or self.rev end
    end
  end
  return self.rev or nil
end

-- What the upper tester says of the device, asked once a check; {} without one.
function Test:traits()
  if self.known_traits == nil then self.known_traits = rig.has_upper_tester() and self.dut:capabilities() or {} end
  return self.known_traits
end

-- Is the device known to lay Terminates out in a little-endian host's order?
function Test:terminates_swapped() return self:traits().terminate_swapped == true end

-- Is DDP carried by SCTP in this run?
function Test:over_sctp() return self.llp ~= "tcp" end

-- A script error over SCTP: the check says llp = "any" and asks for something of MPA or TCP.
function Test:only_over_tcp(what)
  if self:over_sctp() then error(what .. " is of MPA over TCP: a check with llp = \"any\" cannot use it", 3) end
end

-- A listener of the device with this configuration: returns its port. With `special` a device that does not know what
-- is asked for is no failure: SKIP.
function Test:listen(config, special)
  self:need_limits(config)
  return (special and self:instrument("listen", config) or self.dut:listen(config)).port
end

-- A stream in full operation, whatever the role. options:
--   request / reply   fields of the tester's start-up frame
--   dut               configuration of the device (listen or connect verb): needs the upper tester
--   mss, iss, window, sack  of TCP
-- The default is Rev 1 without Markers, with CRC. In role initiator the device's first FPDU (a Send of 4 octets that
-- is asked of it) has been taken when this returns.
-- Over SCTP it is a session on a stream of its own association (9-streams.lua), which has no request, reply, mss, iss,
-- window and sack.
function Test:open(options)
  options = options or {}
  if self:over_sctp() then return self:open_over_sctp(options) end
  if self.role == "responder" then
    local port = options.port
    if options.dut then port = self:listen(options.dut) end
    local c = self:connect { port = port, mss = options.mss, iss = options.iss, window = options.window, sack = options.sack }
    c.pd, c.dut = options.dut and options.dut.pd, options.dut
    c:start_as_initiator(options.request)
    return c
  end
  local dut = copy_fields(options.dut)
  if dut.rev == nil then dut.rev = self:plain_rev() end
  local c = self:accept { dut = dut, mss = options.mss, iss = options.iss, sack = options.sack }
  c.pd, c.dut = dut.pd, dut
  c:start_as_responder(options.reply)
  if self:is_started() then
    c:expect_segment("the device's first FPDU after start-up", "what the ULP of the initiator sends first")
  else
    c:ask_first_send()
    c:expect(rdmap.send {}, { message = "the device's first Send after start-up" })
  end
  return c
end

-- The device's number for this connection (its own connections know it; for those it accepted it is asked). An event
-- that does not name our port is recognised by the listener's: the latest one is meant, so that a connection on which nothing
-- has been exchanged yet should be one to a listener of its own.
function Test:stream_of(c)
  if c.stream then return c.stream end
  self:need_event("accepted")
  local deadline = rig.now() + self.reaction
  local wait = self:waits(deadline)
  repeat
    self:gather_events()
    local event = accepted_of(self, c)
    if event then
      event.taken = true
      c.stream = event.stream
      return c.stream
    end
    wait()
  until rig.now() >= deadline
  if c:ended_by_device() then
    local got = c:receive(0)
    if fits(tcp.closed(), got) then
      self:fail("the device's ULP should know of the connection", "a connection that the device reports", describe(got))
    end
  end
  self:inconclusive("the device does not report the connection that it accepted")
end

--------------------------------------------------------------------------------------------------------------------
-- The sandwich

function harness.before(t, check)
  rig.note("good exchange before")
  own.exchange(t, check)
  rig.note(t.id .. ": " .. check.purpose)
end

function harness.run(t, check)
  t.rests, t.judges, t.refused, t.memories = {}, check.judges, nil, {}
  local decision = check.run(t)
  if t.refused and decision == nil then t:inconclusive(t.refused) end
  return t:guarded(decision)
end

function harness.after(t, check)
  t.judges, t.connections = nil, {} -- those of the check are closed by now
  rig.note("good exchange after")
  own.exchange(t, check)
end

-- The names that a script may have meant: methods of what a check holds, globals, or members of the library's tables.
local function names_like(kind)
  local names, from = {}, {}
  if kind == "method" then
    from = { Test, Connection, Upper }
  elseif kind == "global" then
    from = { _ENV }
  else
    for _, value in next, _ENV do if type(value) == "table" then from[#from + 1] = value end end
  end
  for _, members in ipairs(from) do
    for name in next, members do if type(name) == "string" then names[#names + 1] = name end end
  end
  table.sort(names)
  return names
end

-- "attempt to call a nil value (method 'conect'), did you mean "connect"?"
local function suggest(why)
  local kind, name = why:match("nil value %((%a+) '([%w_]+)'%)")
  return name and why .. wire.nearest(name, names_like(kind)) or why
end

-- A stage stopped at a value that is not there. Where a message of the device ends within its header, or has the header
-- of the other model, a field of its header is what is missing, and no fault of the script: FAIL. Returns the error,
-- perhaps with what was meant, where it is the script's own.
function harness.stopped(t, why)
  local missing = why:find("%f[%a]nil%f[%A]") or why:find("no value", 1, true) or why:find("too short", 1, true) or
                  why:find("out of string", 1, true)
  local lacking = t.lacking
  if not lacking or not missing then return suggest(why) end
  local cut, field = lacking.cut, why:match("%(field '(%a+)'%)")
  local due = cut and string.format("the %s: %d octets", cut.what, cut.due) or
              (lacking.T == 1 and "an untagged" or "a tagged") .. " DDP header"
  t:fail("a message has its whole header", due .. (field and field ~= "data" and ", with " .. field or ""), describe(lacking))
end
