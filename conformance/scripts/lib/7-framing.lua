-- SPDX-License-Identifier: BSD-2-Clause
--
-- For checks of FPDUs, Markers and CRCs, in either role (docs/writing-checks.md, "Framing").

-- A stream in full operation with this framing. options:
--   markers = true       the device wants Markers in what it receives (M = 1): SKIP when it does not
--   own_markers = true   the tester does: the device sends them
--   crc = false          C = 0 on both sides; dut_crc, own_crc: on one
--   private_data         of the tester's start-up frame; dut, mss, iss as for t:open
--   fresh = true         no FPDU of the tester yet, so that a responder may not send any; else a probe was answered
function Test:open_with_framing(options)
  local o = options or {}
  local dut = copy_fields(o.dut)
  if o.markers ~= nil then dut.markers = o.markers end
  if o.crc == false or o.dut_crc == false then dut.crc = false end
  local own = { M = o.own_markers == true, C = not (o.crc == false or o.own_crc == false), private_data = o.private_data }
  local c = self:open { dut = rig.has_upper_tester() and dut or nil, request = own, reply = own, mss = o.mss, iss = o.iss }
  if o.markers and not c.send_framing.markers then self:skip("the device does not want Markers (M = 0)") end
  if (o.crc == false) and c.send_framing.crc then self:skip("the device insists on CRCs (C = 1)") end
  c.fenced = o.fresh and self.role == "responder"
  if not o.fresh then c:probe() end
  return c
end

-- The stream that this method of Test ("open", "open_with_framing") gives with such options. Nil where the device
-- cannot be asked for it: the check goes on without it, and says so in a note that begins with these words.
function Test:stream_if_asked(open, options, note) return self:if_served(note, self[open], self, options) end

-- One of several stimuli: what body(...) returns, or nothing and a note where it is skipped, or needs what the device
-- does not serve.
function Test:if_served(note, body, ...)
  local made, result = pcall(body, ...)
  if made then return result end
  if type(result) ~= "table" or result.verdict ~= "SKIP" and not result.not_served then error(result, 0) end
  self:note(note .. ": " .. result.message)
end

LONG = 6000 -- octets of a Write or Send in one segment, longer than Ethernet's MTU

-- Does the device take a segment that long? A link with jumbo frames has such, and a device may refuse what is longer
-- than its own MULPDU (MPA-3-16). Tried once a check.
function Test:takes_long()
  if self:over_sctp() then return false end -- a packet has no room for it
  if self.long == nil then
    local c = self:open()
    c:send(self:memory { octets = LONG }:write(0, pattern(LONG)))
    self.long = c:alive()
    if not self.long then self:note("the device takes no segment of " .. LONG .. " octets") end
  end
  return self.long
end

-- Calls body(stream, markers) on a stream without Markers towards the device, and on one with them unless it has none
-- (then a note says so), and finishes the stream. Without an upper tester the device has its own way, once.
function Test:with_and_without_markers(body)
  local requested = rig.has_upper_tester()
  local function on(c, markers)
    body(c, markers)
    c:finish()
  end
  on(self:open_with_framing(requested and { markers = false } or {}), false)
  if not requested then return end
  local c = self:stream_if_asked("open_with_framing", { markers = true }, "decided without Markers")
  if c then on(c, true) end
end

