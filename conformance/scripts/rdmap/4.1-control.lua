-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 4.1: RDMAP's control field, the opcodes, and the Invalidate STag field.

defaults { llp = "any" }

-- Each frame on a stream of its own: the device answers with one of `names`, and delivers nothing to its ULP.
local function refused(t, frame, names, message, warned)
  local c, got = t:expect_error(frame, names, message, { warn = warned })
  t:expect_deliveries(c, {}, message .. ": nothing is delivered")
  return c, got
end

check {
  id = "RDMAP-4.1-06",
  purpose = "a message whose T contradicts its opcode is refused, with no code of its own",
  run = function(t)
    local m = t:memory()
    local any = { "RDMAP_OPCODE", "RDMAP_OPERATION_OTHER", "DDP_INVALID_QN", "DDP_INVALID_STAG", "DDP_BOUNDS",
                  "DDP_NOT_ASSOCIATED", "DDP_TO_WRAP", "DDP_TAGGED_VERSION" }
    refused(t, m:write(0, "1234", { Opcode = 3 }), any, "the opcode of a Send with T = 1")
    refused(t, rdmap.send { Opcode = 0, data = "1234" }, any, "the opcode of a Write with T = 0")
    -- The whole header is that of the opcode, and the T bit alone says another.
    for _, name in ipairs { "DDP_NO_BUFFER", "DDP_MSN_RANGE", "DDP_INVALID_MO", "DDP_TOO_LONG", "DDP_UNTAGGED_VERSION" } do
      any[#any + 1] = name
    end
    for what, frame in pairs { ["a Send with T = 1"] = rdmap.send { data = "12345678" },
                               ["a Read Request with T = 1"] = m:read(0, 16),
                               ["a Write with T = 0"] = m:write(0, "12345678") } do
      local function turned(c)
        local ulpdu = c:ulpdu(frame)
        return raw.segment { data = string.char(ulpdu:byte(1) ~ 0x80) .. ulpdu:sub(2) }
      end
      refused(t, turned, any, what .. ", otherwise as it should be")
    end
    m:check("messages whose T bit contradicts their opcode change nothing")
  end,
}

check {
  id = "RDMAP-4.1-09",
  role = "both",
  purpose = "a Read Response has opcode 2, T = 1 and no queue",
  sandwich = "startup",
  judges = { "read" },
  run = function(t)
    local m = t:memory { data = pattern(32) }
    local c = t:open()
    c:send(m:read(0, 32, { SinkSTag = 0x1234, SinkTO = 9 })) -- one segment of a device that makes small ones
    local got = c:expect_segment("a Read of 32 octets", "a Read Response")
    t:equal("first two octets of the ULPDU", "c142", hex(got.ulpdu:sub(1, 2)))
    t:equal("octets of the ULPDU: 14 and the data", 46, #got.ulpdu)
    t:equal("the data after the tagged header", hex(pattern(32)), hex(got.ulpdu:sub(15)))
  end,
}

check {
  id = "RDMAP-4.1-14",
  role = "both",
  purpose = "a Terminate has opcode 7, T = 0 and queue 2",
  run = function(t)
    local c = t:open()
    c:send(bad_write("1234"))
    local got = c:receive()
    if fits(tcp.closed(), got) then t:warn("a Write to an unknown STag", "a Terminate", describe(got)) end
    if got.kind ~= "segment" then t:fail("a Write to an unknown STag", "a Terminate", describe(got)) end
    t:equal("first two octets of the ULPDU", "4147", hex(got.ulpdu:sub(1, 2)))
    t:equal("QN", "00000002", hex(got.ulpdu:sub(7, 10)))
  end,
}

check {
  id = "RDMAP-4.1-16",
  role = "both",
  purpose = "a message on a queue that is not its opcode's is refused",
  run = function(t)
    local names = { "DDP_INVALID_QN", "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_OPCODE", "RDMAP_OPERATION_OTHER" }
    refused(t, rdmap.send { QN = 1, MSN = 1, data = pattern(28) }, names, "a Send on QN 1")
    refused(t, rdmap.read_request { QN = 0, MSN = 1, SinkSTag = 1, RDMARDSZ = 0 }, names, "a Read Request on QN 0")
    refused(t, rdmap.send { QN = 2, MSN = 1, data = "1234" }, names, "a Send on QN 2")
  end,
}

check {
  id = "RDMAP-4.1-18",
  purpose = "RDMAP version 0 is taken, or refused by its code, and never dropped silently",
  run = function(t)
    local c = t:open()
    c:send(rdmap.send { RV = 0, data = "1234" })
    local got = c:receive(t.quiet)
    if got.kind == "timeout" then
      t:expect_deliveries(c, { "1234" }, "a Send of version 0 that is not refused is delivered")
      t:ambiguous("A: version 00b is accepted as valid")
    end
    if is_terminate(got, "RDMAP_VERSION") then
      t:expect_deliveries(c, {}, "a Send that is refused is not delivered")
      t:ambiguous("B: version 00b is refused with 0/2/05, as MPA did not agree on it")
    end
    t:fail("a Send of RDMAP version 0", "its delivery, or Terminate " .. wire.describe(wire.triple("RDMAP_VERSION")),
           describe(got))
  end,
}

check {
  id = "RDMAP-4.1-20",
  role = "both",
  purpose = "the reserved bits beside the opcode are not looked at",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    for _, reserved in ipairs { 1, 2, 3 } do
      local data = pattern(8, reserved)
      c:send(m:write(8 * reserved, data, { Rsv = reserved }), m:read(8 * reserved, 8, { Rsv = reserved, SinkSTag = 5 }))
      c:expect_response(5, 0, data, string.format("a Read Request with reserved bits %d", reserved))
      m:patch(8 * reserved, data)
    end
    c:send(rdmap.send { data = "all bits", Rsv = 3 })
    t:expect_deliveries(c, { "all bits" }, "a Send with reserved bits set")
    m:check("Writes with reserved bits set are placed")
  end,
}

check {
  id = "RDMAP-4.1-22",
  role = "both",
  purpose = "the Invalidate STag field of Send and Send with Solicited Event is not looked at",
  run = function(t)
    local c = t:open()
    local m = t:memory { bound = c, alone = true, data = pattern(16) }
    c:send(rdmap.send { data = "plain", InvalidateSTag = m.STag }, rdmap.send_se { data = "event", InvalidateSTag = m.STag },
           rdmap.send { data = "unknown", InvalidateSTag = UNKNOWN_STAG })
    local got = t:expect_deliveries(c, { "plain", "event", "unknown" }, "Sends with something in octets 2 to 5")
    for _, delivery in ipairs(got) do t:equal("an STag that the ULP is told to be invalid", nil, delivery.invalidated) end
    c:send(m:read(0, 16))
    c:expect_response(0x51A6, 0, pattern(16), "the STag is as valid as before")
  end,
}

check {
  id = "RDMAP-4.1-23",
  role = "both",
  purpose = "the Invalidate STag field of a Read Request is not looked at",
  run = function(t)
    local c = t:open()
    local m = t:memory { bound = c, alone = true, data = pattern(16) }
    for _, field in ipairs { 0xFFFFFFFF, m.STag, UNKNOWN_STAG } do
      c:send(m:read(0, 16, { InvalidateSTag = field }))
      c:expect_response(0x51A6, 0, pattern(16), string.format("a Read Request with 0x%08x in octets 2 to 5", field))
    end
  end,
}

check {
  id = "RDMAP-4.1-24",
  role = "both",
  purpose = "the Invalidate STag field of a Terminate is not looked at",
  run = function(t)
    local c = t:open()
    local m = t:memory { bound = c, alone = true }
    c:send(rdmap.terminate { Layer = 0, EType = 0, Code = 0, InvalidateSTag = m.STag })
    c:expect_over("a Terminate with something in octets 2 to 5 is a Terminate",
                  { accepts = function(got) return got.Layer == 0 and got.EType ~= 2 end })
    t:expect_event("terminate_received", { stream = t:stream_of(c) }, "a Terminate with something in octets 2 to 5 reaches the ULP")
  end,
}

check {
  id = "RDMAP-4.1-25",
  role = "both",
  purpose = "opcodes C, D and E are assigned to nothing: unexpected",
  run = function(t)
    for _, opcode in ipairs { 0xC, 0xD, 0xE } do
      refused(t, rdmap.send { Opcode = opcode, data = "1234" }, "RDMAP_OPCODE", string.format("opcode 0x%X", opcode))
    end
  end,
}
