-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 9.3, 3 and 5: what comes after what.

defaults { sandwich = "startup" }

local FLAGS = { send = "B", write = "C", read = "D" }

-- An RTR message that a Reply names.
local function named(word)
  return word.C == 1 and "C" or word.D == 1 and "D" or "B"
end

check {
  id = "EMPA-3-02",
  role = "responder",
  purpose = "the responder sends nothing before the first FPDU has come, then what its ULP has posted",
  judges = { "send from" },
  run = function(t)
    local c, reply = t:ask({ A = 1, B = 1, C = 1, D = 1 }, { dut = {} })
    t.dut:send { stream = t:stream_of(c), data = "77616974" }
    c:expect_quiet { message = "before the RTR the responder sends nothing" }
    local flag = named(reply.enhanced)
    c:send(rtr[flag]())
    local due = { rdmap.send { data = "wait" }, flag == "D" and rdmap.read_response { data = "" } or nil }
    for _ = 1, #due do -- a Read Response and a Send are in no order (RFC 5040 5.5)
      local got = c:expect_one_of { due[1], due[2], message = "after the RTR the responder sends what was posted, and answers a Read" }
      if due[2] then table.remove(due, fits(due[1], got) and 1 or 2) end
    end
  end,
}

check {
  id = "EMPA-5-02",
  role = "initiator",
  purpose = "Sends that are posted before the Reply go out after the RTR",
  run = function(t)
    local kind = t:has_rtr("write") and "write" or t:rtr_kinds()[1]
    local flag = FLAGS[kind]
    local c = t:receive_request { p2p = true, rtr = { kind } }
    local answer = rig.command { verb = "send", stream = c.stream, data = "6561726c79" }
    if not answer.ok then t:note("the device takes no Send before the Reply: " .. tostring(answer.error)) end
    c:answer { [flag] = 1 }
    if not answer.ok then t.dut:send { stream = c.stream, data = "6561726c79" } end
    c:expect(rtr_expected[flag], { message = "the RTR is the first FPDU" })
    if flag == "D" then c:send(rdmap.read_response { STag = 0, TO = 0 }) end
    c:expect(rdmap.send { data = "early", MSN = flag == "B" and 2 or 1 }, { message = "the ULP's Send follows" })
  end,
}

check {
  id = "EMPA-9.3-01",
  role = "both",
  purpose = "Request, Reply, then one RTR as first FPDU; nothing before the Reply, and no second start-up frame",
  run = function(t)
    if t.role == "responder" then
      local c, reply = t:ask({ A = 1, B = 1, C = 1, D = 1 }, { reply = { enhanced = { A = 1 } } })
      c:send(rtr[named(reply.enhanced)]())
      c:probe { message = "Request, Reply, RTR: full operation" }
    else
      local c = t:receive_request { p2p = true, rtr = t:rtr_kinds() }
      local octets, state = c:peek(1, t.quiet)
      if #octets > 0 or state ~= "timeout" then
        t:fail("before the Reply nothing follows the Request", "nothing", hex(octets:sub(1, 32)) .. " " .. state)
      end
      local flag = named(c.request.enhanced)
      c:answer { [flag] = 1 }
      c:expect(rtr_expected[flag], { message = "the RTR is the first FPDU" })
      c:probe()
    end
  end,
}

check {
  id = "EMPA-9.3-02",
  role = "initiator",
  purpose = "the Reply's ORD is in force before the RTR goes out: 8 Reads at once on seeing it are served",
  run = function(t)
    local c = t:receive_request { p2p = true, rtr = { "write" }, ird = 2, ord = 2 }
    c:answer { C = 1, ORD = 8 }
    local got = c:receive()
    if is_terminate(got, "MPA_INSUFFICIENT_IRD") then return end
    if not fits(rtr_expected.C, got) then t:fail("a Reply with ORD 8", "the RTR, or Terminate 2/0/06", describe(got)) end
    c:reads_served(8)
  end,
}

check {
  id = "EMPA-9.3-04",
  role = "responder",
  requires = "upper_tester & mpa.peer_to_peer",
  purpose = "an RTR that the Reply did not name: taken, or Terminate 2/0/05 or 2/0/07",
  judges = { "reads", "framing" },
  run = function(t)
    local c, reply = t:ask({ A = 1, C = 1 }, { dut = { rtr = { "write" } }, reply = { enhanced = { A = 1 } } })
    if reply.enhanced.D == 1 then t:skip("the device names the Read RTR although it was neither asked for nor configured") end
    c:send(rtr.D())
    local got = c:receive()
    if fits(rdmap.read_response { data = "", L = 1 }, got) then
      c:probe { message = "the Read RTR was taken: full operation" }
    elseif is_terminate(got, "MPA_CATASTROPHIC") or is_terminate(got, "MPA_NO_MATCHING_RTR") then
      c:expect_close { message = "after its Terminate the responder ends the connection" }
    else
      t:fail("a Read RTR in place of the Write that the Reply named", "its Read Response, or Terminate 2/0/05 or 2/0/07",
             describe(got))
    end
  end,
}

check {
  id = "EMPA-9.3-03",
  role = "initiator",
  purpose = "a local failure after the Reply is told by Terminate 2/0/05 before the connection goes",
  run = function(t)
    local c = t:accept { dut = { rev = 2, enhanced = true, modify_fails = true }, special = true }
    c.request = c:expect(mpa.request { S = 1, enhanced = {} }, { message = "an enhanced initiator opens with an enhanced Request" })
    c:answer {}
    local got = c:receive()
    if not is_terminate(got, "MPA_CATASTROPHIC") then
      t:fail("a local failure after the Reply", terminate_text("MPA_CATASTROPHIC"), describe(got))
    end
    c:expect_end("after a Terminate 2/0/05")
  end,
}
