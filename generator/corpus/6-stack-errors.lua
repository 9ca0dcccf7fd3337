-- SPDX-License-Identifier: BSD-2-Clause
--
-- Errors: each Terminate of the registries that a stack comes to send, and stacks with a defect, whose fault the audit
-- finds.
corpus { folder = "reference-stack" }

local MEMORY <const> = 4096

-- The Terminate that `side` receives, or the script is wrong.
local function reported(side, name)
  local event, triple = side:await "terminate_received", wire.triple(name)
  local got = event.layer << 12 | event.etype << 8 | event.code
  if got ~= triple then error("expected " .. wire.describe(triple) .. ", got " .. event.what) end
end

-- Both sides are over.
local function over(s)
  s:run(20)
  s:close()
end

--------------------------------------------------------------------------------------------------------------------
-- What a ULP can ask for, and its peer refuses

local ALL <const> = { "remote_read", "remote_write", "remote_atomic" }

local refusals = {
  { "DDP_INVALID_STAG", "write", function(i) i:write { stag = 0x12345678, length = 8 } end },
  { "DDP_BOUNDS", "write", function(i, stag) i:write { stag = stag, to = MEMORY, length = 8 } end },
  { "DDP_NOT_ASSOCIATED", "write", function(i, stag) i:write { stag = stag, length = 8 } end, { pd = 7 } },
  { "RDMAP_INVALID_STAG", "read", function(i, _, sink) i:read { source_stag = 0x12345678, sink_stag = sink, length = 8 } end },
  { "RDMAP_BOUNDS", "read", function(i, stag, sink)
    i:read { source_stag = stag, source_to = MEMORY, sink_stag = sink, length = 8 }
  end },
  { "RDMAP_ACCESS", "read", function(i, stag, sink) i:read { source_stag = stag, sink_stag = sink, length = 8 } end,
    { access = { "remote_write" } } },
  { "RDMAP_NOT_ASSOCIATED", "read", function(i, stag, sink) i:read { source_stag = stag, sink_stag = sink, length = 8 } end,
    { pd = 7 } },
  { "RDMAP_INVALID_STAG", "atomic", function(i) i:atomic { operation = "fetch_add", stag = 0x12345678 } end },
  { "RDMAP_BOUNDS", "atomic", function(i, stag) i:atomic { operation = "fetch_add", stag = stag, to = MEMORY } end },
  { "RDMAP_ACCESS", "atomic", function(i, stag) i:atomic { operation = "fetch_add", stag = stag } end,
    { access = { "remote_read", "remote_write" } } },
  { "DDP_TOO_LONG", "send", function(i) i:send { length = 100 } end, nil, { receive_octets = 64 } },
  { "DDP_NO_BUFFER", "send", function(i)
    i:send { length = 1 }
    i:send { length = 2 }
  end, nil, { receives = 1, repost = false } },
}

for _, refusal in ipairs(refusals) do
  local name, what, run, memory, responder = table.unpack(refusal, 1, 5)
  capture {
    name = what .. "-" .. name:lower():gsub("_", "-"), about = "the Terminate for a " .. what .. ": " .. wire.describe(wire.triple(name)),
    run = function()
      local s = stacks { responder = responder }
      s:connect()
      local given = { length = MEMORY, access = ALL }
      for member, value in pairs(memory or {}) do given[member] = value end
      run(s.initiator, s.responder:reg_mr(given).stag, s.initiator:reg_mr { length = MEMORY }.stag)
      reported(s.initiator, name)
      over(s)
    end,
  }
end

--------------------------------------------------------------------------------------------------------------------
-- What is wrong with a device, or with start-up

capture {
  name = "no-matching-rtr", about = "the Reply agrees to no kind of RTR that the initiator has: " .. wire.describe(wire.triple "MPA_NO_MATCHING_RTR"),
  run = function()
    local s = stacks { initiator = { p2p = true, rtr = { "read" } }, responder = { rtr = { "write" } } }
    s:connect(false)
    reported(s.responder, "MPA_NO_MATCHING_RTR")
    over(s)
  end,
}

for _, kind in ipairs { "ddp", "rdmap" } do
  local name = kind == "ddp" and "DDP_CATASTROPHIC" or "RDMAP_CATASTROPHIC"
  capture {
    name = kind .. "-catastrophic", about = "the responder fails: " .. wire.describe(wire.triple(name)),
    run = function()
      local s = stacks {}
      s:connect()
      s.initiator:sent { data = "00" }
      s.responder:verb("catastrophe", { stream = s.responder.stream, kind = kind })
      reported(s.initiator, name)
      over(s)
    end,
  }
