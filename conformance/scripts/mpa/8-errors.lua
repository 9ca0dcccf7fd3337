-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 section 8: error codes 2 (CRC) and 3 (Marker and ULPDU_Length disagree), and what follows them.

-- A Send with a Marker inside whose FPDUPTR is wrong by `flip`, its CRC right, and a Read Request after it.
local function wrong_marker(c, flip, markers)
  markers = markers or 1
  local data = pattern(c:marker_distance() + 512 * (markers - 1) + 40)
  return fpdu(rdmap.send { data = data }, { marker_index = markers - 1, marker_flip = flip }), empty_read(7)
end

check {
  id = "MPA-8-02",
  role = "both",
  purpose = "a CRC mismatch is found: Terminate 2/0/02, or the segment is dropped",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    c:expect_crc_error("a CRC field with one wrong bit")
  end,
}

-- FPDU 2, whose Marker is wrong, arrives before FPDU 1.
local function behind_gap(t, flip)
  local c = t:open_with_framing { markers = true }
  local first = c:octets(rdmap.send { data = pattern(100) })
  local bad, probe = wrong_marker(c, flip)
  local second = c:octets(bad)
  c:send_segments({ first, second .. c:octets(probe) }, { 2, 1 })
  return c:mpa_outcome({ "MPA_MARKER", "MPA_CRC" }, "a Marker that disagrees with ULPDU_Length, after a gap"), c
end

check {
  id = "MPA-8-03",
  role = "both",
  purpose = "a Marker that disagrees with ULPDU_Length after a gap is found",
  run = function(t)
    if behind_gap(t, 4) == "accepted" then
      t:warn("a Marker that disagrees with ULPDU_Length, after a gap", "Terminate 2/0/03 or 2/0/02, or dropped", "accepted")
    end
  end,
}

check {
  id = "MPA-8-05",
  role = "both",
  purpose = "error codes reach the Terminate: 2 for a CRC error, 3 for a wrong Marker",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 0x800 }))
    c:expect_crc_error("a CRC error surfaces as code 2")
    c.tcp:close()
    c = t:open_with_framing { markers = true }
    c:send(wrong_marker(c, 8))
    c:mpa_outcome({ "MPA_MARKER" }, "a Marker error surfaces as code 3, if at all")
  end,
}

check {
  id = "MPA-8-06",
  role = "both",
  purpose = "a Marker off by 8 in order: Terminate 2/0/03 and no DDP error; taken or dropped is legal too",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    c:send(wrong_marker(c, 8))
    t:note("a Marker off by 8, in order: " .. c:mpa_outcome({ "MPA_MARKER" }, "a Marker off by 8, in order"))
  end,
}

check {
  id = "MPA-8-07",
  role = "both",
  purpose = "Marker and ULPDU_Length are compared once a gap closes",
  run = function(t)
    local outcome, c = behind_gap(t, 12)
    if outcome == "accepted" then
      t:warn("a Marker that disagrees with ULPDU_Length, after the gap closed", "Terminate 2/0/03 or 2/0/02, or dropped",
             "accepted")
    elseif outcome == "terminate" then
      c:expect_end("after its Terminate the device ends")
    end
  end,
}

check {
  id = "MPA-8-08",
  role = "both",
  purpose = "of three Markers in one FPDU the last is wrong, in order: taken, Terminate 2/0/03, or dropped",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    -- So near to a Marker that an FPDU with three of them fits the link: a larger one may be refused (MPA-3-16).
    local distance = c:marker_distance()
    if distance > 100 then c:send(rdmap.send { data = pattern(distance - 64) }) end
    c:send(wrong_marker(c, 4, 3))
    t:note("the last of three Markers wrong: " .. c:mpa_outcome({ "MPA_MARKER" }, "the last of three Markers is wrong"))
  end,
}

check {
  id = "MPA-8-11",
  role = "both",
  purpose = "a bad segment is answered by a Terminate, or not acknowledged so that TCP repeats it",
  run = function(t)
    local c = t:open_with_framing()
    local position, msn = c.send_framing.position, copy_fields(c.msn)
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 2 }))
    local outcome = c:expect_crc_error("an FPDU with a wrong CRC")
    if outcome == "dropped" then
      c.send_framing.position, c.msn = position, msn
      local good = c:octets(rdmap.send { data = "x" })
      c.tcp:raw { offset = -#good, octets = good }
      c:expect_accepted({ "x" }, "the same octets again with the right CRC")
    end
  end,
}

