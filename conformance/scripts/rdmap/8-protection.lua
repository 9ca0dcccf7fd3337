-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 8.1.1, and 3.2: which memory a stream reaches, and what an STag allows.

defaults { llp = "any" }

local SINK = 0x51A6

local function refused(t, frame, names, message, warned)
  return t:expect_error(frame, names, message, { warn = warned, next = true })
end

check {
  id = "RDMAP-3.2-09",
  role = "both",
  purpose = "disabling one STag leaves others valid",
  run = function(t)
    local c = t:open()
    local one, two = t:memory { data = "one" }, t:memory { data = "two" }
    t.dut:invalidate { stag = one.STag }
    c:send(two:read(0, 3))
    c:expect_response(SINK, 0, "two", "a Read of an STag that is still enabled")
    c:expect_error(one:read(0, 3), "RDMAP_INVALID_STAG", "a Read of an STag that is disabled")
  end,
}

check {
  id = "RDMAP-5.2.1-06",
  role = "both",
  purpose = "a Read of an STag that the ULP gave up is an error",
  run = function(t)
    local m = t:memory()
    t.dut:dereg { stag = m.STag }
    refused(t, m:read(0, 1), "RDMAP_INVALID_STAG", "a Read of an STag whose memory was given up")
  end,
}

check {
  id = "RDMAP-8.1.1-02",
  purpose = "a stream of one Protection Domain uses no STag of another",
  run = function(t)
    local m = t:memory { pd = 2, data = "secret of another domain" }
    refused(t, m:write(0, "1234"), "DDP_NOT_ASSOCIATED", "a Write to an STag of another domain", { "DDP_INVALID_STAG" })
    refused(t, m:read(0, 8), "RDMAP_NOT_ASSOCIATED", "a Read of an STag of another domain", { "RDMAP_INVALID_STAG" })
    m:check("nothing is placed from another domain")
  end,
}

check {
  id = "RDMAP-8.1.1-03",
  purpose = "an STag of one stream is used by no other stream of its domain",
  run = function(t)
    local owner = t:open()
    local m = t:memory { bound = owner, data = pattern(8) }
    refused(t, m:write(0, "1234"), "DDP_NOT_ASSOCIATED", "a Write of another stream", { "DDP_INVALID_STAG" })
    refused(t, m:read(0, 8), "RDMAP_NOT_ASSOCIATED", "a Read of another stream", { "RDMAP_INVALID_STAG" })
    refused(t, rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1" }, CANNOT_INVALIDATE,
            "a Send with Invalidate of another stream", { "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG" })
    owner:send(m:read(0, 8))
    owner:expect_response(SINK, 0, pattern(8), "its owner still uses the STag")
  end,
}

check {
  id = "RDMAP-8.1.1-04",
  purpose = "nothing outside the buffer is reached, to the octet",
  run = function(t)
    local m = t:memory { octets = 100 }
    -- What is next to it, or, of a device that chooses where memory is, memory somewhere else.
    local behind = t:memory { octets = 4096, base = m.last, optional = true } or t:memory()
    for _, case in ipairs { { -1, 1 }, { 99, 2 }, { 100, 1 }, { 4095, 1 }, { -4096, 1 }, { 98, 5 }, { 1 << 32, 1 } } do
      refused(t, m:write(case[1], pattern(case[2])), "DDP_BOUNDS", string.format("a Write of %d at base %+d of 100", case[2], case[1]))
      refused(t, m:read(case[1], case[2]), "RDMAP_BOUNDS", string.format("a Read of %d at base %+d of 100", case[2], case[1]))
    end
    m:check("nothing is placed")
    behind:check("nor after the buffer")
  end,
}