end

--------------------------------------------------------------------------------------------------------------------
-- Defects: one side has it, and the audit finds where it shows. `on` says what shows it: the side's first packet with
-- it is the finding's frame. `answer` is the Terminate of the other side, where it notices.

local shows = {
  request = function(s) s:connect(false) s:run(0.01) end,
  reply = function(s) s:connect(false) s:run(0.01) end,
  send = function(s, side) side:send { data = hex "five!" } s:run(0.01) end,
  write = function(s, side, _, other) side:write { stag = other.stag, length = 100 } s:run(0.01) end,
  read = function(s, side, own, other)
    side:read { source_stag = other.stag, sink_stag = own.stag, length = 100 }
    s:run(0.01)
  end,
  atomic = function(s, side, _, other) side:atomic { operation = "fetch_add", stag = other.stag, data = 1 } s:run(0.01) end,
  immediate = function(s, side) side:immediate { data = "0102030405060708" } s:run(0.01) end,
}

-- What the peer of the faulty side does, so that the faulty side answers.
local answers = {
  response = function(s, peer, own, other)
    peer:read { source_stag = other.stag, sink_stag = own.stag, length = 100 }
    s:run(0.01)
  end,
  atomic_response = function(s, peer, _, other) peer:atomic { operation = "fetch_add", stag = other.stag, data = 1 } s:run(0.01) end,
  terminate = function(s, peer, own)
    peer:read { source_stag = 0x12345678, sink_stag = own.stag, length = 8 }
    s:run(0.01)
  end,
}

