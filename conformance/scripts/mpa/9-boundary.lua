-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 9.1 and Appendix A: octets that are no FPDU, and FPDUs in TCP segments cut anew.

defaults { sandwich = "startup" }

local UNTAGGED_HEADER = 18 -- octets (RFC 5041 4.3), behind the two of ULPDU_Length

-- Octets of no meaning, always the same.
local function noise(count)
  local out, state = {}, 0x2545F491
  for i = 1, count do
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    out[i] = string.char(state >> 16 & 0xFF)
  end
  return table.concat(out)
end

check {
  id = "MPA-9.1-01",
  role = "both",
  purpose = "1000 octets of no meaning right after a good FPDU are an error; another stream does not notice",
  run = function(t)
    local other, c = t:open_with_framing(), t:open_with_framing()
    c:send(rdmap.write { STag = 0, TO = 0 }, "\x02\x00" .. noise(998))
    c:expect_crc_error("octets that do not validate at an FPDU boundary", true)
    other:probe { message = "another stream" }
  end,
}

check {
  id = "MPA-A.4-01",
  role = "both",
  purpose = "FPDUs need not begin where TCP segments do: after an aligned one, segments of 1, 7, 536 and 1459 octets",
  run = function(t)
    for _, size in ipairs { 1, 7, 536, 1459 } do
      t:with_and_without_markers(function(c, markers)
        local sent, frames = { "aligned" }, {}
        c:send(rdmap.send { data = sent[1] })
        for i, octets in ipairs { 20, 530, 91, 700, 3, 999 } do
          sent[i + 1] = pattern(octets, i)
          frames[i] = rdmap.send { data = sent[i + 1] }
        end
        c:send_apart_in_crcs(frames, size)
        local what = string.format("TCP segments of %d octets, %s Markers", size, markers and "with" or "without")
        c:expect_accepted(sent, what)
      end)
    end
  end,
}

check {
  id = "MPA-A.4-02",
  role = "both",
  purpose = "a part of an FPDU is kept until the rest comes: the second half first, and halves 10 seconds apart",
  lasts = 12,
  run = function(t)
    local c = t:open_with_framing()
    local sent = { pattern(400, 1), pattern(402, 2) }
    local octets = c:octets(rdmap.send { data = sent[1] })
    c.tcp:raw { offset = 200, octets = octets:sub(201) }
    rig.wait(2)
    c:send_segments { octets:sub(1, 200), octets:sub(201) }
    c:probe { message = "the second half of an FPDU first, and 2 seconds later the first" }
    octets = c:octets(rdmap.send { data = sent[2] })
    c:send_segments { octets:sub(1, 200) }
    rig.wait(10)
    c:send_segments { octets:sub(201) }
    -- ULPDU_Length and the header have come in two parts when the third brings the rest, and what follows.
    for cut = 1, UNTAGGED_HEADER do
      sent[#sent + 1] = pattern(40, cut)
      octets = c:octets(rdmap.send { data = sent[#sent] })
      c:send_apart { octets:sub(1, cut), octets:sub(cut + 1, cut + 1), octets:sub(cut + 2) }
    end
    c:expect_accepted(sent, "halves of an FPDU, 10 seconds apart, and FPDUs whose header came in parts")
  end,
}
