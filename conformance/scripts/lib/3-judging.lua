-- SPDX-License-Identifier: BSD-2-Clause
--
-- Stimuli and outcomes that many checks share (docs/writing-checks.md, "Common stimuli and outcomes").

--------------------------------------------------------------------------------------------------------------------
-- Values

-- "IRD 3: 4 of 16; IRD 0, 1: 1 of 8": values that have the same text stand together.
local function by_value(name, failures, member)
  local texts, values, out = {}, {}, {}
  for _, failure in ipairs(failures) do
    local text = tostring(failure.why[member])
    if not values[text] then texts[#texts + 1], values[text] = text, {} end
    table.insert(values[text], failure.value)
  end
  for i, text in ipairs(texts) do out[i] = name .. " " .. table.concat(values[text], ", ") .. ": " .. text end
  return table.concat(out, "; ")
end

-- Calls body(value) for each value, and goes on after one that fails or warns: a deviation that is known at one value
-- hides none at another. A single one keeps its text; several are listed by their values, and a FAIL counts more than a
-- WARN. A value that is a table goes by its number, or by its member `called`.
function Test:each_value(name, values, body)
  local found = { FAIL = {}, WARN = {} }
  for i, value in ipairs(values) do
    local made, why = pcall(body, value)
    local list = not made and type(why) == "table" and found[why.verdict]
    if list then
      local called = type(value) == "table" and (value.called or i) or value
      list[#list + 1] = { value = tostring(called), why = why, cause = self.cause, hint = self.hint, looked = { rig.looked() } }
      self.cause, self.hint = nil, nil
    elseif not made then
      -- What has failed before has failed, even where no more can be decided.
      if type(why) ~= "table" or #found.FAIL == 0 then error(why, 0) end
      break
    end
  end
  local failures = #found.FAIL > 0 and found.FAIL or found.WARN
  if #failures == 0 then return end
  local first = failures[1]
  if #failures > 1 then
    first.why.expected, first.why.actual = by_value(name, failures, "expected"), by_value(name, failures, "actual")
  end
  self:suspect(first.cause, first.hint)
  rig.look_at(table.unpack(first.looked)) -- what came of later values is not what the verdict is about
  error(first.why, 0)
end

--------------------------------------------------------------------------------------------------------------------
-- Terminates

-- Is `got` a Terminate, and its triple one of `names` (a name of wire/terminate.h without TERM_, or a list of them)?
-- Without names each Terminate is.
function is_terminate(got, names)
  if got.kind ~= "segment" or got.triple == nil then return false end
  if names == nil then return true end
  for _, name in ipairs(type(names) == "string" and { names } or names) do
    if got.triple == wire.triple(name) then return true end
  end
  return false
end

-- "Terminate DDP / Untagged Buffer Error / Invalid QN (0x1201)", for messages.
function terminate_text(name)
  return "Terminate " .. wire.describe(wire.triple(name))
end

-- "M = 1 D = 1 R = 0" of a Terminate.
function header_bits(terminate)
  return string.format("M = %d D = %d R = %d", terminate.M, terminate.D, terminate.R)
end

-- The first four octets of a Terminate, in hexadecimal digits, are one of these words; the first is the one that is
-- expected.
function Test:control_word(terminate, message, words)
  local word = hex(terminate.ulpdu:sub(19, 22))
  for _, due in ipairs(words) do
    if word == due then return end
  end
  self:fail(message, words[1], word)
end

-- The next thing is a Terminate, whatever its triple. options: accepts (a function that judges it further), expected
-- (what the message says is expected), close = "warn" (a bare FIN or RST is WARN; else it is FAIL), within. Returns the
-- Terminate.
function Connection:expect_any_terminate(message, options)
  local o = options or {}
  local got = self:receive(o.within)
  if is_terminate(got) and (o.accepts == nil or o.accepts(got)) then return got end
  local expected, actual = o.expected or "a Terminate", self:instead({}, got)
  if o.close == "warn" and fits(tcp.closed(), got) then self.t:warn(message, expected, actual) end
  self.t:fail(message, expected, actual)
end

-- A bare FIN or RST in place of a Terminate for an error of DDP: RFC 5040 6.2.1 asks for one, and lets a device do
-- without. WARN.
function Connection:judge_close(got, expected)
  if fits(tcp.closed(), got) then self.t:terminate_missing(expected or "a Terminate", self:instead({}, got)) end
end

-- The next thing is a DDP Segment, whatever its headers say: returns it. `expected` is for the message.
function Connection:expect_segment(message, expected)
  local got = self:receive()
  if got.kind ~= "segment" then self.t:fail(message, expected or "a DDP Segment", describe(got)) end
  return got
end

-- The stream is over: FIN or RST, at once or after the tester's FIN, and before it nothing but one Terminate of the
-- device at most. options: accepts (a function that judges that Terminate), within. Returns "fin", "reset" or "left"
-- (the device left closing to the tester), and the Terminate.
function Connection:expect_over(message, options)
  local o = options or {}
  local terminate
  local function take()
    local got = self:receive(o.within)
    if terminate == nil and is_terminate(got) and (o.accepts == nil or o.accepts(got)) then
      terminate = got
      got = self:receive(o.within)
    end
    return got
  end
  local got = take()
  local how = got.kind
  if how == "timeout" then
    self:fin()
    got, how = take(), "left"
  end
  if not fits(tcp.closed(), got) then self.t:fail(message, "the end of the stream", describe(got)) end
  return how, terminate
end

-- Nothing came after a Send that had no receive: a device may leave it in TCP (RFC 5041 7.1; DDP-7.1-07). True where it
-- is taken when the ULP posts a receive.
function Connection:takes_when_posted()
  if not rig.has_upper_tester() then return false end
  -- one is for a fence
  local posted = self.t:command("post_recv", { stream = self.t:stream_of(self), length = 4096, count = 2 })
  if not posted.ok or not self:alive() then return false end
  self.t:note("the Send waited in TCP until there was a receive (DDP-7.1-07)")
  return true
end

--------------------------------------------------------------------------------------------------------------------
-- Stimuli

-- A Write to an STag that nobody gave out: an error of DDP that ends the stream.
function bad_write(data)
  return rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = data or "12345678" }
end

-- A Read Request for no octets; the answer names `tag` as its STag. `given` overrides fields.
function empty_read(tag, given)
  local f = copy_fields(given)
  f.SinkSTag, f.SinkTO, f.RDMARDSZ, f.SrcSTag, f.SrcTO = tag, f.SinkTO or 0, 0, f.SrcSTag or 0, f.SrcTO or 0
  return rdmap.read_request(f)
end

-- Sends an FPDU with a wrong CRC and takes the Terminate 2/0/02, which is returned. A probe comes first: a responder
-- may send only after the initiator's first FPDU (RFC 5044 7.1.2).
function Connection:draw_crc_terminate()
  self:probe()
  self:send(fpdu(rdmap.send { data = "1234" }, { crc_flip = 1 }))
  return self:expect_terminate("MPA_CRC", { message = "an FPDU with a wrong CRC" })
end

-- Sends `frame`, which is an error, and takes a Terminate with one of `names`, which is returned. options as for
-- expect_terminate.
function Connection:expect_error(frame, names, message, options)
  local o = copy_fields(options)
  o.message = message
  self:send(frame)
  return self:expect_terminate(names, o)
end

-- The same on a stream of its own. `frame` may be a function that makes it of the connection; options.dut:
-- configuration of the device. Returns the connection and the Terminate.
function Test:expect_error(frame, names, message, options)
  local c = self:open { dut = options and options.dut }
  if type(frame) == "function" then frame = frame(c) end
  return c, c:expect_error(frame, names, message, options)
end

-- An error of each class that a peer can commit: what, the frame, whether it may end a stream in any way, and whether
-- the device may find it when it answers only. What follows an error follows each of them.
function Test:error_classes()
  local classes = {
    { "a Write to an unknown STag", bad_write() },
    { "a Send on QN 9", rdmap.send { QN = 9, MSN = 1, data = "12345678" } },
    { "a Send with DV = 3", rdmap.send { DV = 3, data = "12345678" } },
    { "a Send whose MO lies in no buffer", rdmap.send { MO = 0x7FFFFFF0, data = "12345678" } },
    { "a Send that invalidates an unknown STag", rdmap.send_invalidate { InvalidateSTag = UNKNOWN_STAG, data = "1" } },
    { "a Read of an unknown STag", rdmap.read_request { SinkSTag = 1, RDMARDSZ = 8, SrcSTag = UNKNOWN_STAG }, false, true },
    { "a Send of opcode D", rdmap.send { Opcode = 0xD, data = "1234" } },
    -- Not of 2 octets: with its DDP-SSN it would be a Stream Reset of the draft.
    { "a header cut short", raw.segment { data = "\x41\x43\0" }, true },
  }
  if not self:over_sctp() then
    table.insert(classes, #classes, { "an FPDU with a wrong CRC", fpdu(rdmap.send { data = "1234" }, { crc_flip = 1 }) })
  end
  if rig.has_upper_tester() then
    classes[#classes + 1] = { "a Read before its buffer", self:memory():read(-1, 1), false, true }
  end
  if self:traits().atomics then
    classes[#classes + 1] = { "a misaligned FetchAdd", self:target():request(ADD, { offset = 4 }), false, true }
  end
  return classes
end

-- body(c, terminate, what) for an error of each class on a stream of its own, when a Terminate has come. Whether one
-- has to come, and which, is for the row of that error to judge: without one, nothing follows it. options: before(c),
-- after(c): a list of what is sent right after the error, or after the Terminate where the device may find the error
-- late; without(got, what): something else has come, dut.
function Test:each_error(body, options)
  local o = options or {}
  for _, case in ipairs(self:error_classes()) do
    local what, frame, free, late = table.unpack(case)
    local c = self:open { dut = o.dut }
    if rig.has_upper_tester() then self:stream_of(c) end
    c:probe() -- a responder may send only after the initiator's first FPDU (RFC 5044 7.1.2)
    if o.before then o.before(c) end
    local after = o.after and o.after(c) or {}
    c:send(frame, table.unpack(late and {} or after))
    local got = c:receive()
    if is_terminate(got) then
      if late and #after > 0 then c:send(table.unpack(after)) end
      body(c, got, what)
    else
      self:note(what .. " draws no Terminate: " .. describe(got))
      if o.without and not free then o.without(got, what) end
    end
    c:close()
  end
end

-- After the tester's FIN, and what the device's ULP had posted: the end of the device's half. FIN is expected; how a
-- RST is judged stands in DDP-6.2.1-08. A Terminate 2/0/01 may come before: by one reading of RFC 5044 8 any FIN is
-- reported (MPA-8-15). Returns the end, and whether there was one. `got`: what has come already.
function Connection:expect_second_half(message, got)
  got = got or self:receive()
  local reported = is_terminate(got, "MPA_CONNECTION_LOST")
  if reported then got = self:receive() end
  if not fits(tcp.closed(), got) then self.t:fail(message, "FIN", self:instead({}, got)) end
  return got, reported
end

-- The device, an initiator whose start-up is over, is asked for a Send of 4 octets.
function Connection:ask_first_send()
  self.t.dut:send { stream = self.stream, data = "66697273" }
end

-- The same, and the Send is the next thing that comes. Returns it.
function Connection:first_send(message)
  self:ask_first_send()
  return self:expect(rdmap.send { data = "firs" }, { message = message or "the device goes on after the Reply" })
end

--------------------------------------------------------------------------------------------------------------------
-- Events of the device's ULP

-- FAIL unless this event of the device comes in time (await_event). Returns it.
function Test:expect_event(kind, match, message, expected)
  local event = self:await_event(kind, match)
  if not event then self:fail(message, expected or "the event \"" .. kind .. "\"", "none") end
  return event
end
