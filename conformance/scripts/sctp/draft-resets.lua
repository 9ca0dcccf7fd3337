-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, sections 2.2, 6 and 7.2: Stream Resets, those of the tester and those of the device.

defaults { llp = "sctp-draft02" }

local RESET = string.pack(">I4", sctp["Stream Reset"])

check {
  id = "SCTP-2.2-06",
  sandwich = "association",
  purpose = "four octets on PPID 1 are a Stream Reset or a malformed chunk; 16 octets are a segment",
  run = function(t)
    local a = t:sctp_open()
    local sid = a:streams() - 1
    a:segment(sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = "" }) -- DDP-SSN and 14 octets
    a:segment(sid, empty_read(PROBE_STAG))
    a:expect_segment(sid, rdmap.read_response {}, "a Read after a Write of 16 octets in all")
    a:abort_stream(sid)
    local got, why = a:reopen(sid, sctp["draft segment"])
    a:expect_acknowledged("00 00 00 01 on PPID 1")
    local came = got and got.kind == "segment" and got.segment.Opcode
    if got and came ~= 2 and came ~= 7 or not got and why ~= "timeout" then
      t:fail("00 00 00 01 on PPID 1", "a Response, a Terminate or nothing", a:words(got, why))
    end
    if came == 2 then t:ambiguous("A: a 4-octet chunk on PPID 1 is a Reset") end
    t:ambiguous("B: it is a malformed segment chunk")
  end,
}

check {
  id = "SCTP-2.2-07",
  purpose = "unknown function codes and PPIDs, and octets after the code of a Reset, are acknowledged and no Reset",
  run = function(t)
    local reading
    for _, chunk in ipairs {
      { "function code 2", sctp["draft control"], string.pack(">I4", 2) },
      { "PPID 0", 0, RESET },
      { "PPID 16", sctp.segment, RESET },
      { "a Reset with four octets more", sctp["draft control"], RESET .. RESET },
    } do
      local what, ppid, data = table.unpack(chunk)
      for _, aborted in ipairs { false, true } do
        local where = what .. (aborted and " on an aborted stream" or "")
        local a = t:sctp_open()
        a:probe(a.sid)
        if aborted then a:abort_stream(a.sid) end
        a:chunk { sid = a.sid, ppid = ppid, data = data }
        -- good on a stream that was reset, and only there
        a:segment(a.sid, empty_read(PROBE_STAG, { MSN = 1 }), { ssn = 1 })
        local came = a:outcome(a.sid, where)
        if came == "answered" then
          t:fail(where, aborted and "it is ignored" or "it is ignored, or aborts the stream", "a Stream Reset")
        end
        if not aborted then
          a:segment(a.sid, empty_read(PROBE_STAG, { MSN = 2 }))
          reading = reading or (came == "aborted" and came or a:outcome(a.sid, what))
        end
        a.handle:abort()
      end
    end
    t:ambiguous(reading == "answered" and "A: unknown codes are ignored" or "B: they abort the DDP stream")
  end,
}

-- A Stream Reset of the device: its ULP asks for a new stream on an aborted SID. SKIP where it sends none.
local function device_resets(t)
  local a = t:draft_posted()
  a:abort_stream(a.sid)
  t:command("connect", { association = a.number, sid = a.sid })
  local got = a:receive(a.sid, t.quiet)
  if not got then t:skip("the device uses an aborted SID again without a Stream Reset, or not at all") end
  return a, got
end

check {
  id = "SCTP-2.2-02",
  role = "initiator",
  purpose = "a Stream Reset is its 32-bit function code alone, without a DDP-SSN",
  requires = "upper_tester",
  run = function(t)
    local _, got = device_resets(t)
    t:equal("the user data of a Stream Reset", hex(RESET), hex(got.data))
  end,
}

check {
  id = "SCTP-2.2-04",
  role = "initiator",
  purpose = "the PPID of a Stream Reset: by the text, or by the table",
  requires = "upper_tester",
  run = function(t)
    local _, got = device_resets(t)
    if got.ppid == sctp["draft segment"] then t:ambiguous("A: a Stream Reset travels on PPID 1 (text)") end
    t:equal("PPID of a Stream Reset", sctp["draft control"], got.ppid)
    t:ambiguous("B: on PPID 2 (code table)")
  end,
}

check {
  id = "SCTP-6-16",
  role = "initiator",
  purpose = "whether a Stream Reset uses up a DDP-SSN",
  requires = "upper_tester",
  run = function(t)
    local a = device_resets(t)
    local got, why = a:reopen(a.sid)
    if not (got and got.kind == "segment") then t:inconclusive("no segment after the Stream Reset: " .. (got and got.kind or why)) end
    if got.message_ssn == 1 then t:ambiguous("A: a Reset uses no DDP-SSN") end
    t:equal("DDP-SSN of the first segment after a Stream Reset", 2, got.message_ssn)
    t:ambiguous("B: it counts as the first")
  end,
}

check {
  id = "SCTP-7.2-09",
  role = "initiator",
  purpose = "a SID may be used again by a Stream Reset, and the new stream works",
  requires = "upper_tester",
  run = function(t)
    local a, got = device_resets(t)
    t:equal("what the device sends first on the SID", "reset", got.kind)
    a:expect_reopened(a.sid, nil, "the new stream on the SID")
  end,
}

check {
  id = "SCTP-7.2-10",
  role = "initiator",
  purpose = "a SID that was not used before is preferred to one that a Reset frees",
  requires = "upper_tester",
  run = function(t)
    local a = t:draft_posted()
    a:another() -- SKIP where there is none
    a:abort_stream(a.sid)
    rig.wait(t.quiet) -- nothing of the aborted stream is outstanding any more: its SID might be taken again
    local stream = t.dut:connect { association = a.number }.stream
    t.dut:send { stream = stream, data = hex("where") }
    local deadline = rig.now() + t.reaction
    local got = a.handle:receive(math.max(0, deadline - rig.now()))
    if not got then t:inconclusive("the device's new stream sends nothing") end
    if got.sid == a.sid then t:warn("a new stream, with one SID aborted", "another SID", "the SID of the aborted stream, after a Reset") end
  end,
}
