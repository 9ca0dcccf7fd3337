-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 6581 7 and 9: the IRD/ORD word of an Enhanced Initiate and of an Enhanced Accept, field by field.

defaults { llp = "sctp" }

-- The word at the front of an Enhanced Initiate or Accept, as a table of its fields.
local function word_of_message(t, message, private_data)
  if #private_data < 4 then t:fail(message, "the word of 4 octets first", #private_data .. " octets of Private Data") end
  return wire.unpack("mpa_enhanced", private_data:sub(1, 4))
end

local KINDS = { { "send", "B" }, { "write", "C" }, { "read", "D" } }

check {
  id = "EMPA-7-01",
  role = "both",
  purpose = "the word says what was asked for: IRD, ORD, the model and each kind of RTR; an Accept's fits the Initiate's",
  requires = "upper_tester",
  run = function(t)
    local function flags(what, word, wanted)
      t:equal("A of " .. what, wanted and 1 or 0, word.A)
      for _, kind in ipairs(KINDS) do t:equal(kind[2] .. " of " .. what, kind[2] == wanted and 1 or 0, word[kind[2]]) end
    end
    local kinds = { false }
    for _, kind in ipairs(KINDS) do
      if t:has_rtr(kind[1]) then kinds[#kinds + 1] = kind end
    end
    if t.role == "initiator" then
      for _, kind in ipairs(kinds) do
        local dut = { ird = 3, ord = 7, p2p = kind and true or nil, rtr = kind and { kind[1] } or nil }
        local _, got = t:enhanced_asked({ dut = dut })
        local word = word_of_message(t, "an Enhanced Initiate", got.private_data)
        t:equal("IRD of an Enhanced Initiate", 3, word.IRD)
        t:equal("ORD of an Enhanced Initiate", 7, word.ORD)
        flags("an Enhanced Initiate", word, kind and kind[2])
      end
      return
    end
    for _, kind in ipairs(kinds) do
      local fields = { IRD = 5, ORD = 3 }
      if kind then fields.A, fields[kind[2]] = 1, 1 end
      local _, _, got = t:enhanced_opened({ dut = { ird = 8, ord = 8, rtr = kind and { kind[1] } or nil }, fields = fields })
      local word = word_of_message(t, "an Enhanced Accept", got.private_data)
      if word.IRD < 3 then t:fail("IRD of an Enhanced Accept", "3 or more, the Initiate's ORD", tostring(word.IRD)) end
      if word.ORD > 5 then t:fail("ORD of an Enhanced Accept", "5 or less, the Initiate's IRD", tostring(word.ORD)) end
      flags("an Enhanced Accept", word, kind and kind[2])
    end
  end,
}
