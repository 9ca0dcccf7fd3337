-- SPDX-License-Identifier: BSD-2-Clause
--
-- Ends of connections with iSER (RFC 7145) above them, one situation a capture. tests/e2e/why.sh holds the sentences to
-- 4-iser.txt, and every rule of conformance/requirements/iser.tsv is broken by one of them.
corpus { folder = "iser", format = "pcap", text = "# Ends with iSER\n" }

local NOP_OUT <const>, COMMAND <const>, LOGIN <const>, DATA_OUT <const>, SNACK <const> = 0x00, 0x01, 0x03, 0x05, 0x10
local NOP_IN <const>, RESPONSE <const>, LOGIN_RESPONSE <const>, DATA_IN <const>, R2T <const> = 0x20, 0x21, 0x23, 0x25, 0x31
local FINAL <const>, READ <const>, WRITE <const>, NONE <const> = 0x80, 0x40, 0x20, 0xFFFFFFFF
local RS <const>, WS <const> = 0xD1, 0xB1 -- Read STag and Write STag of most commands
local numbers = { command = 0, status = 0 }

local function send(octets, given)
  if given and given.invalidates then return rdmap.send_invalidate { InvalidateSTag = given.invalidates, data = octets } end
  return rdmap.send { data = octets }
end

-- An iSER header: given.wstag and given.rstag set WSV and RSV, given.more other fields.
local function header(given)
  local fields = { Opcode = 1, WSV = given.wstag and 1 or 0, RSV = given.rstag and 1 or 0, WriteSTag = given.wstag, ReadSTag = given.rstag,
                   WriteBaseOffset = given.wstag and 0x10000, ReadBaseOffset = given.rstag and 0x20000 }
  for k, v in pairs(given.more or {}) do fields[k] = v end
  return wire.pack("iser_control", fields)
end

-- A PDU of the initiator. given: task, data, length (Expected Data Transfer Length), flags, immediate, claims (its data segment).
local function request(opcode, given)
  given = given or {}
  numbers.command = numbers.command + (given.immediate and 0 or 1)
  local data = given.data or ""
  local bhs = wire.pack("iscsi_request", { Opcode = opcode, Immediate = given.immediate and 1 or 0, Flags = given.flags or FINAL,
    DataSegmentLength = given.claims or #data, InitiatorTaskTag = given.task or 1, ExpectedLength = given.length or 0,
    CmdSN = numbers.command, ExpStatSN = numbers.status + 1 })
  return send(header(given) .. bhs .. data, given)
end

-- A PDU of the target.
local function answer(opcode, given)
  given = given or {}
  numbers.status = numbers.status + (given.silent and 0 or 1)
  local data = given.data or ""
  local bhs = wire.pack("iscsi_response", { Opcode = opcode, Flags = given.flags or FINAL, DataSegmentLength = #data,
    InitiatorTaskTag = given.task or 1, Tag = given.tag or NONE, StatSN = numbers.status + (given.silent and 1 or 0),
    ExpCmdSN = given.expected or numbers.command + 1, MaxCmdSN = numbers.command + 32 })
  return send(header(given) .. bhs .. data, given)
end

local function reads(task, octets, given)
  given = given or {}
  return request(COMMAND, { task = task, flags = FINAL | READ, length = octets, rstag = not given.bare and (given.stag or RS) or nil, more = given.more })
end
local function writes(task, octets, given)
  given = given or {}
  return request(COMMAND, { task = task, flags = FINAL | WRITE, length = octets, wstag = not given.bare and (given.stag or WS) or nil, data = given.data })
end
local function response(task, stag) return answer(RESPONSE, { task = task, invalidates = stag }) end

local function hello(given)
  local fields = { Opcode = 2, MaxVer = 10, MinVer = 10, IRD = 2 }
  for k, v in pairs(given or {}) do fields[k] = v end
  return wire.pack("iser_hello", fields)
end
local function hello_reply(given)
  local fields = { Opcode = 3, MaxVer = 10, CurVer = 10, ORD = 2 }
  for k, v in pairs(given or {}) do fields[k] = v end
  return wire.pack("iser_hello_reply", fields)
end

local function write(stag, octets, to) return rdmap.write { STag = stag, TO = to or 0x20000, data = counting(octets) } end
local function read(stag, octets, to)
  return rdmap.read_request { SinkSTag = 0x51, SinkTO = 0x2000, RDMARDSZ = octets, SrcSTag = stag, SrcTO = to or 0x10000 }
end
local function fetched(octets) return rdmap.read_response { STag = 0x51, TO = 0x2000, data = counting(octets) } end

-- The ULPDU of a side's n-th FPDU, as it lies in the stream behind its start-up frame. No Markers.
local function sent(side, n)
  local at = side.marks[n + 1] + 2
  return side.stream:sub(at, at + string.unpack(">I2", side.stream:sub(at - 2, at)))
end

