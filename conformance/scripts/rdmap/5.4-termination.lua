-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 5.4 and 6.2: Terminates sent and received, and how a stream ends.

defaults { llp = "any" }

check {
  id = "RDMAP-5.4-01",
  role = "both",
  purpose = "a Terminate references an untagged buffer",
  run = function(t)
    local got = t:open():draw_terminate()
    t:equal("T and MO of the Terminate", "0 0", got.T .. " " .. got.MO)
  end,
}

check {
  id = "RDMAP-5.4-02",
  purpose = "a Terminate is untagged, right after a large Read Response, too",
  run = function(t)
    local c = t:open()
    local m = t:memory { octets = 20000 }
    c:send(m:read(0, 20000), bad_write())
    local got
    repeat got = c:receive() until got.kind ~= "segment" or got.Opcode ~= 2
    if fits(tcp.closed(), got) then t:warn("a Write to an unknown STag", "a Terminate", describe(got)) end
    if got.kind ~= "segment" then t:fail("a Write to an unknown STag", "a Terminate", describe(got)) end
    t:equal("first two octets of the ULPDU", "4147", hex(got.ulpdu:sub(1, 2)))
  end,
}

check {
  id = "RDMAP-5.4-03",
  role = "both",
  purpose = "the Queue Number of a Terminate is 2",
  run = function(t)
    local got = t:open():draw_terminate()
    t:equal("QN of the Terminate", 2, got.QN)
  end,
}

check {
  id = "RDMAP-5.4-04",
  role = "both",
  purpose = "a Terminate is the first message of its queue, whatever was sent on the others",
  run = function(t)
    local c = t:open()
    c:probe()
    for i = 1, 5 do
      t.dut:send { stream = t:stream_of(c), data = hex("1234") }
      c:expect(rdmap.send { data = "1234" }, { message = "Send " .. i .. " of the device" })
    end
    local got = c:draw_terminate()
    t:equal("MSN of the Terminate", 1, got.MSN)
  end,
}

check {
  id = "RDMAP-5.4-05",
  llp = "any-end",
  role = "both",
  purpose = "a Terminate needs no receive of the ULP's",
  run = function(t)
    local message = "a Terminate where no receive is posted"
    local c = t:open { dut = { receives = 0 } }
    local m = t:memory()
    c:send(rdmap.terminate {}, m:write(0, "after it"))
    local how, terminate = c:expect_over(message, { accepts = function(got) return got.triple ~= wire.triple("DDP_NO_BUFFER") end })
    if terminate then t:note("the device answers a Terminate with " .. describe(terminate)) end
    t:expect_event("terminate_received", { stream = t:stream_of(c) }, message, "the ULP is told")
    m:check("a Terminate ends the stream: a Write after it is not placed")
    if how == "left" then t:warn(message, "the device ends the stream", "it leaves that to the tester") end
  end,
}

check {
  id = "RDMAP-5.4-08",
  role = "both",
  purpose = "a Terminate that is not valid ends the stream, too",
  run = function(t)
    for _, given in ipairs { { MSN = 2 }, { QN = 0 }, { RV = 3 } } do
      local c = t:open()
      c:send(rdmap.terminate(given), empty_read(9))
      local how, terminate = c:expect_over("a Terminate that is not valid, and a Read after it")
      -- whose streams have no other end: that Read unanswered shows it
      if how == "left" and not terminate and not t:is_draft() then
        t:warn("a Terminate that is not valid", "a Terminate, FIN or RST", "nothing until the tester closed")
      end
    end
  end,
}

check {
  id = "RDMAP-5.4-10",
  role = "both",
  purpose = "a Terminate is the last message of its sender: nothing that waited follows it",
  run = function(t)
    local c = t:open { dut = { ird = 2 } }
    local m = t:memory { octets = 60000 }
    local frames = { m:read(0, 60000, { SinkSTag = 1 }), m:read(0, 60000, { SinkSTag = 2 }),
                     bad_write(), m:read(0, 16, { SinkSTag = 3 }) }
    c:send(table.unpack(frames))
    c:expect_terminate("DDP_INVALID_STAG", { message = "a Write to an unknown STag after two large Reads" })
    c:expect_end("nothing but the end after a Terminate")
    t:each_error(function(each, _, what) each:expect_end("nothing but the end after the Terminate for " .. what) end,
                 { after = function() return { m:read(0, 16, { SinkSTag = 3 }) } end })
  end,
}

check {
  id = "RDMAP-5.4-11",
  role = "both",
  purpose = "after its own Terminate the device answers no Read",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    c:expect_error(rdmap.send { Opcode = 0xD, data = "1234" }, "RDMAP_OPCODE", "an unexpected opcode")
    c:send(m:read(0, 16), m:write(0, "1234"))
    c:expect_end("nothing but the end after a Terminate")
  end,
}

