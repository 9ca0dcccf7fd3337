-- SPDX-License-Identifier: BSD-2-Clause
--
-- Conversations of the project's own corpus: a flow as flow {} makes it, with payloads that can be recognised, plain
-- TCP headers (no options, no PSH), and one identification for all connections of a capture.

-- The octets 1, 8, 15, ...: octet i is 7i + 1.
function counting(count)
  local out = {}
  for i = 0, count - 1 do out[#out + 1] = string.char(i * 7 + 1 & 0xFF) end
  return table.concat(out)
end

local Talk = {}
Talk.__index = Talk

-- talk { port =, ipv6 =, iss = { of both sides }, mss =, time = }; t.i and t.r are the sides.
function talk(given)
  given = given or {}
  only(given, "talk", { "port", "ipv6", "iss", "mss", "time" })
  local t = setmetatable({ given = given, port = given.port or 40000, iss = given.iss or { 100000, 900000 } }, Talk)
  t:anew()
  return t
end

-- Another connection: both streams empty.
function Talk:anew()
  local before = self.flow
  self.iss = { self.iss[1] + 1000, self.iss[2] + 5000 }
  self.flow = flow {
    mss = self.given.mss or 0, push = false, time = self.given.time, ipv6 = self.given.ipv6,
    identification = before and before.identification,
    initiator = { mac = "52:00:00:00:00:01", port = self.port, iss = self.iss[1] },
    responder = { mac = "52:00:00:00:00:02", iss = self.iss[2] },
  }
  self.i, self.r = self.flow.initiator, self.flow.responder
end

function Talk:handshake() self.flow:handshake() end

-- Handshake and start-up frames (fields of mpa.request and mpa.reply), a segment each.
function Talk:open(request, reply)
  self.flow:open(request, reply or request)
end

-- Both FINs cross.
function Talk:finish()
  local i, r = self.i, self.r
  i:fin()
  r:fin { acknowledgment = i.iss + 1 + i.sent }
  i:ack()
end

-- Messages whose payload is counting(octets).
function Talk.send(octets) return rdmap.send { data = counting(octets) } end
function Talk.write(stag, octets) return rdmap.write { STag = stag, TO = 0x1000, data = counting(octets) } end
function Talk.read(octets)
  return rdmap.read_request { SinkSTag = 0xA1, SinkTO = 0x1000, RDMARDSZ = octets, SrcSTag = 0xB1, SrcTO = 0x2000 }
end
function Talk.response(octets) return rdmap.read_response { STag = 0xA1, TO = 0x1000, data = counting(octets) } end
