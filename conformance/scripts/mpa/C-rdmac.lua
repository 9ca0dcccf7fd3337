-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 Appendix C: peers of the RDMA Consortium's MPA, Rev 0.

defaults { sandwich = "startup" }

check {
  id = "MPA-C.2.1-01",
  role = "responder",
  sandwich = "tcp",
  purpose = "a Request of Rev 0 ends the connection, with a Reply of Rev 1 before that or without",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { M = 1, C = 1, Rev = 0 })
    local message = "a Request of Rev 0"
    local got = c:receive()
    local reading = "B: a close without a Reply (7.1.1)"
    if got.kind == "reply" and got.Rev == 1 then
      reading = "A: a Reply with Rev 1, then a graceful close (C.2.1)"
      got = c:receive()
    end
    if got.kind == "reply" and got.Rev == 0 and got.M == 1 and got.C == 1 then
      t:skip("the device is permissive: MPA-C.2.3-01 judges it")
    end
    if not fits(tcp.closed(), got) then t:fail(message, "FIN or RST, at most a Reply of Rev 1 before it", describe(got)) end
    t:ambiguous(reading)
  end,
}

check {
  id = "MPA-C.2.2-01",
  role = "initiator",
  sandwich = "tcp",
  purpose = "a Reply of Rev 0 ends the connection",
  run = function(t)
    local c = t:awaiting_start()
    c:send(t:start_frame { M = 1, C = 1, Rev = 0 })
    c:expect_refusal("a Reply of Rev 0")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- A permissive device (PICS item mpa.rev0): with a peer of Rev 0 Markers and CRCs go both ways, and DV = RV = 0

local function read_request(tag)
  return empty_read(tag, { DV = 0, RV = 0 })
end

-- A stream with a device that is configured to accept Rev 0, if it can be, and not to ask for Markers unless `dut` says
-- so. The tester's frame has Rev 0, M = 1, C = 1. Returns the connection and the device's frame.
local function with_rev_0(t, dut)
  local config = { rev0 = true, markers = false }
  for k, v in pairs(dut or {}) do config[k] = v end
  local c, frame
  if t.role == "responder" then
    c = t:connect { port = t:listen(config, true) }
    c:send(mpa.request { M = 1, C = 1, Rev = 0 })
    frame = c:expect(mpa.reply { R = 0, Rev = 0, M = 1, C = 1 },
                     { message = "a permissive Responder answers a Request of Rev 0 with Rev 0, M = 1 and C = 1" })
  else
    config.rev = 1
    c = t:accept { dut = config, special = true }
    frame = c:expect(mpa.request { Rev = 1 }, { message = "a permissive Initiator sends a Request of Rev 1" })
    c:send(mpa.reply { M = 1, C = 1, Rev = 0 })
  end
  c:agree({ M = 1, C = 1 }, { M = 1, C = 1 })
  c.peer = { Rev = 0, M = 1, C = 1 } -- of the stream
  t:stream_of(c)
  return c, frame
end

-- Traffic in both directions, Markers inside: version 0 from the device, its CRCs are right, and its Markers.
local function expect_version_0(t, c, message)
  local fields = { DV = 0, RV = 0 }
  if t.role == "initiator" then
    c:ask_first_send()
    c:expect(rdmap.send(fields), { message = message })
  end
  c:send(rdmap.send { DV = 0, RV = 0, data = pattern(900) }, read_request(5))
  c:expect(rdmap.read_response { DV = 0, RV = 0, STag = 5 }, { message = message })
  t.dut:send { stream = c.stream, length = 1200 }
  c:expect(rdmap.send(fields), { message = message .. ": a Send with Markers inside" })
  t:expect_deliveries(c, { pattern(900) }, message)
end

local function version_0_reported(t, c)
  local event = t:start_event(c)
  if not event then t:fail("a peer of Rev 0", "the ULP is told of the connection", "nothing") end
  t:equal("Rev that is told", 0, t:event_member(event, "rev"))
  t:equal("version of DDP and RDMAP that is told", 0, t:event_member(event, "version"))
end

check {
  id = "MPA-C.2.3-01",
  role = "responder",
  purpose = "a permissive Responder answers Rev 0 with M = 1 whatever its own wish, and speaks version 0 with Markers",
  run = function(t)
    expect_version_0(t, (with_rev_0(t)), "after a Request of Rev 0")
    -- Two streams at once that differ in it.
    local old, new = (with_rev_0(t)), t:open()
    expect_version_0(t, old, "after a Request of Rev 0, beside a stream of Rev 1")
    new:probe { message = "version 1 after a Request of Rev 1, beside a stream of Rev 0" }
  end,
}

check {
  id = "MPA-C.2.5-01",
  role = "initiator",
  purpose = "a permissive Initiator goes over to version 0, with Markers and CRC, on a Reply of Rev 0",
  run = function(t)
    local c, request = with_rev_0(t)
    if request.M == 1 then t:note("the Request has M = 1 already: that M = 0 gives way is not seen") end
    version_0_reported(t, c)
    expect_version_0(t, c, "after a Reply of Rev 0")
  end,
}

check {
  id = "MPA-C.1-02",
  role = "both",
  purpose = "with a peer of Rev 0 CRCs are sent and checked, though the device wants none",
  run = function(t)
    local c = with_rev_0(t, { crc = false })
    expect_version_0(t, c, "a device with C = 0, and a peer of Rev 0")
    c:send(fpdu(rdmap.send { DV = 0, RV = 0, data = "wrong" }, { crc_flip = 1 }))
    c:expect_crc_error("a wrong CRC, from a peer of Rev 0")
  end,
}

check {
  id = "MPA-C.2.4-01",
  role = "responder",
  purpose = "the ULP is told that version 0 is spoken",
  run = function(t) version_0_reported(t, (with_rev_0(t))) end,
}
