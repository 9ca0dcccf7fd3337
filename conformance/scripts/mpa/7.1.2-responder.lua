-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.2 rules 2, 4 and 6: what a responder does with a good Request.

defaults { sandwich = "startup" }

local QUEUED = "71756575656421" -- what the device's ULP wants to send from the start
local REFUSED = "Private Data that the ULP does not accept"

-- A connection to a listener of the device that rejects.
local function rejecting(t, private)
  local c = t:connect { port = t:listen { accept = "reject", private_data = private and hex(private) } }
  c:send(mpa.request { private_data = "not acceptable" })
  return c
end

check {
  id = "MPA-7.1.1-18",
  role = "responder",
  purpose = "R of the Reply: 0 and full operation where the ULP accepts, 1 and no FPDU where it rejects",
  requires = "upper_tester",
  sandwich = "tcp",
  run = function(t)
    local c = t:connect()
    local frame = mpa.request { private_data = "acceptable" }
    c:send(frame)
    c:expect_operation(frame, "R = 0 where the ULP accepts, and full operation after it")
    c:finish()
    c = rejecting(t)
    local reply = c:expect_rejection(REFUSED)
    c:agree({ M = 0, C = 1 }, reply)
    c:send(empty_read(1))
    local got = c:receive(t.quiet)
    if got.kind == "segment" then t:fail("after R = 1 no FPDU is taken or sent", "no FPDU", describe(got)) end
  end,
}

check {
  id = "MPA-7.1.2-05",
  role = "responder",
  purpose = "Private Data that the ULP does not accept is answered by a Reply with R = 1",
  run = function(t)
    local c = rejecting(t, "no")
    local got = c:receive()
    if got.kind == "reply" and got.R == 0 then
      t:fail(REFUSED, "MPA Reply with R = 1", describe(got))
    end
    if got.kind ~= "reply" then
      t:warn(REFUSED, "MPA Reply with R = 1", describe(got))
    end
    t:equal("Rev of the Reply", 1, got.Rev)
  end,
}

check {
  id = "MPA-7.1.2-07",
  role = "responder",
  purpose = "after R = 1 MPA is left and TCP stays open: the whole Reply arrives, and FPDUs are only octets",
  run = function(t)
    local private = string.rep("why not? ", 50)
    local c = rejecting(t, private)
    local reply = c:expect_rejection(REFUSED)
    t:equal("Private Data of the rejecting Reply", private, reply.private_data)
    c:agree({ M = 0, C = 1 }, reply)
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      c:send(empty_read(1))
      c:send("streaming octets")
      got = c:receive(t.quiet)
    end
    if got.kind == "fin" then
      t:warn("MPA leaves TCP open; it cannot be seen whether the ULP closed it", "an open connection", describe(got))
    elseif got.kind ~= "timeout" then
      t:fail("after R = 1 MPA is left and TCP stays open", "an open connection without FPDUs", describe(got))
    end
  end,
}

check {
  id = "MPA-7.1.2-08",
  role = "responder",
  purpose = "after R = 1 the ULP may close TCP or go on with it: a FIN after the whole Reply, or an open connection",
  requires = "upper_tester",
  run = function(t)
    local c = rejecting(t)
    c:expect_rejection(REFUSED)
    local octets, state = c:peek(1)
    if state == "reset" then t:fail("a rejected connection ends in order, if it ends", "FIN, or nothing", "RST") end
    if #octets > 0 then t:fail("a rejecting Reply is the last word of MPA", "FIN, or nothing", hex(octets)) end
  end,
}

check {
  id = "MPA-7.1.2-09",
  role = "responder",
  purpose = "a good Request whose Private Data the ULP accepts is answered by a Reply with R = 0",
  sandwich = "tcp",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { private_data = "acceptable" })
    c:expect_one_of {
      mpa.reply { R = 0, key = "MPA ID Rep Frame" },
      warn(mpa.reply {}, "a good Request should be accepted"),
      warn(tcp.closed(), "a good Request should be accepted"),
      warn(quiet(), "a good Request should be answered"),
      message = "a good Request is answered by a Reply",
    }
  end,
}

check {
  id = "MPA-7.1.2-11",
  role = "responder",
  purpose = "an FPDU sent the instant the Reply is there is taken",
  sandwich = "tcp",
  judges = { "reads", "framing" },
  run = function(t)
    for _ in t:races(20) do
      local c = t:connect()
      c.at_once = true
      c:start_as_initiator()
      local alive, got = c:alive()
      if not alive then
        t:warn("a responder that has replied is ready for FPDUs", "the answer to an RDMA Read", describe(got))
      end
      c:finish()
    end
  end,
}

-- The Send that the ULP posts as soon as it can: nothing of it before the tester's first FPDU, all of it after.
local function expect_fenced_send(t, markers)
  local c = t:connect()
  c:start_as_initiator { M = markers }
  local stream = t:stream_of(c)
  t.dut:send { stream = stream, data = QUEUED }
  local early = c:peek(1, t.quiet)
  if #early > 0 then
    t:fail("a responder sends neither FPDU nor Marker before it has received an FPDU", "nothing", "octets of the stream")
  end
  c:send(rdmap.write { STag = 0, TO = 0, data = "" })
  return c
end

