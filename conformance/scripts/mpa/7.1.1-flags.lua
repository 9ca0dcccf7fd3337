-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1: the bits M, C and R, and the reserved ones.

defaults { sandwich = "tcp" }

local PROBES = 60 -- their answers are 20 octets each: Markers fall due several times

local function number(bit) return bit and 1 or 0 end

-- The tester's frame is bad in nothing: the device behaves as without the bits in question.
local function accepted(t, given, message)
  local c = t:awaiting_start()
  local frame = t:start_frame(given)
  c:send(frame)
  local peer = c:expect_operation(frame, message)
  c:finish()
  return peer
end

-- Looks at the device's next octets themselves: is a Marker in front?
local function leading_marker(c)
  local octets, state = c:peek(4)
  if #octets < 4 then c.t:fail("an FPDU of the device", "4 octets at least", #octets .. " octets, " .. state) end
  return octets:sub(1, 4) == "\0\0\0\0"
end

local function expect_markers(t, c, wanted)
  local text = wanted and "Marker 00000000, then the FPDU" or "ULPDU_Length first"
  if leading_marker(c) ~= wanted then
    t:fail("Markers are sent exactly when the receiver declared M = 1", text, hex((c:peek(4)):sub(1, 4)))
  end
end

-- Begins what the device sends: its answer to an RDMA Read as responder, a Send as initiator.
local function make_it_send(t, c)
  if t.role == "responder" then
    c:send(empty_read(7))
  else
    c:ask_first_send()
  end
end

local function take(t, c)
  c:expect(t.role == "responder" and rdmap.read_response { STag = 7 } or rdmap.send {},
           { message = "the FPDU stream of the device, with the Markers that were agreed" })
end

-- A start-up with this M of the tester and this configuration of the device; the octets that the device sends first are
-- looked at, then enough FPDUs go either way to pass the 512th octet twice.
local function judge_markers(t, own, dut)
  local c = t:awaiting_start { dut = dut }
  local frame = t:start_frame { M = own }
  c:send(frame)
  local peer = c.request or c:expect(mpa.reply { R = 0 })
  -- A receiver may always ask for Markers (RFC 5044 4.3): who declared M = 1 is what counts.
  if dut and dut.markers then t:equal("M of the device, as configured", 1, peer.M) end
  c:agree(frame, peer)
  make_it_send(t, c)
  expect_markers(t, c, own == 1)
  take(t, c)
  for _ = 1, PROBES do c:probe { message = "FPDUs with Markers, and only where the receiver declared M = 1" } end
  c:finish()
end

check {
  id = "MPA-7.1.1-07",
  role = "responder",
  purpose = "M = 1 in the Request: the responder's FPDUs carry Markers, from the first octet on, every 512 octets",
  run = function(t) judge_markers(t, 1) end,
}

check {
  id = "MPA-7.1.1-08",
  role = "initiator",
  purpose = "M = 1 in the Reply: the initiator's FPDUs carry Markers, from the first octet on, every 512 octets",
  run = function(t) judge_markers(t, 1, { markers = false }) end,
}

-- Two streams at once: one with Markers both ways, one without. What one has agreed is nothing to the other.
local function markers_beside(t)
  local with = t:open_with_framing { markers = true, own_markers = true }
  local without = t:open_with_framing { markers = false }
  for _ = 1, PROBES do
    with:probe { message = "FPDUs with Markers, beside a stream without" }
    without:probe { message = "FPDUs without Markers, beside a stream with some" }
  end
  with:finish()
  without:finish()
end

check {
  id = "MPA-7.1.1-10",
  role = "both",
  purpose = "the four combinations of M: Markers in a direction exactly when the receiver of that direction declared M = 1",
  requires = "upper_tester & mpa.markers",
  run = function(t)
    for own = 0, 1 do
      for _, dut in ipairs { true, false } do
        t:note(string.format("M of the tester %d, M of the device %d", own, number(dut)))
        judge_markers(t, own, { markers = dut })
      end
    end
    t:if_served("not tried on two streams at once", markers_beside, t)
  end,
}

check {
  id = "MPA-7.1.1-21",
  role = "initiator",
  requires = "!mpa.rev0",
  purpose = "the Request of a device that does not speak the RDMA Consortium's protocols has not Rev 0",
  run = function(t)
    local c = t:awaiting_start()
    if c.request.S == 1 then t:skip("the device begins enhanced: RFC 6581 has its Rev") end
    if c.request.Rev ~= 1 and c.request.Rev ~= 2 then
      t:fail("Rev of a Request without S", "1, or 2 without S", describe(c.request))
    end
  end,
}

-- Start-up with this C of the tester, the device configured for `crc`.
local function open_with_crc(t, own, crc)
  return t:open { request = { C = own }, reply = { C = own }, dut = { crc = crc } }
end

-- With C = 0 on both sides. A device may always use CRCs, whatever its administrator wants (RFC 5044 4.4): then nothing
-- of a stream without them can be seen of it.
local function open_without_crc(t)
  local c = open_with_crc(t, 0, false)
  if c.send_framing.crc then t:skip("the device insists on CRCs (C = 1)") end
  return c
