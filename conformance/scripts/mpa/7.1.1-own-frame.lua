-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1 and 7.1.2 rules 1 and 7: the frame that the device sends itself, octet by octet, and what follows it.

defaults { sandwich = "tcp" }

local function counting(octets)
  local out = {}
  for i = 1, octets do out[i] = string.char(i % 251) end
  return table.concat(out)
end

-- The device's start-up frame as it stands: a connection on which it is the next thing to come. In role responder the
-- tester's Request has been sent.
local function before_its_frame(t, dut, given)
  if t.role == "initiator" then return t:accept { dut = dut } end
  local c = t:connect { port = t:listen(dut) }
  c:send(mpa.request(given))
  return c
end

-- Exactly the octets of one frame come, and nothing after them.
local function expect_frame(t, c, key, private)
  local whole = 20 + #private
  local octets, state = c:peek(whole)
  if #octets < whole then
    t:fail("the device's start-up frame", whole .. " octets", #octets .. " octets, " .. state)
  end
  octets = c:peek(whole + 1, t.quiet)
  local frame = wire.unpack("mpa_start", octets)
  t:equal("Key", hex(key), hex(octets:sub(1, 16)))
  t:equal("PD_Length", #private, frame.PD_Length)
  t:equal("octets of the start-up frame", whole, #octets)
  t:equal("Private Data", hex(private), hex(octets:sub(21)))
  return frame
end

check {
  id = "MPA-7.1.1-26",
  role = "both",
  purpose = "PD_Length is the number of octets of the Private Data: 0, 1, 258 and 512, and fewer after that",
  requires = "upper_tester",
  run = function(t)
    local key = t.role == "initiator" and "MPA ID Req Frame" or "MPA ID Rep Frame"
    for _, octets in ipairs { 0, 1, 258, 512, 4, 3, 2, 0 } do
      local private = counting(octets)
      local c = before_its_frame(t, { rev = 1, private_data = hex(private) })
      expect_frame(t, c, key, private)
      c.tcp:close()
    end
  end,
}

check {
  id = "MPA-7.1.2-01",
  role = "initiator",
  purpose = "an initiator sends a valid Request, first and unasked, and nothing before or after it",
  run = function(t)
    local c = before_its_frame(t, { rev = 1, private_data = hex("an initiator") })
    local frame = expect_frame(t, c, "MPA ID Req Frame", "an initiator")
    t:equal("R of a Request", 0, frame.R)
    t:equal("reserved bits of a Request", 0, frame.Res + 16 * frame.S)
    t:equal("Rev of a Request", 1, frame.Rev)
  end,
}

check {
  id = "MPA-7.1.2-23",
  role = "both",
  purpose = "with Markers the first octets of full operation are 00000000, then ULPDU_Length, wherever the frame ended",
  requires = "upper_tester",
  run = function(t)
    -- 7 octets of Private Data: the stream of FPDUs begins at an odd place of TCP's.
    local c = before_its_frame(t, { rev = 1, private_data = hex("oddsize") }, { M = 1 })
    if t.role == "initiator" then
      c:start_as_responder { M = 1 }
      c:ask_first_send()
    else
      c:agree({ M = 1, C = 1 }, c:expect(mpa.reply { R = 0 }))
      c:send(empty_read(7))
    end
    local octets, state = c:peek(6)
    if #octets < 6 then t:fail("the first FPDU", "6 octets at least", #octets .. " octets, " .. state) end
    t:equal("the first octets of full operation", "00000000", hex(octets:sub(1, 4)))
    local length = octets:byte(5) << 8 | octets:byte(6)
    if length < 14 or length > 64768 then
      t:fail("ULPDU_Length after the first Marker", "14 to 64768", tostring(length))
    end
    c:expect(t.role == "initiator" and rdmap.send {} or rdmap.read_response { STag = 7 })
  end,
}

check {
  id = "MPA-7.1-05",
  role = "both",
  purpose = "start-up frames have no CRC and no Markers: 20 and 532 octets, with M = 1 on both sides",
  requires = "upper_tester",
  run = function(t)
    local key = t.role == "initiator" and "MPA ID Req Frame" or "MPA ID Rep Frame"
    for _, octets in ipairs { 0, 512 } do
      local private = counting(octets)
      local c = before_its_frame(t, { rev = 1, markers = true, private_data = hex(private) }, { M = 1 })
      expect_frame(t, c, key, private)
      c.tcp:close()
    end
  end,
}
