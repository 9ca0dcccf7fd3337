-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 7306 5.2.1 and 8: Atomic Requests that must not be executed, and the Terminates that say so. Targets that are not
-- aligned: 8-alignment.lua.

defaults { llp = "any" }

local MISALIGNED = "RDMAP_CATASTROPHIC_STREAM"
local ODD = 0x5152535455565758

-- The request is refused with one of these Terminates and does nothing; `dut` for the listener.
local function refused(t, target, request, names, message, dut)
  local c = t:open { dut = dut }
  c:expect_error(request, names, message, { next = true })
  target:check(ODD, message)
end

check {
  id = "ATOM-5.2.1-06",
  role = "both",
  purpose = "the Remote STag has to belong to the stream",
  run = function(t)
    local names = { "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG", "RDMAP_PROTECTION_OTHER", MISALIGNED, "RDMAP_OPERATION_OTHER" }
    local cases = { { { pd = 2, value = ODD }, "of another Protection Domain" } }
    if t:binds_memory() then cases[2] = { { bound = t:open(), value = ODD }, "of another stream" } end
    for _, case in ipairs(cases) do
      local target = t:target(case[1])
      refused(t, target, target:request(ADD, { Data = 1 }), names, "FetchAdd with an STag " .. case[2])
    end
  end,
}

-- AOpCodes that mean nothing.
local function undefined(t, codes, dut)
  for _, code in ipairs(codes) do
    local target = t:target { value = ODD }
    refused(t, target, target:request(COMPARE, { AOpCode = code, Data = 1, CompareMask = 0 }), UNNAMED,
            "AOpCode " .. code .. " is not executed", dut)
  end
end

check {
  id = "ATOM-5.2.1-15",
  role = "both",
  purpose = "an AOpCode that is not specified is an error",
  run = function(t) undefined(t, { 3, 4, 6, 15, 5, 7, 8, 10 }) end,
}

check {
  id = "ATOM7306-5.2.1-06",
  role = "both",
  purpose = "an AOpCode that the device does not support is an error",
  run = function(t) undefined(t, { 1, 3, 15 }, t:profile("rfc7306")) end,
}

check {
  id = "ATOM7306-5.2.1-02",
  role = "both",
  purpose = "AOpCode 1 is reserved: there is no Swap",
  run = function(t)
    undefined(t, { 1 }, t:profile("rfc7306"))
    if t:profile("draft03").extensions then
      local target = t:target { value = ODD }
      t:open { dut = t:profile("draft03") }:expect_operation_on(target, target:request(SWAP, { Data = 1 }), ODD, 1,
                                                                "by the draft it is a Swap")
    end
  end,
}

check {
  id = "ATOM-5.2.1-20",
  role = "both",
  purpose = "an invalid request is answered by an error and by nothing else",
  run = function(t)
    local target = t:target { value = ODD }
    for _, case in ipairs {
      { { STag = UNKNOWN_STAG }, "an STag that does not exist" }, { { offset = 128 }, "a target after the region" },
      { { AOpCode = 3 }, "an AOpCode that is not specified" }, { { offset = 1 }, "a target that is not aligned" },
    } do
      case[1].Data = 1
      local c = t:open()
      c:send(target:request(ADD, case[1]), target:request(ADD, { Data = 1 }))
      local got = c:receive()
      if got.Opcode ~= 7 then t:fail("FetchAdd with " .. case[2], "a Terminate", describe(got)) end
      c:expect_end("nothing follows the Terminate")
      target:check(ODD, "FetchAdd with " .. case[2])
    end
    -- A good request that waits for the response before its own, until its STag is invalid.
    if t:depth_most("ird") < 2 then return t:note("the device takes one request at a time: none waits") end
    local c = t:open()
    local gone, source = t:target { value = ODD, bound = c, alone = true }, t:memory { octets = t.large }
    c:probe()
    c:window(0)
    c:send(source:read(0, t.large, { SinkSTag = 1 }), gone:request(ADD, { Data = 1 }))
    rig.wait(t.quiet / 4)
    local executed = gone:value() ~= ODD -- on arrival: RFC 7306 5.4 orders the responses alone
    if t:binds_memory() then
      c:send(rdmap.send_invalidate { InvalidateSTag = gone.STag, data = "1" })
      t:expect_deliveries(c, { "1" }, "a Send with Invalidate while a FetchAdd waits")
    else
      t.dut:invalidate { stag = gone.STag }
    end
    c:window(65535)
    local got
    repeat got = c:receive() until got.kind ~= "segment" or got.Opcode ~= 2
    if executed and got.Opcode == 11 then
      return t:equal("Value of a FetchAdd that was executed before its STag was invalidated", ODD, got.Value)
    end
    if got.Opcode ~= 7 then t:fail("a FetchAdd whose STag was invalidated while it waited", "a Terminate", describe(got)) end
  end,
}