-- What Linux does: the login in Sends. `of`: keys of the initiator and of the target.
local function login(t, of)
  local function text(list) return list and table.concat(list, "\0") .. "\0" or "RDMAExtensions=Yes\0" end
  t.i:send(request(LOGIN, { immediate = true, flags = 0x87, task = 0x70, data = text(of and of.i) }))
  t.r:send(answer(LOGIN_RESPONSE, { flags = 0x87, task = 0x70, data = text(of and of.r) }))
end

-- A Hello exchange, unless the situation begins otherwise; the situation; a reset by the side that it happens to.
local function each(name, about, run, given)
  given = given or {}
  capture { name = name, about = about, run = function()
    local t = talk {}
    numbers.command, numbers.status = 0, 0
    t:open({ C = 0 }, { C = 0 })
    if given.login then
      login(t, given.login)
    elseif not given.alone then
      t.i:send(send(hello()))
      t.r:send(send(hello_reply()))
    end
    run(t)
    t:finish()
  end }
end

local function by_responder(run) return function(t) run(t) t.r:reset() end end
local function by_initiator(run) return function(t) run(t) t.i:reset() end end

-- ---- lawful -------------------------------------------------------------------------------------------------------

each("healthy", "reads, writes, both at once and pings as they should be, then a reset", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 400), write(RS, 200, 0x20000 + 400))
  t.r:send(response(1, RS))
  t.i:send(writes(2, 700, { data = counting(100) }))
  t.r:send(read(WS, 600, 0x10000 + 100))
  t.i:send(fetched(600))
  t.r:send(response(2, WS))
  t.i:send(request(COMMAND, { task = 3, flags = FINAL }))
  t.i:send(request(NOP_OUT, { task = 4, length = NONE }))
  t.r:send(response(3))
  t.r:send(answer(NOP_IN, { task = 4 }))
  t.i:send(writes(5, 100, { stag = WS + 1 }), reads(6, 100, { stag = RS + 1 }))
  t.r:send(read(WS + 1, 100))
  t.i:send(fetched(100))
  t.r:send(write(RS + 1, 100))
  t.r:send(response(6, RS + 1))
  t.r:send(response(5))
end))

each("no-hello", "without Hello, as iSERHelloRequired=No has it", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 600))
  t.r:send(response(1))
end), { alone = true })

each("versions-drawn", "Hello with the versions that Appendix B draws", by_initiator(function(t)
  t.i:send(send(hello { MaxVer = 1, MinVer = 1 }))
  t.r:send(send(hello_reply { MaxVer = 1, CurVer = 1 }))
end), { alone = true })

each("login-in-sends", "the login in Sends, as Linux does it", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 600))
  t.r:send(response(1, RS))
end), { login = {} })

-- ---- the Hello exchange -------------------------------------------------------------------------------------------

each("hello-unanswered", "the target answers the Hello by a NOP-In", by_initiator(function(t)
  t.i:send(send(hello()))
  t.r:send(answer(NOP_IN, { task = NONE, silent = true }))
end), { alone = true })

each("hello-late", "a Hello after a command", by_responder(function(t)
  t.i:send(reads(1, 600))
  t.i:send(send(hello()))
end), { alone = true })

each("depth", "a HelloReply with more than the Hello declares", by_initiator(function(t)
  t.i:send(send(hello { IRD = 2 }))
  t.r:send(send(hello_reply { ORD = 3 }))
end), { alone = true })

each("reads-open", "three Reads with an iSER-ORD of two, and the Terminate about it", function(t)
  t.i:send(writes(1, 900))
  t.r:send(read(WS, 300), read(WS, 300, 0x10000 + 300), read(WS, 300, 0x10000 + 600))
  t.i:send(terminate_for("DDP_NO_BUFFER", sent(t.r, 4)))
  t.i:reset()
end)

each("hello-with-more", "a Hello with octets after it", by_responder(function(t)
  t.i:send(send(hello() .. "more"))
end), { login = {} })

each("reply-with-more", "a HelloReply with octets after it", by_initiator(function(t)
  t.i:send(send(hello()))
  t.r:send(send(hello_reply() .. "more"))
end), { alone = true })

each("reply-version", "a HelloReply of version 9", by_initiator(function(t)
  t.i:send(send(hello()))
  t.r:send(send(hello_reply { CurVer = 9 }))
end), { alone = true })

each("hello-version", "a Hello of versions 9 to 10", by_responder(function(t)
  t.i:send(send(hello { MinVer = 9 }))
end), { login = {} })

each("hello-reserved", "a Hello with a reserved bit", by_responder(function(t)
  t.i:send(send(hello { Reserved = 1 }))
end), { login = {} })

each("reply-reserved", "a HelloReply with a reserved bit", by_initiator(function(t)
  t.i:send(send(hello()))
  t.r:send(send(hello_reply { Reserved = 1 }))
end), { alone = true })

-- ---- headers and PDUs ---------------------------------------------------------------------------------------------

