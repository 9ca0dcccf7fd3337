-- SPDX-License-Identifier: BSD-2-Clause
--
-- The exchanges that the exercises of the course show: two reference stacks on a simulated wire. `arg.side` has the
-- defect `arg.defect`, if one is given.

local function pair(more)
  local given = { initiator = {}, responder = {} }
  for side, options in pairs(more or {}) do
    for name, value in pairs(options) do given[side][name] = value end
  end
  if arg.defect then given[arg.side].defects = { arg.defect } end
  local s = stacks(given)
  s:connect(false)
  s:run(1)
  -- Both stacks take their STags from the same sequence. The responder leaves two out, so that an STag in a capture
  -- shows whose memory is meant.
  for _ = 1, 2 do s.responder:reg_mr { length = 4 } end
  return s
end

-- What rping sends its peer about a buffer: address, key and length, 16 octets in network byte order (as hexadecimal
-- digits).
local function buffer(memory, length)
  return string.format("%016x%08x%08x", memory.base or 0, memory.stag, length)
end

-- The four steps of rping: the client names its source; the server reads it and reports that; the client names its
-- sink; the server writes to it and says so.
local function round(s)
  local source = s.initiator:reg_mr { length = 4096, fill = "count" }
  local sink = s.initiator:reg_mr { length = 4096 }
  local own = s.responder:reg_mr { length = 4096, fill = "count" }
  s.initiator:send { data = buffer(source, 2000) }
  s:run(1)
  s.responder:read { source_stag = source.stag, sink_stag = own.stag, length = 2000 }
  s:run(1)
  s.responder:send { data = "00000001" }
  s:run(1)
  s.initiator:send { data = buffer(sink, 2000) }
  s:run(1)
  s.responder:write { stag = sink.stag, to = 0, length = 2000 }
  s.responder:send { data = "00000002" }
  s:run(1)
end

-- Work in both directions. A side that has ended the stream refuses a verb: then the exchange is over, and that is what
-- is shown.
local function work(s)
  local target = s.responder:reg_mr { length = 8192, fill = "count" }
  local own = s.initiator:reg_mr { length = 8192 }
  s.initiator:send { length = 64 }
  s:run(1)
  s.initiator:write { stag = target.stag, to = 0, length = 3000 }
  s.initiator:read { source_stag = target.stag, source_to = 100, sink_stag = own.stag, length = 2000 }
  s:run(1)
  s.responder:send { length = 40 }
  s.initiator:send { length = 10 }
  s:run(1)
end

local function show(name, about, options, run)
  capture {
    name = name, about = about,
    run = function()
      local s = pair(options)
      if arg.defect then pcall(run, s) else run(s) end
      s:close()
    end,
  }
end

show("rping", "one round of rping", nil, round)
show("startup", "an enhanced start-up, and nothing else", nil, function(s) s:run(1) end)
show("peer-to-peer", "an enhanced start-up with an RTR message, then work",
  { initiator = { ird = 4, ord = 2, p2p = true, rtr = { "write" } }, responder = { ird = 8, ord = 8 } }, work)
show("exchange", "Sends, a Write and a Read", nil, work)
show("markers", "the same with Markers in both directions",
  { initiator = { markers = true }, responder = { markers = true } }, work)
show("refused", "a Write to memory that does not exist", nil, function(s)
  s.initiator:write { stag = 0x12345678, to = 0, length = 100 }
  s:run(2)
end)
