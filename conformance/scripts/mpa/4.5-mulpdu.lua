-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 3, 4.5 and 5.1: EMSS and MULPDU as an instrumented MPA reports them, and what the wire shows of them.

defaults { sandwich = "startup" }

-- The device writes so many octets; all are taken. Returns the longest ULPDU.
local function longest(t, c, octets, message)
  t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = octets }
  local most, at = 0, 0
  c.as_sent = true
  repeat
    local got = c:expect(rdmap.write {}, { message = message })
    most, at = math.max(most, got.fpdu.length), at + #got.data
  until got.L == 1
  t:equal("octets of the Write", octets, at)
  return most
end

-- The formula's value is the most that MULPDU may be (MPA-4.5-03); a device may leave room for TCP's options.
local function expect_mulpdu(t, what, formula, mulpdu)
  if mulpdu > formula or mulpdu < formula - 40 then
    t:fail("MULPDU " .. what, formula .. ", or what TCP's options leave of it", tostring(mulpdu))
  end
end

check {
  id = "MPA-3-06",
  role = "both",
  purpose = "a ULPDU of more than 64768 octets is refused, and puts no octet on the wire, however large the EMSS",
  run = function(t)
    for _, mss in ipairs { 1460, 65495 } do
      local c = t:open_with_framing { mss = mss, dut = mss > 1460 and { emss = mss } or nil }
      local stream = t:stream_of(c)
      t:instrument("mpa", { stream = stream })
      for _, length in ipairs { 64769, 64772, 65489 } do
        local answer = rig.command { verb = "post_ulpdu", stream = stream, length = length }
        local message = string.format("a ULPDU of %d octets at an MSS of %d", length, mss)
        if answer.ok then t:fail(message, "it is refused", "it is taken") end
        local alive, got = c:alive() -- the answer is the next thing: no octet of the refused ULPDU came before it
        if not alive then t:fail(message .. " was refused", "the answer to a zero-length RDMA Read", describe(got)) end
      end
    end
  end,
}

check {
  id = "MPA-3-08",
  role = "both",
  purpose = "a ULPDU of MULPDU + 1 octets is refused, or sent whole in one FPDU",
  run = function(t)
    local c = t:open_with_framing()
    local stream = t:stream_of(c)
    local mulpdu = t:instrument("mpa", { stream = stream }).mulpdu
    local posted = t:instrument("post_ulpdu", { stream = stream, length = mulpdu, stag = 1 })
    local got = c:expect(rdmap.write { STag = 1 }, { message = "a ULPDU of MULPDU octets" })
    t:equal("ULPDU_Length of a ULPDU of MULPDU octets", mulpdu, got.fpdu.length)
    local answer = rig.command { verb = "post_ulpdu", stream = stream, length = mulpdu + 1, stag = 2 }
    if answer.ok then
      got = c:expect(rdmap.write { STag = 2 }, { message = "a ULPDU of MULPDU + 1 octets, which was taken" })
      t:equal("ULPDU_Length of a ULPDU of MULPDU + 1 octets", mulpdu + 1, got.fpdu.length)
    end
    c:probe { message = "after a ULPDU of MULPDU + 1 octets" }
  end,
}

check {
  id = "MPA-3-09",
  role = "both",
  requires = "upper_tester",
  purpose = "an FPDU fits one IP datagram with all its Markers, however large the EMSS",
  run = function(t)
    local headers = (rig.addresses()):find(":", 1, true) and 20 or 40
    local c = t:open_with_framing { mss = 65495, own_markers = true, dut = { emss = 65495 } }
    t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = 200000 }
    local at = 0
    c.as_sent = true
    repeat
      local before = c.receive_framing.position
      local got = c:expect(rdmap.write {}, { message = "an FPDU of a Write of 200000 octets" })
      local octets = c.receive_framing.position - before
      if octets > 65535 - headers then t:fail("octets of an FPDU", "at most " .. 65535 - headers, tostring(octets)) end
      at = at + #got.data
    until got.L == 1
  end,
}

-- The EMSS falls while a long Write is on its way: what comes when TCP has sent what it had taken before is shorter,
-- too.
local function in_a_message(t)
  local octets, emss <const> = 400000, 700
  local c = t:open_with_framing()
  local stream = t:stream_of(c)
  c:window(8192)
  t.dut:write { stream = stream, stag = 0x1234, to = 0, length = octets }
  c.as_sent = true
  local taken = #c:expect(rdmap.write {}, { message = "a Write of 400000 octets" }).data
  t:instrument("set_emss", { stream = stream, emss = emss })
  c:window(65535)
  local most, got = 0, nil
  repeat
    got = c:expect(rdmap.write {}, { message = "the rest of the Write" })
    if taken > octets * 3 // 4 then most = math.max(most, got.fpdu.length) end
    taken = taken + #got.data
  until got.L == 1
  if most > mulpdu_of(emss, false) then
    t:fail("longest ULPDU in the last quarter of a Write, near whose begin EMSS fell to " .. emss,
           "at most " .. mulpdu_of(emss, false), tostring(most))
  end
end

