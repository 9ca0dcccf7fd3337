-- SPDX-License-Identifier: BSD-2-Clause
--
-- A TCP connection as two streams of octets, and the packets that carry them: in order or not, twice, cut anywhere, or
-- not at all. Nothing is sent that the script does not say. The streams know what start-up agreed (Markers, CRC), the
-- place in the Marker grid and the next MSN, as the checks' connections do.

local Side, Flow = {}, {}
Side.__index, Flow.__index = Side, Flow

-- octets(), frame() and ulpdu() are those of the checks' connections (conformance/scripts/lib/2-connection.lua).
Side.ulpdu, Side.frame = Connection.ulpdu, Connection.frame

local DEFAULTS <const> = {
  initiator = { address = "10.77.0.1", ipv6 = "fd77::1", mac = "02:77:63:00:00:01", port = 40000, iss = 1000 },
  responder = { address = "10.77.0.2", ipv6 = "fd77::2", mac = "02:77:63:00:00:02", port = 7174, iss = 5000 },
}
local MSS <const>, MSS_IPV6 <const> = 1460, 1440
local FLOW_MEMBERS <const> = { "initiator", "responder", "ipv6", "mss", "vlan", "time", "identification", "push" }
local SIDE_MEMBERS <const> = { "address", "mac", "port", "iss", "window", "hop_limit", "traffic_class", "flow_label", "mss" }
local START <const> = { request = true, reply = true }

local function new_side(flow, role, given, ipv6)
  given = given or {}
  only(given, "flow." .. role, SIDE_MEMBERS)
  local defaults = DEFAULTS[role]
  return setmetatable({
    flow = flow, role = role,
    address = given.address or (ipv6 and defaults.ipv6 or defaults.address),
    mac = given.mac or defaults.mac,
    port = given.port or defaults.port,
    iss = given.iss or defaults.iss,
    mss = given.mss,
    fields = { window = given.window or 65535, hop_limit = given.hop_limit, traffic_class = given.traffic_class,
               flow_label = given.flow_label },
    stream = net.buffer(),
    sent = 0,        -- octets that left (or were lost)
    marks = { 0 },   -- where the units that were put into the stream begin, and the last one ends
    started = false,
    send_framing = { markers = false, crc = false, position = 0 },
    msn = { [0] = 1, 1, 1, 1 },
  }, Side)
end

-- flow { ipv6 =, mss =, vlan =, time =, identification =, push =, initiator = { address =, port =, iss =, ... },
-- responder = }
function flow(given)
  given = given or {}
  only(given, "flow", FLOW_MEMBERS)
  local f = setmetatable({
    mss = given.mss or (given.ipv6 and MSS_IPV6 or MSS), vlan = given.vlan, push = given.push ~= false,
    identification = given.identification or 1,
  }, Flow)
  f.initiator = new_side(f, "initiator", given.initiator, given.ipv6)
  f.responder = new_side(f, "responder", given.responder, given.ipv6)
  f.initiator.peer, f.responder.peer = f.responder, f.initiator
  if given.time then -- a clock of its own: its packets may lie between those of others
    f.clock = gen.clock() + gen.nanoseconds(given.time)
  end
  return f
end

--------------------------------------------------------------------------------------------------------------------
-- The stream

local function is_set(value) return value == true or type(value) == "number" and value ~= 0 end

-- What a start-up frame says of the framing: its sender's wish for Markers binds the peer, CRC holds as soon as one
-- asks.
local function agree(side, frame)
  local fields = frame.given
  if fields.raw then
    local _, read = wire.parse_start(fields.raw, frame.kind)
    if type(read) ~= "table" then return end
    fields = read
  end
  side.peer.send_framing.markers = is_set(fields.M)
  if fields.C == nil or is_set(fields.C) then
    side.send_framing.crc, side.peer.send_framing.crc = true, true
  end
end

-- The octets that a frame has here; the position in the Marker grid and the MSN go on.
function Side:octets(...)
  local out = {}
  for i, frame in ipairs(table.pack(...)) do
    if type(frame) == "string" then
      out[i] = frame
      if self.started then self.send_framing.position = self.send_framing.position + #frame end
    elseif type(frame) ~= "table" or frame.kind == nil then
      error("a frame was expected (rdmap.send { ... }, mpa.request { ... }, octets), not " .. type(frame), 2)
    elseif START[frame.kind] then
      out[i] = frame:octets()
      agree(self, frame)
      self.started = true
    else
      out[i] = self:frame(frame)
    end
  end
  return table.concat(out)
