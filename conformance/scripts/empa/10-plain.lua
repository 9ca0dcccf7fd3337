-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 sections 6, 9.2 and 10: what an initiator asks for, and does not.

defaults { sandwich = "startup" }

-- The device's Request in plain mode, with this Private Data.
local function plain_request(t, private)
  local c = t:accept { dut = { rev = 2, enhanced = false, private_data = hex(private) } }
  return c:expect(mpa.request {}, { message = "an initiator opens with a Request" }), c
end

check {
  id = "EMPA-6-05",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "tcp",
  purpose = "without enhanced functions there is no word: the Private Data is the ULP's alone",
  run = function(t)
    local request, c = plain_request(t, "plain data")
    t:equal("S", 0, request.S)
    t:equal("PD_Length", 10, request.PD_Length)
    t:equal("Private Data", hex("plain data"), hex(request.all_private_data))
    c.tcp:close()
  end,
}

check {
  id = "EMPA-10-03",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "tcp",
  purpose = "an initiator that wants no enhanced function sends S = 0",
  run = function(t) t:equal("S of the Request", 0, plain_request(t, "").S) end,
}

check {
  id = "EMPA-6-08",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "tcp",
  purpose = "a plain Request has Rev 1 or 2 and S = 0, and is as good as the other",
  run = function(t)
    local request, c = plain_request(t, "")
    if request.S ~= 0 or request.Rev < 1 or request.Rev > 2 then
      t:fail("a plain Request", "S = 0, Rev 1 or 2", "S = " .. request.S .. ", Rev " .. request.Rev)
    end
    local reply = mpa.reply { Rev = request.Rev }
    c.request = request
    c:send(reply)
    c:expect_operation(reply, "a plain Reply of the same Rev")
  end,
}

check {
  id = "EMPA-9.2-09",
  role = "initiator",
  requires = "upper_tester",
  purpose = "the peer-to-peer model has A = 1",
  run = function(t) t:equal("A of the Request", 1, t:receive_request { p2p = true }.request.enhanced.A) end,
}

check {
  id = "EMPA-9.2-01",
  role = "both",
  requires = "upper_tester",
  purpose = "A is 1 for peer-to-peer and 0 for client-server; the Reply's is the Request's",
  run = function(t)
    for a = 0, 1 do
      local word
      if t.role == "initiator" then
        word = t:receive_request { p2p = a == 1 }.request.enhanced
      else
        local _, reply = t:ask({ A = a, B = a, C = a, D = a })
        word = reply.enhanced
      end
      t:equal("A in the " .. (a == 1 and "peer-to-peer" or "client-server") .. " model", a, word.A)
    end
  end,
}

check {
  id = "EMPA-3-01",
  role = "both",
  requires = "upper_tester",
  purpose = "no more Reads are outstanding than the peer's IRD: with IRD 1 one by one",
  run = function(t)
    local c
    if t.role == "responder" then
      c = t:ask({ IRD = 1, ORD = 1 }, { dut = { ird = 4, ord = 4 } })
      c:probe()
    else
      c = t:receive_request { ird = 4, ord = 4 }
      c:answer { IRD = 1 }
      c:ask_first_send()
      local got = c:receive()
      if is_terminate(got, "MPA_INSUFFICIENT_IRD") then t:skip("the device wants its ORD (EMPA-9.1-05)") end
      if not fits(rdmap.send {}, got) then t:fail("a Reply with IRD 1", "the device goes on", describe(got)) end
    end
    c:reads_limited(4, 1)
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- What the ULP receives

-- The peer's IRD and ORD as the ULP receives them in this event.
local function expect_depths(t, c, kind, ird, ord)
  local event = t:await_event(kind, { stream = t:stream_of(c) })
  if not event then t:fail("the ULP is told of the " .. kind:gsub("_", " "), "its event", "none") end
  t:equal("the peer's IRD as the ULP got it", ird, t:event_member(event, "peer_ird"))
  t:equal("the peer's ORD as the ULP got it", ord, t:event_member(event, "peer_ord"))
  return event
end

check {
  id = "EMPA-9.1-08",
  role = "responder",
  purpose = "the ULP of the responder gets the initiator's IRD and ORD",
  run = function(t)
    -- The ULP needs no more than the Request's IRD: it might reject that (EMPA-9.1-14).
    for _, word in ipairs { { IRD = 3, ORD = 7 }, { IRD = 4, ORD = 2 } } do
      local c = t:ask(word, { dut = { ird = t:depth("ird", 16), ord = t:depth("ord", 3) } })
      expect_depths(t, c, "connect_request", word.IRD, word.ORD)
    end
  end,
}

check {
  id = "EMPA-9.1-09",
  role = "initiator",
  purpose = "the ULP of the initiator gets the responder's IRD and ORD",
  run = function(t)
    -- Within its own: a device may refuse an IRD below its ORD (EMPA-9.1-05).
    for _, word in ipairs { { IRD = 3, ORD = 7 }, { IRD = 4, ORD = 6 } } do
      local c = t:receive_request { ird = 8, ord = 2 }
      c:answer(word)
      expect_depths(t, c, "established", word.IRD, word.ORD)
    end
  end,
}

check {
  id = "EMPA-9.1-21",
  role = "initiator",
  purpose = "on an Accept the ULP of the initiator gets the responder's IRD and ORD",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 4 }
    c:answer { IRD = 9, ORD = 3 }
    expect_depths(t, c, "established", 9, 3)
  end,
}

