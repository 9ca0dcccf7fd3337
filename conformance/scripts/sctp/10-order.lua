-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6.1 and 10: chunks are unordered; DDP-SSN gives the order, and TSN nothing.

defaults { llp = "sctp" }

check {
  id = "SCTP5043-10-01",
  role = "both",
  purpose = "every DATA chunk of the device is unordered and whole",
  run = function(t)
    local a = t:associate()
    local sid = 0
    local function look(got, what)
      if not got then t:inconclusive("the device did not send " .. what) end
      if got.flags & 0x07 ~= sctp.UNORDERED then
        t:fail(what .. " is unordered", "flags U, B and E", string.format("flags 0x%02x", got.flags))
      end
      return got
    end
    if t.role == "responder" then
      a:control(0, "Initiate")
      look(a:receive(0), "the Accept")
    else
      sid = look(a:receive(0), "the Initiate").sid
      a:control(sid, "Accept")
    end
    for _ = 1, 3 do
      a:segment(sid, empty_read(PROBE_STAG))
      look(a:receive(sid), "a Read Response")
    end
    a:control(sid, 9)
    look(a:receive(sid), "the Terminate")
  end,
}

-- Empty Reads with these DDP-SSNs (from the first of the session on) in these TSN places; their answers come in the order of MSNs.
local function permuted(t, a, places)
  local first = a.next_ssn[a.sid]
  local tsn = a.handle:status().next_tsn
  for i, place in ipairs(places) do
    a:segment(a.sid, empty_read(PROBE_STAG + place, { MSN = place }), { ssn = (first + place - 1) & 0xFFFF })
    if i == 1 and place ~= 1 then a:expect_nothing(a.sid, "a message does not overtake an earlier DDP-SSN", 0.5) end
  end
  a.next_ssn[a.sid] = (first + #places) & 0xFFFF
  for n = 1, #places do
    a:expect_segment(a.sid, rdmap.read_response { STag = PROBE_STAG + n },
                     "message " .. n .. " of " .. #places .. " is processed in the order of DDP-SSNs")
  end
  return tsn
end

check {
  id = "SCTP5043-10-03",
  also = { "SCTP5043-10-04" },
  role = "both",
  purpose = "messages are in the order of DDP-SSNs, whatever their TSNs and their SACKs",
  run = function(t)
    local a = t:sctp_open()
    permuted(t, a, { 3, 2, 1 })
  end,
}

check {
  id = "SCTP5043-10-05",
  purpose = "DDP-SSNs wrap from 65535 to 0 without loss of order",
  run = function(t)
    local a = t:sctp_open()
    local memory = rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" } -- of no octets: placed nowhere, no error
    while a.next_ssn[a.sid] < 65534 do
      for _ = 1, 60 do
        if a.next_ssn[a.sid] < 65534 then a:segment(a.sid, memory, { hold = true }) end
      end
      a.handle:flush()
      local deadline = rig.now() + t.reaction
      while a.handle:status().unacknowledged > 600 and rig.now() < deadline do rig.wait(0.001) end
    end
    a:expect_acknowledged("65,000 Writes")
    permuted(t, a, { 3, 1, 4, 2 })
  end,
}

check {
  id = "SCTP5043-10-11",
  role = "both",
  purpose = "a DDP-SSN that came before is not taken twice",
  run = function(t)
    local a = t:sctp_open()
    local ssn = a.next_ssn[a.sid]
    a:probe(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG, { MSN = 2 }), { ssn = ssn })
    local got = a:receive(a.sid, t.quiet)
    if got and got.kind == "segment" and got.segment.Opcode == 2 then
      t:fail("a duplicate of a DDP-SSN in a new TSN", "nothing, or the end of the session", describe(got.segment))
    end
  end,
}
