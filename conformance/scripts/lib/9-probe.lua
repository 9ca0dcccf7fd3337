-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a device is, in seconds: `warpcheck probe` calls harness.probe(role) and gets a table of what came. Each
-- question has a connection of its own. Nothing here is a verdict on a requirement but what is in `defects`: each with
-- its id, once.

-- Depths that no device has: what a Reply names in their place is the device's own (RFC 6581 section 6).
local DEPTH = 0x3FFE

local function enhanced(word)
  word = word or {}
  word.IRD, word.ORD = DEPTH, DEPTH
  return { enhanced = word }
end

-- `key`: where the outcome is kept for the questions of the profile. The first that is accepted carries the first FPDU.
-- `dut`: what a listener is asked for where an upper tester knows it; else the device's own listener answers.
local startups = {
  { key = "rev1", name = "Rev 1", request = {} },
  { key = "markers", name = "Rev 1, Markers asked for", request = { M = true } },
  { key = "no crc", name = "Rev 1, no CRC asked for", request = { C = false } },
  { key = "private data", name = "Rev 1, 512 octets of Private Data", request = { private_data = string.rep("w", 512) } },
  { key = "rev2", name = "Rev 2, enhanced", request = enhanced() },
  { key = "rtr.send", name = "Rev 2, peer-to-peer, RTR by a Send", request = enhanced { A = 1, B = 1 } },
  { key = "rtr.write", name = "Rev 2, peer-to-peer, RTR by a Write", request = enhanced { A = 1, C = 1 } },
  { key = "rtr.read", name = "Rev 2, peer-to-peer, RTR by a Read", request = enhanced { A = 1, D = 1 } },
  { key = "rev0", name = "Rev 0 (RFC 5044 Appendix C)", request = { Rev = 0, M = true, C = true }, dut = { rev0 = true } },
}

local words = { fin = "it closes the connection (FIN)", reset = "it resets the connection", timeout = "no answer" }

-- What the report shows of a start-up frame.
local function frame_fields(frame)
  local e = frame.enhanced
  return { Rev = frame.Rev, M = frame.M, C = frame.C, R = frame.R, S = frame.S, PD_Length = frame.PD_Length,
           enhanced = e and { A = e.A, B = e.B, C = e.C, D = e.D, IRD = e.IRD, ORD = e.ORD } }
end

-- The octets of a start-up frame that breaks off: the one field that can be wrong then is its length.
local function cut_short(c, kind)
  local octets = c:peek(1, 0)
  local key = "MPA ID Re" .. (kind == "request" and "q" or "p") .. " Frame"
  if #octets < wire.size("mpa_start") or octets:sub(1, #key) ~= key then return nil end
  local said, came = wire.unpack("mpa_start", octets).PD_Length, #octets - wire.size("mpa_start")
  return { outcome = "its " .. kind .. " breaks off", id = "MPA-7.1.1-26", expected = "PD_Length " .. came .. ", by what came",
           actual = "PD_Length " .. said }
end

