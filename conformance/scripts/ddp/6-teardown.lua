-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 6: how streams end.

defaults { llp = "any" }

-- The device's ULP waits this long before it closes after an error: shorter than the harness waits for a reaction.
local function delay(t) return math.max(0.5, math.min(3, t.reaction / 4)) end

local function patient(t)
  local c = t:open { dut = { teardown_ms = math.floor(delay(t) * 1000) } }
  c:draw_terminate()
  local got = c:receive(delay(t) / 2)
  if got.kind ~= "timeout" then
    t:fail("an error, and a ULP that does not close yet", "the connection stays", describe(got))
  end
  return c
end

check {
  id = "DDP-6.2-01",
  purpose = "DDP ends no stream by itself: neither an idle one, nor one in error whose ULP has not closed yet",
  run = function(t)
    local c = t:open()
    c:probe()
    c:expect_quiet { message = "an idle stream" }
    c:probe()
    patient(t)
  end,
}

check {
  id = "DDP-6.2.2-07",
  llp = "any-end",
  purpose = "after an error the stream ends when the ULP closes it, and not before",
  run = function(t)
    -- Over SCTP a device may leave the session's Terminate to the tester (RFC 5043 6.2).
    local message = "the ULP's close after an error"
    local how = patient(t):expect_over(message, { accepts = function() return false end })
    if how == "left" and not t:over_sctp() then t:fail(message, "FIN or RST", "nothing, until the tester's FIN") end
  end,
}

check {
  id = "DDP-6.2-02",
  purpose = "the end of a stream may take the connection along: FIN, or an open connection",
  run = function(t)
    local c = t:open()
    c:probe()
    t.dut:disconnect { stream = t:stream_of(c) }
    c:expect_one_of { tcp.fin(), quiet(), within = t.quiet, message = "a graceful close of the only stream" }
  end,
}

-- Whole Sends of this many octets that come, until something else does: their number, and what came then.
local function sends(c, octets)
  local count, taken = 0, 0
  while true do
    local got = c:receive()
    if got.kind ~= "segment" or got.Opcode ~= 3 then return count, got end
    taken = taken + #got.data
    if got.L == 1 then
      if taken ~= octets then return count, got end
      count, taken = count + 1, 0
    end
  end
end

-- How many came is chance, and no part of an outcome that a profile can know (docs/profiles.md): whether it was all is one.
local function came(t, count, wanted, what, got)
  t:note(string.format("%d %s of %d came", count, what, wanted))
  return (count == wanted and "all " or "not all ") .. what .. ", then " .. describe(got)
end

check {
  id = "DDP-6.2.1-02",
  llp = "any-end",
  purpose = "what was posted before a graceful close is sent, then the FIN follows",
  run = function(t)
    local c = t:open()
    c:probe()
    c:window(4096)
    local stream = t:stream_of(c)
    local posted = t.large * 5 // 4 // 65536 -- some of them are still with DDP when the close is asked for
    for _ = 1, posted do t.dut:send { stream = stream, length = 65536 } end
    t.dut:disconnect { stream = stream }
    c:window(65535)
    local count, got = sends(c, 65536)
    if count ~= posted or got.kind ~= "fin" then
      t:warn(posted .. " Sends of 64 KiB and a graceful close", posted .. " Sends, FIN", came(t, count, posted, "Sends", got))
    end
  end,
}

check {
  id = "DDP-6.2.1-03",
  llp = "any-end",
  purpose = "work that is posted after a graceful close is refused",
  run = function(t)
    local c = t:open()
    c:probe()
    local stream = t:stream_of(c)
    t.dut:disconnect { stream = stream }
    t:expect_refused("send", { stream = stream, data = "99" }, "a Send after the close")
    t:expect_refused("write", { stream = stream, stag = 1, data = "99" }, "a Write after the close")
    c:expect(tcp.fin(), { message = "nothing but the FIN" })
  end,
}

-- The tester has closed its half, the device's ULP knows it and has not closed the other.
local function half_closed(t, before)
  local c = t:open { dut = { hold_open = true } }
  t:stream_of(c)
  c:probe()
  if before then c:send(before) end
  c:fin()
  return c
end

-- The device has taken the tester's FIN: its ULP has the event, or could have it.
local function peer_closed(t, c)
  local reported = t:reports_event("half_closed") and t:await_event("half_closed", { stream = t:stream_of(c) })
  if not reported then rig.wait(t.quiet / 2) end
end

