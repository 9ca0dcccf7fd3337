-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 7.2: what is validated of a Read Request.

defaults { llp = "any" }

local function refused(t, frame, names, message, warned)
  return t:expect_error(frame, names, message, { warn = warned, next = true })
end

check {
  id = "RDMAP-7.2-07",
  role = "both",
  purpose = "DDP's fields are validated for Read Requests too",
  run = function(t)
    local m = t:memory()
    refused(t, m:read(0, 8, { MSN = 0x10000 }), { "DDP_MSN_RANGE" }, "a Read Request with MSN 0x10000", { "DDP_NO_BUFFER" })
    refused(t, m:read(0, 8, { MO = 0x1000 }), { "DDP_INVALID_MO", "DDP_TOO_LONG" }, "a Read Request with MO 0x1000")
    refused(t, m:read(0, 8, { DV = 3 }), { "DDP_UNTAGGED_VERSION" }, "a Read Request of DDP version 3")
  end,
}

check {
  id = "RDMAP-7.2-08",
  purpose = "opcode and version are checked for a Read Request of size 0, too",
  run = function(t)
    refused(t, rdmap.read_request { SinkSTag = 1, RDMARDSZ = 0, Opcode = 0xD }, "RDMAP_OPCODE", "opcode D on QN 1",
            { "DDP_INVALID_QN" })
    refused(t, rdmap.read_request { SinkSTag = 1, RDMARDSZ = 0, RV = 2 }, "RDMAP_VERSION", "an empty Read of version 2")
  end,
}

check {
  id = "RDMAP-7.2-09",
  role = "both",
  purpose = "the opcode of a Read Request is valid",
  run = function(t)
    local m = t:memory()
    local tolerated = { "DDP_INVALID_QN", "RDMAP_OPERATION_OTHER" }
    refused(t, m:read(0, 8, { Opcode = 0xE }), "RDMAP_OPCODE", "opcode E on QN 1", tolerated)
    -- An opcode that has another queue: whatever RDMAP-4.1-16 accepts.
    refused(t, m:read(0, 8, { Opcode = 3 }), "RDMAP_OPCODE", "the opcode of a Send on QN 1",
            { "DDP_INVALID_QN", "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_OPERATION_OTHER" })
  end,
}

check {
  id = "RDMAP-7.2-10",
  role = "both",
  purpose = "the version of a Read Request is valid",
  run = function(t)
    local m = t:memory()
    for _, version in ipairs { 2, 3 } do
      refused(t, m:read(0, 16, { RV = version }), "RDMAP_VERSION", "a Read of RDMAP version " .. version)
      refused(t, m:read(0, 0, { RV = version }), "RDMAP_VERSION", "an empty Read of RDMAP version " .. version)
    end
  end,
}

check {
  id = "RDMAP-7.2-11",
  role = "both",
  purpose = "the source STag of a Read is valid: not unknown, not reserved, not invalidated",
  run = function(t)
    local reserved = { "RDMAP_ACCESS", "RDMAP_NOT_ASSOCIATED" }
    local m = t:memory()
    refused(t, m:read(0, 1, { SrcSTag = UNKNOWN_STAG }), "RDMAP_INVALID_STAG", "an unknown SrcSTag")
    refused(t, m:read(0, 1, { SrcSTag = 0 }), { "RDMAP_INVALID_STAG", table.unpack(reserved) }, "SrcSTag 0")
    refused(t, m:read(0, 1, { SrcSTag = 0xFFFFFFFF }), { "RDMAP_INVALID_STAG", table.unpack(reserved) }, "SrcSTag 0xFFFFFFFF")
    t.dut:invalidate { stag = m.STag }
    refused(t, m:read(0, 1), "RDMAP_INVALID_STAG", "a SrcSTag that the ULP revoked")
  end,
}

