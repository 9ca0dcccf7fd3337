-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1: the revision, and the bit that RFC 6581 took for itself.

defaults { sandwich = "tcp" }

-- Sends a start-up frame of this revision; how the device takes it: "closed", "rejected", "operates", "silent", and the
-- frame or the end that showed it. A Reply before the close is kept in c.reply.
local function outcome(t, c, frame)
  c:send(frame)
  if t.role == "responder" then
    local got = c:receive()
    if got.kind == "reply" then
      c.reply = got
      if got.R == 1 then return "rejected", got end
      c:agree(frame, got)
      local alive, other = c:alive()
      if alive then return "operates", got end
      return fits(tcp.closed(), other) and "closed" or "silent", other
    end
    if fits(tcp.closed(), got) then return "closed", got end
    if got.kind == "timeout" then return "silent", got end
    t:fail("an MPA Reply, or the end of the connection", "Reply, FIN or RST", describe(got))
  end
  c:agree(frame, c.request)
  local got = c:receive(t.reaction)
  if is_terminate(got, "MPA_START_FRAME") then got = c:receive() end
  if fits(tcp.closed(), got) then return "closed", got end
  if got.kind ~= "timeout" then return "operates", got end
  local alive, other = c:alive()
  if alive then return "operates", other end
  return fits(tcp.closed(), other) and "closed" or "silent", other
end

-- The configurations of an initiator whose Requests differ in what a Reply to them looks like: as it is and, where that
-- is Rev 1 and the device has Rev 2 as well, enhanced. A responder has one.
local function configurations(t)
  local list = { {} }
  if t.role == "initiator" and t:plain_rev() == 1 then
    for _, rev in ipairs(t:traits().rev or {}) do
      if rev == 2 then list[2] = { dut = { rev = 2, enhanced = true } } end
    end
  end
  return list
end

check {
  id = "MPA-7.1.1-22",
  role = "both",
  purpose = "the revision is looked at: 1 works (and 2, where the device asks for it), 3 and 255 do not lead to full operation",
  run = function(t)
    for _, configuration in ipairs(configurations(t)) do
      local c = t:awaiting_start(configuration)
      local frame = t:start_frame {}
      c:send(frame)
      c:expect_operation(frame, "the revision that is asked for works")
      c:finish()
      for _, revision in ipairs { 3, 255, 4, 0x11, 0x80, 0x81, 254 } do
        c = t:awaiting_start(configuration)
        local how, got = outcome(t, c, t:start_frame { Rev = revision })
        if how == "operates" or how == "silent" then
          t:fail("revision " .. revision .. " is none that the device can work with", "FIN or RST", describe(got))
        end
        c.tcp:close()
      end
    end
  end,
}

check {
  id = "MPA-7.1.1-23",
  role = "both",
  purpose = "a revision that the device cannot work with closes the connection",
  run = function(t)
    local c = t:awaiting_start()
    c:send(t:start_frame { Rev = 255 })
    if t.role == "initiator" then
      c:expect_refusal("a Reply of revision 255 closes the connection")
      return
    end
    local got = c:receive()
    if got.kind == "reply" and got.R == 0 then
      c:expect_close { message = "revision 255 closes the connection, if after a Reply" }
      t:warn("a Reply before the close", "FIN or RST at once", describe(got))
    end
    if not fits(tcp.closed(), got) then t:fail("revision 255 closes the connection", "FIN or RST", describe(got)) end
  end,
}

check {
  id = "MPA-7.1.1-35",
  judges = { "startup" },
  role = "responder",
  purpose = "S = 1 in a Request of revision 1, with 4 octets of Private Data and with none: some answer, and no waiting",
  run = function(t)
    local readings = {}
    t:each_value("PD_Length", { 4, 0 }, function(octets)
      local private = unhex("8004 c004"):sub(1, octets)
      local c = t:connect()
      c:send(mpa.request { S = 1, Rev = 1, private_data = private })
      local got = c:receive()
      local enhanced = got.kind == "reply" and (got.S == 1 or got.Rev > 1)
      if enhanced and #private == 0 then
        t:fail("without Private Data there is no enhanced word to answer", "a plain Reply, or a close", describe(got))
      elseif enhanced then
        readings[#readings + 1] = "B"
      elseif got.kind == "reply" and got.R == 0 then
        local alive, other = false, nil
        c:agree({ M = 0, C = 1 }, got)
        alive, other = c:alive()
        if not alive then t:fail("what was accepted is in full operation", "a Read Response", describe(other)) end
        readings[#readings + 1] = "A"
      elseif got.kind == "reply" or fits(tcp.closed(), got) then
        readings[#readings + 1] = "C"
      else
        t:fail("a Request is answered or the connection closed", "Reply, FIN or RST", describe(got))
      end
      c.tcp:close()
    end)
    local words = { A = "A: the bit is reserved at Rev 1 and ignored", B = "B: it is S and the frame is enhanced",
                    C = "C: the frame is malformed" }
    t:ambiguous(words[readings[1]] .. (readings[2] ~= readings[1] and "; with PD_Length 0 " .. words[readings[2]] or ""))
  end,
}

check {
  id = "MPA-7.1.1-36",
  role = "responder",
  purpose = "Requests of Rev 0, of Rev 2 with S = 0 and with S = 1: which Rev the answer carries",
  run = function(t)
    local function ask(given, allowed, what)
      local c = t:connect()
      local how, got = outcome(t, c, mpa.request(given))
      if c.reply and not allowed[c.reply.Rev] then
        t:fail(what .. ": the Rev of a Reply to it", "one that the device can do and the initiator understands",
               describe(c.reply))
      end
      if how == "silent" then t:fail(what .. " is answered or the connection closed", "Reply, FIN or RST", describe(got)) end
      if given.Rev == 0 and how == "operates" and c.reply.Rev ~= 0 then
        t:fail(what .. ": a Reply of Rev 1 goes with a close", "FIN or RST after it", "full operation")
      end
      c.tcp:close()
      return c.reply ~= nil
    end
    local answered = {
      ask({ Rev = 0, M = 1 }, { [0] = true, [1] = true }, "a Request of Rev 0"),
      ask({ Rev = 2, S = 0 }, { [1] = true, [2] = true }, "a Request of Rev 2, S = 0"),
      ask({ enhanced = { IRD = 1, ORD = 1 } }, { [1] = true, [2] = true }, "a Request of Rev 2, S = 1"),
    }
    if answered[1] or answered[2] or answered[3] then
      t:ambiguous("B: other revisions are answered with a Reply of a Rev that the responder can do")
    end
    t:ambiguous("A: only Rev 1 is known, anything else is closed")
  end,
}
