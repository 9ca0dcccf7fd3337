-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 4.8 and 7.1: the Terminate Header, what it quotes, and a Terminate that the device receives.

defaults { llp = "any" }

-- Makes an error on a fresh stream and returns the Terminate, what it quotes, and the ULPDU in error. `frame` is a
-- frame, or a function that makes one of the connection. The triple is not judged here.
local function terminated(t, frame, dut)
  local c = t:open { dut = dut }
  if type(frame) == "function" then frame = frame(c) end
  local ulpdu = c:ulpdu(frame)
  c:send(raw.segment { data = ulpdu })
  local got = c:expect_any_terminate("an error is answered by a Terminate", { close = "warn" })
  return got, c:quoted(got), ulpdu, c
end

local function unknown_write(octets)
  return rdmap.write { STag = UNKNOWN_STAG, TO = 0x0102030405060708, data = pattern(octets) }
end

local function unknown_read()
  return rdmap.read_request { SinkSTag = 0x11223344, SinkTO = 0x5566778899AABBCC, RDMARDSZ = 0x00DDEEFF,
                              SrcSTag = UNKNOWN_STAG, SrcTO = 0x123456789ABCDEF0 }
end

local function unexpected() return rdmap.send { Opcode = 0xD, data = "1234" } end

-- Its last 8 octets, of which a receive of 4, or of what the device's have, holds 4: a frame, and the device's
-- configuration.
local function too_long(t, kind)
  local length = t:receive_length(4)
  return (kind or rdmap.send) { MO = length - 4, data = "12345678" }, { receives = 2, receive_octets = length }
end

-- Words with M, D and R as Figure 10 has them, and where headers are left out ("if possible"): RDMAP-4.8-07 to -11
-- judge which are there.
local WRITE_WORDS, READ_WORDS = { "1100c000", "11000000" }, { "0100e000", "0100c000", "01002000", "01000000" }

check {
  id = "RDMAP-4.2-02",
  role = "both",
  purpose = "a Terminate carries its header right after the DDP header, as long as its bits say",
  run = function(t)
    for _, frame in ipairs { unknown_write(8), unknown_read(), unexpected() } do
      local got, quoted = terminated(t, frame)
      if #quoted.rest ~= 0 and quoted.rest:find("[^\0]") then
        t:fail("octets of a Terminate after what its bits announce", "none, or zeros (RDMAP-7.1-03)", hex(quoted.rest:sub(1, 16)))
      end
      t:equal("MO of a Terminate", 0, got.MO)
    end
  end,
}