local function expect_half_closed(t, c)
  t:expect_event("half_closed", { stream = t:stream_of(c) }, "the peer's FIN", "the event \"half_closed\", before the device closes")
end

check {
  id = "DDP-6.2.1-04",
  llp = "tcp",
  purpose = "a segment after the peer's graceful close is neither placed nor delivered, and the stream is aborted",
  run = function(t)
    local c = t:open { dut = { hold_open = true } }
    local stream = t:stream_of(c)
    local m = t:memory()
    c:probe()
    local late = c:octets(m:write(0, "late Write"), rdmap.send { data = "late Send" })
    c:fin()
    peer_closed(t, c)
    t.dut:inject { stream = stream, data = hex(late) }
    c:expect(tcp.reset(), { message = "a segment after the peer's graceful close" })
    t:expect_deliveries(c, {}, "it is not delivered")
    m:check("nothing of it is placed")
  end,
}

check {
  id = "DDP-6.2.1-05",
  llp = "any-end",
  purpose = "the ULP learns that the peer has closed its half, before anything else is closed",
  run = function(t)
    local c = half_closed(t)
    expect_half_closed(t, c)
    for _, event in ipairs(t:events_of(c)) do
      if event.event == "closed" then t:fail("the peer's FIN", "\"half_closed\" alone", "\"closed\" too") end
    end
  end,
}

