-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 5: segments, messages, placement and delivery at the Data Sink.

defaults { llp = "any" }

-- Cuts a Send into segments with these payload sizes (the last one repeats): frames in order.
local function send_in_segments(data, sizes, msn)
  local out, at, i = {}, 0, 0
  repeat
    i = i + 1
    local size = sizes[math.min(i, #sizes)]
    local piece = data:sub(at + 1, at + size)
    out[i] = rdmap.send { MSN = msn, MO = at, data = piece, L = at + size >= #data and 1 or 0 }
    at = at + size
  until at >= #data
  return out
end

local function write_in_segments(m, offset, data, sizes)
  local out, at, i = {}, 0, 0
  repeat
    i = i + 1
    local size = sizes[math.min(i, #sizes)]
    out[i] = m:write(offset + at, data:sub(at + 1, at + size), { L = at + size >= #data and 1 or 0 })
    at = at + size
  until at >= #data
  return out
end

check {
  id = "DDP-1.2-02",
  purpose = "an untagged message shorter than its receive is delivered as it is",
  judges = { "send to" },
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 4096 } }
    c:send(rdmap.send { data = "1" })
    t:expect_deliveries(c, { "1" }, "one octet into a receive of 4096")
    c:send(rdmap.send { data = "two" })
    t:expect_deliveries(c, { "1", "two" }, "the next message has the next receive")
  end,
}

check {
  id = "DDP-1.2-03",
  purpose = "an untagged message longer than its receive is an error: neither cut nor spilt into the next",
  run = function(t)
    local length = t:receive_length(64)
    local c = t:open { dut = { receives = 4, receive_octets = length } }
    c:send(c:send_frames(length + 1))
    c:expect_terminate("DDP_TOO_LONG", { message = string.format("%d octets into a receive of %d", length + 1, length) })
    t:expect_deliveries(c, {}, "a message too long is not delivered")
  end,
}

check {
  id = "DDP-3-05",
  llp = "tcp",
  purpose = "segment and message boundaries survive any packetisation",
  run = function(t)
    local c = t:open()
    local wanted = { "1", pattern(1000), pattern(17, 3) }
    local octets = ""
    for _, data in ipairs(wanted) do octets = octets .. c:octets(rdmap.send { data = data }) end
    c:send_segments { octets:sub(1, 11), octets:sub(12, 45), octets:sub(46, 700), octets:sub(701) }
    t:expect_deliveries(c, wanted, "three Sends in TCP segments cut at odd places")
    wanted[4], wanted[5] = "four", "five"
    c:send(rdmap.send { data = "four" }, rdmap.send { data = "five" })
    t:expect_deliveries(c, wanted, "two FPDUs in one TCP segment")
  end,
}

check {
  id = "DDP-5.1.1-01",
  purpose = "a tagged buffer is written again and again, at the same octets",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local sends = {}
    for round = 1, 3 do
      local data = pattern(200, round * 11)
      sends[round] = "round " .. round
      c:send(m:write(50, data), rdmap.send { data = sends[round] })
      t:expect_deliveries(c, sends, "the Send after each Write")
      m:patch(50, data)
      m:check("each round's Write is placed")
    end
  end,
}

check {
  id = "DDP-5.2-05",
  role = "both",
  purpose = "the payload of every segment is placed, whatever the sizes",
  run = function(t)
    local sizes = { 1, 7, 1000, 1, 1400, 3, 1200 }
    local length = math.min(t:receive_length(70003), 70003)
    local c = t:open { dut = { receives = 4, receive_octets = length } }
    local m = t:memory { octets = 80000 }
    local data = pattern(70003) -- several segments begin beyond 64 KiB
    for _, frame in ipairs(write_in_segments(m, 9, data, sizes)) do c:send(frame) end
    for _, frame in ipairs(send_in_segments(data:sub(1, length), sizes, 1)) do c:send(frame) end
    c.msn[0] = 2
    t:expect_deliveries(c, { data:sub(1, length) }, "a Send of " .. length .. " octets in segments of many sizes")
    m:patch(9, data)
    m:check("a Write of 70003 octets in segments of many sizes")
    c:probe()
  end,
}

check {
  id = "DDP-5.2-09",
  purpose = "messages of length zero are allowed, untagged and tagged",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(rdmap.send {}, m:write(0, ""))
    c:send(m:read(0, 0, { SinkSTag = 77 }))
    c:expect(rdmap.read_response { STag = 77, L = 1, data = "" }, { message = "a Read of length zero is answered" })
    t:expect_deliveries(c, { "" }, "a Send of length zero is delivered")
    c:probe()
  end,
}

check {
  id = "DDP-5.2-12",
  role = "both",
  purpose = "STag and TO of a tagged message of length zero are not looked at",
  run = function(t)
    local c = t:open()
    for _, stag in ipairs { 0xFFFFFFFF, 0, UNKNOWN_STAG } do
      c:send(rdmap.write { STag = stag, TO = -1 })
      c:probe { message = string.format("an empty Write with STag 0x%08x and TO 0xFFFFFFFFFFFFFFFF", stag) }
    end
    c:send(rdmap.send { data = "next" })
    t:expect_deliveries(c, { "next" }, "a Send after empty Writes")
  end,
}

check {
  id = "DDP-5.3-07",
  llp = "tcp",
  purpose = "a message is delivered once: a TCP repetition is no second message, an MSN used again is an error",
  run = function(t)
    local c = t:open()
    local octets = c:octets(rdmap.send { data = "once" })
    c.tcp:segments(octets, { #octets }, { 1, 1 })
    t:expect_deliveries(c, { "once" }, "a Send whose TCP segment came twice")
    c:expect_error(rdmap.send { data = "again", MSN = 1 }, "DDP_MSN_RANGE",
                   "an MSN that was delivered already", { warn = { "DDP_NO_BUFFER" } })
    t:expect_deliveries(c, { "once" }, "an MSN is delivered once")
  end,
}

check {
  id = "DDP-5.3-08",
  purpose = "messages are delivered in the order in which they were sent, however TCP brings them",
  run = function(t)
    local c = t:open { dut = { receives = 32 } }
    local frames, wanted, order = {}, {}, {}
    for i = 1, 20 do
      wanted[i] = pattern((i * 37) % 200 + 1, i)
      frames[i] = rdmap.send { data = wanted[i] }
      order[i] = (i * 7) % 20 + 1
    end
    c:send_shuffled(frames, order)
    t:expect_deliveries(c, wanted, "20 Sends in permuted TCP segments")
  end,
}

check {
  id = "DDP-5.3-09",
  purpose = "rising MO and TO are what a sender should keep to: a sink lives with segments in falling order",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local data = pattern(300)
    c:send(m:write(200, data:sub(201), { L = 0 }), m:write(0, data:sub(1, 100), { L = 0 }),
           m:write(100, data:sub(101, 200)))
    c:probe { message = "segments of a Write in falling order" }
    m:patch(0, data)
    m:check("segments of a Write in falling order are placed")
    c:send(rdmap.send { MSN = 1, MO = 100, data = data:sub(101, 200), L = 0 },
           rdmap.send { MSN = 1, MO = 0, data = data:sub(1, 100), L = 0 },
           rdmap.send { MSN = 1, MO = 200, data = data:sub(201) })
    local got = c:receive(t.quiet)
    if is_terminate(got, "DDP_INVALID_MO") then
      t:warn("segments of a Send in falling order", "their delivery", describe(got))
    end
    if got.kind ~= "timeout" then t:fail("segments of a Send in falling order", "their delivery", describe(got)) end
    t:expect_deliveries(c, { data }, "segments of a Send in falling order")
  end,
}

check {
  id = "DDP-5.4-01",
  purpose = "nothing is delivered before the segment with L = 1",
  run = function(t)
    local c = t:open()
    local first, last = pattern(100), pattern(100, 100)
    c:send(rdmap.send { MSN = 1, data = first, L = 0 })
    c:expect_quiet { message = "half a message" } -- no probe: not every stack takes another message in the midst of one (DDP-5.3-10)
    t:expect_deliveries(c, {}, "a message whose last segment has not come")
    c:send(rdmap.send { MSN = 1, MO = 100, data = last })
    t:expect_deliveries(c, { first .. last }, "one message of two segments")
  end,
}

check {
  id = "DDP-5.4-02",
  purpose = "nothing is delivered before all segments are placed, though the last one arrives first",
  run = function(t)
    local c = t:open()
    local fill = c:send_behind(rdmap.send { MSN = 1, data = "first ", L = 0 }, { rdmap.send { MSN = 1, MO = 6, data = "last" } })
    c:expect_quiet { message = "nothing follows from a segment after a gap" }
    t:expect_deliveries(c, {}, "the segment before the last is missing")
    fill()
    t:expect_deliveries(c, { "first last" }, "the missing segment has come")
  end,
}

check {
  id = "DDP-5.4-05",
  purpose = "a message is delivered as soon as it is complete, without waiting for more",
  judges = { "send to" },
  run = function(t)
    local c = t:open()
    c:send(rdmap.send { data = "alone" })
    t:expect_deliveries(c, { "alone" }, "one Send, then silence")
  end,
}

check {
  id = "DDP-5.4-06",
  purpose = "each delivery has the length of the message",
  run = function(t)
    local c = t:open { dut = { receives = 8, receive_octets = 8192 } }
    local wanted = { "", "1", pattern(17), pattern(4405), pattern(16), "" }
    for i, data in ipairs(wanted) do
      for _, frame in ipairs(send_in_segments(data, { 1400 }, i)) do c:send(frame) end
    end
    c.msn[0] = #wanted + 1
    local got = t:expect_deliveries(c, wanted, "Sends of 0, 1, 17, 4405, 16 and 0 octets")
    for i, delivery in ipairs(got) do t:equal("the length that the ULP is told", #wanted[i], t:event_member(delivery, "octets")) end
    c = t:open()
    c:send(raw.segment { data = c:ulpdu(empty_read(1)):sub(1, 45) })
    c:expect_over("a Read Request of 27 octets is not executed")
  end,
}

check {
  id = "DDP-5.4-07",
  purpose = "RsvdULP goes to the ULP with the message it belongs to",
  run = function(t)
    local c = t:open()
    local m, n, o = t:invalidatable(c), t:invalidatable(c), t:invalidatable(c)
    c:send(rdmap.send { data = "plain" }, rdmap.send_se { data = "event" },
           rdmap.send_invalidate { data = "invalidate", InvalidateSTag = m.STag }, rdmap.send { data = "plain again" },
           rdmap.send_se_invalidate { data = "both", InvalidateSTag = n.STag })
    -- Messages without payload, and of two segments.
    c:send(rdmap.send_se {}, rdmap.send {}, rdmap.send_se { data = "two ", L = 0 }, rdmap.send_se { MO = 4, data = "segments" },
           rdmap.send_se_invalidate { data = "two ", L = 0, InvalidateSTag = o.STag },
           rdmap.send_se_invalidate { MO = 4, data = "more", InvalidateSTag = o.STag })
    local got = t:expect_deliveries(c, { "plain", "event", "invalidate", "plain again", "both", "", "", "two segments", "two more" },
                                    "nine Sends")
    if got[1].solicited == nil then t:skip("the ULP's interface does not tell Solicited Events") end
    local stags = { [3] = m.STag, [5] = n.STag, [9] = o.STag } -- by message
    for i, opcode in ipairs { 3, 5, 4, 3, 6, 5, 3, 5, 6 } do
      if got[i].opcode ~= nil then t:equal("opcode that the ULP is told", opcode, got[i].opcode) end
      t:equal("a solicited event for opcodes 5 and 6 alone", opcode == 5 or opcode == 6, t:event_member(got[i], "solicited"))
      t:equal("an invalidation for opcodes 4 and 6 alone", stags[i], got[i].invalidated)
    end
  end,
}