check {
  id = "RDMAP-7.2-12",
  purpose = "the source STag of a Read is associated with the stream",
  run = function(t)
    local m = t:memory { pd = 2 }
    refused(t, m:read(0, 1), "RDMAP_NOT_ASSOCIATED", "a SrcSTag of another domain", { "RDMAP_INVALID_STAG" })
    if not t:binds_memory() then return end
    local a, b = t:pair()
    m = t:memory { bound = b, data = pattern(4) }
    a:expect_error(m:read(0, 1), "RDMAP_NOT_ASSOCIATED",
                   "a SrcSTag of another stream", { warn = { "RDMAP_INVALID_STAG" } })
    b:send(m:read(0, 4))
    b:expect_response(0x51A6, 0, pattern(4), "its owner reads")
  end,
}

check {
  id = "RDMAP-7.2-13",
  role = "both",
  purpose = "SrcTO lies in the range of SrcSTag",
  run = function(t)
    local m = t:memory()
    refused(t, m:read(-1, 1), "RDMAP_BOUNDS", "one octet before the buffer")
    refused(t, m:read(m.octets, 1), "RDMAP_BOUNDS", "one octet after the buffer")
    if m.TO ~= 0 then refused(t, m:read(0, 1, { SrcTO = 0 }), "RDMAP_BOUNDS", "SrcTO 0 where the buffer has another base") end
    refused(t, m:read(1 << 32, 1), "RDMAP_BOUNDS", "SrcTO 2^32 above")
    for _, offset in ipairs { -4096, m.octets + 4096, 1 << 31, -(1 << 32), 1 << 63 } do
      refused(t, m:read(offset, 1), "RDMAP_BOUNDS", string.format("SrcTO at base %+d of 4096 octets", offset))
    end
  end,
}

check {
  id = "RDMAP-7.2-14",
  role = "both",
  purpose = "SrcTO and the size together lie in the range of SrcSTag",
  run = function(t)
    local data = pattern(4096)
    local m = t:memory { data = data }
    refused(t, m:read(0, 4097), "RDMAP_BOUNDS", "one octet more than there are")
    refused(t, m:read(4095, 2), "RDMAP_BOUNDS", "two octets at the last")
    for _, case in ipairs { { 0, 4099 }, { 1, 4098 }, { 0, 8192 }, { 4095, 4096 }, { 0, 0x10000 }, { 0, 0x7FFFFFFF },
                            { 1, 0x80000000 }, { 0, 0xFFFFFFFF } } do
      refused(t, m:read(case[1], case[2]), "RDMAP_BOUNDS", string.format("%d octets at base + %d of 4096", case[2], case[1]))
    end
    local c = t:open()
    c:send(m:read(0, 4096))
    c:expect_response(0x51A6, 0, data, "as many octets as there are")
  end,
}

check {
  id = "RDMAP-7.2-15",
  purpose = "a Read that ends with the buffer is legal",
  run = function(t)
    local data = pattern(4096)
    local m = t:memory { data = data }
    local c = t:open()
    c:send(m:read(0, 4096))
    c:expect_response(0x51A6, 0, data, "a Read of the whole buffer")
    c:send(m:read(4095, 1, { SinkSTag = 2 }))
    c:expect_response(2, 0, data:sub(4096), "a Read of the last octet")
  end,
}

