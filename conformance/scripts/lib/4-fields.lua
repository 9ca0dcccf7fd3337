-- SPDX-License-Identifier: BSD-2-Clause
--
-- Which field it is that is not as it should be: failures that differ in the same field of the same kind of message
-- have one cause, "send-msn", whether a check compared a segment with an expectation, numbers that its text names, or
-- octets of a header. Rules name the same (rule_because_field() in conformance/rules).

local RESPONSE, TERMINATE = 2, 7 -- opcodes
local RECENT = 64 -- so many segments, and up to twice as many, are kept to find octets in

-- The cause "send-msn" and its hint (wire/hint_field.h). `kind`: an opcode, or "reply".
local function named(field, kind)
  if not field or not kind then return nil end
  local name, hint = wire.hint_field(kind, field)
  if name == "atomic-response-value" then return atomic_cause() end
  return name, hint
end

-- A segment of the device, with the octets of its FPDU, which may have Markers inside; nil over SCTP. `place`: of its
-- last octet, as rig.looked() gives it; nil is that of what was read last.
function Connection:_observe(segment, octets, marked, place)
  local recent = self.t.recent
  recent[#recent + 1] = { segment = segment, octets = octets or segment.ulpdu, at = octets and 2 or 0, marked = marked,
                          place = octets and (place or rig.looked()) or nil }
  if #recent == 2 * RECENT then self.t.recent = table.move(recent, RECENT + 1, 2 * RECENT, 1, {}) end
  if segment.Opcode == RESPONSE and segment.L == 1 then self.answers = (rawget(self, "answers") or 0) + 1 end
  if segment.cut or segment.other_model then self.t.lacking = self.t.lacking or segment end
  self:_suspect_header(segment)
  if segment.SinkSTag then self:_suspect_request(segment) end
end

-- RFC 5044 7.1.2: no FPDU of the Responder comes before the first one of the Initiator, which the tester has not sent
-- yet.
function Connection:_suspect_first()
  local octets = self.tcp:read(0, 0)
  if #octets == 0 then return end
  local used, f = wire.parse_fpdu(octets, self.receive_framing)
  if used and not (f.markers_ok and read_segment(f.ulpdu).Opcode == TERMINATE) then
    self.t:suspect("responder-sends-first", "the responder sends an FPDU before it had one")
  end
end

local function is_registered(triple) return not wire.describe(triple):find("unregistered", 1, true) end

-- The cause of a Terminate with this triple where no Terminate, or another one, is due; nil: a triple that no text
-- registers.
function terminate_cause(triple)
  if triple == nil or not is_registered(triple) then return "terminate-unregistered", "Terminates have an error that no text registers" end
  return string.format("terminate-0x%04x-for-message", triple), "Terminate " .. wire.describe(triple) .. " in place of what was due"
end

-- The value that an atomic shows, or leaves in memory: one computation.
function atomic_cause() return wire.hint_seen("atomic-value") end

