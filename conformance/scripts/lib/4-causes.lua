-- SPDX-License-Identifier: BSD-2-Clause
--
-- Causes: what a failure has in common with others, so that reports show it once with all the ids that it concerns (reports/cause.h).
-- Another reading of the octets is the best cause (wire/hint.h). Where none fits, the observation is one: what came, in place of what.
-- It says no more than that, and results keep their own texts.

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

-- The headers of a segment contradict themselves or each other, in an FPDU that is right. Streams of Rev 0 have version 0.
function Connection:_suspect_header(segment)
  local tagged = { [0] = true, [2] = true }
  local peer = rawget(self, "peer") -- of MPA: a session over SCTP has none
  if peer and peer.Rev == 0 then return end
  if segment.Opcode == nil then
    self.t:suspect("ddp-header-cut", "segments are shorter than a DDP header")
  elseif segment.DV ~= 1 or segment.RV ~= 1 then
    self.t:suspect("version-wrong", "segments have another version of DDP or RDMAP")
  elseif (segment.T == 1) ~= (tagged[segment.Opcode] == true) and segment.Opcode < 12 then
    self.t:suspect("model-wrong", "the T bit of segments does not fit their opcode")
  elseif segment.triple and (segment.QN ~= 2 or segment.MSN ~= 1 or segment.MO ~= 0) then
    self.t:suspect("terminate-queue", "Terminates are not the first message of queue 2")
  end
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
      if not f.crc_ok then self:suspect("crc-wrong", "the CRC of FPDUs is wrong") end
      octets, framing.position = octets:sub(used + 1), framing.position + used
    end
  end
end

-- "terminate-0x1201" of "Terminate DDP / ... (0x1201)" and of "Terminate 1/2/01".
local function terminate_name(text)
  local triple = text:match("^Terminate [^;,]-%((0x%x%x%x%x)%)")
  local layer, etype, code = text:match("^Terminate (%x)/(%x)/(%x%x)")
  return triple and "terminate-" .. triple or layer and ("terminate-0x" .. layer .. etype .. code:lower()) or nil
end

-- Octets that are no frame: whatever was expected, this is what is wrong.
local broken = {
  { "an FPDU with a wrong CRC", "crc-wrong", "the CRC of FPDUs is wrong" },
  { "an FPDU with a wrong Marker", "marker-wrong", "Markers of FPDUs are wrong" },
  { "octets of an FPDU, then", "fpdu-cut", "an FPDU begins that never is whole" },
  { "octets of an MPA %l+, then", "start-frame-cut", "a start-up frame begins that never is whole" },
  { "octets that are no MPA", "start-frame-none", "the octets are no start-up frame of MPA" },
}

-- Patterns of what begins a text, and what it is called; the first that fits.
local frames = {
  { "^a Terminate", "terminate", "a Terminate" },
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
  { "^MPA Request", "request", "an MPA Request" },
  { "^MPA Reply", "reply", "an MPA Reply" },
}

local came = {
  { "^nothing within", "silence", "nothing comes" },
  { "^FIN", "end", "the device ends the stream" },
  { "^RST", "end", "the device ends the stream" },
}

local wanted = {
  { "^the rest of the message", "segment", "a DDP Segment" },
  { "^an? DDP Segment", "segment", "a DDP Segment" },
  { "^a segment", "segment", "a DDP Segment" },
  { "^%d+ octets in segments", "segment", "a DDP Segment" },
  { "^FIN", "end", "the end of the stream" },
  { "^RST", "end", "the end of the stream" },
  { "^the end of the stream", "end", "the end of the stream" },
}

for _, row in ipairs(frames) do
  came[#came + 1] = row
  wanted[#wanted + 1] = row
end

local function find(list, text)
  local terminate = terminate_name(text)
  if terminate then return terminate, text:match("^Terminate [^;,]-%(0x%x%x%x%x%)") or text:match("^Terminate %x/%x/%x%x") end
  for _, row in ipairs(list) do
    if text:find(row[1]) then return row[2], row[3] end
  end
end

-- Octets, as hexadecimal digits, or two numbers that differ by a field whose octets come in reverse order.
local function reversed(expected, actual)
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
  if #expected ~= #actual or #expected < 8 or not (expected .. actual):find("^%x+$") then return false end
  local want, got = unhex(expected), unhex(actual)
  local from, to = 1, #want
  while want:byte(from) == got:byte(from) do from = from + 1 end
  while want:byte(to) == got:byte(to) do to = to - 1 end
  return to > from and to - from < 8 and want:sub(from, to):reverse() == got:sub(from, to)
end

-- Names the observation as the cause, where there is no better one: octets that are no frame; FIN or RST where a Terminate is due,
-- or a Terminate without the header that it has to quote, one cause each, whichever error it is about; or "silence-for-send": what
-- came, in place of what. Texts that tell neither name nothing.
function Test:suspect_observation(expected, actual)
  self:suspect_peeked()
  if self.cause then return end
  expected, actual = tostring(expected), tostring(actual)
  for _, row in ipairs(broken) do
    if actual:find(row[1]) then return self:suspect(row[2], row[3]) end
  end
  if reversed(expected, actual) then
    return self:suspect("field-octets-reversed", "a number has its octets in reverse order")
  end
  local due, due_text = find(wanted, expected)
  local got, got_text = find(came, actual:match(", then (.*)$") or actual)
  if expected:find("^[MDR] = 1") and actual:find("^[MDR] = 0") then
    self:suspect("terminate-header-missing", "the Terminate does not quote the header that it is about")
  elseif due and due:find("^terminate") and got == "end" then
    self:suspect("terminate-missing", "the device ends the stream and sends no Terminate before")
  elseif due and got and due ~= got then
    self:suspect(got .. "-for-" .. due, got_text .. " in place of " .. due_text)
  end
end
