-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 7.1: where a tagged segment may lie in its buffer.

defaults { llp = "any" }

-- The error of octets outside of a buffer: where one begins at TO 0, octets before it wrap, too.
local function outside(m, offset, octets)
  local first = m.TO + offset
  return math.ult(first + octets - 1, first) and { "DDP_BOUNDS", "DDP_TO_WRAP" } or "DDP_BOUNDS"
end

check {
  id = "DDP-7.1-12",
  role = "both",
  purpose = "tagged: TO lies in the range of the STag",
  run = function(t)
    local m = t:memory()
    for _, offset in ipairs { -8, -1, m.octets, m.octets + 4096, m.TO ~= 0 and -m.TO or 1 << 31, 1 << 32 } do
      t:expect_error(m:write(offset, "12345678"), outside(m, offset, 8), string.format("a Write at base %+d of 4096 octets", offset))
    end
    for _, offset in ipairs { -1, m.octets, -4096, 1 << 31, -(1 << 32), 1 << 63 } do
      t:expect_error(m:write(offset, "1"), "DDP_BOUNDS", string.format("a Write of one octet at base %+d of 4096", offset))
    end
    m:check("nothing is placed from outside the range")
  end,
}

-- A message that begins 1000 octets before the end, and leaves the range in a later segment: what came before may be
-- placed by then.
local function leaves_later(t, number, octets, last)
  local m, c = t:memory(), t:open()
  local at, name = m.octets - 1000, string.format("segment %d of a Write, which leaves the range", number)
  for _ = 2, number do
    c:send(m:write(at, pattern(octets), { L = 0 }))
    at = at + octets
  end
  c:expect_error(m:write(at, pattern(octets), { L = last }), "DDP_BOUNDS", name)
  t:equal("memory from where " .. name .. ", begins", string.rep("\xA5", m.octets - at), m:octets_now(m.octets):sub(at + 1))
end

check {
  id = "DDP-7.1-13",
  role = "both",
  purpose = "tagged: TO and payload together lie in the range of the STag",
  run = function(t)
    local m = t:memory()
    for _, case in ipairs { { m.octets - 8, 16 }, { m.octets - 1, 2 }, { m.octets - 1000, 1001 }, { m.octets - 1, 4 },
                            { m.octets - 2, 6 }, { m.octets - 1, 64 }, { m.octets - 400, 1400 } } do
      t:expect_error(m:write(case[1], pattern(case[2])), "DDP_BOUNDS",
                     string.format("%d octets at base + %d of 4096", case[2], case[1]))
    end
    if t:takes_long() then
      t:expect_error(m:write(m.octets - 8, pattern(LONG)), "DDP_BOUNDS", LONG .. " octets at base + " .. m.octets - 8 .. " of " .. m.octets)
    end
    m:check("no octet of a segment that leaves the range is placed")
    leaves_later(t, 2, 600, 0)
    leaves_later(t, 3, 400, 1)
  end,
}

-- The sum is one of 64 bits: a Write across 2^33 does not wrap.
local function across_4_gib(t)
  local m = t:memory { octets = 8192, base = 0x1FFFFF000, optional = true }
  if not m then return end -- the device chooses where its memory is
  local c = t:open()
  for _, case in ipairs { { 4095, 2 }, { 4000, 96 }, { 3000, 1200 } } do
    local data = pattern(case[2])
    c:send(m:write(case[1], data))
    c:probe { message = string.format("a Write of %d octets at TO 0x%x", case[2], m.TO + case[1]) }
    m:patch(case[1], data)
  end
  m:check("a Write across 2^33 is placed")
end

