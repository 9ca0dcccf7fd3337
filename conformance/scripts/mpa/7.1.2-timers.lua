-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.2 rules 8 and 10: start-up does not wait for ever. How long is reasonable is the device's choice; 120 s
-- is what is watched. A device whose upper tester can set the limit is given a short one, and is watched in proportion;
-- one whose limit nobody can set is watched as it is.

local SHORT = { startup_ms = 1500 }

-- Seconds to watch, seconds between two octets that trickle in, configuration of the device.
local function patience(t)
  if rig.has_upper_tester() and t:command("listen", SHORT).ok then return 15, 0.5, SHORT end
  return 120, 5, nil
end

check {
  id = "MPA-7.1.2-26",
  role = "responder",
  purpose = "a responder that gets no Request closes by itself",
  sandwich = "startup",
  run = function(t)
    local watch, _, config = patience(t)
    local c = t:connect { port = config and t:listen(config) }
    local begun = rig.now()
    local got = c:receive(watch)
    if got.kind == "timeout" then
      t:warn("the wait for a Request has a limit", "FIN or RST within " .. watch .. " s", "an open connection")
    end
    if not fits(tcp.closed(), got) then t:fail("without a Request", "FIN or RST", describe(got)) end
    t:note(string.format("closed after %.1f s without a Request", rig.now() - begun))
  end,
}

check {
  id = "MPA-7.1.2-31",
  role = "both",
  purpose = "a start-up frame that stalls, or that trickles in, is not waited for for ever; others are served meanwhile",
  sandwich = "startup",
  run = function(t)
    local watch, period, config = patience(t)
    local stalled, trickled = t:awaiting_start { dut = config }, t:awaiting_start { dut = config }
    local octets = t:start_frame { private_data = string.rep("t", 100) }:octets()
    stalled:send(octets:sub(1, 19))
    local begun, at, ended = rig.now(), 1, {}
    local served = false
    repeat
      if not ended.trickled then
        trickled:send(octets:sub(at, at))
        at = at + 1
      end
      if not served then
        local c = t:awaiting_start()
        local frame = t:start_frame {}
        c:send(frame)
        c:expect_operation(frame, "a connection beside one whose start-up frame does not come")
        c:finish()
        served = true
      end
      local until_next = rig.now() + period
      for name, c in pairs { stalled = stalled, trickled = trickled } do
        if not ended[name] then
          local got, state = c:peek(1, math.max(0, until_next - rig.now()))
          if #got > 0 then t:fail("a frame that is not whole is not answered", "FIN or RST", hex(got)) end
          if state ~= "timeout" then
            ended[name] = rig.now() - begun
            t:note(string.format("the connection that %s was closed after %.0f s", name, ended[name]))
          end
        end
      end
    until (ended.stalled and ended.trickled) or rig.now() - begun > watch
    if not ended.stalled then
      t:warn("the wait for the whole start-up frame has a limit", "FIN or RST within " .. watch .. " s", "19 octets are still waited on")
    end
    if not ended.trickled then
      t:warn(string.format("one octet every %g s does not prolong the wait", period), "FIN or RST within " .. watch .. " s",
             "an open connection")
    end
  end,
}
