-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 1.2, 3 and 6: an MPA that passes on what comes after a gap in TCP (PICS item mpa.out_of_order).

-- The device's TCP hands over what comes after a gap, as far as its upper tester says.
local function looks_ahead(t)
  if rig.has_upper_tester() and t.dut:capabilities().out_of_order == false then
    t:skip("its TCP hands octets over in order only")
  end
end

check {
  id = "MPA-1.2-01",
  role = "both",
  purpose = "what comes after a gap is delivered in the order of sending, when the gap has closed: Reads, and Sends",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local messages, first = t:empty_messages(2)
    c:behind_a_gap(c:octets(messages[1]), c:octets(messages[2]), 2, function()
      local got = c:receive(0)
      if got.kind ~= "timeout" then t:fail("a Read Request after a gap", "no answer before it closes", describe(got)) end
    end)
    for tag = first, #messages do
      c:expect(rdmap.read_response { STag = tag }, { message = "the gap has closed: the Reads are answered in their order" })
    end
    if not rig.has_upper_tester() then return end
    c:behind_a_gap(c:octets(rdmap.send { data = "first" }), c:octets(rdmap.send { data = "second" }), 1, function()
      t:expect_deliveries(c, {}, "a Send after a gap is not delivered before it closes")
    end)
    c:probe { message = "the gap has closed" }
    t:expect_deliveries(c, { "first", "second" }, "the gap has closed: the Sends are delivered in their order")
  end,
}

-- Octets of payload, 700 at most, of a Write that has a Marker in it and fits into the device's receive window after
-- `first`: what lies beyond that window TCP does not hand over (RFC 5044 A.3).
local function room_after(c, first)
  local status = c.tcp:status()
  local room = status.peer_window - c.tcp:unacknowledged() - #first
  local around <const> = 2 + 14 + 3 + 4 + 2 * 4 -- ULPDU_Length, header, pad, CRC, two Markers
  if room < 512 + around then
    c.t:inconclusive("the device's receive window of " .. status.peer_window .. " octets has no room for a gap and a Marker after it")
  end
  return math.min(700, room - around)
end

check {
  id = "MPA-3-11",
  role = "both",
  requires = "upper_tester",
  purpose = "a valid ULPDU after a gap goes to DDP at once: its payload is in place before the gap closes",
  run = function(t)
    looks_ahead(t)
    local c = t:open_with_framing { markers = true }
    local memory = t:memory()
    local first = c:octets(rdmap.send { data = pattern(40) })
    local data = pattern(room_after(c, first))
    local later = c:octets(memory:write(64, data))
    local early
    c:behind_a_gap(first, later, 1, function()
      early = unhex(t.dut:mem_read { stag = memory.STag, offset = 64, length = #data }.data)
    end)
    memory:patch(64, data)
    c:probe { message = "the gap has closed" }
    memory:check("the Write, after all")
    if early ~= data then
      t:warn("a Write after a gap, with a Marker in it", "its payload in place before the gap closes", "unchanged memory")
    end
  end,
}

check {
  id = "MPA-3-12",
  role = "both",
  purpose = "ULPDUs that come in the order 4, 2, 3, 1 are told with what orders them as they were sent",
  run = function(t)
    looks_ahead(t)
    local dut = { markers = true, trace = true, rev = t:plain_rev() }
    local c
    if t.role == "responder" then
      c = t:connect { port = t:listen(dut, true) }
      c:start_as_initiator()
    else
      c = t:accept { dut = dut, special = true }
      c:start_as_responder()
      c:ask_first_send()
      c:expect(rdmap.send {}, { message = "the device's first Send after start-up" })
    end
    c:probe()
    local stream = t:stream_of(c)
    t.dut:poll()
    local memory, pieces, length = t:memory(), {}, {}
    for i = 1, 4 do
      length[i] = 600 + 4 * i
      pieces[i] = c:octets(memory:write(0, pattern(length[i] - 14, i)))
    end
    c:send_segments(pieces, { 4, 2, 3, 1 })
    c:probe { message = "four Writes in the order 4, 2, 3, 1" }
    local keys, early = {}, 0
    for _, event in ipairs(t.dut:poll().events) do
      if event.event == "ulpdu" and event.stream == stream then
        for i = 1, 4 do
          if event.octets == length[i] then
            if keys[i] and keys[i] ~= event.order then
              t:fail("what orders ULPDU " .. i, tostring(keys[i]), tostring(event.order))
            end
            keys[i] = event.order
          end
        end
        early = early + (event.early and 1 or 0)
      end
    end
    for i = 1, 4 do
      if not keys[i] then t:fail("ULPDU " .. i .. " of 4", "it is told", "nothing") end
      if i > 1 and not (keys[i] > keys[i - 1]) then
        t:fail("what orders ULPDUs " .. i - 1 .. " and " .. i, "more than " .. keys[i - 1], tostring(keys[i]))
      end
    end
    t:note(early .. " ULPDUs were told after a gap")
  end,
}

check {
  id = "MPA-3-13",
  role = "both",
  requires = "upper_tester",
  purpose = "a ULPDU is delivered when it and all before it are there: not in the 3 seconds of a gap",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    c:behind_a_gap(c:octets(rdmap.send { data = "MSN 1" }), c:octets(rdmap.send { data = "MSN 2" }), 3, function()
      t:expect_deliveries(c, {}, "while a gap is before it nothing is delivered")
    end)
    c:probe { message = "the gap has closed" }
    t:expect_deliveries(c, { "MSN 1", "MSN 2" }, "the gap has closed")
  end,
}

check {
  id = "MPA-3-14",
  role = "both",
  requires = "upper_tester",
  purpose = "DDP is told that TCP was closed, or reset",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local stream = t:stream_of(c)
    c.tcp:fin()
    t:expect_event("half_closed", { stream = stream }, "a FIN", "it is told")
    c:expect_second_half("the device's ULP closes too")
    c = t:open_with_framing { markers = true }
    stream = t:stream_of(c)
    c.tcp:reset()
    t:expect_event("error", { stream = stream }, "a RST", "it is told")
  end,
}

check {
  id = "MPA-6-05",
  role = "both",
  requires = "upper_tester",
  purpose = "a Marker may be used to find FPDUs after a gap, and lengths chained from there: no error, all delivered in order",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    local sent, octets = {}, {}
    -- A hole of one FPDU; after it the end of an FPDU, a Marker in the next one, and one more.
    for i, length in ipairs { 100, 300, 700, 200, 90 } do
      sent[i] = pattern(length, i)
      octets[i] = c:octets(rdmap.send { data = sent[i] })
    end
    local all = table.concat(octets)
    c:behind_a_gap(all:sub(1, 250), all:sub(251), 3)
    c:expect_accepted(sent, "FPDUs after a gap, after it has closed")
  end,
}
