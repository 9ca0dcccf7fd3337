-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5043 6, 9 and 10: what the device's ULP and its DDP may ask for, and what memory a DDP-SSN costs.

defaults { llp = "sctp" }

check {
  id = "SCTP5043-6-05",
  role = "both",
  purpose = "a stream keeps its Protection Domain as long as its session lasts",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating { pd = 1 }
    local own, other = t:memory { pd = 1 }, t:memory { pd = 2 }
    local answer = t:command("set_pd", { stream = a.stream, pd = 2 })
    if answer.unsupported then t:skip("the device has no way to change a Protection Domain") end
    if answer.ok then t:fail("another Protection Domain in the middle of a session", "it is refused", "it is taken") end
    a:segment(a.sid, own:write(0, "as before"))
    a:probe(a.sid, "a Write in the Protection Domain of the session")
    own:patch(0, "as before")
    own:check("a Write in the Protection Domain of the session")
    a:segment(a.sid, other:write(0, "another domain"))
    local got, why = a:receive(a.sid)
    other:check("a Write in the Protection Domain that was refused")
    if not (got and got.kind == "segment" and is_terminate(got.segment, { "DDP_NOT_ASSOCIATED", "DDP_INVALID_STAG", "RDMAP_INVALID_STAG", "RDMAP_PROTECTION_OTHER" })) then
      t:fail("a Write in the Protection Domain that was refused", "Terminate 1/1/02", a:words(got, why))
    end
  end,
}

check {
  id = "SCTP5043-9-07",
  role = "both",
  purpose = "a segment above the maximum is refused where DDP hands it over, and nothing of it is sent",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating {}
    local function give(length)
      local answer = t:command("post_ulpdu", { stream = a.stream, length = length, stag = 2 })
      if answer.unsupported then t:skip("the device has no instrument that hands a segment over") end
      return answer.ok
    end
    local most = t:instrument("status", { stream = a.stream }).mulpdu
    for _, length in ipairs { most + 1, 2 * most, 0xFFFF } do
      if give(length) then
        t:fail("a segment of " .. length .. " octets; the device's maximum is " .. most, "it is refused", "it is taken")
      end
    end
    a:expect_nothing(a.sid, "of a segment that was refused nothing is sent")
    if not give(most) then t:fail("a segment of " .. most .. " octets, the device's maximum", "it is taken", "it is refused") end
    local got, why = a:receive(a.sid)
    if not (got and got.kind == "segment" and #got.data == most + 2) then
      t:fail("a segment of " .. most .. " octets", "one chunk with it", a:words(got, why))
    end
  end,
}

-- Octets of memory in addition to those of the chunk that an implementation may keep for each: its bookkeeping, and a
-- buffer of a usual size.
local BESIDE = 4096

check {
  id = "SCTP5043-10-10",
  role = "both",
  purpose = "what a chunk with a far-off DDP-SSN costs in memory is bounded by its own octets",
  requires = "upper_tester",
  run = function(t)
    local a = t:sctp_operating {}
    local before = t:instrument("association", { association = a.number }).held_octets_max
    if not before then t:skip("the device does not tell what memory its early chunks have") end
    local chunks, octets = 0, 0
    for _, ssn in ipairs { 32700, 20000, 10000, 500 } do
      local frame = rdmap.write { STag = 2, TO = 0, data = string.rep("-", 100) }
      octets = octets + #a:octets(a.sid, frame) + 2
      chunks = chunks + 1
      a:segment(a.sid, frame, { ssn = ssn })
    end
    a:expect_acknowledged("chunks with far-off DDP-SSNs")
    local after = t:command("association", { association = a.number })
    if not after.ok then return end -- they have ended the association: nothing is committed
    local most = octets + chunks * BESIDE
    if after.held_octets_max - before > most then
      t:warn(chunks .. " chunks with far-off DDP-SSNs, of " .. octets .. " octets together", "at most " .. most .. " octets of memory",
             after.held_octets_max - before .. " octets")
    end
  end,
}
