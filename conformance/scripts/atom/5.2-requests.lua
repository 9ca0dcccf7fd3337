-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 5.2 to 5.2.2: Atomic Requests and Responses, and the order that they keep.

defaults { llp = "any" }

check {
  id = "ATOM-4.1-07",
  role = "both",
  purpose = "the Invalidate STag field of opcodes 8, 9 and A is ignored, also when it names a valid STag",
  run = function(t)
    local bystander = t:memory { data = "still here" }
    local target = t:target { value = 1 }
    local c = t:open()
    t:stream_of(c)
    local bound = t:memory { data = "and here", bound = c, alone = true }
    for i, word in ipairs { 0xDEADBEEF, bystander.STag, bound.STag } do
      local add = target:request(ADD, { Data = 1, InvalidateSTag = word })
      c:send(add, rdmap.immediate { Data = 2 * i, InvalidateSTag = word },
             rdmap.immediate { Opcode = 9, Data = 2 * i + 1, InvalidateSTag = word })
      c:expect_atomic(add, i, "FetchAdd with an Invalidate STag field")
    end
    for _, memory in ipairs { bystander, bound } do
      c:send(memory:read(0, 4))
      c:expect_response(0x51A6, 0, memory.image:sub(1, 4), "the STag that the field named is still valid")
    end
    local wanted = {}
    for i = 2, 7 do wanted[#wanted + 1] = string.pack(">I8", i) end
    t:expect_deliveries(c, wanted, "Immediate Data is delivered whatever the field holds")
  end,
}

check {
  id = "ATOM-4.1-09",
  role = "both",
  purpose = "reserved bits of the extensions' messages are ignored",
  run = function(t)
    local target = t:target { value = 5 }
    local c = t:open()
    t:stream_of(c)
    local add = target:request(ADD, { Data = 1, Rsvd = 15, Rsv = 3 })
    c:send(add)
    c:expect_atomic(add, 5, "an Atomic Request with octets 7D 7A")
    c:send(rdmap.immediate { Data = 0x0102030405060708, Rsvd = 15, Rsv = 3 })
    t:expect_deliveries(c, { "\1\2\3\4\5\6\7\8" }, "Immediate Data with octets 7D 78")
    c:probe()
  end,
}

check {
  id = "ATOM-5.2.1-03",
  role = "both",
  purpose = "the 28 reserved bits of an Atomic Request are ignored",
  run = function(t)
    local target = t:target { value = 5 }
    local c = t:open()
    c:expect_operation_on(target, target:request(ADD, { Data = 1, Reserved = 0xFFFFFFF }), 5, 6, "FetchAdd with first word FFFFFFF0")
  end,
}

-- Over SCTP a request waits only where responses do: behind a Read Response that fills the device's SCTP, as the
-- tester's window is shut. Over TCP several requests come in one segment. Returns what opens the windows and takes that
-- Response of each stream.
local function hold_responses(t, streams)
  if not t:over_sctp() then return function() end end
  local m = t:memory { octets = t.large }
  for _, c in ipairs(streams) do c:shut_with_reads(m, 1) end
  return function()
    for _, c in ipairs(streams) do
      c:window(65535)
      c:expect_responses(1, "a Read before the atomics")
    end
  end
end

check {
  id = "ATOM-5.2.1-05",
  role = "both",
  purpose = "identifiers are the requester's: 0, all ones, the same twice",
  run = function(t)
    local target = t:target { value = 0 }
    local c = t:open { dut = { ird = 4 } }
    local requests = {}
    local open = hold_responses(t, { c })
    for i, id in ipairs { 0, 0xFFFFFFFF, 0xFFFFFFFF } do requests[i] = target:request(ADD, { Data = 1, RequestId = id }) end
    c:send(table.unpack(requests))
    open()
    for i, request in ipairs(requests) do c:expect_atomic(request, i - 1, "request " .. i .. " of three waiting ones") end
  end,
}

check {
  id = "ATOM7306-5.2.1-03",
  role = "both",
  purpose = "the response reflects whatever identifier the requester chose",
  run = function(t)
    local target = t:target()
    local c = t:open()
    for _, id in ipairs { 0, 0xFFFFFFFF, 0x80000000, 1 } do
      c:atomic(target:request(ADD, { RequestId = id }), string.format("identifier %08x", id))
    end
  end,
}

check {
  id = "ATOM-5.2.2-02",
  role = "both",
  purpose = "the response repeats the request's identifier, octet for octet",
  run = function(t)
    local target = t:target()
    local c = t:open()
    c:send(target:request(ADD, { RequestId = 0x1234ABCD }))
    c:expect(rdmap.atomic_response { RequestId = 0x1234ABCD }, { message = "identifier 1234ABCD" })
  end,
}

check {
  id = "ATOM-5.2.2-03",
  role = "both",
  purpose = "the response has the 64 bits that the target held, most significant octet first",
  run = function(t)
    local c = t:open()
    for _, value in ipairs { 0x0102030405060708, 0x8000000000000001, ALL_BITS, 0 } do
      local target = t:target { value = value }
      local add = target:request(ADD, { Data = 0x1111 })
      c:send(add)
      c:expect_atomic(add, value, string.format("a target that holds 0x%016x", value))
    end
  end,
}

check {
  id = "ATOM-5.2.1-07",
  role = "both",
  purpose = "TO may lie anywhere in 64 bits",
  run = function(t)
    for _, base in ipairs { 0, 0x7F0000001000, 0xFFFFFFFF00000000 } do
      local target = t:target { base = base, value = 3 }
      t:open():expect_operation_on(target, target:request(ADD, { Data = 1 }), 3, 4, string.format("a region at 0x%x", base))
    end
  end,
}

check {
  id = "ATOM-5.2.1-08",
  role = "both",
  purpose = "it is the buffer's address that has to be aligned, not the TO",
  run = function(t)
    local message = "a TO that is no multiple of 8 names an address that is one"
    local by_to
    for _, name in ipairs { "rfc7306", "draft03" } do
      local profile = t:profile(name)
      if profile.extensions or name == "draft03" then
        -- The buffer's own address is a multiple of 8 here, and TO 4 names it.
        local target = t:target { base = 4, at = 0, value = 9 }
        local c = t:open { dut = profile }
        c:send(target:request(ADD, { Data = 1 }))
        local got = c:receive()
        if is_terminate(got, "RDMAP_CATASTROPHIC_STREAM") and profile.extensions == "rfc7306" then
          t:fail(message .. ": the device judges TO alone", "an Atomic Response", describe(got))
        elseif is_terminate(got, "RDMAP_CATASTROPHIC_STREAM") then
          by_to = got
        elseif not fits(rdmap.atomic_response {}, got) then
          t:fail(message, "an Atomic Response", describe(got))
        else
          target:check(10, message)
          c:expect_error(target:request(ADD, { Data = 1, offset = 4 }), "RDMAP_CATASTROPHIC_STREAM",
                         "a TO that is a multiple of 8 names an address that is none")
          target:check(10, "nothing happens there")
        end
      end
    end
    if by_to then t:warn(message .. ": the device judges TO alone", "an Atomic Response", describe(by_to)) end
  end,
}

check {
  id = "ATOM-5.2.1-12",
  role = "both",
  purpose = "Compare Data is ignored where nothing is compared",
  run = function(t)
    local target = t:target { value = 3 }
    local c = t:open()
    local given = { Data = 4, CompareData = 0xA5A5A5A5A5A5A5A5 }
    c:expect_operation_on(target, target:request(ADD, given), 3, 7, "FetchAdd with Compare Data")
    if t:profile("draft03").extensions then
      c = t:open { dut = t:profile("draft03") }
      c:expect_operation_on(target, target:request(SWAP, given), 7, 4, "Swap with Compare Data")
    end
  end,
}

check {
  id = "ATOM-5.2.1-14",
  role = "both",
  purpose = "Compare Mask is ignored where nothing is compared",
  run = function(t)
    local target = t:target { value = 3 }
    local c = t:open()
    c:expect_operation_on(target, target:request(ADD, { Data = 4, CompareMask = 0 }), 3, 7, "FetchAdd with Compare Mask 0")
    if t:profile("draft03").extensions then
      c = t:open { dut = t:profile("draft03") }
      c:expect_operation_on(target, target:request(SWAP, { Data = 4, CompareMask = 0 }), 7, 4, "Swap with Compare Mask 0")
    end
  end,
}

check {
  id = "ATOM-5.2.1-18",
  purpose = "an atomic is served without the ULP: no receive is posted, no call is made",
  run = function(t)
    local target = t:target { value = 3 }
    local c = t:open { dut = { receives = 0 } }
    local add = target:request(ADD, { Data = 1 })
    c:send(add)
    c:expect_atomic(add, 3, "FetchAdd while no receive is posted")
  end,
}

check {
  id = "ATOM-5.2.1-19",
  purpose = "an atomic is not delivered to the ULP and takes no receive",
  run = function(t)
    local target = t:target { value = 3 }
    local c = t:open { dut = { receives = 1, repost = false } }
    t:stream_of(c)
    c:atomic(target:request(ADD, { Data = 1 }))
    c:send(rdmap.send { data = "behind" })
    t:expect_deliveries(c, { "behind" }, "the one receive is there for a Send after the FetchAdd")
    c:probe()
  end,
}

-- As many chained operations as the device serves at once: each depends on the one before it.
local function chain(target, count)
  local requests = {}
  for i = 1, count do
    requests[i] = target:request(COMPARE, { CompareData = i - 1, Data = i, RequestId = i })
  end
  return requests
end

check {
  id = "ATOM-5.2.1-24",
  role = "both",
  purpose = "atomics are processed in the order in which they were sent",
  run = function(t)
    local target = t:target { value = 0 }
    local c = t:open { dut = { ird = 4 } }
    local requests = chain(target, 4)
    c:send(table.unpack(requests))
    for i, request in ipairs(requests) do c:expect_atomic(request, i - 1, "step " .. i .. " of a chain of CmpSwaps") end
    target:check(4, "the chain has run through")
  end,
}

check {
  id = "ATOM-5.2.1-25",
  role = "both",
  purpose = "every valid request gets its response",
  run = function(t)
    local target = t:target { value = 0 }
    local c = t:open { dut = { ird = 4 } }
    for first = 0, 196, 4 do
      local requests = {}
      for i = 1, 4 do requests[i] = target:request(ADD, { Data = 1, RequestId = first + i }) end
      c:send(table.unpack(requests))
      for i, request in ipairs(requests) do c:expect_atomic(request, first + i - 1, "one of 200 FetchAdds") end
    end
    target:check(200, "200 FetchAdds of 1")
  end,
}

-- An atomic that was answered gives up one place: of Reads after it no more are taken than were agreed.
local function places_freed_once(t)
  local ird, target, m = 2, t:target { value = 0 }, t:memory { octets = t.large }
  local function atomics(c)
    for i = 1, 4 do
      local request = target:request(ADD, { Data = 1, RequestId = i })
      c:send(request)
      c:expect_atomic(request, nil, "atomic " .. i .. " of 4, one after another")
    end
  end
  local c = t:open { dut = { ird = ird } }
  atomics(c)
  c:shut_with_reads(m, ird + 2)
  c:window(65535)
  local responses, got = 0, nil
  repeat
    got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 and got.L == 1 then responses = responses + 1 end
  until got.kind ~= "segment" or got.Opcode ~= 2 or responses == ird + 2
  if responses == ird + 2 and not t:leaves_in_tcp(ird + 2, ird, nil, atomics) then
    t:fail("Reads at once after atomics, with an IRD of " .. ird, "a Terminate for the one beyond", responses .. " are served")
  end
end

check {
  id = "ATOM-5.2.2-07",
  role = "both",
  purpose = "there are QN 1 buffers for as many atomics as were agreed",
  run = function(t)
    for _, depth in ipairs { 1, 8 } do
      local target = t:target { value = 0 }
      local c = t:open { dut = { ird = depth } }
      local requests = {}
      for i = 1, depth do requests[i] = target:request(ADD, { Data = 1, RequestId = i }) end
      c:send(table.unpack(requests))
      for i, request in ipairs(requests) do c:expect_atomic(request, i - 1, i .. " of " .. depth .. " at once") end
    end
    places_freed_once(t)
  end,
}

-- "r" and "a", a Read and an atomic each, at once: all are answered, in their order.
local function mixed(t, mix)
  local target, source = t:target { value = 0 }, t:memory { octets = 64 }
  -- Over SCTP one more place is taken by the Read that holds the responses back.
  local c = t:open { dut = { ird = #mix + (t:over_sctp() and 1 or 0) } }
  local open, requests = hold_responses(t, { c }), {}
  for kind in mix:gmatch "." do
    requests[#requests + 1] = kind == "a" and target:request(ADD, { Data = 1, RequestId = #requests }) or source:read(0, 16)
  end
  c:send(table.unpack(requests))
  open()
  local added = 0
  for i, request in ipairs(requests) do
    local message = string.format("request %d of %d Reads and atomics at once (%s)", i, #mix, mix)
    if mix:sub(i, i) == "a" then
      c:expect_atomic(request, added, message)
      added = added + 1
    else
      c:expect_response(0x51A6, 0, source.image:sub(1, 16), message)
    end
  end
end

check {
  id = "ATOM7306-5.2.2-01",
  role = "both",
  purpose = "QN 1 has buffers for Reads and atomics together: as many as were agreed, in any mix",
  run = function(t)
    for _, mix in ipairs { "ra", "ar", "rrraaaaa", "aaaaarrr", "raraarar", "rrrrrrra", "raaaaaaa" } do mixed(t, mix) end
  end,
}

check {
  id = "ATOM-5.2.2-10",
  role = "both",
  purpose = "responses go in the order of their requests",
  run = function(t)
    local slow, quick = t:target { value = 0 }, t:target { value = 0 }
    local c = t:open { dut = { ird = 4 } }
    local requests = {}
    for i = 1, 4 do
      local target = i % 2 == 1 and slow or quick
      requests[i] = target:request(i % 2 == 1 and COMPARE or ADD, { Data = 1, RequestId = i })
    end
    c:send(table.unpack(requests))
    for i, request in ipairs(requests) do
      t:equal("the MSN on QN 3", i, c:expect_atomic(request, nil, "response " .. i .. " of 4").MSN)
    end
    for i = 5, 260 do -- their numbers take more than 8 bits
      local request = quick:request(ADD, { Data = 1, RequestId = i })
      c:send(request)
      t:equal("the MSN on QN 3", i, c:expect_atomic(request, nil, "response " .. i).MSN)
    end
  end,
}

check {
  id = "ATOM7306-5.2.2-03",
  role = "both",
  purpose = "responses go in the order in which requests were received, whatever their targets",
  run = function(t)
    local c = t:open { dut = { ird = 4 } }
    local requests = {}
    for i = 1, 4 do requests[i] = t:target { value = i }:request(ADD, { RequestId = 5 - i }) end
    c:send(table.unpack(requests))
    for i, request in ipairs(requests) do c:expect_atomic(request, i, "response " .. i .. " of 4") end
  end,
}

-- Rounds of FetchAdds on several streams at once; with `swaps`, one CmpSwap a round and stream too. Nothing may be
-- lost. In the last round all of them wait at once, over either LLP.
local function contend(t, streams, rounds, swaps, ports)
  local target = t:target { value = 0 }
  local port = t:listen { ird = 4 }
  local c, seen, applied, total = {}, {}, 0, 0
  for i = 1, streams do c[i] = t:open { port = ports and t:listen { ird = 4 } or port } end
  for round = 1, rounds do
    local open = round == rounds and hold_responses(t, c)
    for i = 1, streams do
      local a = target:request(ADD, { Data = 1 })
      local b = swaps and target:request(COMPARE, { CompareData = total + (i - 1) * 3 + 1, Data = total + (i - 1) * 3 + 2 })
                or target:request(ADD, { Data = 1 })
      c[i].requests = { a, b, target:request(ADD, { Data = 1 }) }
      c[i]:send(table.unpack(c[i].requests))
    end
    if open then open() end
    for i = 1, streams do
      for _, request in ipairs(c[i].requests) do
        local got = c[i]:expect_atomic(request, nil, "atomics of " .. streams .. " streams")
        if request.given.AOpCode == ADD or got.Value == request.given.CompareData then
          applied = applied + 1
          if seen[got.Value] then
            t:fail("no two atomics find the same value", "values all different", "twice " .. got.Value)
          end
          seen[got.Value] = true
        end
      end
    end
    total = applied
  end
  target:check(applied, applied .. " atomics that added 1 each")
end

check {
  id = "ATOM-5.3-01",
  purpose = "an atomic is atomic with respect to those of other streams",
  run = function(t) contend(t, 4, 25, false) end,
}

check {
  id = "ATOM7306-5-01",
  purpose = "no other atomic reaches the target meanwhile, FetchAdd or CmpSwap",
  run = function(t) contend(t, 3, 25, true) end,
}

check {
  id = "ATOM7306-5.4-02",
  purpose = "atomicity holds over all ports of the device: no update is lost",
  run = function(t) contend(t, 3, 25, false, true) end,
}
