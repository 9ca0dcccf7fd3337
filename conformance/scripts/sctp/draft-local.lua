-- SPDX-License-Identifier: BSD-2-Clause
--
-- draft-stewart-rddp-sctp-02, 7.1, 7.2 and 7.4: DDP without RDMAP, and what the ULP of a device may ask for.

defaults { llp = "sctp-draft02" }

check {
  id = "SCTP-7.1-05",
  role = "both",
  sandwich = "association",
  purpose = "both sides indicate DDP alone: a tagged message is placed and an untagged one delivered, whatever the ULP's bits say",
  requires = "upper_tester",
  run = function(t)
    local port = t.role == "responder" and t:listen({ indication = sctp.DDP }, true) or nil
    local a = t:associate { tester = { adaptation = sctp.DDP, port = port }, dut = { indication = sctp.DDP }, special = true }
    a.port, a.sid = port, a:session()
    local memory = t:memory { octets = 16, data = string.rep("-", 16), access = { "write", "read" } }
    -- The ULP's bits: for RDMAP they would be those of a Write, and a version that is none.
    local ulp = { RV = 0, Opcode = 0 }
    a:segment(a.sid, memory:write(0, "tagged", ulp))
    a:segment(a.sid, rdmap.send { RV = ulp.RV, Opcode = ulp.Opcode, data = "untagged" })
    a:expect_acknowledged("a tagged and an untagged message of DDP alone")
    if not t:await_event("receive", { data = hex("untagged") }) then
      t:fail("an untagged message of DDP alone", "it is delivered", "it is not")
    end
    t:equal("memory after a tagged message of DDP alone", "tagged----------", memory:octets_now(16))
    -- RFC 5041 7.1: what DDP itself finds wrong is wrong without RDMAP, too; there is no Terminate to say so.
    a:segment(a.sid, rdmap.write { STag = UNKNOWN_STAG, TO = 0, RV = ulp.RV, Opcode = ulp.Opcode, data = "to nobody" })
    a:segment(a.sid, memory:write(0, "later", ulp))
    a:expect_acknowledged("a tagged message for an unknown STag, and one after it")
    a:expect_nothing(a.sid, "an error of DDP alone aborts the stream, and RDMAP's Terminate is not there")
    t:equal("memory after an error of DDP alone", "tagged----------", memory:octets_now(16))
  end,
}

check {
  id = "SCTP-7.2-06",
  role = "both",
  purpose = "the ULP's messages are refused on an aborted stream, and none is sent",
  requires = "upper_tester",
  run = function(t)
    local a, stream = t:draft_posted()
    t.dut:send { stream = stream, data = "01" }
    a:expect_segment(a.sid, rdmap.send { data = "\1" }, "a Send before the stream is aborted")
    a:abort_stream(a.sid)
    for n = 2, 4 do
      local answer = t:command("send", { stream = stream, data = string.format("%02x", n) })
      -- An interface that reports failures only later may take the call; then the work ends with an error.
      if answer.ok and not t:await_event("flushed", { stream = stream }) then
        t:fail("a Send of the ULP on an aborted stream", "an error", "it is taken")
      end
    end
    a:expect_nothing(a.sid, "on an aborted stream nothing of the ULP is sent", 2)
    a:expect_reopened(a.sid)
  end,
}