-- A function whose errors are what came; nil and the reason.
local function attempt(f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local err = results[2]
  if type(err) ~= "table" then error(err, 0) end
  return nil, err.message or "no reason given"
end

--------------------------------------------------------------------------------------------------------------------
-- The first FPDU

-- All octets that come until the device is silent for a moment.
local function all_octets(c)
  local octets, state = c:peek(1)
  while state == "open" and #octets > 0 and #octets < 4096 do
    local more
    more, state = c:peek(#octets + 1, math.max(0.05, 8 * c.t.round_trip))
    if #more == #octets then break end
    octets = more
  end
  return octets
end

local function pad_of(length) return -(2 + length) % 4 end

local function crc_octets(octets) return string.pack("<I4", wire.crc32c(octets)) end

-- Octets of the header of a Read Response: DDP's, RDMAP's control octet in it.
local READ_RESPONSE = 14

-- Is it one FPDU from end to end, by this framing?
local function whole(octets, markers)
  local used, f = wire.parse_fpdu(octets, { markers = markers, crc = true, position = 0 })
  return used == #octets and f.markers_ok and f
end

-- The readings that fit octets which are no FPDU by the book, each with the requirement that it breaks. A reading fits
-- only if it explains every octet. f: `octets` without the Marker before them, `length` as they say it, `due` as it has
-- to be, `body` and `crc`: what a CRC at their end would cover, Marker included, and its octets.
local readings = {
  function(f) -- ULPDU_Length, where all the rest is as it should be
    if f.length == f.due or #f.octets ~= 2 + f.due + pad_of(f.due) + 4 then return end
    local reversed = string.unpack("<I2", f.octets) == f.due
    return "MPA-4.1-02", "ULPDU_Length " .. f.due,
           "ULPDU_Length " .. f.length .. (reversed and ": its octets are reversed" or ", in an FPDU of " .. #f.octets .. " octets")
  end,
  function(f)
    if #f.octets == 2 + f.length + pad_of(f.length) and f.crc ~= crc_octets(f.body) then
      return "MPA-4.4-13", "a CRC field after the pad", "the FPDU ends without a CRC field"
    end
  end,
  function(f)
    local pad = #f.octets - 2 - f.length - 4
    if pad >= 0 and pad <= 7 and pad ~= pad_of(f.length) and (f.crc == crc_octets(f.body) or pad < 4) then
      return "MPA-4.1-06", "a pad of " .. pad_of(f.length) .. " octets after a ULPDU of " .. f.length, "a pad of " .. pad
    end
  end,
  function(f)
    if #f.octets ~= 2 + f.length + pad_of(f.length) + 4 then return end
    if f.crc == crc_octets(f.body):reverse() then
      return "MPA-4.4-14", "the CRC's least significant octet first", "its most significant octet first"
    end
    local covers = function(from, to) return f.crc == crc_octets(f.body:sub(from, to)) end
    local pad = pad_of(f.length)
    if pad > 0 and f.octets:sub(-4 - pad, -1 - pad) == crc_octets(f.body:sub(1, -1 - pad)) then
      return "MPA-4.1-01", "the pad, then the CRC", "the CRC, then the pad"
    end
    if covers(1, -1 - pad) then return "MPA-4.4-15", "a CRC over the pad too", "a CRC without the pad" end
    if covers(#f.body - #f.octets + 4 + 3, -1) then
      return "MPA-4.4-15", "a CRC from ULPDU_Length on", "a CRC from the ULPDU on"
    end
    if f.crc == "\0\0\0\0" then return "MPA-7.1.1-13", "a CRC, as C = 1 in a start-up frame", "the CRC field is zero" end
    return "MPA-4.4-14", "CRC " .. hex(crc_octets(f.body)), "CRC " .. hex(f.crc)
  end,
}

-- What is wrong with the octets of one FPDU that should have a ULPDU of `due` octets; nil where nothing is. `markers`:
-- the device is to send Markers.
local function judge_fpdu(octets, markers, crc, due)
  local f = whole(octets, markers)
  if f and (f.crc_ok or not crc) and f.length == due then return nil end
  local other = whole(octets, not markers)
  if other and other.crc_ok then
    if markers then return "MPA-7.1.1-07", "a Marker before the first FPDU, as M = 1 in the Request", "no Markers" end
    return "MPA-7.1.1-09", "no Markers, as M = 0 in the Request", "a Marker before the first FPDU"
  end
  local first = markers and octets:sub(1, 4) == "\0\0\0\0" and octets:sub(5) or octets
  if #first >= 16 and #octets < 512 then
    local fpdu = { octets = first, length = string.unpack(">I2", first), due = due,
                   body = octets:sub(1, -5), crc = octets:sub(-4) }
    for _, reading in ipairs(readings) do
      local id, expected, actual = reading(fpdu)
      if id then return id, expected, actual end
    end
  end
  return "MPA-4.1-01", "one FPDU", #octets .. " octets that are none: " .. hex(octets:sub(1, 32))
end

-- On a connection in full operation: asks for an FPDU and looks at its octets. `read`: octets of the device's memory to
-- read, so that there is a pad.
local function first_fpdu(c, read)
  local t, markers, crc = c.t, c.receive_framing.markers, c.receive_framing.crc
  if read then
    c:send(t:memory({ octets = 64, data = "probe", access = { "read" } }):read(0, read, { SinkSTag = PROBE_STAG }))
  else
    c:send(empty_read(PROBE_STAG))
  end
  local octets = all_octets(c)
  local out = { octets = #octets, markers_due = markers, crc_due = crc, read = read or 0 }
  if #octets == 0 then return out end
  local f = whole(octets, markers)
  local segment = f and read_segment(f.ulpdu)
  -- Another message than the answer: it has the length that it says.
  local due = segment and segment.Opcode ~= 2 and f.length or READ_RESPONSE + (read or 0)
  out.id, out.expected, out.actual = judge_fpdu(octets, markers, crc, due)
  if out.id then return out end
  out.length, out.crc_ok, out.crc, out.pad_zero, out.markers = f.length, f.crc_ok, f.crc, f.pad_zero, f.markers
  out.pad = pad_of(f.length)
  out.what = segment and segment.name or "octets that are no DDP Segment"
  return out
end

--------------------------------------------------------------------------------------------------------------------
-- The device as responder

-- The port of a listener that is as the question asks; nil: the device's own.
local function port_of(t, question)
  if not question.dut or not rig.has_upper_tester() then return nil end
  local answer = t:command("listen", question.dut)
  return answer.ok and answer.port or nil
end

local function start(question)
  local t = harness.test("responder", "probe")
  local c = t:connect { port = port_of(t, question) }
  local request = mpa.request(question.request)
  c:send(request)
  local got = c:receive()
  if got.kind ~= "reply" then
    local cut = got.kind == "timeout" and cut_short(c, "reply")
    if cut then return cut end
    return { outcome = words[got.kind] or describe(got), silent = got.kind == "timeout" }
  end
  local out = { reply = frame_fields(got), outcome = got.R == 1 and "rejected" or "accepted" }
  if got.R == 0 then
    c:agree(request, got)
    out.connection = c
  end
  return out
end

-- The FPDU of a Read that has a pad, where memory can be asked for; else that of an empty Read.
local function ask_fpdu(question, c)
  if rig.has_upper_tester() then
    local fpdu = attempt(first_fpdu, c, 5)
    if fpdu and fpdu.octets > 0 then return fpdu end
    local again = attempt(start, question)
    c = again and again.connection
  end
  return c and attempt(first_fpdu, c)
end

-- Which start-ups carry an FPDU too: the framing differs.
local carries = { rev1 = true, markers = true, ["no crc"] = true }

-- One question: what came of it.
local function ask(question)
  local out, why = attempt(start, question)
  if not out then return { outcome = why } end
  local c = out.connection
  out.connection = nil
  if c and carries[question.key] then
    out.fpdu = ask_fpdu(question, c) or nil
  end
  if c then c.tcp:close() end
  return out
end

local function probe_responder()
  local answers, silent = {}, 0
  for i, question in ipairs(startups) do
    local out
    if silent >= 2 then
      out = { outcome = "not asked, as there was no answer before" }
    else
      out = ask(question)
      silent = out.silent and silent + 1 or 0
    end
    out.key, out.name = question.key, question.name
    answers[i] = out
  end
  return answers
end

--------------------------------------------------------------------------------------------------------------------
-- The device as initiator: its Request, which is not answered

local function probe_initiator()
  local out, why = attempt(function()
    local t = harness.test("initiator", "probe")
    local c = t:accept { dut = {} }
    local got = c:receive()
    local cut = got.kind == "timeout" and cut_short(c, "request")
    c.tcp:close()
    if got.kind == "request" then return { outcome = "sent", request = frame_fields(got) } end
    return cut or { outcome = words[got.kind] or describe(got) }
  end)
  out = out or { outcome = why }
  out.key, out.name = "request", "its Request"
  return { out }
end

function harness.probe(role)
  if role == "responder" then return { startups = probe_responder() } end
  return { startups = probe_initiator(), capabilities = attempt(function()
    return harness.test("initiator", "probe").dut:capabilities()
  end) }
end
