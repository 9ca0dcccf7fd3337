-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1 and 7.1.5: MPA starts on a connection that has carried streaming messages. The opener of the connection
-- says HELLO, the other side answers LAST, and then the Request comes.

defaults { sandwich = "tcp" }

local HELLO, LAST = "a hello of the ULP", "the last streaming message"

local function hear(c, wanted, what)
  local octets, state = c:peek(#wanted)
  if octets:sub(1, #wanted) ~= wanted then
    c.t:fail(what, "the octets of the streaming message", #octets .. " octets: " .. hex(octets:sub(1, 32)) .. ", " .. state)
  end
  c.tcp:consume(#wanted)
end

-- The messages are exchanged; an initiator's Request is not taken yet. `held`: nothing is acknowledged, from the
-- beginning on; a device's hello is what MPA finds unacknowledged.
local function stream_first(t, dut, held)
  local own = copy_fields(dut)
  local c
  if t.role == "responder" then
    own.streaming, own.streaming_octets = hex(LAST), #HELLO
    c = t:connect { port = t:listen(own, true) }
    if held then c.tcp:ack("withheld") end
    c.tcp:send(HELLO)
    hear(c, LAST, "the last streaming message")
  else
    own.streaming, own.streaming_octets, own.rev = hex(HELLO), #LAST, t:plain_rev()
    c = t:accept { dut = own, special = true, withheld = held }
    hear(c, HELLO, "the opener's streaming message")
    c.tcp:send(LAST)
  end
  return c
end

-- The tester's start-up frame; as responder it answers the Request, which is taken here.
local function frame_of(t, c, given)
  if t.role == "initiator" then
    c.request = c:expect(mpa.request {}, { message = "the Request follows the last streaming message" })
    t.request = c.request
  end
  return t:start_frame(given)
end

check {
  id = "MPA-7.1-04",
  role = "both",
  purpose = "MPA starts after streaming messages, and Markers count from the end of the start-up frames",
  run = function(t)
    local c = stream_first(t, { markers = true })
    local frame = frame_of(t, c, { M = 1 })
    c:send(frame)
    c:expect_operation(frame, "start-up after streaming messages")
    for i = 1, 3 do
      c:send(rdmap.send { data = pattern(700, i) })
      c:probe { message = "FPDUs with Markers after streaming messages" }
    end
    t:expect_deliveries(c, { pattern(700, 1), pattern(700, 2), pattern(700, 3) }, "Sends with Markers")
  end,
}

check {
  id = "MPA-7.1.5-04",
  role = "both",
  purpose = "TCP repairs what is lost while MPA takes over: octets of before and after are repeated until acknowledged",
  run = function(t)
    local c = stream_first(t, {}, true)
    local frame, before, reply
    if t.role == "initiator" then
      frame = frame_of(t, c, {})
    else
      frame = t:start_frame {}
      c:send(frame)
      reply = c:expect(mpa.reply { R = 0 }, { message = "a Request after streaming messages" })
    end
    before = c.tcp:status()
    local deadline = rig.now() + t.reaction
    repeat rig.wait(0.02) until c.tcp:status().duplicates > before.duplicates or rig.now() > deadline
    if c.tcp:status().duplicates == before.duplicates then
      t:fail("octets that are not acknowledged", "their repetition by TCP", "nothing")
    end
    t:equal("octets received after the repetition", before.octets_received, c.tcp:status().octets_received)
    -- The tester repeats its own last segment of before, which TCP discards.
    local again = t.role == "initiator" and LAST or frame:octets()
    c.tcp:raw { offset = -#again, octets = again }
    c.tcp:ack("each")
    c.tcp:ack("now")
    if t.role == "initiator" then
      c:send(frame)
      c:agree(frame, c.request)
      c:settle()
    else
      c:agree(frame, reply)
    end
    -- The first FPDU is lost, and comes after the second.
    local messages, first = t:empty_messages(2)
    local pieces = {}
    for i, message in ipairs(messages) do pieces[i] = c:octets(message) end
    c:send_segments(pieces, { 2 })
    for i = first, #messages do
      c:expect(rdmap.read_response { STag = i }, { message = "FPDUs, the first of which was lost once" })
    end
  end,
}

check {
  id = "MPA-7.1.5-05",
  role = "both",
  purpose = "no octet is lost while MPA takes over: a start-up frame in the segment that acknowledges the last message",
  run = function(t)
    local c = stream_first(t, {}, t.role == "responder")
    local frame = frame_of(t, c, { private_data = "at once" })
    c.tcp:ack("each")
    c.at_once = true
    c:send(frame)
    c:expect_operation(frame, "a start-up frame at once")
  end,
}

-- The tester's message in two halves: nothing may come between them.
local function in_halves(t, c, message)
  c.tcp:send(message:sub(1, 7))
  local octets, state = c:peek(1, math.min(t.quiet, 1))
  if #octets > 0 or state ~= "timeout" then
    t:fail("before the peer's last streaming message is complete", "nothing", hex(octets:sub(1, 32)) .. " " .. state)
  end
  c.tcp:send(message:sub(8))
end

check {
  id = "MPA-7.1.5-01",
  role = "both",
  purpose = "MPA takes over when no streaming octet is to come any more: the last message came in two halves",
  run = function(t)
    local c, message
    if t.role == "responder" then
      c = t:connect { port = t:listen({ streaming = hex(LAST), streaming_octets = #HELLO }, true) }
      message = HELLO
      in_halves(t, c, message)
      hear(c, LAST, "the last streaming message")
    else
      c = t:accept { dut = { streaming = hex(HELLO), streaming_octets = #LAST, rev = t:plain_rev() }, special = true }
      message = LAST
      hear(c, HELLO, "the opener's streaming message")
      in_halves(t, c, message)
    end
    local frame = frame_of(t, c, {})
    c:send(frame)
    c:expect_operation(frame, "start-up after a streaming message in two halves")
    local event = t:await_event("streaming", { stream = t:stream_of(c) })
    if not event then t:fail("the streaming message", "it is told to the ULP", "nothing") end
    t:equal("the streaming message, whole", hex(message), t:event_member(event, "data"))
    if event.unread then t:equal("octets of it unread when MPA took over", 0, event.unread) end
  end,
}
