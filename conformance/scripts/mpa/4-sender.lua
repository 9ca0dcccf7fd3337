-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 section 4, the device as sender: its octets, compared with what they have to be.

-- The octets from `at` on without Markers, `count` of them or fewer: the first is at the stream's position `position`.
local function unmarked(raw, at, position, markers, count)
  if not markers then return raw:sub(at, at + count - 1) end
  local out = {}
  while #out < count and at <= #raw do
    if position % 512 == 0 then at, position = at + 4, position + 4 end
    out[#out + 1] = raw:sub(at, at)
    at, position = at + 1, position + 1
  end
  return table.concat(out)
end

-- The segment of a Send that the device sends in an FPDU which begins at octet `at` of what comes: the octets of its
-- data, L, and the MO. The device may cut a message where it likes (RFC 5041 5.2), and send its segments in another
-- order (5.3): what its header says counts, if it can be; else the rest of the data from octet `offset` on is due.
local function cut_by_device(c, at, framing, data, offset)
  local marker = framing.markers and -framing.position % 512 < 20 and 4 or 0
  local header = unmarked(c:peek(at + 19 + marker), at, framing.position, framing.markers, 20)
  local rest = data:sub(offset + 1)
  if #header < 20 then return rest, 1, offset end
  local octets, last, mo = string.unpack(">I2", header) - 18, header:byte(3) >> 6 & 1, string.unpack(">I4", header, 17)
  if last == 0 and octets == #rest and mo == offset then c.t:suspect(wire.hint_field(header:byte(4) & 15, "L")) end
  if last == 1 and mo == offset then return rest, 1, offset end
  if octets < 1 or mo + octets > #data or (last == 1) ~= (mo + octets == #data) then return rest, 1, offset end
  return data:sub(mo + 1, mo + octets), last, mo
end

-- The device sends Sends with these payload lengths (or those that a function gives for the position at which its next
-- FPDU begins); options as for t:open_with_framing. Returns the octets that came, and the FPDUs that should have:
-- { octets, at (from 1), position (from SeqStart), ulpdu, payload }.
local function sent_by_device(t, options, lengths)
  options.fresh = true
  local c = t:open_with_framing(options)
  if t.role == "responder" then c:send(rdmap.write { STag = 0, TO = 0 }) end
  local stream = t:stream_of(c)
  local framing = copy_fields(c.receive_framing)
  local frames, at = {}, 1
  if type(lengths) == "function" then lengths = lengths(framing.position) end
  for i, length in ipairs(lengths) do t.dut:send { stream = stream, data = hex(pattern(length, i)) } end
  for i, length in ipairs(lengths) do
    local data, offset = pattern(length, i), 0
    repeat
      local payload, last, mo = cut_by_device(c, at, framing, data, offset)
      local ulpdu = rdmap.send { MSN = t.role == "initiator" and i + 1 or i, MO = mo, L = last, data = payload }:octets()
      local octets = wire.frame(ulpdu, framing)
      frames[#frames + 1] = { octets = octets, at = at, position = framing.position, ulpdu = #ulpdu, payload = #payload }
      at = at + #octets
      framing.position = framing.position + #octets
      offset = offset + #payload
    until offset >= #data
  end
  local raw = c:peek(at - 1)
  if #raw < at - 1 then t:fail("FPDUs of the device", at - 1 .. " octets", #raw .. " octets") end
  return raw:sub(1, at - 1), frames
end

-- `what` at octet `at` (from 1) of an FPDU, `count` octets of it, is as it should be.
local function same_octets(t, raw, frame, at, count, what)
  local wanted = frame.octets:sub(at, at + count - 1)
  local got = raw:sub(frame.at + at - 1, frame.at + at + count - 2)
  t:equal(what, hex(wanted), hex(got))
end

-- The CRC stands at the end of the FPDU, over what came before it, whatever that is: its header is for other rows. A
-- Marker in front of an FPDU is a part of it.
local function good_crc(t, raw, frame, what)
  local octets = raw:sub(frame.at, frame.at + #frame.octets - 1)
  t:equal(what, hex(string.pack("<I4", wire.crc32c(octets:sub(1, -5)))), hex(octets:sub(-4)))
end

-- Offsets (from 1) of the Markers in an FPDU.
local function markers_of(frame)
  local out = {}
  for at = -frame.position % 512, #frame.octets - 1, 512 do out[#out + 1] = at + 1 end
  return out
end

local SHORT = { 0, 1, 2, 3, 100 }
local LONG = { 700, 1, 483, 100, 1100 }

check {
  id = "MPA-4.1-01",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "an FPDU is ULPDU_Length, ULPDU, pad, CRC, and nothing else",
  run = function(t)
    local raw, frames = sent_by_device(t, {}, SHORT)
    for _, frame in ipairs(frames) do
      same_octets(t, raw, frame, 1, #frame.octets, "the FPDU of " .. frame.payload .. " octets of a Send")
    end
  end,
}

check {
  id = "MPA-4.1-02",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "ULPDU_Length counts the ULPDU alone, without pad, CRC and Markers",
  judges = { "framing", "send from" },
  run = function(t)
    for _, options in ipairs { {}, { own_markers = true } } do
      local lengths = options.own_markers and LONG or SHORT
      local raw, frames = sent_by_device(t, options, lengths)
      for _, frame in ipairs(frames) do
        local lead = options.own_markers and frame.position % 512 == 0 and 4 or 0
        same_octets(t, raw, frame, 1 + lead, 2, "ULPDU_Length of " .. frame.payload .. " octets of a Send")
      end
    end
  end,
}

check {
  id = "MPA-4.1-06",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the pad makes an FPDU a multiple of 4: 0, 3, 2 and 1 octets",
  judges = { "framing", "send from" },
  run = function(t)
    local raw, frames = sent_by_device(t, {}, SHORT)
    for i = 1, #frames - 1 do
      local pad = -(frames[i].ulpdu + 2) % 4
      same_octets(t, raw, frames[i], #frames[i].octets - 3 - pad, pad, "pad after " .. frames[i].ulpdu .. " octets")
      same_octets(t, raw, frames[i + 1], 1, 2, "ULPDU_Length after an FPDU with a pad of " .. pad)
    end
    t:sends_all_lengths()
  end,
}

check {
  id = "MPA-4.1-08",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the CRC covers the whole FPDU",
  judges = { "framing", "send from" },
  run = function(t)
    local raw, frames = sent_by_device(t, {}, SHORT)
    for _, frame in ipairs(frames) do
      local octets = raw:sub(frame.at, frame.at + #frame.octets - 1)
      t:equal("CRC over " .. #octets - 4 .. " octets", hex(string.pack("<I4", wire.crc32c(octets:sub(1, -5)))),
              hex(octets:sub(-4)))
    end
  end,
}

-- Without CRCs the field is there all the same: what follows stands after it.
local function field_kept(t)
  local raw, frames = sent_by_device(t, { crc = false }, SHORT)
  for i = 2, #frames do
    same_octets(t, raw, frames[i], 1, 2, "ULPDU_Length after an FPDU with an unused CRC field")
    same_octets(t, raw, frames[i], 3, 18, "the DDP header after it")
  end
end

check {
  id = "MPA-4.1-09",
  also = { "MPA-4.4-13" },
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "every FPDU has a CRC field, also where CRCs are not agreed",
  run = field_kept,
}

-- C of the start-up frame of a device left as it is, toward a tester that asks for no CRC.
local function c_is_set(t)
  local c, frame
  if t.role == "initiator" then
    c = t:awaiting_start()
    frame = c.request
  else
    c = t:connect()
    c:send(mpa.request { C = 0 })
    frame = c:expect(mpa.reply {}, { message = "a Request with C = 0" })
  end
  if frame.C == 0 then t:suspect(t.role == "responder" and "reply-c" or "request-c", "C = 0 in the start-up frame of a device that nobody asked for that") end
  t:equal("C of the " .. (t.role == "initiator" and "Request" or "Reply"), 1, frame.C)
  c.tcp:close()
end

check {
  id = "MPA-1.2-02",
  also = { "MPA-4.4-05" },
  role = "both",
  sandwich = "tcp",
  purpose = "CRCs are used unless someone asked for none: C = 1 in the start-up frame of a device left as it is",
  run = c_is_set,
}

check {
  id = "MPA-4.4-04",
  role = "both",
  sandwich = "tcp",
  purpose = "C = 0 is for the administrator to ask for: on 10 connections of a device left as it is C = 1",
  run = function(t) for _ = 1, 10 do c_is_set(t) end end,
}

--------------------------------------------------------------------------------------------------------------------
-- Markers

check {
  id = "MPA-4.2-01",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Marker is 16 bits of zero and 16 bits of FPDUPTR",
  run = function(t)
    local raw, frames = sent_by_device(t, { own_markers = true }, LONG)
    for _, frame in ipairs(frames) do
      for _, at in ipairs(markers_of(frame)) do
        same_octets(t, raw, frame, at, 2, "the reserved half of a Marker")
        same_octets(t, raw, frame, at + 2, 2, "FPDUPTR of a Marker")
      end
    end
  end,
}

-- FPDUPTR of each Marker inside an FPDU.
local function pointers(t, lengths)
  local raw, frames = sent_by_device(t, { own_markers = true }, lengths or LONG)
  for _, frame in ipairs(frames) do
    local lead = frame.position % 512 == 0 and 4 or 0
    for _, at in ipairs(markers_of(frame)) do
      if at > 1 then
        local got = string.unpack(">I2", raw, frame.at + at + 1)
        t:equal("octets from ULPDU_Length to a Marker, by its FPDUPTR", at - 1 - lead, got)
      end
    end
  end
end

check {
  id = "MPA-4.2-04",
  also = { "MPA-4.3-05" },
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "FPDUPTR is the distance from the first octet of the ULPDU_Length of its own FPDU to the first of the Marker",
  run = function(t) pointers(t) end,
}

check {
  id = "MPA-4.3-01",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the Markers inside an FPDU are in its CRC",
  run = function(t)
    local raw, frames = sent_by_device(t, { own_markers = true }, LONG)
    for _, frame in ipairs(frames) do
      local octets = raw:sub(frame.at, frame.at + #frame.octets - 1)
      t:equal("CRC over " .. #octets - 4 .. " octets, Markers included",
              hex(string.pack("<I4", wire.crc32c(octets:sub(1, -5)))), hex(octets:sub(-4)))
    end
  end,
}

-- FPDUs with a Marker between the last two. They are short, as the device may cut a long message where it likes.
local function with_marker_between(t)
  local raw, frames = sent_by_device(t, { own_markers = true }, function(position)
    local room, lengths = 512 - position % 512 - (position % 512 == 0 and 4 or 0), {}
    while room > 140 do
      lengths[#lengths + 1] = 76
      room = room - 100
    end
    lengths[#lengths + 1] = room - 24
    lengths[#lengths + 1] = 60
    return lengths
  end)
  for i = 2, #frames do
    if frames[i].position % 512 == 0 then return raw, { frames[i - 1], frames[i] } end
  end
  t:skip("the device cuts Sends of 76 octets, so that no FPDU ends where a Marker is due")
end

check {
  id = "MPA-4.3-08",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Marker between FPDUs is 0, and the next ULPDU_Length follows it",
  run = function(t)
    local raw, frames = with_marker_between(t)
    same_octets(t, raw, frames[2], 1, 6, "the Marker between two FPDUs, and ULPDU_Length after it")
  end,
}

check {
  id = "MPA-4.3-09",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "a Marker between FPDUs is in the CRC of the one after it, not of the one before",
  run = function(t)
    local raw, frames = with_marker_between(t)
    for i, frame in ipairs(frames) do
      good_crc(t, raw, frame, "the CRC of the FPDU " .. (i == 1 and "before" or "behind") .. " a Marker")
    end
  end,
}

-- All Markers, at their places: the octets around them are the FPDU's.
local function placed(t, private)
  local raw, frames = sent_by_device(t, { own_markers = true, dut = { private_data = private, rev = 1 } }, LONG)
  for _, frame in ipairs(frames) do
    for _, at in ipairs(markers_of(frame)) do
      local from = math.max(1, at - 4)
      same_octets(t, raw, frame, from, 12, "the octets around the Marker at SeqStart + " .. frame.position + at - 1)
    end
  end
end

check {
  id = "MPA-4.3-04",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "there is a Marker each 512 octets, Markers counted",
  run = function(t) placed(t) end,
}

check {
  id = "MPA-4.3-12",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the first Marker comes right before the first FPDU",
  run = function(t)
    if t.role == "initiator" then
      -- Its first FPDU is the Send that t:open takes: with a Marker in front, or it would not have been good.
      local c = t:open_with_framing { own_markers = true, fresh = true }
      t:equal("octets of the first FPDU, a Marker and a Send of 4 octets", 4 + 28, c.receive_framing.position)
      return
    end
    local raw, frames = sent_by_device(t, { own_markers = true }, { 4 })
    same_octets(t, raw, frames[1], 1, 6, "the first Marker, and ULPDU_Length after it")
  end,
}

check {
  id = "MPA-4.3-13",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "Markers are counted from the octet after the own start-up frame, whatever its Private Data",
  run = function(t)
    for _, octets in ipairs { 1, 2, 3, 511 } do placed(t, string.rep("70", octets)) end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Where FPDUs begin, and what belongs to which

check {
  id = "MPA-4.3-17",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "of several FPDUs between two Markers, a Marker points to the one that it lies in",
  run = function(t)
    local lengths = {}
    for i = 1, 40 do lengths[i] = 30 end
    pointers(t, lengths)
  end,
}

check {
  id = "MPA-4.4-19",
  role = "both",
  requires = "upper_tester",
  sandwich = "startup",
  purpose = "the CRC of an FPDU stands in its own last 4 octets",
  run = function(t)
    for _, options in ipairs { {}, { own_markers = true } } do
      local raw, frames = sent_by_device(t, options, options.own_markers and LONG or SHORT)
      for i, frame in ipairs(frames) do
        good_crc(t, raw, frame, string.format("the last 4 octets of FPDU %d", i))
      end
    end
  end,
}