end

-- Puts frames into the stream, and sends nothing yet. Returns where they begin and end, in octets from 0.
function Side:put(...)
  local from = #self.stream
  for _, frame in ipairs { ... } do
    self.stream:append(self:octets(frame))
    self.marks[#self.marks + 1] = #self.stream
  end
  return from, #self.stream
end

-- Other octets in place of some that are in the stream already, from `at` (0: its first octet).
function Side:overwrite(at, octets)
  self.stream:put(at, octets)
end

-- What start-up would have agreed, where there is none: { markers =, crc =, position = } for what this side sends.
function Side:framing(given)
  only(given, "framing", { "markers", "crc", "position" })
  for name, value in pairs(given) do self.send_framing[name] = value end
  self.started = true
end

--------------------------------------------------------------------------------------------------------------------
-- Packets

local function has(flags, name, bit)
  if type(flags) == "number" then return flags & bit ~= 0 end
  return flags:find(name, 1, true) ~= nil
end

local OWN <const> = { from = true, to = true, comment = true, time = true, vlan = true }

-- One TCP segment. from, to: which octets of the stream it carries; or payload = octets. comment, time (seconds since
-- the capture's start), vlan; and any field of net.tcp, in place of what it would be. Returns its number in the
-- capture.
function Side:packet(given)
  given = given or {}
  local flow, peer = self.flow, self.peer
  local from, to = given.from or self.sent, given.to
  local payload = given.payload or (to and self.stream:sub(from, to)) or ""
  local flags = given.flags or (#payload > 0 and flow.push and "PSH ACK" or "ACK")
  local fields = {
    ethernet_source = self.mac, ethernet_destination = peer.mac,
    source = self.address, destination = peer.address,
    source_port = self.port, destination_port = peer.port,
    flags = flags, payload = payload, identification = flow.identification & 0xFFFF,
    sequence = self.iss + (has(flags, "SYN", 2) and 0 or 1) + from + (self.finished and from == self.sent and 1 or 0),
    acknowledgment = has(flags, "ACK", 16) and peer.iss + 1 + peer.sent + (peer.finished and 1 or 0) or 0,
  }
  for name, value in pairs(self.fields) do fields[name] = value end
  for name, value in pairs(given) do
    if not OWN[name] then fields[name] = value end
  end
  flow.identification = flow.identification + 1
  if to and to > self.sent then self.sent = to end
  if has(flags, "FIN", 1) then self.finished = true end
  local start, _, step = gen.clock()
  local time = given.time and start + gen.nanoseconds(given.time)
  if not time and flow.clock then
    flow.clock = flow.clock + step
    time = flow.clock
  end
  local frame, vlan = net.tcp(fields), given.vlan or flow.vlan
  return gen.packet(vlan and with_vlan(frame, vlan) or frame, given.comment, time, self.role == "responder")
end

-- All that is in the stream and not sent yet, in segments of at most `size` octets. Returns the first one's number.
function Side:flush(size, comment)
  local first
  size = size or self.mss or self.flow.mss
  if size <= 0 then size = MSS end
  while self.sent < #self.stream do
    local number = self:packet { from = self.sent, to = math.min(self.sent + size, #self.stream),
                                 comment = not first and comment or nil }
    first = first or number
  end
  return first
end

-- A comment may stand after the frames: send(frame, "comment: ...") would be octets, hence { comment = "..." }.
local function take_comment(frames)
  local last = frames[#frames]
  if type(last) == "table" and last.kind == nil and last.comment then
    frames[#frames] = nil
    return last.comment
  end
end

-- Frames (or octets) as the stream's next octets, in segments of the MSS.
function Side:send(...)
  local frames = { ... }
  local comment = take_comment(frames)
  self:put(table.unpack(frames))
  return self:flush(nil, comment)
end

-- One frame a segment.
function Side:send_each(...)
  local frames = { ... }
  local comment, first = take_comment(frames), nil
  for _, frame in ipairs(frames) do
    local number = self:send(frame, comment and { comment = comment } or nil)
    first = first or number
  end
  return first
end

-- Exact TCP segments: pieces of octets, in `order` (indexes from 1): one that is missing there is lost, one that comes
-- twice is a duplicate. Default: as they stand.
function Side:send_segments(pieces, order)
  local places = {}
  for i, piece in ipairs(pieces) do
    local from = #self.stream
    self.stream:append(piece)
    places[i] = { from = from, to = #self.stream }
  end
  self.marks[#self.marks + 1] = #self.stream
  if not order then
    order = {}
    for i in ipairs(pieces) do order[i] = i end
  end
  local first
  for _, i in ipairs(order) do
    if not places[i] then error("there is no segment " .. tostring(i), 2) end
    local number = self:packet { from = places[i].from, to = places[i].to }
    first = first or number
  end
  self.sent = #self.stream
  return first
end

-- Octets in segments of `size` each.
function Side:send_in_pieces(octets, size)
  local pieces = {}
  for at = 1, #octets, size do pieces[#pieces + 1] = octets:sub(at, at + size - 1) end
  return self:send_segments(pieces)
end

-- Sent, but not in the capture: frames, or all that is in the stream.
function Side:lose(...)
  self:put(...)
  self.sent = #self.stream
end

local function with(given, fields)
  local out = {}
  for name, value in pairs(given or {}) do out[name] = value end
  for name, value in pairs(fields) do
    if out[name] == nil then out[name] = value end
  end
  return out
end

function Side:syn(given)
  local mss = self.mss or self.flow.mss
  return self:packet(with(given, {
    flags = self.role == "initiator" and "SYN" or "SYN ACK",
    options = mss > 0 and string.pack(">BBI2", 2, 4, mss) or "",
  }))
end

function Side:ack(given) return self:packet(with(given, { flags = "ACK" })) end
function Side:fin(given) return self:packet(with(given, { flags = "FIN ACK" })) end
function Side:reset(given) return self:packet(with(given, { flags = "RST ACK" })) end

--------------------------------------------------------------------------------------------------------------------
-- Both sides

function Flow:handshake()
  self.initiator:syn()
  self.responder:syn()
  return self.initiator:ack()
end

-- The start-up frames, a segment each: fields of mpa.request and mpa.reply, or frames.
function Flow:start(request, reply)
  local frame = function(given, constructor)
    return given and (given.kind or type(given) == "string") and given or constructor(given or {})
  end
  self.initiator:send(frame(request, mpa.request))
  return self.responder:send(frame(reply, mpa.reply))
end

-- Handshake and start-up.
function Flow:open(request, reply)
  self:handshake()
  return self:start(request, reply)
end

-- Both FINs, and their ACKs.
function Flow:close()
  self.initiator:fin()
  self.responder:fin()
  return self.initiator:ack()
end

--------------------------------------------------------------------------------------------------------------------
-- Frames that a script returns

local function flattened(values, out)
  out = out or {}
  for i = 1, values.n or #values do
    local value = values[i]
    if type(value) == "table" and value.kind == nil and #value > 0 then
      flattened(value, out)
    elseif type(value) == "string" or type(value) == "table" and value.kind then
      out[#out + 1] = value
    else
      error("the script returned a " .. type(value) .. ", where a frame or octets were expected", 0)
    end
  end
  return out
end

-- Called by the program: each frame by itself, with CRC and without Markers unless start-up frames before it say
-- otherwise.
function gen.give_bare(...)
  local f = flow {}
  f.initiator:framing { crc = true }
  f.responder:framing { crc = true }
  for _, frame in ipairs(flattened(table.pack(...))) do
    local side = type(frame) == "table" and frame.kind == "reply" and f.responder or f.initiator
    gen.write(side:octets(frame), gen.tick(), type(frame) == "table" and describe(frame.inner or frame) or nil)
  end
end

-- Called by the program: the frames in a connection, sent by the initiator, after start-up frames if they hold none.
function gen.give_carried(...)
  local f, frames = flow {}, flattened(table.pack(...))
  local started = {}
  for _, frame in ipairs(frames) do
    if type(frame) == "table" then started[frame.kind] = true end
  end
  f:handshake()
  if not started.request then f.initiator:send(mpa.request {}) end
  if not started.reply and not started.request then f.responder:send(mpa.reply {}) end
  for _, frame in ipairs(frames) do
    local kind = type(frame) == "table" and frame.kind
    if kind == "request" then
      f.initiator:send(frame)
      if not started.reply then f.responder:send(mpa.reply {}) end
    elseif kind == "reply" then
      f.responder:send(frame)
    else
      f.initiator:send(frame)
    end
  end
  f:close()
end
