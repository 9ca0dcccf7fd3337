-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 9.1: IRD and ORD, the device as responder. Its ORD is bounded by the Request's IRD, its IRD has to be at
-- least the Request's ORD.

defaults { sandwich = "startup" }

local NOT_NEGOTIATED = 0x3FFF

check {
  id = "EMPA-9.1-03",
  role = "responder",
  purpose = "the IRD of the Reply is served: as many Reads at once as it says",
  run = function(t)
    local c, reply = t:ask { IRD = 4, ORD = 8 }
    local ird = reply.enhanced.IRD
    if ird == NOT_NEGOTIATED then t:skip("the device does not negotiate its IRD") end
    c:reads_served(math.min(ird, 256))
    c:probe()
    if not rig.has_upper_tester() then return end
    -- Two streams at once, with different depths: each has its own.
    local most = t:depth("ird", 8)
    local deep, reply = t:ask({ IRD = 1, ORD = most }, { dut = { ird = most, ord = 1 } })
    local shallow = t:ask({ IRD = 1, ORD = 1 }, { dut = { ird = 1, ord = 1 } })
    if reply.enhanced.IRD == NOT_NEGOTIATED then return end
    deep:reads_served(math.min(reply.enhanced.IRD, 256), "the IRD of the Reply, beside a stream with an IRD of 1")
    shallow:probe()
  end,
}

check {
  id = "EMPA-9.1-04",
  role = "responder",
  purpose = "the IRD of the Reply is at least the ORD of the Request",
  run = function(t)
    -- The ULP needs no more than the Request's IRD: it might reject that (EMPA-9.1-14).
    local dut = rig.has_upper_tester() and { ird = t:depth("ird", 8), ord = 1 } or nil
    for _, ord in ipairs { 1, t:depth("ird", 4) } do
      local c = t:ask({ IRD = 1, ORD = ord }, {
        dut = dut, reply = { enhanced = { IRD = function(v) return v >= ord end } },
        message = "a Request with ORD " .. ord .. ": IRD of the Reply is no less" })
      c:probe()
      c:finish()
    end
  end,
}

check {
  id = "EMPA-9.1-07",
  role = "responder",
  purpose = "the responder has no more Reads outstanding than the IRD of the Request",
  run = function(t)
    t:each_value("IRD", { 2, 3, "2 beside 8" }, function(ird)
      local both = ird == "2 beside 8" -- two streams at once: the one with the smaller depth was established first
      local c = t:ask({ IRD = both and 2 or ird, ORD = 2 }, { dut = { ird = 8, ord = 8 } })
      local deep = both and t:ask({ IRD = 8, ORD = 2 }, { dut = { ird = 8, ord = 8 } })
      if deep then deep:probe() end
      c:probe()
      c:reads_limited(6, both and 2 or ird, both and "Reads stay within ORD, beside a stream with a larger one")
      c:finish()
    end)
  end,
}

check {
  id = "EMPA-9.1-11",
  role = "responder",
  purpose = "ORD 0 with a Read as RTR: the Reply's IRD may be above the ORD, and then the Read is answered",
  judges = { "empty read" },
  run = function(t)
    local c, reply = t:ask { A = 1, D = 1, IRD = 4, ORD = 0 }
    if reply.enhanced.D == 1 and reply.enhanced.IRD >= 1 then
      c:send(rtr.D())
      c:expect(rdmap.read_response { data = "", L = 1 }, { message = "the Read RTR that was agreed is answered" })
    end
  end,
}

check {
  id = "EMPA-9.1-12",
  role = "responder",
  purpose = "the ORD of the Reply is at most the IRD of the Request, and the Reads keep to it",
  run = function(t)
    local dut = rig.has_upper_tester() and { ird = 16, ord = 16 } or nil
    t:each_value("IRD", { 0, 1, 5 }, function(ird)
      local c, reply = t:ask({ IRD = ird, ORD = 4 }, { dut = dut, reply = { R = function(v) return v == 0 or v == 1 end } })
      local ord = reply.enhanced.ORD
      if reply.R == 0 and ord ~= NOT_NEGOTIATED then
        if ord > ird then t:fail("ORD of the Reply to a Request with IRD " .. ird, "at most " .. ird, tostring(ord)) end
        c:probe()
        if dut and ord > 0 then c:reads_limited(8, ird) end
        if dut and ord == 0 then c:no_reads("an IRD of 0 in the Request") end
      end
      c.tcp:close()
    end)
  end,
}