check {
  id = "RDMAP-8.1.1-05",
  purpose = "the ULP ties memory to an STag and its range, and unties it",
  run = function(t)
    local c = t:open()
    local m = t:memory { data = "first" }
    c:send(m:read(0, 5))
    c:expect_response(SINK, 0, "first", "a Read of an STag in use")
    t.dut:dereg { stag = m.STag }
    c:expect_error(m:read(0, 5), "RDMAP_INVALID_STAG", "a Read of an STag that was untied")
    local again = t:memory { data = "second", base = 0x7000, anywhere = true }
    c = t:open()
    c:send(again:read(0, 6))
    c:expect_response(SINK, 0, "second", "a Read of other memory with another range")
  end,
}

check {
  id = "RDMAP-8.1.1-06",
  purpose = "the ULP gives the right to read, to write, or both",
  run = function(t)
    local read_only = t:memory { access = { "read" }, data = pattern(8) }
    local write_only = t:memory { access = { "write" } }
    local both = t:memory { data = pattern(8) }
    refused(t, write_only:read(0, 8), "RDMAP_ACCESS", "a Read of an STag enabled for remote write alone", { "RDMAP_INVALID_STAG" })
    refused(t, read_only:write(0, "1"), NO_WRITE_RIGHT, "a Write to an STag enabled for remote read alone")
    local c = t:open()
    c:send(both:write(8, "written"), both:read(8, 7), write_only:write(0, "x"), read_only:read(0, 8, { SinkSTag = 2 }))
    c:expect_response(SINK, 0, "written", "a Read after a Write to an STag with both rights")
    c:expect_response(2, 0, pattern(8), "a Read of an STag enabled for remote read alone")
    write_only:patch(0, "x")
    write_only:check("a Write to an STag enabled for remote write alone is placed")
  end,
}

check {
  id = "RDMAP-8.1.1-07",
  purpose = "a Write without the right to write is refused, and not placed",
  run = function(t)
    local m = t:memory { access = { "read" } }
    local _, got = t:expect_error(m:write(0, "1234"), NO_WRITE_RIGHT, "a Write to an STag enabled for remote read alone")
    m:check("nothing is placed where remote write is not allowed")
    if got then
      t:ambiguous(got.Layer == 1 and "A: a DDP tagged error" or "B: an RDMAP access rights or unspecified protection error")
    end
  end,
}

check {
  id = "RDMAP-8.1.1-09",
  purpose = "a peer cannot invalidate an STag that several streams share",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { data = pattern(8) }
    for _, c in ipairs { a, b } do
      c:send(m:read(0, 8))
      c:expect_response(SINK, 0, pattern(8), "both streams use the STag")
    end
    a:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1234" })
    a:expect_terminate(CANNOT_INVALIDATE, { warn = { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" },
                                     message = "an STag of several streams in a Send with Invalidate" })
    b:send(m:read(0, 8))
    b:expect_response(SINK, 0, pattern(8), "the other stream still uses the STag")
  end,
}

check {
  id = "RDMAP-8.1.1-10",
  purpose = "an STag of the domain that one stream uses is invalidated, or refused: never one said and the other done",
  run = function(t)
    local m = t:memory { data = pattern(8), pd = 3 }
    local c = t:open { dut = { pd = 3 } }
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1234" })
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      t:expect_deliveries(c, { "1234" }, "a Send with Invalidate that is not refused")
      c:expect_error(m:read(0, 8), "RDMAP_INVALID_STAG", "a Read of an STag that was invalidated")
      t:ambiguous("B: used by one stream only, it can be invalidated")
    end
    -- Which code a refusal has is for RDMAP-7.2-06 to judge.
    local codes = { CANNOT_INVALIDATE[1], CANNOT_INVALIDATE[2], "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG" }
    if not is_terminate(got, codes) then
      t:fail("an STag of the domain in a Send with Invalidate", "its delivery, or Terminate with code 09", describe(got))
    end
    local other = t:open { dut = { pd = 3 } }
    other:send(m:read(0, 8))
    other:expect_response(SINK, 0, pattern(8), "what was refused is not done")
    t:ambiguous("A: an STag of the protection domain counts as shared and cannot be invalidated")
  end,
}
