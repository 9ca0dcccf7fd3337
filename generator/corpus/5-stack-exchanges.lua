-- SPDX-License-Identifier: BSD-2-Clause
--
-- What the reference stack does, in simulation: each operation of both profiles of the extensions, each framing, each
-- way to begin and to end. All of it is lawful, and the audit finds nothing.
corpus { folder = "reference-stack", text = [[
# The reference stack's exchanges

Made by `warpcheck gen --corpus DIR` out of `generator/corpus/5-*.lua` and `6-*.lua`: two reference stacks on a simulated wire, told by
the upper tester's verbs what to do; seed 1. They follow the stack, octet for octet, and so are made anew wherever they are
needed (`make check` does) in place of lying in git. A Terminate that a capture is named after is checked when it is made.
`findings.tsv` has what `warpcheck audit` finds in the captures of stacks with a defect; the others are lawful.
]] }

local MEMORY <const> = 8192

-- Two stacks that are connected, with memory on both sides; `run` gets both, and the answers of reg_mr; then the end.
local function between(options, run)
  return function()
    local s = stacks(options)
    s:connect()
    local i, r = s.initiator, s.responder
    run(i, r, { i = i:reg_mr { length = MEMORY, fill = "count" }, r = r:reg_mr { length = MEMORY, fill = "count" } }, s)
    s:finish()
    s:close()
  end
end

-- Something of everything, both ways.
local function everything(i, r, memory)
  i:sent { data = hex "the first message is the initiator's" }
  r:sent { length = 100, solicited = true }
  i:write { stag = memory.r.stag, to = 100, length = 3000 }
  i:read { source_stag = memory.r.stag, source_to = 8, sink_stag = memory.i.stag, length = 3001 }
  i:await "read_done"
  r:write { stag = memory.i.stag, length = 17 }
  r:read { source_stag = memory.i.stag, sink_stag = memory.r.stag, length = 1 }
  r:await "read_done"
  i:sent { length = 4000 }
end

--------------------------------------------------------------------------------------------------------------------
-- Framing and start-up

for _, rev in ipairs { 1, 2 } do
  for _, crc in ipairs { true, false } do
    for _, markers in ipairs { "no", "initiator", "responder", "both" } do
      local wants = function(role) return { rev = rev, crc = crc, markers = markers == role or markers == "both" } end
      capture {
        name = string.format("rev%d-%s-%s-markers", rev, crc and "crc" or "no-crc", markers),
        about = string.format("Rev %d, %s, Markers wanted by %s", rev, crc and "CRC" or "no CRC",
                              ({ no = "nobody", both = "both" })[markers] or "the " .. markers),
        run = between({ initiator = wants "initiator", responder = wants "responder" }, everything),
      }
    end
  end
end

for _, kind in ipairs { "send", "write", "read" } do
  capture {
    name = "rtr-" .. kind, about = "peer-to-peer set-up, the RTR message is a " .. kind,
    run = between({ initiator = { p2p = true, rtr = { kind } } }, everything),
  }
end

capture {
  name = "depths", about = "IRD and ORD that differ: each side keeps to the lesser",
  run = between({ initiator = { ird = 1, ord = 9 }, responder = { ird = 2, ord = 1 } }, function(i, r, memory)
    for n = 1, 4 do
      i:read { source_stag = memory.r.stag, sink_stag = memory.i.stag, length = 100 * n }
      r:read { source_stag = memory.i.stag, sink_stag = memory.r.stag, length = 100 * n }
    end
    i:sent { data = "00" }
    for _ = 1, 4 do
      i:await "read_done"
      r:await "read_done"
    end
  end),
}

capture {
  name = "private-data", about = "Private Data both ways, 508 octets in the Request",
  run = between({ initiator = { private_data = ("ab"):rep(508) }, responder = { private_data = hex "welcome" } }, everything),
}

capture {
  name = "rejected", about = "a Request that is rejected",
  run = function()
    local s = stacks { responder = { accept = "reject", private_data = hex "no" } }
    s:connect "rejected"
    s.initiator:await "closed"
    s.responder:await "closed"
  end,
}

capture { name = "ipv6", about = "over IPv6", run = between({ ipv6 = true }, everything) }

