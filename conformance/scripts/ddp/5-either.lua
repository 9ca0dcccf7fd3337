-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 4 and 5: what a sender should not do, or may, and what the text leaves to the Data Sink.

defaults { llp = "any" }

-- After such segments: the answer to a probe ("taken"), or the end with a Terminate of RDMAP or DDP ("refused").
local function answered(t, c, message)
  local alive, got = c:alive()
  if alive then return "taken" end
  if is_terminate(got) and got.Layer < 2 then return "refused", got end
  if fits(tcp.closed(), got) then
    t:terminate_missing("a Terminate", describe(got))
  end
  t:fail(message, "a stream that goes on, or a Terminate of RDMAP or DDP", describe(got))
end

check {
  id = "DDP-4.2-15",
  purpose = "an STag that changes inside a tagged message: both segments are placed, or the stream ends",
  run = function(t)
    local one, two = t:memory(), t:memory()
    local c = t:open()
    c:probe()
    c:send(one:write(0, pattern(100), { L = 0 }), two:write(200, pattern(100, 5)))
    local outcome = answered(t, c, "a Write whose second segment has another STag")
    one:patch(0, pattern(100))
    if outcome == "refused" then
      two:check("nothing of a segment in error is placed")
      t:ambiguous("B: a change inside a message is an error")
    end
    two:patch(200, pattern(100, 5))
    one:check("the first segment is placed, and nothing else")
    two:check("the second segment is placed, and nothing else")
    t:ambiguous("A: every segment of a message is judged alone, so both are placed")
  end,
}

-- One untagged message of these segments (frames of MSN 1): the delivery, or nil when it was refused.
local function delivered(t, frames, message, dut, waits)
  local c = t:open { dut = dut }
  t:stream_of(c)
  c:send(table.unpack(frames))
  c.msn[0] = 2
  if answered(t, c, message) == "refused" then
    t:expect_deliveries(c, {}, "a message in error is not delivered")
    return nil, c
  end
  local got = t:await_deliveries(c, 1)
  if #got ~= 0 or not waits then t:equal(message .. ": deliveries", 1, #got) end
  return got[1], c
end

check {
  id = "DDP-4.3-06",
  purpose = "RsvdULP that changes inside an untagged message: delivered as either says, or refused",
  run = function(t)
    local frames = { rdmap.send { MSN = 1, data = pattern(100), L = 0 }, rdmap.send_se { MSN = 1, MO = 100, data = pattern(60, 3) } }
    local got = delivered(t, frames, "a Send whose last segment is one of a Send with Solicited Event")
    if not got then return end
    if t:event_member(got, "opcode") ~= 3 and got.opcode ~= 5 then t:fail("the opcode of the delivery", "3 or 5", tostring(got.opcode)) end
    if got.data ~= pattern(100) .. pattern(60, 3) then
      t:fail("the message that is delivered", "160 octets as sent", #got.data .. " octets")
    end
  end,
}

check {
  id = "DDP-4.3-07",
  purpose = "the ULP is given RsvdULP of one of the segments, not a mixture: invalidated is what it is told",
  run = function(t)
    local m
    local c = t:open()
    m = t:memory { bound = c, alone = true }
    c:send(rdmap.send { MSN = 1, data = "first ", L = 0 },
           rdmap.send_invalidate { MSN = 1, MO = 6, data = "last", InvalidateSTag = m.STag })
    if answered(t, c, "a Send whose last segment is one of a Send with Invalidate") == "refused" then return end
    local got = t:await_deliveries(c, 1)
    t:equal("deliveries", 1, #got)
    local valid
    if t:binds_memory() then
      valid = t.dut:mem_read({ stag = m.STag, length = 1 }).valid
    else -- its upper tester knows of its own registration alone
      c:send(m:read(0, 1))
      valid = c:receive().Opcode == 2
    end
    local matching = (got[1].opcode or 4) == 4 and got[1].invalidated == m.STag
    if not matching then t:equal("opcode of the delivery", 3, t:event_member(got[1], "opcode")) end
    t:equal("the STag is valid", not matching, valid)
  end,
}

check {
  id = "DDP-4.4-02",
  purpose = "a segment shorter than its header ends the stream, with whatever code",
  run = function(t)
    for _, octets in ipairs { 10, 1 } do
      local c = t:open()
      c:probe()
      c:send(raw.segment { data = c:ulpdu(rdmap.send { data = "" }):sub(1, octets) })
      local got = c:receive(t.quiet)
      local message = string.format("a ULPDU of %d octets", octets)
      if got.kind == "timeout" then
        if c:alive() then t:fail(message, "a Terminate, or the end of the stream", "silence, and the stream goes on") end
      elseif is_terminate(got) and (got.Layer < 2 or is_terminate(got, "MPA_MARKER")) then
        c:expect_end(message .. ": the end after the Terminate")
      elseif not fits(tcp.closed(), got) then
        t:fail(message, "a Terminate of RDMAP or DDP, or 2/0/03", describe(got))
      end
    end
    t:ambiguous("A: a truncated header is a fatal error with some DDP code; B: it ends the stream without a Terminate")
  end,
}

check {
  id = "DDP-5.2-13",
  purpose = "a gap in the MOs of a message: delivered with the length up to its end, refused, or waited on",
  run = function(t)
    local frames = { rdmap.send { MSN = 1, data = pattern(100), L = 0 }, rdmap.send { MSN = 1, MO = 200, data = pattern(100, 7) } }
    -- A sink that looks delivers nothing of which a segment is missing (RFC 5041 5.4).
    local got = delivered(t, frames, "a Send without its octets 100 to 199", nil, true)
    if got and t:event_member(got, "octets") ~= 300 and got.octets ~= 200 then
      t:fail("the length that the ULP is told", "300, or 200", tostring(got.octets))
    end
  end,
}

check {
  id = "DDP-5.2-16",
  purpose = "an empty segment at the end of a message: delivered with the length of the others, or refused",
  run = function(t)
    local frames = { rdmap.send { MSN = 1, data = pattern(100), L = 0 }, rdmap.send { MSN = 1, MO = 100, data = "" } }
    local got, c = delivered(t, frames, "a Send whose last segment is empty")
    if not got then t:ambiguous("B: it is an error of the message") end
    t:equal("the length that the ULP is told", 100, t:event_member(got, "octets"))
    c:send(rdmap.send { data = "next" })
    t:expect_deliveries(c, { pattern(100), "next" }, "the message after it")
    t:ambiguous("A: an empty segment may stand inside a message that is not empty")
  end,
}

check {
  id = "DDP-5.3-10",
  purpose = "a tagged message between the segments of an untagged one: all is where it belongs, or the stream ends",
  run = function(t)
    local m = t:memory()
    local frames = { rdmap.send { MSN = 1, data = "first ", L = 0 }, m:write(50, "between"), rdmap.send { MSN = 1, MO = 6, data = "last" } }
    local got = delivered(t, frames, "a Write between two segments of a Send")
    if not got then t:ambiguous("B: a message has to be finished before the next begins") end
    m:patch(50, "between")
    m:check("the Write is placed")
    t:equal("the Send", "first last", got.data)
    t:ambiguous("A: two messages may be interleaved")
  end,
}