local defects = {
  { "mpa-request-key-wrong", "initiator", "request", { ["MPA-7.1.1-01"] = "FAIL" } },
  { "mpa-request-with-r", "initiator", "request", { ["MPA-7.1.1-16"] = "FAIL" } },
  { "mpa-request-reserved", "initiator", "request", { ["EMPA-6-03"] = "FAIL" } },
  { "mpa-reply-key-wrong", "responder", "reply", { ["MPA-7.1.1-04"] = "FAIL" } },
  { "mpa-reply-reserved", "responder", "reply", { ["EMPA-6-03"] = "FAIL" } },
  { "mpa-reply-length-513", "responder", "reply", { ["MPA-7.1.1-32"] = "FAIL" } },
  { "empa-s-missing", "responder", "reply", { ["EMPA-10-01"] = "FAIL" } },
  { "empa-reply-rev-1", "responder", "reply", { ["MPA-7.1.1-19"] = "FAIL", ["EMPA-6-07"] = "FAIL" } },
  { "empa-reply-ord-more", "responder", "reply", { ["EMPA-9.1-12"] = "FAIL" } },
  { "mpa-pad-stale", "responder", "send", { ["MPA-4.1-03"] = "FAIL" } },
  { "mpa-crc-inverted", "responder", "send", { ["MPA-4.4-14"] = "FAIL" }, "MPA_CRC" },
  { "mpa-crc-big-endian", "responder", "send", { ["MPA-4.4-14"] = "FAIL" }, "MPA_CRC" },
  { "mpa-crc-without-pad", "responder", "send", { ["MPA-4.4-15"] = "FAIL" }, "MPA_CRC" },
  { "ddp-rsvd-untagged", "responder", "send", { ["DDP-4.1-10"] = "FAIL" } },
  { "ddp-version-0", "responder", "send", { ["MPA-3-15"] = "FAIL", ["MPA-C.1-01"] = "FAIL", ["DDP-4.1-12"] = "FAIL" }, "DDP_UNTAGGED_VERSION" },
  { "ddp-msn-from-0", "responder", "send", { ["DDP-4.3-12"] = "FAIL" }, "DDP_MSN_RANGE" },
  { "ddp-mo-from-1", "responder", "send", { ["DDP-4.3-16"] = "FAIL" } },
  { "mpa-version-rdmap-0", "responder", "send", { ["MPA-3-15"] = "FAIL", ["MPA-C.1-01"] = "FAIL", ["RDMAP-4.1-17"] = "FAIL" }, "RDMAP_VERSION" },
  { "rdmap-opcode-unassigned", "responder", "send", { ["RDMAP-6580.3.4-01"] = "FAIL" }, "RDMAP_OPCODE" },
  { "rdmap-invalidate-field-stale", "responder", "send", { ["RDMAP-4.1-21"] = "FAIL" } },
  { "ddp-rsvd-tagged", "responder", "write", { ["DDP-4.1-10"] = "FAIL" } },
  { "ddp-version-tagged-0", "responder", "write", { ["MPA-3-15"] = "FAIL", ["MPA-C.1-01"] = "FAIL", ["DDP-4.1-12"] = "FAIL" }, "DDP_TAGGED_VERSION" },
  { "ddp-rsvdulp-stale", "responder", "read", { ["RDMAP-4.1-21"] = "FAIL" } },
  { "rdmap-read-request-tagged", "responder", "read", { ["RDMAP-5.2.1-02"] = "FAIL" } },
  { "rdmap-response-stag", "responder", "response", { ["RDMAP-4.4-03"] = "FAIL" } },
  { "rdmap-response-to-page", "responder", "response", { ["RDMAP-4.4-04"] = "FAIL" } },
  { "atom-request-reserved", "initiator", "atomic", { ["ATOM-5.2.1-02"] = "FAIL" } },
  { "atom-opcode-undefined", "initiator", "atomic", { ["ATOM-5.2.1-04"] = "FAIL" } },
  { "atom-compare-stale", "initiator", "atomic", { ["ATOM-5.2.1-11"] = "FAIL" } },
  { "atom-compare-mask-zero", "initiator", "atomic", { ["ATOM-5.2.1-13"] = "WARN" } },
  { "atom-word-stale", "responder", "atomic_response", { ["ATOM-4.1-06"] = "FAIL" } },
  { "atom-response-tagged", "responder", "atomic_response", { ["ATOM-4.1-04"] = "FAIL", ["ATOM-5.2.2-04"] = "FAIL", ["ATOM7306-5-06"] = "FAIL" } },
  { "imm-short", "initiator", "immediate", { ["ATOM-4.2-01"] = "FAIL", ["ATOM-6.3-05"] = "FAIL" } },
  { "imm-qn-3", "initiator", "immediate", { ["DDP-4.3-12"] = "FAIL", ["ATOM-4.1-04"] = "FAIL", ["ATOM-6.3-04"] = "FAIL" } },
  { "rdmap-terminate-bit-fields", "responder", "terminate", { ["RDMAP-4.8-02"] = "FAIL" } },
  { "rdmap-terminate-reserved", "responder", "terminate", { ["RDMAP-4.8-32"] = "FAIL" } },
  { "rdmap-terminate-length-zero", "responder", "terminate", { ["RDMAP-4.8-34"] = "FAIL" } },
  { "rdmap-terminate-msn", "responder", "terminate", { ["DDP-4.3-12"] = "FAIL" } },
  { "rdmap-terminate-read-header-cut", "responder", "terminate", { ["RDMAP-4.8-41"] = "FAIL" } },
  { "rdmap-terminate-length-payload", "responder", "terminate", { ["RDMAP-4.8-35"] = "AMBIGUOUS" } },
  { "rdmap-terminate-twice", "responder", "terminate", { ["RDMAP-5.4-10"] = "FAIL" }, nth = 2 },
}

for _, row in ipairs(defects) do
  local defect, role, on, verdicts, answer = table.unpack(row, 1, 5)
  capture {
    name = "defect-" .. defect, about = string.format("the %s has the defect %s", role, defect),
    run = function()
      local options = { initiator = {}, responder = {} }
      options[role].defects = { defect }
      for _, side in pairs(options) do
        for name, value in pairs(row.options or {}) do side[name] = value end
      end
      local s = stacks(options)
      local other = role == "initiator" and "responder" or "initiator"
      local side, peer, mark = s[role], s[other], s:mark()
      if on == "request" or on == "reply" then
        shows[on](s)
      else
        s:connect()
        s.initiator:sent { data = hex "first" }
        local own, others = side:reg_mr { length = MEMORY }, peer:reg_mr { length = MEMORY }
        mark = s:mark()
        if shows[on] then shows[on](s, side, own, others) else answers[on](s, peer, others, own) end
      end
      for id, verdict in pairs(verdicts) do finding(id, verdict, side:carried(mark, row.nth)) end
      if answer then reported(side, answer) end
      over(s)
    end,
  }
end
