-- SPDX-License-Identifier: BSD-2-Clause
--
-- The device posts work: what it sends then, what it completes (docs/writing-checks.md, "The device posts work").

-- What the device's "length" payloads hold.
function counted(octets)
  local out = {}
  for i = 1, math.min(octets, 251) do out[i] = string.char(i - 1) end
  local round = table.concat(out)
  return round:rep(octets // 251) .. round:sub(1, octets % 251)
end

-- A stream on which the device may send, and its number; c.first: the MSN of its next Send.
function Test:operating(dut, options)
  local given = copy_fields(options)
  given.dut = dut
  local c = self:open(given)
  c:probe()
  c.first = self.role == "initiator" and 2 or 1
  -- The Send that opened the stream is none of the check's.
  if self.role == "initiator" then self:collect_events(c, { send_done = true }, 1) end
  return c, self:stream_of(c)
end

-- The segments of the device's next message, as far as its octets tell, and their payload in a row. FAIL when it has no
-- end.
function Connection:receive_message(what)
  local segments, data = {}, {}
  repeat
    local got = self:receive()
    if got.kind ~= "segment" then
      self.t:fail(what, "the rest of the message", #segments .. " segments, then " .. describe(got))
    end
    segments[#segments + 1] = got
    local first = got.ulpdu:byte(1) or 0
    data[#data + 1] = got.ulpdu:sub((first & 0x80 ~= 0 and 14 or 18) + 1)
  until first & 0x40 ~= 0
  return segments, table.concat(data)
end

-- The same of a long message that is only to come to its end: of its later segments nothing but the L bit is looked at.
function Connection:pass_message(what)
  self.as_sent = true -- in whatever order: L = 1 is the last
  local got, count = self:receive(), 0
  while got.kind == "segment" do
    count = count + 1
    if (got.ulpdu:byte(1) or 0) & 0x40 ~= 0 then return end
    if self.t:over_sctp() then
      got = self:receive()
    else
      local f, instead = self:_take_fpdu(self.t.reaction)
      got = f or instead
      if f then f.kind = f.markers_ok and f.crc_ok and "segment" or "bad_fpdu" end
    end
  end
  self.t:fail(what, "the rest of the message", count .. " segments, then " .. describe(got))
end

-- The device's ULP posts an RDMA Read into this memory of its own. `given`: source_stag (1), source_to, length, id,
-- sink_to.
function Test:post_read(c, sink, given)
  local f = copy_fields(given)
  f.stream, f.sink_stag = self:stream_of(c), sink.STag
  f.sink_to, f.source_stag = f.sink_to or sink.TO, f.source_stag or 1
  self.dut:read(f)
end

-- Opcode of a segment as its octets have it.
function opcode_of(segment)
  return (segment.ulpdu:byte(2) or 0) & 0x0F
end

-- A verb that may be refused: true, or false and why.
function Test:try(verb, arguments)
  local answer = self:command(verb, arguments)
  return answer.ok, answer.error
end

-- Events of these kinds (a set) on the connection's stream: until `count` of them have come or the time is up. They are
-- taken, in their order.
function Test:collect_events(c, kinds, count, seconds)
  local number = self:stream_of(c)
  local deadline = rig.now() + (seconds or self.reaction)
  local wait = self:waits(deadline)
  local taken = {}
  self.events = self.events or {}
  while true do
    self:gather_events()
    local kept = {}
    for _, event in ipairs(self.events) do
      local wanted = #taken < count and event.stream == number and kinds[event.event]
      local list = wanted and taken or kept
      list[#list + 1] = event
    end
    self.events = kept
    if #taken >= count or rig.now() >= deadline then return taken end
    wait()
  end
end

-- "name id, name id, ..." of events.
function event_list(events)
  local out = {}
  for i, event in ipairs(events) do out[i] = event.event .. (event.id and " " .. math.tointeger(event.id) or "") end
  return #out == 0 and "none" or table.concat(out, ", ")
end

-- Read Requests while the tester's window is shut: the first has t.large octets, so that all of them stay open; the
-- others `octets`, or 16. Sinks are 1, 2, ... The tester knows that a response before has left; a moment later the
-- device does, too, and does not count it.
function Connection:shut_with_reads(m, count, octets)
  self:window(0)
  rig.wait(math.min(math.max(4 * self.t.round_trip, 0.02), 0.05))
  local frames = { m:read(0, self.t.large, { SinkSTag = 1 }) }
  for i = 2, count do frames[i] = m:read(i, octets or 16, { SinkSTag = i }) end
  self:send(table.unpack(frames))
  rig.wait(self.t.quiet / 4)
  self.shut_at = self:octets_received()
end

-- Has the device reset the stream, and nothing of it come since the tester's window was shut? A Terminate that was to
-- go before had no way, and the ULP's time to wait for it may have been over.
function Connection:reset_while_shut(got) return got.kind == "reset" and self:octets_received() == self.shut_at end

-- Their responses, of memory that holds one octet everywhere.
function Connection:expect_responses(count, message)
  for i = 1, count do
    local size, at = i == 1 and self.t.large or 16, 0
    repeat
      local got = self:expect(rdmap.read_response { STag = i }, { message = message .. ": response " .. i })
      at = at + #got.data
    until got.L == 1
    self.t:equal(message .. ": octets of response " .. i, size, at)
  end
end

-- Does the device leave Read Requests beyond its IRD in TCP until others are answered? That accepts none of them (RFC
-- 5040 6.1 names no error). A Send after so many requests shows it: it is not delivered while they wait.
-- `octets`: of each but the first; `before(c)` comes before them.
function Test:leaves_in_tcp(count, ird, octets, before)
  if not rig.has_upper_tester() or not self:reports_event("receive") then return false end
  local m = self:memory { octets = self.large }
  local c = self:open { dut = { ird = ird } }
  c:probe()
  if before then before(c) end
  c:shut_with_reads(m, count, octets)
  c:send(rdmap.send { data = "after them" })
  rig.wait(self.quiet)
  local early = #self:deliveries(c)
  c:window(65535)
  if early > 0 then return false end
  self:note(string.format("%d Read Requests with an IRD of %d: what is beyond it waits in TCP", count, ird))
  return true
end
