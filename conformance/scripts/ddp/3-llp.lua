-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 1.2 and 3: streams, and what DDP asks of the layer below.

defaults { llp = "any" }

check {
  id = "DDP-1.2-04",
  purpose = "streams are independent: one that waits for octets does not hold up another, and each counts its own MSNs",
  run = function(t)
    local a, b = t:pair()
    local fill = a:send_behind(rdmap.send { data = "late" }, { rdmap.send { data = "behind" } })
    b:send(rdmap.send { data = "one" }, rdmap.send { data = "two" })
    t:expect_deliveries(b, { "one", "two" }, "two Sends, while octets are missing on another stream")
    fill()
    t:expect_deliveries(a, { "late", "behind" }, "the stream on which octets were missing")
    for _, c in ipairs { a, b } do
      t.dut:send { stream = t:stream_of(c), data = "66" }
      local got = c:expect(rdmap.send { data = "f" }, { message = "the device's first Send on the stream" })
      t:equal("its MSN", 1, got.MSN)
    end
  end,
}

-- The device sends this many octets, in FPDUs of at most `mulpdu`; from the segment on that is no larger, all are not.
local function sent(t, c, octets, mulpdu, before)
  local taken, small = 0, false
  c.as_sent = true
  repeat
    local got = c:receive()
    if got.kind ~= "segment" then t:fail("a Write of " .. octets .. " octets", "all of it", taken .. " octets, then " .. describe(got)) end
    -- A segment may be shorter than MULPDU whatever that is (DDP-5.2-15): one that nearly fills the new one has seen
    -- it.
    small = small or (#got.ulpdu <= mulpdu and #got.ulpdu > mulpdu - 64 and got.L == 0)
    local most = small and mulpdu or before or mulpdu
    if #got.ulpdu > most then t:longer_than_mulpdu("ULPDUs of a Write", most, #got.ulpdu) end
    taken = taken + #got.data
  until got.L == 1
  t:equal("octets of the Write", octets, taken)
end

check {
  id = "DDP-3-02",
  llp = "tcp",
  purpose = "segments fit the MULPDU of the MSS, and follow it when it changes",
  run = function(t)
    local c = t:open { mss = 536 }
    c:probe()
    t.dut:write { stream = t:stream_of(c), stag = 1, length = 65536 }
    sent(t, c, 65536, mulpdu_of(536))
    c = t:open { mss = 1460 }
    c:probe()
    t.dut:set_emss { stream = t:stream_of(c), emss = 1000 }
    t.dut:write { stream = t:stream_of(c), stag = 1, length = 65536 }
    sent(t, c, 65536, mulpdu_of(1000))
  end,
}

check {
  id = "DDP-3-03",
  llp = "tcp",
  purpose = "segments that are with TCP when MULPDU shrinks leave as they are, later ones are smaller",
  run = function(t)
    local c = t:open { mss = 1460 }
    c:probe()
    c:window(0)
    t.dut:write { stream = t:stream_of(c), stag = 1, length = t.large }
    t.dut:set_emss { stream = t:stream_of(c), emss = 536 }
    c:window(65535)
    sent(t, c, t.large, mulpdu_of(536), mulpdu_of(1460))
    c:probe()
  end,
}

check {
  id = "DDP-3-04",
  llp = "tcp",
  purpose = "what was taken is sent in the end, or told as failed",
  run = function(t)
    local c = t:open()
    c:probe()
    local stream = t:stream_of(c)
    c.tcp:ack("withheld")
    t.dut:write { stream = stream, stag = 1, length = 20000 }
    rig.wait(t.quiet / 4)
    c.tcp:ack("each")
    c.tcp:ack("now")
    sent(t, c, 20000, mulpdu_of(1460))
    c:window(0)
    t.dut:write { stream = stream, stag = 1, length = t.large, id = 7 }
    c:reset()
    -- A device that has copied the octets may have completed the Write (RFC 5040 5.5): what is reported then is that
    -- the stream is lost.
    local event
    repeat event = t:collect_events(c, { write_done = true, flushed = true }, 1)[1] until event == nil or event.id == 7
    if not event then t:fail("a Write on a connection that is lost", "the event \"flushed\", or \"write_done\" before", "none") end
    if event.event == "write_done" then t:expect_event("closed", { stream = stream }, "a connection that is lost") end
  end,
}

check {
  id = "DDP-3-06",
  purpose = "a segment may be placed before the one in front of it has come, or not: in the end both are",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    c:send_shuffled({ m:write(0, pattern(100)), m:write(100, pattern(100, 9)) }, { 2, 1 })
    c:probe { message = "two Writes, whose segments change places" }
    m:patch(0, pattern(100) .. pattern(100, 9))
    m:check("two Writes, whose segments change places")
  end,
}

check {
  id = "DDP-3-07",
  purpose = "the sender's order is the order of delivery, whichever packet comes first",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:probe()
    local fill = c:send_behind(rdmap.send { data = "one" }, { rdmap.send { data = "two" } })
    rig.wait(t.quiet / 4)
    t:expect_deliveries(c, {}, "the second of two Sends came, the first did not")
    fill()
    t:expect_deliveries(c, { "one", "two" }, "both have come")
  end,
}

check {
  id = "DDP-3-08",
  llp = "tcp",
  purpose = "a digest of 32 bits guards the segment: one bit of the payload is enough",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    c:probe()
    local octets = c:octets(rdmap.send { data = pattern(64) })
    local at = 2 + 18 + 40
    c.tcp:send(octets:sub(1, at) .. string.char(octets:byte(at + 1) ~ 4) .. octets:sub(at + 2))
    c:expect_crc_error("a Send with one bit of its payload turned over, the CRC as it was")
    t:expect_deliveries(c, {}, "it is not delivered")
  end,
}

check {
  id = "DDP-3-10",
  llp = "any-end",
  purpose = "after an error of DDP the LLP stream is labelled erroneous",
  run = function(t)
    local c = t:open()
    local stream = t:stream_of(c)
    t:equal("state of the LLP stream at first", "ok", t.dut:ddp { stream = stream }.llp)
    c:draw_terminate()
    t:equal("state of the LLP stream after an error", "erroneous", t.dut:ddp { stream = stream }.llp)
  end,
}

local function no_error(t, c)
  for _, event in ipairs(t:events_of(c)) do
    if event.event == "error" then t:fail("a graceful end", "no error", tostring(event.text)) end
  end
end

check {
  id = "DDP-3-12",
  llp = "any-end",
  purpose = "the ULP learns that the peer ended the stream gracefully, and not that it was lost",
  run = function(t)
    local c = t:open { dut = { hold_open = true } }
    local stream = t:stream_of(c)
    c:probe()
    c:fin()
    t:expect_event("half_closed", { stream = stream }, "the peer's FIN")
    no_error(t, c)
    t:equal("state of the LLP stream", "graceful", t.dut:ddp { stream = stream }.llp)
  end,
}

check {
  id = "DDP-3-13",
  llp = "any-end",
  purpose = "the ULP learns that the connection ended gracefully",
  run = function(t)
    local c = t:open()
    local stream = t:stream_of(c)
    c:probe()
    c:fin()
    c:expect_second_half("the tester's FIN is answered by the device's")
    t:expect_event("closed", { stream = stream }, "FIN of both sides")
    no_error(t, c)
  end,
}

check {
  id = "DDP-3-15",
  llp = "tcp",
  purpose = "octets that TCP brings again are no second segment",
  run = function(t)
    local c = t:open()
    t:stream_of(c)
    local octets
    for _, data in ipairs { "one", "two", "three" } do
      octets = c:octets(rdmap.send { data = data })
      c.tcp:send(octets)
    end
    t:expect_deliveries(c, { "one", "two", "three" }, "three Sends")
    c.tcp:raw { offset = -#octets, octets = octets }
    c:probe { message = "the last of three Sends, repeated by TCP" }
    t:expect_deliveries(c, { "one", "two", "three" }, "the last of three Sends, repeated by TCP")
  end,
}
