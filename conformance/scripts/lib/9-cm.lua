-- SPDX-License-Identifier: BSD-2-Clause
--
-- CM exchanges (IBTA volume 1, 12.6; Annex A11) for checks of the layer CM: REQs with any field, and what a device
-- makes of them.

cm = {}

local ATTEMPTS <const>, TIMEOUT <const>, INTERVAL <const> = 4, 18, 1.1 -- 4.096 us times 2^18 are 1.07 s
local MAD <const>, PRIVATE_AT <const>, PRIVATE <const>, ARI_AT <const>, ARI <const> = 24, 140, 92, 12, 72
local CLIENT_PORT <const>, NO_LID <const> = 49152, 0xFFFF
local codes = { REQ = 0x10, MRA = 0x11, REJ = 0x12, REP = 0x13, RTU = 0x14, DREQ = 0x15, DREP = 0x16, SIDR_REQ = 0x17, SIDR_REP = 0x18 }
local layouts = { REQ = "cm_req", MRA = "cm_mra", REJ = "cm_rej", REP = "cm_rep", DREQ = "cm_dreq" }
local names = {}
for name, code in pairs(codes) do names[code] = name end

cm.TCP, cm.UDP, cm.SCTP = 6, 17, 132
cm.IB = 0x3F -- no IP protocol: what rdma_cm has for InfiniBand's own port space (A11-AMB-11)
cm.INVALID_SERVICE_ID, cm.CONSUMER = 8, 28

--------------------------------------------------------------------------------------------------------------------
-- Octets

