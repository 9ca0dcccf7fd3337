-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, sections 5, 6 and 7.2 to 7.4: DDP streams, their order, how they are aborted and begin
-- again.

defaults { llp = "sctp-draft02" }

local BULK <const> = 10 << 20

--------------------------------------------------------------------------------------------------------------------
-- Order (6)

-- Empty Reads in the order of TSNs that the numbers give, on an association of their own.
local function permuted(t, places, waits)
  local a = t:sctp_open()
  a:probe(a.sid)
  a:expect_sorted(a.sid, places, waits and 2)
end

check {
  id = "SCTP-6-07",
  role = "both",
  purpose = "a message is delivered after all with earlier DDP-SSNs",
  run = function(t) permuted(t, { 2, 1 }, true) end,
}

check {
  id = "SCTP-6-08",
  role = "both",
  purpose = "the order of TSNs is not the order of segments",
  run = function(t) permuted(t, { 2, 1 }) end,
}

check {
  id = "SCTP-6-09",
  role = "both",
  purpose = "a TSN that is acknowledged says nothing of earlier segments",
  run = function(t) permuted(t, { 3, 1, 2 }, true) end,
}

check {
  id = "SCTP-6-06",
  role = "both",
  purpose = "a Write that comes before an earlier segment is placed, sooner or later",
  requires = "upper_tester",
  run = function(t)
    local a = t:draft_posted()
    local memory = t:memory { octets = 16, data = string.rep("-", 16), access = { "write", "read" } }
    local ssn = a.next_ssn[a.sid]
    a:segment(a.sid, memory:write(0, "second"), { ssn = ssn + 1 })
    rig.wait(t.quiet)
    a:segment(a.sid, memory:write(8, "first"), { ssn = ssn })
    a.next_ssn[a.sid] = ssn + 2
    a:probe(a.sid)
    t:equal("the Write that came first, and the other", "second--first---", memory:octets_now(16))
  end,
}

check {
  id = "SCTP-6-01",
  role = "both",
  sandwich = "association",
  purpose = "short Sends in a row: each segment is one DATA chunk of its own",
  requires = "upper_tester",
  run = function(t)
    local a, stream = t:draft_posted()
    for n = 1, 5 do t.dut:send { stream = stream, data = string.format("%02x", n) } end
    for n = 1, 5 do
      a:expect_segment(a.sid, rdmap.send { MSN = n, MO = 0, L = 1, data = string.char(n) }, "Send " .. n .. " of 5, of one octet")
    end
  end,
}

-- Is the stream of the SID aborted? Then a good Read gets no answer.
local function is_aborted(t, a, sid)
  a:segment(sid, empty_read(PROBE_STAG))
  local got = a:receive(sid, t.quiet)
  return got == nil or got.kind ~= "segment" or got.segment.Opcode ~= 2
end

check {
  id = "SCTP-6-14",
  frees = true,
  role = "both",
  purpose = "an ordered chunk: taken like an unordered one, or the end of its stream",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG), { flags = 0x03 })
    local came = a:outcome(a.sid, "a segment in an ordered chunk")
    if came == "answered" then t:ambiguous("A: an ordered chunk is taken like an unordered one") end
    if came == "aborted" or is_aborted(t, a, a.sid) then t:ambiguous("B: it aborts the DDP stream") end
    t:fail("a segment in an ordered chunk", "the answer to it, or the end of the stream", "neither")
  end,
}

