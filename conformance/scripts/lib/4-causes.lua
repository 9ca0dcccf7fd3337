-- SPDX-License-Identifier: BSD-2-Clause
--
-- Causes: what a failure has in common with others, so that reports show it once with all the ids that it concerns
-- (reports/results/cause.h). Another reading of the octets is the best cause (wire/hint.h). Where none fits, the
-- observation is one: what came, in place of what. It says no more than that, and results keep their own texts.

-- Another reading fits octets that came: the cause that a failure names. The first one stays; nil is none.
function Test:suspect(name, hint)
  if name and not self.cause then self.cause, self.hint = name, hint end
end

-- The same of a number that a field has. Anything but two numbers is nothing.
function Test:suspect_number(layout, field, expected, actual)
  if math.type(expected) ~= "integer" or math.type(actual) ~= "integer" then return end
  local name, hint = wire.hint_number(layout, field, expected, actual)
  self:suspect(name, hint and field .. ": " .. hint)
end

-- The headers of a segment contradict themselves or each other, in an FPDU that is right. Streams of Rev 0 have version
-- 0.
function Connection:_suspect_header(segment)
  local half = #segment.ulpdu // 2
  if half >= 14 and segment.ulpdu == segment.ulpdu:sub(1, half):rep(2) then
    self.t:suspect("ulpdu-repeated", "a ULPDU stands twice in its FPDU")
  end
  local peer = rawget(self, "peer") -- of MPA: a session over SCTP has none
  if peer and peer.Rev == 0 then return end
  if segment.Opcode == nil then
    self.t:suspect("ddp-header-cut", "segments are shorter than a DDP header")
  elseif segment.cut then
    self.t:suspect("rdmap-header-cut", "messages are shorter than the header of their opcode")
  elseif segment.DV ~= 1 or segment.RV ~= 1 then
    self.t:suspect(wire.hint_seen("version-wrong"))
  elseif segment.other_model then
    self.t:suspect("model-wrong", "the T bit of segments does not fit their opcode")
  elseif segment.triple and segment.QN == 2 and segment.MO == 0 and rawget(self, "terminates") and segment.MSN == self.terminates + 1 then
    self.t:suspect(goes_on())
  elseif segment.triple and (segment.QN ~= 2 or segment.MSN ~= 1 or segment.MO ~= 0) then
    self.t:suspect("terminate-queue", "Terminates are not the first message of queue 2")
  end
  if segment.triple then self.terminates = (rawget(self, "terminates") or 0) + 1 end
end

local request_fields = { "SinkSTag", "SinkTO", "RDMARDSZ", "SrcSTag", "SrcTO" }

