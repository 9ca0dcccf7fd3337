-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 7 and the rows of Figure 9 in 4.8: what is an error, and by which code it is reported.

defaults { llp = "any" }

local function refused(t, frame, names, message, warned, dut)
  return t:expect_error(frame, names, message, { warn = warned, dut = dut, next = true })
end

check {
  id = "RDMAP-3.1-07",
  purpose = "an error of DDP's comes up to RDMAP with the segment's header, and goes out as a Terminate",
  run = function(t)
    local c = t:open()
    local ulpdu = c:ulpdu(bad_write("1234"))
    local got = c:expect_error(raw.segment { data = ulpdu }, "DDP_INVALID_STAG", "a Write to an unknown STag")
    if not got then return end
    if got.M ~= 1 or got.D ~= 1 then t:warn("the Terminate quotes the header", "M = 1 D = 1", header_bits(got)) end
    t:equal("the quoted header", hex(ulpdu:sub(1, 14)), hex(c:quoted(got).header))
  end,
}

check {
  id = "RDMAP-3.2-05",
  role = "both",
  purpose = "a Write that fails makes the Data Sink send a Terminate",
  run = function(t)
    local m = t:memory()
    refused(t, m:write(m.octets - 1, "12"), "DDP_BOUNDS", "two octets at the last of the buffer")
    m:check("nothing is placed, not even the octet that would fit")
  end,
}

check {
  id = "RDMAP-3.2-07",
  role = "both",
  purpose = "a Read Request that fails makes the Data Source send a Terminate, and no Read Response",
  run = function(t)
    local _, got = refused(t, rdmap.read_request { SinkSTag = 0x11111111, RDMARDSZ = 16, SrcSTag = UNKNOWN_STAG },
                           "RDMAP_INVALID_STAG", "a Read of an unknown STag")
    t:equal("EType of the Terminate", 1, got.EType)
  end,
}

check {
  id = "RDMAP-5.1-04",
  role = "both",
  purpose = "a Write that is not allowed surfaces an error, and leaves the buffer alone",
  run = function(t)
    local m = t:memory { access = { "read" } }
    refused(t, m:write(0, "1234"), NO_WRITE_RIGHT, "a Write to an STag enabled for remote read alone")
    m:check("nothing is placed where remote write is not allowed")
  end,
}

check {
  id = "RDMAP-5.1-05",
  purpose = "a Write starts anywhere in the buffer",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(m:write(14, "12345678"))
    c:probe { message = "a Write at base + 14" }
    m:patch(14, "12345678")
    m:check("a Write at base + 14 changes these octets alone")
  end,
}

check {
  id = "RDMAP-5.1-06",
  purpose = "a Write takes all of the buffer, or its last octet",
  run = function(t)
    local c = t:open()
    local m = t:memory { octets = 1000 }
    c:send(m:write(0, pattern(1000)), m:write(999, "!"))
    c:probe { message = "a Write that ends with the buffer" }
    m:patch(0, pattern(1000))
    m:patch(999, "!")
    m:check("Writes that end with the buffer are placed")
  end,
}

check {
  id = "RDMAP-5.1-11",
  role = "both",
  purpose = "an empty Write is legal, whatever its STag and TO",
  run = function(t)
    local c = t:open()
    c:send(rdmap.write { STag = UNKNOWN_STAG, TO = -1 }, rdmap.write { STag = 0, TO = -1 }, rdmap.send { data = "next" })
    t:expect_deliveries(c, { "next" }, "a Send after empty Writes")
    c:probe()
  end,
}

check {
  id = "RDMAP-4.8-18",
  role = "both",
  purpose = "0/1/00: the source STag of a Read is not valid",
  run = function(t)
    refused(t, rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG }, "RDMAP_INVALID_STAG",
            "a Read of an STag never given out")
  end,
}

check {
  id = "RDMAP-4.8-19",
  role = "both",
  purpose = "0/1/01: base or bounds of the source",
  run = function(t)
    local m = t:memory()
    refused(t, m:read(m.octets, 1), "RDMAP_BOUNDS", "one octet after the buffer")
    refused(t, m:read(-1, 1), "RDMAP_BOUNDS", "one octet before the buffer")
    refused(t, m:read(m.octets - 1, 2), "RDMAP_BOUNDS", "two octets at the last of the buffer")
  end,
}

