-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 4 and 5.2: Atomic Requests that the device sends, and what it makes of the answers.

defaults { llp = "any" }

local TO = 0x7F0000001008

-- The device posts an atomic; its request is taken.
local function request_posted(t, c, operation, given)
  t:post_atomic(c, operation, given)
  return c:expect(rdmap.atomic_request {}, { message = "the Atomic Request that the device was asked for" })
end

local function answer(c, request, value, given)
  local f = copy_fields(given)
  f.RequestId, f.Value = f.RequestId or request.RequestId, value
  c:send(rdmap.atomic_response(f))
end

local function done(t, id, value, message)
  local event = t:await_event("atomic_done", { id = id })
  if not event then t:fail(message, "atomic_done", "nothing") end
  t:equal(message, string.format("0x%016x", value), t:event_member(event, "value"))
end

-- One operation with operands that differ in every field, by profile: what was posted, and what should go out.
local function operations(t)
  local out = {
    { "fetch_add", { data = 0x0102030405060708, mask = 0x1112131415161718 },
      { AOpCode = 0, Data = 0x0102030405060708, Mask = 0x1112131415161718, CompareData = 0, CompareMask = ALL_BITS } },
    { "compare_swap", { data = 0x0102030405060708, mask = 0x1112131415161718, compare = 0x2122232425262728, compare_mask = 0x3132333435363738 },
      { AOpCode = 2, Data = 0x0102030405060708, Mask = 0x1112131415161718, CompareData = 0x2122232425262728, CompareMask = 0x3132333435363738 } },
  }
  if t:profile("draft03").extensions then
    table.insert(out, 2, { "swap", { data = 0x0102030405060708 },
      { AOpCode = 1, Data = 0x0102030405060708, CompareData = 0, CompareMask = ALL_BITS } })
  end
  return out
end

