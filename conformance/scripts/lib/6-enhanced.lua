-- SPDX-License-Identifier: BSD-2-Clause
--
-- For checks of the enhanced connection set-up (RFC 6581), in either role (docs/writing-checks.md, "Enhanced set-up").

-- The three RTR messages (RFC 6581 9.2), by the flag that names them: made anew each time, since a frame keeps its MSN.
rtr = {
  B = function() return rdmap.send {} end,
  C = function() return rdmap.write { STag = 0xDEADBEEF, TO = 0x1122334455667788 } end,
  D = function()
    return rdmap.read_request { SinkSTag = 0x52545221, SinkTO = 0, RDMARDSZ = 0, SrcSTag = 0x52545222, SrcTO = 0 }
  end,
}

-- The same as expectations.
rtr_expected = {
  B = rdmap.send { T = 0, L = 1, QN = 0, MSN = 1, MO = 0, data = "", fpdu = { length = 18 } },
  C = rdmap.write { T = 1, L = 1, data = "", fpdu = { length = 14 } },
  D = rdmap.read_request { T = 0, L = 1, QN = 1, MSN = 1, MO = 0, RDMARDSZ = 0, fpdu = { length = 46 } },
}

local DEPTH = 4 -- IRD and ORD of a Request where a check does not set them

-- The word of a start-up frame with what is not given.
local function word_of(given, defaults)
  local word = copy_fields(defaults)
  for k, v in next, given or {} do word[k] = v end
  return word
end

-- The word of a good Request: depths that the device's ULP accepts, as far as a run has learned them (RFC 6581 9.1: it
-- may reject an IRD below the ORD that it needs). `given`: what is to be other.
function Test:word(given)
  local needs = self.services and self.services.needs_ird or 0
  return word_of(given, { IRD = math.max(DEPTH, needs), ORD = DEPTH })
end

-- Role responder: an enhanced Request with this word (a good one's IRD and ORD unless given), and what the device
-- replies. options: dut (configuration, verb listen); request (more fields of the Request); reply (fields that are
-- expected of the Reply; default R = 0). The Reply is enhanced, or the check fails. Returns the connection and the
-- Reply.
function Test:ask(word, options)
  options = options or {}
  local c = self:awaiting_start { dut = options.dut }
  local fields = copy_fields(options.request)
  fields.enhanced = self:word(word)
  local request = mpa.request(fields)
  c:send(request)
  local wanted = word_of(options.reply, { R = 0, S = 1, Rev = function(v) return v >= 2 end, enhanced = {} })
  local got, ird = c:receive(), fields.enhanced.IRD
  local needs = got.kind == "reply" and got.R == 1 and wanted.R == 0 and got.enhanced and got.enhanced.ORD
  if needs and needs > ird and needs ~= 0x3FFF then
    self:skip(string.format("the device's ULP needs an ORD of %d and rejects a Request with an IRD of %d, as RFC 6581 9.1 allows", needs, ird))
  end
  local reply = c:expect_one_of { mpa.reply(wanted), got = got, message = options.message or "an enhanced Request, an enhanced Reply",
                                  rests_on = "enhanced startup" }
  if reply.R == 0 then
    c:agree(request, reply)
  end
  return c, reply
end

-- Role initiator: the device connects with this configuration (verb connect; Rev 2, enhanced) and its Request is taken.
function Test:receive_request(dut)
  local config = word_of(dut, { rev = 2, enhanced = true })
  local c = self:accept { dut = config }
  c.request = c:expect_one_of { mpa.request { S = 1, Rev = function(v) return v >= 2 end, enhanced = {} },
                                message = "an enhanced initiator opens with an enhanced Request",
                                rests_on = "enhanced startup" }
  return c
end

-- The tester's Reply to that Request. The word says what the Request asks for (A as it is, IRD from ORD, ORD from IRD,
-- no RTR) but for what is given; `fields` are more of the Reply's.
function Connection:answer(word, fields)
  local requested = self.request.enhanced
  local reply = copy_fields(fields)
  reply.Rev = reply.Rev or self.request.Rev
  reply.enhanced = word_of(word, { A = requested.A, IRD = requested.ORD, ORD = requested.IRD })
  local frame = mpa.reply(reply)
  self:send(frame)
  if not (reply.R == 1 or reply.R == true) then
    self:agree(frame, self.request)
  end
  return frame
end

-- `count` RDMA Reads at once, in one piece: all are answered, in their order.
function Connection:reads_served(count, message)
  local reads = {}
  for i = 1, count do
    reads[i] = empty_read(0x52640000 + i, { SinkTO = i })
  end
  self:send(table.unpack(reads))
  for i = 1, count do
    self:expect(rdmap.read_response { STag = 0x52640000 + i },
                { message = message or string.format("Read %d of %d at once is served", i, count) })
  end
end

-- With an ORD of 0 no Read may go out: the device's interface refuses one, or it waits while the stream goes on.
function Connection:no_reads(what)
  local t = self.t
  local sink = t.dut:reg_mr { length = 32 }
  local read = { stream = t:stream_of(self), sink_stag = sink.stag, sink_to = sink.base, source_stag = 0x51, source_to = 0,
                 length = 32 }
  if not t:try("read", read) then return t:note("a Read is refused by the device's interface after " .. what) end
  local message = "a Read that was posted after " .. what .. " does not go out"
  self:expect_quiet { message = message }
  self:probe { message = message }
end

-- The device's ULP posts `total` RDMA Reads or, to be seen how far beyond the limit it goes, some multiple of that;
-- they are answered slowly: there are never more than `limit` of them outstanding, and all of them come in the end.
-- Returns the most that were outstanding.
function Connection:reads_limited(total, limit, message)
  local t = self.t
  total = math.max(total, 4 * limit + 4)
  local octets = 32
  local sink = t.dut:reg_mr { length = total * octets }
  local stream = t:stream_of(self)
  for i = 1, total do
    t.dut:read { stream = stream, sink_stag = sink.stag, sink_to = sink.base, source_stag = 0x51, source_to = 0,
                 length = octets }
  end
  local open, taken, most = {}, 0, 0
  local function take(seconds)
    local got = self:receive(seconds)
    if fits(rdmap.read_request {}, got) then
      open[#open + 1] = got
      taken = taken + 1
      most = math.max(most, #open)
      return true
    elseif got.kind == "timeout" then
      t.timed_out = nil -- nothing was waited for: how many came is what is judged
      return false
    end
    t:fail(message or "Reads stay within ORD", "a Read Request", describe(got))
  end
  local function within() -- counted when no more come: how far beyond is part of what the device does
    if #open <= limit then return end
    while fits(rdmap.read_request {}, self:receive(t.quiet)) do most = most + 1 end
    t.timed_out = nil
    t:fail(message or "Reads stay within ORD", "at most " .. limit .. " unanswered Read Requests", most .. " of " .. total)
  end
  while taken < total and take(#open == 0 and t.reaction or t.quiet) do end
  within()
  while #open > 0 do
    local read = table.remove(open, 1)
    self:send(rdmap.read_response { STag = read.SinkSTag, TO = read.SinkTO, data = string.rep("r", read.RDMARDSZ) })
    if taken < total then take(t.reaction) end
    within()
  end
  t:equal("Reads that the device sent in the end", total, taken)
  return most
end
