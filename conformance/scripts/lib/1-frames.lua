-- SPDX-License-Identifier: BSD-2-Clause
--
-- Frames out of fields. A frame is a table with a `kind`, the fields that were given (`given`), and a method octets().
-- The same constructors describe what is sent (fields that are not given have their proper value) and what is expected
-- (only the fields given are compared). Field names are those of wire/'s tables; `warpcheck explain` draws them.

local function new(class, kind, given)
  return setmetatable({ kind = kind, given = given or {} }, class)
end

local function copy(fields)
  local out = {}
  for k, v in next, fields or {} do out[k] = v end
  return out
end

local known = {}

-- The identifiers of a layout's fields, as a set.
local function names_of(layout)
  local names = known[layout]
  if names == nil then
    names = {}
    for _, name in ipairs(wire.fields(layout)) do names[name] = true end
    known[layout] = names
  end
  return names
end

-- Takes from `fields` those that `layout` has, and removes them there.
local function take(fields, layout)
  local names, out = names_of(layout), {}
  for name, value in next, fields do
    if names[name] then out[name] = value end
  end
  for name in next, out do fields[name] = nil end
  return out
end

-- The names of all fields that any layout so far has had, in order.
local function all_names()
  local names = { "data" }
  for _, layout in next, known do
    for name in next, layout do names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function nothing_left(fields, what)
  local name = next(fields)
  if name == nil then return end
  local hint = type(name) == "string" and wire.nearest(name, all_names()) or ""
  error(what .. " has no field called '" .. tostring(name) .. "'" .. hint, 3)
end

hex, unhex = wire.hex, wire.unhex

-- Octets of which no two neighbours, and no two runs of RUN, are the same: place i has i * 7 + i // RUN. Each run is a part of one
-- cycle, which rises by 7: the first octet of run r is 222 * r, and that stands at place 178 * r there (7 * 178 is 222 modulo 256).
local RUN = 251
local cycle

