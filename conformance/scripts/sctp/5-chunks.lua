-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 1, 2, 5.1, 5.2 and 5.2.2: what SCTP does below DDP, Protection Domains, and chunks that are none of DDP's.

defaults { llp = "sctp" }

-- The association is as before: its peer answers, and has acknowledged all.
local function unharmed(t, a, what)
  a:expect_acknowledged(what)
  local before = a.handle:status().heartbeats
  a.handle:heartbeat()
  local deadline = rig.now() + t.reaction
  while a.handle:status().heartbeats == before and a.handle:status().cause == "open" and rig.now() < deadline do rig.wait(0.1) end
  if a.handle:status().cause ~= "open" then t:warn(what, "an association that stays up", a:state_text()) end
  if a.handle:status().heartbeats == before then t:fail(what, "HEARTBEAT ACK", "nothing") end
end

check {
  id = "SCTP5043-1-01",
  role = "both",
  purpose = "chunks that DDP refuses are acknowledged, and the association lives on",
  run = function(t)
    local a = t:sctp_open()
    for _ = 1, 2 do a:probe(a.sid) end
    if a:other() then
      a:segment(a:other(), empty_read(PROBE_STAG), { ssn = 0 })
      unharmed(t, a, "a segment without a session")
    end
    a:control(a.sid, 9) -- no Function Code
    unharmed(t, a, "an illegal control message")
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Protection Domains

check {
  id = "SCTP5043-2-02",
  role = "both",
  purpose = "an STag of another Protection Domain is refused, on the same association too",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating { pd = 1 }
    local m = t:memory { pd = 1 }
    a:segment(a.sid, m:write(0, "the own domain"))
    a:probe(a.sid, "a Write in the Protection Domain of the stream")
    m:patch(0, "the own domain")
    m:check("a Write in the Protection Domain of the stream")
    local other = a:further(a:another(), "a second session in the association", { pd = 2 })
    a:segment(other, m:write(0, "another domain"))
    local names = { "DDP_NOT_ASSOCIATED", "DDP_INVALID_STAG", "RDMAP_INVALID_STAG", "RDMAP_PROTECTION_OTHER" }
    local got, why = a:receive(other)
    m:check("a Write of a stream in another Protection Domain")
    if not (got and got.kind == "segment" and is_terminate(got.segment, names)) then
      t:fail("a Write of a stream in another Protection Domain", "Terminate 1/1/02", a:words(got, why))
    end
    a:probe(a.sid, "the first session goes on")
    -- The SID that had the STag's domain has another one in its next session.
    a:control(a.sid, "Terminate")
    a:expect_ended(a.sid, "the tester ends the first session")
    a:expect_nothing(a.sid, "the first session is over")
    local before = a.sid
    a.next_ssn[before], a.next_msn[before << 16 | 1] = 0, 0
    other = a:further(before, "another session on the SID of the first one", { pd = 2, sid = before })
    a:segment(other, m:write(0, "once more"))
    got, why = a:receive(other)
    m:check("a Write in the second session of a SID, whose Protection Domain is another one")
    if not (got and got.kind == "segment" and is_terminate(got.segment, names)) then
      t:fail("a Write in the second session of a SID, whose Protection Domain is another one", "Terminate 1/1/02", a:words(got, why))
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- The indication's length

-- What a device makes of an indication with these octets: "refused", "no session" or "session".
local function outcome_of(t, parameter)
  local a, why = t:try_associate { tester = { adaptation = false, parameters = parameter } }
  if not a then return "refused", why end
  if t.role == "responder" then a:control(0, "Initiate") end
  local got
  got, why = a:receive(nil, t.quiet)
  a.handle:abort()
  if got then return got.kind == "control" and "session" or "a chunk", got end
  return why == "timeout" and "no session" or "refused", why
end

check {
  id = "SCTP5043-5.1-04",
  role = "both",
  purpose = "the indication has 8 octets; one that is too short for its value is none",
  lasts = 4,
  run = function(t)
    t:equal("the length of the device's indication", 8, t:associate().handle:status().adaptation_length)
    local how = outcome_of(t, string.pack(">I2I2", 0xC006, 4))
    if how ~= "refused" and how ~= "no session" then
      t:fail("an indication of length 4", "no association, or one without DDP", how)
    end
    how = outcome_of(t, string.pack(">I2I2I4I4", 0xC006, 12, sctp.DDP, 0))
    if how == "a chunk" then t:fail("an indication of length 12", "no association, or a session or none", how) end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Foreign and short chunks

-- In a session: it is over, or the chunk is ignored, and then the session is as before. True: ignored.
local function over_or_ignored(t, a, what)
  local how, got, why = a:reaction(a.sid)
  a:expect_acknowledged(what)
  if how == "chunk" or how == "ended" then t:fail(what, "Terminate or nothing on SID " .. a.sid, a:words(got, why)) end
  if how == "silent" then a:probe(a.sid, "the session after " .. what .. ", which had no answer") end
  return how == "silent"
end

check {
  id = "SCTP5043-5.2-02",
  role = "both",
  purpose = "chunks of other PPIDs are never taken for DDP's",
  run = function(t)
    local ignored = false
    for _, ppid in ipairs { 0, 1, 18, 0x10000000 } do
      local what = "a segment in a chunk of PPID " .. ppid
      local a = t:sctp_open()
      a:probe(a.sid)
      local how, got = "silent", nil
      if a:other() then
        a:segment(a:other(), empty_read(PROBE_STAG), { ppid = ppid })
        how, got = a:reaction(a:other())
      end
      if how == "chunk" then t:fail(what .. " on an idle SID", "nothing", a:words(got)) end
      if how ~= "ended" then
        local ssn, msn = a.next_ssn[a.sid], a.next_msn[a.sid << 16 | 1]
        a:segment(a.sid, empty_read(PROBE_STAG), { ppid = ppid })
        -- It had no place among the chunks of the session, if that goes on.
        a.next_ssn[a.sid], a.next_msn[a.sid << 16 | 1] = ssn, msn
        ignored = over_or_ignored(t, a, what) or ignored
      end
      a.handle:abort()
    end
    if ignored then t:ambiguous("B: it belongs to no session and is ignored") end
  end,
}

check {
  id = "SCTP5043-5.2.2-02",
  role = "both",
  purpose = "a chunk that is too short for a segment ends the session or is ignored",
  run = function(t)
    local ignored = false
    for _, octets in ipairs { 1, 2, 3, 15 } do
      local a = t:sctp_open()
      a:probe(a.sid)
      local ssn = a.next_ssn[a.sid]
      a:chunk { sid = a.sid, ppid = sctp.segment, data = (string.pack(">I2", ssn) .. "\x41\x41" .. ("\0"):rep(11)):sub(1, octets) }
      if octets > 1 then a.next_ssn[a.sid] = ssn + 1 end
      ignored = over_or_ignored(t, a, "a segment chunk of " .. octets .. " octets") or ignored
      if a:other() then a:further(a:other(), "another session after a short chunk") end
      a.handle:abort()
    end
    if ignored then t:ambiguous("B: it is ignored") end
  end,
}
