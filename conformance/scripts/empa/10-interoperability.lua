-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 sections 10 and 12: enhanced and plain peers; values that nobody should send.

defaults { sandwich = "startup" }

-- A Request to a listener whose ULP refuses with this Private Data.
local function refused(t, request, private)
  local c = t:awaiting_start { dut = { accept = "reject", private_data = hex(private) } }
  c:send(request)
  local got = c:receive()
  if fits(tcp.closed(), got) then
    t:warn("a Request that the ULP refuses", "a Reply with R = 1", describe(got))
  end
  return got
end

check {
  id = "EMPA-10-01",
  role = "responder",
  purpose = "an enhanced Request is answered by an enhanced Reply, with A = 0 and with A = 1",
  sandwich = "tcp",
  run = function(t)
    t:ask({ A = 0 }, { reply = { PD_Length = function(v) return v >= 4 end } }):probe()
    t:ask({ A = 1, B = 1, C = 1, D = 1 }, { reply = { PD_Length = function(v) return v >= 4 end } })
  end,
}

check {
  id = "EMPA-10-02",
  role = "responder",
  purpose = "a plain Request is answered by a plain Reply without the word, at Rev 1 and at Rev 2",
  sandwich = "tcp",
  run = function(t)
    local dut = rig.has_upper_tester() and { private_data = hex("plain") } or nil
    for rev = 1, 2 do
      local c = t:awaiting_start { dut = dut }
      local request = mpa.request { Rev = rev }
      c:send(request)
      local reply = c:expect(mpa.reply { R = 0, S = 0 }, { message = "a plain Request of Rev " .. rev .. ", a plain Reply" })
      if dut then t:equal("Private Data of the Reply", hex("plain"), hex(reply.all_private_data)) end
      c:agree(request, reply)
      c:probe()
      c:finish()
    end
  end,
}

check {
  id = "EMPA-10-04",
  role = "responder",
  purpose = "plain and enhanced Requests are accepted in turns, also after failures",
  sandwich = "tcp",
  run = function(t)
    for round = 1, 4 do
      local c = t:connect()
      local request = mpa.request { Rev = 1 }
      c:send(request)
      local reply = c:expect(mpa.reply { R = 0, S = 0 }, { message = "a plain Request, round " .. round })
      c:agree(request, reply)
      c:probe()
      c.tcp:close()
      c = t:ask({}, { message = "an enhanced Request, round " .. round })
      c:probe()
      if round % 2 == 0 then
        c:send(fpdu(rdmap.send { data = "bad" }, { crc_flip = 1 }))
        if c:receive().kind == "timeout" then t:note("the device takes no notice of a wrong CRC: MPA-8-02 judges that") end
        c.tcp:reset() -- whatever it made of that, this stream has failed
      else
        c.tcp:close()
      end
    end
  end,
}

check {
  id = "EMPA-10-05",
  role = "both",
  purpose = "S makes a frame enhanced, Rev does not: with Rev 2 and S = 0 the 4 octets are the ULP's",
  run = function(t)
    local private = unhex "00040004"
    local c = t:awaiting_start { dut = { rev = 2, enhanced = t.role == "responder" } }
    if t.role == "initiator" and c.request.S == 1 then t:skip("the device sends enhanced Requests only") end
    local frame = t:start_frame { Rev = 2, S = 0, private_data = private }
    c:send(frame)
    local peer = c:expect_operation(frame, "Rev 2 with S = 0 is a plain frame")
    t:equal("S of the device's frame", 0, peer.S)
    if rig.has_upper_tester() then
      local event = t:start_event(c)
      if not event then t:fail("the ULP is told of the start-up", "its event", "none") end
      t:equal("Private Data as the ULP got it", hex(private), t:event_member(event, "private_data"))
    end
  end,
}

check {
  id = "EMPA-10-06",
  role = "responder",
  requires = "upper_tester",
  purpose = "the refusal of an enhanced Request is enhanced: R = 1, S = 1, the word, then the ULP's octets",
  run = function(t)
    local got = refused(t, mpa.request { enhanced = t:word() }, "sorry")
    local wanted = mpa.reply { R = 1, S = 1, Rev = function(v) return v >= 2 end, PD_Length = 9, private_data = "sorry",
                               enhanced = {} }
    if not fits(wanted, got) then t:fail("the refusal of an enhanced Request", describe(wanted), describe(got)) end
  end,
}

