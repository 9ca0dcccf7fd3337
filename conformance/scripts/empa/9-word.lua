-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 section 9: the word of IRD and ORD in front of the Private Data.

defaults { requires = "upper_tester", sandwich = "startup" }

local NOT_NEGOTIATED = 0x3FFF

check {
  id = "EMPA-9-01",
  role = "both",
  purpose = "A, B and IRD stand in octets 20 and 21, C, D and ORD in octets 22 and 23",
  run = function(t)
    local frame, ird, ord, halves
    local dut = { ird = t:depth("ird", 5), ord = t:depth("ord", 9) }
    if t.role == "initiator" then
      frame = t:receive_request(dut).request
      ird, ord = dut.ird, dut.ord
    else
      local c
      c, frame = t:ask({ IRD = 16, ORD = math.min(3, dut.ird) }, { dut = dut })
      local event = t:start_event(c)
      if not event then t:inconclusive("the device does not report its IRD and ORD") end
      ird, ord = t:event_member(event, "ird"), t:event_member(event, "ord")
    end
    halves = { string.unpack(">I2I2", frame.all_private_data) }
    -- In a Reply 0x3FFF is another reading (EMPA-9.1-31), and says nothing of where a number stands.
    for i, half in ipairs { { "octets 20 and 21: A, B, IRD", ird }, { "octets 22 and 23: C, D, ORD", ord } } do
      if t.role == "initiator" or halves[i] ~= NOT_NEGOTIATED then t:equal(half[1], half[2], halves[i]) end
    end
  end,
}

check {
  id = "EMPA-9-03",
  role = "both",
  purpose = "IRD and ORD are 14 bits: a depth that is out of range never reaches the flags",
  run = function(t)
    for _, depth in ipairs { 0x3FFF, 0x4001, 0x8001 } do
      local dut = { ird = depth, ord = depth, rev = 2, enhanced = true }
      local frame
      if t.role == "responder" then
        local answer = rig.command { verb = "listen", ird = depth, ord = depth }
        if not answer.ok then
          t:note(string.format("depth 0x%x is refused by the device's interface: %s", depth, answer.error))
        else
          local c = t:connect { port = answer.port }
          c:send(mpa.request { enhanced = { IRD = NOT_NEGOTIATED, ORD = NOT_NEGOTIATED } })
          frame = c:expect(mpa.reply { R = 0, enhanced = {} }, { message = "an enhanced Request is answered" })
        end
      else
        local own = rig.addresses()
        t.port = t.port + 1
        rig.listen(t.port)
        dut.verb, dut.address, dut.port = "connect", own, t.port
        local answer = rig.command(dut)
        if not answer.ok then
          t:note(string.format("depth 0x%x is refused by the device's interface: %s", depth, answer.error))
        else
          local connection = rig.accept(t.port, t.reaction)
          if not connection then t:inconclusive("the device did not open a TCP connection to the tester") end
          frame = new_connection(t, connection, false):expect(mpa.request { enhanced = {} })
        end
      end
      for flag, bit in pairs(frame and frame.enhanced or {}) do
        if flag == "A" or flag == "B" or flag == "C" or flag == "D" then
          t:equal(string.format("flag %s beside depth 0x%x", flag, depth), 0, bit)
        end
      end
    end
  end,
}

-- 509 octets in addition to the word do not fit: the device's interface refuses them, and nothing of them goes out.
local function too_much(t)
  local private, message = hex(pattern(509)), "509 octets of Private Data in an enhanced start-up"
  local got
  if t.role == "responder" then
    local ok, port = t:try("listen", { private_data = private, rev = 2, enhanced = true }), nil
    if not ok then return end
    port = t:listen { private_data = private }
    local c = t:connect { port = port }
    c:send(mpa.request { enhanced = t:word() })
    got = c:receive()
  else
    local own = rig.addresses()
    t.port = t.port + 1
    rig.listen(t.port)
    if not t:try("connect", { private_data = private, rev = 2, enhanced = true, address = own, port = t.port }) then return end
    local tcp = rig.accept(t.port, t.quiet)
    if not tcp then return end
    got = new_connection(t, tcp, false):receive(t.quiet)
  end
  if got.kind == "request" or got.kind == "reply" or got.kind == "garbage" then
    t:fail(message, "an error of the device's interface, and no start-up frame", describe(got))
  end
end

check {
  id = "EMPA-9-04",
  role = "both",
  purpose = "508 octets of the ULP's Private Data follow the word, whole, in both directions; no more are taken",
  run = function(t)
    local private = pattern(508)
    local mine = pattern(508, 100)
    local c, frame
    if t.role == "responder" then
      c, frame = t:ask({}, { dut = { private_data = hex(private) }, request = { private_data = mine } })
    else
      c = t:receive_request { private_data = hex(private) }
      frame = c.request
      c:answer({}, { private_data = mine })
    end
    t:equal("PD_Length", 512, frame.PD_Length)
    t:equal("Private Data of the device", hex(private), hex(frame.private_data))
    local event = t:start_event(c)
    if not event then t:fail("508 octets of Private Data are allowed", "the ULP is told", "no event") end
    t:equal("Private Data that the device's ULP got", hex(mine), t:event_member(event, "private_data"))
    c.tcp:close()
    for _, octets in ipairs { 509, 512 } do
      local excess = { Rev = 2, private_data = pattern(octets), enhanced = t:word() }
      if t.role == "responder" then
        c = t:awaiting_start()
        c:send(mpa.request(excess))
      else
        c = t:receive_request {}
        c:send(mpa.reply(excess))
      end
      c:expect_refusal("the word and " .. octets .. " octets of Private Data are more than 512")
      c.tcp:close()
    end
    too_much(t)
  end,
}

check {
  id = "EMPA-9-02",
  role = "both",
  sandwich = "tcp",
  purpose = "the word is in network order: IRD 1, ORD 2 and no flags are 00 01 00 02",
  run = function(t)
    if t.role == "initiator" then
      local c = t:receive_request { ird = 1, ord = 2 }
      t:equal("the word", "00010002", hex(c.request.frame_octets:sub(21, 24)))
      c.tcp:close()
      return
    end
    -- A Reply may have a larger IRD than the ORD that it is asked for, and a smaller ORD (RFC 6581 9.1): a device whose
    -- IRD is 256 has the octets of a 1 in the wrong order, but not those of the next ORD that it is asked for.
    for _, ord in ipairs { 1, 3 } do
      local c, frame = t:ask({ IRD = 2, ORD = ord }, { dut = { ird = ord, ord = 2 } })
      local high, low = string.unpack(">I2I2", frame.frame_octets, 21)
      if low > 2 then t:fail("C, D and ORD of the word", "0002, or less", string.format("%04x", low)) end
      if high < ord or high > 0x3FFF then
        t:fail("A, B and IRD of the word", string.format("%04x, or more", ord), string.format("%04x", high))
      end
      c.tcp:close()
      if high ~= ord << 8 then return end
    end
    t:fail("A, B and IRD of the word", "0003, or more", "0300, after 0100 for an ORD of 1")
  end,
}
