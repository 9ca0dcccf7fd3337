-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 9.2: the peer-to-peer model and its RTR messages, the device as initiator.

defaults { sandwich = "startup" }

local KINDS = { B = "send", C = "write", D = "read" }
local flags = { "B", "C", "D" }

-- The device connects in the peer-to-peer model, with these RTR messages (all that it has unless given).
local function peer_to_peer(t, kinds)
  local c = t:receive_request { p2p = true, rtr = kinds or t:rtr_kinds(), ird = 4, ord = 4 }
  t:equal("A of the Request, peer-to-peer", 1, c.request.enhanced.A)
  return c
end

local function answers_one(t, c, flag)
  c:answer { [flag] = 1 }
  c:expect(rtr_expected[flag], { message = "the Reply names RTR " .. flag .. " alone: that is the first FPDU" })
  if flag == "D" then
    c:send(rdmap.read_response { STag = 0, TO = 0 })
  end
end

-- The RTR that the Reply names, and nothing else; then the stream is in operation.
local function names_one(t, flag)
  local c = peer_to_peer(t)
  if c.request.enhanced[flag] ~= 1 then t:skip("the device does not offer RTR " .. flag) end
  answers_one(t, c, flag)
  c:probe()
end

check {
  id = "EMPA-9.2-02",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "RTR B: a zero-length Send as first FPDU",
  run = function(t) names_one(t, "B") end,
}

check {
  id = "EMPA-9.2-03",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "RTR C: a zero-length RDMA Write as first FPDU",
  run = function(t) names_one(t, "C") end,
}

check {
  id = "EMPA-9.2-04",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "RTR D: a zero-length RDMA Read as first FPDU, whatever the ULP has posted before",
  run = function(t)
    names_one(t, "D")
    local c = peer_to_peer(t)
    local sink = t.dut:reg_mr { length = 32 }
    local taken, why = t:try("read", { stream = t:stream_of(c), sink_stag = sink.stag, sink_to = sink.base, source_stag = 0x51, source_to = 0,
                                       length = 32 })
    if not taken then return t:note("no Read is taken before the Reply: " .. tostring(why)) end
    answers_one(t, c, "D")
    c:expect(rdmap.read_request { RDMARDSZ = 32 }, { message = "the Read that the ULP posted before the Reply" })
  end,
}

check {
  id = "EMPA-9.2-07",
  role = "initiator",
  requires = "mpa.peer_to_peer & rtr.send",
  purpose = "the Send RTR is a Send without payload, ULPDU_Length 18, and no FPDU of length 0",
  run = function(t)
    names_one(t, "B")
    t:ambiguous("A: a Send message without payload (ULPDU_Length 18)")
  end,
}