check {
  id = "SCTP-7.4-02",
  role = "both",
  purpose = "the ULP enables an STag for streams of two associations, and not for another stream of one of them",
  requires = "upper_tester",
  run = function(t)
    local function opened()
      local port = t.role == "responder" and t:listen { pd = 1 } or nil
      local a = t:sctp_open { tester = { port = port }, dut = { pd = 1 } }
      a.port = port
      a:probe(a.sid)
      a:stream_number(a.sid)
      return a
    end
    local first, second = opened(), opened()
    -- An STag is enabled for the streams of its Protection Domain, and the ULP puts each stream into one.
    local memory = t:memory { octets = 16, data = string.rep("-", 16), access = { "write", "read" }, pd = 1 }
    local other = first:another()
    t.dut:connect { association = first.number, sid = other, pd = 2 }
    first:probe(other, "a further stream of the first association")
    first:segment(first.sid, memory:write(0, "first"))
    first:probe(first.sid, "a Write on a stream of the first association")
    second:segment(second.sid, memory:write(8, "second"))
    second:probe(second.sid, "a Write on a stream of the second association")
    t:equal("memory after Writes on the streams that the STag is enabled for", "first---second--", memory:octets_now(16))
    first:segment(other, memory:write(0, "other"))
    first:expect_acknowledged("a Write on a stream that the STag is not enabled for")
    local got = first:receive(other, t.quiet)
    if got and not (got.kind == "segment" and
                    is_terminate(got.segment, { "DDP_NOT_ASSOCIATED", "DDP_INVALID_STAG", "RDMAP_NOT_ASSOCIATED", "RDMAP_INVALID_STAG", "RDMAP_PROTECTION_OTHER" })) then
      t:fail("a Write on a stream that the STag is not enabled for", "Terminate 1/1/02 or 1/1/00, or the silent end of that stream", first:words(got))
    end
    t:equal("memory after a Write on a stream that the STag is not enabled for", "first---second--", memory:octets_now(16))
    first:probe(first.sid, "the other streams go on")
    second:probe(second.sid, "the other streams go on")
  end,
}

-- IPv4 or IPv6, SCTP's common header, chunk header and DDP-SSN: what a packet has before a segment.
local BEFORE = 12 + 16 + 2

-- Narrower than the link, and no narrower than a path of either IP may be (RFC 791 3.2, RFC 8200 5).
local function narrow(t) return t:over_ipv6() and 1280 or 576 end

-- Seconds in which Sends are posted, and in which they come.
local POSTING <const>, COMING <const> = 3, 60

-- Work is posted by `post` while the tester's window is shut, so that the first of it fills the device's SCTP; then the
-- path becomes narrower, and all goes on. Returns the association, and the octets of a segment that the path has room
-- for.
local function made_narrow(t, post)
  local a, stream = t:draft_posted()
  local number = t:instrument("status", { stream = stream }).association
  a.handle:window(0)
  post(stream)
  rig.wait(t.quiet / 10)
  t:instrument("set_mtu", { association = number, mtu = narrow(t) })
  a.handle:window(1 << 20)
  return a, narrow(t) - (t:over_ipv6() and 40 or 20) - BEFORE
end

-- The next segment of the device, of which `octets` came so far. INCONCLUSIVE where all of it takes too long: it began
-- at `since`.
local function next_segment(t, a, what, octets, since)
  local got, why = a:receive(a.sid)
  if rig.now() > since + COMING then t:inconclusive(string.format("%s: %d octets came in %d s", what, octets, COMING)) end
  if not (got and got.kind == "segment") then t:fail(what, "all of it", octets .. " octets, then " .. a:words(got, why)) end
  if got.flags & 0x03 ~= 0x03 then t:inconclusive(what .. ": SCTP fragments a segment, which SCTP-5-01 is about") end
  return got
end