-- Runs each of them; `look(request, wanted, name)` judges. A CmpSwap goes before and after the others: nothing of it
-- may stay.
local function each(t, look)
  local all = operations(t)
  table.insert(all, 1, all[#all])
  local c = t:open_for_posting { dut = t:profile("draft03", { ird = 4, ord = 4 }) }
  for _, row in ipairs(all) do
    local given = copy_fields(row[2])
    given.stag, given.to = 0xCAFE0001, TO
    local request = request_posted(t, c, row[1], given)
    look(request, row[3], row[1])
    answer(c, request, 0)
  end
end

local function equal64(t, what, expected, actual)
  t:equal(what, string.format("0x%016x", expected), string.format("0x%016x", actual or -2))
end

check {
  id = "ATOM-4.1-01",
  role = "both",
  purpose = "the RDMAP Control Field is octet 1 of the DDP Segment",
  run = function(t)
    local c = t:open_for_posting()
    t:post_immediate(c, pattern(8))
    t:equal("octet 1 of Immediate Data", "48", hex(c:expect_segment("Immediate Data that was asked for").ulpdu:sub(2, 2)))
    t:post_immediate(c, pattern(8), { solicited = true })
    t:equal("octet 1 of Immediate Data with Solicited Event", "49", hex(c:expect_segment("Immediate Data with Solicited Event that was asked for").ulpdu:sub(2, 2)))
    t:post_atomic(c, "fetch_add", { stag = 1 })
    t:equal("octet 1 of an Atomic Request", "4a", hex(c:expect_segment("an Atomic Request that was asked for").ulpdu:sub(2, 2)))
    local target = t:target()
    c = t:open()
    c:send(target:request(ADD))
    t:equal("octet 1 of an Atomic Response", "4b", hex(c:expect_segment("an Atomic Response that was asked for").ulpdu:sub(2, 2)))
  end,
}

check {
  id = "ATOM-4.1-03",
  role = "both",
  purpose = "each message has its opcode: 8, 9, A and B",
  run = function(t)
    local c = t:open_for_posting()
    t:post_immediate(c, pattern(8))
    t:equal("opcode of Immediate Data", 8, c:expect_segment("Immediate Data that was asked for").Opcode)
    t:post_immediate(c, pattern(8), { solicited = true })
    t:equal("opcode of Immediate Data with Solicited Event", 9, c:expect_segment("Immediate Data with Solicited Event that was asked for").Opcode)
    t:post_atomic(c, "fetch_add", { stag = 1 })
    t:equal("opcode of an Atomic Request", 10, c:expect_segment("an Atomic Request that was asked for").Opcode)
    local target = t:target()
    c = t:open()
    c:send(target:request(ADD))
    t:equal("opcode of an Atomic Response", 11, c:expect_segment("an Atomic Response that was asked for").Opcode)
  end,
}

check {
  id = "ATOM-5.2.1-01",
  role = "both",
  purpose = "the fields of an Atomic Request stand in their order",
  run = function(t)
    each(t, function(request, wanted, name)
      t:equal("octets of the DDP Segment of " .. name, 70, #request.ulpdu)
      for field, value in pairs { STag = 0xCAFE0001, TO = TO, Data = wanted.Data, CompareData = wanted.CompareData } do
        equal64(t, field .. " of " .. name, value, request[field])
      end
      if wanted.Mask then equal64(t, "Mask of " .. name, wanted.Mask, request.Mask) end
    end)
  end,
}

check {
  id = "ATOM-5.2.1-04",
  role = "both",
  purpose = "AOpCode is 0 for FetchAdd, 1 for Swap, 2 for CmpSwap",
  run = function(t)
    each(t, function(request, wanted, name) t:equal("AOpCode of " .. name, wanted.AOpCode, request.AOpCode) end)
  end,
}

check {
  id = "ATOM-5.2.1-09",
  role = "both",
  purpose = "Add or Swap Data holds the operand",
  run = function(t)
    each(t, function(request, wanted, name) equal64(t, "Add or Swap Data of " .. name, wanted.Data, request.Data) end)
  end,
}

check {
  id = "ATOM-5.2.1-11",
  role = "both",
  purpose = "Compare Data is zero where nothing is compared",
  run = function(t)
    each(t, function(request, wanted, name)
      if wanted.AOpCode ~= 2 then equal64(t, "Compare Data of " .. name, 0, request.CompareData) end
    end)
  end,
}

check {
  id = "ATOM-5.2.1-13",
  role = "both",
  purpose = "Compare Mask is all ones where nothing is compared",
  run = function(t)
    each(t, function(request, wanted, name)
      if wanted.AOpCode ~= 2 then equal64(t, "Compare Mask of " .. name, ALL_BITS, request.CompareMask) end
    end)
  end,
}

check {
  id = "ATOM7306-5.2.1-05",
  role = "both",
  purpose = "the mask of a Swap is all ones",
  run = function(t)
    if not t:profile("draft03").extensions then t:skip("RFC 7306 has no Swap, and the device's profile cannot be chosen") end
    local c = t:open_for_posting { dut = t:profile("draft03") }
    local request = request_posted(t, c, "swap", { stag = 1, to = TO, data = 5 })
    if request.Mask ~= ALL_BITS then
      t:warn("Add or Swap Mask of a Swap", "0xffffffffffffffff", string.format("0x%016x", request.Mask))
    end
  end,
}

-- The TO goes out as the ULP gave it: an aligned target stays one, also where TO itself is no multiple of 8.
local function to_kept(t, operation, profile)
  local c = t:open_for_posting { dut = profile }
  for _, to in ipairs { TO, 0x1004, 3 } do
    local request = request_posted(t, c, operation, { stag = 1, to = to })
    equal64(t, "Remote TO of " .. operation, to, request.TO)
    answer(c, request, 0)
  end
end

check {
  id = "ATOM-5.1.2-04",
  role = "both",
  purpose = "a Swap goes to the aligned target that the ULP named",
  run = function(t) to_kept(t, "swap", t:profile("draft03")) end,
}

check {
  id = "ATOM-5.1.3-07",
  role = "both",
  purpose = "a CmpSwap goes to the aligned target that the ULP named",
  run = function(t) to_kept(t, "compare_swap") end,
}

check {
  id = "ATOM7306-5.1.1-03",
  role = "both",
  purpose = "a FetchAdd goes to the aligned target that the ULP named",
  run = function(t) to_kept(t, "fetch_add") end,
}

check {
  id = "ATOM7306-5.2.1-04",
  role = "both",
  purpose = "a TO that is no multiple of 8 may name an aligned address: it is sent as it is",
  run = function(t) to_kept(t, "fetch_add", t:profile("rfc7306")) end,
}

check {
  id = "ATOM-5.2.1-23",
  role = "both",
  purpose = "Atomic Requests leave in the order in which they were submitted",
  run = function(t)
    local c = t:open_for_posting { dut = { ord = 2 } }
    for i = 1, 8 do t:post_atomic(c, "fetch_add", { stag = 1, data = i, id = i }) end
    local open = {}
    c.answers_when_due = true
    for i = 1, 8 do
      local request = c:expect(rdmap.atomic_request { Data = i }, { message = "FetchAdds in order of posting" })
      t:equal("its MSN on QN 1", i, request.MSN)
      open[#open + 1] = request
      if #open == 2 then
        if not open[1].answered then answer(c, open[1], 7) end
        table.remove(open, 1)
      end
    end
  end,
}

check {
  id = "ATOM-5.2-01",
  role = "both",
  purpose = "Reads and atomics share one sequence of MSNs on QN 1",
  run = function(t)
    local c = t:open_for_posting { dut = { ord = 8 } }
    local sink = t:memory { octets = 64, access = {} }
    for i = 1, 6 do
      if i % 2 == 1 then
        t:post_read(c, sink, { source_stag = 9, length = 8 })
      else
        t:post_atomic(c, "fetch_add", { stag = 1 })
      end
    end
    c.answers_when_due = true
    for i = 1, 6 do
      local request = c:expect(i % 2 == 1 and rdmap.read_request {} or rdmap.atomic_request {}, { message = "Reads and atomics in turn" })
      t:equal("QN", 1, request.QN)
      t:equal("MSN on QN 1", i, request.MSN)
    end
  end,
}

check {
  id = "ATOM-5.2-02",
  role = "both",
  purpose = "Reads and atomics outstanding together: at most ORD",
  run = function(t)
    local c = t:open_for_posting { dut = { ord = 2, ird = 2 } }
    local sink = t:memory { octets = 64, access = {} }
    for _ = 1, 2 do
      t:post_read(c, sink, { source_stag = 9, length = 8 })
    end
    for i = 1, 2 do t:post_atomic(c, "fetch_add", { stag = 1, id = i }) end
    local reads, atomics = {}, {}
    for i = 1, 2 do reads[i] = c:expect(rdmap.read_request {}, { message = "both Reads at once" }) end
    local got = c:receive(t.quiet)
    if got.kind == "segment" then
      t:warn("Reads and atomics share one pool of ORD", "two requests open", "a third one: " .. describe(got))
    end
    for i = 1, 2 do
      c:send(rdmap.read_response { STag = reads[i].SinkSTag, TO = reads[i].SinkTO, data = pattern(8) })
      atomics[i] = c:expect(rdmap.atomic_request {}, { message = "a FetchAdd for each Read that was answered" })
    end
    for i = 1, 2 do answer(c, atomics[i], i) end
    done(t, 2, 2, "all four complete")
    -- An answer frees one place, and no more.
    for i = 3, 8 do t:post_atomic(c, "fetch_add", { stag = 1, id = i }) end
    for i = 1, 2 do atomics[i] = c:expect(rdmap.atomic_request {}, { message = "two of six atomics at once" }) end
    for i = 3, 4 do
      answer(c, table.remove(atomics, 1), i)
      atomics[2] = c:expect(rdmap.atomic_request {}, { message = "a FetchAdd for each that was answered" })
      got = c:receive(t.quiet)
      if got.kind == "segment" then
        t:warn("an Atomic Response frees one place of ORD", "two requests open", "a third one: " .. describe(got))
      end
    end
  end,
}

check {
  id = "ATOM-5.2.2-08",
  role = "both",
  purpose = "the response's value reaches the ULP",
  run = function(t)
    local c = t:open_for_posting()
    for i, value in ipairs { 0x0102030405060708, 0xF1F2F3F4F5F6F7F8 } do
      answer(c, request_posted(t, c, "fetch_add", { stag = 1, id = i }), value)
      done(t, i, value, "the original value")
    end
    for i = 3, 260 do -- their numbers take more than 8 bits
      answer(c, request_posted(t, c, "fetch_add", { stag = 1, id = i }), i)
      done(t, i, i, "the original value that atomic " .. i .. " returns")
    end
  end,
}

check {
  id = "ATOM-5.2.2-09",
  role = "both",
  purpose = "a response that answers no open atomic is an error and completes nothing",
  run = function(t)
    local names = { "DDP_NO_BUFFER", "DDP_MSN_RANGE", table.unpack(UNNAMED) }
    local function refused(c, message)
      local got
      repeat got = c:receive() until got.kind ~= "segment" or got.Opcode == 7
      local good = got.kind == "timeout"   -- RFC 5041 7.1 lets DDP wait for a buffer, and drop what is out of its range
      for _, name in ipairs(names) do good = good or got.triple == wire.triple(name) end
      if t:await_event("atomic_done", { stream = t:stream_of(c) }, t.round_trip) then
        t:fail(message, "no completion", "atomic_done")
      end
      c:judge_close(got, "a Terminate, or nothing")
      if not good then t:fail(message, "a Terminate, or nothing", describe(got)) end
      return got.kind == "timeout"
    end
    local c = t:open_for_posting()
    c:send(rdmap.atomic_response { RequestId = 1, Value = 5 })
    local silent = refused(c, "an Atomic Response while no atomic is open")
    if silent then
      -- It may wait for a buffer: then it must not be taken for the answer to the next atomic without an identifier.
      t:note("an Atomic Response without a request draws no Terminate")
    end
    c = t:open_for_posting()
    local request = request_posted(t, c, "fetch_add", { stag = 1, id = 1 })
    answer(c, request, 5, { MSN = 2 })
    refused(c, "an Atomic Response with MSN 2 while one atomic is open")
    c = t:open_for_posting()
    request = request_posted(t, c, "fetch_add", { stag = 1, id = 2 })
    answer(c, request, 5, { RequestId = request.RequestId ~ 0x80000000 })
    local got = c:receive(t.quiet)
    if got.kind == "segment" and got.Opcode == 7 then
      local good = false
      for _, name in ipairs(names) do good = good or got.triple == wire.triple(name) end
      if not good then t:fail("an Atomic Response with another identifier", "an RDMAP error, or completion by MSN", describe(got)) end
    elseif got.kind ~= "timeout" then
      t:fail("an Atomic Response with another identifier", "a Terminate of RDMAP, or completion by MSN", describe(got))
    else
      done(t, 2, 5, "an Atomic Response with another identifier: completion by MSN")
      t:note("the identifier is not looked at: the MSN decides (RFC 7306 5)")
    end
  end,
}

check {
  id = "ATOM7306-5-07",
  role = "both",
  purpose = "the MSN on QN 3 says which atomic a response belongs to",
  run = function(t)
    local c = t:open_for_posting()
    local one, two = request_posted(t, c, "fetch_add", { stag = 1, id = 1 }), request_posted(t, c, "fetch_add", { stag = 1, id = 2 })
    answer(c, two, 0x111)
    answer(c, one, 0x222)
    local event = t:await_event("atomic_done", { id = 1 }, t.quiet)
    local got = c:receive(event and t.round_trip or t.quiet)
    if event and t:event_member(event, "value") == "0x0000000000000222" then
      t:warn("responses are told apart by their MSN", "0x111 for the first", "by the identifier: 0x222")
    elseif event then
      t:equal("the first atomic gets the value of MSN 1", "0x0000000000000111", event.value)
    elseif got.kind ~= "segment" or got.Opcode ~= 7 then
      t:fail("exchanged identifiers", "completion by MSN, or a Terminate", describe(got))
    end
  end,
}

check {
  id = "ATOM7306-5.2.2-02",
  role = "both",
  purpose = "there are QN 3 buffers for all atomics that are open",
  run = function(t)
    local count = t:at_once("atomic", 8, 2)
    local c = t:open_for_posting { dut = { ord = 8 } }
    local requests, frames = {}, {}
    for i = 1, count do requests[i] = request_posted(t, c, "fetch_add", { stag = 1, id = i }) end
    for i, request in ipairs(requests) do frames[i] = rdmap.atomic_response { RequestId = request.RequestId, Value = i } end
    c:send(table.unpack(frames))
    for i = 1, count do done(t, i, i, string.format("response %d of %d in one burst", i, count)) end
    c:probe()
  end,
}

check {
  id = "ATOM-5.4-06",
  role = "both",
  purpose = "an atomic completes when its response is delivered, and not before",
  run = function(t)
    local c = t:open_for_posting()
    local request = request_posted(t, c, "fetch_add", { stag = 1, id = 1 })
    c:probe()
    if t:await_event("atomic_done", { id = 1 }, t.round_trip) then
      t:fail("a FetchAdd whose response is withheld", "no completion", "atomic_done")
    end
    answer(c, request, 3)
    done(t, 1, 3, "when the response has come")
  end,
}

check {
  id = "ATOM7306-5.4-01",
  role = "both",
  purpose = "the requester takes the target for changed when the response is delivered, and not before",
  run = function(t)
    local c = t:open_for_posting { dut = t:profile("rfc7306", { ord = 4 }) }
    local request = request_posted(t, c, "compare_swap", { stag = 1, id = 1, data = 1 })
    c:probe()
    if t:await_event("atomic_done", { id = 1 }, t.round_trip) then
      t:fail("a CmpSwap whose response is withheld", "no completion", "atomic_done")
    end
    answer(c, request, 0)
    done(t, 1, 0, "when the response has come")
  end,
}

check {
  id = "ATOM-5.4-09",
  role = "both",
  purpose = "what was posted after an atomic completes after it",
  run = function(t)
    local c = t:open_for_posting()
    local request = request_posted(t, c, "fetch_add", { stag = 1, id = 1 })
    t.dut:send { stream = t:stream_of(c), data = "22", id = 2 }
    c:expect(rdmap.send { data = "\x22" }, { message = "the Send after the FetchAdd" })
    c:probe()
    if t:await_event("send_done", { id = 2 }, t.round_trip) then
      t:fail("a Send after an atomic that is open", "no completion yet", "send_done")
    end
    answer(c, request, 3)
    done(t, 1, 3, "the atomic")
    t:expect_event("send_done", { id = 2 }, "the Send after it")
  end,
}

check {
  id = "ATOM-6.4-02",
  role = "both",
  purpose = "Immediate Data after a Read completes after it",
  run = function(t)
    local c = t:open_for_posting()
    local sink = t:memory { octets = 64, access = {} }
    t:post_read(c, sink, { source_stag = 9, length = 8, id = 1 })
    t:post_immediate(c, pattern(8), { id = 2 })
    local read = c:expect(rdmap.read_request {}, { message = "the Read" })
    c:expect(rdmap.immediate {}, { message = "the Immediate Data after the Read" })
    c:probe()
    if t:await_event("immediate_done", { id = 2 }, t.round_trip) then
      t:fail("Immediate Data after a Read that is open", "no completion yet", "immediate_done")
    end
    c:send(rdmap.read_response { STag = read.SinkSTag, TO = read.SinkTO, data = pattern(8) })
    t:expect_event("read_done", { id = 1 }, "the Read")
    t:expect_event("immediate_done", { id = 2 }, "the Immediate Data after it")
  end,
}