-- A Terminate that is wrong by itself, where the octets of it differ: its error, or the header that it quotes.
local function terminate_octets(t, due, sent, first, at)
  if at >= 22 then return "terminate-quotes-other", "Terminates quote another header than the one that they are about" end
  local last = t.recent[#t.recent].segment
  local want, got = due:sub(first, first + 1), sent:sub(first, first + 1)
  if at == 18 and want:byte() >> 4 == got:byte() & 15 and want:byte() & 15 == got:byte() >> 4 then
    return "terminate-layer-etype-exchanged", "Layer and EType of Terminates stand in each other's place"
  end
  if last.triple and not is_registered(last.triple) then return terminate_cause(nil) end
end

-- So many octets came in place of those that are due.
function octets_cause(due, sent)
  if due > sent then return wire.hint_seen("octets-missing") end
  return wire.hint_seen("octets-undue")
end

local function latest(t) return t.recent[#t.recent] and t.recent[#t.recent].segment end

--------------------------------------------------------------------------------------------------------------------
-- Octets

local layouts = {
  tagged = { { 2, "STag" }, { 6, "TO" } },
  untagged = { { 2, "InvalidateSTag" }, { 6, "QN" }, { 10, "MSN" }, { 14, "MO" } },
  [1] = { { 18, "SinkSTag" }, { 22, "SinkTO" }, { 30, "RDMARDSZ" }, { 34, "SrcSTag" }, { 38, "SrcTO" }, { 46 } },
}

-- The field that octet `at` of a ULPDU is of, where `due` should stand in place of `sent`; nil: of none that is named.
local function field_at(segment, at, due, sent)
  local differ = due ~ sent
  if at == 0 then
    return differ & 0x80 ~= 0 and "T" or differ & 0x3C ~= 0 and "Rsvd" or differ & 0x03 ~= 0 and "DV" or "L"
  elseif at == 1 then
    return differ & 0xC0 ~= 0 and "RV" or differ & 0x30 ~= 0 and "Rsv" or "Opcode"
  end
  local tagged, found = segment.T == 1, nil
  for _, list in ipairs { tagged and layouts.tagged or layouts.untagged, not tagged and layouts[segment.Opcode] or {} } do
    for _, row in ipairs(list) do
      if at >= row[1] then found = row[2] end
    end
  end
  if tagged and at >= 14 or not tagged and at >= 18 and not layouts[segment.Opcode] then return nil end
  return found
end

-- A field of this segment that is wrong whatever else came.
local function odd_field(segment)
  if segment.Opcode == nil then return nil end
  local name, tagged, queue = wire.opcode(segment.Opcode)
  if segment.Rsvd ~= 0 then return "Rsvd" end
  if segment.Rsv ~= 0 then return "Rsv" end
  if name == nil then return "Opcode" end
  if not tagged and segment.T == 0 and segment.QN ~= queue then return "QN" end
  if segment.T == 0 and segment.MSN == 0 then return "MSN" end
end

--------------------------------------------------------------------------------------------------------------------
-- Words

local words = { MSN = "MSN", QN = "QN", MO = "MO", TO = "TO", STag = "STag", SinkSTag = "SinkSTag", SinkTO = "SinkTO", RDMARDSZ = "RDMARDSZ",
                SrcSTag = "SrcSTag", SrcTO = "SrcTO", RsvdULP = "RsvdULP", opcode = "Opcode", L = "L", T = "T", RV = "RV", DV = "DV",
                Rsv = "Rsv", OCTETS = "OCTETS", IRD = "IRD", ORD = "ORD", PD_Length = "PD_Length", ULPDU_Length = "ULPDU_Length", DDPSegmentLength = "Length" }
local words_of_request = { SinkSTag = true, SinkTO = true, RDMARDSZ = true, SrcSTag = true, SrcTO = true }
local of_start = { IRD = true, ORD = true, PD_Length = true }

-- Kinds of messages as texts name them; the first that is found.
local spoken = { { "Atomic Response", "atomic-response" }, { "Atomic Request", "atomic-request" }, { "Read Request", "read-request" },
                 { "Read Response", "read-response" }, { "Immediate Data", "immediate" }, { "Terminate", "terminate" }, { "Write", "write" },
                 { "Send", "send" }, { "[Rr]eads?", "read-request" } }

local function spoken_family(t, message, field)
  if of_start[field] then return t.role == "responder" and "reply" or "request" end
  if field == "ULPDU_Length" then return "fpdu" end
  if field == "Length" then return TERMINATE end
  local opcode = tonumber(message:match("opcode (%x+)%f[%X]") or "", 16)
  if opcode then return opcode end
  for _, row in ipairs(spoken) do
    if message:find("%f[%w]" .. row[1]) then return row[2] end
  end
  local last = latest(t)
  return last and last.Opcode
end

local function tokens(text)
  local out = {}
  for token in text:gmatch("%S+") do out[#out + 1] = token end
  return out
end

-- "MSN of a Send", "opcode, QN and MSN": the fields that a text names, in their order.
local function fields_of(message)
  local out = {}
  message = message:gsub("reserved bits", "Rsv"):gsub(" and octets of ", " and OCTETS of "):gsub("Invalidate STag", "InvalidateSTag"):gsub("DDP Segment Length", "DDPSegmentLength"):gsub("[%a_]+ %d%x*%f[%X]", ""):gsub("but for %a+", "")
  for word in message:gmatch("[%a_]+") do
    local field = word == "InvalidateSTag" and word or words[word]
    if field then out[#out + 1] = field end
  end
  return out
end

-- The field of a text that names as many as there are numbers.
local function spoken_field(t, message, expected, actual)
  local due, sent = tokens((expected:gsub(" and %d+ more$", ""):gsub("^at most ", ""):gsub("^at least ", ""):gsub(",? or %a+$", ""))), tokens(actual)
  local last = latest(t)
  local unregistered = last and last.triple and not is_registered(last.triple) and message:find("Terminate")
  if message:find("^Layer and EType") or unregistered then return nil, nil, last end
  if #due ~= #sent then return nil end
  for i = 1, #due do
    if not (due[i] .. sent[i]):find("^%w+$") or not sent[i]:find("^%d") and not sent[i]:find("^%x+$") then return nil end
  end
  for _, text in ipairs { message:match(": ([^:]*)$") or message, message } do
    local fields = fields_of(text)
    for i = 1, #fields == #due and #due or 0 do
      if due[i] ~= sent[i] then
        if fields[i] == "T" and last and last.Opcode == TERMINATE then return nil, nil, last end
        return fields[i], spoken_family(t, message, fields[i])
      end
    end
  end
  if #due == 1 and #due[1] == 2 and (message:find("octet 1$") or message:find("RV and opcode$")) and (due[1] .. sent[1]):find("^%x+$") then
    local differ = tonumber(due[1], 16) ~ tonumber(sent[1], 16)
    return differ & 0xC0 ~= 0 and "RV" or differ & 0x30 ~= 0 and "Rsv" or "Opcode", spoken_family(t, message, "Opcode")
  end
  if #due == 1 and (message:find("control octet") or message:find("octet 0") or message:find("octets 0 and 1") or message:find("first two octets")) then
    if last and last.Opcode == TERMINATE and not message:find("Terminate") then return nil, nil, last end
    if last and odd_field(last) then return odd_field(last), last.Opcode end
  end
end

-- "IRD 3 or more, ORD 5 or less", and "IRD 3, ORD 512".
local function keyed_field(t, _, expected, actual)
  for field, number, bound in (expected .. ","):gmatch("(%u%u%u?) (%d+)([^,]*),") do
    local sent = tonumber((actual .. ","):match(field .. " (%d+)[^,]*,"))
    local due = tonumber(number)
    local fits = sent == due or sent and (bound:find("or more") and sent > due or bound:find("or less") and sent < due)
    if sent and not fits and words[field] then return field, spoken_family(t, "", field) end
  end
end

-- Octets of fields that a text names, one after another: "QN, MSN and MO".
local function named_octets_field(t, message, first, octets)
  local header = { InvalidateSTag = 2, QN = 6, MSN = 10, MO = 14 }
  local fields = fields_of(message)
  local start = #fields * 4 == octets and header[fields[1]]
  for _, row in ipairs(start and layouts.untagged or {}) do
    if start + first - 1 < row[1] + 4 then return row[2], spoken_family(t, message, row[2]) end
  end
end

-- The field in which octets that came differ first from those that are due, as hexadecimal digits; its kind; and a
-- Terminate that came in place of what was due.
local function octets_field(t, message, expected, actual)
  if #expected ~= #actual or #actual < 4 or #actual % 2 ~= 0 or not (expected .. actual):find("^%x+$") or expected == actual then return nil end
  local due, sent = unhex(expected), unhex(actual)
  local first = 1
  while due:byte(first) == sent:byte(first) do first = first + 1 end
  if message == "Key" then return "Key", t.role == "responder" and "reply" or "request" end
  local last = t.recent[#t.recent]
  if last and last.segment.Opcode == TERMINATE and not message:find("Terminate") and #sent >= 8 and last.octets:find(sent, 1, true) then
    return nil, nil, last.segment
  end
  local named_field, named_kind = named_octets_field(t, message, first, #due)
  if named_field then return named_field, named_kind end
  for i = #t.recent, 1, -1 do
    local one = t.recent[i]
    local from = one.octets:find(sent, 1, true)
    if from then
      local at = from + first - 2 - one.at
      local another = not one.marked and (at == 1 or at == 0 and (due:byte(first) ~ sent:byte(first)) & 0x80 ~= 0)
      if one.segment.Opcode == TERMINATE and another then return nil, nil, one.segment end
      if not one.marked and one.segment.Opcode == TERMINATE and at >= 18 and one == last then
        t.differs = { terminate_octets(t, due, sent, first, at) }
        return nil
      end
      if not one.marked and at >= #one.segment.ulpdu and at < #one.octets - one.at - 4 and due:byte(first) == 0 then
        t.differs = { "pad-not-zero", "the pad of FPDUs is not zero" }
        return nil
      end
      local field = not one.marked and at >= 0 and at < #one.segment.ulpdu and field_at(one.segment, at, due:byte(first), sent:byte(first))
      field = field or odd_field(one.segment)
      return field, one.segment.Opcode
    end
  end
end

-- "A of the Request", "flag A beside depth 0", "Rev of a Request": a field of a start-up frame that has one digit. C is
-- none of these: a frame has two fields of that name.
local function start_digit_field(t, message, expected, actual)
  if not expected:find("^%d$") or not actual:find("^%d$") or message:find("Terminate") then return nil end
  local field = message:match("^([ABDMRS]) of ") or message:match("^([ABD]) in the ") or message:match("^flag ([ABD]) ") or message:match("^(Rev) of ")
  return field, spoken_family(t, message, "PD_Length")
end

-- "R, S and the reserved bits", "C of a device left as it is": what a text calls a field of the start-up frame, with a
-- number; and "A = 1 and another flag", where "A = 0, ..." came.
local start_words = { { "^reserved bits of the device's frame$", "Res" }, { "^R, S and the reserved bits$", "Res" }, { "^Rev$", "Rev" },
                      { "^C of a device ", "C" }, { "^C of the Re%l+$", "C" }, { "^PD_Length$", "PD_Length" } }

local function start_word_field(t, message, expected, actual)
  local kind = t.role == "responder" and "reply" or "request"
  if message:find("Terminate") then return nil end
  for _, row in ipairs(start_words) do
    if message:find(row[1]) and actual:find("^0?x?%x+$") then return row[2], kind end
  end
  for letter, digit in expected:gmatch("%f[%u]([ABCD]) = (%d)") do
    local sent = actual:match("%f[%u]" .. letter .. " = (%d)") or actual:match("^MPA .*{.*%f[%u]" .. letter .. " (%d)")
    if sent and sent ~= digit then return letter, kind end
    if not sent and actual:find("^MPA R%l+ S 0") then return "S", kind end
  end
end

-- Start-up frames as they are described: "MPA Reply S 1 R 1 {A 0}". The first field whose value is another; where the
-- enhanced word is missing, or S claims one that the frame's revision does not have, the field that says so.
local function described_field(_, _, expected, actual)
  local kind, sent = actual:match("^MPA (R%l+) "), {}
  if kind == nil then return nil end
  for field, value in actual:gmatch("([%a_]+) (%w+)") do sent[field] = sent[field] or value end
  if expected:find("^MPA " .. kind) then
    for field, value in expected:gsub("^MPA R%l+", ""):gmatch("([%a_]+) (%w+)") do
      if sent[field] and sent[field] ~= value then return field, kind:lower() end
    end
  end
  local revision = tonumber(sent.Rev) or 2
  if sent.S == "1" and revision < 2 then return expected:find("plain") and "S" or "Rev", kind:lower() end
  if expected:find("^MPA " .. kind .. ".* {") and not actual:find("{", 1, true) then
    return sent.S == "0" and "S" or revision < 2 and "Rev" or nil, kind:lower()
  end
end

--------------------------------------------------------------------------------------------------------------------
-- Expectations

local order = { "T", "DV", "Rsvd", "RV", "Rsv", "QN", "MSN", "MO", "STag", "TO", "InvalidateSTag", "RequestId", "Value", "SinkSTag", "SinkTO",
                "RDMARDSZ", "SrcSTag", "SrcTO", "L", "S", "M", "C", "R", "Rev", "Res", "A", "B", "D", "IRD", "ORD", "PD_Length", "private_data" }

local function differs(want, got)
  if type(want) == "function" then return got == nil or not want(got) end
  if type(want) == "boolean" then return (got == 1 or got == true) ~= want end
  return want ~= got
end

-- The first field of an expectation of one kind that what came does not fit, and its kind; nil: another kind.
local function expected_field(want, got)
  if want.kind ~= got.kind or want.given == nil then return nil end
  local kind = want.kind
  if kind == "segment" then
    if want.defaults == nil or got.Opcode == nil then return nil end
    kind = want.given.Opcode or want.defaults.fields.Opcode
    local same = wire.hint_field(kind, "Opcode") == wire.hint_field(got.Opcode, "Opcode")
    if got.Opcode ~= kind then return same and "Opcode" or nil, kind end
  end
  for _, field in ipairs(order) do
    local due, sent = want.given[field], got[field]
    if due ~= nil and differs(due, sent) then return field, kind end
    due, sent = (want.given.enhanced or {})[field], (got.enhanced or {})[field]
    if due ~= nil and got.enhanced and differs(due, sent) then return field, kind end
  end
  return nil, kind
end

-- Of what came in place of the one thing that was expected.
function Test:suspect_expected(want, got)
  local field, kind = expected_field(want, got)
  local due, sent = want.given and want.given.data, got.data
  self.differs = { named(field, kind) }
  if field == nil and kind and type(due) == "string" and type(sent) == "string" and #due ~= #sent then
    self.differs = { octets_cause(#due, #sent) }
  end
end

-- The latest segment is wrong by itself, and it is what came: the cause, or nil.
function Test:odd_arrival(actual)
  local last = latest(self)
  local field = last and odd_field(last)
  if field and (actual:find(describe(last), 1, true) or last.QN == 2 and last.Opcode ~= TERMINATE) then return named(field, last.Opcode) end
end

-- Which of the latest segments texts mean: the octets, or the number of a field, that came stand in it, and what is due
-- does not.
local function meant(t, message, expected, actual)
  local sent = #actual >= 6 and #actual % 2 == 0 and actual:find("^%x+$") and unhex(actual)
  local field = not sent and spoken_field(t, message, expected, actual)
  local number = field and math.tointeger(tonumber((actual:match("^%w+"))))
  for i = #t.recent, 1, -1 do
    local one = t.recent[i]
    if sent and one.octets:find(sent, 1, true) or number and one.segment[field] == number then return one end
  end
end

-- The failure is about the frame that carries what its texts say, where that is not what was read last.
function Test:point_at(message, expected, actual)
  local one = meant(self, tostring(message), tostring(expected), tostring(actual))
  if one and one.place then rig.look_at(one.place) end
end

-- Octets of the fields that are numbers.
local sizes = { QN = 4, MSN = 4, MO = 4, STag = 4, TO = 8, InvalidateSTag = 4, SinkSTag = 4, SinkTO = 8, RDMARDSZ = 4, SrcSTag = 4, SrcTO = 8,
                Length = 2, ULPDU_Length = 2, PD_Length = 2 }

-- A field that texts name by a number each: it has what is due, with its octets in reverse order. The hint, or nil.
function Test:reversed_field(message, expected, actual)
  local field, kind = spoken_field(self, tostring(message), expected, actual)
  local due, sent = math.tointeger(tonumber(expected:match("^%w+"))), math.tointeger(tonumber(actual:match("^%w+")))
  local size = sizes[field]
  if not size or not due or not sent or due == sent or size < 8 and (due >> 8 * size ~= 0 or sent >> 8 * size ~= 0) then return nil end
  if string.unpack("<I" .. size, string.pack(">I" .. size, due)) ~= sent then return nil end
  return (select(2, named(field, kind)) or field):gsub(" is another than is due$", "") .. ": the right number with its octets in reverse order"
end

-- The cause, where the texts of a failure show one field: nil where they do not.
function Test:field_of(message, expected, actual)
  if self.differs and self.differs[1] then return table.unpack(self.differs) end
  message = tostring(message)
  for _, find in ipairs { octets_field, start_word_field, start_digit_field, spoken_field, keyed_field, described_field } do
    local field, family, terminate = find(self, message, expected, actual)
    if self.differs and self.differs[1] then return table.unpack(self.differs) end
    if terminate and terminate.triple then
      return terminate_cause(terminate.triple)
    end
    local name, hint = named(field, family)
    if name and name:find("^terminate") and words_of_request[field] then
      name, hint = "terminate-quotes-other", "Terminates quote another header than the one that they are about"
    end
    if name then return name, hint end
  end
end
