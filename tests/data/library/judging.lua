-- SPDX-License-Identifier: BSD-2-Clause
--
-- The judgements of conformance/scripts/lib/3-judging.lua and 5-ulp.lua on a connection that brings what a list holds:
-- what each accepts, and that it fails everything else.

local FIN, RESET, NOTHING, GARBAGE = { kind = "fin" }, { kind = "reset" }, { kind = "timeout" },
                                     { kind = "garbage", wanted = "FPDU", octets = "x" }
local SEND = { kind = "segment", Opcode = 3, name = "Send" }
local CUT = { kind = "segment", Opcode = 7, name = "Terminate" } -- no control word: no triple

local function terminate(name)
  return { kind = "segment", Opcode = 7, name = "Terminate", triple = wire.triple(name), QN = 2, MSN = 1, MO = 0 }
end
local STAG, CRC = terminate("DDP_INVALID_STAG"), terminate("MPA_CRC")

-- A connection on which these things come, and then nothing. Its verdicts are errors: "FAIL", "WARN".
local function bringing(things)
  local at, finished = 0, false
  local t = { reaction = 1, events_text = function() return "" end }
  for _, verdict in ipairs { "fail", "warn" } do
    t[verdict] = function() error(verdict:upper(), 0) end
  end
  return setmetatable({
    t = t,
    tcp = { fin = function() finished = true end },
    receive = function()
      at = at + 1
      if things[at] == "their FIN" then
        assert(finished, "the tester has sent its FIN")
        return FIN
      end
      return things[at] or NOTHING
    end,
  }, Connection)
end

-- How the method ends: what it returned, or its verdict.
local function outcome(method, things, ...)
  local c = bringing(things)
  local ok, got = pcall(c[method], c, ...)
  return ok and (type(got) == "table" and "taken" or got) or got
end

check {
  id = "library-judging",
  purpose = "judgements of the library accept what they say, and fail everything else",
  run = function(t)
    t:connect()
    local function all(method, rows, ...)
      for i, row in ipairs(rows) do
        t:equal(method .. ", row " .. i, row[2], tostring(outcome(method, row[1], "what was sent", ...)))
      end
    end
    all("expect_over", {
      { { FIN }, "fin" }, { { RESET }, "reset" }, { { NOTHING, "their FIN" }, "left" }, { { STAG, FIN }, "fin" },
      { { STAG, NOTHING, "their FIN" }, "left" }, { { NOTHING, STAG, "their FIN" }, "left" },
      { {}, "FAIL" }, { { SEND }, "FAIL" }, { { SEND, FIN }, "FAIL" }, { { STAG, STAG, FIN }, "FAIL" }, { { STAG, SEND }, "FAIL" },
      { { STAG }, "FAIL" }, { { NOTHING, SEND, FIN }, "FAIL" }, { { GARBAGE }, "FAIL" }, { { CUT, FIN }, "FAIL" },
      { { STAG, NOTHING, CRC, FIN }, "FAIL" },
    })
    all("expect_over", { { { STAG, FIN }, "FAIL" }, { { FIN }, "fin" } }, { accepts = function() return false end })
    all("expect_end", {
      { { FIN }, "fin" }, { { RESET }, "reset" }, { { NOTHING, "their FIN" }, "left" },
      { {}, "FAIL" }, { { SEND }, "FAIL" }, { { STAG }, "FAIL" }, { { NOTHING, SEND, FIN }, "FAIL" }, { { GARBAGE }, "FAIL" },
    })
    all("expect_any_terminate", {
      { { STAG }, "taken" }, { { CRC }, "taken" }, { {}, "FAIL" }, { { FIN }, "FAIL" }, { { SEND }, "FAIL" }, { { CUT }, "FAIL" },
    })
    all("expect_any_terminate", { { { FIN }, "WARN" }, { { RESET }, "WARN" }, { {}, "FAIL" }, { { SEND }, "FAIL" } },
        { close = "warn" })
    all("expect_any_terminate", { { { STAG }, "taken" }, { { CRC }, "FAIL" } },
        { accepts = function(got) return is_terminate(got, "DDP_INVALID_STAG") end })
    all("expect_segment", { { { SEND }, "taken" }, { { CUT }, "taken" }, { { FIN }, "FAIL" }, { {}, "FAIL" } })
    t:equal("is_terminate", "true false true false false false",
            string.format("%s %s %s %s %s %s", is_terminate(STAG), is_terminate(CUT), is_terminate(STAG, { "MPA_CRC", "DDP_INVALID_STAG" }),
                          is_terminate(STAG, "MPA_CRC"), is_terminate(SEND), is_terminate(FIN, "MPA_CRC")))
  end,
}