check {
  id = "DDP-7.1-14",
  purpose = "tagged: TO and payload together do not pass 2^64",
  run = function(t)
    local m = t:memory()
    local memories = { m, t:memory { base = -4096, optional = true } }
    local top = memories[2]
    for _, memory in ipairs(memories) do
      for _, case in ipairs { { 16, 32 }, { 1, 2 }, { 8, 9 }, { 1, 1400 } } do -- octets before 2^64, octets in all
        t:expect_error(rdmap.write { STag = memory.STag, TO = -case[1], data = pattern(case[2]) },
                       { "DDP_TO_WRAP", "DDP_BOUNDS" }, string.format("%d octets at TO 0x%X", case[2], -case[1]))
      end
    end
    m:check("nothing is placed by a Write that wraps")
    across_4_gib(t)
    if top == nil then return end -- the device chooses where its memory is: not there
    top:check("nothing is placed by a Write that wraps")
    local c = t:open()
    -- One octet less: whether a Write that ends at 2^64 itself wraps is DDP-7.1-27's question.
    c:send(top:write(4087, "to the 1"))
    c:probe { message = "8 octets at TO 0xFFFFFFFFFFFFFFF7 end before 2^64" }
    top:patch(4087, "to the 1")
    top:check("a Write that ends right before 2^64 is placed")
  end,
}

-- Segments that fail a check and come after a gap, in which a device may place what comes (5.3): a Write without the
-- right to it, and a Send of one octet too many. Over TCP they are long enough for a Marker, from which an FPDU can be
-- found.
local function before_its_turn(t)
  local length = t:receive_length(599)
  local function after_a_gap(bad, message)
    local good = rdmap.send { data = "good" }
    local dut = { receives = 8, receive_octets = length }
    if not t:over_sctp() then dut.markers = true end
    local c = t:stream_if_asked("open", { dut = dut }, "not tried after a gap")
    if not c then return end
    if t:over_sctp() then
      c:probe()
      local fill = c:send_behind(good, { bad })
      rig.wait(t.quiet / 4)
      fill()
    else
      if not c.send_framing.markers then return end
      c:probe()
      c:behind_a_gap(c:octets(good), c:octets(bad), 0.2)
    end
    c:expect_over(message)
    t:expect_deliveries(c, { "good" }, message .. ": the Send before it is delivered alone")
  end
  local m = t:memory { access = { "read" } }
  after_a_gap(m:write(0, pattern(700)), "a Write to memory that may be read alone, after a gap")
  m:check("of a segment that comes before its turn and fails a check nothing is placed")
  after_a_gap(rdmap.send { MO = length - 599, data = pattern(600) }, string.format("%d octets for a receive of %d, after a gap", length + 1, length))
end

check {
  id = "DDP-7.1-15",
  purpose = "all checks come before the placement: of a segment that leaves the buffer nothing is placed",
  run = function(t)
    local m = t:memory()
    t:expect_error(m:write(m.octets - 1399, pattern(1400)), "DDP_BOUNDS", "1400 octets, the last of them outside")
    m:check("no octet of a segment that fails a check is placed")
    before_its_turn(t)
  end,
}

check {
  id = "DDP-7.1-16",
  purpose = "after the octet that is in error no octet of the segment is placed, however large it is",
  run = function(t)
    -- A segment of 8000 octets may be refused by the LLP (MPA-3-16).
    local c = t:open()
    c:send(t:memory { octets = 16384 }:write(0, pattern(8000)))
    local sizes, cases = c:alive() and { 1400, 8000 } or { 1400 }, {}
    for _, octets in ipairs(sizes) do
      for _, before in ipairs { 1, 8, octets // 2 } do
        cases[#cases + 1] = { octets = octets, before = before, called = before .. " of " .. octets }
      end
    end
    -- The first octets lie before the buffer: all that would lie in it comes after the error.
    t:each_value("octets before the buffer", cases, function(case)
      local m = t:memory { octets = 16384 }
      t:expect_error(m:write(-case.before, pattern(case.octets)), outside(m, -case.before, case.octets),
                     string.format("%d octets, the first %d of them before the buffer", case.octets, case.before))
      m:check("after an error the rest of the segment is not placed")
    end)
  end,
}