check {
  id = "ATOM-5.2.1-22",
  role = "both",
  purpose = "an Atomic Request on another queue than QN 1 is not accepted",
  run = function(t)
    local names = { "DDP_INVALID_QN", "DDP_NO_BUFFER", "DDP_MSN_RANGE", "DDP_TOO_LONG", table.unpack(UNNAMED) }
    for _, qn in ipairs { 0, 2, 3 } do
      local target = t:target { value = ODD }
      refused(t, target, target:request(ADD, { Data = 1, QN = qn }), names, "an Atomic Request on QN " .. qn)
    end
  end,
}

check {
  id = "ATOM-8.2-06",
  role = "both",
  purpose = "STag, bounds and rights of an atomic's target are validated",
  run = function(t)
    local target = t:target { octets = 100, value = ODD }
    local read_only = t:target { access = { "read" }, value = ODD }
    local top = t:target { base = -4096, octets = 4092, at = 0, value = ODD, optional = true }
    local tolerated = { "RDMAP_PROTECTION_OTHER", MISALIGNED, "RDMAP_OPERATION_OTHER" }
    for _, case in ipairs {
      { target, { STag = UNKNOWN_STAG }, { "RDMAP_INVALID_STAG" }, "an STag that does not exist" },
      { target, { offset = 80 }, { "RDMAP_BOUNDS" }, "octets 96 to 103 of 100" },
      { target, { offset = -24 }, { "RDMAP_BOUNDS" }, "octets before the first" },
      { top, { offset = 4088 }, { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" }, "a TO 8 below 2^64" },
      { top, { offset = 4092 }, { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" }, "a TO 4 below 2^64" },
      { read_only, {}, { "RDMAP_ACCESS" }, "a region for remote reads alone" },
      { target, { offset = 88 }, { "RDMAP_BOUNDS" }, "octets 104 to 111 of 100" },
      { target, { offset = 4096 - 16 }, { "RDMAP_BOUNDS" }, "octets 4096 to 4103 of 100" },
      { target, { offset = 1 << 32 }, { "RDMAP_BOUNDS" }, "octets 2^32 after it" },
      { target, { offset = -(1 << 32) }, { "RDMAP_BOUNDS" }, "octets 2^32 before it" },
    } do
      if case[1] == nil then goto next end -- the device chooses where its memory is: not below 2^64
      case[2].Data = 1
      local names = { table.unpack(case[3]) }
      for _, name in ipairs(tolerated) do names[#names + 1] = name end
      refused(t, case[1], case[1]:request(ADD, case[2]), names, "FetchAdd: " .. case[4])
      ::next::
    end
    local last = t:target { octets = 24, at = 16, value = ODD }
    t:open():expect_operation_on(last, last:request(ADD, { Data = 1 }), ODD, ODD + 1, "FetchAdd: the last 8 octets of 24")
  end,
}

-- The Terminates of layer 0 and 1 that a message of the wrong length may draw.
local LENGTHS = { "RDMAP_OPCODE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER", "DDP_TOO_LONG", "RDMAP_CATASTROPHIC",
                  "DDP_CATASTROPHIC" }

check {
  id = "ATOM-8.2-07",
  role = "both",
  purpose = "Atomic Requests and Responses are as long as their headers",
  run = function(t)
    local target = t:target { value = ODD }
    local c = t:open()
    local whole = c:ulpdu(target:request(COMPARE, { Data = 1, CompareMask = 0 }))
    refused(t, target, raw.segment { data = whole:sub(1, 66) }, LENGTHS, "a CmpSwap of 66 octets, Compare Mask cut")
    refused(t, target, raw.segment { data = whole .. "\0\0\0\0" }, LENGTHS, "a CmpSwap of 74 octets")
    for _, octets in ipairs { 69, 71, 62, 18, 1000 } do
      refused(t, target, raw.segment { data = (whole .. ("\0"):rep(1000)):sub(1, octets) }, LENGTHS,
              "a CmpSwap of " .. octets .. " octets")
    end
    for _, cut in ipairs { 26, 34, 29, 31, 18 } do
      c = t:open_for_posting()
      t:post_atomic(c, "fetch_add", { stag = 1, id = cut })
      local request = c:expect(rdmap.atomic_request {}, { message = "the device sends the FetchAdd that was asked of it" })
      local response = c:ulpdu(rdmap.atomic_response { RequestId = request.RequestId, Value = 5 })
      c:expect_error(raw.segment { data = (response .. "\0\0\0\0"):sub(1, cut) }, LENGTHS,
                     "an Atomic Response of " .. cut .. " octets", { next = true })
      if t:await_event("atomic_done", { id = cut }, t.round_trip) then
        t:fail("such a response completes nothing", "the FetchAdd is flushed", "atomic_done")
      end
    end
  end,
}

check {
  id = "ATOM-8.2-01",
  role = "both",
  purpose = "DDP validates QN, MSN, MO and version of the extensions' messages",
  run = function(t)
    local target = t:target { value = ODD }
    local function each(open, make, label)
      for _, case in ipairs {
        { { QN = 7 }, { "DDP_INVALID_QN" }, "QN 7" },
        { { MSN = 4096 }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "an MSN that is not due" },
        { { MO = 65536 }, { "DDP_INVALID_MO", "DDP_TOO_LONG" }, "MO 65536" },
        { { DV = 0 }, { "DDP_UNTAGGED_VERSION" }, "DV 0" },
      } do
        local c = open()
        c:expect_error(make(c, case[1]), case[2], label .. " with " .. case[3], { next = true })
      end
    end
    each(function() return t:open() end, function(_, f) f.Data = 1 return target:request(ADD, f) end, "an Atomic Request")
    each(function() return t:open() end, function(_, f) f.Data = 1 return rdmap.immediate(f) end, "Immediate Data")
    each(function()
      local c = t:open_for_posting()
      t:post_atomic(c, "fetch_add", { stag = 1 })
      c.request = c:expect(rdmap.atomic_request {}, { message = "the device sends the FetchAdd that was asked of it" })
      return c
    end, function(c, f) f.RequestId = c.request.RequestId return rdmap.atomic_response(f) end, "an Atomic Response")
    target:check(ODD, "none of them is executed")
  end,
}

check {
  id = "ATOM-8.2-02",
  role = "both",
  purpose = "opcodes C, D and E are not valid",
  run = function(t)
    for _, opcode in ipairs { 12, 13, 14 } do
      local c = t:open()
      t:stream_of(c)
      c:expect_error(rdmap.send { Opcode = opcode, data = pattern(8) }, "RDMAP_OPCODE",
                     string.format("opcode %X", opcode), { next = true })
      t:equal("deliveries of an unknown message", 0, #t:deliveries(c))
    end
  end,
}

check {
  id = "ATOM-8.2-03",
  role = "both",
  purpose = "the RDMAP version of the extensions' messages is validated",
  run = function(t)
    local target = t:target { value = ODD }
    for _, version in ipairs { 2, 3 } do
      for _, make in ipairs {
        function() return rdmap.immediate { RV = version } end,
        function() return rdmap.immediate { RV = version, Opcode = 9 } end,
        function() return target:request(ADD, { RV = version, Data = 1 }) end,
        function(c)
          t:post_atomic(c, "fetch_add", { stag = 1 })
          local request = c:expect(rdmap.atomic_request {}, { message = "the device sends the FetchAdd that was asked of it" })
          return rdmap.atomic_response { RV = version, RequestId = request.RequestId }
        end,
      } do
        local c = t:open_for_posting()
        local frame = make(c)
        c:expect_error(frame, "RDMAP_VERSION", frame.name .. " with RV " .. version, { next = true })
        t:equal("deliveries", 0, #t:deliveries(c))
      end
    end
    target:check(ODD, "an Atomic Request with another version is not executed")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- What the Terminate says

check {
  id = "ATOM-8.1-03",
  role = "both",
  purpose = "an error in an Atomic Request is reported at the earliest opportunity",
  run = function(t)
    local source = t:memory { octets = 65536 }
    local target = t:target { value = ODD }
    local c = t:open { dut = { ird = 2 } }
    c:send(source:read(0, 65536), target:request(ADD, { Data = 1, offset = 4 }))
    c:expect_terminate(MISALIGNED, { message = "a misaligned FetchAdd after a Read of 64 KiB" })
    c:expect_end("nothing follows the Terminate")
  end,
}

-- The Terminate that a misaligned FetchAdd draws, and the octets of that request.
local function example(t)
  local target = t:target()
  local c = t:open()
  local request = c:ulpdu(target:request(ADD, { Data = 1, offset = 4 }))
  c:send(raw.segment { data = request })
  return c:expect_terminate(MISALIGNED, { message = "a misaligned FetchAdd", next = true }), request, c
end

check {
  id = "ATOM-8.1-04",
  role = "both",
  purpose = "the Terminate quotes the DDP header of the Atomic Request, and not its RDMA header",
  run = function(t)
    local terminate, request, c = example(t)
    local message = "the Terminate for an Atomic Request quotes its DDP header alone"
    if terminate.R == 1 then t:fail(message, "R = 0", "R = 1") end
    if terminate.D == 0 then t:warn(message, "D = 1", "D = 0") end
    local quoted = c:quoted(terminate)
    if quoted.header ~= request:sub(1, 18) then t:fail(message, hex(request:sub(1, 18)), hex(quoted.header)) end
    if quoted.rest:find("[^\0]") then t:fail(message, "nothing after it, or zeros (RDMAP-7.1-03)", hex(quoted.rest:sub(1, 16))) end
  end,
}

check {
  id = "ATOM-8.1-05",
  role = "both",
  purpose = "the quoted header has its DDP Segment Length before it",
  run = function(t)
    local terminate, request, c = example(t)
    local message = "DDP Segment Length of a terminated Atomic Request"
    if terminate.D == 0 then t:warn(message, "M = 1 and D = 1", "D = 0") end
    local quoted = c:quoted(terminate)
    if quoted.Length == nil or quoted.header ~= request:sub(1, 18) then
      t:fail(message, "70, then the DDP header", hex(terminate.data:sub(1, 20)))
    end
    if quoted.Length == #request - 18 then
      t:warn(message, #request, quoted.Length .. ", the payload alone (RDMAP-4.8-35)")
    elseif quoted.Length ~= #request then
      t:fail(message, #request, quoted.Length)
    end
    if terminate.M == 0 then t:warn(message, "M = 1 with D = 1", "M = 0") end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Devices without the extensions

check {
  id = "ATOM-5-01",
  role = "both",
  purpose = "a device without atomics says so",
  run = function(t)
    local target = t:target { value = 0 }
    local before = target.memory.image
    local c = t:open { dut = t:profile("off") }
    c:send(target:request(ADD, { Data = 1 }))
    c:expect_terminate({ "RDMAP_OPCODE", "RDMAP_VERSION", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_CATASTROPHIC_GLOBAL",
                         "RDMAP_OPERATION_OTHER", "DDP_TOO_LONG" }, { message = "a FetchAdd to a device without atomics", next = true })
    target.memory.image = before
    target.memory:check("it changes nothing")
  end,
}

check {
  id = "ATOM7306-1.1-04",
  role = "both",
  purpose = "an unsupported Immediate Data or atomic is a Remote Operation Error",
  run = function(t)
    local names = { "RDMAP_OPCODE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_CATASTROPHIC_GLOBAL", "RDMAP_OPERATION_OTHER" }
    for _, frame in ipairs { rdmap.immediate { Data = 1 }, rdmap.immediate { Opcode = 9, Data = 1 } } do
      local c = t:open { dut = t:profile("off") }
      t:stream_of(c)
      c:expect_error(frame, names, frame.name .. " to a device without it", { next = true })
      t:equal("deliveries", 0, #t:deliveries(c))
    end
    local c = t:open { dut = t:profile("off") }
    c:send(rdmap.atomic_request {})
    names[#names + 1] = "DDP_TOO_LONG"
    c:expect_terminate(names, { message = "an Atomic Request to a device without atomics", next = true })
  end,
}
