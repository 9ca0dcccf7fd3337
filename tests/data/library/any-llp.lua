-- SPDX-License-Identifier: BSD-2-Clause
-- Checks with llp = "any", on purpose with what only TCP has, and with a device that has not acknowledged the stimulus.

check {
  id = "any-llp",
  llp = "any",
  role = "both",
  purpose = "a check that runs over both",
  run = function(t)
    local c = t:open()
    t:note("over " .. rig.llp())
    c:probe()
    t:expect_error(bad_write(), "DDP_INVALID_STAG", "a Write to an unknown STag")
  end,
}

local function of_tcp(name, use)
  check { id = "any-" .. name, llp = "any", purpose = "a check that uses " .. name, run = function(t) use(t, t:open()) end }
end

of_tcp("c.tcp", function(_, c) return c.tcp end)
of_tcp("fpdu", function(_, c) c:send(fpdu(empty_read(1), { crc_flip = 1 })) end)
of_tcp("octets", function(_, c) c:octets(empty_read(1)) end)
of_tcp("mss", function(t) t:open { mss = 536 } end)
of_tcp("connect", function(t) t:connect() end)

-- The handle of a stream's association as it would be if no SACK had come for anything.
local function without_sacks(c)
  local handle = c.association.handle
  c.association.handle = setmetatable({}, { __index = function(_, name)
    return function(_, ...)
      local result, why = handle[name](handle, ...)
      if name == "status" then result.acknowledged = 0 end
      return result, why
    end
  end })
end

check {
  id = "any-no-stimulus",
  llp = "sctp",
  purpose = "an end that came before the stimulus was acknowledged is no answer to it",
  run = function(t)
    local c = t:open()
    c:probe()
    without_sacks(c)
    c:send(bad_write())
    c:expect_any_terminate("a Write to an unknown STag")
    c:expect_close { message = "the end after it" }
  end,
}

check {
  id = "any-stimulus",
  llp = "sctp",
  purpose = "the same with the SACK",
  run = function(t)
    local c = t:open()
    c:probe()
    c:send(bad_write())
    c:expect_any_terminate("a Write to an unknown STag")
    c:expect_close { message = "the end after it" }
  end,
}

check {
  id = "any-order",
  llp = "sctp",
  purpose = "chunks are read in the order of their DDP-SSNs, and a missing one does not keep the others for ever",
  run = function(t)
    local c = t:open()
    local m = t:memory { octets = 64, data = pattern(64) }
    c:probe()
    -- What comes is handed over in reverse, the chunk in the middle not at all.
    local association, chunks = c.association, {}
    c:send(m:read(0, 8, { SinkSTag = 1 }), m:read(8, 8, { SinkSTag = 2 }), m:read(16, 8, { SinkSTag = 3 }))
    for i = 1, 3 do chunks[i] = association:receive(c.sid) end
    association.early = { chunks[3], chunks[1] }
    c:expect(rdmap.read_response { STag = 1 }, { message = "the first" })
    c:expect(rdmap.read_response { STag = 3 }, { message = "the third, when the time is up" })
  end,
}
