-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 6581 7 and 9.1: the IRD and ORD of an enhanced session over SCTP hold as those of MPA do.

defaults { llp = "sctp" }

-- The device wants an ORD of 8 and is offered an IRD: so many Reads that its ULP posts are open, and no more; each that
-- is answered lets another out.
-- `after`: a session in the same association was set up before, with this IRD.
local function keeps_ord(t, ird, after)
  local READS = 6
  local dut = { ird = 4, ord = 8 }
  local a, sid = t:enhanced_opened({ dut = dut, fields = { IRD = after or ird } })
  if after then
    sid = a:other()
    if sid == nil then return end
    if t.role == "initiator" then
      a:ask { ird = dut.ird, ord = dut.ord, enhanced = true, sid = sid }
      a:expect_control(sid, ENHANCED.Initiate, "the device asks for a second session")
      a:control(sid, ENHANCED.Accept, { data = enhanced_word { IRD = ird } })
    else
      a:control(sid, ENHANCED.Initiate, { data = enhanced_word { IRD = ird } })
      a:expect_control(sid, ENHANCED.Accept, "a second session with other depths is accepted")
    end
  end
  a:segment(sid, empty_read(PROBE_STAG))
  local first, why = a:receive(sid)
  local ends = first and first.kind == "segment" and is_terminate(first.segment, "MPA_INSUFFICIENT_IRD") or
               first and first.kind == "control" and first.code == sctp.Terminate
  if ends and t.role == "initiator" then t:skip("the device wants its ORD (EMPA-9.1-05)") end
  if not (first and first.kind == "segment" and first.segment.Opcode == 2) then
    t:fail("the session is in operation", "a Read Response", a:words(first, why))
  end
  a.stream = t.role == "initiator" and after and a.asked or a.stream
  local stream, sink = a:stream_number(sid), t:memory()
  for _ = 1, READS do
    t:command("read", { stream = stream, sink_stag = sink.STag, sink_to = sink.TO, source_stag = 1, length = 16 })
  end
  local open = {}
  local function take(seconds)
    local got = a:receive(sid, seconds)
    while got and got.kind == "segment" and got.segment.Opcode == 1 do
      open[#open + 1] = got.segment
      got = a:receive(sid, t.quiet / 4)
    end
    if #open > ird then t:fail("Reads that are open where the IRD agreed on is " .. ird, "at most " .. ird, tostring(#open)) end
  end
  take(t.quiet)
  for n = 1, ird == 0 and 0 or READS do
    if #open == 0 then t:fail("Read " .. n .. " of " .. READS .. " with an IRD of " .. ird, "a Read Request", "none") end
    local request = table.remove(open, 1)
    a:segment(sid, rdmap.read_response { STag = request.SinkSTag, TO = request.SinkTO, data = distinct(request.RDMARDSZ) })
    if n < READS then take(#open == 0 and t.reaction or t.quiet / 4) end
  end
end

local function keeps_each_ord(t)
  local cases = { { 2 }, { 3 }, { 0 }, { 2, 6, called = "2 beside 6" } } -- 3: no power of two
  for _, case in ipairs(cases) do case.called = case.called or case[1] end
  t:each_value("IRD", cases, function(case) keeps_ord(t, case[1], case[2]) end)
end

check {
  id = "EMPA-9.1-06",
  role = "initiator",
  purpose = "over SCTP, too, the initiator has no more Reads open than the IRD of the Enhanced Accept says",
  requires = "upper_tester",
  run = keeps_each_ord,
}

check {
  id = "EMPA-9.1-07",
  role = "responder",
  purpose = "over SCTP, too, the responder has no more Reads open than the IRD of the Enhanced Initiate says",
  requires = "upper_tester",
  run = keeps_each_ord,
}
