-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 A.3 and A.5.1: what MPA asks of the TCP and IP below it: octets that come again, SACK, and IP fragments.

-- Waits until condition() holds, as long as an answer of the device may take. Returns whether it holds.
local function await(t, condition)
  local waited, step = 0, math.min(math.max(t.round_trip, 0.001), 0.05)
  while not condition() and waited < t.reaction do
    rig.wait(step)
    waited = waited + step
  end
  return condition()
end

check {
  id = "MPA-A.3-01",
  role = "both",
  purpose = "TCP octets that were acknowledged come again with other contents and a matching CRC: they place nothing",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    local at = c.send_framing.position
    c:send(m:write(0, "the first data"))
    c:probe { message = "a Write" }
    m:patch(0, "the first data")
    m:check("the Write is placed")
    local now = c.send_framing.position
    c.send_framing.position = at
    local other = c:octets(m:write(0, "other contents"))
    c.send_framing.position = now
    c.tcp:raw { offset = at - now, octets = other }
    c:probe { message = "octets that were processed already, with other contents" }
    m:check("octets that were processed already place nothing")
  end,
}

-- Writes of which the first is missing: the device holds those after it, or drops them; only what it holds can it
-- report.
check {
  id = "MPA-A.3-02",
  role = "both",
  purpose = "a device that has agreed to SACK reports the octets that it holds after a gap",
  run = function(t)
    local c = t:open { sack = true }
    local m = t:memory()
    c:probe()
    if not c.tcp:status().peer_sack then t:skip("the device's TCP does not permit SACK in its SYN, which is information only") end
    local before = c.tcp:status()
    local first = c:octets(m:write(0, pattern(100, 1)))
    local held = c:octets(m:write(100, pattern(200, 2)))
    c.tcp:raw { offset = #first, octets = held }
    await(t, function() return c.tcp:status().sack_count > before.sack_count end)
    local reported = c.tcp:status()
    c.tcp:raw { octets = first, advance = true }
    c.tcp:skip(held)
    local filled = await(t, function() return c.tcp:unacknowledged() == 0 end)
    if not filled then t:fail("a gap of one TCP segment, and then that segment", "TCP acknowledges all of it", "it does not") end
    if c.tcp:status().retransmissions > before.retransmissions then
      t:note("the device dropped what came after the gap: there was nothing to report")
    elseif reported.sack_count == before.sack_count then
      t:warn("octets after a gap that the device held", "an ACK reports them in a SACK option", "no ACK has a SACK option")
    else
      local block = reported.sack[1]
      if block.from ~= #first or block.to ~= #first + #held then
        t:warn("the first block of SACK, counted from the gap's first octet", #first .. " to " .. #first + #held,
               block.from .. " to " .. block.to)
      end
    end
    m:patch(0, pattern(100, 1) .. pattern(200, 2))
    c:probe { message = "Writes, the second of which came first" }
    m:check("both Writes are placed")
  end,
}

-- The lower tester's TCP sends the segment again, whole, when the device does not acknowledge it.
local function fragmented(t, c, m, at, reversed)
  local how = reversed and "the last fragment first" or "in order"
  local before, refused = c.tcp:status().retransmissions, rig.unreachable()
  local octets = c:octets(m:write(at, pattern(600, at)))
  c:_stimulus()
  if not c.tcp:raw { octets = octets, advance = true, fragment_octets = 256, last_fragment_first = reversed } then
    t:inconclusive("the lower tester could not send a TCP segment in IP fragments")
  end
  if not await(t, function() return c.tcp:unacknowledged() == 0 end) then
    t:fail("a segment in IP fragments, " .. how .. ", and then the same segment whole", "TCP acknowledges it", "it does not")
  end
  m:patch(at, pattern(600, at))
  c:probe { message = "an FPDU whose TCP segment came in IP fragments, " .. how }
  if c.tcp:status().retransmissions == before then return end
  if c.acks_late then
    t:note("its TCP acknowledges later than the tester's repeats, whole segments, too")
  elseif rig.unreachable() > refused then
    t:note("an ICMP message said that the fragments were dropped")
  else
    t:warn("an FPDU whose TCP segment came in IP fragments, " .. how,
           "the fragments are put together, or an ICMP message says that they were dropped",
           "neither: the segment was acknowledged when it came again, whole")
  end
end

check {
  id = "MPA-A.5.1-02",
  role = "both",
  purpose = "an FPDU whose TCP segment comes in IP fragments is taken, in order and with the last fragment first",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:probe()
    local whole = pattern(600, 3) -- which nothing answers
    c:send(m:write(2000, whole))
    m:patch(2000, whole)
    c:await_acknowledged()
    c.acks_late = c.tcp:status().retransmissions > 0
    fragmented(t, c, m, 0, false)
    fragmented(t, c, m, 1000, true)
    m:check("both Writes are placed")
  end,
}
