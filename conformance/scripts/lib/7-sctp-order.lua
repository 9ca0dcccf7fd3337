-- SPDX-License-Identifier: BSD-2-Clause
--
-- Many segments over SCTP, and segments whose TSNs are in another order than their DDP-SSNs (RFC 5043 10, the draft's
-- section 6).

-- Writes of no octets, which are placed nowhere, bring the SID to this DDP-SSN. One table and one frame serve for all
-- of them: what a script may compute is limited.
function Association:advance(sid, ssn)
  local next_ssn = self.next_ssn[sid] or 1
  local frame = self:octets(sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" })
  local chunk = { sid = sid, ppid = self.t:is_draft() and sctp["draft segment"] or sctp.segment, hold = true }
  local handle, pack = self.handle, string.pack
  local packets = 0
  while next_ssn < ssn do
    for _ = 1, math.min(40, ssn - next_ssn) do
      chunk.data = pack(">I2", next_ssn) .. frame
      self:chunk(chunk)
      next_ssn = next_ssn + 1
    end
    handle:flush()
    -- All of 16 packets before the next: after one that is lost, the device holds what follows, and has to hold no more
    -- than that.
    packets = packets + 1
    if packets % 16 == 0 then self:expect_acknowledged("Writes up to DDP-SSN " .. next_ssn - 1) end
  end
  self.next_ssn[sid] = ssn
  self:expect_acknowledged("Writes up to DDP-SSN " .. ssn - 1)
end

-- FAIL unless the DDP stream of the SID that has begun anew knows nothing of a Send of "held" with this DDP-SSN, which
-- came before its turn in the one before: a Read with the DDP-SSN is answered (`read` says which), and the Send is not
-- delivered (`send`).
function Association:expect_forgotten(ssn, read, send)
  while self.next_ssn[self.sid] < ssn do
    self:segment(self.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" })
  end
  self:probe(self.sid, read)
  if self.t:await_event("receive", { data = hex("held") }, 0.1) then
    self.t:fail(send, "it is not delivered", "the ULP is given it")
  end
end

-- A Read that says its number in its sink's STag, which the device copies: of one octet where the check may have
-- memory, as a Read Response of none may have any STag.
function Association:numbered_read(place, msn)
  if not rig.has_upper_tester() then return empty_read(PROBE_STAG + place, { MSN = msn }) end
  self.source = self.source or self.t:memory { octets = 16, access = { "read" } }
  return self.source:read(0, 1, { SinkSTag = PROBE_STAG + place, MSN = msn })
end

-- Reads of hardly anything: the TSNs are in the order of the list, the DDP-SSNs of the list's numbers are 1, 2, ...
-- from the next one on. FAIL unless they are answered in the order of their DDP-SSNs, and (for `seconds`) none before
-- an earlier one has come.
function Association:expect_sorted(sid, places, seconds)
  local first = self.next_ssn[sid]
  local queue = sid << 16 | 1
  local msn = self.next_msn[queue] or 0
  for i, place in ipairs(places) do
    self:segment(sid, self:numbered_read(place, msn + place), { ssn = (first + place - 1) & 0xFFFF })
    if seconds and i == 1 then self:expect_nothing(sid, "a message does not overtake an earlier DDP-SSN", seconds) end
  end
  self.next_ssn[sid], self.next_msn[queue] = (first + #places) & 0xFFFF, msn + #places
  for n = 1, #places do
    self:expect_segment(sid, rdmap.read_response { STag = PROBE_STAG + n },
                        "message " .. n .. " of " .. #places .. " is processed in the order of DDP-SSNs")
  end
end

-- What comes from the device on the SID has DDP-SSNs one after another, whatever the order of its arrival. Chunks that
-- follow the one with DDP-SSN `last` are numbered from 1; returns a function that takes a chunk's number, and one that
-- says what is missing.
local function ssn_counter(last)
  local seen, most, first = {}, 0, 1
  local function take(ssn)
    local number = first + (((ssn - last - first) + 0x8000 & 0xFFFF) - 0x8000)
    if number < first or seen[number] then return false end
    seen[number] = true
    most = math.max(most, number)
    while seen[first] do
      seen[first] = nil
      first = first + 1
    end
    return true
  end
  return take, function() return first <= most and (last + first) & 0xFFFF or nil end
end

-- More octets than 24 bits count, and some in their last part that differ from all others.
local RESPONSE, MARK_AT, MARK, READS_MOST = 20 << 20, 17 << 20, "beyond 16 MiB", 8

-- The device answers Reads of 20 MiB until its DDP-SSNs have wrapped. FAIL if one is missing or comes twice, or if the
-- octets are others.
function Test:expect_wrap()
  local t, port = self, self:listen {}
  local a = t:sctp_open { tester = { port = port } }
  local memory = t.dut:reg_mr { length = RESPONSE, access = { "local_read", "remote_read" }, fill = 0xA5 }
  t.dut:mem_write { stag = memory.stag, offset = MARK_AT, data = hex(MARK) }
  local base = math.tointeger(tonumber(memory.base))
  local take, missing = ssn_counter(a:probe(a.sid).message_ssn)
  local segments, marks, reads = 0, 0, 0
  while segments <= 0xFFFF and reads < READS_MOST do
    reads = reads + 1
    a:segment(a.sid, rdmap.read_request { SinkSTag = reads, SinkTO = 0, RDMARDSZ = RESPONSE, SrcSTag = memory.stag, SrcTO = base })
    local octets = 0
    while octets < RESPONSE do
      local got, why = a:receive(a.sid)
      local segment = got and got.segment
      if not (segment and segment.Opcode == 2) then
        t:fail("a Read of 20 MiB", "Read Responses of 20 MiB", octets .. " octets, and " .. a:words(got, why))
      end
      if not take(got.message_ssn) then
        t:fail("the DDP-SSN of segment " .. segments + 1, "each once", got.message_ssn .. " a second time, or out of all order")
      end
      segments, octets = segments + 1, octets + #segment.data
      local at = MARK_AT - segment.TO
      if at >= 0 and at + #MARK <= #segment.data and segment.data:sub(at + 1, at + #MARK) == MARK then marks = marks + 1 end
    end
  end
  t:equal("the DDP-SSN that is missing among " .. segments .. " segments", "none", missing() or "none")
  -- A segment may end within them, where the device's segments have a length that nobody knows before.
  if marks == 0 then t:fail("octets from 17 MiB on", MARK, "others, in each of " .. reads .. " Read Responses") end
  t:note(segments .. " segments of the device on SID " .. a.sid)
end

-- Longer than this no Send may wait for others; of three the soonest counts, as any of them may meet a busy machine.
local PROMPT, IDLE = 0.05, 0.3

-- The device's ULP posts single Sends of 32 octets on an idle stream. WARN if each waits for others that could share
-- its packet.
function Test:expect_prompt_sends()
  local t, port = self, self.role == "responder" and self:listen {} or nil
  local a = t:sctp_open { tester = { port = port }, dut = {} }
  a.port = port
  a:probe(a.sid)
  local stream = a:stream_number(a.sid)
  local soonest, prompt = math.huge, math.max(PROMPT, 8 * t.round_trip)
  for n = 1, 3 do
    rig.wait(IDLE)
    local before = rig.now()
    t.dut:send { stream = stream, length = 32 }
    a:expect_segment(a.sid, rdmap.send {}, "Send " .. n .. " of 32 octets")
    soonest = math.min(soonest, rig.now() - before)
  end
  if soonest > prompt then
    t:warn("single Sends on an idle association", string.format("%.0f ms at most until their chunk comes", prompt * 1000),
           string.format("%.0f ms for the soonest of three", soonest * 1000))
  end
end

-- RFC 5043 10 and the draft's section 6 limit what is unacknowledged on a SID to this.
local UNACKNOWLEDGED_MOST = 32767
local OPENING, WRITES = 3 << 19, 34000
local AT_ONCE = 100 -- Writes that may come in one packet with the end of the Send

-- The device's ULP posts a long Send, whose SACKs open SCTP's congestion window, and Writes of one octet after it. FAIL
-- if more than 32767 messages of the SID are on their way without a SACK, or if sending does not continue at the SACK.
function Test:expect_limit()
  local t, port = self, self.role == "responder" and self:listen {} or nil
  local a = t:sctp_open { tester = { port = port, window = 0x7FFFFFFF }, dut = {} }
  local sid, handle, stream = a.sid, a.handle, a.stream
  a:probe(sid)
  if not stream then
    local event = t:await_event("accepted", { port = port, sid = sid })
    if not event then t:inconclusive("the upper tester does not tell of the stream") end
    stream = event.stream
  end
  local work = { stream = stream, stag = 0x5000, data = "aa" }
  local start, read = handle:status().received, rig.now()
  t.dut:send { stream = stream, length = OPENING }
  for _ = 1, WRITES do
    t.dut:write(work)
    if rig.now() - read > 0.1 then -- a device whose upper tester is slow: its SCTP would give up without SACKs
      rig.wait(0.01)
      read = rig.now()
    end
  end
  local octets, segments = 0, 0
  while octets < OPENING do
    local got, why = a:receive(sid)
    if not got then t:inconclusive("the device's long Send breaks off: " .. why) end
    if got.kind == "segment" then octets, segments = octets + #got.segment.data, segments + 1 end
  end
  handle:withhold(true)
  local before = handle:status()
  rig.wait(0.5)
  local after = handle:status()
  local sent = after.received - before.received
  t:note(sent .. " messages of SID " .. sid .. " without a SACK")
  if sent > UNACKNOWLEDGED_MOST then
    t:fail("one-octet Writes while no SACK is sent", "at most " .. UNACKNOWLEDGED_MOST .. " messages of a SID without a SACK", sent .. " or more")
  end
  handle:withhold(false)
  local deadline = rig.now() + t.reaction
  local seen = after.received
  local all = start + segments + WRITES
  while seen < all and rig.now() < deadline do
    rig.wait(0.1)
    local now = handle:status().received
    if now > seen then seen, deadline = now, rig.now() + t.reaction end
  end
  if seen < all - AT_ONCE then
    t:fail("sending goes on with the SACK", WRITES .. " Writes in the end", seen - start - segments .. " came")
  end
end
