-- SPDX-License-Identifier: BSD-2-Clause
--
-- DDP over SCTP (RFC 5043, RFC 6581 section 7, and the draft before them): an association, its streams and what they
-- carry. Each side knows its TSN, and for each stream the DDP-SSN and the next MSNs.

local Association, Side = {}, {}
Association.__index, Side.__index = Association, Side

local DEFAULTS <const> = {
  initiator = { address = "192.0.2.1", ipv6 = "fd00::1", mac = "02:00:00:00:00:01", port = 4420, tag = 0xABCD0000, initial_tsn = 1000 },
  responder = { address = "192.0.2.2", ipv6 = "fd00::2", mac = "02:00:00:00:00:02", port = 4421, tag = 0xABCD0001, initial_tsn = 2000 },
}
local ppid <const> = net.payload_protocols

local function new_side(a, role, given)
  given = given or {}
  only(given, "association." .. role, { "address", "mac", "port", "tag", "initial_tsn", "adaptation" })
  local defaults = DEFAULTS[role]
  local side = setmetatable({
    association = a, role = role, streams = {},
    address = given.address or (a.ipv6 and defaults.ipv6 or defaults.address),
    mac = given.mac or defaults.mac, port = given.port or defaults.port, tag = given.tag or defaults.tag,
    tsn = given.initial_tsn or defaults.initial_tsn,
    adaptation = given.adaptation or (a.draft and 2 or 1),
  }, Side)
  side.initial_tsn = side.tsn
  return side
end

-- association { ipv6 =, draft =, initiator = { address =, port =, tag =, initial_tsn =, adaptation = }, responder = }
function association(given)
  given = given or {}
  only(given, "association", { "ipv6", "draft", "initiator", "responder" })
  local a = setmetatable({ ipv6 = given.ipv6, draft = given.draft }, Association)
  a.initiator = new_side(a, "initiator", given.initiator)
  a.responder = new_side(a, "responder", given.responder)
  a.initiator.peer, a.responder.peer = a.responder, a.initiator
  return a
end

--------------------------------------------------------------------------------------------------------------------
-- Packets