end

check {
  id = "MPA-7.1.1-11",
  role = "both",
  purpose = "C = 0 in Request and Reply: an FPDU with any CRC field is executed",
  requires = "upper_tester",
  run = function(t)
    local c = open_without_crc(t)
    c:send(fpdu(empty_read(9), { crc_value = 1 }))
    c:expect(rdmap.read_response { STag = 9 }, { message = "CRCs are not checked when both sides declared C = 0" })
    c:probe()
  end,
}

-- Every FPDU that the device sends has the right CRC: receive() checks it, as one side declared C = 1.
local function generates(t, own, crc)
  t:note(string.format("C of the tester %d, C of the device %d", own, number(crc)))
  local c = open_with_crc(t, own, crc)
  for _ = 1, 4 do c:probe { message = "C = 1 in either frame: every FPDU of the device carries the right CRC" } end
  c:finish()
end

-- Two streams at once, of which the one that was established first has CRCs: it keeps them.
local function generates_beside(t)
  local with = open_with_crc(t, 1, false)
  local without = open_without_crc(t)
  for _ = 1, 2 do
    without:probe { message = "a stream without CRCs, beside one that has them" }
    with:probe { message = "C = 1: every FPDU of the device carries the right CRC, also beside a stream without" }
  end
  with:finish()
  without:finish()
end

check {
  id = "MPA-7.1.1-13",
  role = "both",
  purpose = "C = 1 in either start-up frame, or in both: the device generates CRCs",
  requires = "upper_tester & mpa.crc_off",
  run = function(t)
    generates(t, 1, false)
    generates(t, 0, true)
    generates(t, 1, true)
    t:if_served("not tried on two streams at once", generates_beside, t)
  end,
}

-- An FPDU with a wrong CRC is not executed: Terminate 2/0/02, or the segment is dropped silently, which shows in TCP.
local function expect_crc_checked(t, own, crc)
  t:note(string.format("C of the tester %d, C of the device %d", own, number(crc)))
  local c = open_with_crc(t, own, crc)
  c:probe()
  c:send(fpdu(empty_read(9), { crc_flip = 1 }))
  local got = c:receive()
  if got.kind == "timeout" and c.tcp:unacknowledged() > 0 then
    t:note("the segment was dropped silently (RFC 5044 section 8)")
  elseif fits(tcp.closed(), got) then
    t:terminate_missing("Terminate 2/0/02", describe(got))
  elseif not is_terminate(got, "MPA_CRC") then
    t:fail("C = 1 in either frame: an FPDU with a wrong CRC is not executed", "Terminate 2/0/02, or no answer and no ACK",
           describe(got))
  end
  c.tcp:close()
end

check {
  id = "MPA-7.1.1-14",
  role = "both",
  purpose = "C = 1 in either start-up frame, or in both: the device checks CRCs",
  requires = "upper_tester & mpa.crc_off",
  run = function(t)
    expect_crc_checked(t, 1, false)
    expect_crc_checked(t, 0, true)
    expect_crc_checked(t, 1, true)
  end,
}

check {
  id = "MPA-7.1.1-15",
  role = "both",
  purpose = "CRCs not in use: FPDUs count as valid whatever their CRC field holds, also unaligned and out of order",
  requires = "upper_tester",
  run = function(t)
    local c = open_without_crc(t)
    local octets, field = {}, 0x9e3779b9
    for i = 1, 200 do
      field = (field * 1664525 + 1013904223) & 0xFFFFFFFF
      octets[i] = c:octets(fpdu(rdmap.write { STag = 0, TO = 0, data = "" }, { crc_value = field }))
    end
    -- 211 octets a segment: no boundary of a segment is one of an FPDU. Pairs of segments are swapped.
    local all, pieces, order = table.concat(octets), {}, {}
    for at = 1, #all, 211 do pieces[#pieces + 1] = all:sub(at, at + 210) end
    for i = 1, #pieces do order[i] = (i % 2 == 1 and i < #pieces) and i + 1 or (i % 2 == 0 and i - 1 or i) end
    c:send_segments(pieces, order)
    c:probe { message = "with C = 0 on both sides no CRC field is wrong" }
  end,
}

check {
  id = "MPA-7.1.1-17",
  role = "responder",
  purpose = "R = 1 in a Request means nothing: it is answered as if R were 0",
  sandwich = "startup",
  run = function(t)
    local reply = accepted(t, { R = 1 }, "the R bit of a Request is not checked")
    t:equal("R of the Reply", 0, reply.R)
  end,
}

check {
  id = "MPA-7.1.1-20",
  role = "both",
  purpose = "reserved bits set in a start-up frame are not looked at, and not mirrored",
  sandwich = "startup",
  run = function(t)
    for _, bits in ipairs { 0x0F, 0x01, 0x08 } do
      local peer = accepted(t, { Res = bits }, string.format("reserved bits 0x%02x are not checked on reception", bits))
      t:equal("reserved bits of the device's frame", 0, peer.Res)
    end
  end,
}
