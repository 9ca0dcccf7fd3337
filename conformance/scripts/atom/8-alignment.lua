-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 5.1 and 8: atomics on targets that are not aligned are errors, and change nothing.

defaults { llp = "any" }

local MISALIGNED = "RDMAP_CATASTROPHIC_STREAM"
local ODD = 0x5152535455565758

-- How far from a multiple of 8, the first ones first.
local SOME, EACH = { 4, 1, 2, 3, 5, 6, 7 }, { 1, 2, 3, 4, 5, 6, 7 }

-- Atomics at address + 1 to 7 (or the offsets given), each on a stream of its own. `look(c, target, offset)` judges.
local function misaligned(t, operation, offsets, look)
  local profile = operation == SWAP and "draft03" or nil
  for _, offset in ipairs(offsets) do
    local target = t:target { value = ODD }
    local c = t:open { dut = profile and t:profile(profile) }
    c.sent = target:request(operation, { Data = 0x1111111111111111, CompareData = 0, CompareMask = operation == COMPARE and 0 or nil,
                                         offset = offset })
    c:send(c.sent)
    look(c, target, offset)
  end
end

local function no_response(c, _, offset)
  local got
  repeat got = c:receive() until got.kind ~= "segment" or got.Opcode == 7 or got.Opcode == 11
  if got.kind ~= "segment" or got.Opcode ~= 7 then
    c.t:fail("an atomic at a multiple of 8 plus " .. offset .. " is an error, and told", "a Terminate", describe(got))
  end
end

-- Memory alone is judged: whether and how the error is reported is for the rows about that.
local function untouched(c, target, offset)
  local got
  repeat got = c:receive() until got.kind ~= "segment" or got.Opcode == 7 or got.Opcode == 11
  local other = c.t:open()
  other:send(target.memory:read(target.at - 4, 24))
  other:expect_response(0x51A6, 0, target.memory.image:sub(target.at - 3, target.at + 20),
                        "an atomic at a multiple of 8 plus " .. offset .. " changes nothing")
end

local function unchanged(c, target, offset)
  no_response(c, target, offset)
  untouched(c, target, offset)
end

local function terminated(c, _, offset)
  c:expect_terminate(MISALIGNED, { message = "an atomic at a multiple of 8 plus " .. offset, next = true })
end

-- The ULP learns of it too: an error event of the stream.
local function expect_error_event(c, _, offset)
  local event = c.t:await_event("error", { stream = c.t:stream_of(c) })
  if not event then
    c.t:fail("the ULP is told of an atomic at a multiple of 8 plus " .. offset, "an error event of the stream", "none")
  end
  c.t:equal("layer of the error", 0, c.t:event_member(event, "layer"))
end

-- What the texts say of a misaligned operation: it is an error, it changes no memory, and how it is reported.
for _, row in ipairs {
  { "ATOM7306-5.1.1-04", "a misaligned FetchAdd is an error", ADD, SOME, no_response },
  { "ATOM7306-5.1.1-05", "a misaligned FetchAdd changes no memory", ADD, SOME, untouched },
  { "ATOM7306-5.1.1-07", "a misaligned FetchAdd draws a Terminate", ADD, SOME, terminated },
  { "ATOM-5.1.2-05", "a misaligned Swap is an error", SWAP, SOME, no_response },
  { "ATOM-5.1.2-06", "a misaligned Swap changes no memory", SWAP, SOME, untouched },
  { "ATOM-5.1.2-08", "a misaligned Swap draws a Terminate", SWAP, SOME, terminated },
  { "ATOM-5.1.3-08", "a misaligned CmpSwap is an error, by however many octets", COMPARE, EACH, no_response },
  { "ATOM-5.1.3-09", "a misaligned CmpSwap that matches changes no memory", COMPARE, EACH, untouched },
  { "ATOM-5.1.3-11", "a misaligned CmpSwap draws a Terminate", COMPARE, EACH, terminated },
  { "ATOM7306-5.1.1-06", "a misaligned FetchAdd is reported to the local ULP", ADD, SOME, expect_error_event },
  { "ATOM-5.1.2-07", "a misaligned Swap is reported to the local ULP", SWAP, SOME, expect_error_event },
  { "ATOM-5.1.3-10", "a misaligned CmpSwap is reported to the local ULP", COMPARE, EACH, expect_error_event },
} do
  local id, purpose, operation, offsets, look = table.unpack(row)
  check {
    id = id,
    role = operation ~= COMPARE and "both" or nil,
    purpose = purpose,
    run = function(t) misaligned(t, operation, offsets, look) end,
  }
end

check {
  id = "ATOM7306-5.1.2-01",
  role = "both",
  purpose = "a misaligned CmpSwap is not performed at all",
  run = function(t)
    misaligned(t, COMPARE, SOME, function(c, target, offset)
      untouched(c, target, offset)
      t:open():expect_operation_on(target, target:request(ADD), ODD, ODD, "an atomic of another stream finds what was there")
    end)
  end,
}

check {
  id = "ATOM-8.2-04",
  role = "both",
  purpose = "the target's address is validated for every operation",
  run = function(t)
    misaligned(t, ADD, EACH, unchanged)
    misaligned(t, COMPARE, { 4 }, unchanged)
    if t:profile("draft03").extensions then misaligned(t, SWAP, { 4 }, unchanged) end
  end,
}

check {
  id = "ATOM-8.2-05",
  role = "both",
  purpose = "a misaligned target is a Remote Operation Error, catastrophic and localized to the RDMAP Stream",
  run = function(t)
    misaligned(t, ADD, EACH, terminated)
    misaligned(t, COMPARE, { 4 }, terminated)
    if t:profile("draft03").extensions then misaligned(t, SWAP, { 4 }, terminated) end
  end,
}
