-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 9.1: IRD and ORD, the device as initiator. It lowers its ORD to the Reply's IRD, raises its IRD to the
-- Reply's ORD, or says that it cannot: Terminate 2/0/06.

defaults { sandwich = "startup" }

local NOT_NEGOTIATED = 0x3FFF
local TOO_MANY = 0x3FFE

check {
  id = "EMPA-9.1-01",
  role = "initiator",
  purpose = "the IRD of the Request is served: as many Reads at once as it says",
  run = function(t)
    t:each_value("IRD", { 3, 8 }, function(depth)
      local c = t:receive_request { ird = depth, ord = 2 }
      t:equal("IRD of the Request", depth, c.request.enhanced.IRD)
      c:answer { ORD = depth }
      c:first_send()
      c:reads_served(depth)
      c:probe()
      c:finish()
    end)
    -- Two streams at once, with different depths: each has its own.
    local most = t:depth("ird", 8)
    local deep = t:receive_request { ird = most, ord = 2 }
    deep:answer { ORD = most }
    deep:first_send()
    local shallow = t:receive_request { ird = 1, ord = 2 }
    shallow:answer { ORD = 1 }
    shallow:first_send()
    deep:reads_served(most, "the IRD of the Request, beside a stream with an IRD of 1")
    shallow:probe()
  end,
}

check {
  id = "EMPA-9.1-02",
  role = "initiator",
  purpose = "the ORD of the Request is the one that the endpoint is configured with",
  run = function(t)
    local c = t:receive_request { ird = 3, ord = 7 }
    t:equal("ORD of the Request", 7, c.request.enhanced.ORD)
    t:equal("IRD of the Request", 3, c.request.enhanced.IRD)
  end,
}

-- The device wants ORD `own` and is offered IRD `offered`: full operation within the smaller, or Terminate 2/0/06,
-- which EMPA-9.1-05 judges. `reads`: so many Reads are posted then.
local function lowered(t, own, offered, reads)
  local c = t:receive_request { ird = 4, ord = own }
  c:answer { IRD = offered }
  c:ask_first_send()
  local got = c:receive()
  if is_terminate(got, "MPA_INSUFFICIENT_IRD") then
    if t.id ~= "EMPA-9.1-05" then t:skip("the device wants its ORD (EMPA-9.1-05)") end
    t:warn("an IRD below the own ORD: the ORD is lowered", "the device goes on", describe(got))
  elseif not fits(rdmap.send {}, got) then
    t:fail("an IRD below the own ORD: the ORD is lowered", "the device goes on", describe(got))
  end
  if reads then c:reads_limited(reads, math.min(own, offered)) end
  return c
end

-- Each IRD of the Reply bounds the Reads of a device that wants an ORD of 8; with 0 there are none. A function is what
-- else bounds them.
local function keeps_to(t, irds, reads)
  t:each_value("IRD", irds, function(ird)
    if type(ird) == "table" then return ird.run(t) end
    if ird == 0 then return lowered(t, 8, 0):no_reads("an IRD of 0 in the Reply") end
    lowered(t, 8, ird, reads):finish()
  end)
end

check {
  id = "EMPA-9.1-05",
  role = "initiator",
  purpose = "a Reply with an IRD below the own ORD: the initiator lowers its ORD, or ends with Terminate 2/0/06",
  run = function(t)
    lowered(t, 8, 1, 4)
    t:ambiguous("A: the initiator lowers its ORD and goes on")
  end,
}

-- What the ULP posts before the Reply comes is bound by it, too.
local function posted_before_reply(t)
  local c = t:receive_request { ird = 4, ord = 8 }
  local sink, stream, limit = t.dut:reg_mr { length = 32 }, t:stream_of(c), 2
  for i = 1, 3 * limit do
    local taken, why = t:try("read", { stream = stream, sink_stag = sink.stag, sink_to = sink.base, source_stag = 0x51, source_to = 0, length = 32 })
    if not taken then return t:note("no Read is taken before the Reply: " .. tostring(why)) end
  end
  c:answer { IRD = limit }
  local open = 0
  while open <= limit do
    local got = c:receive(open < limit and t.reaction or t.quiet)
    if is_terminate(got, "MPA_INSUFFICIENT_IRD") then return end
    if not fits(rdmap.read_request {}, got) then break end
    open = open + 1
  end
  t.timed_out = nil -- how many came is what is judged
  if open > limit then
    t:fail("Reads that were posted before the Reply", "at most " .. limit .. " open, the IRD of the Reply", open .. " or more")
  end
  c:reset()
end

local function two_at_once(t)
  local shallow, deep = lowered(t, 8, 2), lowered(t, 8, 8)
  shallow:reads_limited(6, 2, "Reads stay within ORD, beside a stream with a larger one")
  deep:probe()