check {
  id = "MPA-8-12",
  role = "both",
  purpose = "after an error nothing more goes up: good FPDUs after a bad one have no effect",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "bad" }, { crc_flip = 1 }), empty_read(7), rdmap.send { MSN = 1, data = "late" })
    local outcome, got = c:mpa_outcome({ "MPA_CRC" }, "an FPDU with a wrong CRC, and good ones after it")
    if outcome == "accepted" then
      t:fail("after an error no FPDU goes up", "no Read Response", describe(got))
    elseif outcome == "terminate" then
      c:send(empty_read(8))
      c:expect_end("after the Terminate no FPDU goes up")
    end
    if rig.has_upper_tester() then t:expect_deliveries(c, {}, "after an error nothing is delivered") end
  end,
}

check {
  id = "MPA-8-13",
  role = "both",
  purpose = "MPA does not close TCP on a CRC error: the Terminate comes whole before any FIN",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    local outcome = c:mpa_outcome({ "MPA_CRC" }, "a CRC error: the Terminate is not cut off")
    if outcome == "accepted" then t:fail("a CRC error", "Terminate 2/0/02", "it was taken") end
  end,
}

check {
  id = "MPA-8-14",
  role = "both",
  requires = "upper_tester",
  purpose = "an error while the device is sending: good FPDUs may follow, then the Terminate, then the end",
  run = function(t)
    local c = t:open_with_framing()
    t.dut:write { stream = t:stream_of(c), stag = 0x1234, to = 0, length = 1 << 19 }
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    local outcome = c:mpa_outcome({ "MPA_CRC" }, "an error while the device is sending")
    if outcome == "accepted" then
      t:fail("an error while the device is sending", "Terminate 2/0/02", "it was taken")
    elseif outcome == "terminate" then
      c:expect_end("after its Terminate the device sends nothing more")
    end
  end,
}

check {
  id = "MPA-8-15",
  role = "both",
  requires = "upper_tester",
  purpose = "a FIN between FPDUs ends the stream in order; in the middle of one its part is not delivered",
  run = function(t)
    local lost
    local c = t:open_with_framing()
    c.tcp:fin()
    local got = c:receive()
    if is_terminate(got, "MPA_CONNECTION_LOST") then
      lost = true
      got = c:receive()
    end
    if not fits(tcp.closed(), got) then t:fail("a FIN between FPDUs", "FIN or RST", describe(got)) end
    c = t:open_with_framing()
    local stream = t:stream_of(c)
    local octets = c:octets(rdmap.send { data = pattern(60) })
    c:send_segments { octets:sub(1, 62) }
    c.tcp:fin()
    got = c:receive()
    if is_terminate(got) then got = c:receive() end
    if not fits(tcp.closed(), got) then
      t:fail("a FIN in the middle of an FPDU", "FIN or RST, perhaps a Terminate before", describe(got))
    end
    t:expect_deliveries(c, {}, "the part of an FPDU that came before the FIN is not delivered")
    if t:traits().terminate_events ~= false and not t:await_event("error", { stream = stream }) then
      t:warn("a FIN in the middle of an FPDU", "the ULP is told of an error", "the ULP hears of no error")
    end
    t:ambiguous(lost and "A: a FIN is error code 1" or "B: a FIN at an FPDU boundary is a graceful close")
  end,
}

check {
  id = "MPA-8-17",
  role = "both",
  purpose = "one wrong Marker, strictly in order: taken, Terminate 2/0/03 or dropped",
  run = function(t)
    local c = t:open_with_framing { markers = true }
    c:send(wrong_marker(c, 4))
    local outcome = c:mpa_outcome({ "MPA_MARKER" }, "one wrong Marker, in order")
    t:ambiguous(outcome == "accepted" and "B: looking at Markers is optional on an ordered stream"
                or "A: a Marker that disagrees is always detected (code 3)")
  end,
}