check {
  id = "RDMAP-4.8-20",
  role = "both",
  purpose = "0/1/02: the source is not enabled for remote read",
  run = function(t)
    local m = t:memory { access = { "write" }, data = "secret octets" }
    refused(t, m:read(0, 8), "RDMAP_ACCESS", "a Read of an STag enabled for remote write alone", { "RDMAP_INVALID_STAG" })
  end,
}

check {
  id = "RDMAP-4.8-21",
  purpose = "0/1/03: the source STag belongs to another stream",
  run = function(t)
    local m = t:memory { pd = 2, data = "secret octets" }
    local owner = t:open { dut = { pd = 2 } }
    refused(t, m:read(0, 8), "RDMAP_NOT_ASSOCIATED", "a Read of an STag of another domain", { "RDMAP_INVALID_STAG" })
    owner:send(m:read(0, 8))
    owner:expect_response(0x51A6, 0, "secret o", "a stream of the domain is not affected")
    if not t:binds_memory() then return end
    local a, b = t:pair()
    m = t:memory { bound = b }
    a:expect_error(m:read(0, 8), "RDMAP_NOT_ASSOCIATED",
                   "a Read of an STag of another stream", { warn = { "RDMAP_INVALID_STAG" } })
  end,
}

check {
  id = "RDMAP-4.8-22",
  role = "both",
  purpose = "0/1/04: SrcTO and the size together pass 2^64",
  run = function(t)
    local m = t:memory()
    refused(t, m:read(0, 0x20, { SrcTO = -16 }), { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" },
            "a Read of 32 octets at SrcTO 0xFFFFFFFFFFFFFFF0")
  end,
}

check {
  id = "RDMAP-4.8-23",
  purpose = "0/1/09: an STag of another stream cannot be invalidated",
  run = function(t)
    local a, b, m, whose = t:apart { data = pattern(16) }
    a:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1234" })
    a:expect_terminate(CANNOT_INVALIDATE, { warn = { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" },
                                     message = "an STag " .. whose .. " in a Send with Invalidate" })
    b:send(m:read(0, 16))
    b:expect_response(0x51A6, 0, pattern(16), "its owner still uses the STag")
  end,
}

check {
  id = "RDMAP-4.8-24",
  role = "both",
  purpose = "the unspecified codes FF are not used where another one fits",
  run = function(t)
    local m = t:memory()
    local cases = { { rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG }, called = "STag" },
                    { m:read(-1, 1), called = "base" }, { m:read(4095, 2), called = "end" },
                    { t:memory({ access = { "write" } }):read(0, 8), called = "right" },
                    { rdmap.send { Opcode = 0xD, data = "1" }, called = "opcode" }, { rdmap.send { RV = 3, data = "1" }, called = "RV" } }
    t:each_value("error of", cases, function(case)
      local c = t:open()
      c:send(case[1])
      local got = c:expect_any_terminate("an error of RDMAP's")
      if got.Code == 0xFF then t:fail("an error that has a code", "another code than FF", describe(got)) end
    end)
  end,
}

check {
  id = "RDMAP-4.8-25",
  role = "both",
  purpose = "0/2/05: another RDMAP version, tagged or untagged",
  run = function(t)
    local m = t:memory()
    refused(t, m:write(0, "1234", { RV = 2 }), "RDMAP_VERSION", "a Write of RDMAP version 2")
    local c = refused(t, rdmap.send { RV = 3, data = "1234" }, "RDMAP_VERSION", "a Send of RDMAP version 3")
    t:expect_deliveries(c, {}, "a Send of another version is not delivered")
  end,
}

check {
  id = "RDMAP-4.8-26",
  role = "both",
  purpose = "0/2/06: an opcode that nobody expects, tagged or untagged",
  run = function(t)
    local m = t:memory()
    local c = refused(t, rdmap.send { Opcode = 0xE, data = "1234" }, "RDMAP_OPCODE", "opcode E, untagged")
    t:expect_deliveries(c, {}, "a message of opcode E is not delivered")
    refused(t, m:write(0, "1234", { Opcode = 0xE }), "RDMAP_OPCODE", "opcode E, tagged")
  end,
}

check {
  id = "RDMAP-4.8-29",
  role = "both",
  purpose = "0/2/09: an STag that nobody gave out cannot be invalidated",
  run = function(t)
    refused(t, rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "1234" }, CANNOT_INVALIDATE,
            "an unknown STag in a Send with Invalidate", { "RDMAP_INVALID_STAG" })
  end,
}

