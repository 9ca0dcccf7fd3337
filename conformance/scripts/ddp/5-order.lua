-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4.1 and 5.4: what comes after a gap in TCP is not delivered before the gap is closed, wherever it is placed.

-- Sends frames after a gap as long as `missing`, each in a TCP segment of its own, in `order` (default as they stand).
-- Returns a function that closes the gap; TCP brings what is after once more.
local function send_behind(c, missing, frames, order)
  local offsets, at = {}, #missing
  for i, frame in ipairs(frames) do
    offsets[i] = at
    at = at + #frame
  end
  for i = 1, #frames do
    local n = order and order[i] or i
    c.tcp:raw { offset = offsets[n], octets = frames[n] }
  end
  return function() c.tcp:send(missing .. table.concat(frames)) end
end

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
      frames[#frames + 1] = c:octets(m:write(at, data:sub(at + 1, at + 1400), { L = last and 1 or 0 }))
    end
    frames[#frames + 1] = c:octets(rdmap.send { data = "after the Write" })
    local half = #frames // 2
    for i = 1, half do c.tcp:send(frames[i]) end
    local fill = send_behind(c, frames[half + 1], { table.unpack(frames, half + 2) })
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
    local missing = c:octets(rdmap.send { MSN = 1, data = one:sub(1, 900), L = 0 })
    local behind = { c:octets(rdmap.send { MSN = 1, MO = 900, data = one:sub(901) }),
                     c:octets(rdmap.send { MSN = 2, data = two }), c:octets(rdmap.send { MSN = 3, data = three }) }
    local fill = send_behind(c, missing, behind, { 3, 2, 1 })
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
    local write = c:octets(m:write(100, data))
    local fill = send_behind(c, write, { c:octets(rdmap.send { data = pattern(600, 5) }) })
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
    local send = c:octets(rdmap.send { data = pattern(600) })
    local fill = send_behind(c, send, { c:octets(m:read(0, 0, { SinkSTag = 77 })) })
    still(c, "the Send before a Read Request is missing")
    fill()
    c:expect(rdmap.read_response { STag = 77, L = 1, data = "" }, { message = "the Send has come" })
    t:expect_deliveries(c, { pattern(600) }, "the Send is delivered before the Read is answered")
    c:probe()
  end,
}
