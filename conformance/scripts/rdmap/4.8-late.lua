-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 4.8 and 7.1: Read limits exceeded, Reads that fail midway, and what the texts leave open about Terminates.

defaults { llp = "any" }

-- A Read of t.large octets is under way while the window is shut when its source is invalidated: what has gone out is
-- taken, and the Terminate.
-- Both TOs pass a multiple of 2^32 after 16 octets, the source's where the device lets its memory be there.
local SINK, SINK_TO, SOURCE_TO = 0x0A0B0C0D, 0x1FFFFFFF0, 0x4FFFFFFF0

-- The source goes `pause` after its Read was asked for: the tester invalidates it, or, where the device binds no memory
-- to a stream, its ULP does. Returns memory, octets received, Terminate, connection.
local function source_goes(t, pause)
  local c = t:open()
  local m = t:memory { octets = t.large, base = SOURCE_TO, anywhere = true, bound = c, alone = true }
  c:probe()
  c:window(0)
  c:send(m:read(0, t.large, { SinkSTag = SINK, SinkTO = SINK_TO }))
  -- Another one waits for its turn: it is not the one that fails.
  if t:depth("ird", 2) > 1 then c:send(t:memory { octets = 64 }:read(0, 16, { SinkSTag = 0x0E0F1011, SinkTO = 0x30 })) end
  rig.wait(pause)
  if t:binds_memory() then
    c:send(rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1" })
  else
    t.dut:invalidate { stag = m.STag }
  end
  rig.wait(t.quiet / 4)
  c:window(65535)
  local octets, got = 0, nil
  repeat
    got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 then
      octets = octets + #got.data
      -- RFC 5040 has no rule when the source is fetched: a device may have all of it before it goes. What it does with
      -- an STag that is invalid by then is for RDMAP-8.1.1 to judge.
      if got.L == 1 then t:skip("the device goes on with a Read whose source is taken away: it has none that fails midway") end
    end
  until got.kind ~= "segment" or got.Opcode ~= 2
  if not is_terminate(got) then t:fail("a Read whose source goes away midway", "a Terminate 0/1", describe(got)) end
  t:equal("Layer and EType of the Terminate", "0 1", got.Layer .. " " .. got.EType)
  return m, octets, got, c
end

local function fails_midway(t)
  -- A device may take its time with a Response (RFC 5040 5.5 has no limit): one that had not begun is asked again.
  local m, octets, got, c = source_goes(t, t.quiet / 4)
  if octets == 0 then m, octets, got, c = source_goes(t, t.quiet) end
  if octets == 0 then
    t:inconclusive(string.format("no octet of the Response was under way %g s after the Read Request", t.quiet))
  end
  if got.R ~= 1 then t:warn("what the Terminate quotes", "R = 1", "R = 0") end
  local quoted, header = c:quoted(got), {}
  header.SinkSTag, header.SinkTO, header.RDMARDSZ, header.SrcSTag, header.SrcTO = string.unpack(">I4i8I4I4i8", quoted.rdmap)
  return m, octets, header
end

check {
  id = "RDMAP-4.8-45",
  purpose = "a Read that fails midway: SinkSTag comes back as it was",
  run = function(t)
    local _, _, header = fails_midway(t)
    t:equal("SinkSTag", string.format("%08x", SINK), string.format("%08x", header.SinkSTag))
  end,
}

check {
  id = "RDMAP-4.8-46",
  purpose = "a Read that fails midway: SinkTO comes back as the place of the first octet not sent",
  run = function(t)
    local _, octets, header = fails_midway(t)
    t:equal("SinkTO", string.format("0x%x", SINK_TO + octets), string.format("0x%x", header.SinkTO))
  end,
}

check {
  id = "RDMAP-4.8-47",
  purpose = "a Read that fails midway: RDMARDSZ comes back as the octets still to be sent",
  run = function(t)
    local _, octets, header = fails_midway(t)
    t:equal("RDMARDSZ", t.large - octets, header.RDMARDSZ)
  end,
}

check {
  id = "RDMAP-4.8-48",
  purpose = "a Read that fails midway: SrcSTag comes back as it was",
  run = function(t)
    local m, _, header = fails_midway(t)
    t:equal("SrcSTag", string.format("%08x", m.STag), string.format("%08x", header.SrcSTag))
  end,
}

check {
  id = "RDMAP-4.8-49",
  purpose = "a Read that fails midway: SrcTO comes back as the place of the first octet not sent",
  run = function(t)
    local m, octets, header = fails_midway(t)
    t:equal("SrcTO", string.format("0x%x", m.TO + octets), string.format("0x%x", header.SrcTO))
  end,
}

check {
  id = "RDMAP-4.8-27",
  purpose = "0/2/07: a catastrophe of one stream is told as that, and leaves the others alone",
  run = function(t)
    local other = t:open()
    local m = t:memory { octets = t.large }
    local c = t:open { dut = { ird = 2 } }
    c:probe()
    c:shut_with_reads(m, 3)
    c:window(65535)
    local got
    repeat got = c:receive() until got.kind ~= "segment" or got.Opcode ~= 2
    -- No Terminate: RDMAP-6.1-08 and -09 judge that. Which code it has is what is judged here.
    if is_terminate(got) and not is_terminate(got, { "DDP_NO_BUFFER", "DDP_MSN_RANGE", "RDMAP_CATASTROPHIC_STREAM", "RDMAP_OPERATION_OTHER" }) then
      t:fail("three Read Requests with an IRD of 2", terminate_text("RDMAP_CATASTROPHIC_STREAM") .. ", or one of DDP's for a missing buffer",
             describe(got))
    end
    other:probe { message = "another stream, when one had a Read Request too many" }
    other:send(m:read(0, 16, { SinkSTag = 1 }))
    other:expect_response(1, 0, ("\xA5"):rep(16), "a Read on the other stream")
    if not is_terminate(got) then
      t:note("no Terminate came: no code to judge")
    elseif got.Layer == 1 then t:note("told as an error of DDP's: no code of RDMAP's to judge") end
  end,
}

check {
  id = "RDMAP-4.8-42",
  role = "both",
  purpose = "a protection error of a Send with Invalidate: no RDMA header, or 28 octets of zero",
  run = function(t)
    local m = t:memory { pd = 2 }
    local c = t:open()
    local frame = rdmap.send_invalidate { InvalidateSTag = m.STag, data = "1234" }
    local ulpdu = c:ulpdu(frame)
    c:send(raw.segment { data = ulpdu })
    local got = c:receive()
    if not is_terminate(got) or got.Code ~= 9 and got.Code ~= 0 and got.Code ~= 3 then
      t:fail("a Send with Invalidate of an STag of another domain", "a Terminate x/x/09", c:instead({}, got))
    end
    local quoted = c:quoted(got)
    if got.M ~= 1 or got.D ~= 1 then t:warn("what the Terminate quotes", "M = 1 D = 1", header_bits(got)) end
    t:equal("the quoted DDP header", hex(ulpdu:sub(1, 18)), hex(quoted.header))
    if got.R == 1 then
      t:equal("the RDMA header of a message that has none", ("00"):rep(28), hex(quoted.rdmap))
      t:ambiguous("B: 28 zero octets, as Figure 10 wants one with every protection error")
    end
    if quoted.rest:find("[^\0]") then t:fail("octets after the DDP header", "none, or zeros", hex(quoted.rest:sub(1, 16))) end
    t:ambiguous("A: no RDMA header, as only a Read Request has one")
  end,
}

check {
  id = "RDMAP-4.8-43",
  role = "both",
  purpose = "an operation error of a Read Request: no RDMA header, or the one that was sent",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    local ulpdu = c:ulpdu(m:read(0, 8, { RV = 3 }))
    c:send(raw.segment { data = ulpdu })
    local got = c:expect_terminate("RDMAP_VERSION", { next = true, message = "a Read Request with RV 3" })
    local quoted = c:quoted(got)
    if got.M ~= 1 or got.D ~= 1 then t:warn("what the Terminate quotes", "M = 1 D = 1", header_bits(got)) end
    if got.R == 1 then
      t:equal("the quoted Read Request Header", hex(ulpdu:sub(19)), hex(quoted.rdmap))
      t:ambiguous("B: the Read Request is quoted with any error (7.1)")
    end
    if quoted.rest:find("[^\0]") then t:fail("octets after the DDP header", "none, or zeros", hex(quoted.rest:sub(1, 16))) end
    t:ambiguous("A: no RDMA header with an operation error (Figure 10)")
  end,
}

check {
  id = "RDMAP-4.8-51",
  role = "both",
  purpose = "an RDMAP error of a message of several segments: header and length of one of them are quoted",
  run = function(t)
    local c = t:open()
    local msn = c.msn[0]
    local parts, frames = {}, {}
    for i, data in ipairs { pattern(1000), pattern(900), pattern(50) } do
      frames[i] = rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, MSN = msn, MO = ({ 0, 1000, 1900 })[i], data = data,
                                          L = i == 3 and 1 or 0 }
      parts[i] = c:ulpdu(frames[i])
      frames[i] = raw.segment { data = parts[i] }
    end
    c:send(table.unpack(frames))
    local got = c:receive()
    if not is_terminate(got) or got.Code ~= 9 and got.Code ~= 0 then
      t:fail("a Send with Invalidate of an unknown STag", "a Terminate x/x/09", c:instead({}, got))
    end
    if got.D ~= 1 then t:warn("what the Terminate quotes", "D = 1", header_bits(got)) end
    local quoted = c:quoted(got)
    for i, ulpdu in ipairs(parts) do
      if quoted.header == ulpdu:sub(1, 18) then
        if quoted.Length == 18 + 1950 then
          t:warn("DDP Segment Length", tostring(#ulpdu), "1968, of the whole message")
        end
        if quoted.Length ~= #ulpdu - 18 then -- the payload alone: RDMAP-4.8-35 judges that
          t:equal("DDP Segment Length of the segment that is quoted, number " .. i, #ulpdu, quoted.Length)
        end
        t:ambiguous(({ "B: the first segment's header is quoted", "C: the header of one between",
                       "A: the last segment's header is quoted" })[i])
      end
    end
    t:fail("the quoted DDP header", "that of one of the three segments", hex(quoted.header))
  end,
}

check {
  id = "RDMAP-7.1-08",
  purpose = "a Terminate goes out at the earliest opportunity, before what waits",
  run = function(t)
    local SENDS = 6
    local m = t:memory { octets = t.large }
    local c, number = t:operating()
    c:window(0)
    for _ = 1, SENDS do t.dut:send { stream = number, length = t.large } end
    c:send(m:read(0, t.large), bad_write())
    -- A slow device has some time to find the error.
    if not t:reports_event("error") or not t:await_event("error", { stream = number }, t.quiet, true) then rig.wait(t.quiet / 4) end
    c:window(65535)
    local whole, got = 0, nil
    repeat
      got = c:receive()
      if got.kind == "segment" and not got.triple and got.L == 1 then whole = whole + 1 end
    until got.kind ~= "segment" or got.triple
    local message = "a Write to an unknown STag while the window is shut"
    if fits(tcp.closed(), got) then t:warn(message, "a Terminate", describe(got)) end
    if not is_terminate(got, "DDP_INVALID_STAG") then t:fail(message, terminate_text("DDP_INVALID_STAG"), describe(got)) end
    if whole >= SENDS then t:fail("messages before the Terminate", "at most the one under way", whole .. ", all that waited") end
    if whole > 1 then t:warn("messages before the Terminate", "at most the one under way", tostring(whole)) end
  end,
}

check {
  id = "RDMAP-7.1-09",
  purpose = "a message under way is finished, cut after a segment or dropped; no FPDU is cut",
  run = function(t)
    local m = t:memory { octets = t.large }
    local c = t:open()
    c:probe()
    c:window(0)
    c:send(m:read(0, t.large))
    rig.wait(t.quiet / 4)
    c:send(bad_write())
    rig.wait(t.quiet / 4)
    c:window(65535)
    local octets, whole, got = 0, false, nil
    repeat
      got = c:receive()
      if got.kind == "segment" and got.Opcode == 2 then
        octets, whole = octets + #got.data, got.L == 1
        if got.data ~= ("\xA5"):rep(#got.data) then t:fail("octets of the Read Response", "a5a5 ...", hex(got.data:sub(1, 16))) end
      end
    until got.kind ~= "segment" or got.Opcode ~= 2
    if fits(tcp.closed(), got) then
      t:warn("the Terminate for a Write to an unknown STag", "a Terminate after a whole FPDU", describe(got))
    end
    if not is_terminate(got, "DDP_INVALID_STAG") then
      t:fail("the Terminate for a Write to an unknown STag", "a Terminate after a whole FPDU", describe(got))
    end
    t:ambiguous(whole and "A: the message in progress is finished first" or octets > 0 and "B: it is cut after a segment"
                or "C: it is dropped")
  end,
}

check {
  id = "RDMAP-7.1-11",
  role = "both",
  purpose = "of two messages in error after a gap one is told, and only one",
  run = function(t)
    local c = t:open()
    local fill = c:send_behind(rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG }, { bad_write() })
    rig.wait(t.quiet / 4)
    fill()
    local got = c:expect_terminate({ "RDMAP_INVALID_STAG", "DDP_INVALID_STAG" },
                                   { next = true, message = "a Read Request in error, and a Write that came first" })
    c:expect_end("one Terminate, and the end")
    t:ambiguous(got and got.Layer == 0 and "A: the first failing message in order is reported"
                or "B: the one whose error was seen first")
  end,
}

check {
  id = "RDMAP-6.2.1-07",
  role = "both",
  purpose = "after a whole Terminate the stream is torn down, abortively or gracefully",
  judges = { "terminate" }, -- a RST that overtakes each one is what the row is about
  run = function(t)
    local c = t:open()
    c:probe()
    c:draw_terminate { next = true }
    local how = c:expect_end("FIN or RST after the Terminate")
    t:ambiguous(how == "reset" and "A: the stream is torn down abortively (7)"
                or "B: it is closed gracefully after the Terminate (6.2.1)")
  end,
}

check {
  id = "RDMAP-7-04",
  llp = "any-end",
  role = "both",
  purpose = "the connection is torn down when its stream has failed",
  run = function(t)
    local c = t:open()
    c:draw_terminate { next = true }
    if c:expect_end("FIN or RST, at the latest after the tester's FIN") == "left" then
      t:warn("the end of the connection", "FIN or RST of the device's own", "only after the tester's FIN")
    end
    t:each_error(function(each, _, what)
      if each:expect_end("FIN or RST, at the latest after the tester's FIN") == "left" then
        t:warn("the end of the connection after " .. what, "FIN or RST of the device's own", "only after the tester's FIN")
      end
    end)
  end,
}

check {
  id = "RDMAP-7.2-19",
  role = "both",
  purpose = "the octet at TO 2^64 - 1 is read, or refused as a wrap or out of bounds",
  run = function(t)
    local m = t:memory { base = -16, octets = 16, data = pattern(16) }
    local c = t:open()
    c:send(m:read(15, 1))
    local got = c:receive()
    if got.kind == "segment" and got.Opcode == 2 then
      t:equal("the last octet of the buffer", hex(pattern(16):sub(16)), hex(got.data))
      t:ambiguous("B: the last octet is addressable, so it is none")
    end
    if is_terminate(got, { "RDMAP_TO_WRAP", "RDMAP_BOUNDS" }) then
      t:ambiguous("A: a 64-bit sum of zero is a wrap")
    end
    t:fail("a Read of the octet at TO 2^64 - 1", "one octet, or Terminate 0/1/04 or 0/1/01", describe(got))
  end,
}

check {
  id = "RDMAP-6580.3.1-02",
  role = "both",
  purpose = "a Terminate for a local catastrophe may have any code",
  run = function(t)
    for _, code in ipairs { 0, 0x5A, 0xFF } do
      local c = t:open()
      local message = string.format("a Terminate 0/0/%02X", code)
      c:send(rdmap.terminate { Layer = 0, EType = 0, Code = code })
      c:expect_over(message, { accepts = function() return false end })
      t:expect_event("terminate_received", { stream = t:stream_of(c) }, message, "the ULP is told")
    end
  end,
}