check {
  id = "EMPA-9.2-10",
  role = "initiator",
  purpose = "each RTR that the Request offers can be sent",
  run = function(t)
    local offered = peer_to_peer(t).request.enhanced
    for _, flag in ipairs(flags) do
      if offered[flag] == 1 then
        local c = peer_to_peer(t)
        answers_one(t, c, flag)
        c.tcp:close()
      end
    end
    -- One kind alone is offered: no other flag may be set. A device that lacks a kind has no choice, as a rule.
    for _, flag in ipairs(#t:rtr_kinds() == #flags and flags or {}) do
      local word = peer_to_peer(t, { KINDS[flag] }).request.enhanced
      for _, other in ipairs(flags) do
        t:equal("flag " .. other .. " of a device that has the " .. KINDS[flag] .. " RTR alone", other == flag and 1 or 0,
                word[other])
      end
    end
  end,
}

-- The device as responder: the Request offers C alone. Whatever else the Reply names as well, it serves.
local function each_named_works(t)
  local function ask() return t:ask({ A = 1, C = 1 }, { message = "a Request that offers RTR C is accepted" }) end
  local c, reply = ask()
  for _, flag in ipairs(flags) do
    if reply.enhanced[flag] == 1 then
      c = c or ask()
      c:send(rtr[flag]())
      local message = "the Reply names RTR " .. flag .. ", which then opens the stream"
      if flag == "D" then c:expect(rdmap.read_response { data = "", L = 1 }, { message = message }) end
      c:probe { message = message }
      c = nil
    end
  end
  if reply.enhanced.A ~= 1 then t:skip("the device does not take part in the peer-to-peer model") end
end

check {
  id = "EMPA-9.2-18",
  role = "both",
  requires = "mpa.peer_to_peer",
  purpose = "the Reply may name RTRs that were not asked for: what it names works, and the initiator takes one that it has",
  run = function(t)
    if t.role == "responder" then return each_named_works(t) end
    local c = peer_to_peer(t, { "write" })
    c:answer { B = 1, C = 1, D = 1 }
    local got = c:receive()
    for _, flag in ipairs(flags) do
      if fits(rtr_expected[flag], got) then return end
    end
    t:fail("a Reply that names all RTRs, of which C was asked for", "an RTR", describe(got))
  end,
}

check {
  id = "EMPA-9.2-20",
  role = "initiator",
  purpose = "the RTR comes of the device's own accord, and once",
  run = function(t)
    local c = peer_to_peer(t)
    local flag = c.request.enhanced.C == 1 and "C" or c.request.enhanced.D == 1 and "D" or "B"
    c:answer { [flag] = 1 }
    c:expect(rtr_expected[flag], { message = "the ULP sends nothing: the RTR comes nevertheless" })
    c:expect_quiet { message = "one RTR and no more" }
  end,
}

-- A Reply that names no RTR which the device has. Returns the connection and what came; `able` when it did it
-- nevertheless.
local function no_match(t)
  local c = peer_to_peer(t, #t:rtr_kinds() == #flags and { "write" } or nil)
  if c.request.enhanced.D ~= 1 then
    c:answer { D = 1 }
    local got = c:receive()
    return c, got, fits(rtr_expected.D, got)
  elseif c.request.enhanced.B ~= 1 then
    c:answer { B = 1 }
    local got = c:receive()
    return c, got, fits(rtr_expected.B, got)
  end
  c:answer { C = 0 }
  return c, c:receive(), false
end

check {
  id = "EMPA-9.2-21",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "no RTR in common: the initiator sends a Terminate and no RTR",
  run = function(t)
    local c, got = no_match(t)
    if is_terminate(got) then return end
    -- It may be able to send what it did not offer; then it has done just that, which is what the Reply named.
    if c.request.enhanced.D ~= 1 and fits(rtr_expected.D, got) then
      t:warn("an RTR that was not offered", "a Terminate", "the RTR")
    end
    if c.request.enhanced.B == 1 and c.request.enhanced.D == 1 and fits(tcp.closed(), got) then
      t:warn("a Reply without any RTR", "a Terminate", describe(got))
    end
    t:fail("no RTR in common", "a Terminate as first FPDU", describe(got))
  end,
}

check {
  id = "EMPA-9.2-22",
  role = "initiator",
  purpose = "after its Terminate for want of an RTR the initiator closes the connection, and sends nothing more",
  run = function(t)
    local c, got = no_match(t)
    if not is_terminate(got) then t:skip("the device sends no Terminate here (EMPA-9.2-21)") end
    c:expect_close { message = "after its Terminate the initiator ends the connection" }
  end,
}

check {
  id = "EMPA-9.2-23",
  role = "initiator",
  purpose = "the Terminate for want of an RTR has layer 2, error type 0, code 7, and no headers",
  run = function(t)
    local c, got = no_match(t)
    if not is_terminate(got) then t:skip("the device sends no Terminate here (EMPA-9.2-21)") end
    local all = c.request.enhanced.B == 1 and c.request.enhanced.D == 1
    if got.triple ~= wire.triple("MPA_NO_MATCHING_RTR") and not (all and is_terminate(got, "MPA_CATASTROPHIC")) then
      t:fail("the Terminate for want of an RTR", terminate_text("MPA_NO_MATCHING_RTR"),
             describe(got))
    end
    t:equal("HdrCt: M, D and R", 0, got.M << 2 | got.D << 1 | got.R)
  end,
}

check {
  id = "EMPA-9.2-25",
  role = "initiator",
  purpose = "the client-server model has A = 0",
  run = function(t) t:equal("A of the Request", 0, t:receive_request({ p2p = false }).request.enhanced.A) end,
}

check {
  id = "EMPA-9.2-27",
  role = "initiator",
  purpose = "with A = 0 the Request has B = C = D = 0",
  run = function(t)
    local word = t:receive_request({ p2p = false }).request.enhanced
    for _, flag in ipairs(flags) do t:equal(flag .. " of a Request with A = 0", 0, word[flag]) end
  end,
}

check {
  id = "EMPA-9.2-30",
  role = "initiator",
  purpose = "B, C and D beside A = 0 in the Reply are not looked at: no RTR",
  run = function(t)
    local c = t:receive_request { p2p = false }
    c:answer { A = 0, B = 1, C = 1, D = 1 }
    c:first_send("flags beside A = 0: no RTR, the first FPDU is the ULP's")
    c:probe()
  end,
}

check {
  id = "EMPA-9.2-31",
  role = "initiator",
  requires = "mpa.peer_to_peer",
  purpose = "a Reply with another A than the Request: refused, or taken as it says; nothing hangs",
  judges = { "framing" },
  run = function(t)
    local reading
    for _, requested in ipairs { 1, 0 } do
      local c = requested == 1 and peer_to_peer(t) or t:receive_request { p2p = false }
      c:answer { A = 1 - requested, C = 1 - requested }
      c:ask_first_send()
      local got = c:receive()
      if requested == 0 and fits(rtr_expected.C, got) then got = c:receive() end
      if fits(rdmap.send { data = "firs" }, got) then
        reading = reading or "B: the initiator takes what the Reply says"
      elseif fits(tcp.closed(), got) or is_terminate(got, "MPA_CATASTROPHIC") or
             is_terminate(got, "MPA_NO_MATCHING_RTR") then
        reading = "A: a changed A flag is an error (Terminate code 5 or 7, or close)"
      else
        t:fail(string.format("A = %d in the Request, %d in the Reply", requested, 1 - requested),
               "full operation, Terminate 2/0/05 or 2/0/07, or FIN or RST", describe(got))
      end
      c.tcp:close()
    end
    t:ambiguous(reading)
  end,
}

check {
  id = "EMPA-5-01",
  role = "initiator",
  requires = "upper_tester",
  sandwich = "tcp",
  purpose = "the ULP chooses for each connection whether it asks for the peer-to-peer model",
  run = function(t)
    for _, p2p in ipairs { true, false, true } do
      local c = t:receive_request { p2p = p2p }
      t:equal("A of the Request, where the ULP asks for " .. (p2p and "it" or "none"), p2p and 1 or 0, c.request.enhanced.A)
      c.tcp:close()
    end
  end,
}
