-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 4.1, 4.4, 4.6, 4.7, 5.3, 6.1: what the device sends when its ULP asks for each operation.

defaults { llp = "any" }

local WRITE, SEND, INVALIDATE, SE, SE_INVALIDATE = 0, 3, 4, 5, 6
local STAG = 0x12345678

-- A stream on which the device may send, and its number.
local function ready(t, dut)
  local c = t:open { dut = dut }
  c:probe()
  return c, t:stream_of(c)
end

local send_options = {
  [SEND] = {}, [SE] = { solicited = true }, [INVALIDATE] = { invalidate = STAG },
  [SE_INVALIDATE] = { invalidate = STAG, solicited = true },
}

-- Asks for a Send of this opcode, or a Write; returns the segments of the message as they come.
local function message(t, c, number, opcode, octets)
  if opcode == WRITE then
    t.dut:write { stream = number, stag = STAG, to = "0x100000003", length = octets }
  else
    local given = copy_fields(send_options[opcode])
    given.stream, given.length = number, octets
    t.dut:send(given)
  end
  local segments, taken = {}, 0
  repeat
    local got = c:receive()
    if got.kind ~= "segment" then
      t:fail("a message of " .. octets .. " octets", "segments with " .. octets .. " octets in all",
             taken .. " octets, then " .. describe(got))
    end
    segments[#segments + 1] = got
    taken = taken + #got.ulpdu - ((got.ulpdu:byte(1) & 0x80) ~= 0 and 14 or 18)
  until taken >= octets
  return segments
end

-- First octets of each segment of a message of the device: DDP control, RDMAP control.
local function expect_controls(t, opcode, tagged, what)
  local c, number = ready(t)
  for _, octets in ipairs { 64, 5000 } do
    local segments = message(t, c, number, opcode, octets)
    for i, got in ipairs(segments) do
      local control = (tagged and 0x81 or 0x01) | (i == #segments and 0x40 or 0)
      t:equal(string.format("%s of %d octets, segment %d: octets 0 and 1", what, octets, i),
              string.format("%02x%02x", control, 0x40 | opcode), hex(got.ulpdu:sub(1, 2)))
      if not tagged then t:equal(what .. ": QN", "00000000", hex(got.ulpdu:sub(7, 10))) end
    end
  end
end

check {
  id = "RDMAP-4.1-07",
  role = "both",
  purpose = "an RDMA Write of the device has opcode 0, T = 1",
  run = function(t) expect_controls(t, WRITE, true, "an RDMA Write") end,
}

check {
  id = "RDMAP-4.1-10",
  role = "both",
  purpose = "a Send of the device has opcode 3, T = 0, QN 0",
  judges = { "framing", "send from" },
  run = function(t) expect_controls(t, SEND, false, "a Send") end,
}

check {
  id = "RDMAP-4.1-11",
  role = "both",
  purpose = "a Send with Invalidate of the device has opcode 4, T = 0, QN 0",
  run = function(t) expect_controls(t, INVALIDATE, false, "a Send with Invalidate") end,
}

check {
  id = "RDMAP-4.1-12",
  role = "both",
  purpose = "a Send with Solicited Event of the device has opcode 5, T = 0, QN 0",
  run = function(t)
    expect_controls(t, SE, false, "a Send with Solicited Event")
    local c, number = ready(t) -- and no later Send has it
    for _, opcode in ipairs { SE, SEND, SE, SEND } do
      t.dut:send { stream = number, length = 8, solicited = opcode == SE }
      t:equal("opcode of Sends with and without Solicited Event in turn", opcode, opcode_of(c:expect_segment("a Send that was asked for")))
    end
  end,
}

check {
  id = "RDMAP-4.1-13",
  role = "both",
  purpose = "a Send with Solicited Event and Invalidate of the device has opcode 6, T = 0, QN 0",
  run = function(t) expect_controls(t, SE_INVALIDATE, false, "a Send with SE and Invalidate") end,
}

check {
  id = "RDMAP-4.1-08",
  role = "both",
  purpose = "a Read Request of the device has opcode 1, T = 0, QN 1",
  run = function(t)
    local c, number = ready(t)
    local sink = t:memory()
    t:post_read(c, sink, { length = 64 })
    local got = c:expect_segment("an RDMA Read", "a Read Request")
    t:equal("octets 0 and 1 of a Read Request", "4141", hex(got.ulpdu:sub(1, 2)))
    t:equal("QN of a Read Request", "00000001", hex(got.ulpdu:sub(7, 10)))
  end,
}

check {
  id = "RDMAP-4.1-03",
  role = "both",
  purpose = "octets 2 to 5 of a Send with Invalidate are the STag, in each segment",
  run = function(t)
    local c, number = ready(t)
    for _, opcode in ipairs { INVALIDATE, SE_INVALIDATE } do
      for i, got in ipairs(message(t, c, number, opcode, 5000)) do
        t:equal("octets 1 to 5 of segment " .. i, string.format("%02x12345678", 0x40 | opcode), hex(got.ulpdu:sub(2, 6)))
      end
    end
  end,
}

check {
  id = "RDMAP-5.3-16",
  role = "both",
  purpose = "a Send with Invalidate names the STag that its ULP named",
  run = function(t)
    local c, number = ready(t)
    for _, stag in ipairs { STAG, 0xFEDCBA98, 1 } do
      for _, solicited in ipairs { false, true } do
        t.dut:send { stream = number, invalidate = stag, solicited = solicited, length = 10 }
        local got = c:expect_segment("a Send with Invalidate", "a Send with Invalidate")
        t:equal("Invalidate STag", string.format("%08x", stag), hex(got.ulpdu:sub(3, 6)))
      end
    end
  end,
}

check {
  id = "RDMAP-4.1-05",
  role = "both",
  purpose = "T is 1 for Write and Read Response, and 0 for all other messages",
  sandwich = "startup",
  judges = { "read" },
  run = function(t)
    local c = t:open()
    local m = t:memory { octets = 5000 }
    c:send(m:read(0, 5000))
    local taken = 0
    repeat
      local got = c:expect_segment("a Read of 5000 octets", "a Read Response")
      t:equal("T of a Read Response", 1, got.ulpdu:byte(1) >> 7)
      taken = taken + #got.ulpdu - 14
    until taken >= 5000
    local number = t:stream_of(c)
    for _, opcode in ipairs { WRITE, SEND, SE, INVALIDATE, SE_INVALIDATE } do
      for _, got in ipairs(message(t, c, number, opcode, 3000)) do
        t:equal("T of opcode " .. opcode, opcode == WRITE and 1 or 0, got.ulpdu:byte(1) >> 7)
      end
    end
  end,
}

check {
  id = "RDMAP-4.4-01",
  role = "both",
  purpose = "the Read Request Header of the device is laid out as it should be",
  run = function(t)
    local c, number = ready(t)
    local sink = t:memory { octets = 0x10203 }
    t:post_read(c, sink, { source_stag = 0x0A0B0C0D, source_to = "0x1122334455667788", length = 0x10203 })
    local got = c:expect_segment("an RDMA Read", "a Read Request")
    t:equal("the Read Request Header", string.format("%08x%016x%08x0a0b0c0d1122334455667788", sink.STag, sink.TO, 0x10203),
            hex(got.ulpdu:sub(19)))
  end,
}

check {
  id = "RDMAP-4.6-01",
  role = "both",
  purpose = "Sends are described by their DDP headers alone: one MSN, MO the octets sent before",
  run = function(t)
    local c, number = ready(t)
    for _, opcode in ipairs { SEND, SE } do
      local at, msn = 0, nil
      for i, got in ipairs(message(t, c, number, opcode, 5000)) do
        msn = msn or got.MSN
        t:equal(string.format("MSN and MO of segment %d", i), msn .. " " .. at, got.MSN .. " " .. got.MO)
        at = at + #got.ulpdu - 18
      end
    end
  end,
}

check {
  id = "RDMAP-4.7-01",
  role = "both",
  purpose = "Sends with Invalidate have no header more: their payload begins at octet 18",
  run = function(t)
    local c, number = ready(t)
    for _, opcode in ipairs { INVALIDATE, SE_INVALIDATE } do
      local at = 0
      for i, got in ipairs(message(t, c, number, opcode, 5000)) do
        t:equal(string.format("MO of segment %d", i), at, got.MO)
        t:equal(string.format("first octet of segment %d after the header", i), at % 251, got.ulpdu:byte(19))
        at = at + #got.ulpdu - 18
      end
      t:equal("octets in all", 5000, at)
    end
  end,
}

local BEYOND = 6

-- The device has BEYOND * limit Reads to make, of so many octets; the tester answers none for a while, then one at a
-- time in two segments.
local function count_reads(t, limit, judge, octets)
  local c, number = ready(t, { ord = limit })
  local sink = t:memory()
  for _ = 1, BEYOND * limit do
    t:post_read(c, sink, { length = octets or 8 })
  end
  local open = {}
  local function take(seconds)
    local got = c:receive(seconds)
    if got.kind == "timeout" then
      t.timed_out = nil -- nothing was waited for: how many came is what is judged
      return false
    end
    if got.kind ~= "segment" or got.Opcode ~= 1 then t:fail("Reads of the device", "a Read Request", describe(got)) end
    open[#open + 1] = got
    return true
  end
  -- all that come: how far beyond is part of what the device does
  while take(#open < limit and t.reaction or t.quiet) do end
  judge(#open, "before any was answered")
  for i = 1, 2 * limit do
    local request = table.remove(open, 1)
    if request == nil then break end -- the last answers drew none
    if octets == 0 then
      c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = "" })
    else
      c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = "1234", L = 0 })
      take(t.quiet / 4)
      c:probe()
      -- Before there were no more than the limit allows, and one more came when a part of an answer had.
      if #open == limit then t:suspect(read_done_early()) end
      judge(#open + 1, "while Read " .. i .. " is half answered")
      c:send(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + 4, data = "5678" })
    end
    take(t.reaction)
    judge(#open, "after Read " .. i .. " was answered")
  end
end

check {
  id = "RDMAP-6.1-05",
  purpose = "the outbound limit of Reads is the one agreed with the ULP",
  run = function(t)
    local limit = t:depth("ord", 3)
    count_reads(t, limit, function(open, when)
      if open > limit then t:fail("Reads open " .. when, tostring(limit), tostring(open)) end
      if open < limit then t:warn("Reads open " .. when, tostring(limit), tostring(open)) end
    end)
  end,
}

check {
  id = "RDMAP-6.1-07",
  purpose = "at no time are more Reads open than were agreed",
  run = function(t)
    local cases = { { 1 }, { t:depth("ord", 3) }, { t:depth("ord", 4) }, { t:depth("ord", 2), 0 } }
    for _, case in ipairs(cases) do case.called = case[1] .. (case[2] and " of size " .. case[2] or "") end
    t:each_value("limit", cases, function(case)
      local limit, octets = case[1], case[2]
      count_reads(t, limit, function(open, when)
        if open > limit then
          t:fail("Reads " .. (octets and "of size " .. octets .. " " or "") .. "open " .. when, "at most " .. limit, tostring(open))
        end
      end, octets)
    end)
  end,
}