check {
  id = "RDMAP-4.8-30",
  role = "both",
  purpose = "layer 1 has the types and codes of RFC 5041",
  run = function(t)
    local m = t:memory()
    local dut = { receives = 1, repost = false, receive_octets = 4096 }
    refused(t, bad_write("1"), "DDP_INVALID_STAG", "an unknown STag")
    refused(t, m:write(4096, "1"), "DDP_BOUNDS", "a Write after the buffer")
    local c = t:open { dut = dut }
    c:send(rdmap.send { data = "one" }, rdmap.send { data = "two" })
    c:expect_terminate("DDP_NO_BUFFER", { warn = { "DDP_MSN_RANGE" }, message = "a Send without a receive", waits = true })
    refused(t, rdmap.send { MO = math.max(0x100000, t:receive_length(0)), data = "1" }, { "DDP_INVALID_MO", "DDP_TOO_LONG" }, "an MO outside", nil, dut)
    refused(t, rdmap.send { DV = 0, data = "1" }, "DDP_UNTAGGED_VERSION", "DDP version 0")
  end,
}

check {
  id = "RDMAP-4.8-31",
  llp = "tcp",
  purpose = "layer 2 has the codes of MPA: a CRC error",
  run = function(t)
    local c = t:open()
    c:draw_crc_terminate()
  end,
}

check {
  id = "RDMAP-7-01",
  role = "both",
  purpose = "an error ends the stream: nothing that follows is answered or delivered",
  run = function(t)
    local c = t:open()
    c:draw_terminate()
    for i = 1, 10 do c:send(rdmap.send { data = "good " .. i }) end
    c:expect_end("nothing but the end after a Terminate")
    t:expect_deliveries(c, {}, "nothing is delivered after an error")
    t:each_error(function(each, _, what)
      each:send(rdmap.send { data = "good" }, empty_read(9))
      each:expect_end("nothing but the end after the Terminate for " .. what)
      t:expect_deliveries(each, {}, "nothing is delivered after " .. what)
    end)
  end,
}

check {
  id = "RDMAP-7.2-01",
  role = "both",
  purpose = "DDP's fields are validated for Writes and Sends",
  run = function(t)
    local m = t:memory()
    local dut = { receives = 4, receive_octets = 4096 }
    for _, version in ipairs { 0, 2 } do
      refused(t, m:write(0, "1", { DV = version }), "DDP_TAGGED_VERSION", "DV = " .. version .. ", tagged")
      refused(t, rdmap.send { DV = version, data = "1" }, "DDP_UNTAGGED_VERSION", "DV = " .. version .. ", untagged")
    end
    refused(t, rdmap.send { QN = 7, MSN = 1, data = "1" }, "DDP_INVALID_QN", "QN 7")
    refused(t, rdmap.send { MSN = 0x10000, data = "1" }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "MSN 0x10000")
    local mo = math.max(0x10000, t:receive_length(0))
    refused(t, rdmap.send { MO = mo, data = "1" }, { "DDP_INVALID_MO", "DDP_TOO_LONG" }, string.format("MO 0x%x", mo), nil, dut)
    refused(t, bad_write("1"), "DDP_INVALID_STAG", "an unknown STag")
    refused(t, m:write(4096, "1"), "DDP_BOUNDS", "a TO out of range")
    refused(t, m:write(0, pattern(32), { TO = -16 }), { "DDP_TO_WRAP", "DDP_BOUNDS" }, "a TO that wraps")
    m:check("nothing is placed")
  end,
}

check {
  id = "RDMAP-7.2-02",
  role = "both",
  purpose = "the opcode of each message is valid",
  run = function(t)
    local m = t:memory()
    refused(t, m:write(0, "1234", { Opcode = 0xC }), "RDMAP_OPCODE", "opcode C, tagged")
    local c = refused(t, rdmap.send { Opcode = 0xC, data = "1234" }, "RDMAP_OPCODE", "opcode C, untagged")
    t:expect_deliveries(c, {}, "a message of opcode C is not delivered")
  end,
}