check {
  id = "RDMAP-5.4-13",
  llp = "any-end",
  role = "both",
  purpose = "crossing Terminates: at most one in each direction, and the end",
  run = function(t)
    local c = t:open()
    c:send(bad_write(), rdmap.terminate {})
    local message = "crossing Terminates: at most the one for the Write, then the end"
    local how, terminate = c:expect_over(message, { accepts = function(got) return is_terminate(got, "DDP_INVALID_STAG") end })
    if how == "left" then t:warn(message, "the device ends the stream", "it leaves that to the tester") end
    t:ambiguous(terminate and "A: each side sends one Terminate" or "B: the side that received one sends none")
  end,
}

check {
  id = "RDMAP-6.2-01",
  llp = "any-end",
  role = "both",
  purpose = "an orderly end is one without a Terminate: the device answers FIN by FIN",
  run = function(t)
    local c = t:open()
    c:probe()
    c:send(rdmap.send { data = "last" })
    t:expect_deliveries(c, { "last" }, "the last Send")
    c:fin()
    local got = c:receive()
    if is_terminate(got, "MPA_CONNECTION_LOST") then got = c:receive() end
    if got.kind == "reset" then t:warn("an orderly end", "FIN", "RST") end
    if got.kind ~= "fin" then t:fail("an orderly end", "FIN, and no Terminate before it", describe(got)) end
  end,
}

check {
  id = "RDMAP-6.2.1-01",
  role = "both",
  purpose = "an error of RDMAP is told by a Terminate before the end",
  run = function(t)
    for _, frame in ipairs { rdmap.send { Opcode = 0xC, data = "1234" }, rdmap.send { RV = 3, data = "1234" },
                             rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG } } do
      local c = t:open()
      c:send(frame)
      local got = c:expect_any_terminate("an error of RDMAP's")
      c:expect_end("the end after the Terminate")
    end
  end,
}

check {
  id = "RDMAP-6.2.1-02",
  llp = "tcp",
  role = "both",
  purpose = "an error of the LLP's is told by a Terminate before the end",
  run = function(t)
    local c = t:open()
    c:draw_crc_terminate()
    c:expect_end("the end after the Terminate")
  end,
}

check {
  id = "RDMAP-6.2.1-03",
  role = "both",
  purpose = "while the LLP is usable no error of RDMAP's goes without a Terminate",
  run = function(t)
    local m = t:memory()
    local write_only = t:memory { access = { "write" } }
    for _, frame in ipairs { m:read(-1, 1), m:read(4095, 2), write_only:read(0, 8), m:read(0, 32, { SrcTO = -16 }),
                             rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "1" },
                             m:write(0, "1", { RV = 2 }), m:write(0, "1", { Opcode = 0xD }) } do
      local c = t:open()
      c:send(frame)
      local got = c:expect_any_terminate("an error of RDMAP's")
    end
  end,
}

check {
  id = "RDMAP-6.2.1-05",
  role = "both",
  purpose = "after a Terminate, sent or received, the stream ends: at once or after the tester's FIN",
  run = function(t)
    local c = t:open()
    c:draw_terminate()
    c:expect_end("the end after an own Terminate")
    c = t:open()
    c:send(rdmap.terminate {})
    c:expect_over("a received Terminate")
    t:each_error(function(each, _, what) each:expect_end("the end after an own Terminate for " .. what) end)
  end,
}

check {
  id = "RDMAP-6.2.1-06",
  llp = "any-end",
  role = "both",
  purpose = "the end after a Terminate is graceful, so that it gets through: FIN, also with octets under way to the device",
  run = function(t)
    local c = t:open()
    local frames = { bad_write() }
    for i = 1, 20 do frames[#frames + 1] = rdmap.send { data = pattern(1000) } end
    c:send(table.unpack(frames))
    c:expect_terminate("DDP_INVALID_STAG", { message = "a Write to an unknown STag, with much after it" })
    if c:expect_end("the end after a Terminate") == "reset" then t:warn("the end after a Terminate", "FIN", "RST") end
    t:each_error(function(each, _, what)
      if each:expect_end("the end after the Terminate for " .. what) == "reset" then
        t:warn("the end after the Terminate for " .. what, "FIN", "RST")
      end
    end, {
      without = function(got, what)
        -- A session over SCTP has one end, so that a reset shows there as the Terminate that it has lost.
        if got.kind == "reset" or t:over_sctp() and got.kind == "fin" then
          t:warn("the end after " .. what, "a Terminate, then FIN", describe(got))
        end
      end,
    })
  end,
}