check {
  id = "SCTP-6-15",
  role = "both",
  purpose = "a repeated or far-off DDP-SSN in a new TSN is not processed",
  run = function(t)
    local a = t:sctp_open()
    local ssn = 1
    a:probe(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG, { MSN = 2 }), { ssn = ssn })
    if a:outcome(a.sid, "a DDP-SSN that came before") == "answered" then
      t:fail("a DDP-SSN that came before, in a new TSN", "nothing, or the end of the stream", "it is processed")
    end
    local b = t:sctp_open()
    b:probe(b.sid)
    b:segment(b.sid, empty_read(PROBE_STAG, { MSN = 2 }), { ssn = 30000 })
    local came = b:outcome(b.sid, "a far-off DDP-SSN")
    if came == "answered" then t:fail("DDP-SSN 30000 where 2 is due", "nothing, or the end of the stream", "it is processed") end
    b:segment(b.sid, empty_read(PROBE_STAG))
    if b:outcome(b.sid, "the DDP-SSN that is due") == "answered" then
      t:ambiguous("A: a repeated or far-off DDP-SSN is dropped or waits")
    end
    t:ambiguous("B: it aborts the DDP stream")
  end,
}

check {
  id = "SCTP-5-04",
  frees = true,
  role = "both",
  purpose = "a segment in two DATA chunks is put together, or aborts its stream",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    local octets = string.pack(">I2", a.next_ssn[a.sid]) .. a:octets(a.sid, empty_read(PROBE_STAG))
    a:chunk { sid = a.sid, ppid = sctp["draft segment"], flags = 0x06, data = octets:sub(1, 20) } -- U, B
    a:chunk { sid = a.sid, ppid = sctp["draft segment"], flags = 0x05, data = octets:sub(21) } -- U, E
    a.next_ssn[a.sid] = a.next_ssn[a.sid] + 1
    local came = a:outcome(a.sid, "a segment in two DATA chunks")
    if came == "answered" then t:ambiguous("A: a fragmented segment is put together") end
    if came == "aborted" or is_aborted(t, a, a.sid) then t:ambiguous("B: it aborts the DDP stream") end
    t:fail("a segment in two DATA chunks", "the answer to it, or the end of the stream", "neither")
  end,
}