-- "10.77.0.2", "fd77::2" or "::ffff:10.77.0.2" as the 16 octets of A11 Table 1, and its family.
function cm.address(text)
  local high, v4 = text:match("^(.*:)(%d+%.%d+%.%d+%.%d+)$")
  if v4 then -- RFC 4291 2.2: the last four octets as IPv4 has them
    local e, f, g, h = v4:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
    return cm.address(high .. string.format("%02x%02x:%02x%02x", tonumber(e), tonumber(f), tonumber(g), tonumber(h)))
  end
  local a, b, c, d = text:match("^(%d+)%.(%d+)%.(%d+)%.(%d+)$")
  if a then return ("\0"):rep(12) .. string.char(a, b, c, d), 4 end
  local front, back = text:match("^(.-)::(.*)$")
  local function words(list)
    local out = ""
    for word in list:gmatch("%x+") do out = out .. string.pack(">I2", tonumber(word, 16)) end
    return out
  end
  front, back = words(front or text), words(back or "")
  return front .. ("\0"):rep(16 - #front - #back) .. back, 6
end

-- The Service ID of a protocol's port (A11.5).
function cm.service_id(protocol, port) return 0x01000000 | protocol << 16 | port end

-- These octets, and zeros up to so many.
local function filled(octets, count) return octets .. ("\0"):rep(count - #octets) end

cm.filled = filled

local function mad(name, transaction, body)
  return filled(wire.pack("mad", { BaseVersion = 1, MgmtClass = 7, ClassVersion = 2, Method = 3, TransactionID = transaction,
                                   AttributeID = codes[name] }) .. body, 256)
end

-- An IPv4 address as one of IPv6.
local function mapped(octets) return ("\0"):rep(10) .. "\xFF\xFF" .. octets:sub(13) end

-- The IP version and addresses of good REQs to this device: those of the rig, unless the device has shown that it takes
-- the other version.
function Test:cm_base()
  if not self.cm_addresses then
    local own, dut = rig.addresses()
    local source, family = cm.address(own)
    self.cm_addresses = { IPV = family, Source = source, Destination = (cm.address(dut)) }
  end
  return self.cm_addresses
end

-- The Private Data of a REQ by the service (A11 Table 1): fields of ip_cm_private, and `consumer`.
local function private_data(t, fields)
  local base = t:cm_base()
  local header = { MajV = fields.MajV or 0, MinV = fields.MinV or 0, IPV = fields.IPV or base.IPV, Res = fields.Res or 0,
                   SourcePort = fields.SourcePort or CLIENT_PORT, Source = fields.Source or base.Source,
                   Destination = fields.Destination or base.Destination }
  return filled(wire.pack("ip_cm_private", header) .. (fields.consumer or ""), PRIVATE)
end

-- An address as a GID of RoCEv2 (Annex A17): IPv4 as ::ffff:a.b.c.d.
local function gid(text)
  local octets, family = cm.address(text)
  return family == 6 and octets or mapped(octets)
end

-- A REQ of this exchange. fields: those of A11 Table 1, consumer (octets); protocol, port or ServiceID; private (all 92
-- octets); req: fields of the REQ itself.
local function request(t, exchange, fields)
  local ids = exchange:status()
  local own, dut, port = rig.addresses()
  local body = { LocalID = ids.local_id, ServiceID = fields.ServiceID or cm.service_id(fields.protocol or cm.TCP, fields.port or port),
                 CAGUID = ids.ca_guid, QPN = ids.qpn, PSN = ids.psn, Resources = 1, Depth = 1, RemoteTimeout = TIMEOUT,
                 LocalTimeout = TIMEOUT, P_Key = 0xFFFF, MTU = 3, MaxRetries = ATTEMPTS - 1, RNRRetry = 7, FlowControl = 1,
                 PrimaryLocalLID = NO_LID, PrimaryRemoteLID = NO_LID, PrimaryLocalGID = gid(own), PrimaryRemoteGID = gid(dut),
                 PrimaryRate = 3, PrimaryHopLimit = 64, PrimaryACKTimeout = TIMEOUT }
  for name, value in pairs(fields.req or {}) do body[name] = value end
  return mad("REQ", ids.transaction, filled(wire.pack("cm_req", body), PRIVATE_AT) .. (fields.private or private_data(t, fields)))
end

-- Any other message of an exchange, with its IDs.
function cm.answer(exchange, name, fields, private, at)
  local ids = exchange:status()
  local body = { LocalID = ids.local_id, RemoteID = ids.remote_id }
  for field, value in pairs(fields or {}) do body[field] = value end
  local octets = wire.pack(layouts[name] or "cm_ids", body)
  return mad(name, ids.transaction, private and filled(octets, at) .. private or octets)
end

-- What stands in a MAD: name, its fields, ari and private (octets).
function cm.read(octets)
  local head = wire.unpack("mad", octets)
  local name = names[head.AttributeID] or string.format("attribute 0x%04x", head.AttributeID)
  local body = octets:sub(MAD + 1)
  local out = wire.unpack(layouts[name] or "cm_ids", body)
  out.name, out.TransactionID, out.octets = name, head.TransactionID, octets
  if name == "REQ" then
    out.private = body:sub(PRIVATE_AT + 1, PRIVATE_AT + PRIVATE)
    out.ip = wire.unpack("ip_cm_private", out.private)
  elseif name == "REJ" then
    -- What Reject Info Length does not count is not there, and counts as zero.
    out.ari_octets = filled(body:sub(ARI_AT + 1, ARI_AT + math.min(out.InfoLength, ARI)), ARI)
    out.ari = wire.unpack("ip_cm_ari", out.ari_octets)
    out.value = out.ari_octets:sub(5, 4 + math.min(out.ari.SuggestedLength, ARI - 4))
  end
  return out
end

-- An answer in words.
function cm.describe(got)
  if got.name ~= "REJ" then return got.name end
  if got.Reason ~= cm.CONSUMER then return "REJ with reason " .. got.Reason end
  return string.format("REJ with reason 28, ARI %02x %02x, Reject Info Length %d", got.ari.Layer, got.ari.Code, got.InfoLength)
end

--------------------------------------------------------------------------------------------------------------------
-- The device as a server

-- The answer to a REQ that `exchange` sends (again, until one comes): what cm.read() makes of it, or { name = "no
-- answer" }. MRAs prolong the wait; `mras` counts them.
local function await_answer(exchange, mras)
  while true do
    local octets, good = exchange:receive(120, true)
    if not octets then return { name = "no answer to " .. exchange:status().attempts .. " REQs", silent = true, mras = mras } end
    local got = cm.read(octets)
    got.icrc_good = good
    if got.name ~= "MRA" then
      got.mras = mras
      return got
    end
    mras = mras + 1
  end
end

-- Sends a REQ with these fields and returns the answer. The exchange is closed, unless options.keep: then it is the
-- second result. options.again: a REJ is asked for once more, by the same octets, as if it had been lost: got.again is
-- what came then, nil for nothing.
function Test:cm_ask(fields, options)
  local exchange = rig.cm_open()
  options = options or {}
  local octets = request(self, exchange, fields or {})
  exchange:send(octets, { attempts = ATTEMPTS, interval = INTERVAL, icrc_flip = options.icrc_flip })
  local got = await_answer(exchange, 0)
  if options.again and got.name == "REJ" then got.again = self:cm_ask_again(exchange, octets, got) end
  if options.keep then return got, exchange end
  exchange:close()
  return got
end

-- What a REQ draws that comes once more: `first` itself where it is the same octets, nil where nothing comes.
function Test:cm_ask_again(exchange, octets, first)
  local repeated, deadline = exchange:status().repeated, rig.now() + self.quiet
  exchange:send(octets)
  repeat
    local answer = exchange:receive(self.quiet / 8)
    local got = answer and cm.read(answer)
    if got and got.name ~= "MRA" then return got end
    if exchange:status().repeated > repeated then return first end
  until rig.now() >= deadline
end

-- Reasons that say something of resources, times and IDs, and nothing of what the REQ asks for.
local passing = { [1] = true, [2] = true, [3] = true, [4] = true, [6] = true, [7] = true, [10] = true, [24] = true, [25] = true, [30] = true }

local function end_if_transient(t, got, message)
  if got.name == "REJ" and passing[got.Reason] then
    t:inconclusive(message .. ": " .. cm.describe(got) .. " tells nothing of the Private Data")
  end
end

local function unspecified(got)
  return got.name == "REJ" and got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code == 0
end

-- A refusal without a reason may be meant for that one moment (A11.7): the same is asked for again, so often at most.
local REFUSALS_MOST <const> = 3

-- The answer to this REQ, as cm_ask() gives it; one that is refused without a reason is sent some more times, as a new
-- one.
function Test:cm_insist(fields, options)
  local got, exchange
  for _ = 0, REFUSALS_MOST do
    got, exchange = self:cm_ask(fields, options)
    if not unspecified(got) then break end
    if exchange then exchange:close() end
  end
  return got, exchange
end

-- The device accepts this REQ. An unspecified rejection by the service is legal (A11.6, A11.7), and INCONCLUSIVE. With
-- `ignored`, what the REQ has that a good one has not may change nothing: then a device that accepts a good REQ, and
-- rejects this one before it and after it, fails.
function Test:cm_expect_accept(fields, message, ignored)
  local got, exchange = self:cm_insist(fields, { keep = true })
  end_if_transient(self, got, message)
  if unspecified(got) and ignored and self:cm_insist({}).name == "REP" and unspecified(self:cm_insist(fields)) then
    self:fail(message, "REP, as to a REQ without it", cm.describe(got))
  end
  self:cm_need_reachable(got, message)
  if unspecified(got) then
    self:inconclusive(message .. ": an unspecified rejection, which a server may send for any reason (A11.7)")
  end
  if got.name ~= "REP" then self:fail(message, "REP", cm.describe(got)) end
  exchange:send(cm.answer(exchange, "RTU"))
  exchange:close()
  return got
end

-- INCONCLUSIVE where no REQ can be accepted: the device takes an IP version of which the rig has no address of it.
function Test:cm_need_reachable(got, message)
  if not self.cm_unreachable or got.name == "REP" then return end
  self:inconclusive(message .. ": the device does not take IPV " .. self.cm_refused .. ", and the run has no address of it of another version: " ..
    "run against such an address")
end

-- The device rejects this REQ, and rejects it too where it comes once more, as if the REJ had been lost; returns the
-- REJ.
function Test:cm_expect_reject(fields, message)
  local got = self:cm_ask(fields, { again = true })
  end_if_transient(self, got, message)
  if got.name ~= "REJ" or got.Message ~= 0 then
    self:fail(message, "REJ of the REQ", got.name == "REJ" and "REJ of message " .. got.Message or cm.describe(got))
  end
  if got.again and got.again.name ~= "REJ" then
    self:fail(message .. ", which comes once more", "REJ, as the first time", cm.describe(got.again))
  end
  return got
end

-- The reason is another one than 28, which oA11-1 judges: there is no ARI to look at.
local function without_ari(got) return got.name == "REJ" and got.Reason ~= cm.CONSUMER end

-- The device may refuse this REQ or accept it; if it refuses, by the service, and with one of these codes (or 00).
-- Returns the answer; nil where it refuses by another reason than 28, so that there is no code to judge.
function Test:cm_expect_code(fields, codes_allowed, message, must_refuse)
  local got = must_refuse and self:cm_expect_reject(fields, message) or self:cm_ask(fields)
  end_if_transient(self, got, message)
  if got.name == "REP" then return got end
  if without_ari(got) then return nil end
  local allowed = { "00 00" }
  local good = got.name == "REJ" and got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code == 0
  for _, code in ipairs(codes_allowed) do
    allowed[#allowed + 1] = string.format("00 %02x", code)
    good = good or (got.name == "REJ" and got.Reason == cm.CONSUMER and got.ari.Layer == 0 and got.ari.Code == code)
  end
  if not good then
    self:fail(message, (must_refuse and "" or "REP, or ") .. "REJ with reason 28, ARI " .. table.concat(allowed, " or "), cm.describe(got))
  end
  return got
end

-- REQs with one bad field each, whose refusal is mandatory (versions, IPV) or optional: { fields, code, message,
-- optional }.
function Test:cm_bad_fields()
  local base = self:cm_base()
  local source, family, destination = base.Source, base.IPV, base.Destination
  local list = {
    { { MajV = 1 }, 1, "a REQ with MajV 1" }, { { MinV = 15 }, 2, "a REQ with MinV 15" }, { { IPV = 5 }, 3, "a REQ with IPV 5" },
    { { Destination = cm.address(family == 4 and "203.0.113.9" or "2001:db8::9") }, 6,
      "a REQ whose destination is not the device's address", true },
  }
  if family == 4 then
    local dirty = ("\xFF"):rep(12)
    list[#list + 1] = { { Source = dirty .. source:sub(13) }, 4, "a REQ with IPV 4 and a source of 128 bits", true }
    list[#list + 1] = { { Destination = dirty .. destination:sub(13) }, 5, "a REQ with IPV 4 and a destination of 128 bits", true }
  end
  return list
end

-- Configures the CM of the device by its upper tester (docs/upper-tester.md, cm_configure): SKIP when it cannot.
function Test:cm_configure(config)
  if not rig.has_upper_tester() then self:skip("this check needs an upper tester that configures the device's CM") end
  self:instrument("cm_configure", config)
  self.cm_configured = true
end

-- The same where a check can do without: false when the device has no upper tester, or one that cannot.
function Test:cm_can_configure(config)
  if not rig.has_upper_tester() or not self:command("cm_configure", config).ok then return false end
  self.cm_configured = true
  return true
end

-- The ULP's events of the device's CM so far, and those that came before; SKIP without an upper tester.
function Test:cm_event(kind)
  local deadline = rig.now() + self.reaction
  self.cm_events = self.cm_events or {}
  local wait = self:waits(deadline)
  while true do
    for i, event in ipairs(self.cm_events) do
      if event.event == kind then return table.remove(self.cm_events, i) end
    end
    if rig.now() >= deadline then return nil end
    for _, event in ipairs(self:instrument("cm_poll").events) do self.cm_events[#self.cm_events + 1] = event end
    wait()
  end
end

-- The event of a REQ with this source port, as the ULP of the device receives it. FAIL where it receives none.
function Test:cm_request_event(source_port)
  local event
  repeat event = self:cm_event("request") until event == nil or event.source_port == source_port
  if event == nil then
    self:fail("a REQ of the client's port " .. source_port, "the ULP is told of it", "of no REQ of that port")
  end
  return event
end

--------------------------------------------------------------------------------------------------------------------
-- The device as a client

-- The REQ that the device sends when it is asked to connect to the tester's address: what cm.read() makes of it, the
-- exchange, and the device's number for it. config: protocol, port, source_port, data (octets), optional (nil where the
-- device has no such protocol, else SKIP).
function Test:cm_receive_request(config)
  local own, _, port = rig.addresses()
  local ask = { address = own, port = config and config.port or port, protocol = config and config.protocol or cm.TCP,
                source_port = config and config.source_port, data = config and config.data and hex(config.data) }
  local number
  rig.cm_forget()
  if self:is_started() then
    if config then self:skip("connect_command starts the client as it is: nobody can ask it for ports or data") end
    rig.start_initiator(port)
  else
    local answer = self:command("cm_connect", ask)
    if answer.unsupported and config and config.optional then return nil end
    if answer.unsupported then self:skip("the device cannot be asked to connect so: " .. tostring(answer.error)) end
    if not answer.ok then self:inconclusive("the upper tester could not connect: " .. tostring(answer.error)) end
    number = answer.exchange
  end
  local exchange = rig.cm_accept(math.max(self.reaction, 10))
  if not exchange then self:inconclusive("the device did not send a REQ") end
  return cm.read(exchange:receive(0.1)), exchange, number
end

-- Octets of the Private Data of a REP, and where they stand in its body (IBTA 12.6.8).
cm.REPLY_DATA = 196
local REPLY_DATA_AT <const> = 36

-- The Private Data of a REP, as they came.
function cm.reply_data(got)
  local from = MAD + REPLY_DATA_AT
  return got.octets:sub(from + 1, from + cm.REPLY_DATA)
end

-- Octets as an event has them, in hex: what has no length on the wire may come with the zeros after it, or
-- without.
function cm.event_data(event) return ((event.data or ""):gsub("0*$", function(zeros) return ("0"):rep(#zeros % 2) end)) end

-- Accepts it: REP with this Private Data, and the device's RTU, before which an MRA may come.
function Test:cm_accept(exchange, message, private)
  exchange:send(cm.answer(exchange, "REP", { QPN = exchange:status().qpn, PSN = 7, Resources = 1, Depth = 1, RNRRetry = 7 },
                          private or "", REPLY_DATA_AT),
                { attempts = ATTEMPTS, interval = INTERVAL })
  local got
  repeat
    local octets = exchange:receive(120, true)
    got = octets and cm.read(octets) or { name = "no answer to the REP" }
  until got.name ~= "MRA"
  if got.name ~= "RTU" then self:fail(message or "a REQ that is accepted", "RTU", cm.describe(got)) end
end

-- Rejects it, with these octets of ARI.
function cm.reject(exchange, reason, ari)
  exchange:send(cm.answer(exchange, "REJ", { Reason = reason, InfoLength = #ari, ARI = filled(ari, ARI) }))
end

--------------------------------------------------------------------------------------------------------------------
-- The good exchange around each check: accepted, and closed. "cm answer": any answer to a REQ will do.

-- Where the rig has no address of an IP version: IPv4's as IPv6's, and a network for documents (RFC 5737).
local function addresses_of_other(base)
  if base.IPV == 4 then return { IPV = 6, Source = mapped(base.Source), Destination = mapped(base.Destination) } end
  return { IPV = 4, Source = (cm.address("192.0.2.1")), Destination = (cm.address("192.0.2.2")) }
end

-- Is it refused for its IP version, or without a reason, which may be that one (A11.7)?
local function may_want_other_version(got)
  return got.name == "REJ" and got.Reason == cm.CONSUMER and got.ari.Layer == 0 and (got.ari.Code == 3 or got.ari.Code == 0)
end

-- A good REQ was answered so. One that may be refused for its IP version is sent with the other version. Returns the
-- answer to that.
function Test:cm_learn_family(got, exchange)
  if not may_want_other_version(got) then return got, exchange end
  local base = self:cm_base()
  if self.cm_learnt then return got, exchange end
  self.cm_learnt, self.cm_refused = true, base.IPV
  exchange:close()
  self.cm_addresses = addresses_of_other(base)
  got, exchange = self:cm_insist({}, { keep = true })
  if may_want_other_version(got) then self.cm_addresses = base end
  self.cm_unreachable = got.name == "REJ"
  return got, exchange
end

function cm.exchange(t, kind)
  if t.cm_configured then t:instrument("cm_configure", {}) end -- as it was
  if t.role == "initiator" then
    local _, exchange = t:cm_receive_request()
    t:cm_accept(exchange, "a good exchange")
    exchange:close()
  elseif kind == "cm" then
    local got, exchange = t:cm_learn_family(t:cm_insist({}, { keep = true }))
    t:cm_need_reachable(got, "a good REQ")
    if got.name ~= "REP" then t:fail("a good REQ was answered by " .. cm.describe(got), "REP", cm.describe(got)) end
    exchange:send(cm.answer(exchange, "RTU"))
    exchange:close()
  else
    local got, exchange = t:cm_ask({}, { keep = true })
    if got.silent then t:fail("a good REQ", "an answer", "nothing") end
    got, exchange = t:cm_learn_family(got, exchange)
    exchange:close()
  end
end