end

check {
  id = "EMPA-9.1-06",
  role = "initiator",
  purpose = "the initiator has no more Reads outstanding than the IRD of the Reply: with IRD 0 it sends none",
  run = function(t)
    keeps_to(t, { 2, 3, 0, { called = "2 beside 8", run = two_at_once }, { called = "after the Reads", run = posted_before_reply } }, 6)
  end,
}

check {
  id = "EMPA-9.1-17",
  role = "initiator",
  purpose = "the initiator's ORD is at most the IRD of the Reply: 8 of 8, then 3 of 8, then none",
  run = function(t)
    keeps_to(t, { 8, 3, 0 }, 8)
  end,
}

-- A Reply whose ORD is above the Request's IRD. Returns the connection, or nil and the Terminate 2/0/06.
local function demanded(t, own, ord)
  local c = t:receive_request { ird = own, ord = 4 }
  c:answer { ORD = ord }
  c:ask_first_send()
  local got = c:receive()
  if is_terminate(got, "MPA_INSUFFICIENT_IRD") then return nil, got end
  if not fits(rdmap.send {}, got) then
    t:fail("a Reply with an ORD above the own IRD", "the device goes on, or Terminate 2/0/06", describe(got))
  end
  return c
end

check {
  id = "EMPA-9.1-13",
  role = "initiator",
  purpose = "a Reply with an ORD above the Request's IRD is not ignored: the Reads are served, or Terminate 2/0/06",
  run = function(t)
    local c = demanded(t, 2, 6)
    if c then c:reads_served(6) end
    t:ambiguous("B: it is a demand that the initiator meets or answers with code 6")
  end,
}

check {
  id = "EMPA-9.1-16",
  role = "initiator",
  purpose = "the initiator's IRD is at least the ORD of the Reply: 8 Reads at once are served, or Terminate 2/0/06",
  run = function(t)
    local c = demanded(t, 2, 8)
    if c then
      c:reads_served(8)
      c:probe()
    end
  end,
}

-- The Reply demands more than can be: returns the connection and what came of it, nil when the device does go on.
local function overcharged(t, ord)
  local c = t:receive_request { ird = 4, ord = 4 }
  c:answer { ORD = ord or TOO_MANY }
  local got = c:receive(t.quiet)
  if got.kind == "timeout" then return c, nil end
  return c, got
end

check {
  id = "EMPA-9.1-18",
  role = "initiator",
  purpose = "an ORD of 16382 in the Reply, or of one more than the device has, draws a Terminate as first FPDU",
  run = function(t)
    local most = t.dut:capabilities().ird_max or TOO_MANY
    for _, ord in ipairs { TOO_MANY, math.min(most + 1, TOO_MANY) } do
      local c, got = overcharged(t, ord)
      if got then
        if not is_terminate(got) then
          t:fail("IRD resources for " .. ord .. " Reads are not there", "a Terminate as first FPDU", describe(got))
        end
      else
        local event = t:start_event(c)
        if not event or (event.ird or 0) < ord then
          t:fail("IRD resources for " .. ord .. " Reads", "a Terminate, or an IRD in force of that size",
                 "the device goes on, IRD in force " .. tostring(event and event.ird or "unknown"))
        end
      end
      c.tcp:reset()
    end
  end,
}

check {
  id = "EMPA-9.1-19",
  role = "initiator",
  purpose = "after its Terminate for want of IRD the initiator closes the connection, and sends nothing more",
  run = function(t)
    local c, got = overcharged(t)
    if not (got and is_terminate(got)) then
      t:skip("the device sends no Terminate here (EMPA-9.1-18)")
    end
    c:expect_close { message = "after its Terminate the initiator ends the connection" }
  end,
}