check {
  id = "RDMAP-4.2-05",
  role = "both",
  purpose = "a Terminate carries no ULP payload: nothing of the message in error",
  run = function(t)
    local got, quoted = terminated(t, unknown_write(1000))
    if quoted.rest:find("[^\0]") or #got.ulpdu > 70 then
      t:fail("a Terminate ends with its headers", "at most 70 octets", #got.ulpdu .. " octets")
    end
    if got.ulpdu:find(pattern(8), 1, true) then t:fail("the payload in error", "not in the Terminate", "in the Terminate") end
  end,
}

check {
  id = "RDMAP-4.2-08",
  role = "both",
  purpose = "a Terminate shorter or longer than its bits say ends the stream all the same",
  run = function(t)
    local short = { Layer = 0, EType = 1, Code = 0, M = 1, D = 1, R = 1 }
    local long = { Layer = 0, EType = 0, Code = 0, data = string.rep("\0", 60) }
    for _, given in ipairs { short, long } do
      local c = t:open()
      c:send(rdmap.terminate(given), empty_read(9))
      c:expect_over("a Terminate of an odd length, and a Read after it")
    end
  end,
}

check {
  id = "RDMAP-4.8-01",
  role = "both",
  purpose = "the Terminate Header: control word, length, DDP header at octet 6, RDMA header after it, no padding",
  run = function(t)
    local got, quoted, ulpdu = terminated(t, unknown_read())
    t:control_word(got, "control word of the Terminate", READ_WORDS)
    local due = 4 + ((got.M == 1 or got.D == 1) and 2 or 0) + got.D * 18 + got.R * 28
    local whole = #got.ulpdu - 18 == due or #got.ulpdu - 18 > due and not quoted.rest:find("[^\0]") -- RDMAP-7.1-03
    if not whole then t:fail("octets of the Terminate Header with " .. header_bits(got), tostring(due), tostring(#got.ulpdu - 18)) end
    if got.D == 1 then t:equal("DDP header at octet 6", hex(ulpdu:sub(1, 18)), hex(quoted.header)) end
    if got.R == 1 then t:equal("RDMA header at octet " .. 6 + got.D * 18, hex(ulpdu:sub(19)), hex(quoted.rdmap)) end
  end,
}

check {
  id = "RDMAP-4.8-02",
  role = "both",
  purpose = "the bits of the Terminate Control: Layer, EType, Error Code, then M, D, R, the most significant first",
  run = function(t)
    t:control_word((terminated(t, unknown_write(8))), "control word for a Write to an unknown STag", WRITE_WORDS)
    t:control_word((terminated(t, unknown_read())), "control word for a Read of an unknown STag", READ_WORDS)
    t:control_word((terminated(t, unexpected())), "control word for an unexpected opcode", { "0206c000", "02060000" })
  end,
}

check {
  id = "RDMAP-4.8-04",
  role = "both",
  purpose = "errors that RDMAP finds carry Layer 0",
  run = function(t)
    local got = terminated(t, rdmap.send { RV = 3, data = "1234" })
    t:equal("Layer, EType and Error Code for another RDMAP version", "0205", string.format("%04x", got.triple))
    got = terminated(t, unknown_read())
    t:equal("Layer, EType and Error Code for an unknown SrcSTag", "0100", string.format("%04x", got.triple))
  end,
}

check {
  id = "RDMAP-4.8-05",
  role = "both",
  purpose = "errors that DDP finds carry Layer 1 and DDP's own codes",
  run = function(t)
    local got = terminated(t, too_long(t))
    t:equal("a Send of 4 octets more than its receive has", wire.describe(wire.triple("DDP_TOO_LONG")), wire.describe(got.triple))
    local m = t:memory()
    got = terminated(t, m:write(m.octets, "1"))
    t:equal("a Write after the buffer", wire.describe(wire.triple("DDP_BOUNDS")), wire.describe(got.triple))
    got = terminated(t, unknown_write(8))
    t:equal("a Write to an unknown STag", wire.describe(wire.triple("DDP_INVALID_STAG")), wire.describe(got.triple))
  end,
}

check {
  id = "RDMAP-4.8-06",
  llp = "tcp",
  purpose = "errors that the LLP finds carry Layer 2 and the LLP's own codes",
  run = function(t)
    local c = t:open()
    local got = c:draw_crc_terminate()
    if got then t:equal("M, D and R for an error of the LLP", "M = 0 D = 0 R = 0", header_bits(got)) end
  end,
}

-- The errors of whose Terminates M and D are asked.
local function four_errors(t, judge)
  for _, case in ipairs { { unknown_write(8) }, { too_long(t) }, { unknown_read() }, { unexpected() } } do
    judge(terminated(t, case[1], case[2]))
  end
end

check {
  id = "RDMAP-4.8-07",
  role = "both",
  purpose = "M is set, and with it the length of the segment",
  run = function(t)
    four_errors(t, function(got, quoted, ulpdu)
      if got.M ~= 1 then t:warn("M where Figure 10 includes the length", "M = 1", header_bits(got)) end
      if quoted.Length ~= #ulpdu and quoted.Length ~= #ulpdu - (got.D == 1 and #quoted.header or 18) then
        t:fail("DDP Segment Length", tostring(#ulpdu), tostring(quoted.Length))
      end
    end)
  end,
}

check {
  id = "RDMAP-4.8-08",
  role = "both",
  purpose = "D is set, and the DDP header is there",
  run = function(t)
    four_errors(t, function(got, quoted, ulpdu)
      if got.D ~= 1 then t:warn("D where Figure 10 includes the DDP header", "D = 1", header_bits(got)) end
      t:equal("the quoted header", hex(ulpdu:sub(1, #quoted.header)), hex(quoted.header))
    end)
  end,
}

check {
  id = "RDMAP-4.8-09",
  role = "both",
  purpose = "R is set for a Read Request, and for it alone",
  run = function(t)
    local got = terminated(t, unknown_read())
    if got.R ~= 1 then t:warn("R for a Read Request in error", "R = 1", header_bits(got)) end
    got = terminated(t, unknown_write(8))
    t:equal("R for a Write in error", 0, got.R)
  end,
}

check {
  id = "RDMAP-4.8-11",
  role = "both",
  purpose = "a Remote Protection Error quotes length, DDP header and RDMA header",
  run = function(t)
    local m = t:memory()
    local got = terminated(t, m:read(m.octets - 4, 8))
    t:equal("the error", wire.describe(wire.triple("RDMAP_BOUNDS")), wire.describe(got.triple))
    if got.M ~= 1 or got.D ~= 1 or got.R ~= 1 then
      t:warn("what a Remote Protection Error quotes", "M = 1 D = 1 R = 1", header_bits(got))
    end
    t:equal("octets of the ULPDU", 70, #got.ulpdu)
  end,
}

check {
  id = "RDMAP-4.8-12",
  role = "both",
  purpose = "a Remote Operation Error quotes no RDMA header",
  run = function(t)
    for _, frame in ipairs { unexpected(), rdmap.send { RV = 3, data = "1234" } } do
      local got = terminated(t, frame)
      t:equal("EType of the Terminate", 2, got.EType)
      t:equal("R for a Remote Operation Error of a Send", 0, got.R)
      if got.M ~= got.D then t:fail("M and D for a Remote Operation Error", "both or none", header_bits(got)) end
    end
  end,
}

check {
  id = "RDMAP-4.8-13",
  role = "both",
  purpose = "an error of DDP quotes length and DDP header, and no RDMA header, also for a Read Request",
  run = function(t)
    local m = t:memory()
    for _, frame in ipairs { m:read(0, 8, { MSN = 0x10000 }), unknown_write(8) } do
      local got = terminated(t, frame)
      t:equal("Layer of the Terminate", 1, got.Layer)
      t:equal("R for an error of DDP", 0, got.R)
      if got.M ~= 1 or got.D ~= 1 then t:warn("what an error of DDP quotes", "M = 1 D = 1 R = 0", header_bits(got)) end
    end
  end,
}

check {
  id = "RDMAP-4.8-14",
  llp = "tcp",
  purpose = "an error of the LLP quotes nothing",
  run = function(t)
    local c = t:open()
    local got = c:draw_crc_terminate()
    if got then
      t:equal("what an error of the LLP quotes", "M = 0 D = 0 R = 0", header_bits(got))
      if got.data:find("[^\0]") then t:fail("octets after the control word", "none, or zeros", hex(got.data:sub(1, 16))) end
    end
  end,
}

-- A Terminate of the tester ends the stream: the device reports no error in it, and its ULP receives the event.
local function taken(t, given, message)
  local c = t:open()
  c:send(rdmap.terminate(given))
  c:expect_over(message, { accepts = function(got) return got.EType ~= 2 or got.Layer > 1 end })
  t:expect_event("terminate_received", { stream = t:stream_of(c) }, message, "the ULP is told")
end

check {
  id = "RDMAP-4.8-16",
  role = "both",
  purpose = "Terminates in which M, D and R are set apart are taken",
  run = function(t)
    local tagged = rdmap.write { STag = 1, TO = 0 }:octets()
    taken(t, { EType = 1, M = 1, data = "\0\x16" }, "M = 1 D = 0")
    taken(t, { EType = 1, D = 1, data = "\0\0" .. tagged }, "M = 0 D = 1")
    taken(t, { EType = 1, R = 1, data = string.rep("\0", 28) }, "R = 1 alone")
  end,
}

check {
  id = "RDMAP-4.8-32",
  role = "both",
  purpose = "the 13 reserved bits of the Terminate Control are zero",
  run = function(t)
    four_errors(t, function(got)
      t:equal("reserved bits of the Terminate Control", 0, (got.ulpdu:byte(21) & 0x1F) << 8 | got.ulpdu:byte(22))
    end)
  end,
}

check {
  id = "RDMAP-4.8-33",
  role = "both",
  purpose = "the 13 reserved bits of the Terminate Control are not looked at",
  run = function(t) taken(t, { Reserved = 0x1FFF }, "a Terminate with all reserved bits set") end,
}

check {
  id = "RDMAP-4.8-34",
  role = "both",
  purpose = "DDP Segment Length is valid where M is set",
  run = function(t)
    local long, dut = too_long(t)
    for _, case in ipairs { { unknown_write(100), nil, 114, 100 }, { long, dut, 26, 8 } } do
      local got, quoted = terminated(t, case[1], case[2])
      if got.M == 1 and quoted.Length ~= case[3] and quoted.Length ~= case[4] then
        t:fail("DDP Segment Length", string.format("%d", case[3]), tostring(quoted.Length))
      end
    end
  end,
}

check {
  id = "RDMAP-4.8-35",
  role = "both",
  purpose = "DDP Segment Length is that of the whole segment, header included",
  run = function(t)
    local got, quoted = terminated(t, unknown_write(100))
    if got.M ~= 1 then t:skip("the device reports no DDP Segment Length") end
    if quoted.Length == 100 then t:warn("DDP Segment Length", "114, the whole segment", "100, the payload alone") end
    t:equal("DDP Segment Length", 114, quoted.Length)
  end,
}

check {
  id = "RDMAP-4.8-36",
  role = "both",
  purpose = "DDP Segment Length is there whenever D is set: the quoted header begins at octet 6",
  run = function(t)
    four_errors(t, function(got, quoted, ulpdu)
      if got.D == 1 then t:equal("octets from 6 on", hex(ulpdu:sub(1, 14)), hex(got.ulpdu:sub(18 + 6 + 1, 18 + 6 + 14))) end
    end)
  end,
}

check {
  id = "RDMAP-4.8-37",
  role = "both",
  purpose = "the quoted DDP header is the one that was received, bit for bit",
  run = function(t)
    local dut = { receives = 2, receive_octets = 4096 }
    local frames = { unknown_write(8), rdmap.write { STag = UNKNOWN_STAG, TO = 7, Rsvd = 15, Rsv = 3, data = "1" },
                     rdmap.send { MO = 0x00100000, data = "12345678", InvalidateSTag = 0x01020304, Rsvd = 5 } }
    for _, frame in ipairs(frames) do
      local got, quoted, ulpdu = terminated(t, frame, dut)
      if got.D == 1 then
        t:equal("octets of the quoted header", frame.defaults.tagged and 14 or 18, #quoted.header)
        t:equal("the quoted header", hex(ulpdu:sub(1, #quoted.header)), hex(quoted.header))
      end
    end
  end,
}

check {
  id = "RDMAP-4.8-39",
  role = "both",
  purpose = "the DDP header is there whenever D is set, and it is one of a segment that was sent",
  run = function(t)
    four_errors(t, function(got, quoted, ulpdu)
      if got.D == 1 then t:equal("control octet of the quoted header", ulpdu:byte(1), quoted.header:byte(1)) end
    end)
  end,
}

check {
  id = "RDMAP-4.8-40",
  role = "both",
  purpose = "an RDMA header is returned for a Read Request alone",
  run = function(t)
    for _, case in ipairs { { unknown_write(60) }, { too_long(t) }, { unexpected() } } do
      local got, quoted = terminated(t, case[1], case[2])
      t:equal("R for a message that is no Read Request", 0, got.R)
      if quoted.rest:find("[^\0]") then t:fail("octets after the DDP header", "none, or zeros", hex(quoted.rest:sub(1, 16))) end
    end
  end,
}

check {
  id = "RDMAP-4.8-41",
  role = "both",
  purpose = "the RDMA header, 28 octets, is there whenever R is set",
  run = function(t)
    local m = t:memory()
    local write_only = t:memory { access = { "write" } }
    for _, frame in ipairs { unknown_read(), m:read(-1, 1), write_only:read(0, 8), m:read(0, 32, { SrcTO = -16 }) } do
      local got, quoted, ulpdu = terminated(t, frame)
      if got.R == 1 then
        t:equal("the quoted RDMA header", hex(ulpdu:sub(19)), hex(quoted.rdmap))
        t:equal("octets after it", 0, #quoted.rest)
      end
    end
  end,
}

check {
  id = "RDMAP-4.8-44",
  role = "both",
  purpose = "a Read that fails before its first octet: the Read Request Header comes back as it was",
  run = function(t)
    local got, quoted, ulpdu = terminated(t, unknown_read())
    if got.R ~= 1 then t:warn("the Read Request Header", "R = 1", header_bits(got)) end
    t:equal("the quoted Read Request Header", hex(ulpdu:sub(19)), hex(quoted.rdmap))
  end,
}

check {
  id = "RDMAP-7.1-03",
  llp = "tcp",
  purpose = "headers that a Terminate does not use are absent, or zero",
  run = function(t)
    local got, quoted = terminated(t, unknown_write(8))
    local rest = quoted.rest
    if rest:find("[^\0]") then t:fail("unused headers of a Terminate", "absent, or zero", hex(rest:sub(1, 16))) end
    local c = t:open()
    got = c:draw_crc_terminate()
    local lower = got and c:quoted(got) or { rest = "" }
    if lower.rest:find("[^\0]") then t:fail("unused headers of a Terminate", "absent, or zero", hex(lower.rest:sub(1, 16))) end
    t:ambiguous(#rest + #lower.rest == 0 and "A: unused fields are absent" or "B: they are present and zero")
  end,
}

-- Case 2 and 3 of 7.1: what the Terminate holds, to the octet. Absent headers are WARN, wrong ones FAIL.
local function reported(t, frame, name, quoted_bits, dut, alternatives)
  local got, quoted, ulpdu, c = terminated(t, frame, dut)
  local good = got.triple == wire.triple(name)
  for _, other in ipairs(alternatives or {}) do good = good or got.triple == wire.triple(other) end
  if not good then t:fail("the reported error", wire.describe(wire.triple(name)), wire.describe(got.triple)) end
  -- Figure 10 wants an RDMA header with every protection error: zeros, where the message has none (RDMAP-4.8-42).
  local zeros = got.R == 1 and got.triple >> 8 == 0x01 and quoted.rdmap == string.rep("\0", 28)
  if header_bits(got) ~= quoted_bits and not (zeros and quoted_bits == "M = 1 D = 1 R = 0") then
    t:warn("what the Terminate quotes", quoted_bits, header_bits(got))
  end
  local header = ulpdu:byte(1) & 0x80 ~= 0 and 14 or 18
  t:equal("the quoted DDP header", hex(ulpdu:sub(1, header)), hex(quoted.header))
  if quoted.Length ~= #ulpdu and quoted.Length ~= #ulpdu - header then
    t:fail("DDP Segment Length", tostring(#ulpdu), tostring(quoted.Length))
  end
  if got.R == 1 and not zeros then t:equal("the quoted RDMA header", hex(ulpdu:sub(19)), hex(quoted.rdmap)) end
  return got, c
end

check {
  id = "RDMAP-7.1-04",
  role = "both",
  purpose = "a Write in error: type, code, length and DDP header, no RDMA header",
  run = function(t)
    local m = t:memory()
    reported(t, m:write(m.octets, "1"), "DDP_BOUNDS", "M = 1 D = 1 R = 0")
  end,
}

check {
  id = "RDMAP-7.1-05",
  role = "both",
  purpose = "a Send in error: type, code, length and DDP header",
  run = function(t)
    local long, dut = too_long(t, rdmap.send_se)
    reported(t, long, "DDP_TOO_LONG", "M = 1 D = 1 R = 0", dut)
    reported(t, rdmap.send_se_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "1234" }, "RDMAP_PROTECTION_INVALIDATE",
             "M = 1 D = 1 R = 0", nil, { "RDMAP_OPERATION_INVALIDATE", "RDMAP_INVALID_STAG" })
  end,
}

check {
  id = "RDMAP-7.1-07",
  role = "both",
  purpose = "a Read Request in error: type, code, length, DDP header and RDMA header, before any Read Response",
  run = function(t)
    local m = t:memory()
    reported(t, m:read(m.octets - 1, 2), "RDMAP_BOUNDS", "M = 1 D = 1 R = 1")
  end,
}

check {
  id = "RDMAP-7.1-10",
  role = "both",
  purpose = "of several errors the first failing message is the one reported, and only that",
  run = function(t)
    local c = t:open()
    local frames = { rdmap.write { STag = UNKNOWN_STAG, TO = 1, data = "1" },
                     rdmap.write { STag = UNKNOWN_STAG ~ 0xFF00, TO = 2, data = "2" }, unexpected() }
    local first = c:ulpdu(frames[1])
    c:send(table.unpack(frames))
    local got = c:expect_terminate("DDP_INVALID_STAG", { message = "three messages in error in one TCP segment" })
    if got and got.D == 1 then t:equal("the quoted header is the first's", hex(first:sub(1, 14)), hex(c:quoted(got).header)) end
    c:expect_end("one Terminate")
  end,
}
