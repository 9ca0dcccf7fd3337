-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 3 and 6.2.2: what follows a fatal error, and what the layer below reports of the segment.

defaults { llp = "any" }

check {
  id = "DDP-6.2.2-06",
  purpose = "after a fatal error of DDP's the ULP can still send: the Terminate comes before the end",
  run = function(t)
    local c = t:open()
    c:send(bad_write())
    c:expect_any_terminate("a Terminate before the end of the stream", { close = "warn" })
    c:expect_end("the end after the Terminate")
    t:each_error(function(each, _, what) each:expect_end("the end after the Terminate for " .. what) end)
  end,
}

check {
  id = "DDP-3-09",
  purpose = "the LLP tells DDP the segment's length, without MPA's own octets",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    local got = c:expect_error(m:write(m.octets - 8, pattern(9)), "DDP_BOUNDS", "9 octets at the last 8 of the buffer")
    if got.M ~= 1 then t:warn("the report holds the segment's length", "M = 1", "M = 0") end
    local length = c:quoted(got).Length
    if length == 9 then t:warn("DDP Segment Length", "23", "9, the payload alone (RDMAP-4.8-35)") end
    t:equal("DDP Segment Length", 23, length)
  end,
}

check {
  id = "DDP-3-11",
  role = "both",
  purpose = "once DDP asked for teardown no more data passes on the stream",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    c:draw_terminate()
    for i = 1, 5 do c:send(rdmap.send { data = "good" }, m:read(0, 16, { SinkSTag = i })) end
    c:expect_end("no FPDU of the device after its Terminate")
    t:expect_deliveries(c, {}, "nothing is delivered after an error")
    t:each_error(function(each, _, what)
      each:expect_end("no FPDU of the device after its Terminate for " .. what)
      t:expect_deliveries(each, {}, "nothing is delivered after " .. what)
    end, { after = function() return { rdmap.send { data = "good" }, m:read(0, 16, { SinkSTag = 1 }) } end })
  end,
}

check {
  id = "DDP-3-14",
  llp = "any-end",
  role = "both",
  purpose = "the connection is torn down when its one stream is in error",
  run = function(t)
    local c = t:open()
    c:send(bad_write())
    -- Which Terminate comes, and whether one does, is for other rows: a connection that is closed at once is torn down.
    -- One that is left to the tester after a Terminate is noted (RDMAP-6.2.1-05): the Terminate asks the tester to
    -- close it. Without one nothing does.
    local how, terminate = c:expect_over("the end after a Write to an unknown STag")
    if how == "left" and not terminate then
      t:fail("the device closes after an error", "FIN or RST, or a Terminate at least", "nothing, until the tester's FIN")
    elseif how == "left" then
      t:warn("the device closes after an error", "FIN or RST", "it waited for the tester's FIN")
    end
    t:each_error(function(each, _, what)
      if each:expect_end("the end after the Terminate for " .. what) == "left" then
        t:warn("the device closes after its Terminate for " .. what, "FIN or RST", "it waited for the tester's FIN")
      end
    end)
  end,
}