check {
  id = "RDMAP-7.2-16",
  role = "both",
  purpose = "SrcTO and the size together do not pass 2^64",
  run = function(t)
    local cases = {}
    for at, m in ipairs { t:memory(), t:memory { base = -4096, optional = true } } do
      for _, case in ipairs { { 256, 512 }, { 1, 2 }, { 4096, 4097 }, { 1, 0x80000000 }, { 1, 0xFFFFFFFF } } do
        local called = string.format("%d octets at -%d%s", case[2], case[1], at == 2 and " with memory there" or "")
        cases[#cases + 1] = { m = m, before = case[1], octets = case[2], called = called }
      end
    end
    t:each_value("SrcTO", cases, function(case)
      refused(t, case.m:read(0, case.octets, { SrcTO = -case.before }), { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" },
              string.format("%d octets at SrcTO 0x%X", case.octets, -case.before))
    end)
  end,
}

check {
  id = "RDMAP-7.2-17",
  purpose = "of several errors of a Read any may be reported, but none that is not there",
  run = function(t)
    local foreign = t:memory { pd = 2 }
    local write_only = t:memory { access = { "write" } }
    refused(t, foreign:read(-1, 1), { "RDMAP_NOT_ASSOCIATED", "RDMAP_BOUNDS", "RDMAP_INVALID_STAG" },
            "another domain and out of bounds")
    refused(t, rdmap.read_request { SinkSTag = 1, RDMARDSZ = 32, SrcSTag = UNKNOWN_STAG, SrcTO = -16 },
            { "RDMAP_INVALID_STAG", "RDMAP_TO_WRAP" }, "unknown and a SrcTO that wraps")
    refused(t, write_only:read(-1, 1), { "RDMAP_ACCESS", "RDMAP_BOUNDS", "RDMAP_INVALID_STAG" },
            "no right to read and out of bounds") -- 0/1/00 stands for a missing right too (RDMAP-7.2-18)
  end,
}

check {
  id = "RDMAP-7.2-18",
  role = "both",
  purpose = "the right to read is checked",
  run = function(t)
    local m = t:memory { access = { "write" } }
    refused(t, m:read(0, 8), "RDMAP_ACCESS", "a Read of an STag enabled for remote write alone", { "RDMAP_INVALID_STAG" })
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Read Responses

-- A Read Response that leaves its sink in its second segment: nothing behind the sink changes.
local function leaves_later(t)
  local c, octets, half = t:operating(), 2000, 1000
  local sink = t:memory { octets = octets }
  local behind = t:memory { octets = octets, base = sink.last, optional = true } or t:memory()
  t:post_read(c, sink, { length = octets })
  local request = c:expect(rdmap.read_request { RDMARDSZ = octets }, { message = "the Read that the device was asked for" })
  local function part(at, count, last)
    return rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + at, data = pattern(count, at), L = last }
  end
  c:send(part(0, half, 0))
  c:probe()
  c:send(part(half, octets - half + 8, 1))
  c:expect_any_terminate("a Read Response that leaves its sink in its second segment", { close = "warn" })
  t:equal("the sink where the second segment would be", string.rep("\xA5", octets - half), sink:octets_now(octets):sub(half + 1))
  behind:check("memory behind the sink")
end

check {
  id = "RDMAP-7.1-06",
  role = "both",
  purpose = "a Read Response in error: type, code, length and DDP header",
  run = function(t)
    local c = t:open()
    local sink = t:memory { octets = 100 }
    c:probe()
    t.dut:read { stream = t:stream_of(c), sink_stag = sink.STag, sink_to = string.format("0x%x", sink.TO),
                 source_stag = 0x77, source_to = 0, length = 100 }
    local request = c:expect(rdmap.read_request { RDMARDSZ = 100 }, { message = "the Read that the device was asked for" })
    local ulpdu = c:ulpdu(rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO + 96, data = "12345678" })
    c:send(raw.segment { data = ulpdu })
    local got = c:expect_any_terminate("a Read Response beyond the sink", { close = "warn" })
    local good = { "DDP_BOUNDS", "DDP_INVALID_STAG", "DDP_NOT_ASSOCIATED", "RDMAP_OPERATION_OTHER",
                   "RDMAP_CATASTROPHIC_STREAM", "DDP_CATASTROPHIC" }
    local fine = got.Layer == 0 and got.EType == 0
    for _, name in ipairs(good) do fine = fine or got.triple == wire.triple(name) end
    if not fine then t:fail("a Read Response beyond the sink", wire.describe(wire.triple("DDP_BOUNDS")), describe(got)) end
    if got.D == 1 then t:equal("the quoted DDP header", hex(ulpdu:sub(1, 14)), hex(c:quoted(got).header)) end
    sink:check("nothing of it is placed")
    leaves_later(t)
  end,
}
