-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 5 and 5.1: what an atomic does to its target.

defaults { llp = "any" }

local RIPPLE = 0x00000000FFFFFFFF
local MIXED, OPERAND, HALVES = 0x1111222233334444, 0xAAAABBBBCCCCDDDD, 0xFFFF0000FFFF0000

-- One row: operation, original, operands, new value.
local function run_rows(t, rows, message)
  local target = t:target()
  local c = t:open()
  for i, row in ipairs(rows) do
    target:store(row[2])
    c:expect_operation_on(target, target:request(row[1], row[3]), row[2], row[4],
                          message .. " (" .. i .. " of " .. #rows .. ")")
  end
end

check {
  id = "ATOM-5-05",
  role = "both",
  purpose = "an atomic acts on the 8 octets that STag and TO name, and on no others",
  run = function(t)
    for _, at in ipairs { 0, 16, 120 } do
      local target = t:target { at = at, value = 0x41 }
      local c = t:open()
      c:expect_operation_on(target, target:request(ADD, { Data = 1 }), 0x41, 0x42, "FetchAdd at offset " .. at .. " of 128")
    end
  end,
}

check {
  id = "ATOM-5.1.1-01",
  role = "both",
  purpose = "a masked FetchAdd drops the carry out of each bit that the mask has",
  run = function(t)
    run_rows(t, {
      { ADD, RIPPLE, { Data = 1 }, 0x0000000100000000 },
      { ADD, RIPPLE, { Data = 1, Mask = 0x8000000080000000 }, 0 },
      { ADD, 0x0F, { Data = 1, Mask = ALL_BITS }, 0x0E },
      { ADD, RIPPLE, { Data = 1, Mask = 1 << 63 }, 0x0000000100000000 }, -- one field of 64 bits
      { ADD, ALL_BITS, { Data = 2, Mask = 1 << 63 }, 1 },
    }, "FetchAdd of fields")
  end,
}

check {
  id = "ATOM7306-5.1.1-01",
  role = "both",
  purpose = "a mask bit is the top bit of a field, and each field adds by itself",
  run = function(t)
    run_rows(t, {
      { ADD, 0xFF00FF00FF00FF00, { Data = 0x0101010101010101, Mask = 0x8080808080808080 }, 0x0001000100010001 },
      { ADD, 0x7FFF0000FFFF0001, { Data = 0x0001000100010001, Mask = 0x8000800080008000 }, 0x8000000100000002 },
    }, "FetchAdd of fields")
  end,
}

check {
  id = "ATOM7306-5.1.1-02",
  role = "both",
  purpose = "Add Mask 0 is an ordinary sum of 64 bits",
  run = function(t)
    run_rows(t, { { ADD, 0x00FFFFFFFFFFFFFF, { Data = 1 }, 0x0100000000000000 } }, "FetchAdd with mask 0")
  end,
}

check {
  id = "ATOM-5.1.1-02",
  role = "both",
  purpose = "the carry out of the highest bit is lost",
  run = function(t)
    run_rows(t, { { ADD, ALL_BITS, { Data = 1 }, 0 } }, "FetchAdd of 1 to 2^64 - 1")
  end,
}

check {
  id = "ATOM-5.1.1-03",
  role = "both",
  purpose = "FetchAdd returns the value before the sum",
  run = function(t)
    local target = t:target { value = 0x41 }
    local c = t:open()
    c:send(target:request(ADD, { Data = 1 }))
    c:expect_atomic(target:request(ADD), 0x41, "FetchAdd of 1 to 0x41")
    c:send(target:request(ADD))
    c:expect_atomic(target:request(ADD), 0x42, "FetchAdd of 0 afterwards")
  end,
}

check {
  id = "ATOM-5.1.1-05",
  role = "both",
  purpose = "the sum is made in the byte order of the target's memory: one of the two, and always the same",
  run = function(t)
    local order = t:byte_order()
    local target = t:target { at = 0, octets = 8, data = "\x01\x02\x03\x04\x05\x06\x07\xFF" }
    local c = t:open()
    c:atomic(target:request(ADD, { Data = 1 }))
    c:send(target.memory:read(0, 8))
    local sum = string.unpack(order .. "i8", "\x01\x02\x03\x04\x05\x06\x07\xFF") + 1
    c:expect_response(0x51A6, 0, string.pack(order .. "i8", sum), "an RDMA Read shows the sum in the target's order")
    t:note("numbers in the device's memory are " .. (order == ">" and "big" or "little") .. "-endian")
  end,
}

check {
  id = "ATOM7306-1.1-03",
  role = "both",
  purpose = "FetchAdd of 0 changes nothing",
  run = function(t)
    run_rows(t, { { ADD, 0x0102030405060708, {}, 0x0102030405060708 } }, "FetchAdd of 0")
  end,
}

check {
  id = "ATOM-5.1.2-01",
  role = "both",
  purpose = "Swap returns the old value and leaves the new one",
  run = function(t)
    local target = t:target { value = 0x5152535455565758 }
    local c = t:open { dut = t:profile("draft03") }
    local swap, look = target:request(SWAP, { Data = 0x0102030405060708 }), target:request(ADD)
    c:send(swap)
    c:expect_atomic(swap, 0x5152535455565758, "Swap")
    c:send(look)
    c:expect_atomic(look, 0x0102030405060708, "FetchAdd of 0 after the Swap")
  end,
}

check {
  id = "ATOM-5.1.2-03",
  role = "both",
  purpose = "after its response a Swap has been done",
  run = function(t)
    local target = t:target { value = 7 }
    local c = t:open { dut = t:profile("draft03") }
    c:atomic(target:request(SWAP, { Data = 0x0102030405060708 }))
    c:send(target.memory:read(target.at, 8))
    c:expect_response(0x51A6, 0, string.pack(t:byte_order() .. "i8", 0x0102030405060708), "an RDMA Read after the Swap")
  end,
}

check {
  id = "ATOM-5.2.1-10",
  role = "both",
  purpose = "Swap replaces all 64 bits, whatever stands in the mask; a device's own Swap has a mask of ones",
  run = function(t)
    local own = t:open_for_posting { dut = t:profile("draft03") }
    t:post_atomic(own, "swap", { stag = 7, to = 64, data = OPERAND, id = 5 })
    local sent = own:expect(rdmap.atomic_request { AOpCode = SWAP }, { message = "a Swap that the device was asked for" })
    local target = t:target { value = MIXED }
    local c = t:open { dut = t:profile("draft03") }
    c:expect_operation_on(target, target:request(SWAP, { Data = OPERAND, Mask = 0 }), MIXED, OPERAND, "Swap with mask 0")
    if sent.Mask ~= ALL_BITS then
      t:warn("the mask of a Swap", string.format("0x%016x", ALL_BITS), string.format("0x%016x", sent.Mask))
    end
  end,
}

check {
  id = "ATOM-5.1.3-01",
  role = "both",
  purpose = "CmpSwap compares under the Compare Mask, both sides of it",
  run = function(t)
    run_rows(t, {
      { COMPARE, MIXED, { CompareData = 0x9999999933334444, CompareMask = 0x00000000FFFFFFFF, Data = 5 }, 5 },
      { COMPARE, MIXED, { CompareData = 0x1111222299999999, CompareMask = 0xFFFFFFFF00000000, Data = 6 }, 6 },
    }, "CmpSwap that matches in the bits of the mask")
  end,
}

check {
  id = "ATOM-5.1.3-02",
  role = "both",
  purpose = "CmpSwap replaces the bits of the Swap Mask alone",
  run = function(t)
    run_rows(t, {
      { COMPARE, MIXED, { Data = OPERAND, Mask = HALVES, CompareMask = 0 }, 0xAAAA2222CCCC4444 },
      { COMPARE, MIXED, { Data = OPERAND, Mask = 0, CompareMask = 0 }, MIXED },
    }, "CmpSwap with a Swap Mask")
  end,
}

check {
  id = "ATOM-5.1.3-03",
  role = "both",
  purpose = "a mismatch leaves the target alone and is answered like a match",
  run = function(t)
    local target = t:target { value = MIXED }
    local c = t:open()
    for _, bit in ipairs { 0, 7, 31, 32, 63 } do
      local wanted = { CompareData = MIXED ~ (1 << bit), Data = 5 }
      c:expect_operation_on(target, target:request(COMPARE, wanted), MIXED, MIXED, "CmpSwap that differs in bit " .. bit)
      wanted.CompareMask = 1 << bit
      c:expect_operation_on(target, target:request(COMPARE, wanted), MIXED, MIXED,
                            "CmpSwap that compares bit " .. bit .. " alone, which differs")
    end
    c:expect_operation_on(target, target:request(ADD), MIXED, MIXED, "FetchAdd of 0 after it")
  end,
}

check {
  id = "ATOM-5.1.3-04",
  role = "both",
  purpose = "CmpSwap returns the old value, on a match and on a mismatch",
  run = function(t)
    local target = t:target { value = 0x0102030405060708 }
    local c = t:open()
    local miss = target:request(COMPARE, { CompareData = 9, Data = 5 })
    local match = target:request(COMPARE, { CompareData = 0x0102030405060708, Data = 5 })
    c:send(miss)
    c:expect_atomic(miss, 0x0102030405060708, "a mismatch")
    c:send(match)
    c:expect_atomic(match, 0x0102030405060708, "a match")
  end,
}

check {
  id = "ATOM-5.1.3-05",
  role = "both",
  purpose = "after its response the target holds the masked swap, or on a mismatch what it held",
  run = function(t)
    local target = t:target { value = MIXED }
    local c = t:open()
    local function reads(value, message)
      c:send(target.memory:read(target.at, 8))
      c:expect_response(0x51A6, 0, string.pack(t:byte_order() .. "i8", value), message)
    end
    c:atomic(target:request(COMPARE, { CompareData = MIXED, Data = OPERAND, Mask = HALVES }))
    reads(0xAAAA2222CCCC4444, "an RDMA Read after a match")
    c:atomic(target:request(COMPARE, { CompareData = MIXED, Data = OPERAND }))
    reads(0xAAAA2222CCCC4444, "an RDMA Read after a mismatch")
  end,
}

check {
  id = "ATOM-5.1.3-06",
  role = "both",
  purpose = "bits outside the Swap Mask: the prose would clear them, the pseudocode keeps them",
  run = function(t)
    local target = t:target { value = MIXED }
    local c = t:open()
    c:atomic(target:request(COMPARE, { CompareData = MIXED, Data = OPERAND, Mask = 0x00000000FFFFFFFF }))
    local got = target:value()
    if got == 0x00000000CCCCDDDD then t:ambiguous("B: unmasked bits become zero (prose)") end
    target:check(0x11112222CCCCDDDD, "CmpSwap of the lower half")
    t:ambiguous("A: unmasked bits keep their old value (pseudocode)")
  end,
}

check {
  id = "ATOM7306-5-03",
  role = "both",
  purpose = "a device with atomics has FetchAdd",
  run = function(t)
    t:open():atomic(t:target():request(ADD), "FetchAdd is answered")
  end,
}

check {
  id = "ATOM7306-5-04",
  role = "both",
  purpose = "a device with atomics has CmpSwap",
  run = function(t)
    t:open():atomic(t:target():request(COMPARE), "CmpSwap is answered")
  end,
}

check {
  id = "ATOM7306-5.2.1-01",
  role = "both",
  purpose = "all operations of RFC 7306 Figure 5 are there when one is",
  run = function(t)
    local c, target = t:open { dut = t:profile("rfc7306") }, t:target()
    c:atomic(target:request(ADD), "AOpCode 0 is answered")
    c:atomic(target:request(COMPARE), "AOpCode 2 is answered")
  end,
}
