-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 7.1 and 7.2: what the text leaves open. Each reading is accepted, and the report says which one it was.

defaults { llp = "any" }

-- What a segment brings forth: "silence", or the triple of a Terminate. Anything else is no reading of the text.
local function outcome(c, frame, what)
  c:send(frame)
  local got = c:receive(c.t.quiet)
  if got.kind == "timeout" then return "silence" end
  if not is_terminate(got) then
    c:judge_close(got, "silence or a Terminate")
    c.t:fail(what, "silence or a Terminate", describe(got))
  end
  return got.triple
end

-- "silence", or "error" when the outcome is one of these triples.
local function judged(t, got, names, what)
  if got == "silence" then return got end
  local expected = { "silence" }
  for _, name in ipairs(names) do
    if got == wire.triple(name) then return "error" end
    expected[#expected + 1] = wire.describe(wire.triple(name))
  end
  t:fail(what, table.concat(expected, " or "), wire.describe(got))
end

check {
  id = "DDP-7.1-22",
  purpose = "an empty untagged segment with a bad QN, MSN or MO is ignored or an error, but never a delivery out of turn",
  run = function(t)
    local cases = {
      { { QN = 4 }, { "DDP_INVALID_QN", "DDP_NO_BUFFER" }, "an empty Send to QN 4" },
      { { MSN = 5 }, { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }, "an empty Send with MSN 5 where 1 is due" },
      { { MSN = 1, MO = 0xFFFFFFFF }, { "DDP_INVALID_MO", "DDP_TOO_LONG" }, "an empty Send with MO 0xFFFFFFFF" },
    }
    local seen = {}
    for i, case in ipairs(cases) do
      local c = t:open { dut = { receives = 8, receive_octets = 256 } }
      local reading = judged(t, outcome(c, rdmap.send(case[1]), case[3]), case[2], case[3])
      local empty = {}
      if i == 3 and reading == "silence" then
        local got = t:deliveries(c)
        if #got == 1 and got[1].octets == 0 then
          t:note("delivered as a message of length 0")
          empty = { "" }
        end
      end
      t:expect_deliveries(c, empty, case[3])
      if reading == "silence" and i < 3 then
        c:send(rdmap.send { MSN = 1, data = "one" })
        t:expect_deliveries(c, { "one" }, case[3] .. ", then the Send that is due")
      end
      seen[reading] = true
    end
    t:ambiguous(seen.silence and (seen.error and "both" or "A: an empty segment is not checked") or
                "B: it is checked like any other")
  end,
}

check {
  id = "DDP-7.1-27",
  purpose = "a payload that ends at 2^64 is placed there, or an error, and never comes to lie at TO 0",
  run = function(t)
    local m = t:memory { base = -4096, octets = 4096 }
    local low = t:memory { base = 0, octets = 64 }
    local data = pattern(16, 7)
    local c = t:open()
    local what = "16 octets at TO 0xFFFFFFFFFFFFFFF0 of memory that ends at 2^64"
    local reading = judged(t, outcome(c, m:write(4080, data), what), { "DDP_TO_WRAP", "DDP_BOUNDS" }, what)
    if reading == "silence" then
      c:probe { message = what }
      m:patch(4080, data)
    end
    m:check(what)
    low:check("nothing is placed at TO 0")
    t:ambiguous(reading == "silence" and "B: the last octet is addressable, so it is none" or
                "A: a 64-bit sum of zero is a wrap")
  end,
}

check {
  id = "DDP-7.2-07",
  purpose = "the version of a segment with another fault, or of an empty one, may be looked at first, last or not at all",
  run = function(t)
    local c = t:open()
    local what = "an empty Write with DV = 0"
    local empty = judged(t, outcome(c, rdmap.write { STag = 0, TO = 0, DV = 0 }, what), { "DDP_TAGGED_VERSION" }, what)
    if empty == "silence" then c:probe { message = what } end
    c = t:open()
    what = "a Write with DV = 0 and an unknown STag"
    local got = outcome(c, rdmap.write { STag = UNKNOWN_STAG, TO = 0, DV = 0, data = "1" }, what)
    if got == "silence" then t:fail(what, "a Terminate, or the end of the stream", "silence") end
    judged(t, got, { "DDP_TAGGED_VERSION", "DDP_INVALID_STAG" }, what)
    t:ambiguous(empty == "error" and got == wire.triple("DDP_TAGGED_VERSION") and
                "A: the version is checked first and on every segment" or
                "B: it is checked in any order, and an empty segment needs no check")
  end,
}
