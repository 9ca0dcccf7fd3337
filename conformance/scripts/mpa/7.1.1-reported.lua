-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1, 7.1.2, 7.2 and 8: what the device reports to its ULP, or to an instrument.

defaults { sandwich = "tcp" }

-- The error event for a bad start-up frame: code 4 of MPA. No connection may have been reported.
local function expect_reported(t, c, message)
  local stream = t:stream_of(c)
  local event = t:await_event("error", { stream = stream })
  if not event then t:fail(message, "an error is told", "nothing") end
  local got = string.format("%s/%s/%s, %s", t:event_member(event, "layer"), event.etype, event.code, event.text)
  if event.layer ~= 2 or event.etype ~= 0 or event.code ~= 4 then
    t:fail(message, "an error 2/0/4: invalid MPA Request or Reply Frame", got)
  end
  for _, other in ipairs(t.events) do
    if other.stream == stream and (other.event == "connect_request" or other.event == "established") then
      t:fail(message, "no connection for the ULP", other.event)
    end
  end
  return event
end

-- A bad start-up frame is sent; the error is reported.
local function bad_frame(t, frame, message, options)
  local c = t:awaiting_start(options)
  if t.role == "responder" and not c.stream then t:stream_of(c) end
  c:send(t:start_frame(frame))
  return expect_reported(t, c, message), c
end

check {
  id = "MPA-7.1.1-03",
  role = "responder",
  requires = "upper_tester",
  purpose = "a Request with a wrong Key is told as an error, and not as a connection",
  run = function(t) bad_frame(t, { key = "MPA ID Req Frama" }, "a Request with a wrong Key") end,
}

check {
  id = "MPA-7.1.1-06",
  role = "initiator",
  requires = "upper_tester",
  purpose = "a Reply with a wrong Key is told as an error",
  run = function(t) bad_frame(t, { key = "MPA ID Rep Frama" }, "a Reply with a wrong Key") end,
}

check {
  id = "MPA-7.1.1-24",
  role = "both",
  requires = "upper_tester",
  purpose = "an unknown Rev is told as an error that names it",
  run = function(t)
    local event = bad_frame(t, { Rev = 255 }, "a start-up frame of Rev 255")
    if not tostring(event.text):find("255", 1, true) and t:event_member(event, "rev") ~= 255 then
      t:fail("the error names the Rev", "255", tostring(event.rev or event.text))
    end
  end,
}

-- What the ULP receives of a good start-up frame.
local function event_of_start_frame(t, frame, options)
  local c = t:awaiting_start(options)
  local sent = t:start_frame(frame)
  c:send(sent)
  local event = t:start_event(c)
  if not event then t:fail("a good start-up frame", "it is told to the ULP", "nothing") end
  return event
end

check {
  id = "MPA-7.1.1-25",
  role = "both",
  requires = "upper_tester",
  purpose = "the peer's Rev is told",
  run = function(t) t:equal("Rev that is told", 1, t:event_member(event_of_start_frame(t, { Rev = 1 }), "rev")) end,
}

check {
  id = "MPA-7.1.1-30",
  role = "both",
  requires = "upper_tester",
  purpose = "a wrong PD_Length is told as an error: 513, more than comes, less than comes",
  run = function(t)
    bad_frame(t, { private_data = string.rep("p", 513) }, "513 octets of Private Data")
    local c = t:awaiting_start()
    t:stream_of(c)
    c:send(t:start_frame { PD_Length = 4, private_data = "six666" })
    local got = c:receive(t.quiet)
    if fits(tcp.closed(), got) then
      expect_reported(t, c, "2 octets more than PD_Length says")
    else -- by one reading they begin an FPDU, which may be wrong when it is whole (MPA-7.1.1-37)
      t:note("2 octets more than PD_Length says: " .. describe(got))
    end
    c = t:awaiting_start()
    t:stream_of(c)
    c:send(t:start_frame { PD_Length = 10, private_data = "six666" })
    c.tcp:fin()
    expect_reported(t, c, "4 octets less than PD_Length says, and a FIN")
  end,
}

-- Whose Private Data the ULP is handed, where the upper tester knows the ends of the connection. A listener of IPv6
-- knows those of IPv4 as ::ffff:a.b.c.d.
local function expect_ends(t, c, event)
  local own, dut = rig.addresses()
  local status = c.tcp:status()
  for member, wanted in pairs { peer_address = own, own_address = dut } do
    local reported = event[member]
    local same = reported == nil or cm.address((reported:gsub("^::ffff:", ""))) == cm.address(wanted)
    t:equal(member .. " that is told", wanted, same and wanted or reported)
  end
  for member, wanted in pairs { peer_port = status.local_port, own_port = status.peer_port } do
    if event[member] then t:equal(member .. " that is told", wanted, event[member]) end
  end
end

-- So many octets of Private Data, or as many as the device's ULP takes: where it begins enhanced, the word takes four
-- of them (RFC 6581 9).
local function room(t, c, wanted)
  local word <const> = 4
  return math.min(wanted, t:private_data_most(512) - (c.request and c.request.S == 1 and word or 0))
end