function distinct(count)
  if count > 0 and not cycle then
    local once = {}
    for i = 0, 255 do once[i + 1] = string.char(i * 7 & 0xFF) end
    cycle = table.concat(once):rep(2)
  end
  local out = {}
  for first = 0, count - 1, RUN do
    local place = first // RUN * 178 & 0xFF
    out[#out + 1] = cycle:sub(place + 1, place + math.min(RUN, count - first))
  end
  return table.concat(out)
end

--------------------------------------------------------------------------------------------------------------------
-- MPA start-up frames

local Start = {}
Start.__index = Start

-- given: fields of mpa_start; private_data (ULP octets); enhanced = { A, B, IRD, C, D, ORD } puts the word in front and
-- sets S and Rev 2; raw = octets that stand for the whole frame.
function Start:octets()
  local g = copy(self.given)
  if g.raw then return g.raw end
  local word = g.enhanced and wire.pack("mpa_enhanced", g.enhanced) or ""
  local private = word .. (g.private_data or "")
  g.enhanced, g.private_data = nil, nil
  local header = take(g, "mpa_start")
  nothing_left(g, self.kind)
  header.key = header.key or (self.kind == "request" and "MPA ID Req Frame" or "MPA ID Rep Frame")
  if header.Rev == nil then header.Rev = #word > 0 and 2 or 1 end
  if header.S == nil then header.S = #word > 0 end
  if header.C == nil then header.C = true end
  header.PD_Length = header.PD_Length or #private
  return wire.pack("mpa_start", header) .. private
end

mpa = {}
function mpa.request(given) return new(Start, "request", given) end
function mpa.reply(given) return new(Start, "reply", given) end

--------------------------------------------------------------------------------------------------------------------
-- DDP segments and RDMAP messages: each constructor knows its opcode's defaults

local Segment = {}
Segment.__index = Segment

-- One segment's ULPDU. Every header field may be given by its name; `data` is what follows the headers.
function Segment:octets()
  local f = copy(self.given)
  local d = self.defaults
  for k, v in next, d.fields do if f[k] == nil then f[k] = v end end
  local control = { RV = f.RV, Rsv = f.Rsv, Opcode = f.Opcode }
  local invalidate = f.InvalidateSTag or 0
  f.RV, f.Rsv, f.Opcode, f.InvalidateSTag = nil, nil, nil, nil
  local tail = d.header and wire.pack(d.header, take(f, d.header)) or ""
  local data = f.data or ""
  f.data = nil
  local control_octet = wire.pack("rdmap_control", control)
  local header
  if d.tagged then
    f.RsvdULP = f.RsvdULP or control_octet:byte()
    header = wire.pack("ddp_tagged", take(f, "ddp_tagged"))
  else
    f.RsvdULP = f.RsvdULP or (control_octet:byte() << 32 | invalidate)
    header = wire.pack("ddp_untagged", take(f, "ddp_untagged"))
  end
  nothing_left(f, d.name)
  return header .. tail .. data
end

local function segment(name, tagged, header, fields)
  local defaults = { name = name, tagged = tagged, header = header, fields = fields }
  fields.DV, fields.L, fields.RV, fields.T = 1, 1, 1, tagged and 1 or 0
  return function(given)
    local s = new(Segment, "segment", given)
    s.defaults = defaults
    s.name = name
    return s
  end
end

local function untagged(name, opcode, qn, header)
  return segment(name, false, header, { Opcode = opcode, QN = qn, MO = 0 })
end

rdmap = {
  write = segment("RDMA Write", true, nil, { Opcode = 0 }),
  read_request = untagged("RDMA Read Request", 1, 1, "read_request"),
  read_response = segment("RDMA Read Response", true, nil, { Opcode = 2 }),
  send = untagged("Send", 3, 0),
  send_invalidate = untagged("Send with Invalidate", 4, 0),
  send_se = untagged("Send with Solicited Event", 5, 0),
  send_se_invalidate = untagged("Send with Solicited Event and Invalidate", 6, 0),
  terminate = untagged("Terminate", 7, 2, "terminate"),
  immediate = untagged("Immediate Data", 8, 0, "immediate"),
  atomic_request = untagged("Atomic Request", 10, 1, "atomic_request"),
  atomic_response = untagged("Atomic Response", 11, 3, "atomic_response"),
}

-- Any ULPDU as it stands: raw.segment { data = octets }
raw = {}
function raw.segment(given)
  local s = new({ __index = { octets = function(self) return self.given.data end } }, "segment", given)
  s.name = "raw ULPDU"
  return s
end

--------------------------------------------------------------------------------------------------------------------
-- The FPDU around a segment, with overrides: fpdu(rdmap.send { data = "x" }, { crc_flip = 1 })
--   length, pad (octets), crc_value, crc_flip, crc_swapped, omit_crc, marker_index with marker_flip or marker_reserved,
--   markers and crc (as against what was agreed)

function fpdu(inner, overrides)
  return { kind = "fpdu", inner = inner, overrides = overrides or {} }
end

--------------------------------------------------------------------------------------------------------------------
-- What came: octets of a ULPDU read into one flat table of fields

local body_of = { [1] = "read_request", [7] = "terminate", [8] = "immediate", [9] = "immediate", [10] = "atomic_request",
                  [11] = "atomic_response" }

-- Some stacks lay the Terminate word out in the order of a little-endian host's bit-fields: Layer and EType exchanged,
-- M, D and R in the low bits of octet 2. That is a finding of its own (RDMAP-4.8-02); checks of something else read it
-- as meant: where only that reading has a meaning, where the flags stand there, or where the device is known for it
-- (`known`). The ULPDU stays as it came.
function read_terminate(out, known)
  local flags, rest = out.ulpdu:byte(21, 22)
  local low = flags & 0xF8 == 0 and flags ~= 0 and rest == 0
  local plain = out.Layer << 12 | out.EType << 8 | out.Code
  local swapped = out.EType << 12 | out.Layer << 8 | out.Code
  local unknown = function(value) return wire.describe(value):find("unregistered", 1, true) ~= nil end
  out.triple = plain
  if not unknown(swapped) and (known and flags & 0xE0 == 0 or low or unknown(plain)) then
    out.triple, out.Layer, out.EType, out.swapped = swapped, out.EType, out.Layer, true
    if low then out.M, out.D, out.R = flags & 1, flags >> 1 & 1, flags >> 2 & 1 end
  end
end

-- A message that ends within one of its headers has `cut`: what is cut, how many octets of it came, and how many it
-- has. Fields of that header, and of those that follow, are nil. `other_model`: the T bit is not that of its opcode, so
-- that it has the other header's fields.
function read_segment(ulpdu)
  local out = { kind = "segment", ulpdu = ulpdu, name = "DDP segment" }
  local tagged = (ulpdu:byte() or 0x80) & 0x80 ~= 0 -- the shorter header where nothing says which
  local layout = tagged and "ddp_tagged" or "ddp_untagged"
  if wire.unpack(layout, ulpdu, 1, out) == nil then
    out.cut = { what = "DDP header", octets = #ulpdu, due = wire.size(layout) }
    return out
  end
  wire.unpack("rdmap_control", ulpdu, 2, out)
  if not tagged then out.InvalidateSTag = out.RsvdULP & 0xFFFFFFFF end
  local name, by_opcode = wire.opcode(out.Opcode)
  out.name = name or string.format("opcode 0x%x", out.Opcode)
  out.other_model = name ~= nil and by_opcode ~= tagged
  local at = wire.size(layout) + 1
  local body = body_of[out.Opcode]
  if body and not tagged then
    if wire.unpack(body, ulpdu, at, out) then
      at = at + wire.size(body)
      if out.Opcode == 7 then read_terminate(out) end
    elseif out.L == 1 and out.MO == 0 then
      out.cut = { what = out.name .. " header", octets = #ulpdu + 1 - at, due = wire.size(body) }
    end
  end
  out.data = ulpdu:sub(at)
  return out
end

--------------------------------------------------------------------------------------------------------------------
-- One line for a frame, for messages

local shown = { "S", "M", "C", "R", "Rev", "Res", "PD_Length", "T", "L", "DV", "Rsvd", "RV", "Rsv", "QN", "MSN", "MO", "STag",
                "TO", "InvalidateSTag", "SinkSTag", "SinkTO", "RDMARDSZ", "SrcSTag", "SrcTO", "RequestId", "Value", "D" }
local in_hex = { STag = true, TO = true, InvalidateSTag = true, SinkSTag = true, SinkTO = true, SrcSTag = true,
                 SrcTO = true }

local function value_text(name, value)
  if type(value) == "function" then return "(any that fits)" end
  if type(value) == "boolean" then return value and "1" or "0" end
  if type(value) == "string" then return #value > 24 and (#value .. " octets") or hex(value) end
  if in_hex[name] then return string.format("0x%x", value) end
  return tostring(value)
end

local function fields_text(fields)
  local out = {}
  for _, name in ipairs(shown) do
    if fields[name] ~= nil then out[#out + 1] = name .. " " .. value_text(name, fields[name]) end
  end
  if fields.enhanced then
    local e = fields.enhanced
    local word = {}
    for _, name in ipairs { "A", "B", "C", "D", "IRD", "ORD" } do
      if e[name] ~= nil then word[#word + 1] = name .. " " .. value_text(name, e[name]) end
    end
    out[#out + 1] = "{" .. table.concat(word, " ") .. "}"
  end
  if fields.private_data ~= nil then out[#out + 1] = "private data " .. value_text("private_data", fields.private_data) end
  if type(fields.data) == "string" then
    local few = #fields.data > 0 and #fields.data <= 16
    out[#out + 1] = "len " .. #fields.data .. (few and " (" .. hex(fields.data) .. ")" or "")
  elseif fields.data ~= nil then
    out[#out + 1] = "data " .. value_text("data", fields.data)
  end
  return #out > 0 and (" " .. table.concat(out, " ")) or ""
end

local over_tcp = { fin = "FIN", reset = "RST", timeout = "nothing within the time limit", closed = "FIN or RST",
                   quiet = "nothing" }
local over_sctp = { fin = "the session's Terminate", reset = "the end of the association",
                    timeout = "nothing within the time limit", aborted = "nothing: the stream was aborted",
                    closed = "the end of the session or association", quiet = "nothing" }
local plain = over_tcp

-- Ends of streams are described in the words of this LLP from now on.
function describe_over(llp) plain = llp == "tcp" and over_tcp or over_sctp end

-- Text of an expectation or of what came.
-- What begins streams of other protocols, which listen where a device was looked for.
local foreign = {
  { "^HTTP/1%.%d", "HTTP" }, { "^%u+ %S+ HTTP/1%.%d", "HTTP" }, { "^SSH%-%d", "SSH" },
  { "^[\x14-\x17]\x03[\0-\4]", "TLS" }, { "^\0..[\xfe\xff]SMB", "SMB" }, { "^220[ -]", "SMTP or FTP" },
  { "^%* OK", "IMAP" }, { "^%+OK", "POP3" }, { "^\x05\0[\x0c-\x0f]", "DCE/RPC" },
}

-- ", but HTTP: HTTP/1.1 400 Bad Request", or ": 00ff12"
local function foreign_text(octets)
  for _, one in ipairs(foreign) do
    if octets:find(one[1]) then
      local line = octets:match("^[\x20-\x7e]+")
      return ", but " .. one[2] .. ": " .. (line and line:sub(1, 40) or hex(octets:sub(1, 16)))
    end
  end
  return ": " .. hex(octets:sub(1, 32))
end

-- ", S 1 Rev 2 PD_Length 0" of a start-up frame whose key is right: its length or its word is wrong, and what else it
-- holds is no part of that. nil: octets of something else.
local function start_text(wanted, octets)
  local keys = { ["MPA request"] = "MPA ID Req Frame", ["MPA reply"] = "MPA ID Rep Frame" }
  if octets:sub(1, 16) ~= keys[wanted] or #octets < 20 then return nil end
  local bits, rev, length = string.unpack(">BBI2", octets, 17)
  return string.format(": S %d Rev %d PD_Length %d", bits >> 4 & 1, rev, length)
end

function describe(frame)
  local fields = frame.given or frame
  if frame.kind == "request" or frame.kind == "reply" then
    return "MPA " .. (frame.kind == "request" and "Request" or "Reply") .. fields_text(fields)
  elseif frame.kind == "segment" then
    local triple = fields.triple
    if triple then -- on queue 2, the one message there: what is otherwise is said
      local odd = ""
      for _, usual in ipairs { { "QN", 2 }, { "MSN", 1 }, { "MO", 0 } } do
        if fields[usual[1]] ~= usual[2] then odd = odd .. ", " .. usual[1] .. " " .. tostring(fields[usual[1]]) end
      end
      return "Terminate " .. wire.describe(triple) .. odd
    end
    local cut = fields.cut and string.format(" with a cut header: %d of %d octets came", fields.cut.octets, fields.cut.due) or ""
    return (frame.name or "DDP segment") .. fields_text(fields) .. cut
  elseif frame.whole then
    local of = frame.due and string.format(" of %d", frame.due) or ""
    return string.format("%d%s octets of an %s, then %s", #frame.octets, of, frame.whole, plain[frame.ended] or frame.ended)
  elseif frame.unanswered then
    return "nothing after the tester's Terminate"
  elseif frame.kind == "garbage" then
    return "octets that are no " .. frame.wanted .. (start_text(frame.wanted, frame.octets) or foreign_text(frame.octets))
  elseif frame.kind == "bad_fpdu" then -- its length is no part of what is wrong with it
    return "an FPDU with a wrong " .. (frame.crc_ok and "Marker" or "CRC")
  end
  return plain[frame.kind] or frame.kind
end

-- Segments that came one after another, in few words: "RDMA Read Response STag 0x1 len 16, STag 0x2 len 16; Send MSN 1
-- len 4". The segments of one message are one.
function describe_messages(segments)
  local out, last, key, octets = {}, nil, nil, 0
  local function put()
    if key then out[#out] = out[#out] .. key .. " len " .. octets end
  end
  for _, segment in ipairs(segments) do
    local this = segment.STag and string.format("STag 0x%x", segment.STag) or "MSN " .. tostring(segment.MSN)
    if segment.name == last and this == key then
      octets = octets + #(segment.data or "")
    else
      put()
      out[#out + 1] = segment.name == last and ", " or (#out > 0 and "; " or "") .. segment.name .. " "
      last, key, octets = segment.name, this, #(segment.data or "")
    end
  end
  put()
  return table.concat(out)
end
