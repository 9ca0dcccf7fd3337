-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 9.2: the peer-to-peer model and its RTR messages, the device as responder.

defaults { sandwich = "startup" }

local KINDS = { B = "send", C = "write", D = "read" }
local flags = { "B", "C", "D" }

local function named(word)
  local out = {}
  for _, flag in ipairs(flags) do if word[flag] == 1 then out[#out + 1] = flag end end
  return table.concat(out, ", ")
end

-- A Request with A = 1 and these flags; the Reply has A = 1. Returns connection and Reply.
local function offer(t, offered, dut, options)
  local word = { A = 1 }
  for flag in offered:gmatch(".") do word[flag] = 1 end
  options = copy_fields(options)
  options.dut = dut
  options.reply = options.reply or { enhanced = { A = 1 } }
  options.message = options.message or "a Request with A = 1 that offers " .. offered .. ": the Reply has A = 1"
  return t:ask(word, options)
end

-- What the Reply names works: the RTR is taken, and the stream is in operation.
local function rtr_works(c, flag)
  c:send(rtr[flag]())
  if flag == "D" then
    c:expect(rdmap.read_response { data = "", L = 1 }, { message = "the Read RTR is answered" })
  end
  c:probe { message = "the stream is in operation after the RTR that the Reply named (" .. flag .. ")" }
end

check {
  id = "EMPA-9.2-05",
  role = "responder",
  purpose = "a zero-length Read as RTR is answered by a zero-length Read Response, whatever its STags",
  judges = { "empty read" },
  run = function(t)
    for _, stag in ipairs { 0x9E3779B9, 0 } do
      local c, reply = offer(t, "D")
      if reply.enhanced.D ~= 1 then t:skip("the device confirms no Read RTR") end
      c:send(rdmap.read_request { SinkSTag = stag, SinkTO = 0, RDMARDSZ = 0, SrcSTag = stag, SrcTO = 0 })
      c:expect(rdmap.read_response { data = "", L = 1, fpdu = { length = 14 } },
               { message = "a zero-length Read as RTR is answered; its STags are not looked at" })
      c:finish()
    end
  end,
}

check {
  id = "EMPA-9.2-06",
  role = "responder",
  purpose = "a zero-length Write as RTR is taken, whatever its STag, and the responder's ULP may send",
  run = function(t)
    for _, stag in ipairs { 0xDEADBEEF, 0 } do
      local c, reply = offer(t, "C", {})
      if reply.enhanced.C ~= 1 then t:skip("the device confirms no Write RTR") end
      t.dut:send { stream = t:stream_of(c), data = "72656164" }
      c:send(rdmap.write { STag = stag, TO = 0 })
      c:expect(rdmap.send { data = "read" }, { message = "after the Write RTR the responder sends" })
      c:probe()
      c:finish()
    end
  end,
}

check {
  id = "EMPA-9.2-08",
  role = "responder",
  purpose = "a Send as RTR has MSN 1; does it need a receive of the ULP?",
  run = function(t)
    local c, reply = offer(t, "B", { receives = 0 })
    if reply.enhanced.B ~= 1 then t:skip("the device confirms no Send RTR") end
    local stream = t:stream_of(c)
    c:send(rtr.B())
    local alive, got = c:alive()
    if not alive and (is_terminate(got, "DDP_NO_BUFFER") or got.kind == "timeout" and c:takes_when_posted()) then
      t:ambiguous("B: it consumes a posted receive like every Send")
    elseif not alive then
      t:fail("a Send as RTR, with no receive posted", "full operation, or Terminate 1/2/02", describe(got))
    end
    t.dut:post_recv { stream = stream, length = 64, count = 1 }
    c:send(rdmap.send { MSN = 2, data = "second" })
    c:probe { message = "the Send after the RTR has MSN 2" }
    t:expect_deliveries(c, { "second" }, "the Send after the RTR is delivered")
    t:ambiguous("A: the RTR uses MSN 1 but no receive buffer of the ULP")
  end,
}

check {
  id = "EMPA-9.2-11",
  role = "responder",
  requires = "mpa.peer_to_peer",
  purpose = "A = 1 without any RTR: the Reply has A = 1 and some flag, or R = 1, or the connection is closed",
  run = function(t)
    local c = t:awaiting_start()
    c:send(mpa.request { enhanced = t:word { A = 1 } })
    local got = c:receive()
    if fits(tcp.closed(), got) or fits(mpa.reply { R = 1 }, got) then
      t:ambiguous("B: the Request is refused or closed")
    elseif fits(mpa.reply { R = 0, S = 1, enhanced = { A = 1 } }, got) and named(got.enhanced) ~= "" then
      t:ambiguous("A: the responder answers with the types it supports")
    end
    t:fail("a Request with A = 1 and no RTR", "a Reply with A = 1 and an RTR, or R = 1, or FIN or RST", describe(got))
  end,
}

check {
  id = "EMPA-9.2-12",
  role = "responder",
  purpose = "an enhanced responder supports at least one RTR, and what its Reply names works",
  judges = { "reads", "framing" },
  run = function(t)
    local _, reply = offer(t, "BCD")
    local confirmed = reply.enhanced
    if named(confirmed) == "" then t:fail("all RTRs are offered: the Reply names some", "B, C or D", "none") end
    for _, flag in ipairs(flags) do
      if confirmed[flag] == 1 then
        local c, again = offer(t, "BCD")
        t:equal("the RTRs of the same Reply again", named(confirmed), named(again.enhanced))
        rtr_works(c, flag)
        c:finish()
      end
    end
  end,
}

check {
  id = "EMPA-9.2-13",
  role = "responder",
  purpose = "A = 1 in the Request, A = 1 in the Reply",
  run = function(t) offer(t, "C") end,
}

check {
  id = "EMPA-9.2-14",
  role = "responder",
  purpose = "each RTR that is offered and supported is in the Reply",
  run = function(t)
    local supported = {}
    for _, flag in ipairs(flags) do
      local c, reply = offer(t, flag)
      supported[flag] = reply.enhanced[flag]
      c.tcp:close()
    end
    local _, reply = offer(t, "BCD")
    for _, flag in ipairs(flags) do
      if supported[flag] == 1 and reply.enhanced[flag] ~= 1 then
        t:warn("all RTRs are offered: the Reply names each that is supported", named(supported), named(reply.enhanced))
      end
    end
  end,
}

check {
  id = "EMPA-9.2-15",
  role = "responder",
  purpose = "the Reply may name some RTRs of those that are supported, but names one",
  run = function(t)
    local _, reply = offer(t, "BCD")
    if named(reply.enhanced) == "" then t:fail("all RTRs are offered", "a Reply that names one at least", "none") end
    t:note("RTRs in the Reply: " .. named(reply.enhanced))
  end,
}

check {
  id = "EMPA-9.2-16",
  role = "responder",
  purpose = "of two RTRs that are offered and supported the Reply names one at least",
  run = function(t)
    for _, pair in ipairs { "BC", "BD", "CD" } do
      local supported = 0
      for flag in pair:gmatch(".") do
        local c, reply = offer(t, flag)
        supported = supported + reply.enhanced[flag]
        c.tcp:close()
      end
      if supported == 2 then
        local c, reply = offer(t, pair)
        if reply.enhanced[pair:sub(1, 1)] ~= 1 and reply.enhanced[pair:sub(2, 2)] ~= 1 then
          t:fail("both RTRs are supported: the Reply names one", pair:sub(1, 1) .. " or " .. pair:sub(2, 2),
                 named(reply.enhanced) ~= "" and named(reply.enhanced) or "none")
        end
        c.tcp:close()
      end
    end
  end,
}

check {
  id = "EMPA-9.2-17",
  role = "responder",
  purpose = "one RTR alone is offered, and supported: the Reply names it",
  run = function(t)
    for _, flag in ipairs(flags) do
      if rig.has_upper_tester() and t:has_rtr(KINDS[flag]) or not rig.has_upper_tester() and flag == "C" then
        local dut = rig.has_upper_tester() and { rtr = { KINDS[flag] } } or nil
        local c, reply = offer(t, flag, dut)
        if named(reply.enhanced) == "" then
          t:fail("RTR " .. flag .. " alone is offered: the Reply names an RTR", flag, "none")
        elseif reply.enhanced[flag] ~= 1 then
          t:note("RTR " .. flag .. " is not supported; the Reply names " .. named(reply.enhanced))
        end
        c.tcp:close()
      end
    end
    t:ambiguous("A: one common type has to be shown as well")
  end,
}

check {
  id = "EMPA-9.2-19",
  role = "responder",
  purpose = "no RTR in common: the Reply names one that the responder does support",
  run = function(t)
    for _, flag in ipairs(flags) do
      local others = {}
      for _, other in ipairs(flags) do
        if other ~= flag and t:has_rtr(KINDS[other]) then others[#others + 1] = KINDS[other] end
      end
      if #others == 0 then goto next end
      local _, reply = offer(t, flag, { rtr = others }, {
        reply = { R = function(v) return v == 0 or v == 1 end, enhanced = {} },
        message = "a Request that offers only " .. flag .. ", which the device lacks" })
      local word = reply.enhanced
      if (reply.R == 0 and word.A ~= 1) or word[flag] == 1 or named(word) == "" then
        t:fail("the Reply names an RTR that the responder supports, and not " .. flag, "A = 1 and another flag",
               "A = " .. word.A .. ", flags: " .. (named(word) ~= "" and named(word) or "none"))
      end
      ::next::
    end
  end,
}

check {
  id = "EMPA-9.2-26",
  role = "responder",
  purpose = "A = 0 in the Request: accepted, with A = 0 in the Reply",
  run = function(t)
    t:ask({ A = 0 }, { reply = { enhanced = { A = 0 } }, message = "the client-server model is accepted: A = 0" }):probe()
  end,
}

check {
  id = "EMPA-9.2-28",
  role = "responder",
  purpose = "A = 0 in the Request: no RTR flags in the Reply",
  run = function(t)
    t:ask({ A = 0 }, { reply = { enhanced = { A = 0, B = 0, C = 0, D = 0 } }, message = "with A = 0 B, C and D are 0" })
  end,
}

check {
  id = "EMPA-9.2-29",
  role = "responder",
  purpose = "B, C and D beside A = 0 are not looked at: same Reply, and any first FPDU will do",
  run = function(t)
    local c, plain = t:ask {}
    c.tcp:close()
    local reply
    c, reply = t:ask({ A = 0, B = 1, C = 1, D = 1 },
                     { reply = { enhanced = { A = 0, B = 0, C = 0, D = 0, IRD = plain.enhanced.IRD, ORD = plain.enhanced.ORD } },
                       message = "flags beside A = 0 change nothing in the Reply" })
    c:probe { message = "the first FPDU may be any: " .. reply.PD_Length .. " octets of Private Data asked for no RTR" }
  end,
}

check {
  id = "EMPA-9.2-32",
  role = "responder",
  requires = "upper_tester & mpa.peer_to_peer",
  purpose = "a Reject of a peer-to-peer Request has S = 1 and the word; its flags mean nothing",
  run = function(t)
    local c = t:awaiting_start { dut = { accept = "reject" } }
    c:send(mpa.request { enhanced = { A = 1, B = 1, C = 1, D = 1 } })
    local reply = c:expect_rejection("a Reject of an enhanced Request: S = 1, with the word, which PD_Length counts",
                                     { S = 1, PD_Length = function(v) return v >= 4 end, enhanced = {} })
    t:note("flags of the Reject: A " .. reply.enhanced.A .. ", " .. named(reply.enhanced))
    c.tcp:close()
    t:ambiguous(named(reply.enhanced) ~= "" and "A: the flags of a Reject show what the responder supports"
                or "B: they have no meaning")
  end,
}
