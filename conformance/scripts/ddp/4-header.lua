-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4: the DDP header and what each of its fields does at the Data Sink.

defaults { llp = "any" }

check {
  id = "DDP-4.1-02",
  role = "both",
  purpose = "T = 1: the payload goes into the tagged buffer that the STag names, and no receive is consumed",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local data = pattern(64)
    c:send(m:write(100, data))
    c:probe()
    m:patch(100, data)
    m:check("a Write of 64 octets is in the memory that its STag and TO name, and nowhere else")
    t:expect_deliveries(c, {}, "a Write consumes no receive")
  end,
}

check {
  id = "DDP-4.1-03",
  role = "both",
  purpose = "T = 0: the payload goes into an untagged buffer, and tagged memory is not touched",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local data = pattern(64)
    c:send(rdmap.send { data = data, InvalidateSTag = m.STag })
    t:expect_deliveries(c, { data }, "a Send of 64 octets consumes one receive")
    m:check("a Send does not touch tagged memory, whatever stands in RsvdULP")
  end,
}

check {
  id = "DDP-4.1-11",
  purpose = "Rsvd is not looked at: each of its values is taken, tagged and untagged",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local wanted = {}
    for i, reserved in ipairs { 1, 2, 4, 8, 15 } do
      local data = pattern(8, i)
      c:send(rdmap.send { data = data, Rsvd = reserved }, m:write(8 * i, data, { Rsvd = reserved }))
      wanted[i] = data
      m:patch(8 * i, data)
    end
    c:probe { message = "reserved bits of the DDP control field are no error" }
    t:expect_deliveries(c, wanted, "Sends with reserved bits set are delivered")
    m:check("Writes with reserved bits set are placed")
  end,
}

local function version_error(t, c, frame, name, message)
  c:expect_error(frame, name, message)
  t:expect_deliveries(c, {}, "a segment of another DDP version is not delivered")
end

check {
  id = "DDP-4.1-14",
  purpose = "DV is the same in all segments of a stream: another one, after a good Send, is a version error",
  run = function(t)
    for _, version in ipairs { 0, 2, 3 } do
      local m = t:memory()
      for _, tagged in ipairs { false, true } do
        local c = t:open()
        c:send(rdmap.send { data = "good" })
        t:expect_deliveries(c, { "good" }, "a good Send")
        c:send(tagged and m:write(0, "new data", { DV = version }) or rdmap.send { data = "bad", DV = version })
        c:expect_terminate(tagged and "DDP_TAGGED_VERSION" or "DDP_UNTAGGED_VERSION",
                           { message = string.format("DV = %d on a stream with DV = 1", version) })
        t:expect_deliveries(c, { "good" }, "a segment of another DDP version is not delivered")
      end
      m:check("a segment of another DDP version is not placed")
      -- In the middle of a message, too.
      for _, last in ipairs { false, true } do
        local c = t:open()
        c:send(rdmap.send { data = "begin", L = false },
               rdmap.send { data = "bad", MO = 5, MSN = 1, L = last, DV = version })
        c:expect_terminate("DDP_UNTAGGED_VERSION",
                           { message = string.format("DV = %d in a later segment of a Send, L = %d", version, last and 1 or 0) })
        t:expect_deliveries(c, {}, "a message with a segment of another DDP version is not delivered")
        c = t:open()
        c:send(m:write(0, "begin", { L = false }), m:write(5, "bad", { L = last, DV = version }))
        m:patch(0, "begin")
        c:expect_terminate("DDP_TAGGED_VERSION",
                           { message = string.format("DV = %d in a later segment of a Write, L = %d", version, last and 1 or 0) })
        m:check("a later segment of another DDP version is not placed")
      end
    end
  end,
}

check {
  id = "DDP-4.1-15",
  purpose = "with MPA Rev 1 agreed DV = 0 is a version error",
  run = function(t)
    local c = t:open()
    version_error(t, c, rdmap.send { data = "old version", DV = 0 }, "DDP_UNTAGGED_VERSION", "DV = 0 after MPA Rev 1")
  end,
}

check {
  id = "DDP-4.2-04",
  purpose = "RsvdULP is opaque to DDP: an unassigned opcode in it is RDMAP's error, and comes back unchanged",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    local got = c:expect_error(m:write(0, "12345678", { Opcode = 13 }), "RDMAP_OPCODE",
                               "DDP does not judge RsvdULP: RDMAP does")
    local quoted = c:quoted(got)
    if quoted.header then t:equal("RsvdULP in the quoted header", 0x4D, quoted.header:byte(2)) end
  end,
}

check {
  id = "DDP-4.2-05",
  purpose = "RsvdULP of a tagged message reaches the ULP: a Write with RDMAP version 3 is refused by RDMAP",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:send(m:write(0, "12345678"))
    c:probe { message = "a Write with RsvdULP 0x40" }
    local got = c:expect_error(m:write(8, "12345678", { RV = 3 }), "RDMAP_VERSION", "a Write with RsvdULP 0xC0")
    local quoted = c:quoted(got)
    if quoted.header then t:equal("RsvdULP in the quoted header", 0xC0, quoted.header:byte(2)) end
  end,
}