check {
  id = "EMPA-9.1-20",
  role = "initiator",
  purpose = "the Terminate for want of IRD has layer 2, error type 0, code 6, and no headers",
  run = function(t)
    local _, got = overcharged(t)
    if not (got and is_terminate(got)) then
      t:skip("the device sends no Terminate here (EMPA-9.1-18)")
    end
    if not is_terminate(got, "MPA_INSUFFICIENT_IRD") then
      t:fail("the Terminate for want of IRD", terminate_text("MPA_INSUFFICIENT_IRD"),
             describe(got))
    end
    t:equal("HdrCt: M, D and R", 0, got.M << 2 | got.D << 1 | got.R)
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- 0x3FFF: not negotiated

check {
  id = "EMPA-9.1-24",
  role = "both",
  purpose = "0x3FFF is no number: with it in both halves the connection comes up, and nothing is negotiated",
  run = function(t)
    local word = { IRD = NOT_NEGOTIATED, ORD = NOT_NEGOTIATED }
    if t.role == "responder" then
      t:ask(word):probe()
    else
      local c = t:receive_request {}
      c:answer(word)
      c:first_send("IRD and ORD 0x3FFF in the Reply: the device goes on")
      c:probe()
    end
  end,
}

check {
  id = "EMPA-9.1-27",
  role = "initiator",
  purpose = "a Reply with IRD 0x3FFF leaves the initiator's ORD as it was",
  run = function(t)
    t:each_value("ORD", { 3, 4 }, function(ord)
      local c = t:receive_request { ird = 4, ord = ord }
      c:answer { IRD = NOT_NEGOTIATED }
      c:first_send("IRD 0x3FFF in the Reply: no Terminate")
      c:reads_limited(8, ord)
      c:finish()
    end)
  end,
}

check {
  id = "EMPA-9.1-30",
  role = "initiator",
  purpose = "a Reply with ORD 0x3FFF leaves the initiator's IRD as it was",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 4 }
    c:answer { ORD = NOT_NEGOTIATED }
    c:first_send("ORD 0x3FFF in the Reply: no Terminate")
    c:reads_served(4)
    c:probe()
  end,
}

check {
  id = "EMPA-9.1-31",
  role = "both",
  purpose = "0x3FFF in the Reply to a Request with numbers: an initiator takes it, a responder should not do it",
  run = function(t)
    if t.role == "initiator" then
      local c = t:receive_request { ird = 4, ord = 4 }
      c:answer { IRD = NOT_NEGOTIATED, ORD = NOT_NEGOTIATED }
      c:first_send("0x3FFF in the Reply to a Request with numbers: no Terminate")
      c:reads_served(4)
      t:ambiguous("A: 0x3FFF is legal in any Reply")
    end
    local _, reply = t:ask({ IRD = 3, ORD = 5 }, { dut = rig.has_upper_tester() and { ord = t:depth("ord", 3) } or nil })
    if reply.enhanced.IRD == NOT_NEGOTIATED or reply.enhanced.ORD == NOT_NEGOTIATED then
      t:warn("0x3FFF in the Reply to a Request with numbers", "numbers", "0x3FFF")
    end
    t:ambiguous("B: only where the Request had it in the same direction")
  end,
}

check {
  id = "EMPA-9.1-32",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "ORD 0 and a Read as RTR: with IRD 1 in the Reply the Read is sent; nothing hangs",
  run = function(t)
    local reading
    for _, ird in ipairs { 1, 0 } do
      local c = t:receive_request { p2p = true, rtr = { "read" }, ird = 4, ord = 0 }
      c:answer { D = 1, IRD = ird }
      local got = c:receive()
      if fits(rtr_expected.D, got) then
        reading = reading or "A: the Read RTR is sent in spite of ORD 0"
      elseif is_terminate(got, "MPA_NO_MATCHING_RTR") or is_terminate(got, "MPA_INSUFFICIENT_IRD") then
        if ird == 1 then
          t:warn("ORD 0 and a Read as RTR, with IRD 1 in the Reply", "a zero-length RDMA Read", describe(got))
        end
        reading = "B: ORD 0 forbids it, Terminate code 6 or 7"
      else
        t:fail("ORD 0 and a Read as RTR, with IRD " .. ird .. " in the Reply",
               "a zero-length RDMA Read, or Terminate 2/0/06 or 2/0/07", describe(got))
      end
      c.tcp:close()
    end
    t:ambiguous(reading)
  end,
}

check {
  id = "EMPA-9.1-23",
  role = "initiator",
  requires = "upper_tester",
  purpose = "an initiator's ULP may drop the connection and ask for other depths on a new one",
  run = function(t)
    local c = t:receive_request { ird = 4, ord = 8 }
    c:answer { IRD = 1 }
    c:ask_first_send()
    local got = c:receive()
    if is_terminate(got, "MPA_INSUFFICIENT_IRD") then t:skip("the device wants its ORD (EMPA-9.1-05)") end
    if not fits(rdmap.send { data = "firs" }, got) then
      t:fail("the initiator goes on with an ORD of 1", "a Send of 4 octets", describe(got))
    end
    t.dut:disconnect { stream = c.stream }
    c:expect_close { message = "the ULP is unhappy with an ORD of 1: it closes" }
    c.tcp:fin()
    c = t:receive_request { ird = 2, ord = 1 }
    t:equal("IRD of the second Request", 2, c.request.enhanced.IRD)
    t:equal("ORD of the second Request", 1, c.request.enhanced.ORD)
    c:answer {}
    c:first_send("the second try is established")
    c:probe()
  end,
}
