-- SPDX-License-Identifier: BSD-2-Clause
--
-- `--suite fields`: each field of the headers, as wire/ has them, of each kind of message, at several places of a stream, with each change of which the
-- texts say what it does to the receiver. A field that has no line in `changes` is an error: a new one of wire/ needs one.

local versions = { 0, 2, 3 }
local no_msn = { "DDP_MSN_RANGE", "DDP_NO_BUFFER" }
local no_stag, no_source = { "DDP_INVALID_STAG", "DDP_NOT_ASSOCIATED" }, { "RDMAP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED" }

-- These values.
local function values(list, expect)
  local all = {}
  for i, value in ipairs(list) do all[i] = { name = ("%x"):format(value), to = function() return value end, expect = expect } end
  return all
end

-- These bits inverted.
local function flips(masks, expect)
  local all = {}
  for i, mask in ipairs(masks) do all[i] = { name = ("flip-%x"):format(mask), to = function(was) return was ~ mask end, expect = expect } end
  return all
end

-- So much more or less, within 32 bits.
local function moves(steps, expect)
  local all = {}
  for i, step in ipairs(steps) do
    all[i] = { name = (step < 0 and "less-%d" or "more-%d"):format(math.abs(step)), to = function(was) return (was + step) & 0xFFFFFFFF end, expect = expect }
  end
  return all
end

local stags = { 0x5A5A5A5A, 0xFFFFFFFF, 0x80000000 }
local none = {} -- no change of it has an outcome that the texts name: T and L make another segment, and the sinks of a Read are the requester's own

-- RFC 5041 4 and 7.1, RFC 5040 4 and 7. "message.field" comes before "field".
local changes = {
  T = none, L = none, SinkSTag = none, SinkTO = none, RsvdULP = none, -- RDMAP's fields are in RsvdULP
  Rsvd = values({ 1, 8, 15 }, "survives"),
  Rsv = values({ 1, 2, 3 }, "survives"),
  InvalidateSTag = values({ 1, 0xFFFFFFFF }, "survives"), -- ignored in all but Send with Invalidate (RFC 5040 4.1)
  RV = values(versions, "RDMAP_VERSION"),
  QN = values({ 4, 7, 0xFFFFFFFF }, "DDP_INVALID_QN"),
  MSN = moves({ -1, 1000000, -1000000, 1 << 31 }, no_msn),
  MO = values({ 5000000, 1 << 31, 0xFFFFFFFF }, { "DDP_INVALID_MO", "DDP_TOO_LONG" }),
  STag = flips(stags, no_stag),
  TO = flips({ 1 << 40, 1 << 62, math.mininteger }, { "DDP_BOUNDS", "DDP_TO_WRAP" }),
  SrcSTag = flips(stags, no_source),
  SrcTO = flips({ 1 << 40, 1 << 62, math.mininteger }, { "RDMAP_BOUNDS", "RDMAP_TO_WRAP" }),
  RDMARDSZ = values({ 1 << 30, 0xFFFFFFFF }, { "RDMAP_BOUNDS", "RDMAP_TO_WRAP" }),
  ["untagged.DV"] = values(versions, "DDP_UNTAGGED_VERSION"),
  ["tagged.DV"] = values(versions, "DDP_TAGGED_VERSION"),
  -- Opcodes that no text has in this buffer model, and on this queue (RFC 5040 4.2, 7.1).
  ["Send.Opcode"] = values({ 0, 1, 2, 7, 12, 13, 14, 15 }, "RDMAP_OPCODE"),
  ["RDMA Read Request.Opcode"] = values({ 0, 2, 3, 7, 12, 13, 14, 15 }, "RDMAP_OPCODE"),
  ["tagged.Opcode"] = values({ 1, 3, 4, 5, 6, 7, 12, 13, 14, 15 }, "RDMAP_OPCODE"),
}

local messages = {
  { name = "send", message = "Send", model = "untagged", headers = { "ddp_untagged", "rdmap_untagged" }, at = { 1, 3, 6 } },
  { name = "write", message = "RDMA Write", model = "tagged", headers = { "ddp_tagged", "rdmap_control" }, at = { 1 } },
  { name = "request", message = "RDMA Read Request", model = "untagged", headers = { "ddp_untagged", "rdmap_untagged", "read_request" }, at = { 1, 3 } },
  { name = "response", message = "RDMA Read Response", model = "tagged", headers = { "ddp_tagged", "rdmap_control" }, at = { 1, 2 } },
}

local function declare(message, nth, field, change)
  impair {
    name = ("%s%d-%s-%s"):format(message.name, nth, field:lower(), change.name),
    purpose = ("%s of %s %d: %s"):format(field, message.message, nth, change.name),
    when = { message = message.message, nth = nth }, expect = change.expect,
    act = function(unit, event) unit:edit { [field] = change.to(event[field]) } end,
  }
end

for _, message in ipairs(messages) do
  for _, nth in ipairs(message.at) do
    for _, header in ipairs(message.headers) do
      for _, field in ipairs(wire.fields(header)) do
        local list = changes[message.message .. "." .. field] or changes[message.model .. "." .. field] or changes[field]
        if not list then error(("%s.%s: what its changes do is not declared"):format(header, field)) end
        for _, change in ipairs(list) do declare(message, nth, field, change) end
      end
    end
  end
end
