-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 5.4, 6.4 and 7: what waits for what.

defaults { llp = "any" }

check {
  id = "ATOM-7-10",
  role = "both",
  purpose = "a Read Response waits for the Atomic Response before it",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open { dut = { ird = 4 } }
    local add = target:request(ADD, { Data = 1 })
    c:send(add, target.memory:read(target.at, 8))
    c:expect_atomic(add, 1, "the Atomic Response comes first")
    -- What it has read is no matter of this order: its source may be fetched when the request is delivered.
    local got = c:expect(rdmap.read_response { STag = 0x51A6, TO = 0, L = 1 }, { message = "the Read Response comes after it" })
    local order = t:byte_order() .. "i8"
    if got.data ~= string.pack(order, 1) and got.data ~= string.pack(order, 2) then
      t:equal("octets of the Read after a FetchAdd", "octets " .. hex(string.pack(order, 2)), "octets " .. hex(got.data))
    end
  end,
}

check {
  id = "ATOM-7-11",
  role = "both",
  purpose = "of two atomics the second is answered second",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open { dut = { ird = 4 } }
    local one, two = target:request(ADD, { Data = 1, RequestId = 1 }), target:request(ADD, { Data = 1, RequestId = 2 })
    c:send(one, two)
    t:equal("the first one's MSN on QN 3", 1, c:expect_atomic(one, 1, "the first one's response").MSN)
    t:equal("the second one's MSN on QN 3", 2, c:expect_atomic(two, 2, "the second one's response").MSN)
  end,
}

check {
  id = "ATOM-7-14",
  role = "both",
  purpose = "an Atomic Response waits for the Read Response before it",
  run = function(t)
    local source = t:memory { octets = 65536 }
    local target = t:target { value = 1 }
    local c = t:open { dut = { ird = 4 } }
    local add = target:request(ADD, { Data = 1 })
    c:send(source:read(0, 65536), add)
    c:expect_response(0x51A6, 0, source.image, "the whole Read Response comes first")
    c:expect_atomic(add, 1, "then the Atomic Response")
  end,
}

check {
  id = "ATOM-7-12",
  purpose = "an atomic is not answered before the Send in front of it completed",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open { dut = { receives = 0 } }
    local add = target:request(ADD, { Data = 1 })
    c:send(rdmap.send { data = "no buffer" }, add)
    local got = c:receive(t.quiet)
    if got.kind == "segment" and got.Opcode ~= 7 then
      t:fail("a FetchAdd after a Send without a buffer", "no Atomic Response", describe(got))
    end
    target:check(1, "it is not executed either")
  end,
}

check {
  id = "ATOM-7-13",
  purpose = "what was written before an atomic is in place when the atomic is answered",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open()
    local other = t:open()
    for round = 1, 8 do
      local add = target:request(ADD, { Data = 1 })
      c:send(target.memory:write(64, pattern(32, round)), add)
      c:expect_atomic(add, round, "FetchAdd after a Write")
      other:send(target.memory:read(64, 32))
      other:expect_response(0x51A6, 0, pattern(32, round), "another stream reads what was written")
    end
  end,
}

