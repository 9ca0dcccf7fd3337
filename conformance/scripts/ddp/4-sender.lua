-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4 and 5: segments that the device sends when its ULP asks for a Write or a Send.

defaults { llp = "any" }

local STAG, TO = 0x89ABCDEF, 0x1FFFFFFF1

-- The segments of a message of this many octets that the device is asked to send, whatever their L says.
local function segments_of(t, c, kind, octets)
  if kind == "write" then
    t.dut:write { stream = t:stream_of(c), stag = STAG, to = string.format("0x%x", TO), length = octets }
  else
    t.dut:send { stream = t:stream_of(c), length = octets }
  end
  local header = kind == "write" and 14 or 18
  local segments, taken = {}, 0
  repeat
    local got = c:receive()
    if got.kind ~= "segment" then
      t:fail("a message of " .. octets .. " octets", octets .. " octets in segments", taken .. " octets, then " .. describe(got))
    end
    if got.Opcode ~= 7 then
      segments[#segments + 1] = got
      taken = taken + #got.ulpdu - header
    end
  until taken >= octets
  t:equal("payload of a message of " .. octets .. " octets", octets, taken)
  return segments
end

-- Calls judge(segments, kind, octets) for Writes and Sends of one and of several segments.
local function each_message(t, judge)
  local c = t:open()
  c:probe()
  for _, kind in ipairs { "write", "send" } do
    for _, octets in ipairs { 1, 1000, 10000 } do judge(segments_of(t, c, kind, octets), kind, octets) end
  end
end

local function flags(segments)
  local out = {}
  for i, got in ipairs(segments) do out[i] = got.ulpdu:byte(1) >> 6 & 1 end
  return table.concat(out, " ")
end

check {
  id = "DDP-4.1-04",
  role = "both",
  purpose = "L = 1 on the last segment of each message",
  run = function(t)
    each_message(t, function(segments, kind, octets)
      t:equal(string.format("L of the last segment of a %s of %d octets", kind, octets), 1,
              segments[#segments].ulpdu:byte(1) >> 6 & 1)
    end)
  end,
}

check {
  id = "DDP-4.1-05",
  role = "both",
  purpose = "L = 1 on no segment but the last",
  run = function(t)
    each_message(t, function(segments, kind, octets)
      local wanted = string.rep("0 ", #segments - 1) .. "1"
      t:equal(string.format("L of the segments of a %s of %d octets", kind, octets), wanted, flags(segments))
    end)
  end,
}

check {
  id = "DDP-4.2-02",
  role = "both",
  purpose = "T is one in the tagged header",
  sandwich = "startup",
  judges = { "read" },
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(m:read(0, 32))
    local got = c:expect_segment("a Read of 32 octets", "a Read Response")
    t:equal("T of a Read Response", 1, got.ulpdu:byte(1) >> 7)
    for _, segment in ipairs(segments_of(t, c, "write", 5000)) do t:equal("T of a Write", 1, segment.ulpdu:byte(1) >> 7) end
  end,
}

check {
  id = "DDP-4.2-03",
  role = "both",
  purpose = "RsvdULP of a tagged segment is what the ULP gave: 0x40 for a Write",
  run = function(t)
    local c = t:open()
    c:probe()
    for i, got in ipairs(segments_of(t, c, "write", 5000)) do
      t:equal("RsvdULP of segment " .. i .. " of a Write", 0x40, got.ulpdu:byte(2))
    end
  end,
}

check {
  id = "DDP-4.2-09",
  role = "both",
  purpose = "the STag of a tagged segment is what the ULP gave",
  run = function(t)
    local c = t:open()
    c:probe()
    for i, got in ipairs(segments_of(t, c, "write", 5000)) do
      t:equal("STag of segment " .. i .. " of a Write", "89abcdef", hex(got.ulpdu:sub(3, 6)))
    end
  end,
}

check {
  id = "DDP-4.3-08",
  role = "both",
  purpose = "all segments of an untagged message carry the same QN",
  run = function(t)
    local c = t:open()
    c:probe()
    for i, got in ipairs(segments_of(t, c, "send", 10000)) do
      t:equal("QN of segment " .. i .. " of a Send", "00000000", hex(got.ulpdu:sub(7, 10)))
    end
  end,
}

check {
  id = "DDP-5.2-01",
  role = "both",
  purpose = "a message is cut into segments, each with a whole header",
  run = function(t)
    each_message(t, function(segments, kind, octets)
      if octets == 10000 and #segments < 2 then t:fail("segments of 10000 octets at an MSS of 1460", "several", "one") end
      for i, got in ipairs(segments) do
        local control = kind == "write" and 0x81 or 0x01
        t:equal("DDP control octet of segment " .. i .. ", but for L", control, got.ulpdu:byte(1) & ~0x40)
      end
    end)
  end,
}

check {
  id = "DDP-5.2-02",
  llp = "tcp",
  role = "both",
  purpose = "no segment is larger than MULPDU",
  run = function(t)
    for _, mss in ipairs { 536, 1460 } do
      local c = t:open { mss = mss }
      c:probe()
      local mulpdu = mulpdu_of(mss)
      for _, kind in ipairs { "send", "write" } do
        for _, got in ipairs(segments_of(t, c, kind, 20000)) do
          if #got.ulpdu > mulpdu then t:longer_than_mulpdu("ULPDU at an MSS of " .. mss, mulpdu, #got.ulpdu) end
        end
      end
    end
  end,
}

-- Offsets of the segments in their message, in the order in which they came.
local function rising(t, segments, field, first, what)
  for i = 2, #segments do
    if segments[i][field] - first <= segments[i - 1][field] - first then
      t:warn(what, "rising", string.format("segment %d at +%d after one at +%d", i, segments[i][field] - first,
                                           segments[i - 1][field] - first))
    end
  end
end

check {
  id = "DDP-5.3-03",
  role = "both",
  purpose = "segments of an untagged message leave in rising MO order",
  run = function(t)
    local c = t:open()
    c:probe()
    c.as_sent = true
    rising(t, segments_of(t, c, "send", 10000), "MO", 0, "MO of the segments of a Send")
  end,
}

check {
  id = "DDP-5.3-04",
  role = "both",
  purpose = "segments of a tagged message leave in rising TO order",
  run = function(t)
    local c = t:open()
    c:probe()
    c.as_sent = true
    rising(t, segments_of(t, c, "write", 10000), "TO", TO, "TO of the segments of a Write")
  end,
}