capture {
  name = "bad-wire", about = "one packet in twenty is lost, one in twenty comes twice, one in ten late",
  run = between({ loss = 0.05, duplicate = 0.05, reorder = 0.1, initiator = { markers = true } }, everything),
}

--------------------------------------------------------------------------------------------------------------------
-- Operations

local operations = {
  { "send", "the four kinds of Send, an empty one, and one of several segments", function(i, r, memory)
    local stag = r:reg_mr { length = 64, stream = r.stream }.stag
    local another = r:reg_mr { length = 64, stream = r.stream }.stag
    i:sent { data = hex "plain" }
    i:sent { data = hex "solicited", solicited = true }
    i:sent { data = hex "invalidates", invalidate = stag }
    i:sent { data = hex "both", invalidate = another, solicited = true }
    i:sent { length = 0 }
    i:sent { length = 4000 }
    r:sent { length = 1 }
  end },
  { "write", "RDMA Writes of 0, 1, 1,440 and 5,000 octets", function(i, r, memory)
    for _, length in ipairs { 0, 1, 1440, 5000 } do i:write { stag = memory.r.stag, to = 1, length = length } end
    i:sent { data = "00" }
  end },
  { "read", "RDMA Reads of 0, 1, 1,440 and 5,000 octets, four at once", function(i, r, memory)
    for _, length in ipairs { 0, 1, 1440, 5000 } do
      i:read { source_stag = memory.r.stag, sink_stag = memory.i.stag, length = length }
    end
    for _ = 1, 4 do i:await "read_done" end
  end },
  { "fetch-add", "FetchAdd, with and without fields", function(i, r, memory)
    i:atomic { operation = "fetch_add", stag = memory.r.stag, to = 8, data = 5 }
    i:await "atomic_done"
    i:atomic { operation = "fetch_add", stag = memory.r.stag, to = 8, data = "0x00FF00FF00FF00FF", mask = "0x8000800080008000" }
    i:await "atomic_done"
  end },
  { "compare-swap", "CmpSwap that fits and one that does not", function(i, r, memory)
    i:atomic { operation = "compare_swap", stag = memory.r.stag, to = 0, compare = 0, data = 7 }
    i:await "atomic_done"
    i:atomic { operation = "compare_swap", stag = memory.r.stag, to = 0, compare = "0x0706050403020100", data = 9 }
    i:await "atomic_done"
  end },
  { "immediate", "Immediate Data, plain and with Solicited Event, after a Write", function(i, r, memory)
    i:write { stag = memory.r.stag, length = 64 }
    i:immediate { data = "0102030405060708" }
    r:await("receive", { opcode = 8 })
    i:immediate { data = "0807060504030201", solicited = true }
    r:await("receive", { opcode = 9 })
  end },
}

for _, profile in ipairs { "rfc7306", "draft03" } do
  local options = { initiator = { extensions = profile }, responder = { extensions = profile } }
  for _, operation in ipairs(operations) do
    capture { name = profile .. "-" .. operation[1], about = operation[2] .. "; " .. profile, run = between(options, operation[3]) }
  end
end

capture {
  name = "draft03-swap", about = "Swap, which only the draft has",
  run = between({ initiator = { extensions = "draft03" }, responder = { extensions = "draft03" } }, function(i, r, memory)
    i:atomic { operation = "swap", stag = memory.r.stag, to = 16, data = 1 }
    i:await "atomic_done"
  end),
}

--------------------------------------------------------------------------------------------------------------------
-- Ends

capture {
  name = "reset", about = "a RST in the midst of a Write",
  run = function()
    local s = stacks {}
    s:connect()
    local memory = s.responder:reg_mr { length = 100000 }
    s.initiator:write { stag = memory.stag, length = 100000 }
    s:run(0.0002)
    s.initiator:abort()
    s.responder:await "closed"
  end,
}

capture {
  name = "closed-by-responder", about = "the responder's ULP closes first",
  run = function()
    local s = stacks {}
    s:connect()
    s.initiator:sent { data = "00" }
    s.responder:disconnect()
    s.initiator:await "closed"
    s.responder:await "closed"
  end,
}
