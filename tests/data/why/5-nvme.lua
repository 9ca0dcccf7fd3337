-- SPDX-License-Identifier: BSD-2-Clause
--
-- Ends of connections with NVMe over RDMA above them, one situation a capture. tests/e2e/why.sh holds the sentences to
-- 5-nvme.txt, and every rule of conformance/requirements/nvmeof.tsv is broken by one of them.
corpus { folder = "nvme", format = "pcap", text = "# Ends with NVMe over RDMA\n" }

local CONNECT <const>, WRITE <const>, READ <const>, FLUSH <const> = 0x7f, 0x01, 0x02, 0x00
local KEYED <const>, INVALIDATED <const>, IN_CAPSULE <const>, LIST <const> = 0x40, 0x4f, 0x01, 0x31
local KEY <const>, QUEUE <const>, ENTRIES <const> = 0xD1, 3, 4
local sent_so_far = 0

local function send(octets, given)
  if given and given.invalidates then return rdmap.send_invalidate { InvalidateSTag = given.invalidates, data = octets } end
  return rdmap.send { data = octets }
end

-- given: length, key, type, address, flags, data (in the capsule).
local function command(opcode, cid, given)
  given = given or {}
  sent_so_far = sent_so_far + 1
  return send(wire.pack("nvme_command", { Opcode = opcode, Flags = given.flags or 0x40, CID = cid, NSID = given.nsid or 1,
    Address = given.address or (given.length and 0x10000), Length = given.length, Key = given.length and (given.key or KEY),
    Type = given.type or KEYED, CDW10 = given.cdw10, CDW11 = given.cdw11 }) .. (given.data or ""))
end
-- SQHD says that the controller has taken all that was sent, unless given.head says otherwise.
local function response(cid, given)
  given = given or {}
  return send(wire.pack("nvme_response", { SQHD = given.head or sent_so_far % ENTRIES, CID = cid }), given)
end
local function connect() -- RECFMT and QID, SQSIZE and CATTR
  return command(CONNECT, 0, { nsid = 1, length = 1024, key = 0, address = 0, type = IN_CAPSULE, cdw10 = QUEUE << 16, cdw11 = ENTRIES - 1,
                               data = ("\0"):rep(1024) })
end

local function private() return string.pack("<I2I2I2I2", 0, QUEUE, ENTRIES, ENTRIES - 1) .. ("\0"):rep(24) end
local function accepted() return string.pack("<I2I2", 0, ENTRIES) .. ("\0"):rep(28) end

local function write(key, octets, to) return rdmap.write { STag = key, TO = to or 0x10000, data = counting(octets) } end
local function read(key, octets, to)
  return rdmap.read_request { SinkSTag = 0x51, SinkTO = 0x2000, RDMARDSZ = octets, SrcSTag = key, SrcTO = to or 0x10000 }
end
local function fetched(octets) return rdmap.read_response { STag = 0x51, TO = 0x2000, data = counting(octets) } end

-- The ULPDU of a side's n-th FPDU, as it lies in the stream behind its start-up frame. No Markers.
local function sent(side, n)
  local at = side.marks[n + 1] + 2
  return side.stream:sub(at, at + string.unpack(">I2", side.stream:sub(at - 2, at)))
end

-- Connect and its response; the situation; a reset by the side that it happens to.
local function each(name, about, run)
  capture { name = name, about = about, run = function()
    local t = talk {}
    sent_so_far = 0
    t:open({ C = 0, private_data = private() }, { C = 0, private_data = accepted() })
    t.i:send(connect())
    t.r:send(response(0))
    run(t)
    t:finish()
  end }
end

local function by_responder(run) return function(t) run(t) t.r:reset() end end
local function by_initiator(run) return function(t) run(t) t.i:reset() end end

-- ---- lawful -------------------------------------------------------------------------------------------------------

each("healthy", "reads, writes, data in the capsule and a flush as they should be, then a reset", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700, type = INVALIDATED }))
  t.r:send(write(KEY, 500), write(KEY, 200, 0x10000 + 500))
  t.r:send(response(1, { invalidates = KEY }))
  t.i:send(command(WRITE, 2, { length = 600 }))
  t.r:send(read(KEY, 600))
  t.i:send(fetched(600))
  t.r:send(response(2))
  t.i:send(command(WRITE, 3, { length = 100, type = IN_CAPSULE, key = 0, address = 0, data = counting(100) }), command(FLUSH, 4))
  t.r:send(response(4), response(3))