-- A Request that the device's ULP refuses: the Reply has R = 1 and these fields. Returns the connection and the Reply.
local function refused(t, word, fields)
  local c = t:awaiting_start { dut = { accept = "manual" } }
  c:send(mpa.request { enhanced = word })
  local stream = t:stream_of(c)
  if not t:await_event("connect_request", { stream = stream }) then
    t:inconclusive("the device's ULP is not asked about the Request")
  end
  t.dut:reject { stream = stream }
  return c, c:expect_rejection("a Request that the ULP refuses", fields)
end

check {
  id = "EMPA-9.1-14",
  role = "responder",
  requires = "upper_tester",
  purpose = "a responder that needs more IRD may reject with the ORD that it needs; TCP is left open",
  run = function(t)
    local c, got = refused(t, { IRD = 0, ORD = 0 }, { S = 1, enhanced = {} })
    t:note("ORD of the Reject: " .. got.enhanced.ORD)
    c.started = true
    got = c:receive(t.quiet)
    if got.kind == "fin" then
      t:note("the device's ULP closes after its Reject")
    elseif got.kind ~= "timeout" then
      t:fail("after its Reject the responder leaves the connection to the ULPs", "nothing", describe(got))
    end
  end,
}

check {
  id = "EMPA-9.1-15",
  role = "responder",
  requires = "upper_tester",
  purpose = "R = 1 ends MPA: no FPDU follows, and if a Terminate does it is 2/0/06",
  run = function(t)
    local c = refused(t, { IRD = 0, ORD = 16, A = 1, B = 1, C = 1, D = 1 })
    c.started = true
    local got = c:receive(t.quiet)
    if got.kind == "timeout" or got.kind == "fin" then
      t:ambiguous("A: R=1 leaves MPA, so no Terminate follows")
    elseif is_terminate(got, "MPA_INSUFFICIENT_IRD") then
      t:ambiguous("B: the rejecting responder sends Terminate 2/0/06")
    end
    t:fail("after R = 1 no FPDU follows", "nothing, or Terminate 2/0/06", describe(got))
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- 0x3FFF: not negotiated

check {
  id = "EMPA-9.1-25",
  role = "responder",
  requires = "upper_tester",
  purpose = "a Request with ORD 0x3FFF leaves the responder's IRD as its ULP configured it",
  run = function(t)
    local c = t:ask({ IRD = 4, ORD = NOT_NEGOTIATED }, { dut = { ird = 3, ord = 3 } })
    local event = t:start_event(c)
    if event and event.ird then t:equal("IRD in force at the responder", 3, event.ird) end
    c:reads_served(3)
    c:probe()
  end,
}

check {
  id = "EMPA-9.1-26",
  role = "responder",
  purpose = "a Request with ORD 0x3FFF is answered with IRD 0x3FFF, and the other half as ever",
  run = function(t)
    local _, reply = t:ask({ IRD = 4, ORD = NOT_NEGOTIATED }, {
      reply = { enhanced = { IRD = NOT_NEGOTIATED } }, message = "ORD 0x3FFF is answered with IRD 0x3FFF" })
    local ord = reply.enhanced.ORD
    if ord > 4 and ord ~= NOT_NEGOTIATED then t:fail("ORD of the Reply to IRD 4", "at most 4", tostring(ord)) end
  end,
}

check {
  id = "EMPA-9.1-28",
  role = "responder",
  purpose = "a Request with IRD 0x3FFF leaves the responder's ORD as its ULP configured it",
  run = function(t)
    t:each_value("ORD", { 2, 3 }, function(ord)
      local c = t:ask({ IRD = NOT_NEGOTIATED, ORD = 2 }, { dut = { ird = ord, ord = ord } })
      c:probe()
      c:reads_limited(6, ord)
      c:finish()
    end)
  end,
}

check {
  id = "EMPA-9.1-29",
  role = "responder",
  purpose = "a Request with IRD 0x3FFF is answered with ORD 0x3FFF, and the other half as ever",
  run = function(t)
    local ord = t:depth("ird", 4)
    t:ask({ IRD = NOT_NEGOTIATED, ORD = ord }, {
      reply = { enhanced = { ORD = NOT_NEGOTIATED, IRD = function(v) return v >= ord end } },
      message = "IRD 0x3FFF is answered with ORD 0x3FFF, ORD " .. ord .. " with an IRD of no less" })
  end,
}
