-- SPDX-License-Identifier: BSD-2-Clause
--
-- Atomic Operations and Immediate Data (docs/writing-checks.md, "Extensions").

ADD, SWAP, COMPARE = 0, 1, 2
ALL_BITS = -1                      -- 64 ones

-- Configuration of the device for one profile ("off", "draft03", "rfc7306"), where its upper tester lets one choose;
-- what it does anyway, where not. `more`: further options.
function Test:profile(name, more)
  local out = copy_fields(more)
  for _, known in ipairs(self.dut:capabilities().extensions or {}) do
    if known == name then out.extensions = name end
  end
  return out
end

local Target = {}
Target.__index = Target

-- Memory with the right for atomics, and in it 8 octets that atomics aim at. options: at (16, their offset), octets
-- (128), base (0x7F0000001000), access, data, bound, pd as t:memory has them; value: what they hold. The result has
-- STag, TO (of the 8 octets), memory (as t:memory gives it).
function Test:target(options)
  local o = copy_fields(options)
  local at, value = o.at or 16, o.value
  o.at, o.value = nil, nil
  o.anywhere = o.base == nil
  o.octets, o.base = o.octets or 128, o.base or 0x7F0000001000
  o.access = o.access or { "read", "write", "atomic" }
  local memory = self:memory(o)
  if memory == nil then return nil end
  if o.anywhere and o.octets - at >= 16 then at = at + -(memory.TO + at) % 8 end
  local target = setmetatable({ t = self, memory = memory, STag = memory.STag, TO = memory.TO + at, at = at }, Target)
  if value then target:store(value) end
  return target
end

-- The order of a number's octets in the device's memory, ">" or "<": an atomic that changes nothing shows it. FAIL when
-- its answer is neither.
function Test:byte_order()
  if self.order then return self.order end
  local octets = "\x01\x02\x03\x04\x05\x06\x07\x08"
  local probe = self:target { at = 0, octets = 8, data = octets }
  local c = self:open()
  local got = c:atomic(probe:request(ADD))
  if got.Value == string.unpack(">I8", octets) then
    self.order = ">"
  elseif got.Value == string.unpack("<I8", octets) then
    self.order = "<"
  else
    self:fail("FetchAdd of 0 returns what the target holds", "0x0102030405060708 or 0x0807060504030201",
              string.format("0x%016x", got.Value))
  end
  c:reset()
  return self.order
end

-- What the 8 octets hold, as a number; and another number for them. Both go through the upper tester.
function Target:value()
  local data = unhex(self.t.dut:mem_read { stag = self.STag, offset = self.at, length = 8 }.data)
  return (string.unpack(self.t:byte_order() .. "i8", data))
end

function Target:store(value)
  local order = value == 0 and ">" or self.t:byte_order() -- a device without atomics need not tell for octets that are all the same
  local octets = string.pack(order .. "i8", value)
  self.t.dut:mem_write { stag = self.STag, offset = self.at, data = hex(octets) }
  self.memory:patch(self.at, octets)
end

-- FAIL unless the 8 octets hold this number and the others what they held.
function Target:check(value, message)
  local octets = string.pack(self.t:byte_order() .. "i8", value)
  local got = self:value()
  if got ~= value then
    self.t:fail(message, string.format("0x%016x", value), string.format("0x%016x", got))
  end
  self.memory:patch(self.at, octets)
  self.memory:check(message .. ": the octets around it")
end

-- An Atomic Request for it. `given`: Data, Mask, CompareData, CompareMask, RequestId, and any other field; `offset` is
-- added to TO. By default the masks are those that the texts want where the operation does not need them.
function Target:request(operation, given)
  local f = copy_fields(given)
  f.AOpCode = f.AOpCode or operation
  f.STag, f.TO = f.STag or self.STag, (f.TO or self.TO) + (f.offset or 0)
  f.offset = nil
  f.RequestId = f.RequestId or 0x1234ABCD
  f.Mask = f.Mask or (operation == ADD and 0 or ALL_BITS)
  f.CompareMask = f.CompareMask or ALL_BITS
  return rdmap.atomic_request(f)
end

-- Sends an Atomic Request and takes its response: FAIL when something else comes. Returns the response.
function Connection:atomic(request, message)
  self:send(request)
  return self:expect_atomic(request, nil, message)
end

-- Takes the response to this request; `value`: the original value expected.
function Connection:expect_atomic(request, value, message)
  return self:expect(rdmap.atomic_response { RequestId = request.given.RequestId, Value = value },
                     { message = message or "an Atomic Request is answered" })
end

-- One atomic, and what it returns and leaves in memory.
function Connection:expect_operation_on(target, request, original, after, message)
  local got = self:atomic(request, message)
  local named = function(v) return string.format("original 0x%016x", v) end
  if got.Value ~= original then self.t:fail(message, named(original), named(got.Value)) end
  target:check(after, message)
end

-- The names of the Terminates for faults that neither text gives a code.
UNNAMED = { "RDMAP_OPCODE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER" }

-- The device posts an atomic or an Immediate Data on this stream.
function Test:post_atomic(c, operation, given)
  local request = copy_fields(given)
  request.stream, request.operation = self:stream_of(c), operation
  for _, name in ipairs { "to", "data", "mask", "compare", "compare_mask" } do
    if request[name] then request[name] = string.format("0x%x", request[name]) end
  end
  self.dut:atomic(request)
end

function Test:post_immediate(c, data, given)
  local request = copy_fields(given)
  request.stream, request.data = self:stream_of(c), hex(data)
  self.dut:immediate(request)
end

-- A stream on which the device is free to send: what it received was answered.
function Test:open_for_posting(options)
  local c = self:open(options)
  self:stream_of(c)
  c:probe()
  return c
end
