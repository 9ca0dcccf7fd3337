-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 3.1, 5.4, 5.5 and Appendix B: what the texts leave free. All that comes has to be right, in whatever order.

defaults { llp = "any" }

-- Each octet is the old one or the new one.
local function old_or_new(t, data, old, new, message)
  local at = data:find("[^" .. old .. new .. "]")
  if at then t:fail(message, "octets 0x" .. hex(old) .. " or 0x" .. hex(new), string.format("0x%02x at %d", data:byte(at), at - 1)) end
end

-- Takes a Read Response of so many octets to this sink; other segments go to `other`. Returns its octets.
local function take_response(c, sink, octets, message, other)
  local data, last = {}, false
  repeat
    local got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 and got.STag == sink then
      data[#data + 1], last = got.data, got.L == 1
    elseif got.kind == "segment" and not got.triple and other then
      other(got)
    else
      c.t:fail(message, "the Read Response", describe(got))
    end
  until last
  data = table.concat(data)
  c.t:equal(message .. ": octets of the Read Response", octets, #data)
  return data
end

check {
  id = "RDMAP-3.1-08",
  frees = true,
  role = "both",
  purpose = "what a receive holds after an operation that was aborted is nobody's to judge",
  run = function(t)
    local length = t:receive_length(1004)
    local c = t:open { dut = { receives = 2, receive_octets = length } }
    local msn = c.msn[0]
    for at = 0, length - 5, 1000 do
      c:send(rdmap.send { MSN = msn, MO = at, data = pattern(math.min(1000, length - 4 - at)), L = 0 })
    end
    c:send(rdmap.send { MSN = msn, MO = length - 4, data = "12345678" })
    -- How it is aborted is for DDP-7.1-04 and RDMAP-6.2.1 to judge; and whether.
    local got = c:receive()
    if not is_terminate(got) and not fits(tcp.closed(), got) then
      t:inconclusive(length + 4 .. " octets for a receive of " .. length .. " abort no operation (DDP-7.1-04): " .. describe(got))
    end
    if rig.has_upper_tester() then t:expect_deliveries(c, {}, "an operation that was aborted is delivered to nobody") end
  end,
}

check {
  id = "RDMAP-5.4-12",
  purpose = "after a Terminate that it gets, the device stops or goes on with its Writes, and then the stream ends",
  run = function(t)
    local c, number = t:operating()
    c:window(0)
    for i = 1, 20 do t.dut:write { stream = number, stag = 7, to = 0, length = 300000 } end
    c:send(rdmap.terminate {})
    rig.wait(t.quiet / 4)
    c:window(65535)
    local got
    repeat got = c:receive() until got.kind ~= "segment" or got.Opcode ~= 0
    if got.kind == "timeout" then got = c:finish() end
    if not fits(tcp.closed(), got) then
      t:fail("Writes under way when a Terminate comes", "Writes, then the end of the stream", describe(got))
    end
  end,
}

check {
  id = "RDMAP-5.5-01",
  frees = true,
  purpose = "messages of two streams come in any order; those of each in theirs",
  run = function(t)
    local a, b = t:pair()
    a:probe()
    b:probe()
    for i = 1, 20 do
      t.dut:send { stream = a.stream, data = hex("a" .. i) }
      t.dut:send { stream = b.stream, data = hex("b" .. i) }
    end
    for i = 1, 20 do b:expect(rdmap.send { data = "b" .. i }, { message = "Send " .. i .. " of one stream" }) end
    for i = 1, 20 do a:expect(rdmap.send { data = "a" .. i }, { message = "Send " .. i .. " of the other" }) end
  end,
}

check {
  id = "RDMAP-5.5-02",
  frees = true,
  role = "both",
  purpose = "Read Responses and the device's own Sends come in any order; each kind in its own",
  run = function(t)
    local c, number = t:operating()
    local m = t:memory { data = pattern(3000) }
    local sends = 0
    for i = 1, 10 do
      t.dut:send { stream = number, data = hex("own " .. i) }
      c:send(m:read(0, 3000, { SinkSTag = i }))
      t.dut:send { stream = number, data = hex("own " .. i + 100) }
      local function own(got)
        sends = sends + 1
        local wanted = "own " .. (sends + 1) // 2 + (sends % 2 == 0 and 100 or 0)
        t:equal("the device's own Send " .. sends, wanted, got.data)
      end
      t:equal("octets of Read Response " .. i, true, take_response(c, i, 3000, "Read " .. i, own) == pattern(3000))
      while sends < 2 * i do own(c:expect(rdmap.send {}, { message = "the device's own Sends" })) end
    end
  end,
}

check {
  id = "RDMAP-5.5-13",
  role = "both",
  purpose = "a Read Response may hold what a Write after its request placed, or what was there before",
  run = function(t)
    local c = t:operating()
    local m = t:memory { octets = 5000 }
    c:send(m:read(0, 5000, { SinkSTag = 1 }), m:write(0, ("\x5A"):rep(1000)))
    old_or_new(t, take_response(c, 1, 5000, "a Read with a Write after it"), "\xA5", "\x5A", "octets of the Read Response")
    m:patch(0, ("\x5A"):rep(1000))
    c:probe()
    m:check("the Write after the Read is placed")
  end,
}

check {
  id = "RDMAP-5.5-20",
  frees = true,
  purpose = "a Send may be delivered before earlier Read Requests are answered",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open { dut = { echo = true } }
    c:probe()
    c:window(0)
    c:send(m:read(0, t.large, { SinkSTag = 1 }), rdmap.send { data = "behind" })
    rig.wait(t.quiet / 4)
    c:window(65535)
    local echoes = 0
    local function echo(got)
      echoes = echoes + 1
      t:equal("the echo", "behind", got.data)
    end
    take_response(c, 1, t.large, "a Read with a Send after it", echo)
    if echoes == 0 then echo(c:expect(rdmap.send {}, { message = "the echo of a Send after a Read" })) end
    t:equal("echoes", 1, echoes)
  end,
}

check {
  id = "RDMAP-5.5-23",
  purpose = "two Reads of one buffer may fetch it in any order: each octet is of one of its versions",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open { dut = { ird = 2 } }
    c:probe()
    c:window(0)
    c:send(m:read(0, t.large, { SinkSTag = 1 }), m:read(0, 16, { SinkSTag = 2 }))
    rig.wait(t.quiet / 4)
    t.dut:mem_write { stag = m.STag, offset = 0, data = ("5a"):rep(16) }
    c:window(65535)
    old_or_new(t, take_response(c, 1, t.large, "the first of two Reads"), "\xA5", "\x5A", "octets of the first")
    old_or_new(t, take_response(c, 2, 16, "the second"), "\xA5", "\x5A", "octets of the second")
  end,
}

check {
  id = "RDMAP-B-03",
  purpose = "Read, then Write: the Write may be placed before the Read Response is made",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open()
    c:probe()
    c:window(0)
    c:send(m:read(0, t.large, { SinkSTag = 1 }))
    for at = t.large - 10000, t.large - 1000, 1000 do c:send(m:write(at, ("\x5A"):rep(1000))) end
    rig.wait(t.quiet / 4)
    c:window(65535)
    old_or_new(t, take_response(c, 1, t.large, "a Read with Writes after it"), "\xA5", "\x5A", "octets of the Read Response")
    c:probe()
    local behind = t.dut:mem_read { stag = m.STag, offset = t.large - 10000, length = 10000 }.data
    t:equal("octets that the Writes placed", true, behind == ("5a"):rep(10000))
  end,
}