-- The CRC that this frame would have at the present position, as a number; the position stays.
function Connection:crc_of(frame)
  local position, msn = self.send_framing.position, self.msn
  self.msn = copy_fields(msn)
  local octets = self:octets(frame)
  self.send_framing.position, self.msn = position, msn
  return (string.unpack("<I4", octets, #octets - 3)), octets
end

-- What became of an FPDU that is not right: "terminate" (with one of these triples), "dropped" (its segment is not
-- acknowledged: RFC 5044 8 allows that), or "accepted" (a Read Request after it was answered). A bare FIN or RST is
-- WARN, but "closed" from a responder that may not send yet (RFC 5044 7.1.2); everything else is FAIL. Also returns
-- what came.
function Connection:mpa_outcome(names, message)
  local words, good = {}, {}
  for i, name in ipairs(names) do
    good[wire.triple(name)] = true
    words[i] = terminate_text(name)
  end
  local expected = table.concat(words, ", or ")
  local got
  repeat
    got = self:receive()
  until got.kind ~= "segment" or got.triple or got.Opcode == 2
  if got.kind == "segment" and got.triple and good[got.triple] then return "terminate", got end
  if got.kind == "segment" and got.Opcode == 2 then return "accepted", got end
  if got.kind == "timeout" and self.tcp:unacknowledged() > 0 then
    self.t:note("the segment is not acknowledged: silently dropped (RFC 5044 8)")
    return "dropped", got
  end
  if fits(tcp.closed(), got) then
    if self.fenced then return "closed", got end
    self.t:terminate_missing(expected, describe(got))
  end
  self.t:fail(message, expected .. ", or the segment dropped", describe(got))
end

-- The FPDU that was sent has a wrong CRC: Terminate 2/0/02, or its segment is dropped. After the Terminate nothing
-- follows but the end.
-- With `anywhere` its Markers are wrong, too, and either may be found.
function Connection:expect_crc_error(message, anywhere)
  local names = anywhere and self.send_framing.markers and { "MPA_CRC", "MPA_MARKER" } or { "MPA_CRC" }
  local outcome, got = self:mpa_outcome(names, message)
  if outcome == "accepted" then
    self.t:fail(message, terminate_text("MPA_CRC"), "it was taken: " .. describe(got))
  end
  if outcome == "terminate" then self:expect_end(message) end
  return outcome
end

-- MULPDU at this EMSS, with or without Markers (RFC 5044 4.5 and 3).
function mulpdu_of(emss, markers)
  return math.max(128, math.min(64768, emss - (6 + (markers and 4 * -(-emss // 512) or 0) + emss % 4)))
end

-- The Ethernet MTU less IP and TCP headers: what a device without an EMSS takes for one (RFC 5044 5.1).
local MTU_EMSS = { [false] = 1460, [true] = 1440 }

-- A ULPDU of `octets` where MULPDU is `most`: FAIL, and WARN for the MULPDU of the MTU where the device cannot learn
-- its EMSS.
function Test:longer_than_mulpdu(what, most, octets)
  local expected, actual = "at most " .. most .. " octets", octets .. " octets"
  if not rig.claims("emss") and octets <= mulpdu_of(MTU_EMSS[self:over_ipv6()]) then
    self:warn(what, expected, actual)
  end
  self:fail(what, expected, actual)
end

-- Octets from the next FPDU's place to the next Marker's (0: the Marker comes first).
function Connection:marker_distance()
  return -self.send_framing.position % 512
end

-- These messages (payloads of Sends) are delivered in order, and the stream is alive after them.
function Connection:expect_accepted(messages, message)
  self:probe { message = message }
  if not rig.has_upper_tester() then
    self.t:note("no upper tester: what the ULP got is not seen")
    return
  end
  self.t:expect_deliveries(self, messages, message)
end

-- Leaves a gap as long as `first`, sends `later` after it, waits, and closes the gap; `meanwhile` is called before
-- that.
function Connection:behind_a_gap(first, later, seconds, meanwhile)
  self.tcp:raw { offset = #first, octets = later }
  rig.wait(seconds)
  if meanwhile then meanwhile() end
  self:send_segments { first, later }
end

-- FPDUs in TCP segments of about `size` octets, none of which begins in a pad or CRC field: MPA-6-06 judges that.
function Connection:send_clear_of_trailers(frames, size)
  local trailer, pieces, rest = 8, {}, ""
  for _, frame in ipairs(frames) do
    rest = rest .. self:octets(frame)
    while #rest > size do
      local length = #rest - size < trailer and #rest or size
      pieces[#pieces + 1] = rest:sub(1, length)
      rest = rest:sub(length + 1)
    end
  end
  if #rest > 0 then pieces[#pieces + 1] = rest end
  self:send_segments(pieces)
end

-- FPDUs in TCP segments of `size` octets. What comes at once may be joined before MPA sees it (GRO), and a race would
-- decide whether the device met a cut within a CRC field: such a cut waits for the ACK of what comes before it.
function Connection:send_apart_in_crcs(frames, size)
  local octets, ends = "", {}
  for i, frame in ipairs(frames) do
    octets = octets .. self:octets(frame)
    ends[i] = #octets
  end
  local pieces, next_end = {}, 1
  for first = 1, #octets, size do
    local cut = math.min(first + size - 1, #octets)
    pieces[#pieces + 1] = octets:sub(first, cut)
    while ends[next_end] < cut do next_end = next_end + 1 end
    if cut == #octets or (cut < ends[next_end] and cut > ends[next_end] - 4) then
      self:send_segments(pieces)
      self:await_acknowledged()
      pieces = {}
    end
  end
end
