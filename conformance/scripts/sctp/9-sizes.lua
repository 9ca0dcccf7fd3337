-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 9: how large DDP Segments are, and what is done with fragments.

defaults { llp = "sctp" }

-- Octets of SCTP's common header, of a DATA chunk's header, and of a SACK without gaps.
local COMMON <const>, CHUNK <const>, SACK <const> = 12, 16, 16
local IPV4 <const>, IPV6 <const> = 20, 40
local PRIVATE_MOST <const> = 512 -- octets of Private Data: with DDP-SSN and Function Code 516 in all

-- A session whose ULP sends on request: the association, and the device's number of the stream.
local function sending(t)
  local port = t.role == "responder" and t:listen {} or nil
  local a = t:sctp_open { tester = { port = port }, dut = {} }
  a.port = port
  a:probe(a.sid)
  return a, a:stream_number(a.sid)
end

-- The user messages of the device while its ULP sends 64 KiB: all chunks of the SID until the last segment came.
local BULK <const> = 65536
local function bulk(t)
  local a, stream = sending(t)
  t.dut:send { stream = stream, length = BULK }
  local chunks, octets, inside = {}, 0, 0
  while octets < BULK do
    local got, why = a:receive(a.sid)
    if not got then t:inconclusive("the device's Send of 64 KiB breaks off: " .. why) end
    chunks[#chunks + 1] = got
    if got.flags & 0x03 == 0x03 then
      if got.kind == "segment" then octets = octets + #got.segment.data end
    else -- of a fragmented message only the first fragment has headers
      inside = got.flags & 0x02 ~= 0 and #got.data - 2 - (got.data:byte(3) & 0x80 ~= 0 and 14 or 18) or inside + #got.data
      if got.flags & 0x01 ~= 0 then octets = octets + inside end
    end
  end
  table.sort(chunks, function(x, y) return (x.tsn - y.tsn) & 0xFFFFFFFF >= 0x80000000 end)
  return chunks
end

local function longest(chunks)
  local most = 0
  for _, chunk in ipairs(chunks) do most = math.max(most, #chunk.data) end
  return most
end

-- Octets of the longest packet that the path has taken in one piece: what the device has measured itself by.
local function path_octets(chunks)
  local most = 0
  for _, chunk in ipairs(chunks) do
    if not chunk.fragmented then most = math.max(most, chunk.packet_octets) end
  end
  return most
end

check {
  id = "SCTP5043-9-05",
  role = "both",
  purpose = "SCTP fragments no message that a packet of the path takes",
  requires = "upper_tester",
  run = function(t)
    local chunks = bulk(t)
    local path, octets, first = path_octets(chunks), 0, nil
    for _, chunk in ipairs(chunks) do
      if chunk.flags & 0x02 ~= 0 then octets, first = 0, chunk end
      octets = octets + #chunk.data
      if chunk.flags & 0x01 ~= 0 and first ~= chunk and COMMON + CHUNK + octets <= path then
        t:fail("a user message of " .. octets .. " octets, where a packet of " .. path .. " octets has gone through in one piece",
               "one DATA chunk with B = 1 and E = 1", "fragments")
      end
    end
  end,
}

check {
  id = "SCTP5043-9-01",
  role = "both",
  purpose = "DDP is told the longest segment, and no segment is longer",
  requires = "upper_tester",
  run = function(t)
    local a, stream = sending(t)
    local most = t:instrument("status", { stream = stream }).mulpdu
    t.dut:send { stream = stream, length = BULK }
    local octets = 0
    while octets < BULK do
      local got, why = a:receive(a.sid)
      if not got then t:inconclusive("the device's Send of 64 KiB breaks off: " .. why) end
      if got.kind ~= "segment" then t:fail("the device's Send of 64 KiB", "segments alone", a:words(got)) end
      if #got.data > most + 2 then
        t:fail("the longest segment that DDP is told of has " .. most .. " octets", "user messages of " .. most + 2 .. " octets at most",
               #got.data .. " octets")
      end
      if got.flags & 0x03 ~= 0x03 then t:skip("SCTP fragments the segments: SCTP5043-9-05 looks at that") end
      octets = octets + #got.segment.data
    end
    if most > 0xFFFF - (t:over_ipv6() and 0 or IPV4) - COMMON - CHUNK then
      t:fail("the longest segment that DDP is told of", "one that an IP packet can have", most .. " octets")
    end
  end,
}

check {
  id = "SCTP5043-9-02",
  role = "both",
  purpose = "the largest segment fits a packet without fragmentation",
  requires = "upper_tester",
  run = function(t)
    local chunks = bulk(t)
    local most = longest(chunks)
    for _, chunk in ipairs(chunks) do
      local cut = chunk.fragmented and "IP" or chunk.flags & 0x03 ~= 0x03 and "SCTP" or nil
      if cut and (cut == "IP" or most > PRIVATE_MOST + 4) then
        t:warn("a Send of 64 KiB", "segments that IP and SCTP need not fragment", "fragments of " .. cut)
      end
    end
  end,
}

check {
  id = "SCTP5043-9-06",
  role = "both",
  purpose = "the largest segment leaves room for a control chunk in its packet",
  requires = "upper_tester",
  run = function(t)
    local room = rig.mtu() - (t:over_ipv6() and IPV6 or IPV4) - COMMON - CHUNK
    for _, chunk in ipairs(bulk(t)) do
      if not chunk.fragmented and #chunk.data > room - SACK then
        t:warn("a packet with a DATA chunk of full size", SACK .. " octets or more are free for a SACK",
               math.max(0, room - #chunk.data) .. " octets are free")
      end
    end
  end,
}

-- Paths that are too narrow for a control message with all its Private Data, in octets; and one where reading A of 9-04
-- differs from B.
local NARROW <const>, NEAR <const> = 512, 576

-- The path of the device's association becomes so narrow: false where nobody can tell the device. An IPv6 path is never
-- narrower than 1280.
local function narrow(t, a, mtu)
  if t:over_ipv6() or not rig.has_upper_tester() then return false end
  local up = a.number == nil and t:await_event("association_up", a.port and { port = a.port } or nil, t.quiet)
  local number = up and up.association or a.number
  return number ~= nil and t:command("set_mtu", { association = number, mtu = mtu }).ok == true
end

-- The next user message on the SID, put together where SCTP has fragmented it.
local function whole(a, sid)
  local got, why = a:receive(sid)
  if not got or got.flags & 0x03 == 0x03 then return got, why end
  local data, part = got.data, got
  while part.flags & 0x01 == 0 do
    part, why = a:receive(sid)
    if not part then return nil, why end
    data = data .. part.data
  end
  got.data = data
  return a:read(got), true
end

-- FAIL unless the device's control message has come, in whatever pieces, with these octets.
local function expect_whole(t, a, sid, name, data, what)
  local got, why = whole(a, sid)
  if not (got and got.kind == "control" and got.code == sctp[name] and (data == nil or got.private_data == data)) then
    t:fail(what, name .. (data and " with " .. #data .. " octets of Private Data" or ""), a:words(got, why))
  end
  return got
end

check {
  id = "SCTP5043-9-03",
  role = "both",
  purpose = "a control message with 512 octets of Private Data is carried, both ways, and on a path that is too narrow for it",
  run = function(t)
    local data = distinct(PRIVATE_MOST)
    if t.role == "initiator" then
      local a = t:associate { dut = { private_data = hex(data) } }
      local got = expect_whole(t, a, nil, "Initiate", data, "an Initiate with 512 octets of Private Data")
      a.sid = got.sid
      a:control(a.sid, "Accept", { data = data })
      a:probe(a.sid, "after an Accept with 512 octets of Private Data")
      if not (a:other() and narrow(t, a, NARROW)) then return end
      a:ask { private_data = hex(data), enhanced = false, sid = a:other() }
      expect_whole(t, a, a:other(), "Initiate", data, "an Initiate with 512 octets of Private Data at a path MTU of " .. NARROW)
      a:control(a:other(), "Accept", { data = data })
      a:probe(a:other(), "after it")
      return
    end
    for n = 1, 2 do
      local port = rig.has_upper_tester() and t:listen { private_data = hex(data), enhanced = false } or nil
      local a = t:associate { tester = { port = port } }
      a.port = port
      if n == 2 and not narrow(t, a, NARROW) then return end
      local what = "an Initiate with 512 octets of Private Data is accepted" .. (n == 2 and " at a path MTU of " .. NARROW or "")
      a:control(0, "Initiate", { data = data })
      expect_whole(t, a, 0, "Accept", port and data or nil, what)
      a:probe(0)
    end
  end,
}

check {
  id = "SCTP5043-9-04",
  role = "both",
  purpose = "whether 516 octets are the user message or the DDP Segment: both are taken, and the device's own longest one tells",
  requires = "upper_tester",
  run = function(t)
    local a, stream = sending(t)
    local memory = t:memory { octets = 1024, access = { "write", "read" } }
    local payload = pattern(PRIVATE_MOST + 4 - 14, 1) -- a tagged header has 14 octets
    a:segment(a.sid, memory:write(0, payload))
    memory:patch(0, payload)
    a:probe(a.sid, "a segment of 516 octets, in a user message of 518")
    memory:check("a segment of 516 octets, in a user message of 518")
    if not narrow(t, a, NEAR) then t:skip("nobody can tell the device of a path MTU of " .. NEAR) end
    t.dut:send { stream = stream, length = BULK }
    local most, octets = 0, 0
    while octets < BULK do
      local got, why = whole(a, a.sid)
      if not (got and got.kind == "segment") then t:inconclusive("the device's Send of 64 KiB breaks off: " .. a:words(got, why)) end
      octets = octets + #got.segment.data
      most = math.max(most, #got.data - 2)
    end
    if most == PRIVATE_MOST + 4 then t:ambiguous("B: they are the DDP segment, so the user message is 518") end
    if most == PRIVATE_MOST + 2 then t:ambiguous("A: 516 octets are the whole user message") end
    t:skip("the device's longest segment has " .. most .. " octets at a path MTU of " .. NEAR .. ": it does not come from the limit of 516")
  end,
}

check {
  id = "SCTP5043-9-08",
  role = "both",
  sandwich = "startup",
  purpose = "a segment in two DATA chunks is put together, or ends its session",
  run = function(t)
    local a = t:sctp_open()
    local octets = string.pack(">I2", a.next_ssn[a.sid]) .. a:octets(a.sid, empty_read(PROBE_STAG))
    local first = { sid = a.sid, ppid = sctp.segment, flags = 0x06, data = octets:sub(1, 20) } -- U, B
    a:chunk(first)
    a:chunk { sid = a.sid, ppid = sctp.segment, flags = 0x05, data = octets:sub(21) } -- U, E
    a:expect_acknowledged("two fragments of a segment")
    local got, why = a:receive(a.sid)
    if got and got.kind == "segment" and fits(rdmap.read_response {}, got.segment) then
      t:ambiguous("A: a fragmented segment is put together")
    elseif got and (got.kind == "control" and got.code == sctp.Terminate or got.kind == "segment" and got.segment.Opcode == 7) then
      t:ambiguous("B: it ends the session")
    end
    t:fail("a segment in two DATA chunks", "the answer to it, or the end of the session", got and got.kind or why)
  end,
}
