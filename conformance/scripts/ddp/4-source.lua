-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4.1 to 5.3: headers and contents of what a Data Source sends.

defaults { llp = "any" }

local STAG, OTHER, TO = 0x89ABCDEF, 0x13572468, 0xFEDC0001FFFFFFF1

-- The segments of one message of this many octets, whatever their headers say; and its payload.
local function message(t, c, header, octets, what)
  local out, data = {}, {}
  local taken = 0
  repeat
    local got = c:expect_segment(what)
    out[#out + 1] = got
    data[#data + 1] = got.ulpdu:sub(header + 1)
    taken = taken + #got.ulpdu - header
  until taken >= octets
  return out, table.concat(data)
end

local function post(t, c, kind, octets)
  if kind == "write" then
    t.dut:write { stream = t:stream_of(c), stag = STAG, to = string.format("0x%x", TO), length = octets }
  else
    t.dut:send { stream = t:stream_of(c), length = octets }
  end
  return kind == "write" and 14 or 18
end

check {
  id = "DDP-4.1-01",
  role = "both",
  purpose = "the first octet of a segment is the DDP control octet: C1, 81, 41 or 01",
  run = function(t)
    local c = t:open()
    c:probe()
    for _, kind in ipairs { "write", "send" } do
      for _, octets in ipairs { 1, 3000 } do
        local header = post(t, c, kind, octets)
        for i, got in ipairs(message(t, c, header, octets, "a " .. kind .. " of " .. octets .. " octets")) do
          t:equal(string.format("control octet of segment %d of a %s, but for L", i, kind), kind == "write" and 0x81 or 0x01,
                  got.ulpdu:byte(1) & 0xBF)
        end
      end
    end
  end,
}

check {
  id = "DDP-4.2-01",
  role = "both",
  purpose = "the tagged header: 14 octets, the STag in octets 2 to 5, TO in 6 to 13, most significant octet first",
  run = function(t)
    local c = t:open()
    c:probe()
    post(t, c, "write", 3000)
    local at, wanted = 0, counted(3000)
    for i, got in ipairs(message(t, c, 14, 3000, "a Write of 3000 octets")) do
      t:equal("STag of segment " .. i, hex(string.pack(">I4", STAG)), hex(got.ulpdu:sub(3, 6)))
      t:equal("TO of segment " .. i, hex(string.pack(">I8", TO + at)), hex(got.ulpdu:sub(7, 14)))
      local data = got.ulpdu:sub(15)
      if data ~= wanted:sub(at + 1, at + #data) then t:fail("payload from octet 14 on", "the Write's octets", hex(data:sub(1, 16))) end
      at = at + #data
    end
    for _, to in ipairs { 1 << 40 | 8, 8, -4096 } do -- each Write has its own, in all 64 bits
      t.dut:write { stream = t:stream_of(c), stag = STAG, to = string.format("0x%x", to), length = 8 }
      t:equal("TO of a Write", string.format("%016x", to), hex(message(t, c, 14, 8, "a Write of 8 octets")[1].ulpdu:sub(7, 14)))
    end
    local m = t:memory { data = "sixteen octets.." }
    c:send(m:read(0, 16, { SinkSTag = OTHER, SinkTO = TO }))
    local got = c:expect_segment("a Read of 16 octets")
    t:equal("a Read Response from octet 2 on", hex(string.pack(">I4I8", OTHER, TO) .. "sixteen octets.."), hex(got.ulpdu:sub(3)))
  end,
}

check {
  id = "DDP-4.3-01",
  role = "both",
  purpose = "the untagged header: 18 octets, QN in octets 6 to 9, MSN in 10 to 13, MO in 14 to 17",
  run = function(t)
    local c = t:open()
    c:probe()
    local at, msn, wanted = 0, t.role == "responder" and 1 or 2, counted(3000)
    post(t, c, "send", 3000)
    for i, got in ipairs(message(t, c, 18, 3000, "a Send of 3000 octets")) do
      t:equal("QN, MSN and MO of segment " .. i, hex(string.pack(">I4I4I4", 0, msn, at)), hex(got.ulpdu:sub(7, 18)))
      local data = got.ulpdu:sub(19)
      if data ~= wanted:sub(at + 1, at + #data) then t:fail("payload from octet 18 on", "the Send's octets", hex(data:sub(1, 16))) end
      at = at + #data
    end
  end,
}

check {
  id = "DDP-4.3-03",
  role = "both",
  purpose = "RsvdULP of an untagged segment is what the ULP gave: the opcode, and the STag to invalidate or zeros",
  run = function(t)
    local c = t:open()
    c:probe()
    local stream = t:stream_of(c)
    local cases = {
      { "send", {}, "4300000000" }, { "send", { solicited = true }, "4500000000" },
      { "send", { invalidate = STAG }, "4489abcdef" }, { "send", { invalidate = STAG, solicited = true }, "4689abcdef" },
      { "read", { source_stag = STAG, length = 0 }, "4100000000" }, { "terminate", { layer = 0, etype = 0, code = 0 }, "4700000000" },
    }
    for _, case in ipairs(cases) do
      case[2].stream = stream
      t.dut[case[1]](t.dut, case[2])
      local got = c:expect_segment("what was posted")
      t:equal("RsvdULP of a posted " .. case[1], case[3], hex(got.ulpdu:sub(2, 6)))
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Messages that wait after each other: a responder may not send before the initiator's first FPDU. A session over SCTP
-- has no such rule: there they wait after a Read Response that the shut window holds.

local HELD = 0x77

local function held(t)
  local c = t:open()
  local m = t:memory { octets = t.large }
  c:probe()
  c:window(0)
  c:send(m:read(0, t.large, { SinkSTag = HELD }))
  t:stream_of(c)
  rig.wait(t.quiet) -- also for a device whose responses take a while
  return c
end

local function released(c)
  c:window(65535)
  repeat
    local got = c:expect_segment("the Read Response in front of what was posted")
  until got.STag == HELD and got.L == 1
end

local function queued(t, posts, ...)
  local over_tcp = rig.llp() == "tcp"
  local c = over_tcp and t:open() or held(t)
  for _, one in ipairs(posts) do
    one[2].stream = t:stream_of(c)
    t.dut[one[1]](t.dut, one[2])
  end
  if ... then c:send(...) else c:send(rdmap.send { data = "go" }) end
  if not over_tcp then released(c) end
  return c
end

local function write_of(stag, octets) return { "write", { stag = stag, to = string.format("0x%x", TO), length = octets } } end

check {
  id = "DDP-4.2-07",
  purpose = "a Write between Read Responses keeps its RsvdULP to the last segment",
  run = function(t)
    local m = t:memory()
    local reads = {}
    for i = 1, t:depth("ird", 2) do reads[i] = m:read(0, 64, { SinkSTag = OTHER }) end
    local c = queued(t, { write_of(STAG, 4000) }, table.unpack(reads))
    local taken = 0
    repeat
      local got = c:expect_segment("a Write of 4000 octets, and Read Responses of 64")
      local stag = string.unpack(">I4", got.ulpdu, 3)
      t:equal(string.format("RsvdULP of the message to STag 0x%08x", stag), stag == OTHER and 0x42 or 0x40, got.ulpdu:byte(2))
      taken = taken + #got.ulpdu - 14
    until taken >= 4000 + 64 * #reads
  end,
}

check {
  id = "DDP-4.2-13",
  purpose = "of two Writes to different STags each keeps its own to the last segment",
  run = function(t)
    local c = queued(t, { write_of(STAG, 4000), write_of(OTHER, 4000) })
    for _, stag in ipairs { STAG, OTHER } do
      for i, got in ipairs(message(t, c, 14, 4000, "two Writes of 4000 octets")) do
        t:equal("STag of segment " .. i, hex(string.pack(">I4", stag)), hex(got.ulpdu:sub(3, 6)))
      end
    end
  end,
}

check {
  id = "DDP-4.3-10",
  purpose = "a Send in front of a Read Request keeps its QN to the last segment",
  run = function(t)
    local c = queued(t, { { "send", { length = 4000 } }, { "read", { source_stag = 1, length = 0 } } })
    for i, got in ipairs(message(t, c, 18, 4000, "a Send of 4000 octets")) do
      t:equal("QN of segment " .. i .. " of the Send", "00000000", hex(got.ulpdu:sub(7, 10)))
    end
    t:equal("QN of the Read Request", "00000001", hex(c:expect_segment("the Read Request after it").ulpdu:sub(7, 10)))
  end,
}

check {
  id = "DDP-4.3-15",
  purpose = "a Send in front of others keeps its MSN to the last segment",
  run = function(t)
    local c = queued(t, { { "send", { length = 4000 } }, { "send", { length = 3000 } }, { "send", { length = 10 } } })
    for msn, octets in ipairs { 4000, 3000, 10 } do
      for i, got in ipairs(message(t, c, 18, octets, "three Sends")) do
        t:equal(string.format("MSN of segment %d of Send %d", i, msn), msn, string.unpack(">I4", got.ulpdu, 11))
      end
    end
  end,
}

check {
  id = "DDP-5.3-02",
  purpose = "messages leave in the order in which the ULP posted them, tagged and untagged alike",
  run = function(t)
    local posts = { { "send", { length = 100 } }, write_of(STAG, 20000), { "send", { length = 200 } }, write_of(OTHER, 20000),
                    { "send", { length = 300 } } }
    local c = queued(t, posts)
    for i, one in ipairs(posts) do
      local octets, header = one[2].length, one[1] == "write" and 14 or 18
      for _, got in ipairs(message(t, c, header, octets, "five messages in order")) do
        t:equal("T of a segment of message " .. i, one[1] == "write" and 1 or 0, got.ulpdu:byte(1) >> 7)
        if header == 14 then t:equal("its STag", one[2].stag, string.unpack(">I4", got.ulpdu, 3)) end
      end
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Contents

check {
  id = "DDP-5.2-04",
  role = "both",
  purpose = "all octets of a message are sent, whatever its length",
  run = function(t)
    local c = t:open()
    c:probe()
    local stream = t:stream_of(c)
    for _, octets in ipairs { 0, 1, 1436, 1437, 65539 } do
      t.dut:send { stream = stream, length = octets }
      local data = {}
      repeat
        local got = c:expect_segment("a Send of " .. octets .. " octets")
        data[#data + 1] = got.data
      until got.L == 1
      local whole = table.concat(data)
      t:equal("octets of a Send of " .. octets, octets, #whole)
      if whole ~= counted(octets) then t:fail("a Send of " .. octets .. " octets", "the octets posted", "others") end
    end
  end,
}

-- Asks for an empty message of each kind and for one octet after it: judge(segment, what, the octets RsvdULP should
-- be).
local function each_empty(t, judge)
  local c = t:open()
  local m = t:memory()
  c:send(rdmap.send { data = "go" })
  local stream = t:stream_of(c)
  local kinds = {
    { "Write", 0x40, 0xC1, function() t.dut:write { stream = stream, stag = STAG, length = 0 } end },
    { "Read Response", 0x42, 0xC1, function() c:send(m:read(0, 0, { SinkSTag = OTHER })) end },
    { "Send", 0x43, 0x41, function() t.dut:send { stream = stream, length = 0 } end },
  }
  for _, kind in ipairs(kinds) do
    kind[4]()
    judge(c:expect_segment("an empty " .. kind[1]), kind)
    t.dut:write { stream = stream, stag = OTHER, length = 1 }
    local got = c:expect_segment("a Write of one octet after an empty " .. kind[1])
    t:equal("octets of what follows an empty " .. kind[1], 15, #got.ulpdu)
  end
end

check {
  id = "DDP-5.2-10",
  role = "both",
  sandwich = "startup",
  purpose = "a message of length zero is one segment: a header, with L = 1",
  judges = { "empty read" },
  run = function(t)
    each_empty(t, function(got, kind)
      t:equal("octets of an empty " .. kind[1], kind[3] == 0xC1 and 14 or 18, #got.ulpdu)
      t:equal("L of an empty " .. kind[1], 1, got.ulpdu:byte(1) >> 6 & 1)
    end)
  end,
}

check {
  id = "DDP-5.2-11",
  role = "both",
  sandwich = "startup",
  purpose = "control octet and RsvdULP of an empty tagged message are valid",
  run = function(t)
    each_empty(t, function(got, kind)
      if kind[3] == 0xC1 then
        t:equal("octets 0 and 1 of an empty " .. kind[1], string.format("%02x%02x", kind[3], kind[2]), hex(got.ulpdu:sub(1, 2)))
      end
    end)
  end,
}

check {
  id = "DDP-5.2-03",
  purpose = "a message of 2^32 octets is refused, and nothing of it is sent",
  run = function(t)
    local c = t:open()
    c:probe()
    local stream = t:stream_of(c)
    for _, verb in ipairs { "send", "write" } do
      t:expect_refused(verb, { stream = stream, stag = verb == "write" and STAG or nil, length = 1 << 32 },
                       "a " .. verb .. " of 2^32 octets")
    end
    c:expect_quiet { message = "nothing is sent" }
    c:probe()
  end,
}

check {
  id = "DDP-5.2-07",
  purpose = "a Write has to be given its STag",
  run = function(t)
    local c = t:open()
    c:probe()
    t:expect_refused("write", { stream = t:stream_of(c), length = 8 }, "a Write without an STag")
    post(t, c, "write", 8)
    local got = c:expect_segment("a Write with STag and TO")
    t:equal("STag and TO of its segment", hex(string.pack(">I4I8", STAG, TO)), hex(got.ulpdu:sub(3, 14)))
  end,
}

check {
  id = "DDP-5.2-14",
  llp = "tcp",
  purpose = "the example of RFC 5041 5.2: 2048 octets at a MULPDU of 1500",
  run = function(t)
    local c = t:open { mss = 8960 }
    c:probe()
    local stream = t:stream_of(c)
    t.dut:mulpdu { stream = stream, mulpdu = 1500 }
    -- A device that does not fill its segments is free to (DDP-5.2-15). One that lacks a few octets has counted
    -- wrongly.
    local function greedy(got, header)
      if got.L == 0 and #got.data + header <= 1500 - 28 then
        t:ambiguous("B: smaller segments than MULPDU allows")
      end
    end
    t.dut:send { stream = stream, length = 2048 }
    for i, wanted in ipairs { { 0, 1482 }, { 1482, 566 } } do
      local got = c:expect_segment("a Send of 2048 octets")
      if i == 1 then greedy(got, 18) end
      t:equal("MO and octets of segment " .. i, wanted[1] .. " " .. wanted[2], got.MO .. " " .. #got.data)
    end
    t.dut:write { stream = stream, stag = STAG, to = 16384, length = 2048 }
    for i, wanted in ipairs { { 16384, 1486 }, { 17870, 562 } } do
      local got = c:expect_segment("a Write of 2048 octets to TO 16384")
      if i == 1 then greedy(got, 14) end
      t:equal("TO and octets of segment " .. i, wanted[1] .. " " .. wanted[2], got.TO .. " " .. #got.data)
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- What the ULP gives

-- Calls judge(segment, what, qn) for a Send, a Read Request and a Terminate of the device.
local function each_untagged(t, judge)
  local c = t:open()
  c:probe()
  local stream = t:stream_of(c)
  local posts = { { "send", { length = 8 }, 0 }, { "read", { source_stag = STAG, length = 0 }, 1 },
                  { "terminate", { layer = 0, etype = 0, code = 0 }, 2 } }
  for _, one in ipairs(posts) do
    one[2].stream = stream
    t.dut[one[1]](t.dut, one[2])
    judge(c:expect_segment("what was posted"), "a posted " .. one[1], one[3])
  end
end

check {
  id = "DDP-4.2-12",
  role = "both",
  purpose = "the STag of each segment of a tagged message is what the ULP gave",
  run = function(t)
    local c = t:open()
    c:probe()
    post(t, c, "write", 5000)
    for i, got in ipairs(message(t, c, 14, 5000, "a Write of 5000 octets")) do
      t:equal("STag of segment " .. i, hex(string.pack(">I4", STAG)), hex(got.ulpdu:sub(3, 6)))
    end
  end,
}

check {
  id = "DDP-4.3-02",
  role = "both",
  purpose = "T is zero in the untagged header",
  run = function(t)
    each_untagged(t, function(got, what) t:equal("T of " .. what, 0, got.ulpdu:byte(1) >> 7) end)
  end,
}

check {
  id = "DDP-4.3-09",
  role = "both",
  purpose = "the QN is what the ULP gave: 0 for Sends, 1 for Read Requests, 2 for Terminates",
  run = function(t)
    each_untagged(t, function(got, what, qn) t:equal("QN of " .. what, qn, string.unpack(">I4", got.ulpdu, 7)) end)
  end,
}
