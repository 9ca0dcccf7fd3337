-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 9: how large DDP Segments are, and what is done with fragments.

defaults { llp = "sctp" }

-- Octets of a packet over Ethernet with IPv4 that a DATA chunk with user data of 0 octets takes: IP, SCTP's common header, chunk header.
-- Where SCTP goes in UDP datagrams (RFC 6951) there is less room for all; a device that sends less than this leaves is right.
local MTU, IPV4, IPV6, COMMON, CHUNK, SACK = 1500, 20, 40, 12, 16, 16
local CONTROL_MOST = 516 -- DDP-SSN, Function Code and 512 octets

local function room(t)
  return MTU - (t:over_ipv6() and IPV6 or IPV4) - COMMON
end

-- The user messages of the device while its ULP sends 64 KiB: all chunks of the SID until the last segment came.
local function bulk(t)
  local port = t.role == "responder" and t:listen {} or nil
  local a = t:sctp_open { tester = { port = port }, dut = {} }
  a:probe(a.sid)
  local stream = a.stream
  if not stream then
    local event = t:await_event("accepted", { port = port, sid = a.sid })
    if not event then t:inconclusive("the upper tester does not tell of the session") end
    stream = event.stream
  end
  t.dut:send { stream = stream, length = 65536 }
  local chunks, octets = {}, 0
  while octets < 65536 do
    local got, why = a:receive(a.sid)
    if not got then t:inconclusive("the device's Send of 64 KiB breaks off: " .. why) end
    chunks[#chunks + 1] = got
    if got.flags & 0x03 ~= 0x03 then return chunks end -- a fragment
    if got.kind == "segment" then octets = octets + #got.segment.data end
  end
  return chunks
end

local function longest(chunks)
  local most = 0
  for _, chunk in ipairs(chunks) do most = math.max(most, #chunk.data) end
  return most
end

check {
  id = "SCTP5043-9-05",
  also = { "SCTP5043-9-01" },
  role = "both",
  purpose = "segments of a long message are no longer than a packet takes, so that SCTP does not fragment them",
  requires = "upper_tester",
  run = function(t)
    for _, chunk in ipairs(bulk(t)) do
      if chunk.flags & 0x03 ~= 0x03 then
        t:fail("a Send of 64 KiB", "DATA chunks with B = 1 and E = 1", string.format("flags 0x%02x, %d octets", chunk.flags, #chunk.data))
      end
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
    if most > room(t) - CHUNK or chunks[#chunks].flags & 0x03 ~= 0x03 then
      t:warn("a Send of 64 KiB", "at most " .. room(t) - CHUNK .. " octets in a DATA chunk, each whole", most .. " octets, or fragments")
    end
  end,
}

check {
  id = "SCTP5043-9-06",
  role = "both",
  purpose = "the largest segment leaves room for a control chunk in its packet",
  requires = "upper_tester",
  run = function(t)
    local most = longest(bulk(t))
    if most > room(t) - CHUNK - SACK then
      t:warn("a packet with a DATA chunk of full size", SACK .. " octets or more are free for a SACK",
             math.max(0, room(t) - CHUNK - most) .. " octets are free")
    end
  end,
}

check {
  id = "SCTP5043-9-03",
  role = "both",
  purpose = "a control message with 512 octets of Private Data is carried, both ways",
  run = function(t)
    local data = distinct(CONTROL_MOST - 4)
    if t.role == "initiator" then
      local a = t:associate { dut = { private_data = hex(data) } }
      a:expect_control(0, "Initiate", "an Initiate with 512 octets of Private Data", { data = data })
      a:control(0, "Accept", { data = data })
      a:probe(0, "after an Accept with 512 octets of Private Data")
      return
    end
    local port = rig.has_upper_tester() and t:listen { private_data = hex(data), enhanced = false } or nil
    local a = t:associate { tester = { port = port } }
    a:control(0, "Initiate", { data = data })
    a:expect_control(0, "Accept", "an Initiate with 512 octets of Private Data is accepted", { data = port and data or nil })
    a:probe(0)
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