-- An SCTP packet with these chunks (net.sctp); given: comment, tag, checksum.
function Side:packet(chunks, given)
  given = given or {}
  only(given, "packet", { "comment", "tag", "checksum" })
  local fields = { source_port = self.port, destination_port = self.peer.port,
                   tag = given.tag or self.peer.tag, checksum = given.checksum }
  for i, chunk in ipairs(chunks) do fields[i] = chunk end
  local frame = net.ip { ethernet_source = self.mac, ethernet_destination = self.peer.mac, source = self.address,
                         destination = self.peer.address, protocol = 132, payload = net.sctp(fields) }
  local a = self.association
  if a.held then
    a.held[#a.held + 1] = { frame = frame, comment = given.comment, inbound = self.role == "responder" }
  else
    return gen.packet(frame, given.comment, nil, self.role == "responder")
  end
end

-- One chunk in a packet, or after those that bundle() collects.
function Side:chunk(chunk, given)
  if self.bundled then
    self.bundled[#self.bundled + 1] = chunk
  else
    return self:packet({ chunk }, given)
  end
end

-- The chunks that `run` sends go in one packet.
function Side:bundle(run, given)
  self.bundled = {}
  run()
  local chunks = self.bundled
  self.bundled = nil
  return self:packet(chunks, given)
end

-- From here on packets wait for release().
function Association:hold() self.held = {} end

-- What was held, in `order` (indexes from 1): one that is missing there is lost, one that comes twice a duplicate.
function Association:release(order)
  local held = self.held or {}
  self.held = nil
  if not order then
    order = {}
    for i in ipairs(held) do order[i] = i end
  end
  for _, i in ipairs(order) do
    if not held[i] then error("there is no packet " .. tostring(i), 2) end
    gen.packet(held[i].frame, held[i].comment, nil, held[i].inbound)
  end
end

--------------------------------------------------------------------------------------------------------------------
-- What DDP sends

local function stream_of(side, sid)
  local stream = side.streams[sid]
  if stream == nil then
    stream = { ssn = side.association.draft and 1 or 0, msn = { [0] = 1, 1, 1, 1 }, ulpdu = Connection.ulpdu }
    side.streams[sid] = stream
  end
  return stream
end

-- DDP-SSN and MSNs of a stream begin anew, on this side: { ssn =, msn = { [0] = } } of it, to look at or to set.
function Side:stream(sid) return stream_of(self, sid) end
function Side:restart(sid) self.streams[sid] = nil end

-- A user message in as many DATA chunks as `fragment` (octets) makes of it. given: SID, PPID, fragment, comment.
function Side:user(octets, given)
  if given.fragment and (math.type(given.fragment) ~= "integer" or given.fragment < 1) then
    error("fragment: 1 octet or more was expected", 3)
  end
  local part, at, first = given.fragment or math.max(#octets, 1), 0, nil
  repeat
    local piece = octets:sub(at + 1, at + part)
    local number = self:chunk({ data = { unordered = true, first = at == 0, last = at + #piece >= #octets, tsn = self.tsn,
                                         sid = given.SID or 0, ppid = given.PPID, user = piece } },
                              { comment = given.comment })
    first = first or number
    self.tsn = self.tsn + 1
    at = at + #piece
  until at >= #octets
  return first
end

-- A DDP Segment: the frame's ULPDU after the DDP-SSN. given: SID, SSN, PPID, fragment, comment.
function Side:send(frame, given)
  given = given or {}
  only(given, "send", { "SID", "SSN", "PPID", "fragment", "comment" })
  local stream = stream_of(self, given.SID or 0)
  local ulpdu = type(frame) == "string" and frame or stream:ulpdu(frame)
  local ssn = given.SSN or stream.ssn
  stream.ssn = stream.ssn + 1 & 0xFFFF
  return self:user(string.pack(">I2", ssn) .. ulpdu, {
    SID = given.SID, PPID = given.PPID or (self.association.draft and ppid.draft_segment or ppid.segment), fragment = given.fragment,
    comment = given.comment })
end

-- A DDP Stream Session Control message: "Initiate", "Accept", "Reject", "Terminate", "Enhanced Initiate", "Enhanced
-- Accept", "Enhanced Reject", or a Function Code. given: SID, SSN, private_data, enhanced = { A, B, C, D, IRD, ORD },
-- comment.
function Side:control(code, given)
  given = given or {}
  only(given, "control", { "SID", "SSN", "private_data", "enhanced", "comment" })
  local number = net.session_codes[code] or code
  if type(number) ~= "number" then error("no session control message is called '" .. tostring(code) .. "'", 2) end
  local sid = given.SID or 0
  if number == net.session_codes["Initiate"] or number == net.session_codes["Enhanced Initiate"] then
    self:restart(sid)
    self.peer:restart(sid)
  end
  local stream = stream_of(self, sid)
  local octets = wire.pack("ddp_sctp_control", { SSN = given.SSN or stream.ssn, Code = number })
  stream.ssn = stream.ssn + 1 & 0xFFFF
  local word = given.enhanced
  if word == nil and (number == net.session_codes["Enhanced Initiate"] or number == net.session_codes["Enhanced Accept"]) then
    word = { IRD = 4, ORD = 4 }
  end
  return self:user(octets .. (word and wire.pack("mpa_enhanced", word) or "") .. (given.private_data or ""),
                   { SID = sid, PPID = ppid.control, comment = given.comment })
end

-- The draft's Stream Reset (by its table with PPID 2, by its text with 1): both kinds are seen.
function Side:stream_reset(sid, number)
  self:user(wire.pack("ddp_sctp_draft_control", { Code = 1 }), { SID = sid, PPID = number or ppid.draft_control })
  self:restart(sid)
end

--------------------------------------------------------------------------------------------------------------------
-- Associations

local function init(side, ack)
  return { init = { ack = ack, tag = side.tag, window = 65536, outbound = 4, inbound = 4, initial_tsn = side.initial_tsn,
                    adaptation = side.adaptation } }
end

function Association:open()
  self.initiator:packet({ init(self.initiator, false) }, { tag = 0 })
  self.responder:packet { init(self.responder, true) }
  self.initiator:packet { { type = net.chunk_types["COOKIE ECHO"], value = string.rep("\0", 16) } }
  return self.responder:packet { { type = net.chunk_types["COOKIE ACK"] } }
end

-- Everything up to `tsn` (default: all that the peer has sent) has come.
function Side:sack(tsn)
  return self:chunk { type = net.chunk_types["SACK"], value = string.pack(">I4I4I2I2", (tsn or self.peer.tsn - 1) & 0xFFFFFFFF, 65536, 0, 0) }
end

function Association:close()
  self.initiator:packet { { type = net.chunk_types["SHUTDOWN"], value = string.pack(">I4", self.responder.tsn - 1 & 0xFFFFFFFF) } }
  self.responder:packet { { type = net.chunk_types["SHUTDOWN ACK"] } }
  return self.initiator:packet { { type = net.chunk_types["SHUTDOWN COMPLETE"] } }
end