check {
  id = "RDMAP-7.2-03",
  role = "both",
  purpose = "the version of each message is valid: versions 2 and 3 of Write, Send and Send with Invalidate",
  run = function(t)
    local m = t:memory()
    for _, version in ipairs { 2, 3 } do
      refused(t, m:write(0, "1234", { RV = version }), "RDMAP_VERSION", "a Write of RDMAP version " .. version)
      if t:takes_long() then
        refused(t, t:memory { octets = LONG }:write(0, pattern(LONG), { RV = version }), "RDMAP_VERSION",
                "a Write of " .. LONG .. " octets of RDMAP version " .. version)
      end
      local c = refused(t, rdmap.send { RV = version, data = "1234" }, "RDMAP_VERSION", "a Send of RDMAP version " .. version)
      t:expect_deliveries(c, {}, "a Send of another version is not delivered")
      c = refused(t, rdmap.send_invalidate { RV = version, InvalidateSTag = m.STag, data = "1234" }, "RDMAP_VERSION",
                  "a Send with Invalidate of RDMAP version " .. version)
      t:expect_deliveries(c, {}, "a Send of another version is not delivered")
    end
  end,
}

check {
  id = "RDMAP-7.2-04",
  role = "both",
  purpose = "a message that fails a check is not acted on: a Send with Invalidate of another version invalidates nothing",
  run = function(t)
    local c = t:open()
    local m = t:memory { bound = c, alone = true }
    c:expect_error(rdmap.send_invalidate { RV = 3, InvalidateSTag = m.STag, data = "1234" }, "RDMAP_VERSION",
                   "a Send with Invalidate of RDMAP version 3")
    t:expect_deliveries(c, {}, "a Send of another version is not delivered")
    if t:binds_memory() then
      t:equal("the STag is valid", true, t.dut:mem_read({ stag = m.STag, length = 1 }).valid)
    else -- its upper tester knows of its own registration alone
      local other = t:open()
      other:send(m:read(0, 1))
      other:expect_response(0x51A6, 0, m.image:sub(1, 1), "another stream of the domain reads under the STag")
    end
  end,
}

check {
  id = "RDMAP-7.2-05",
  role = "both",
  purpose = "the STag of a Send with Invalidate is valid: not unknown, not 0, not with another key, not invalid already",
  run = function(t)
    local tolerated = { "RDMAP_INVALID_STAG" }
    local shared = t:memory()
    for _, stag in ipairs { UNKNOWN_STAG, 0, shared.STag ~ 1 } do
      local c = refused(t, rdmap.send_invalidate { InvalidateSTag = stag, data = "1234" }, CANNOT_INVALIDATE,
                        string.format("STag 0x%08x in a Send with Invalidate", stag), tolerated)
      for _, delivery in ipairs(t:deliveries(c)) do
        t:equal("an STag that the ULP is told to be invalid", nil, delivery.invalidated)
      end
    end
    if not t:peer_invalidates() then return end
    local c = t:open()
    local m = t:invalidatable(c)
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "once" })
    t:expect_deliveries(c, { "once" }, "a good Send with Invalidate")
    c:send(rdmap.send_se_invalidate { InvalidateSTag = m.STag, data = "twice" })
    c:expect_terminate(CANNOT_INVALIDATE, { warn = tolerated, message = "an STag that is invalid already" })
  end,
}

check {
  id = "RDMAP-7.2-06",
  purpose = "the STag of a Send with Invalidate is associated with the stream",
  run = function(t)
    local tolerated = { "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG" }
    local foreign = t:memory { pd = 2, data = pattern(8) }
    refused(t, rdmap.send_invalidate { InvalidateSTag = foreign.STag, data = "1" }, CANNOT_INVALIDATE, "an STag of another domain",
            tolerated)
    if t:binds_memory() then
      local a, b = t:pair()
      local m = t:memory { bound = b, data = pattern(8) }
      a:send(rdmap.send_se_invalidate { InvalidateSTag = m.STag, data = "1" })
      a:expect_terminate(CANNOT_INVALIDATE, { warn = tolerated, message = "an STag of another stream" })
      b:send(m:read(0, 8))
      b:expect_response(0x51A6, 0, pattern(8), "its owner still uses the STag")
    end
    local owner = t:open { dut = { pd = 2 } }
    owner:send(foreign:read(0, 8))
    owner:expect_response(0x51A6, 0, pattern(8), "the domain still uses the STag")
  end,
}