check {
  id = "SCTP-7.3-03",
  role = "both",
  sandwich = "association",
  purpose = "chunks that share a packet are each handled",
  run = function(t)
    local a = t:sctp_open()
    -- of no octets: placed nowhere
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" }, { hold = true })
    a:segment(a.sid, empty_read(PROBE_STAG), { hold = true })
    local other = a:other() or a.sid
    a:segment(other, empty_read(PROBE_STAG + 1), { hold = true })
    a.handle:flush()
    a:expect_segment(a.sid, rdmap.read_response {}, "a Read after a Write in one packet is answered")
    if t.role == "initiator" then return end -- the device's ULP has no stream on the other SID
    a:expect_segment(other, rdmap.read_response {}, "a Read on another SID in the same packet is answered")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Aborted streams (7.2)

check {
  id = "SCTP-7.2-01",
  role = "both",
  purpose = "an error of DDP aborts the stream: what follows has no effect, and the association stays",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:abort_stream(a.sid)
    a:segment(a.sid, empty_read(PROBE_STAG))
    a:expect_nothing(a.sid, "after an error of DDP the stream is aborted")
    t:equal("the association after an error of DDP", "open", a.handle:status().cause)
  end,
}

-- What arrives on an aborted stream, and that none of it has an effect; `again`: nor after a Stream Reset.
local function has_no_effect(t, count, again)
  local a = t:draft_posted()
  local memory = t:memory { octets = 16, data = string.rep("-", 16), access = { "write", "read" } }
  a:abort_stream(a.sid)
  for n = 1, count do
    a:segment(a.sid, memory:write(0, "aborted"))
    a:segment(a.sid, rdmap.send { data = "late " .. n })
  end
  a:expect_acknowledged("segments on an aborted stream")
  a:expect_nothing(a.sid, "an aborted stream is silent", 2)
  if again then
    a:reset(a.sid)
    rig.wait(t.quiet)
  end
  if t:await_event("receive", { data = hex("late 1") }, 0.1) then
    t:fail("a Send on an aborted stream", "it is not delivered", "the ULP is given it")
  end
  t:equal("memory after a Write on an aborted stream", "-------", memory:octets_now(7))
end

check {
  id = "SCTP-7.2-02",
  also = { "SCTP-7.2-04", "SCTP-7.2-05" },
  role = "both",
  purpose = "on an aborted stream nothing is placed, and nothing delivered",
  requires = "upper_tester",
  run = function(t) has_no_effect(t, 1) end,
}

check {
  id = "SCTP-7.2-03",
  role = "both",
  purpose = "what arrived on an aborted stream has no effect after its Stream Reset either",
  requires = "upper_tester",
  run = function(t)
    has_no_effect(t, 10, true)
    -- The same of a segment that came before its turn, and before the error.
    local a = t:draft_posted()
    local ssn = a.next_ssn[a.sid] + 3
    a:segment(a.sid, rdmap.send { data = "held" }, { ssn = ssn })
    a:expect_acknowledged("a Send before its turn")
    a:abort_stream(a.sid)
    a:expect_reopened(a.sid)
    a:expect_forgotten(ssn, "a Read with the DDP-SSN of a segment that was held before the Reset",
                       "a Send that waited for its turn when the stream was aborted")
  end,
}

-- An aborted stream that a Reset opens again, and a good Read on it.
local function reopened(t, seconds)
  local a = t:sctp_open()
  a:probe(a.sid)
  a:abort_stream(a.sid)
  if seconds then
    rig.wait(seconds)
    local taken = copy_fields(a.next_msn) -- the device takes no segment, and counts none
    a:segment(a.sid, empty_read(PROBE_STAG))
    a.next_msn = taken
    a:expect_nothing(a.sid, seconds .. " s after its abort the stream is aborted")
  end
  return a, a:expect_reopened(a.sid)
end

check {
  id = "SCTP-7.2-07",
  purpose = "a stream is aborted until a Stream Reset comes, however long that takes",
  lasts = 60,
  run = function(t) reopened(t, 60) end,
}

check {
  id = "SCTP-7.2-08",
  purpose = "after a Stream Reset the inbound stream works normally again",
  run = function(t) reopened(t) end,
}

check {
  id = "SCTP-7.2-13",
  purpose = "whether a Stream Reset is answered by another",
  run = function(t)
    local _, got, answered = reopened(t)
    if answered then
      t:equal("DDP-SSN of the first segment after the device's own Reset", 1, got.message_ssn)
      t:ambiguous("B: it opens the inbound one, and is answered by another")
    end
    t:ambiguous("A: a Reset opens both directions")
  end,
}

check {
  id = "SCTP-7.2-11",
  purpose = "an error touches its own stream alone",
  run = function(t)
    local a, stream = t:associate { tester = { port = rig.has_upper_tester() and t:listen {} or nil } }, nil
    a.sid = 0
    local others = { a:another(), a:other(2) }
    for _, sid in ipairs { a.sid, table.unpack(others) } do a:probe(sid) end
    -- Where the ULP can be asked, one of the others is in the midst of a bulk transfer when the error comes.
    local event = rig.has_upper_tester() and t:await_event("accepted", { sid = others[1] })
    stream = event and event.stream
    if stream then t.dut:write { stream = stream, stag = 2, length = BULK } end
    a:abort_stream(a.sid)
    local octets = 0
    while stream and octets < BULK do
      local got, why = a:receive(others[1])
      if not (got and got.kind == "segment") then
        t:fail("a Write of 10 MiB while another stream is aborted", "all of it", octets .. " octets, then " .. a:words(got, why))
      end
      octets = octets + #got.segment.data
    end
    local last = {}
    local function follows(sid, what)
      local ssn = a:probe(sid, what).message_ssn
      if last[sid] then t:equal("DDP-SSN on SID " .. sid .. ": " .. what, (last[sid] + 1) & 0xFFFF, ssn) end
      last[sid] = ssn
    end
    for n = 1, 4 do
      for _, sid in ipairs(others) do follows(sid, "another stream of the association after an error") end
      local late = n < 3 and a:other(2 + n)
      if late then a:probe(late, "a stream that begins after the error of another one") end
      if n == 1 then a:expect_reopened(a.sid) end
    end
    t:equal("the association", "open", a.handle:status().cause)
  end,
}

check {
  id = "SCTP-7.2-12",
  purpose = "a late segment of the old stream after a Stream Reset does not stop the new one",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:abort_stream(a.sid)
    local got, why = a:reopen(a.sid, nil, function()
      a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" }, { ssn = 7 }) -- of no octets: harmless
    end)
    if not (got and got.kind == "segment" and got.segment.Opcode == 2) then
      t:fail("a Read after a late segment of the old stream", "its Response", a:words(got, why))
    end
    local before = a.first_msn - 3 -- DDP-SSN 2, the next one, is that of number 3
    local function read(n)
      a:segment(a.sid, a:numbered_read(n, before + n), { ssn = n - 1 })
    end
    for n = 3, 6 do read(n) end
    for n = 3, 6 do a:expect_segment(a.sid, rdmap.read_response { STag = PROBE_STAG + n }, "the segments before the late one's number") end
    read(7)
    a:expect_segment(a.sid, rdmap.read_response { STag = PROBE_STAG + 7 }, "the last segment before the late one's number")
    a:segment(a.sid, empty_read(PROBE_STAG + 8, { MSN = before + 8 }), { ssn = 7 })
    got = a:receive(a.sid, t.quiet)
    if got then t:ambiguous("A: late segments of the old stream are dropped or held") end
    t:ambiguous("B: they are placed as segments of the new one")
  end,
}

check {
  id = "SCTP-7.2-15",
  role = "both",
  purpose = "on an aborted stream the device sends nothing more, or one RDMAP Terminate",
  run = function(t)
    local a = t:sctp_open()
    a:probe(a.sid)
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "to nobody" })
    a:expect_acknowledged("a Write to an unknown STag")
    local got = a:receive(a.sid, t.quiet)
    if not got then t:ambiguous("A: nothing more is sent in aborted state") end
    if not (got.kind == "segment" and is_terminate(got.segment, { "DDP_INVALID_STAG", "RDMAP_INVALID_STAG" })) then
      t:fail("a Write to an unknown STag", "Terminate 1/1/00 or 0/1/00, or nothing", got.segment and describe(got.segment) or got.kind)
    end
    a:expect_nothing(a.sid, "after the Terminate nothing is sent on the aborted stream")
    t:ambiguous("B: one last message, the Terminate, is (RFC 5041 6.2.2)")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- STags (7.4)