check {
  id = "MPA-7.1.2-17",
  role = "responder",
  sandwich = "rdma",
  purpose = "a queued Send waits for the first FPDU of the initiator",
  run = function(t)
    local c = expect_fenced_send(t, 0)
    c:expect(rdmap.send { data = unhex(QUEUED) }, { message = "the queued Send follows the first FPDU" })
    c:probe()
  end,
}

check {
  id = "MPA-7.1.2-18",
  role = "responder",
  sandwich = "rdma",
  purpose = "no Marker goes out before the first FPDU of the initiator; then Marker and FPDU come together",
  requires = "upper_tester",
  run = function(t)
    local c = expect_fenced_send(t, 1)
    local octets = c:peek(8)
    t:equal("the first octets of full operation with Markers", "00000000", hex(octets:sub(1, 4)))
    c:expect(rdmap.send { data = unhex(QUEUED) }, { message = "the queued Send follows the first FPDU" })
    c:probe()
  end,
}

check {
  id = "MPA-7.1.2-22",
  role = "responder",
  purpose = "a ULP that validates the Private Data and refuses it: Reply with R = 1",
  run = function(t)
    -- A wrong version; a wrong length: none, one octet, more than the ULP knows.
    for _, private in ipairs { "version 99", "", "v", pattern(512) } do
      local c = t:connect { port = t:listen { accept = "manual" } }
      c:send(mpa.request { private_data = private })
      local stream = t:stream_of(c)
      if not t:await_event("connect_request", { stream = stream }) then
        t:fail("a Request with Private Data of " .. #private .. " octets", "the ULP is asked", "it is not")
      end
      t.dut:reject { stream = stream }
      local got = c:receive()
      local message = "the ULP refuses Private Data of " .. #private .. " octets"
      if got.kind ~= "reply" and fits(tcp.closed(), got) then t:warn(message, "MPA Reply with R = 1", describe(got)) end
      if got.kind ~= "reply" or got.R ~= 1 then t:fail(message, "MPA Reply with R = 1", describe(got)) end
    end
  end,
}

check {
  id = "MPA-7.1.2-33",
  role = "responder",
  sandwich = "rdma",
  purpose = "the first FPDU has a wrong CRC: queued data stays where it is; a Terminate or none is open",
  requires = "upper_tester",
  run = function(t)
    local c = t:connect()
    c:start_as_initiator()
    t.dut:send { stream = t:stream_of(c), data = QUEUED }
    c:send(fpdu(rdmap.write { STag = 0, TO = 0, data = "" }, { crc_flip = 0x80000000 }))
    local got = c:receive()
    if fits(tcp.closed(), got) then t:ambiguous("A: rule 4 wins, no Terminate before a valid FPDU") end
    if got.kind == "timeout" and c.tcp:unacknowledged() > 0 then
      t:ambiguous("A: rule 4 wins, no Terminate before a valid FPDU (the segment was dropped silently)")
    end
    if is_terminate(got, "MPA_CRC") then
      local behind = c:receive()
      if fits(tcp.closed(), behind) or behind.kind == "timeout" then
        t:ambiguous("B: section 8 wins, Terminate 2/0/02")
      end
      got = behind
    end
    t:fail("an FPDU with a wrong CRC does not open the way for data", "Terminate 2/0/02, a close, or silence", describe(got))
  end,
}

check {
  id = "MPA-7.1.2-34",
  role = "responder",
  purpose = "unacceptable Private Data: R = 1, or a close without a Reply",
  requires = "upper_tester",
  run = function(t)
    local c = rejecting(t)
    local got = c:receive()
    if got.kind == "reply" and got.R == 1 then t:ambiguous("A: a Reply with R = 1") end
    if fits(tcp.closed(), got) then
      t:warn("B: the Consumer closes TCP without a Reply", "MPA Reply with R = 1", describe(got))
    end
    t:fail("unacceptable Private Data", "MPA Reply with R = 1, or a close", describe(got))
  end,
}

check {
  id = "MPA-7.1.3-01",
  role = "responder",
  purpose = "a responding Consumer may close the connection in place of a Reply",
  requires = "upper_tester",
  run = function(t)
    local c = t:connect { port = t:listen { accept = "manual" } }
    c:send(mpa.request { private_data = "to be refused" })
    c:expect_quiet { message = "no Reply before the ULP has decided" }
    t.dut:disconnect { stream = t:stream_of(c) }
    c:expect_one_of {
      tcp.closed(),
      mpa.reply { R = 1 },
      message = "a Consumer that closes in place of replying",
    }
  end,
}

check {
  id = "MPA-7.1.4.2-02",
  role = "responder",
  purpose = "a responder that rejects may close TCP: the Reply comes whole, the FIN after it",
  requires = "upper_tester",
  run = function(t)
    local private = string.rep("r", 500)
    local c = rejecting(t, private)
    local reply = c:expect_rejection(REFUSED)
    t:equal("Private Data of the rejecting Reply", private, reply.private_data)
    local octets, state = c:peek(1, t.quiet)
    if state == "timeout" then
      t.dut:disconnect { stream = t:stream_of(c) }
      octets, state = c:peek(1)
    end
    if state ~= "fin" or #octets > 0 then
      t:fail("the ULP closes after a rejection", "FIN", #octets > 0 and hex(octets) or state)
    end
  end,
}