each("no-header", "an empty message", by_responder(function(t)
  t.i:send(send("ping"))
end))

each("opcode", "a header with an opcode that is not assigned", by_responder(function(t)
  t.i:send(request(NOP_OUT, { more = { Opcode = 4 } }))
end))

each("write-unused", "a Write STag that is not valid", by_responder(function(t)
  t.i:send(reads(1, 600, { more = { WriteSTag = WS } }))
end))

each("read-unused", "a Read STag in a response", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 600))
  t.r:send(answer(RESPONSE, { more = { ReadSTag = RS } }))
end))

each("reserved", "a reserved bit of the header", by_responder(function(t)
  t.i:send(reads(1, 600, { more = { Reserved = 1 } }))
end))

each("cut", "a data segment that is longer than the message", by_responder(function(t)
  t.i:send(request(NOP_OUT, { length = NONE, claims = 100 }))
end))

each("login-again", "a Login Request in the Full Feature Phase", by_responder(function(t)
  t.i:send(request(LOGIN, { immediate = true, flags = 0x87, data = "MaxBurstLength=1\0" }))
end))

each("snack", "a SNACK Request", by_responder(function(t)
  t.i:send(request(SNACK))
end))

each("data-in", "SCSI Data-In in a Send", by_initiator(function(t)
  t.i:send(reads(1, 100))
  t.r:send(answer(DATA_IN, { data = counting(100) }))
end))

each("r2t", "R2T in a Send", by_initiator(function(t)
  t.i:send(writes(1, 100))
  t.r:send(answer(R2T))
end))

each("data-to-target", "immediate data beyond TargetRecvDataSegmentLength", by_responder(function(t)
  t.i:send(writes(1, 600, { data = counting(600), bare = true }))
end), { login = { i = { "TargetRecvDataSegmentLength=1024" }, r = { "TargetRecvDataSegmentLength=0x200" } } })

each("data-to-initiator", "sense data beyond InitiatorRecvDataSegmentLength", by_initiator(function(t)
  t.i:send(request(NOP_OUT, { task = 1, length = NONE }))
  t.r:send(answer(NOP_IN, { task = 1, data = counting(600) }))
end), { login = { i = { "InitiatorRecvDataSegmentLength=512" }, r = { "InitiatorRecvDataSegmentLength=512" } } })

each("unexpected-of-initiator", "a third immediate PDU where two are admitted", by_responder(function(t)
  for task = 1, 3 do t.i:send(request(NOP_OUT, { immediate = true, task = task, length = NONE })) end
end), { login = { r = { "MaxOutstandingUnexpectedPDUs=2" } } })

each("unexpected-of-target", "a third ping of the target where two are admitted", by_initiator(function(t)
  t.i:send(reads(1, 100))
  for _ = 1, 3 do t.r:send(answer(NOP_IN, { task = NONE, silent = true })) end
end), { login = { i = { "MaxOutstandingUnexpectedPDUs=2" } } })

-- ---- buffers ------------------------------------------------------------------------------------------------------

each("read-without", "a SCSI Read without a Read STag", by_responder(function(t)
  t.i:send(reads(1, 600, { bare = true }))
end))

each("write-without", "a SCSI Write without a Write STag", by_responder(function(t)
  t.i:send(writes(1, 600, { bare = true, data = counting(100) }))
end))

each("initiator-writes", "the initiator writes its data", by_responder(function(t)
  t.i:send(writes(1, 600))
  t.i:send(write(0x77, 100))
end))

each("initiator-reads", "the initiator reads its data", by_responder(function(t)
  t.i:send(reads(1, 600))
  t.i:send(read(0x77, 100))
end))

each("unadvertised", "a Write to memory that no command has named", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(0xBAD, 100))
end))

each("wrong-way", "a Read of what is advertised for writing", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(read(RS, 100, 0x20000))
end))

each("write-beyond", "a Write that ends beyond its buffer, and the Terminate about it", function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 500), write(RS, 101, 0x20000 + 500))
  t.i:send(terminate_for("DDP_BOUNDS", sent(t.r, 3)))
  t.i:reset()
end)

each("read-beyond", "a Read of a whole block where less is written", by_initiator(function(t)
  t.i:send(writes(1, 100))
  t.r:send(read(WS, 512))
end))

each("write-after-response", "a Write after the SCSI Response", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.r:send(write(RS, 600))
  t.r:send(response(1))
  t.r:send(write(RS, 600))
end))

each("invalidates-anothers", "a SCSI Response that invalidates another command's STag", by_initiator(function(t)
  t.i:send(reads(1, 600))
  t.i:send(reads(2, 600, { stag = RS + 1 }))
  t.r:send(response(1, RS + 1))
end))

each("invalidates-nothing-due", "a SCSI Response that invalidates where no STag was advertised", by_initiator(function(t)
  t.i:send(request(COMMAND, { task = 1, flags = FINAL }))
  t.r:send(response(1, RS))
end))