check {
  id = "EMPA-10-07",
  role = "responder",
  requires = "upper_tester",
  purpose = "the refusal of a plain Request is plain: R = 1, S = 0, the ULP's 5 octets and no word",
  run = function(t)
    local got = refused(t, mpa.request { Rev = 1 }, "sorry")
    local wanted = mpa.reply { R = 1, S = 0, PD_Length = 5, private_data = "sorry" }
    if not fits(wanted, got) then t:fail("the refusal of a plain Request", describe(wanted), describe(got)) end
  end,
}

check {
  id = "EMPA-10-10",
  role = "responder",
  requires = "upper_tester",
  purpose = "an enhanced Request to a listener of Rev 1: closed, not answered",
  run = function(t)
    local c = t:awaiting_start { dut = { rev = 1, enhanced = false } }
    c:send(mpa.request { enhanced = t:word() })
    local got = c:receive()
    if fits(mpa.reply { S = 0 }, got) then
      got = c:receive(t.quiet)
      if got.kind == "timeout" then
        t:warn("an enhanced Request to a listener of Rev 1", "FIN or RST", "a plain Reply, and no close")
      end
    end
    if not fits(tcp.closed(), got) then
      t:fail("an enhanced Request to a listener of Rev 1", "FIN or RST", describe(got))
    end
    t:ambiguous("A: a host without RFC 6581 closes on Rev 2")
  end,
}

check {
  id = "EMPA-10-12",
  role = "initiator",
  purpose = "after a close in place of the Reply nothing more is tried on the same connection",
  run = function(t)
    local c = t:receive_request {}
    c.tcp:fin()
    local got = c:receive()
    if got.kind == "request" then
      t:fail("a new try has a connection of its own", "FIN or RST", "a second Request on the same connection")
    elseif not fits(tcp.closed(), got) then
      t:fail("the responder has closed: so does the initiator", "FIN or RST", describe(got))
    end
  end,
}

check {
  id = "EMPA-12-01",
  role = "both",
  purpose = "IRD, ORD and flags of all kinds: each start-up comes to an end, and the device goes on serving",
  run = function(t)
    local depths = { 0, 1, 0x3FFE, 0x3FFF }
    -- A responder that accepts an ORD of 0x3FFE with fewer slots fails EMPA-9.1-04: this check is about something else.
    local ords = t.role == "responder" and { 0, 1, 0x3FFF } or depths
    for _, ird in ipairs(depths) do
      for _, ord in ipairs(ords) do
        for bits = 0, 15 do
          local word = { A = bits >> 3, B = bits >> 2 & 1, C = bits >> 1 & 1, D = bits & 1, IRD = ird, ORD = ord }
          local what = string.format("IRD 0x%x ORD 0x%x A %d B %d C %d D %d", ird, ord, word.A, word.B, word.C, word.D)
          if t.role == "responder" then
            local c = t:connect()
            c:send(mpa.request { enhanced = word })
            local got = c:receive()
            if got.kind ~= "reply" and not fits(tcp.closed(), got) then
              t:fail("a Request with " .. what, "a Reply, or FIN or RST", describe(got))
            end
            c.tcp:close()
          else
            local c
            if word.A == 1 then
              c = t:stream_if_asked("receive_request", { p2p = true }, "without peer-to-peer connections")
              if not c then break end -- then the words without A are all there is
            else
              c = t:receive_request { p2p = false }
            end
            c:answer(word)
            local sent = t:post("send", { stream = c.stream, data = "66697273" })
            local got = c:receive()
            if got.kind ~= "segment" and not fits(tcp.closed(), got) then
              t:fail("a Reply with " .. what, "an FPDU, or FIN or RST", describe(got) .. (sent.ok and "" or ", no Send taken"))
            end
            c.tcp:close()
          end
        end
      end
    end
  end,
}