check {
  id = "DDP-6.2.1-06",
  llp = "any-end",
  purpose = "what was asked for before the peer closed its half is sent all the same",
  run = function(t)
    local all = string.rep(pattern(65536), t.large // 65536) -- the last of it is not with the LLP when the FIN comes
    local m = t:memory { octets = #all, data = all }
    local c = t:open()
    c:probe()
    c:window(0)
    c:send(m:read(0, #all))
    c:fin()
    rig.wait(t.quiet / 4)
    c:window(65535)
    local taken = 0
    while taken < #all do
      local got = c:receive()
      if not fits(rdmap.read_response { TO = taken }, got) then
        t:warn("a Read of 5 MiB, and the FIN after it", "the whole response", came(t, taken, #all, "octets", got))
      end
      if got.data ~= all:sub(taken + 1, taken + #got.data) then
        t:fail("a Read of 5 MiB, and the FIN after it", "the octets of the memory", "others, from octet " .. taken .. " on")
      end
      taken = taken + #got.data
    end
    t:equal("octets of the Read Response", #all, taken)
    local got = c:receive()
    if is_terminate(got, "MPA_CONNECTION_LOST") then got = c:receive() end -- by one reading any FIN is reported (MPA-8-15)
    if got.kind ~= "fin" then t:warn("the Read Response is out: the device closes its half", "FIN", describe(got)) end
  end,
}

check {
  id = "DDP-6.2-03",
  role = "both",
  llp = "tcp", -- SCTP: SCTP5043-6.2-04
  purpose = "what the device asked TCP to close carries nothing more: no segment has octets beyond its FIN",
  run = function(t)
    local c = t:open()
    local m = t:memory { octets = 65536, data = pattern(65536) }
    c:probe()
    c:window(0)
    c:send(m:read(0, 65536))
    c:fin()
    rig.wait(t.quiet / 4)
    c:window(65535)
    local got
    repeat got = c:receive() until got.kind ~= "segment"
    if got.kind ~= "fin" then t:skip("after the tester's FIN no FIN of the device comes: " .. describe(got)) end
    rig.wait(t.quiet)
    local beyond = c.tcp:status().after_fin
    if beyond > 0 then
      t:fail("the device's FIN", "no octets after it", beyond .. " TCP segment" .. (beyond > 1 and "s" or "") .. " with octets beyond it")
    end
  end,
}

check {
  id = "DDP-6.2.1-07",
  llp = "any-end",
  purpose = "the ULP's close of the second half is passed on as a graceful one",
  run = function(t)
    local c = half_closed(t)
    peer_closed(t, c)
    local closed, why = t:try("disconnect", { stream = t:stream_of(c) })
    if not closed then t:note("the close is refused: " .. tostring(why)) end -- FIN and events tell whether rightly
    c:expect_second_half("the close of the second half")
    for _, event in ipairs(t:events_of(c)) do
      if event.event == "error" then t:fail("the close of the second half", "no error", tostring(event.text)) end
    end
  end,
}

check {
  id = "DDP-6.2.1-08",
  llp = "any-end",
  purpose = "the second half is closed gracefully, after all that was posted",
  run = function(t)
    local c = half_closed(t)
    peer_closed(t, c)
    local stream = t:stream_of(c)
    for _ = 1, 5 do
      local taken = t:try("send", { stream = stream, length = 20000 })
      if not taken then t:warn("a Send that is posted after the peer has closed its half (6.2.1)", "it is taken", "it is refused") end
    end
    t.dut:disconnect { stream = stream }
    local count, got = sends(c, 20000)
    if count == 5 then got = c:expect_second_half("the end after five Sends", got) end
    if count ~= 5 or got.kind ~= "fin" then
      t:warn("five Sends and the close of the second half", "5 Sends, FIN", came(t, count, 5, "Sends", got))
    end
  end,
}

check {
  id = "DDP-6.2.1-09",
  llp = "any-end",
  purpose = "a device that closes its half goes on receiving",
  run = function(t)
    local c = t:open { dut = { receives = 16 } }
    local m = t:memory()
    c:probe()
    local stream = t:stream_of(c)
    t.dut:disconnect { stream = stream }
    c:expect(tcp.fin(), { message = "the device's FIN" })
    for i = 1, 10 do c:send(rdmap.send { data = "Send " .. i }) end
    c:send(m:write(0, "a Write"))
    local deadline = rig.now() + t.quiet
    local wait = t:waits(deadline)
    while #t:deliveries(c) < 10 and rig.now() < deadline do wait() end
    wait()
    local data = unhex(t.dut:mem_read { stag = m.STag, offset = 0, length = 7 }.data)
    if #t:deliveries(c) ~= 10 or data ~= "a Write" then
      t:warn("ten Sends and a Write after the device's FIN", "all delivered and placed",
             #t:deliveries(c) .. " delivered, memory holds " .. hex(data))
    end
  end,
}

check {
  id = "DDP-6.2.2-01",
  purpose = "a lost connection is told to the ULP as fatal, and posted receives are completed in error",
  run = function(t)
    local c = t:open { dut = { receives = 0, repost = false } }
    local stream = t:stream_of(c)
    t.dut:post_recv { stream = stream, id = 5 }
    c:probe()
    c:reset()
    t:expect_event("error", { stream = stream }, "a RST")
    t:expect_event("flushed", { stream = stream, id = 5 }, "a RST", "the receive is flushed")
  end,
}

check {
  id = "DDP-6.2.2-04",
  llp = "tcp",
  purpose = "an error of the LLP is told with its numbers",
  run = function(t)
    local c = t:open()
    local stream = t:stream_of(c)
    c:send(fpdu(rdmap.send { data = "x" }, { crc_flip = 1 }))
    local event = t:await_event("error", { stream = stream })
    if not event then t:warn("a wrong CRC", "the event \"error\"", "none") end
    local numbers = string.format("%s %s %s", event.layer, event.etype, event.code)
    if numbers ~= "2 0 2" then t:warn("layer, type and code that the ULP is told", "2 0 2", numbers) end
  end,
}

check {
  id = "DDP-6.2.2-05",
  purpose = "all that is outstanding when the connection is lost is completed, once each, what was not done in error",
  run = function(t)
    local c = t:open { dut = { receives = 0, repost = false } }
    local stream = t:stream_of(c)
    for i = 0, 10 do t.dut:post_recv { stream = stream, id = 100 + i } end
    c:send(rdmap.send { data = "the first of eleven receives" })
    c:probe()
    c:window(0)
    for i = 1, 5 do t.dut:send { stream = stream, length = 1 << 20, id = i } end
    c:reset()
    t:expect_event("closed", { stream = stream }, "a RST")
    local seen = {}
    for _, event in ipairs(t:events_of(c)) do
      if event.id then seen[event.id] = (seen[event.id] or "") .. event.event .. " " end
    end
    for i = 1, 10 do
      if seen[100 + i] ~= "flushed " then t:warn("completion of receive " .. i, "flushed ", tostring(seen[100 + i])) end
    end
    for i = 1, 5 do
      if seen[i] ~= "flushed " and seen[i] ~= "send_done " then
        t:warn("completion of Send " .. i, "one, in error if it was not done", tostring(seen[i]))
      end
    end
    t:each_error(function(each, _, what)
      each:expect_end("the end after the Terminate for " .. what)
      t:equal("receives that are completed in error after " .. what, 5, #t:collect_events(each, { flushed = true }, 5))
    end, {
      dut = { receives = 0, repost = false },
      before = function(each)
        for i = 1, 5 do t.dut:post_recv { stream = t:stream_of(each), id = 100 + i } end
      end,
    })
  end,
}