-- All of a long message comes, in whatever order of TSNs, once, in segments of which one has L = 1, of a Send the one
-- with the highest MO; what is made on the narrow path fits it, or goes in IP fragments (draft 5). `place`: TO or MO. Returns the octets of the
-- longest segment's payload.
local function comes_whole(t, verb, arguments, place)
  local long = t.large -- the last segments are still with DDP, one of them made already
  local what = "a " .. verb .. " of " .. long .. " octets on a path that has become narrower"
  arguments.length = long
  local a, room = made_narrow(t, function(stream)
    arguments.stream = stream
    t.dut[verb](t.dut, arguments)
  end)
  local ends, first, octets, longest, since, last = {}, {}, 0, 0, rig.now(), nil
  while octets < long do
    local got = next_segment(t, a, what, octets, since)
    local segment, at = got.segment, got.segment[place]
    local to = at + #segment.data
    if first[at] then t:fail("a segment at octet " .. at .. " of " .. long, "each octet once", "a second one") end
    first[at], ends[to] = true, true
    octets, longest = octets + #segment.data, math.max(longest, #segment.data)
    -- A tagged message may go out in any order of TO: which segment is its last, L alone says (RFC 5041 4.1, 5.3).
    local ends_message = to == long
    if place == "TO" then ends_message = segment.L == 1 and last == nil or octets == long and last == nil end
    if (segment.L == 1) ~= ends_message then
      t:fail("L of the segment that ends at octet " .. to .. " of " .. long, ends_message and "1" or "0", tostring(segment.L))
    end
    if ends_message then last = got end
  end
  for at in pairs(first) do
    if at ~= 0 and not ends[at] then t:fail("octets before " .. at .. " of " .. long, "a segment that ends there", "none") end
  end
  if #last.data - 2 > room and not last.fragmented then
    t:fail("the last segment, made on the narrow path", "at most " .. room .. " octets, or IP fragments", #last.data - 2 .. " octets")
  end
  a:probe(a.sid, "after the " .. verb)
  t:equal("the association", "open", a.handle:status().cause)
  return longest
end

-- The same of many Sends, each of `length` octets and so of one segment until the path becomes narrower: the one that
-- is made already, and waits, is the last of its message.
local function each_comes_whole(t, length)
  local what = "Sends of " .. length .. " octets on a path that has become narrower"
  local posted = 0
  local a = made_narrow(t, function(stream)
    local since = rig.now()
    -- Not for long: the SCTP of a device whose upper tester is slow would give the association up.
    while posted * length < t.large and rig.now() < since + POSTING and t:try("send", { stream = stream, length = length }) do posted = posted + 1 end
  end)
  if posted == 0 then t:inconclusive("the device's ULP can post nothing") end
  local octets, came, whole, since = 0, {}, {}, rig.now()
  while octets < posted * length do
    local segment = next_segment(t, a, what, octets, since).segment
    local msn, to = segment.MSN, segment.MO + #segment.data
    octets, came[msn] = octets + #segment.data, (came[msn] or 0) + #segment.data
    if (segment.L == 1) ~= (to == length) or to > length then
      t:fail("L of a segment that ends at octet " .. to .. " of a Send of " .. length, to == length and "1" or "0, before the Send's end",
             tostring(segment.L))
    end
    whole[msn] = whole[msn] or segment.L == 1
  end
  for msn, count in pairs(came) do
    if count ~= length or not whole[msn] then t:fail(what, "each whole", count .. " octets of Send " .. msn .. " of " .. posted) end
  end
  a:probe(a.sid, "after the Sends")
  t:equal("the association", "open", a.handle:status().cause)
end

check {
  id = "SCTP-5-02",
  role = "both",
  purpose = "the path becomes narrower while segments wait: none is lost, and what is made from then on fits, or goes in IP fragments",
  requires = "upper_tester",
  lasts = 20,
  run = function(t)
    comes_whole(t, "write", { stag = 2 }, "TO")
    each_comes_whole(t, comes_whole(t, "send", {}, "MO"))
  end,
}

-- A Write in one DATA chunk that no packet of the path holds, so that its packet leaves in IP fragments; the tester
-- does not send it again. The Read after it waits for its DDP-SSN.
local function in_fragments(t, a, memory, at, reversed)
  local how = reversed and ", the last one first" or ""
  local data = pattern(3000, at)
  rig.sctp_fragments(1024, reversed)
  a:segment(a.sid, memory:write(at, data), { once = true })
  rig.sctp_fragments(0)
  memory:patch(at, data)
  a:probe(a.sid, "a Read after a segment of 3000 octets in IP fragments" .. how)
end

check {
  id = "SCTP-5-03",
  role = "both",
  purpose = "a segment whose packet comes in IP fragments is taken, in order and with the last fragment first",
  requires = "upper_tester",
  run = function(t)
    local a = t:draft_posted()
    local memory = t:memory { octets = 8192, access = { "write", "read" } }
    in_fragments(t, a, memory, 0, false)
    in_fragments(t, a, memory, 4096, true)
    memory:check("both Writes are placed")
  end,
}