check {
  id = "DDP-4.2-08",
  purpose = "only an STag that is valid on the stream is used: never allocated, or with another key, it is invalid",
  run = function(t)
    local m = t:memory()
    for _, stag in ipairs { m.STag ~ 0xA5A5A500, m.STag ~ 0x01, m.STag ~ 0x80, m.STag ~ 0x02, m.STag ~ 0x04, m.STag ~ 0x08,
                             m.STag ~ 0x10, m.STag ~ 0x20, m.STag ~ 0x40, m.STag ~ 0x80000000 } do
      t:expect_error(m:write(0, "12345678", { STag = stag }), "DDP_INVALID_STAG",
                     string.format("STag 0x%08x, where 0x%08x is valid", stag, m.STag))
    end
    m:check("nothing is placed under an STag that is not valid")
  end,
}

check {
  id = "DDP-4.2-14",
  purpose = "a tagged message begins at any TO: no alignment is asked for",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    for _, case in ipairs { { 1, 1 }, { 3, 7 }, { m.octets - 1, 1 }, { 101, 13 } } do
      local data = pattern(case[2], case[1])
      c:send(m:write(case[1], data))
      m:patch(case[1], data)
    end
    c:probe { message = "Writes at odd TOs" }
    m:check("octets are placed exactly at their TO, and their neighbours are unchanged")
  end,
}

check {
  id = "DDP-4.3-04",
  purpose = "all 40 bits of RsvdULP reach the ULP: the STag of a Send with Invalidate is invalid afterwards",
  run = function(t)
    local c = t:open()
    local m = t:invalidatable(c)
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "done" })
    local got = t:expect_deliveries(c, { "done" }, "a Send with Invalidate is delivered")
    if got[1].invalidated ~= nil then t:equal("the invalidated STag that the ULP is told", m.STag, got[1].invalidated) end
    c:expect_error(m:write(0, "12345678"), "DDP_INVALID_STAG",
                   "a Write to an STag that the peer invalidated", { warn = { "DDP_NOT_ASSOCIATED" } })
    m:check("nothing is placed under an STag that is invalidated")
  end,
}

check {
  id = "DDP-4.4-01",
  purpose = "a ULPDU too short for its DDP header ends the stream, and nothing comes of it",
  run = function(t)
    local m = t:memory()
    local cut = {
      function() return "\xC1" end,
      function() return m:write(0, ""):octets():sub(1, 13) end,
      function(c) return c:ulpdu(rdmap.send {}):sub(1, 17) end,
      function() return "\x41" end,
    }
    -- Each other length below the 14 octets of the tagged header, and the 18 of the untagged one.
    for octets = t:is_draft() and 3 or 2, 17 do -- after its DDP-SSN, one of 2 octets would be a Stream Reset of the draft
      if octets < 13 then cut[#cut + 1] = function() return m:write(0, ""):octets():sub(1, octets) end end
      if octets < 17 then cut[#cut + 1] = function(c) return c:ulpdu(rdmap.send {}):sub(1, octets) end end
    end
    local names = { "tagged 1", "tagged 13", "untagged 17", "untagged 1" }
    local cuts = {}
    for i, make in ipairs(cut) do cuts[i] = { make = make, called = names[i] or "number " .. i, octets = i > 4 } end
    t:each_value("header", cuts, function(one)
      local c = t:open()
      local ulpdu = one.make(c)
      local what = one.octets and string.format("a header cut short to %d octets", #ulpdu) or "a header cut short"
      c:send(raw.segment { data = ulpdu })
      local got = c:receive()
      local reported = got.kind == "segment" and got.Opcode == 7
      local over = reported and t:is_draft() -- its streams have no other end to wait for
      if reported and not over then got = c:receive() end
      if got.kind == "timeout" then
        -- Left to us to close: then the stream must be of no use any more. A device that has a word to say only now has
        -- taken octets after the segment for the rest of its header.
        local answered, came = c:alive()
        if answered or came.kind == "segment" then
          t:fail(what .. " is a fatal error (RFC 5041 6.2.2)", "the end of the stream",
                 answered and "the stream goes on" or "silence, and after the next FPDU " .. describe(came))
        end
      elseif not over and not fits(tcp.closed(), got) then
        t:fail(what .. " is a fatal error (RFC 5041 6.2.2)", "a Terminate, FIN or RST", describe(got))
      end
      t:expect_deliveries(c, {}, "a header cut short delivers nothing")
    end)
    m:check("a header cut short places nothing")
  end,
}

check {
  id = "DDP-4.4-03",
  purpose = "a segment may be a header alone: an empty Send is delivered, an empty Write is taken",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send {}, rdmap.write { STag = UNKNOWN_STAG, TO = 0 }, rdmap.send { data = "next" })
    c:probe { message = "segments without payload are no error" }
    t:expect_deliveries(c, { "", "next" }, "an empty Send consumes its MSN and its receive")
  end,
}