-- What the ULP is handed: each length up to a word of four octets, none after some, and the most that there may be. A
-- ULP that decides gets it with the question.
local function handed(t)
  local asks = t.role == "responder"
  for _, wanted in ipairs { 512, 0, 1, 2, 3, 4, 0, 5 } do
    local c = t:awaiting_start { dut = asks and { accept = "manual" } or nil }
    local octets = room(t, c, wanted)
    local private = pattern(octets, octets)
    c:send(t:start_frame { private_data = private })
    local stream = t:stream_of(c)
    local event = t:await_event(asks and "connect_request" or "established", { stream = stream })
    if not event then t:fail("a start-up frame with " .. octets .. " octets of Private Data", "the ULP is told", "nothing") end
    t:equal("Private Data of " .. octets .. " octets that the ULP is told of", hex(private), t:event_member(event, "private_data"))
    expect_ends(t, c, event)
    if asks then t.dut:reject { stream = stream } end
    c.tcp:close()
  end
end

check {
  id = "MPA-7.1.1-31",
  role = "both",
  requires = "upper_tester",
  purpose = "Private Data is handed to the ULP, with its length: 300 octets, 512, and 0 to 5, each as that of its connection",
  run = function(t)
    local c = t:awaiting_start()
    local private = {}
    for i = 1, room(t, c, 300) do private[i] = string.char(i - 1 & 0xFF) end
    private = table.concat(private)
    local frame = t:start_frame { private_data = private }
    c:send(frame)
    local event = t:start_event(c)
    if not event then t:fail("a good start-up frame", "it is told to the ULP", "nothing") end
    t:equal("Private Data that is told", hex(private), t:event_member(event, "private_data"))
    if event.pd_length ~= nil then t:equal("PD_Length that is told", frame.PD_Length or #private, event.pd_length) end
    if t.role == "initiator" then handed(t) else t:if_served("not tried where the ULP decides", handed, t) end
  end,
}

check {
  id = "MPA-7.1.2-20",
  role = "both",
  requires = "upper_tester",
  purpose = "a frame with the other role's Key is told as an error",
  run = function(t)
    local key = t.role == "responder" and "MPA ID Rep Frame" or "MPA ID Req Frame"
    bad_frame(t, { key = key }, "a frame with the other role's Key")
  end,
}

check {
  id = "MPA-7.1.2-29",
  role = "both",
  purpose = "Private Data beyond what the ULP takes makes a bad frame: 100 octets taken, 101 and 300 not",
  run = function(t)
    local dut = { private_data_room = 100, rev = t:plain_rev() }
    local function awaiting()
      if t.role == "responder" then
        local c = t:connect { port = t:listen(dut, true) }
        t:stream_of(c)
        return c
      end
      local c = t:accept { dut = dut, special = true }
      c.request = c:expect(mpa.request {}, { message = "an initiator opens with a Request" })
      t.request = c.request
      return c
    end
    local c = awaiting()
    c:send(t:start_frame { private_data = pattern(100) })
    local event = t:start_event(c)
    t:equal("100 octets for a ULP that takes 100", hex(pattern(100)), t:event_member(event, "private_data"))
    for _, octets in ipairs { 101, 300 } do
      c = awaiting()
      c:send(t:start_frame { private_data = pattern(octets) })
      expect_reported(t, c, octets .. " octets for a ULP that takes 100")
      c:expect_refusal("it makes a bad frame")
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- The end, and the CRC

check {
  id = "MPA-7.2-02",
  role = "both",
  sandwich = "rdma",
  requires = "upper_tester",
  purpose = "the peer's FIN is told, and the ULP then closes without a Terminate",
  run = function(t)
    local c = t:open_with_framing()
    local stream = t:stream_of(c)
    c.tcp:fin()
    t:expect_event("half_closed", { stream = stream }, "the peer's FIN at an FPDU boundary", "it is told (half_closed)")
    local _, reported = c:expect_second_half("after the peer's FIN the device's")
    if reported then t:warn("after the peer's FIN the device's", "no Terminate before it", "a Terminate 2/0/01") end
  end,
}

check {
  id = "MPA-8-01",
  role = "both",
  sandwich = "rdma",
  requires = "upper_tester",
  purpose = "a reset connection is told as error 2/0/1, a FIN as the close that it is",
  run = function(t)
    local c = t:open_with_framing()
    local stream = t:stream_of(c)
    c.tcp:reset()
    local event = t:await_event("error", { stream = stream })
    if not event then t:fail("a RST in full operation", "an error is told", "nothing") end
    local got = string.format("%s/%s/%s", t:event_member(event, "layer"), event.etype, event.code)
    t:equal("the error that is told", "2/0/1", got)
    c = t:open_with_framing()
    stream = t:stream_of(c)
    c.tcp:fin()
    t:expect_event("half_closed", { stream = stream }, "a FIN in full operation", "the close is told (half_closed)")
  end,
}

check {
  id = "MPA-4.4-08",
  role = "both",
  sandwich = "rdma",
  requires = "upper_tester",
  purpose = "the ULP sees no difference between streams with and without CRCs",
  run = function(t)
    local seen = {}
    for i, crc in ipairs { true, false } do
      local c = t:open_with_framing { crc = crc and nil or false }
      local sent = {}
      for j, octets in ipairs { 0, 1, 2, 3, 100 } do
        sent[j] = pattern(octets, j)
        c:send(rdmap.send { data = sent[j] })
      end
      c:probe()
      local out = {}
      for j, delivery in ipairs(t:expect_deliveries(c, sent, "Sends, C = " .. (crc and 1 or 0))) do
        out[j] = string.format("%d octets %s opcode %s %s", #delivery.data, hex(delivery.data), tostring(delivery.opcode),
                               tostring(delivery.solicited))
      end
      seen[i] = table.concat(out, "; ")
    end
    t:equal("what the ULP is told without CRCs", seen[1], seen[2])
  end,
}
