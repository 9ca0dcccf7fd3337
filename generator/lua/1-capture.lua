-- SPDX-License-Identifier: BSD-2-Clause
--
-- Captures: what they are called, when their packets are, and packets as they stand (docs/writing-captures.md). The
-- constructors of frames are those of the checks (conformance/scripts/lib/1-frames.lua).

-- Complains of members that `known` (a list of names) does not have.
function only(given, what, known)
  local names = {}
  for _, name in ipairs(known) do names[name] = true end
  for name in pairs(given) do
    if not names[name] then
      error(what .. " has no member called '" .. tostring(name) .. "' (it has: " .. table.concat(known, ", ") .. ")", 3)
    end
  end
end

--------------------------------------------------------------------------------------------------------------------
-- Captures

local START <const> = 946684800 -- 2000-01-01, as in simulation
local STEP <const> = 0.00005
local RAW_LINKS <const> = { raw = true, RAW = true, [12] = true, [14] = true, [101] = true }
local members = { "name", "about", "link", "snap", "start", "step", "comment", "findings", "run" }

local corpus_start, corpus_step -- of the captures below corpus { }
local raw_link = false -- packets are written without their Ethernet header

local function settings(t)
  gen.settings(t.link, t.snap, t.start and gen.nanoseconds(t.start), t.step and gen.nanoseconds(t.step), t.comment)
  if t.link ~= nil then raw_link = RAW_LINKS[t.link] or false end
end

-- Called by the program before each script and each capture.
function gen.begin()
  math.randomseed(gen.seed)
  raw_link = false
  corpus_start, corpus_step = nil, nil
  settings { start = START, step = STEP }
end

-- With `run`: a capture that is made when it is asked for. Without: settings of the one that this script writes at
-- once.
function capture(t)
  if type(t) ~= "table" then error("capture { ... } was expected", 2) end
  only(t, "capture", members)
  if t.run == nil then
    settings(t)
    return
  end
  if type(t.run) ~= "function" then error("capture: run is not a function", 2) end
  for name, kind in pairs { about = "string", findings = "table", comment = "string" } do
    if t[name] ~= nil and type(t[name]) ~= kind then error("capture: " .. name .. " is not a " .. kind, 2) end
  end
  t.start, t.step = t.start or corpus_start, t.step or corpus_step
  gen.register(t)
end

-- Called by the program to make one.
function gen.make(t)
  settings(t)
  t.run()
  for _, found in ipairs(t.findings or {}) do gen.finding(found[1], found[2], found[3]) end
end

-- What `warpcheck audit` is expected to find in the capture in the making: requirement, FAIL, WARN or AMBIGUOUS, frame.
function finding(id, verdict, frame)
  gen.finding(id, verdict, frame or gen.frames())
end

-- The folder of `gen --corpus` that the captures below belong to.
function corpus(t)
  only(t, "corpus", { "folder", "format", "text", "start", "step" })
  gen.corpus(t)
  corpus_start, corpus_step = t.start, t.step
end

--------------------------------------------------------------------------------------------------------------------
-- Packets

-- Time passes before the next packet.
function wait(seconds)
  local _, now = gen.clock()
  gen.clock(now + gen.nanoseconds(seconds))
end

-- A packet as it stands: octets from the link layer on. given: comment, time (seconds since the capture's start),
-- inbound (from the responder). Returns its number.
function packet(octets, given)
  given = given or {}
  only(given, "packet", { "comment", "time", "inbound" })
  local start = gen.clock()
  return gen.write(octets, given.time and start + gen.nanoseconds(given.time) or gen.tick(), given.comment, given.inbound)
end

-- An Ethernet frame with VLAN tags: numbers (the identifier) or { id =, priority =, type = } from the outermost on.
function with_vlan(frame, tags)
  if type(tags) ~= "table" or tags.id then tags = { tags } end
  local out = {}
  for i, tag in ipairs(tags) do
    if type(tag) == "number" then tag = { id = tag } end
    only(tag, "vlan", { "id", "priority", "type" })
    out[i] = string.pack(">I2I2", tag.type or 0x8100, (tag.priority or 0) << 13 | tag.id & 0xFFF)
  end
  return frame:sub(1, 12) .. table.concat(out) .. frame:sub(13)
end

-- An Ethernet frame as the capture's link layer has it; for the flows below.
function gen.packet(frame, comment, time, inbound)
  return gen.write(raw_link and frame:sub(15) or frame, time or gen.tick(), comment, inbound)
end

-- `octets` with others at some place (from 0).
function patched(octets, at, others)
  if at < 0 or at + #others > #octets then
    error(string.format("octets %d to %d of %d", at, at + #others, #octets), 2)
  end
  return octets:sub(1, at) .. others .. octets:sub(at + #others + 1)
end

--------------------------------------------------------------------------------------------------------------------
-- Frames

-- The segments of one message: `data` in pieces of at most `size` octets, L with the last, MO or TO as they go on.
-- segments(rdmap.write, { STag = 1, TO = 0 }, data, 500)
function segments(constructor, fields, data, size)
  if math.type(size) ~= "integer" or size < 1 then error("segments: a size of 1 octet or more was expected", 2) end
  local out, at = {}, 0
  local place = constructor({}).defaults.tagged and "TO" or "MO"
  repeat
    local given = {}
    for name, value in pairs(fields) do given[name] = value end
    given.data = data:sub(at + 1, at + size)
    given[place] = (fields[place] or 0) + at
    at = at + #given.data
    if given.L == nil then given.L = at >= #data and 1 or 0 end
    out[#out + 1] = constructor(given)
  until at >= #data
  return table.unpack(out)
end

-- The Terminate for an error of the registries ("DDP_INVALID_STAG"), with what it quotes of the ULPDU in error: its
-- length and its DDP header (M, D), and of a Read Request the RDMAP header too (R). `given` overrides.
function terminate_for(name, ulpdu, given)
  local triple = wire.triple(name)
  local fields = { Layer = triple >> 12, EType = triple >> 8 & 0xF, Code = triple & 0xFF, data = "" }
  if ulpdu then
    if type(ulpdu) == "table" then ulpdu = ulpdu:octets() end
    local tagged = ulpdu:byte() & 0x80 ~= 0
    local header = wire.size(tagged and "ddp_tagged" or "ddp_untagged")
    local read = not tagged and wire.unpack("rdmap_control", ulpdu, 2).Opcode == 1
    fields.M, fields.D, fields.R = 1, 1, read and 1 or 0
    fields.data = string.pack(">I2", #ulpdu) .. ulpdu:sub(1, header + (read and wire.size("read_request") or 0))
  end
  for field, value in pairs(given or {}) do fields[field] = value end
  return rdmap.terminate(fields)
end