check {
  id = "EMPA-9.1-22",
  role = "initiator",
  purpose = "on a Reject the ULP of the initiator gets the responder's IRD and ORD, and the Private Data without the word",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 4 }
    c:answer({ IRD = 9, ORD = 3 }, { R = 1, private_data = "no" })
    local event = expect_depths(t, c, "rejected", 9, 3)
    t:equal("Private Data of the Reject as the ULP got it", hex("no"), t:event_member(event, "private_data"))
  end,
}

-- The initiator may try again without the enhanced word (EMPA-10-12), and its ULP has nothing to hear before that fails, too.
local function refuse_again(t, seconds)
  local again = rig.accept(t.port, seconds)
  if again then again:fin() end
end

check {
  id = "EMPA-10-11",
  role = "initiator",
  purpose = "a close in place of the Reply is reported to the ULP",
  run = function(t)
    local c = t:receive_request {}
    c.tcp:fin()
    -- "rejected": rdma_cm reports a close and a Reply with R = 1 by one event.
    local ended = { error = true, closed = true, connect_failed = true, terminated = true, rejected = true }
    local deadline = rig.now() + t.reaction
    repeat
      for _, event in ipairs(t.dut:poll().events) do
        if event.stream == c.stream and ended[event.event] then return end
        if event.stream == c.stream and event.event == "established" then
          t:fail("a close in place of the Reply", "a failure", "the connection is reported as established")
        end
      end
      refuse_again(t, t.reaction / 64)
    until rig.now() >= deadline
    t:fail("a close in place of the Reply is reported to the ULP", "an event that says so", "none")
  end,
}

-- A device that knows RFC 5044 alone, or is configured as one: what it does with an enhanced Request. Returns the
-- connection and what came last.
local function legacy(t, configuration)
  local port = rig.has_upper_tester() and t:listen(configuration or { rev = 1 }, true) or nil
  local c = t:connect { port = port }
  c:send(mpa.request { enhanced = t:word() })
  local got = c:receive()
  local reply = got.kind == "reply" and got or nil
  if reply then
    if reply.S == 1 then t:fail("an enhanced Request to a device that does not know it", "FIN or RST", describe(reply)) end
    c:agree({ C = 1 }, reply)
    got = c:receive(t.reaction)
  end
  return c, got, reply
end

check {
  id = "EMPA-10-08",
  role = "responder",
  purpose = "a responder without enhanced set-up closes on an enhanced Request",
  run = function(t)
    local _, got, reply = legacy(t)
    -- A device of Rev 2 on which the enhanced functions are off is without them, too.
    if fits(tcp.closed(), got) and rig.has_upper_tester() and t:try("listen", { rev = 2, enhanced = false }) then
      _, got, reply = legacy(t, { rev = 2, enhanced = false })
    end
    if fits(tcp.closed(), got) then return end
    if reply and got.kind == "timeout" then t:skip("it goes on with S = 0: EMPA-10-10 judges that") end
    t:fail("an enhanced Request to a device that does not know it", "FIN or RST", describe(got))
  end,
}

check {
  id = "EMPA-10-09",
  role = "responder",
  purpose = "a responder without enhanced set-up has left MPA after an enhanced Request: it sends nothing more",
  run = function(t)
    local c, got, reply = legacy(t)
    if reply and got.kind == "timeout" then t:skip("it goes on with S = 0: EMPA-10-10 judges that") end
    if got.kind == "fin" then
      c.tcp:send(rdmap.write { STag = 0, TO = 0 }:octets())
      c.tcp:fin()
      got = c:receive(t.quiet)
      if got.kind ~= "fin" and got.kind ~= "reset" and got.kind ~= "timeout" then
        t:fail("after it has closed", "nothing", describe(got))
      end
    elseif got.kind ~= "reset" then
      t:fail("an enhanced Request to a device that does not know it", "nothing but FIN or RST", describe(got))
    end
  end,
}
