-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 3, 4.5 and 5.1, the device as sender: how long its ULPDUs are, as far as the wire shows it.

local TIMESTAMPS = 12 -- octets of a segment that a TCP may spend on them

-- The device's Write of 64 KiB at this MSS: the ULPDU_Lengths of its FPDUs, the formula's value (RFC 5044 4.5), and all
-- that a device may have in its place: its own MSS may be less than the tester's, and its TCP may have timestamps.
local function lengths_at(t, mss, markers)
  local c = t:open_with_framing { mss = mss, own_markers = markers }
  t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = 65536 }
  local lengths = {}
  c.as_sent = true
  repeat
    local got = c:expect(rdmap.write {}, { message = "the FPDUs of a Write of 64 KiB" })
    lengths[#lengths + 1] = got.fpdu.length
  until got.L == 1
  local own = math.min(mss, c.tcp:status().mss)
  local good = {}
  for _, emss in ipairs { mss, mss - TIMESTAMPS, own, own - TIMESTAMPS } do good[#good + 1] = mulpdu_of(emss, markers) end
  return lengths, mulpdu_of(mss, markers), good
end

local function is_one_of(value, list)
  for _, one in ipairs(list) do
    if one == value then return true end
  end
  return false
end

-- No ULPDU is longer; with `full`, all but the last are as long.
local function within_mulpdu(t, full)
  -- What an Ethernet MTU leaves over IPv4 and over IPv6: a device takes no more, whatever the tester offers.
  local most = (rig.addresses()):find(":", 1, true) and 1440 or 1460
  for _, mss in ipairs { most, 536 } do
    for _, markers in ipairs { false, true } do
      local lengths, mulpdu, good = lengths_at(t, mss, markers)
      local what = string.format("ULPDU_Length at an MSS of %d %s Markers", mss, markers and "with" or "without")
      for i, length in ipairs(lengths) do
        if length > mulpdu then t:warn(what, "at most " .. mulpdu, tostring(length)) end
        if full and i < #lengths and not is_one_of(length, good) then
          t:warn(what .. ", not the last one", mulpdu .. " or, with timestamps, " .. good[2], tostring(length))
        end
      end
    end
  end
end

check {
  id = "MPA-3-02",
  also = { "MPA-3-03" },
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "no ULPDU is longer than MULPDU, which follows the MSS and whether there are Markers",
  run = function(t) within_mulpdu(t, false) end,
}

check {
  id = "MPA-5.1-01",
  also = { "MPA-4.5-05" },
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "ULPDUs are as long as MULPDU, by the formula of 4.5",
  run = function(t) within_mulpdu(t, true) end,
}

check {
  id = "MPA-4.5-11",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "MULPDU comes from the MSS, or from what TCP's options leave of it; never from the MTU",
  run = function(t)
    local mss = (rig.addresses()):find(":", 1, true) and 1440 or 1460
    local reading
    for _, markers in ipairs { false, true } do
      local lengths, mulpdu, good = lengths_at(t, mss, markers)
      local most = math.max(table.unpack(lengths))
      local what = string.format("ULPDU_Length at an MSS of %d %s Markers", mss, markers and "with" or "without")
      if most > mulpdu then t:fail(what, "at most " .. mulpdu, tostring(most)) end
      if most == good[2] or most == good[4] then reading = "B: EMSS shrinks by the TCP options (4.5)" end
    end
    if reading then t:ambiguous(reading) end
    t:note("the readings differ only where TCP spends room on options")
  end,
}

check {
  id = "MPA-5.1-03",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "with a large MSS of the peer the MTU rules: MULPDU is what it leaves after IP and TCP headers",
  run = function(t)
    local headers = (rig.addresses()):find(":", 1, true) and 60 or 40
    for _, markers in ipairs { false, true } do
      local lengths, _, good = lengths_at(t, 8960, markers)
      local most = math.max(table.unpack(lengths))
      local what = "longest ULPDU, " .. (markers and "with" or "without") .. " Markers"
      local function room(mtu)
        return mulpdu_of(mtu - headers, markers)
      end
      local fits_one = most == good[3] or most == good[4]
      -- Timestamps, and a sender that leaves out alignment, may cost some octets.
      for _, mtu in ipairs { 1500, 9000 } do fits_one = fits_one or (most <= room(mtu) and most > room(mtu) - 64) end
      if not fits_one then
        t:warn(what, string.format("about %d (MTU 1500) or %d (MTU 9000)", room(1500), room(9000)), tostring(most))
      end
    end
  end,
}

check {
  id = "MPA-5.1-04",
  role = "responder",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "64 KiB on an idle stream, all of it taken: how FPDUs lie in TCP segments is judged by the rule",
  run = function(t)
    local c = t:open_with_framing { fresh = true }
    c:send(rdmap.write { STag = 0, TO = 0 })
    t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = 65536 }
    local at = 0
    repeat
      local got = c:expect(rdmap.write { TO = at }, { message = "an FPDU of a Write of 64 KiB" })
      at = at + #got.data
    until got.L == 1
    t:equal("octets of the Write", 65536, at)
    c:finish()
  end,
}
