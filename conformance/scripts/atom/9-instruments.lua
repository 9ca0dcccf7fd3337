-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 and its draft: what the ULP gives and receives, and what only an instrumented device shows.

defaults { llp = "any" }

local VALUE = 0x0102030405060708

-- What the 8 octets of a target are to the device's own host, as a number; with `value` that is put there.
local function native(t, target, value)
  local answer = t.dut:number { stag = target.STag, offset = target.at, value = value and string.format("0x%x", value) }
  return math.tointeger(tonumber(answer.value))
end

check {
  id = "ATOM-5.1.1-04",
  purpose = "the value that FetchAdd returns has its most significant octet first, whatever the host's order",
  run = function(t)
    local target = t:target()
    native(t, target, VALUE)
    local c = t:open()
    local add = target:request(ADD, { Data = 0x10 })
    c:send(add)
    local got = c:expect_atomic(add)
    t:equal("the value on the wire", "0102030405060708", hex(got.ulpdu:sub(23, 30)))
    t:equal("the sum, to the host", VALUE + 0x10, native(t, target))
  end,
}

check {
  id = "ATOM-5.1.2-02",
  purpose = "Swap Data has its most significant octet first, whatever the host's order",
  run = function(t)
    local target = t:target()
    native(t, target, 5)
    local c = t:open { dut = t:profile("draft03") }
    local swap = target:request(SWAP, { Data = VALUE })
    c:send(swap)
    c:expect_atomic(swap, 5, "a Swap")
    t:equal("what the target holds, to the host", VALUE, native(t, target))
  end,
}

check {
  id = "ATOM-6.1-01",
  role = "both",
  purpose = "the 8 octets that the ULP gives go out as Immediate Data",
  run = function(t)
    local c = t:open_for_posting()
    t:post_immediate(c, "\1\2\3\4\5\6\7\8")
    local got = c:receive()
    if got.kind ~= "segment" or got.Opcode ~= 8 then t:fail("a posted Immediate Data", "Immediate Data", describe(got)) end
    t:equal("its octets", "0102030405060708", hex(got.ulpdu:sub(19)))
  end,
}

check {
  id = "ATOM-4.2-01",
  purpose = "each message has its header and nothing more: ULPDUs of 26, 26, 70 and 30 octets",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open_for_posting()
    local function one(opcode, octets, what)
      local got = c:receive()
      if got.kind ~= "segment" or got.Opcode ~= opcode then t:fail(what, "opcode " .. opcode, describe(got)) end
      t:equal("octets of the ULPDU of " .. what, octets, #got.ulpdu)
    end
    t:post_immediate(c, "\1\2\3\4\5\6\7\8")
    one(8, 26, "Immediate Data")
    t:post_immediate(c, "\1\2\3\4\5\6\7\8", { solicited = true })
    one(9, 26, "Immediate Data with Solicited Event")
    c:send(target:request(ADD, { Data = 1 }))
    one(11, 30, "an Atomic Response")
    t:post_atomic(c, "fetch_add", { stag = 1, data = 1 })
    one(10, 70, "an Atomic Request")
  end,
}

-- Immediate Data of both kinds: whether each raised a Solicited Event.
local function events(t, profile)
  local c = t:open { dut = t:profile(profile) }
  t:stream_of(c)
  c:send(rdmap.immediate { Data = 1 }, rdmap.immediate { Opcode = 9, Data = 2 })
  local got = t:expect_deliveries(c, { string.pack(">I8", 1), string.pack(">I8", 2) }, "Immediate Data of both kinds")
  return got[1].solicited, got[2].solicited
end

check {
  id = "ATOM-6.1-05",
  purpose = "draft: Immediate Data of opcode 8 raises no Solicited Event",
  run = function(t)
    local plain = events(t, "draft03")
    t:equal("a Solicited Event for opcode 8", false, plain)
  end,
}

check {
  id = "ATOM7306-6.1-01",
  purpose = "RFC 7306: Immediate Data of opcode 9 raises a Solicited Event; for opcode 8 one is tolerated",
  run = function(t)
    local _, solicited = events(t, "rfc7306")
    t:equal("a Solicited Event for opcode 9", true, solicited)
  end,
}

-- The device fails while it makes an Atomic Response: its Terminate.
local function catastrophe(t)
  local target = t:target { value = 1 }
  local c = t:open()
  c:probe()
  t.dut:catastrophe { stream = t:stream_of(c), kind = "response" }
  c:send(target:request(ADD, { Data = 1 }))
  return c:receive(), c
end

check {
  id = "ATOM-8.1-01",
  purpose = "an error while an Atomic Response is made: a Terminate in its place",
  run = function(t)
    local got, c = catastrophe(t)
    if got.kind ~= "segment" or got.Opcode ~= 7 then
      t:fail("a local catastrophic error while an Atomic Response is made", "a Terminate", describe(got))
    end
    c:expect_end("nothing in place of the Atomic Response but its Terminate")
  end,
}

check {
  id = "ATOM-8.1-02",
  purpose = "a Terminate that no message of the peer caused quotes none",
  run = function(t)
    local got = catastrophe(t)
    if got.kind ~= "segment" or got.Opcode ~= 7 then
      t:inconclusive("no Terminate for a local catastrophic error (ATOM-8.1-01): " .. describe(got))
    end
    if (got.data or ""):find("[^\0]") or got.M + got.D + got.R ~= 0 and #(got.data or "") == 0 then
      t:fail("headers in a Terminate for a local error", "none (M = D = R = 0), or zeros",
             string.format("M = %d D = %d R = %d, %s", got.M, got.D, got.R, hex(got.data or "")))
    end
  end,
}

check {
  id = "ATOM7306-7-01",
  purpose = "an atomic has no effect before the response to the one in front of it leaves",
  run = function(t)
    local one, two = t:target { value = 1 }, t:target { value = 7 }
    local c = t:open { dut = t:profile("rfc7306", { ird = 4 }) }
    local stream = t:stream_of(c)
    c:probe()
    t.dut:hold { stream = stream }
    local add, swap = one:request(ADD, { Data = 1, RequestId = 1 }), two:request(COMPARE, { CompareData = 7, Data = 8, RequestId = 2 })
    c:send(add, swap)
    c:expect_quiet { within = t.quiet / 2, message = "responses are held back" }
    two:check(7, "the CmpSwap after a FetchAdd that is not answered yet")
    t.dut:hold { stream = stream, hold = false }
    c:expect_atomic(add, 1, "the FetchAdd")
    c:expect_atomic(swap, 7, "the CmpSwap after it")
    two:check(8, "the CmpSwap is done")
  end,
}

check {
  id = "ATOM7306-5.4-03",
  purpose = "Writes that race FetchAdd: whatever the target holds, all are answered",
  run = function(t)
    local target = t:target { value = 0 }
    local c, other = t:open(), t:open()
    for round = 1, 10 do
      local add = target:request(ADD, { Data = round })
      other:send(target.memory:write(target.at, string.rep("\0", 8)))
      c:send(add)
      c:expect_atomic(add, nil, "FetchAdd, while another stream writes to its target")
    end
    other:probe()
  end,
}
