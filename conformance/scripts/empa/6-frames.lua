-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 6581 section 6: the enhanced Request and Reply.

defaults { sandwich = "tcp" }

local at_least_2 = function(v) return v >= 2 end

check {
  id = "EMPA-6-02",
  role = "both",
  purpose = "S is 1 exactly where the word stands in front of the ULP's Private Data",
  judges = { "enhanced startup" },
  run = function(t)
    local private = distinct(9)
    local dut = { private_data = hex(private) }
    local c, frame
    if t.role == "responder" then
      c, frame = t:ask({}, { dut = dut, message = "the Reply to an enhanced Request" })
    else
      c = t:receive_request(dut)
      frame = c.request
    end
    t:equal("S of an enhanced frame", 1, frame.S)
    t:equal("the ULP's octets after the word", hex(private), hex(frame.private_data))
    c.tcp:close()
    dut.rev = 1
    if t.role == "responder" then
      c = t:connect { port = t:listen { private_data = dut.private_data } }
      c:send(mpa.request { Rev = 1 })
      frame = c:expect(mpa.reply { R = 0 }, { message = "the Reply to a plain Request" })
    else
      c = t:accept { dut = dut }
      frame = c:expect(mpa.request {}, { message = "a plain Request" })
    end
    t:equal("S of a plain frame", 0, frame.S)
    t:equal("the ULP's octets, with no word in front", hex(private), hex(frame.all_private_data))
  end,
}

check {
  id = "EMPA-6-04",
  role = "both",
  purpose = "the reserved bits of octet 16 are not looked at, with S = 1 and with S = 0",
  sandwich = "startup",
  run = function(t)
    if t.role == "responder" then
      local c = t:ask({}, { request = { Res = 0xF }, message = "reserved bits in an enhanced Request are not looked at" })
      c:probe()
      c:finish()
      c = t:connect()
      c:start_as_initiator { Res = 0xF }
      c:probe { message = "reserved bits in a plain Request are not looked at" }
    else
      local c = t:receive_request()
      c:answer({}, { Res = 0xF })
      c:first_send("reserved bits in an enhanced Reply are not looked at")
      c:probe()
    end
  end,
}

check {
  id = "EMPA-6-07",
  role = "responder",
  purpose = "the Reply to an enhanced Request has Rev 2 or above",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { enhanced = t:word() })
    c:expect(mpa.reply { S = 1, Rev = at_least_2 }, { message = "the Reply to a Request of Rev 2 with S = 1" })
  end,
}

check {
  id = "EMPA-6-09",
  role = "responder",
  purpose = "Requests of Rev 1 are accepted by a device that knows Rev 2",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { Rev = 1 })
    local reply = c:expect(mpa.reply { R = 0, S = 0 }, { message = "a Request of Rev 1 is accepted" })
    c:agree({ C = 1 }, reply)
    c:probe()
  end,
}

check {
  id = "EMPA-6-10",
  role = "both",
  purpose = "PD_Length counts the 4 octets of the word and the ULP's, also where the sum carries",
  judges = { "enhanced startup" },
  run = function(t)
    t:each_value("octets", { 0, 1, 251, 252, 253, 254, 255, 256, 507, 508 }, function(count)
      local private = distinct(count)
      local dut = { private_data = hex(private) }
      local what = count .. " octets of the ULP's Private Data"
      local c, frame
      if t.role == "responder" then
        c, frame = t:ask({}, { dut = dut, message = what .. ": PD_Length counts the word too" })
      else
        c = t:receive_request(dut)
        frame = c.request
      end
      t:equal("PD_Length with " .. what, count + 4, frame.PD_Length)
      t:equal(what, hex(private), hex(frame.private_data))
      if t.role == "responder" then
        c:probe { message = "after the frame come FPDUs: " .. what }
      else
        c:answer {}
        c:first_send("after the frame come FPDUs: " .. what)
      end
      c.tcp:close()
    end)
  end,
}

check {
  id = "EMPA-6-12",
  role = "both",
  purpose = "S = 1 with 0 to 3 octets of Private Data is not accepted",
  run = function(t)
    local rejected = false
    t:each_value("octets", { 0, 1, 2, 3 }, function(count)
      local c = t.role == "responder" and t:connect() or t:receive_request()
      local message = string.format("S = 1 with %d octets of Private Data cannot hold the word", count)
      c:send(t:start_frame { S = 1, Rev = 2, private_data = string.rep("\0", count) })
      local got
      if t.role == "responder" then
        got = c:receive()
        if got.kind == "reply" and got.R == 1 then
          rejected = true
        elseif not fits(tcp.closed(), got) then
          t:fail(message, "FIN or RST, or a Reply with R = 1", describe(got))
        end
      else
        c:agree({ C = 1 }, c.request)
        got = c:receive()
        if is_terminate(got) then got = c:receive() end
        if not fits(tcp.closed(), got) then t:fail(message, "FIN or RST", describe(got)) end
      end
      c.tcp:close()
    end)
    if rejected then
      t:warn("an improperly formatted frame closes the connection", "FIN or RST", "a Reply with R = 1")
    end
    t:ambiguous("A: improperly formatted, so the connection is closed (RFC 5044)")
  end,
}