-- Those in which it differs from a Read that was asked for; nil: in none.
local function differing(segment, posted)
  local fields
  for _, field in ipairs(request_fields) do
    if posted[field] and posted[field] ~= segment[field] then
      fields = fields or {}
      fields[#fields + 1] = field
    end
  end
  return fields
end

-- A Read Request that is none of those that the device's ULP was asked for: what becomes of it later is no fault of
-- what is judged then. The one that it resembles most shows which fields differ, or have their octets in reverse
-- order.
function Connection:_suspect_request(segment)
  local all = self.t.posted_reads
  local turn = (rawget(self, "request_turn") or 0) + 1 -- most come in the order in which they were asked for
  self.request_turn = turn
  if all[turn] and not differing(segment, all[turn]) then return end
  local fewest, meant
  for i, posted in ipairs(all) do
    local others = differing(segment, posted)
    if not others then
      self.request_turn = i
      return
    end
    if fewest == nil or #others < #fewest then fewest, meant = others, posted end
  end
  if fewest == nil or #fewest > 3 or segment.RDMARDSZ == 0 then return end
  for _, field in ipairs(fewest) do self.t:suspect_number("read_request", field, meant[field], segment[field]) end
  self.t:suspect("read-request-other-" .. table.concat(fewest, "-"):lower(),
                 "a Read Request has another " .. table.concat(fewest, " and another ") .. " than the ULP asked for")
end

-- A Read of the device that is over for it when only a part of the answer has come.
function read_done_early() return "read-done-early", "a Read counts as done before the last segment of its answer has come" end

-- The device has reported an error, which ends the stream, and goes on (RFC 5040 5.4, RFC 5044 8).
function goes_on() return "goes-on-after-error", "the device goes on after an error that ends the stream" end

-- A Terminate from before CRCs are agreed, which cannot have one (MPA-7.1.1-13 judges that): the first octets, or after others.
function is_early_terminate(f, used, position)
  return f.markers_ok and f.crc == 0 and position == used and read_segment(f.ulpdu).Opcode == 7
end

-- Octets that were looked at without being taken hold an FPDU that is wrong.
function Test:suspect_peeked()
  for _, c in ipairs(self.connections) do
    local octets = rawget(c, "peeked") -- over MPA
    local framing = octets and copy_fields(c.receive_framing)
    while octets and #octets > 0 do
      local used, f = wire.parse_fpdu(octets, framing)
      local name, hint
      if not used or not f.markers_ok or not f.crc_ok then name, hint = wire.hint_fpdu(octets, framing) end
      if used or name and name:find("^markers") then self:suspect(name, hint) end
      if not used then break end
      if not f.markers_ok then self:suspect("marker-wrong", "Markers of FPDUs are wrong") end
      if not f.crc_ok then self:suspect(wire.hint_seen("crc-wrong")) end
      local segment = f.markers_ok and read_segment(f.ulpdu)
      if segment and segment.Opcode then
        c:_observe(segment, octets:sub(1, used), f.markers > 0, c.peeked_at - (#octets - used))
      end
      octets, framing.position = octets:sub(used + 1), framing.position + used
    end
  end
end

-- "terminate-0x1201" of "Terminate DDP / ... (0x1201)", of "DDP / ... (0x1201)" and of "Terminate 1/2/01"; and these
-- words.
local function terminate_name(text)
  local triple = text:match("^Terminate 0x(%x%x%x%x)")
  if triple then return "terminate-0x" .. triple, "Terminate 0x" .. triple end
  local first = text:match("^Terminate [^;]-%(0x%x%x%x%x%)") or text:match("^%u[%u%s()]+ / [^;]-%(0x%x%x%x%x%)")
  if first then return "terminate-" .. first:match("%((0x%x+)%)$"), first end
  local layer, etype, code = text:match("^Terminate (%x)/(%x)/(%x%x)")
  if layer then return "terminate-0x" .. layer .. etype .. code:lower(), text:match("^Terminate %x/%x/%x%x") end
end

-- Octets that are no frame: whatever was expected, this is what is wrong.
local broken = {
  { "an FPDU with a wrong CRC", wire.hint_seen("crc-wrong") },
  { "an FPDU with a wrong Marker", "marker-wrong", "Markers of FPDUs are wrong" },
  { "octets of an FPDU, then", "fpdu-cut", "an FPDU begins that never is whole" },
  { "^2%d of %d+ octets of an MPA reply, then", "reply-pd-length", "PD_Length of MPA Replies is another than is due" },
  { "^[3-9]%d of %d+ octets of an MPA reply, then", "reply-pd-length", "PD_Length of MPA Replies is another than is due" },
  { "octets that are no MPA reply: 4d504120494420", "reply-key", "Key of MPA Replies is another than is due" },
  { "octets that are no MPA request: 4d504120494420", "request-key", "Key of MPA Requests is another than is due" },
  { "octets of an MPA %l+, then", wire.hint_seen("start-frame-cut") },
  { "octets that are no MPA", wire.hint_seen("start-frame-none") },
}

-- Patterns of what begins a text, and what it is called; the first that fits.
local frames = {
  { "^an? Terminate", "terminate", "a Terminate" },
  { "^the answer to an? [%w-]* ?RDMA Read", "read-response", "a Read Response" },
  { "^RDMA Read Response", "read-response", "a Read Response" },
  { "^a Read Response", "read-response", "a Read Response" },
  { "^RDMA Read Request", "read-request", "a Read Request" },
  { "^a Read Request", "read-request", "a Read Request" },
  { "^RDMA Write", "write", "an RDMA Write" },
  { "^Send", "send", "a Send" },
  { "^Atomic Request", "atomic-request", "an Atomic Request" },
  { "^Atomic Response", "atomic-response", "an Atomic Response" },
  { "^Immediate Data", "immediate", "Immediate Data" },
  { "^the Read Response", "read-response", "a Read Response" },
  { "^MPA Request", "request", "an MPA Request" },
  { "^MPA Reply", "reply", "an MPA Reply" },
}

local came = {
  { "^nothing within", "silence", "nothing comes" },
  { "^nothing, until the tester's FIN", "silence", "nothing comes" },
  { "^FIN", "end", "the device ends the stream" },
  { "^RST", "end", "the device ends the stream" },
  { "^reset$", "end", "the device ends the stream" },
  { "^unregistered error", "terminate", "an unregistered error" },
  { "^%d+ are served", "segment", "a DDP Segment" },
}

local wanted = {
  { "^the rest of the message", "segment", "a DDP Segment" },
  { "^an? DDP Segment", "segment", "a DDP Segment" },
  { "^a segment", "segment", "a DDP Segment" },
  { "^%d+ octets in segments", "segment", "a DDP Segment" },
  { "^FIN", "end", "the end of the stream" },
  { "^RST", "end", "the end of the stream" },
  { "^the end of the stream", "end", "the end of the stream" },
  { "^opcode %x+$", "segment", "a DDP Segment" },
  { "^it is taken", "segment", "a DDP Segment" },
  { "^its ", "segment", "a DDP Segment" },
  { "^the RTR", "segment", "a DDP Segment" },
  { "^an RTR", "segment", "a DDP Segment" },
  { "^an enhanced Reply", "reply", "an MPA Reply" },
  { "^Reply, FIN", "reply", "an MPA Reply" },
  { "^a Reply", "reply", "an MPA Reply" },
  { "^R = 1", "reply", "an MPA Reply" },
  { "^full operation", "segment", "a DDP Segment" },
  { "^an FPDU", "segment", "a DDP Segment" },
  { "^a zero%-length", "segment", "a DDP Segment" },
  { "^Terminate, control octet", "terminate", "a Terminate" },
  { "^a stream that goes on", "segment", "a DDP Segment" },
  { "^the Read completes", "segment", "a DDP Segment" },
  { "^no response$", "terminate", "a Terminate, or silence," },
  { "^no Atomic Response$", "terminate", "a Terminate, or silence," },
  { "^nothing$", "silence", "silence" },
  { "^an open connection", "silence", "silence" },
  { "^silence", "silence", "silence" },
}

for _, row in ipairs(frames) do
  came[#came + 1] = row
  wanted[#wanted + 1] = row
end

local function find(list, text)
  local terminate, words = terminate_name(text)
  if terminate then return terminate, words end
  for _, row in ipairs(list) do
    if text:find(row[1]) then return row[2], row[3] end
  end
end

-- Octets, as hexadecimal digits, or two numbers that differ by a field whose octets come in reverse order.
local function reversed(expected, actual)
  if expected:find("^%x+ %x+$") and actual:find("^%x+ %x+$") and #expected == #actual then
    expected, actual = expected:gsub(" ", ""), actual:gsub(" ", "")
  end
  if expected == actual then return false end
  if expected:find("^%d+$") and actual:find("^%d+$") then
    local want, got = math.tointeger(expected), math.tointeger(actual)
    for _, octets in ipairs { 2, 4, 8 } do
      if want and got and want > 255 and (octets == 8 or want < 1 << 8 * octets) and
         string.unpack("<I" .. octets, string.pack(">I" .. octets, want)) == got then
        return true
      end
    end
  end
  if #expected ~= #actual or #expected < 8 or #expected % 2 ~= 0 or not (expected .. actual):find("^%x+$") then return false end
  local want, got = unhex(expected), unhex(actual)
  local from, to = 1, #want
  while want:byte(from) == got:byte(from) do from = from + 1 end
  while want:byte(to) == got:byte(to) do to = to - 1 end
  return to > from and to - from < 8 and want:sub(from, to):reverse() == got:sub(from, to)
end

--------------------------------------------------------------------------------------------------------------------
-- What the device's ULP has in place of what it should

local FILL = "a5" -- what t:memory() holds before anything is placed

-- "64 octets", "5 deliveries": the number in front of a word; nil without.
local function count_of(text, word)
  local number = text == "no delivery" and word == "deliver" and "0" or text:match("(%d+) " .. word)
  return number and math.tointeger(tonumber(number))
end

local function is_fill(digits) return digits ~= "" and digits:gsub(FILL, "") == "" end

-- Memory, deliveries, completions, values of atomics: a name and words, or nil.
local function result_of(message, expected, actual)
  local due, got = expected:match("^at offset %d+: (%x+)"), actual:match("^at offset %d+: (%x+)")
  if not due then due, got = expected:match("^octets (%x+)"), actual:match("^octets (%x+)") end
  if due and got then
    if is_fill(got) then return wire.hint_seen("not-placed") end
    if is_fill(due) or message:find("changes nothing") then return wire.hint_seen("placed-undue") end
    return wire.hint_seen("placed-otherwise")
  end
  due, got = count_of(expected, "deliver"), count_of(actual, "deliver")
  local numbers = math.tointeger(tonumber(expected)) and math.tointeger(tonumber(actual))
  if numbers and message:find("deliver") then due, got = math.tointeger(expected), math.tointeger(actual) end
  if due and got then
    if got < due and (message:find("waited for its receive") or message:find("came before its receive")) then
      return "dropped-without-receive", "messages that find no receive are dropped"
    end
    if got < due then return wire.hint_seen("not-delivered") end
    return wire.hint_seen(got > due and "delivered-undue" or "delivered-otherwise")
  end
  if message:find("^Reads stay within ORD") or message:find("^Reads open before") then
    local most, open = tonumber((expected:match("%d+"))), tonumber((actual:match("%d+")))
    if most and open and open < most then return "reads-below-ord", "fewer Reads are open than ORD allows" end
    return "reads-beyond-ord", "more Reads are open than ORD allows"
  end
  if message:find("Marker") and not message:find("CRC") and (expected:find("^%x+$") or expected:find("^Marker")) and actual:find("^%x+$") then
    return "marker-wrong", "Markers of FPDUs are wrong"
  end
  due = expected:match('^the event "([%a_]+)"') or expected:match("^(%a+_done)")
  if due or numbers and message:find("^completions") and math.tointeger(expected) > math.tointeger(actual) then
    return wire.hint_seen("not-completed")
  end
  if message:find("STag") and expected == "false" and actual == "true" or actual == "both: invalidation told, and data placed" then
    return wire.hint_seen("invalidated-in-force")
  end
  if message:find("^state of the LLP stream") and expected == "erroneous" then
    return wire.hint_seen("error-unnoticed")
  end
  if (expected:find("^an error") or expected == "the ULP is told") and (actual == "none" or actual == "nothing") then
    return wire.hint_seen("error-untold")
  end
  if expected:find("0x" .. ("%x"):rep(16)) and actual:find("0x" .. ("%x"):rep(16)) or expected == "values all different" or
     message == "the value on the wire" then
    return atomic_cause()
  end
  due, got = count_of(expected, "octet"), count_of(actual, "octet")
  if got and not due then due = count_of(message, "octet") end
  local cut = expected:sub(1, #actual) == actual and expected:find("^%x*$") or actual:sub(1, #expected) == expected and actual:find("^%x*$")
  if cut and #expected > 4 then due, got = #expected, #actual end
  if message:find("octets") and not due and numbers then due, got = math.tointeger(expected), math.tointeger(actual) end
  if due and got and due ~= got then
    return octets_cause(due, got)
  end
  if expected == "no completion" then return wire.hint_seen("completed-undue") end
end

-- Work of the ULP that came to nothing because the device ended the stream by a Terminate that no check has taken.
local ended = { ["not-delivered"] = true, ["not-completed"] = true, ["octets-missing"] = true }

function Test:unasked_terminate()
  for _, c in ipairs(self.connections) do
    local how, triple = c:ended_by_device()
    if how == "Terminate" and triple then return triple end
  end
end

-- A Reply waits on a connection that has not had one.
local function has_replied(t)
  for _, c in ipairs(t.connections) do
    local tcp = rawget(c, "tcp")
    if tcp and not rawget(c, "started") and tcp:read(0, 0):find("^MPA ID Rep Frame") then return true end
  end
  return false
end

-- A device that has to send first sent nothing after the start-up, and the tester nothing either.
function Test:silent_initiator()
  if self.role ~= "initiator" or self:over_sctp() then return false end
  for _, c in ipairs(self.connections) do
    local framing = rawget(c, "started") and c.send_framing
    if framing and framing.position == 0 and c.receive_framing.position == 0 and not c:ended_by_device() then return true end
  end
  return false
end

-- Layer and EType of a Terminate stand in each other's place: the triples of two texts tell it.
local function exchanged(expected, got)
  for layer, etype, code in (expected:gsub("(%x)/(%x)/(%x%x)", "(0x%1%2%3)")):gmatch("%(0x(%x)(%x)(%x%x)%)") do
    if layer ~= etype and got == "terminate-0x" .. etype .. layer .. code:lower() then return true end
  end
  local layer, etype = expected:match("^Terminate, control octet (%x)(%x)$")
  if layer and layer ~= etype and got:find("^terminate%-0x" .. etype .. layer) then return true end
  local pair, other = expected:match("^(%x %x)$"), got:match("^(%x %x)$")
  return pair and other and pair:reverse() == other
end

-- An error of the tester that the device should end the stream for, and does not: one cause, whatever it does instead.
local function unnoticed(due, due_text, message)
  if message:find("invalidated") and not message:find("invalid already") then
    return wire.hint_seen("invalidated-in-force")
  end
  local triple = due:match("^terminate%-(0x%x+)$")
  return (wire.hint_seen("error-unnoticed")) .. (triple and "-" .. triple or ""), "the error that " .. due_text .. " is for has no consequence"
end

-- The device answers Reads, and none of no octets: that is why nothing comes for one, or the answer to another Read.
local function lacks_empty_reads(t, message, expected, actual)
  if t.services == nil or t:serves("empty read") or not t:serves("read") then return false end
  local asked = message:find("empty Read") or message:find("of no octets") or message:find("zero%-length Read") or
                find(wanted, expected) == "read-response"
  return asked and (actual:find("^nothing") or actual:find("^RDMA Read Response"))
end

-- What came, in place of what; true when it named something. A Terminate of another layer or type than the one that is
-- due is none of the error that is judged, as one in place of a message is: one cause, whatever is due. Nor does an end
-- without a Terminate depend on that.
local function suspect_arrival(t, expected, actual, message)
  if expected:find("the end of the stream") and actual:find("the stream goes on$") then
    t:suspect(wire.hint_seen("error-unnoticed"))
    return true
  end
  if expected:find("^FIN") and not expected:find("RST") and (actual:find("^RST") or actual == "reset") then
    t:suspect(wire.hint_seen("reset-for-fin"))
    return true
  end
  local due, due_text = find(wanted, expected)
  local got, got_text = find(came, actual:match(", then (.*)$") or actual)
  if got and (got_text or ""):find("unregistered") and got ~= due then
    t:suspect(terminate_cause(nil))
    return true
  end
  if not due and got == "end" and (expected:find("or Terminate ") or expected:find("or a Terminate$")) then due, due_text = "terminate", "a Terminate" end
  if not due or not got or due == got then return false end
  if due:find("^terminate") and got == "end" then
    t:suspect(wire.hint_seen("terminate-missing"))
  elseif exchanged(expected, got) then
    t:suspect("terminate-layer-etype-exchanged", "Layer and EType of Terminates stand in each other's place")
  elseif due:find("^terminate") and not got:find("^terminate") then
    t:suspect(unnoticed(due, due_text, message))
  elseif got:find("^terminate%-0x") and got:sub(1, 14) ~= due:sub(1, 14) or got == "end" then
    t:suspect(got .. "-for-message", got_text .. " in place of " .. due_text)
  elseif got == "silence" and t:silent_initiator() then
    t:suspect(wire.hint_seen("silence-after-startup"))
  else
    t:suspect(got .. "-for-" .. due, got_text .. " in place of " .. due_text)
  end
  return true
end

-- Names the observation as the cause, where there is no better one: octets that are no frame; a Terminate whose bits M,
-- D and R do not fit it; FIN or RST where a Terminate is due, or a Terminate without the header that it has to quote,
-- one cause each, whichever error it is about; one field that differs; "silence-for-send": what came, in place of what;
-- what the ULP has. Texts that tell none of these name nothing.
function Test:suspect_observation(expected, actual, message)
  expected, actual, message = tostring(expected), tostring(actual), tostring(message)
  local ends = expected:find("FIN") or expected:find("^the end of the stream")
  self:suspect_peeked()
  if self.cause then return end
  if lacks_empty_reads(self, message, expected, actual) then
    return self:suspect("empty-read-unanswered", "a Read of no octets is not answered in its turn")
  end
  if ends and actual:find("octets that are no MPA %l+: %x%x%x%x4147") then return self:suspect(goes_on()) end
  for _, row in ipairs(broken) do
    if actual:find(row[1]) then return self:suspect(row[2], row[3]) end
  end
  local field = self:reversed_field(message, expected, actual)
  if field or reversed(expected, actual) then
    return self:suspect("field-octets-reversed", field or "a number has its octets in reverse order")
  end
  if expected:find("M = ") and actual:find("^M = ") or message:find("M, D and R") then self:suspect(self:terminate_bits()) end
  if expected:find("^[MDR] = 1") and actual:find("^[MDR] = 0") then
    self:suspect("terminate-header-missing", "the Terminate does not quote the header that it is about")
  end
  self:suspect(self:odd_arrival(actual))
  if self.cause or suspect_arrival(self, expected, actual, message) then return end
  if message:find("^Layer and EType") and exchanged(expected, actual) then
    return self:suspect("terminate-layer-etype-exchanged", "Layer and EType of Terminates stand in each other's place")
  end
  local name, hint = self:field_of(message, expected, actual)
  if not name then
    name, hint = result_of(message, expected, actual)
    if name == "error-untold" and has_replied(self) then name, hint = "reply-for-end", "an MPA Reply in place of the end of the stream" end
    local last = self.recent[#self.recent]
    if name == "octets-undue" and last and last.segment.triple then name, hint = terminate_cause(last.segment.triple) end
    for i = 1, name == "placed-otherwise" and #self.recent or 0 do
      if self.recent[i].segment.Opcode == 11 then name, hint = atomic_cause() end
    end
    local triple = ended[name] and self:unasked_terminate()
    if triple then
      name, hint = terminate_cause(triple)
    end
  end
  self:suspect(name, hint)
end

-- The bits M, D and R of a Terminate that came want other octets after them than came.
function Test:terminate_bits()
  for _, one in ipairs(self.recent) do
    local segment = one.segment
    if segment.Opcode == 7 and segment.M and not segment.swapped then
      local name, hint = wire.hint_terminate(segment.ulpdu:sub(23), segment.M, segment.D, segment.R)
      if name then return name, hint end
    end
  end
end
