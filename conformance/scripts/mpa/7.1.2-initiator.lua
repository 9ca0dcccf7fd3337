-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.2 rules 3 and 6: what an initiator does before and after the Reply.

defaults { sandwich = "startup" }

local QUEUED = "71756575656421" -- what the device's ULP wants to send from the start

-- The device has sent its Request, and its ULP has posted a Send. A device need not take one before the Reply: then it
-- is posted after that.
local function with_queued_send(t)
  local c = t:awaiting_start()
  local answer = t:command("send", { stream = c.stream, data = QUEUED })
  t:rests_on("send from")
  c.refused_send = not answer.ok
  if c.refused_send then t:note("the device takes no Send before the Reply: " .. tostring(answer.error)) end
  return c
end

local function post_refused(t, c)
  if c.refused_send then t.dut:send { stream = c.stream, data = QUEUED } end
end

local function expect_nothing(t, c, message)
  local octets, state = c:peek(1, t.quiet)
  if #octets > 0 then t:fail(message, "nothing", hex(octets)) end
  if state ~= "timeout" then t:fail(message, "nothing", state) end
end

local function expect_queued(t, c, message)
  post_refused(t, c)
  c:expect(rdmap.send { data = unhex(QUEUED) }, { message = message })
  c:probe()
end

check {
  id = "MPA-7.1.2-12",
  role = "initiator",
  purpose = "a queued Send waits for the Reply: neither FPDU nor Marker goes out before it",
  sandwich = "tcp",
  run = function(t)
    local c = with_queued_send(t)
    expect_nothing(t, c, "an initiator sends neither FPDU nor Marker before the Reply")
    local reply = t:start_frame { M = 1 }
    c:send(reply)
    c:agree(reply, c.request)
    expect_queued(t, c, "FPDUs are sent after the Reply")
  end,
}

check {
  id = "MPA-7.1.2-13",
  role = "initiator",
  purpose = "a Reply in segments of one octet, its Private Data in two: no FPDU before its last octet",
  sandwich = "tcp",
  run = function(t)
    local c = with_queued_send(t)
    local reply = t:start_frame { private_data = "12345" }
    local octets = reply:octets()
    c:send_in_pieces(octets:sub(1, 16), 1)
    expect_nothing(t, c, "the Key alone is no Reply")
    c:send_in_pieces(octets:sub(17, 20), 1)
    c:send_in_pieces(octets:sub(21, 23), 3)
    expect_nothing(t, c, "a Reply without all of its Private Data is none")
    c:send(octets:sub(24))
    c:agree(wire.unpack("mpa_start", octets), c.request)
    expect_queued(t, c, "FPDUs are sent after the whole Reply")
  end,
}

check {
  id = "MPA-7.1.2-15",
  role = "initiator",
  purpose = "a Reply with R = 1: no FPDU is sent, TCP is left open, and the ULP hears of it",
  run = function(t)
    local c = with_queued_send(t)
    c:send(t:start_frame { R = 1, private_data = "because" })
    local octets, state = c:peek(1, t.quiet)
    if #octets > 0 then t:fail("R = 1: the initiator leaves MPA", "no FPDU", hex(octets)) end
    if state == "timeout" then
      c:send("streaming octets")
      octets, state = c:peek(1, t.quiet)
      if #octets > 0 then t:fail("R = 1: the initiator leaves MPA", "no FPDU", hex(octets)) end
    end
    local event = t:await_event("rejected", { stream = c.stream })
    if event == nil then t:fail("the ULP is told of the rejection", "its event", "none") end
    t:equal("Private Data of the rejection, at the ULP", hex("because"), t:event_member(event, "private_data"))
    if state == "reset" then
      t:warn("R = 1: the initiator leaves TCP open", "an open connection, or FIN", "RST")
    end
  end,
}

check {
  id = "MPA-7.1.4.2-03",
  role = "initiator",
  purpose = "R = 1: TCP stays open, or MPA closes it; an FPDU does not come",
  run = function(t)
    local c = with_queued_send(t)
    c:send(t:start_frame { R = 1 })
    local octets, state = c:peek(1)
    if #octets > 0 then t:fail("after R = 1 no FPDU is sent", "an open connection, or FIN", hex(octets)) end
    if state == "reset" then t:warn("after R = 1", "an open connection, or FIN", "RST") end
    t:ambiguous(state == "fin" and "B: MPA closes TCP (the example)"
                or "A: TCP stays open after R = 1 (7.1.2 rule 3)")
  end,
}

check {
  id = "MPA-7.1.2-16",
  role = "initiator",
  purpose = "after an accepting Reply the initiator is in full operation: it sends first, and takes FPDUs",
  sandwich = "tcp",
  run = function(t)
    for markers = 0, 1 do
      local c = with_queued_send(t)
      local reply = t:start_frame { M = markers }
      c:send(reply)
      c:agree(reply, c.request)
      post_refused(t, c)
      local got = c:receive()
      if got.kind ~= "segment" or got.Opcode ~= 3 then
        t:warn("an accepted initiator sends its first FPDU without waiting for one", "the queued Send", describe(got))
      end
      c:probe()
      c:finish()
    end
  end,
}

check {
  id = "MPA-7.1.2-21",
  role = "initiator",
  purpose = "an initiator's ULP may close the connection because of the Reply's Private Data, without any FPDU",
  run = function(t)
    local c = t:awaiting_start()
    c:send(t:start_frame { private_data = "not what the ULP likes" })
    local event = t:start_event(c)
    if event == nil then t:fail("the ULP gets the Reply's Private Data", "its event", "none") end
    t:equal("Private Data of the Reply, at the ULP", hex("not what the ULP likes"), t:event_member(event, "private_data"))
    t.dut:disconnect { stream = c.stream }
    local octets, state = c:peek(1)
    if #octets > 0 then t:fail("a ULP that closes at once", "FIN or RST, and no FPDU", hex(octets)) end
    if state ~= "fin" and state ~= "reset" then t:fail("a ULP that closes at once", "FIN or RST", state) end
  end,
}

check {
  id = "MPA-7.1.3-02",
  role = "initiator",
  purpose = "an initiating Consumer may close after the Reply, after a whole FPDU",
  requires = "upper_tester",
  run = function(t)
    local c = with_queued_send(t)
    local reply = t:start_frame {}
    c:send(reply)
    c:agree(reply, c.request)
    post_refused(t, c)
    t.dut:disconnect { stream = c.stream }
    local got = c:receive()
    if fits(rdmap.send { data = unhex(QUEUED) }, got) then got = c:receive() end
    if not fits(tcp.closed(), got) then
      t:fail("a Consumer closes after the Reply", "FIN or RST, not in the midst of an FPDU", describe(got))
    end
  end,
}