end))

each("list", "a list of two descriptors in the capsule", by_initiator(function(t)
  local function descriptor(key, length) return string.pack("<I8I3I4B", 0x10000, length, key, KEYED) end
  t.i:send(command(READ, 1, { length = 32, type = LIST, key = 0, address = 0, data = descriptor(KEY, 100) .. descriptor(KEY + 1, 50) }))
  t.r:send(write(KEY, 100), write(KEY + 1, 50))
  t.r:send(response(1))
end))

each("invalidates-not", "a response that does not invalidate what it may", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700, type = INVALIDATED }))
  t.r:send(write(KEY, 700), response(1))
end))

-- ---- capsules -----------------------------------------------------------------------------------------------------

each("short-command", "a command of 60 octets", by_responder(function(t)
  t.i:send(send(("\0"):rep(60)))
end))

each("long-response", "a response with octets after it", by_initiator(function(t)
  t.i:send(command(FLUSH, 1))
  t.r:send(send(wire.pack("nvme_response", { SQHD = 2, CID = 1 }) .. ("\0"):rep(48)))
end))

each("prp", "a command with PRPs", by_responder(function(t)
  t.i:send(command(READ, 1, { flags = 0, length = 700 }))
end))

each("address", "a descriptor with an address of the host", by_responder(function(t)
  t.i:send(command(READ, 1, { type = 0, length = 700 }))
end))

-- ---- the queue ----------------------------------------------------------------------------------------------------

each("queue-full", "a fifth command in a queue of four entries, and the Terminate about it", function(t)
  t.i:send(command(FLUSH, 1), command(FLUSH, 2), command(FLUSH, 3), command(FLUSH, 4), command(FLUSH, 5))
  t.r:send(terminate_for("DDP_NO_BUFFER", sent(t.i, 6)))
end)

each("head-behind", "a response whose SQHD frees only its own entry", by_responder(function(t)
  t.i:send(command(FLUSH, 1), command(FLUSH, 2), command(FLUSH, 3))
  t.r:send(response(3, { head = 2 }))
  t.i:send(command(FLUSH, 4), command(FLUSH, 5), command(FLUSH, 6))
end))

each("last-entry", "a fourth command in a queue of four entries, of which one stays free", by_responder(function(t)
  t.i:send(command(FLUSH, 1), command(FLUSH, 2), command(FLUSH, 3), command(FLUSH, 4))
end))

each("response-twice", "a command is ended twice", by_initiator(function(t)
  t.i:send(command(FLUSH, 1))
  t.r:send(response(1), response(1))
end))

-- ---- buffers ------------------------------------------------------------------------------------------------------

each("invalidates-unasked", "a response that invalidates a key for which nothing asks that", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700 }))
  t.r:send(write(KEY, 700), response(1, { invalidates = KEY }))
end))

each("invalidates-anothers", "a response that invalidates another command's key", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700, type = INVALIDATED }), command(READ, 2, { length = 700, key = KEY + 1, type = INVALIDATED }))
  t.r:send(response(1, { invalidates = KEY + 1 }))
end))

each("host-writes", "the host writes its data", by_responder(function(t)
  t.i:send(command(WRITE, 1, { length = 600 }))
  t.i:send(write(0x77, 600))
end))

each("unadvertised", "a Write to memory that no command has named", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700 }))
  t.r:send(write(0xBAD, 100))
end))

each("wrong-way", "a Write to what a command gives for reading", by_initiator(function(t)
  t.i:send(command(WRITE, 1, { length = 600 }))
  t.r:send(write(KEY, 100))
end))

each("beyond", "a Write of a whole block where less is asked for, and the Terminate about it", function(t)
  t.i:send(command(READ, 1, { length = 700 }))
  t.r:send(write(KEY, 701))
  t.i:send(terminate_for("DDP_BOUNDS", sent(t.r, 2)))
  t.i:reset()
end)

each("late", "a Write after the response", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700 }))
  t.r:send(write(KEY, 700), response(1), write(KEY, 700))
end))

each("late-key", "a Write after its key was invalidated", by_initiator(function(t)
  t.i:send(command(READ, 1, { length = 700, type = INVALIDATED }))
  t.r:send(write(KEY, 700), response(1, { invalidates = KEY }), write(KEY, 100))
end))