check {
  id = "EMPA-6-13",
  role = "responder",
  purpose = "S = 1 in a Request of Rev 1: taken for enhanced, for plain, or refused",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { S = 1, Rev = 1, private_data = unhex "0004 0004" })
    local got = c:receive()
    if fits(tcp.closed(), got) or (got.kind == "reply" and got.R == 1) then
      t:ambiguous("C: the frame is malformed")
    elseif got.kind == "reply" and got.S == 1 and got.PD_Length >= 4 then
      t:ambiguous("A: S alone makes the frame enhanced")
    elseif got.kind == "reply" and got.S == 0 then
      t:ambiguous("B: at Rev 1 the bit is reserved and ignored, the octets are private data")
    end
    t:fail("a Request of Rev 1 with S = 1", "an enhanced Reply with its word, a plain Reply, R = 1, or FIN or RST",
           describe(got))
  end,
}

check {
  id = "EMPA-6-14",
  role = "responder",
  purpose = "a Request of Rev 3 with S = 1: closed, or answered with Rev 2 or 3 and S = 1",
  run = function(t)
    local c = t:connect()
    c:send(mpa.request { Rev = 3, enhanced = t:word() })
    local got = c:receive()
    if fits(tcp.closed(), got) then
      t:ambiguous("B: it is unknown and the connection is closed")
    elseif got.kind == "reply" and got.S == 1 and (got.Rev == 2 or got.Rev == 3) and got.PD_Length >= 4 then
      t:ambiguous("A: a revision above 2 is accepted")
    end
    t:fail("a Request of Rev 3 with S = 1", "FIN or RST, or a Reply with Rev 2 or 3 and S = 1", describe(got))
  end,
}

check {
  id = "EMPA-6-15",
  role = "responder",
  purpose = "a Request of Rev 2 with S = 0 is a plain one: the Reply has S = 0",
  run = function(t)
    local c = t:connect()
    local request = mpa.request { Rev = 2, S = 0 }
    c:send(request)
    local reply = c:expect(mpa.reply { R = 0, S = 0, Rev = function(v) return v == 1 or v == 2 end },
                           { message = "a Request of Rev 2 with S = 0 is accepted as a plain one" })
    c:agree(request, reply)
    c:probe()
    t:ambiguous(reply.Rev == 2 and "A: the Reply carries Rev 2 as the Request did"
                or "B: it carries Rev 1, as nothing enhanced was asked for")
  end,
}

-- The device's own enhanced frame, octet by octet, with 20 octets of its ULP; c is the connection.
local function own_frame(t)
  local private = distinct(20)
  local dut = { private_data = hex(private), ird = t:depth("ird", 3), ord = t:depth("ord", 5) }
  local c, frame
  if t.role == "responder" then
    c, frame = t:ask({ IRD = 5, ORD = 3 }, { dut = dut })
  else
    c = t:receive_request(dut)
    frame = c.request
  end
  c.tcp:close()
  return frame.frame_octets, private, dut
end

check {
  id = "EMPA-6-01",
  role = "both",
  requires = "upper_tester",
  purpose = "an enhanced frame is Key, M C R S and four reserved bits, Rev, PD_Length, Private Data",
  judges = { "enhanced startup" },
  run = function(t)
    local octets = own_frame(t)
    t:equal("Key", t.role == "responder" and "MPA ID Rep Frame" or "MPA ID Req Frame", octets:sub(1, 16))
    t:equal("R, S and the reserved bits", "0x10", string.format("0x%02x", octets:byte(17) & 0x3F))
    if octets:byte(18) < 2 then t:fail("Rev", "2 or above", tostring(octets:byte(18))) end
    t:equal("PD_Length", 24, (string.unpack(">I2", octets, 19)))
    t:equal("octets of the frame", 44, #octets)
  end,
}

check {
  id = "EMPA-6-11",
  role = "both",
  requires = "upper_tester",
  purpose = "with S = 1 the Private Data begins with the word, and the ULP's follows",
  run = function(t)
    local octets, private, dut = own_frame(t)
    local ird, ord = (string.unpack(">I2", octets, 21)) & 0x3FFF, (string.unpack(">I2", octets, 23)) & 0x3FFF
    if t.role == "initiator" then
      t:equal("A, B and IRD in front of the ULP's octets", dut.ird, ird)
      t:equal("C, D and ORD in front of the ULP's octets", dut.ord, ord)
    -- a Reply may offer more IRD and less ORD than it is asked for (RFC 6581 9.1)
    elseif ird < dut.ird or ord > dut.ord then
      t:fail("the depths in front of the ULP's octets", string.format("IRD %d or more, ORD %d or less", dut.ird, dut.ord),
             string.format("IRD %d, ORD %d", ird, ord))
    end
    t:equal("the ULP's octets after the word", hex(private), hex(octets:sub(25)))
  end,
}
