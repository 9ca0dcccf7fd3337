-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 4 and 5.2: what the device's own chunks look like, and in which order they are numbered.

defaults { llp = "sctp" }

-- A Function Code that neither text has, nor RFC 6581.
local NO_CODE <const> = 9

-- A session with a ULP that sends on request, and its stream.
local function posted(t, dut)
  local port = t.role == "responder" and t:listen(dut or {}) or nil
  local a = t:sctp_open { tester = { port = port }, dut = dut }
  a:probe(a.sid)
  if a.stream then return a, a.stream end
  local event = t:await_event("accepted", { port = port, sid = a.sid })
  if not event then t:inconclusive("the upper tester does not tell of the session") end
  return a, event.stream
end

check {
  id = "SCTP5043-4-02",
  role = "both",
  purpose = "short Sends in a row: each segment is one unordered DATA chunk of its own",
  requires = "upper_tester",
  run = function(t)
    local a, stream = posted(t)
    for n = 1, 5 do t.dut:send { stream = stream, data = string.format("%02x", n) } end
    for n = 1, 5 do
      local got = a:expect_segment(a.sid, rdmap.send { MSN = n, MO = 0, L = 1, data = string.char(n) }, "Send " .. n .. " of 5, of one octet")
      t:equal("flags U, B and E of Send " .. n, sctp.UNORDERED, got.flags & sctp.UNORDERED)
    end
  end,
}

check {
  id = "SCTP5043-4-03",
  role = "both",
  purpose = "sorted by DDP-SSN, segments are in the order in which the ULP posted them",
  requires = "upper_tester",
  run = function(t)
    local a, stream = posted(t)
    local wanted, came = {}, {}
    for n = 1, 6 do
      if n % 2 == 0 then
        t.dut:write { stream = stream, stag = 0x5000 + n, data = "aa" }
        wanted[n] = rdmap.write { STag = 0x5000 + n, data = "\xAA" }
      else
        t.dut:send { stream = stream, data = string.format("%02x", n) }
        wanted[n] = rdmap.send { data = string.char(n) }
      end
    end
    for n = 1, 6 do
      local got, why = a:receive(a.sid)
      if not (got and got.kind == "segment") then t:fail("segment " .. n .. " of 6", "a segment", got and got.kind or why) end
      came[n] = got
    end
    table.sort(came, function(x, y) return x.message_ssn < y.message_ssn end)
    for n, got in ipairs(came) do
      t:equal("DDP-SSN " .. n .. " of 6, after the answer to the good exchange", n + 1, got.message_ssn)
      if not fits(wanted[n], got.segment) then
        t:fail("the segment with DDP-SSN " .. got.message_ssn, describe(wanted[n]), describe(got.segment))
      end
    end
  end,
}

check {
  id = "SCTP5043-5.2.1-01",
  role = "both",
  sandwich = "association",
  purpose = "control messages and segments begin with the DDP-SSN, and share one sequence of numbers",
  run = function(t)
    local a = t:associate()
    local sid
    local function look(ssn, what)
      local got, why = a:receive(sid)
      if not got then t:fail(what, "a chunk with DDP-SSN " .. ssn, why) end
      t:equal("octets 0 and 1 of " .. what, string.format("%04x", ssn), hex(got.data:sub(1, 2)))
      return got
    end
    if t.role == "responder" then
      sid = 0
      a:control(sid, "Initiate")
      look(0, "the answer to an Initiate")
    else
      sid = look(0, "the Initiate").sid
      a:control(sid, "Accept")
    end
    for n = 1, 2 do
      a:segment(sid, empty_read(PROBE_STAG))
      look(n, "Read Response " .. n)
    end
    a:control(sid, NO_CODE) -- it ends the session
    local got, why = a:receive(sid)
    if got and got.kind == "segment" and got.segment.Opcode == 7 then -- an RDMAP Terminate may be the first word of it
      t:equal("octets 0 and 1 of the RDMAP Terminate", "0003", hex(got.data:sub(1, 2)))
      look(4, "the Terminate")
    elseif got then
      t:equal("octets 0 and 1 of the Terminate", "0003", hex(got.data:sub(1, 2)))
    else
      t:fail("the Terminate", "a chunk with DDP-SSN 3", why)
    end
  end,
}

check {
  id = "SCTP5043-5.2.3-01",
  role = "both",
  sandwich = "association",
  purpose = "a control message has the DDP-SSN and the Function Code in 16 bits each, then the Private Data",
  run = function(t)
    local data = distinct(20)
    local a, got, why
    if t.role == "initiator" then
      a = t:associate { dut = { private_data = hex(data) } }
    else
      local port = rig.has_upper_tester() and t:listen { private_data = hex(data) } or nil
      a = t:associate { tester = { port = port } }
      a:control(0, "Initiate")
      if not port then data = "" end
    end
    got, why = a:receive()
    if not got then t:fail("the device's first control message", "it comes", why) end
    local sid = got.sid
    local code = t.role == "initiator" and sctp.Initiate or sctp.Accept
    t:equal("PPID of a control message", sctp.control, got.ppid)
    t:equal("octets 2 and 3, the Function Code", string.format("%04x", code), hex(got.data:sub(3, 4)))
    if data ~= "" then t:equal("octets from 4 on, the Private Data", hex(data), hex(got.data:sub(5))) end
    if t.role == "initiator" then a:control(sid, "Accept") end
    a:control(sid, NO_CODE) -- it ends the session
    local last, before = a:expect_over(sid, "a Function Code that is none ends the session")
    t:equal("octets 0 to 3 of the Terminate, DDP-SSN and Function Code", string.format("%04x0004", 1 + before), hex(last.data:sub(1, 4)))
  end,
}

check {
  id = "SCTP5043-5.2.1-03",
  role = "both",
  purpose = "the DDP-SSN restarts with a second session on the SID, though an SSN of SCTP would not",
  requires = "upper_tester",
  run = function(t)
    local a, stream = posted(t, { enhanced = false })
    t.dut:disconnect { stream = stream }
    a:expect_control(a.sid, "Terminate", "the ULP ends the session")
    a:control(a.sid, "Terminate")
    a:expect_acknowledged("the Terminate")
    local sid = a.sid
    a.next_ssn[sid], a.next_msn = nil, {}
    if t.role == "responder" then
      a:control(sid, "Initiate")
    else
      a:ask { sid = sid, enhanced = false }
    end
    local got, why = a:receive(sid)
    if not got then t:inconclusive("no second session on the SID: " .. why) end
    if got.message_ssn == 0 then t:ambiguous("A: the DDP-SSN restarts at 0 with each session (6.1)") end
    t:equal("DDP-SSN of the first message of a second session", 0, got.message_ssn)
  end,
}