-- Two streams of one association, and memory that only the first may reach.
local function two_streams(t, octets)
  local a, stream = t:draft_posted()
  local second = a:another()
  if t.role == "responder" then
    a:probe(second)
  else
    t.dut:connect { association = a.number, sid = second }
    a:probe(second)
  end
  local memory = t:memory { octets = octets or 16, data = string.rep("-", 16), access = { "write", "read" }, stream = stream }
  return a, second, memory
end

check {
  id = "SCTP-7.4-01",
  also = { "SCTP-7.4-03" },
  role = "both",
  purpose = "an STag that is enabled for one stream is not enabled for the others of its association",
  requires = "upper_tester",
  run = function(t)
    local a, second, memory = two_streams(t)
    a:segment(a.sid, memory:write(0, "mine"))
    a:probe(a.sid, "a Write on the STag's own stream")
    t:equal("memory after a Write on the STag's own stream", "mine", memory:octets_now(4))
    a:segment(second, memory:write(0, "else"))
    a:expect_acknowledged("a Write on another stream")
    local got = a:receive(second, t.quiet)
    if got and not (got.kind == "segment" and
                    is_terminate(got.segment, { "DDP_NOT_ASSOCIATED", "DDP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG" })) then
      t:fail("a Write on another stream of the association", "Terminate 1/1/02 or 1/1/00, or the silent end of that stream",
             got.segment and describe(got.segment) or got.kind)
    end
    t:equal("memory after a Write on another stream", "mine", memory:octets_now(4))
    a:probe(a.sid, "the STag's own stream goes on")
  end,
}
