-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1 and 7.1.2 rule 9: PD_Length and Private Data.

defaults { sandwich = "tcp" }

local MOST = 512

-- What the ULP of the device was handed, when an upper tester can tell: must be `private`, unchanged.
local function expect_handed(t, c, private)
  if not rig.has_upper_tester() then
    t:note("no upper tester: what the ULP was handed is not seen")
    return
  end
  local event = t:start_event(c)
  if event == nil then t:fail("the ULP is told of the start-up", "its event", "none") end
  t:equal("Private Data as the ULP got it", hex(private), t:event_member(event, "private_data"))
end

-- The tester's frame in exact TCP segments, full operation, and the Private Data complete at the ULP.
local function taken_whole(t, private, size, message)
  local c = t:awaiting_start()
  local frame = t:start_frame { private_data = private }
  if size then c:send_in_pieces(frame:octets(), size) else c:send(frame) end
  c:expect_operation(frame, message)
  expect_handed(t, c, private)
  c:finish()
end

-- A device that accepts no Request at all has another fault than one that accepts those with Private Data alone.
local function serves_private_data(t)
  local c = t:awaiting_start()
  c:send(t:start_frame { private_data = "four" })
  local got = c:receive()
  c.tcp:close()
  return got.kind == "reply" and got.R == 0
end

check {
  id = "MPA-7.1.1-27",
  role = "both",
  purpose = "PD_Length 0: nothing more is waited for, and the octets after the frame are FPDUs",
  sandwich = "tcp",
  judges = { "startup", "framing" },
  run = function(t)
    if t.role == "responder" and not t:serves("startup") and not serves_private_data(t) then t:not_served("startup") end
    local c = t:awaiting_start()
    if c.request and c.request.S == 1 then t:skip("the device begins enhanced: a Reply to that has the enhanced word") end
    local frame = t:start_frame { PD_Length = 0 }
    c:send(frame)
    c:expect_operation(frame, "a frame of 20 octets with PD_Length 0 is whole")
  end,
}

check {
  id = "MPA-7.1.1-33",
  role = "both",
  purpose = "512 octets of Private Data are taken, whole, from TCP segments of 100 octets",
  sandwich = "startup",
  run = function(t) taken_whole(t, distinct(MOST), 100, "512 octets of Private Data are allowed") end,
}

check {
  id = "MPA-7.1.1-34",
  role = "both",
  purpose = "Private Data may look like Keys and FPDUs, and may hold zeros: it is opaque",
  sandwich = "startup",
  run = function(t)
    local lookalikes = {
      "MPA ID Rep Frame" .. unhex "4001 0000" .. "MPA ID Req Frame" .. unhex "4001 0004",
      string.rep("\0", 40),
      string.rep("\255", 40),
      "text, then\0more" .. unhex "000e c140 0000 0000 0000 0000 0000 0000",
    }
    for _, private in ipairs(lookalikes) do taken_whole(t, private, nil, "Private Data is opaque") end
  end,
}