check {
  id = "MPA-4.5-06",
  role = "both",
  purpose = "when EMSS changes MULPDU changes with it, in the middle of a message, too",
  run = function(t)
    in_a_message(t)
    for _, markers in ipairs { false, true } do
      local c = t:open_with_framing { own_markers = markers }
      local stream = t:stream_of(c)
      t:instrument("mpa", { stream = stream })
      longest(t, c, 20000, "before EMSS changes")
      -- Of each residue modulo 4, at multiples of 512 and right beyond, and where MULPDU has its least value.
      for _, emss in ipairs { 960, 700, 1200, 961, 962, 963, 1023, 1024, 1025, 1027, 512, 513, 140, 130 } do
        t:instrument("set_emss", { stream = stream, emss = emss })
        local most = longest(t, c, 20000, "after EMSS has changed")
        -- Shorter ones are as legal (DDP-5.2-15).
        local what = string.format("at an EMSS of %d, %s Markers", emss, markers and "with" or "without")
        expect_mulpdu(t, what, mulpdu_of(emss, markers), t:instrument("mpa", { stream = stream }).mulpdu)
        if most > mulpdu_of(emss, markers) then
          t:fail("longest ULPDU " .. what, "at most " .. mulpdu_of(emss, markers), tostring(most))
        end
      end
    end
  end,
}

check {
  id = "MPA-4.5-09",
  role = "both",
  requires = "upper_tester",
  purpose = "MULPDU does not sink below 128, however little room small FPDUs leave of a TCP segment",
  run = function(t)
    local c = t:open_with_framing { mss = 536 }
    local stream = t:stream_of(c)
    for i = 1, 40 do
      t.dut:send { stream = stream, data = "31" }
      local status = rig.command { verb = "status", stream = stream }
      if status.ok and status.mulpdu and status.mulpdu < 128 then
        t:fail(string.format("MULPDU after %d Sends of 1 octet", i), "128 or more", tostring(status.mulpdu))
      end
    end
    t.dut:write { stream = stream, stag = 0x1234, to = 0, length = 8192 }
    for _ = 1, 40 do c:expect(rdmap.send { data = "1" }, { message = "Sends of 1 octet" }) end
    repeat
      local got = c:expect(rdmap.write {}, { message = "a Write after small Sends" })
      if got.L == 0 and got.fpdu.length < 128 then
        t:warn("a segment of a Write, not its last", "ULPDU_Length 128 or more", tostring(got.fpdu.length))
      end
    until got.L == 1
  end,
}

check {
  id = "MPA-5.1-02",
  role = "both",
  purpose = "the EMSS that TCP reports is used: MULPDU follows the MSS of each connection",
  run = function(t)
    for _, mss in ipairs { 1400, 536, 1000 } do
      local c = t:open_with_framing { mss = mss }
      local state = t:instrument("mpa", { stream = t:stream_of(c) })
      local own = math.min(mss, c.tcp:status().mss) -- the device's MSS may be less than the tester's
      if state.emss > mss or state.emss < own - 40 then
        t:warn("EMSS at an MSS of " .. mss, "what TCP's options leave of it", tostring(state.emss))
      end
      expect_mulpdu(t, "at an EMSS of " .. state.emss, mulpdu_of(state.emss, false), state.mulpdu)
      local most = longest(t, c, 20000, "a Write at an MSS of " .. mss)
      if most > state.mulpdu then t:fail("longest ULPDU", "at most " .. state.mulpdu, tostring(most)) end
      c:finish()
    end
    -- Two at once: the one with the smaller MSS was established first.
    local small, large = t:open_with_framing { mss = 536 }, t:open_with_framing { mss = 1400 }
    local most = longest(t, small, 20000, "a Write at an MSS of 536, beside a stream with 1400")
    if most > mulpdu_of(536, false) then
      t:fail("longest ULPDU beside a stream with a larger MSS", "at most " .. mulpdu_of(536, false), tostring(most))
    end
    large:probe()
  end,
}

check {
  id = "MPA-9.1-02",
  role = "both",
  purpose = "a path MTU of 68, or 0, leaves MULPDU at 128 or above, and a transfer completes",
  run = function(t)
    local c = t:open_with_framing()
    local stream = t:stream_of(c)
    t:instrument("mpa", { stream = stream })
    for _, emss in ipairs { 28, 0 } do
      local answer = rig.command { verb = "set_emss", stream = stream, emss = emss }
      local mulpdu = t:instrument("mpa", { stream = stream }).mulpdu
      if mulpdu < 128 then
        t:fail("MULPDU at a path MTU of " .. (emss == 0 and 0 or emss + 40), "128 or more", tostring(mulpdu))
      end
      t:note("EMSS " .. emss .. ": " .. (answer.ok and "MULPDU " .. mulpdu or "refused"))
      longest(t, c, 4096, "a Write after the path MTU fell")
    end
  end,
}

-- Three small Sends of which none is acknowledged; the first that does not come, as "Send N of 3", and what came. The
-- first may take as long as any Send; what Nagle's algorithm holds back comes when the device's TCP sends that one again.
local function held_back(t)
  local c = t:open_with_framing()
  local stream = t:stream_of(c)
  local expected, instead
  c.tcp:ack("withheld")
  for i = 1, 3 do t.dut:send { stream = stream, data = hex("nagle " .. i) } end
  for i = 1, 3 do
    local got = c:receive(i == 1 and t.reaction or math.min(t.reaction, 0.15))
    if not fits(rdmap.send { data = "nagle " .. i }, got) then
      expected, instead = "Send " .. i .. " of 3", describe(got)
      break
    end
  end
  c.tcp:ack("each")
  c.tcp:ack("now")
  if expected then c:finish() end
  return expected, instead
end

check {
  id = "MPA-A.2-01",
  role = "both",
  requires = "upper_tester",
  purpose = "a second small FPDU leaves before the first is acknowledged",
  run = function(t)
    local expected, instead
    -- A device that stood still for this moment is none that waits for an ACK: that one waits each time.
    for _ = 1, 3 do
      expected, instead = held_back(t)
      if not expected then return end
    end
    t:warn("small FPDUs without an ACK between them", expected, instead)
  end,
}
