-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1, 7.1.4.2 and 7.1.5: where MPA begins, and TCP beneath it.

defaults { sandwich = "tcp" }

check {
  id = "MPA-7.1-02",
  role = "both",
  purpose = "MPA begins in both directions at once: from the start-up frames on there are FPDUs and nothing else",
  judges = { "reads", "framing" },
  run = function(t)
    local c = t:awaiting_start()
    local frame = t:start_frame {}
    c:send(frame)
    c:expect_operation(frame, "after its start-up frame the device sends FPDUs and nothing else")
    for _ = 1, 3 do c:probe() end
  end,
}

check {
  id = "MPA-7.1-03",
  role = "responder",
  purpose = "start-up may follow the TCP handshake directly: the Request is the first thing on the connection",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request {})
    c:expect(mpa.reply {}, { message = "a Request as the first octets of a connection is answered" })
  end,
}

-- The first FPDU of a connection was not executed, where later ones are: the good exchange before has shown that. No
-- other octets are sent to find out, as a reproducer sends what the check sent.
local function overlooked(why)
  if type(why) == "table" and why.verdict == "FAIL" and why.actual:find("^nothing") then
    why.cause, why.hint = "first-fpdu-overlooked", "the first FPDU of a connection is overlooked"
  end
  error(why, 0)
end

check {
  id = "MPA-7.1-06",
  role = "both",
  purpose = "full operation begins with a DDP endpoint in place: an FPDU that follows at once is executed, 100 times and more",
  judges = { "reads", "framing" },
  run = function(t)
    for _ in t:races(100) do
      local c = t:awaiting_start()
      local frame = t:start_frame {}
      c.at_once = true
      c:send(frame)
      local executed, why = pcall(c.expect_operation, c, frame, "the first FPDU of each of many connections is executed")
      if not executed then overlooked(why) end
      c.tcp:close()
    end
  end,
}

check {
  id = "MPA-7.1.4.2-01",
  role = "responder",
  purpose = "the third segment of the TCP handshake may carry the Request",
  run = function(t)
    local request = mpa.request { private_data = "with the ACK" }
    local c = t:connect { first = request:octets() }
    c:expect_operation(request, "a Request in the segment that completes the TCP handshake")
  end,
}

-- An unacknowledged Reply comes again; nothing new comes with it. Of one in many segments the rest waits for an ACK.
local function start_with_repeated_reply(t)
  local c = t:connect()
  local request = mpa.request { private_data = "in pieces of seven octets" }
  c.tcp:ack("withheld")
  c:send_in_pieces(request:octets(), 7)
  if c:peek(1) == "" then c:expect(mpa.reply { R = 0 }, { message = "a Request in pieces" }) end
  rig.wait(math.min(4 * t.round_trip, 0.05)) -- what TCP sends at once has come
  local before = c.tcp:status()
  local deadline = rig.now() + t.reaction
  repeat rig.wait(0.02) until c.tcp:status().duplicates > before.duplicates or rig.now() > deadline
  if c.tcp:status().duplicates == before.duplicates then
    t:fail("a Reply that is not acknowledged", "its repetition by TCP", "nothing")
  end
  t:equal("octets received after the Reply was repeated", before.octets_received, c.tcp:status().octets_received)
  c.tcp:ack("each")
  c.tcp:ack("now")
  c:agree(request, c:expect(mpa.reply { R = 0 }, { message = "a Request in pieces" }))
  return c
end

local function start_in_pieces(t, octets)
  local c = t:awaiting_start()
  local frame = t:start_frame { private_data = "in pieces of some octets" }
  c:send_in_pieces(frame:octets(), octets)
  c:expect_operation(frame, "a start-up frame in pieces of " .. octets)
  return c
end

-- TCP may deliver a part long before the rest: a device keeps it, and waits.
local function start_with_a_rest(t, octets)
  local c = t:awaiting_start()
  local frame = t:start_frame { private_data = "the rest of it comes later" }
  c:send_segments { frame:octets():sub(1, octets) }
  c:expect_quiet { message = octets .. " octets of a start-up frame, and not the rest" }
  c:send_segments { frame:octets():sub(octets + 1) }
  c:expect_operation(frame, "a start-up frame whose rest comes later")
  return c
end

check {
  id = "MPA-7.1.5-03",
  role = "both",
  purpose = "TCP's rules hold: start-up frames in pieces, a Reply that must be repeated, FPDUs out of order",
  run = function(t)
    -- in, before and after PD_Length
    for _, octets in ipairs { 1, 19, 21, 23 } do start_in_pieces(t, octets):finish() end
    -- in the Key, and in the Private Data behind the enhanced word
    for _, octets in ipairs { 7, 30 } do start_with_a_rest(t, octets):finish() end
    local c = t.role == "responder" and start_with_repeated_reply(t) or start_in_pieces(t, 7)
    local messages, first = t:empty_messages(3)
    local pieces = {}
    for i, message in ipairs(messages) do pieces[i] = c:octets(message) end
    c:send_segments(pieces, { 3, 2, 1 })
    for i = first, #messages do
      c:expect(rdmap.read_response { STag = i }, { message = "FPDUs in reversed segments are taken in their order" })
    end
  end,
}