check {
  id = "MPA-7.1.2-28",
  role = "both",
  purpose = "512 distinct octets of Private Data arrive unchanged, and 100 more connections are served",
  sandwich = "startup",
  run = function(t)
    -- The rest is tried where the device is known to refuse more than it has room for (siw: 255).
    t:each_value("octets", { MOST, 1, 2, 3, 4, 255, 256, 257, 508, 509, 511 }, function(octets)
      taken_whole(t, distinct(octets), nil, octets .. " octets of Private Data have room")
    end)
    for i = 1, 100 do
      local c = t:awaiting_start()
      local frame = t:start_frame { private_data = distinct(i * 5) }
      c:send(frame)
      c:expect_operation(frame, "connection " .. i .. " after the one with 512 octets of Private Data")
      c.tcp:close()
    end
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- Too much, too little

-- A frame that announces more than 512 octets. First come 512 of them, which is all that a receiver may have room for;
-- then, if it has not closed yet, the others.
local function expect_too_long_refused(t, length)
  local c = t:awaiting_start()
  local octets = t:start_frame { PD_Length = length, private_data = distinct(length) }:octets()
  local what = string.format("PD_Length %d", length)
  c:send_in_pieces(octets:sub(1, 20 + MOST), 20 + MOST)
  local early, state = c:peek(1, t.quiet)
  if #early == 0 and state == "timeout" then
    c:send(octets:sub(21 + MOST))
  end
  c:expect_refusal(what .. " is more than 512: the connection is closed")
  c.tcp:close()
end

check {
  id = "MPA-7.1.1-29",
  role = "both",
  purpose = "more than 512 octets of Private Data close the connection, 512 do not",
  run = function(t)
    local c = t:awaiting_start()
    local frame = t:start_frame { private_data = distinct(MOST) }
    c:send(frame)
    c:expect_operation(frame, "512 octets of Private Data are allowed")
    c:finish()
    expect_too_long_refused(t, MOST + 1)
    c = t:awaiting_start()
    c:send(t:start_frame { PD_Length = 0xFFFF })
    local begun = rig.now()
    c:expect_refusal("PD_Length 0xFFFF closes the connection", { within = 120 })
    if rig.now() - begun > t.reaction then
      t:warn("PD_Length 0xFFFF is wrong before its octets come", "FIN or RST at once",
             string.format("FIN or RST after %.0f s", rig.now() - begun))
    end
  end,
}

check {
  id = "MPA-7.1.2-27",
  role = "both",
  purpose = "PD_Length 513, 1024, 0x8000, 0xFFFF and others are refused, and the next connection is served",
  run = function(t)
    for _, length in ipairs { 513, 1024, 0x8000, 0xFFFF, 514, 516, 768, 0x4000, 0x8001 } do
      expect_too_long_refused(t, length)
      local c = t:awaiting_start()
      local frame = t:start_frame {}
      c:send(frame)
      c:expect_operation(frame, "the connection after one with PD_Length " .. length)
      c:finish()
    end
  end,
}

check {
  id = "MPA-7.1.2-30",
  role = "both",
  purpose = "PD_Length 600 makes a frame improperly formatted: close, and neither acceptance nor rejection",
  run = function(t)
    local c = t:awaiting_start()
    c:send(t:start_frame { private_data = distinct(600) })
    c:expect_refusal("a frame with 600 octets of Private Data is improperly formatted, not unacceptable")
  end,
}

-- Octets after the frame where none can be: "closed", "reset" or how they were taken. A responder that has replied is
-- asked whether it is alive.
local fpdu_rest <const> = 70000 -- octets, more than the longest FPDU has
local function surplus(t, c, frame)
  if t.role == "responder" then
    local got = c:receive()
    if fits(tcp.closed(), got) then return "closed" end
    if got.kind ~= "reply" then t:fail("surplus octets end the connection", "FIN or RST", describe(got)) end
    -- A ULP may reject any Private Data: no full operation follows, as after an accepting Reply and an error.
    if got.R == 1 then return "later" end
    c:agree(frame, got)
  else
    c:agree(frame, c.request)
  end
  local alive, got = false, nil
  if t:is_started() then got = c:receive(t.quiet) end -- its ULP sends at once if it goes on
  if got == nil or got.kind == "timeout" or fits(rdmap.send {}, got) then alive, got = c:alive() end
  -- It may wait for the rest of what it takes for an FPDU: that comes, and is none.
  if got.kind == "timeout" then
    c:send(string.rep("\255", fpdu_rest))
    got = c:receive()
  end
  if alive then t:fail("surplus octets are not to be thrown away", "FIN or RST", "full operation, as if they were not there") end
  if is_terminate(got, "MPA_START_FRAME") then
    if fits(tcp.closed(), c:receive()) then return "closed" end
  end
  if t.role == "initiator" and fits(tcp.closed(), got) then return "closed" end
  if fits(tcp.closed(), got) or (got.kind == "segment" and got.Opcode == 7) then return "later" end
  t:fail("surplus octets end the connection", "FIN or RST", describe(got))
end

check {
  id = "MPA-7.1.1-28",
  role = "both",
  purpose = "PD_Length 4 with 8 octets, and PD_Length 8 with 4 octets and a FIN: close, no full operation",
  run = function(t)
    local c = t:awaiting_start()
    local frame = t:start_frame { PD_Length = 4, private_data = unhex "11111111 ffffffff" }
    c:send(frame)
    local how = surplus(t, c, frame)
    c.tcp:close()

    c = t:awaiting_start()
    c:send_last(t:start_frame { PD_Length = 8, private_data = "1234" })
    -- A device may look at the FIN alone, or at its limit for the start-up: no text says how soon.
    c:expect_refusal("4 octets of Private Data and a FIN are not the 8 that PD_Length says", { within = math.max(t.reaction, 15) })
    if how == "later" then
      t:warn("surplus octets are a wrong PD_Length", "FIN or RST in place of the Reply", "an error when FPDUs are looked for")
    end
  end,
}

check {
  id = "MPA-7.1.1-37",
  role = "both",
  purpose = "octets after the Private Data, in the same segment and later: close, or an error, but not silence",
  run = function(t)
    local c = t:awaiting_start()
    local frame = t:start_frame { PD_Length = 4, private_data = unhex "11111111" .. string.rep("\255", 24) }
    c:send(frame)
    local how = surplus(t, c, frame)
    c.tcp:close()
    -- Between the Request and its Reply nothing can come either: the device is made to wait with its decision.
    if t.role == "responder" and rig.has_upper_tester() then
      c = t:awaiting_start { dut = { accept = "manual" } }
      frame = mpa.request { private_data = "ask" }
      c:send(frame)
      c:expect_quiet { message = "no Reply before the ULP has decided" }
      c:send(string.rep("\255", 24))
      local got = c:receive(t.quiet)
      if got.kind == "timeout" then
        t.dut:accept { stream = t:stream_of(c) }
        how = surplus(t, c, frame)
      elseif not fits(tcp.closed(), got) and not fits(mpa.reply { R = 1 }, got) then
        t:fail("octets before the Reply end the connection", "FIN or RST", describe(got))
      end
    end
    t:ambiguous(how == "closed" and "A: surplus octets are a PD_Length mismatch, close"
                or "B: they are early FPDU octets and fail later")
  end,
}