check {
  id = "ATOM-7-05",
  purpose = "Immediate Data after a Write completes when the Write is in place",
  run = function(t)
    local memory = t:memory { octets = 16384 }
    local c = t:open()
    t:stream_of(c)
    local wanted = {}
    for round = 1, 6 do
      local data = pattern(16384, round)
      -- In segments that fit the link: a larger FPDU may be refused (MPA-3-16).
      for at = 0, #data - 1, 1400 do
        c:send(memory:write(at, data:sub(at + 1, at + 1400), { L = at + 1400 >= #data and 1 or 0 }))
      end
      c:send(rdmap.immediate { Data = round })
      wanted[round] = string.pack(">I8", round)
      memory:patch(0, pattern(16384, round))
      t:expect_deliveries(c, wanted, "Immediate Data after a Write of 16 KiB")
      memory:check("what was written when the Immediate Data is delivered")
    end
  end,
}

check {
  id = "ATOM-5.4-04",
  role = "both",
  purpose = "an atomic sees a Write that was sent before it, though its own octets arrived first",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open()
    c:probe()
    local add = target:request(ADD)
    c:send_shuffled({ target.memory:write(target.at, string.pack(t:byte_order() .. "i8", 0x7777)), add }, { 2, 1 })
    c:expect_atomic(add, 0x7777, "FetchAdd of 0 after a Write")
  end,
}

check {
  id = "ATOM-5.4-07",
  role = "both",
  purpose = "waiting atomics are processed in order, whatever the order of TCP segments",
  run = function(t)
    local target = t:target { value = 0 }
    local c = t:open { dut = { ird = 4 } }
    c:probe()
    local requests = {}
    for i = 1, 4 do requests[i] = target:request(COMPARE, { CompareData = i - 1, Data = i, RequestId = i }) end
    c:send_shuffled(requests, { 4, 3, 2, 1 })
    for i, request in ipairs(requests) do c:expect_atomic(request, i - 1, "step " .. i .. " of a chain of CmpSwaps") end
  end,
}

check {
  id = "ATOM-5.4-08",
  role = "both",
  purpose = "responses go in the order of delivery, whatever the order of TCP segments",
  run = function(t)
    local c = t:open { dut = { ird = 4 } }
    c:probe()
    local requests = {}
    for i = 1, 4 do requests[i] = t:target { value = i }:request(ADD, { RequestId = i }) end
    c:send_shuffled(requests, { 3, 1, 4, 2 })
    for i, request in ipairs(requests) do
      t:equal("the MSN on QN 3", i, c:expect_atomic(request, i, "response " .. i).MSN)
    end
  end,
}

-- `first` and then `second`, and either order of what the device does: no verdict but that both happen.
local function either_order(t, first, second, wanted)
  local target = t:target { value = 1 }
  local c = t:open()
  t:stream_of(c)
  local request = first(target)
  c:send(request, second(target))
  local response = request.name == "Atomic Request" and rdmap.atomic_response { RequestId = request.given.RequestId }
                   or rdmap.read_response { STag = request.given.SinkSTag }
  local got = c:expect(response, { message = "both messages are processed" })
  if wanted then t:expect_deliveries(c, { wanted }, "what came after is delivered") end
  c:probe()
  return got, target
end

check {
  id = "ATOM-7-06",
  purpose = "Read then Immediate Data: both happen, in either order",
  run = function(t)
    either_order(t, function(target) return target.memory:read(0, 8) end, function() return rdmap.immediate { Data = 5 } end,
                 string.pack(">I8", 5))
  end,
}

check {
  id = "ATOM-7-07",
  purpose = "atomic then Immediate Data: both happen, in either order",
  run = function(t)
    either_order(t, function(target) return target:request(ADD) end, function() return rdmap.immediate { Data = 5 } end,
                 string.pack(">I8", 5))
  end,
}

check {
  id = "ATOM-7-08",
  purpose = "atomic then Send: both happen, in either order",
  run = function(t)
    either_order(t, function(target) return target:request(ADD) end, function() return rdmap.send { data = "behind" } end,
                 "behind")
  end,
}

check {
  id = "ATOM-7-09",
  purpose = "atomic then Write to its target: the atomic finds the old value, the new one or a mix, and the Write is done",
  run = function(t)
    local _, target = either_order(t, function(m) return m:request(ADD) end,
                                   function(m) return m.memory:write(m.at, pattern(8)) end)
    target.memory:patch(target.at, pattern(8))
    target.memory:check("the Write after the atomic is done")
  end,
}

check {
  id = "ATOM-5.4-03",
  purpose = "an Atomic Response may come after later Writes and Sends: all three happen",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open()
    t:stream_of(c)
    local add = target:request(ADD, { Data = 1 })
    c:send(add, target.memory:write(64, pattern(8)), rdmap.send { data = "behind" })
    c:expect_atomic(add, 1, "FetchAdd before a Write and a Send")
    t:expect_deliveries(c, { "behind" }, "the Send")
    target.memory:patch(64, pattern(8))
    target:check(2, "FetchAdd and Write")
  end,
}

check {
  id = "ATOM-5.4-01",
  purpose = "when the response has come the target has changed, for every stream",
  run = function(t)
    local target = t:target { value = 1 }
    local c, other = t:open(), t:open()
    c:atomic(target:request(ADD, { Data = 1 }))
    other:send(target.memory:read(target.at, 8))
    other:expect_response(0x51A6, 0, string.pack(t:byte_order() .. "i8", 2), "another stream reads the sum")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- With octets missing

-- Two messages in a TCP segment (or DATA chunk) each, of which the first is missing: nothing is answered. Returns the
-- function that sends it. `late` and `behind` are the frames.
local function gap(t, c, late, behind)
  local fill = c:send_behind(late, { behind })
  c:expect_quiet { message = "nothing is answered while octets before it are missing" }
  return fill
end

-- A message of QN 0 that finds no receive, and `after` it: that is not answered.
local function unbuffered(t, frame, behind)
  local c = t:open { dut = { receives = 0 } }
  c:send(frame, behind)
  local got = c:receive(t.quiet)
  if got.kind == "segment" and got.Opcode ~= 7 then
    t:fail("a request after " .. frame.name .. " without a buffer", "no response", describe(got))
  end
end

check {
  id = "ATOM-5.4-02",
  purpose = "an Atomic Request is not processed before DDP delivered it",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open()
    t:stream_of(c)
    c:probe()
    local add = target:request(ADD, { Data = 1 })
    gap(t, c, rdmap.send { data = "late" }, add)()
    c:expect_atomic(add, 1, "the FetchAdd after the Send")
    t:expect_deliveries(c, { "late" }, "the Send that came late")
    target:check(2, "then it is done")
    unbuffered(t, rdmap.send { data = "x" }, target:request(ADD, { Data = 1 }))
    target:check(2, "after a Send that was not delivered it is not")
  end,
}

check {
  id = "ATOM-7-03",
  purpose = "a Read Response waits for the Immediate Data before it",
  run = function(t)
    local memory = t:memory { data = "source" }
    local c = t:open()
    t:stream_of(c)
    c:probe()
    gap(t, c, rdmap.immediate { Data = 6 }, memory:read(0, 6))()
    c:expect_response(0x51A6, 0, "source", "the Read after the Immediate Data")
    t:expect_deliveries(c, { string.pack(">I8", 6) }, "the Immediate Data that came late")
    unbuffered(t, rdmap.immediate { Data = 6 }, memory:read(0, 6))
  end,
}

check {
  id = "ATOM-7-04",
  purpose = "an Atomic Response waits for the Immediate Data before it",
  run = function(t)
    local target = t:target { value = 1 }
    local c = t:open()
    t:stream_of(c)
    c:probe()
    local add = target:request(ADD, { Data = 1 })
    gap(t, c, rdmap.immediate { Data = 6 }, add)()
    c:expect_atomic(add, 1, "the FetchAdd after the Immediate Data")
    t:expect_deliveries(c, { string.pack(">I8", 6) }, "the Immediate Data that came late")
    unbuffered(t, rdmap.immediate { Data = 6 }, target:request(ADD, { Data = 1 }))
    target:check(2, "after Immediate Data that was not delivered nothing is done")
  end,
}

check {
  id = "ATOM-6.4-01",
  role = "both",
  purpose = "Immediate Data is not delivered before the Write in front of it is in place",
  run = function(t)
    local memory = t:memory { octets = 1024 }
    local c = t:open()
    t:stream_of(c)
    c:probe()
    local fill = gap(t, c, memory:write(0, pattern(1000)), rdmap.immediate { Data = 9 })
    t:equal("deliveries while the Write is missing", 0, #t:deliveries(c))
    fill()
    t:expect_deliveries(c, { string.pack(">I8", 9) }, "the Immediate Data after the Write")
    memory:patch(0, pattern(1000))
    memory:check("what was written when the Immediate Data is delivered")
  end,
}
