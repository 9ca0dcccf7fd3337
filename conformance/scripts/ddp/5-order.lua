-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4.1 and 5.4: what comes after a gap is not delivered before the gap is closed, wherever it is placed.

defaults { llp = "any" }

local function still(c, what)
  c:expect_quiet { message = what }
  c.t:expect_deliveries(c, {}, what)
end

check {
  id = "DDP-4.1-08",
  purpose = "a Send waits for the segments of an earlier Write of 64 KiB, one of which is missing",
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 256 } }
    local m = t:memory { octets = 65536 }
    local data = pattern(65536)
    local frames = {}
    for at = 0, #data - 1, 1400 do
      local last = at + 1400 >= #data
      frames[#frames + 1] = m:write(at, data:sub(at + 1, at + 1400), { L = last and 1 or 0 })
    end
    frames[#frames + 1] = rdmap.send { data = "after the Write" }
    local half = #frames // 2
    for i = 1, half do c:send_unmarked(frames[i]) end
    local fill = c:send_behind(frames[half + 1], { table.unpack(frames, half + 2) })
    still(c, "a segment of an earlier Write is missing")
    fill()
    t:expect_deliveries(c, { "after the Write" }, "the missing segment has come")
    m:patch(0, data)
    m:check("the Write is placed when the Send after it is delivered")
  end,
}

check {
  id = "DDP-4.1-09",
  purpose = "a message waits for all that were sent before it: the first Send is complete last",
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 2048 } }
    c:probe()
    local one, two, three = pattern(1800), pattern(400, 2), pattern(90, 3)
    local missing = rdmap.send { MSN = 1, data = one:sub(1, 900), L = 0 }
    local behind = { rdmap.send { MSN = 1, MO = 900, data = one:sub(901) }, rdmap.send { MSN = 2, data = two },
                     rdmap.send { MSN = 3, data = three } }
    local fill = c:send_behind(missing, behind, { 3, 2, 1 })
    still(c, "the first segment of the first of three Sends is missing")
    fill()
    c.msn[0] = 4
    t:expect_deliveries(c, { one, two, three }, "the missing segment has come")
    c:probe()
  end,
}

check {
  id = "DDP-5.4-03",
  purpose = "a Send waits for the placement of an earlier Write, though no earlier Send is missing",
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 2048 } }
    local m = t:memory()
    c:probe()
    local data = pattern(700)
    local fill = c:send_behind(m:write(100, data), { rdmap.send { data = pattern(600, 5) } })
    still(c, "the Write before a Send is missing")
    fill()
    t:expect_deliveries(c, { pattern(600, 5) }, "the Write has come")
    m:patch(100, data)
    m:check("the Write is placed when the Send after it is delivered")
  end,
}

check {
  id = "DDP-5.4-04",
  purpose = "the order is that of the stream, not of each queue: a Read Request waits for the delivery of an earlier Send",
  run = function(t)
    local c = t:open { dut = { receives = 4, receive_octets = 2048 } }
    local m = t:memory()
    c:probe()
    local fill = c:send_behind(rdmap.send { data = pattern(600) }, { m:read(0, 0, { SinkSTag = 77 }) })
    still(c, "the Send before a Read Request is missing")
    fill()
    c:expect(rdmap.read_response { STag = 77, L = 1, data = "" }, { message = "the Send has come" })
    t:expect_deliveries(c, { pattern(600) }, "the Send is delivered before the Read is answered")
    c:probe()
  end,
}
