-- SPDX-License-Identifier: BSD-2-Clause
--
-- For checks of start-up frames, in either role (docs/writing-checks.md, "Start-up").

-- The tester's start-up frame in this role: a Request to a responder, a Reply to an initiator.
function Test:start_frame(given)
  if self.role == "responder" then return mpa.request(given) end
  return mpa.reply(mirrored(self.request, given))
end

-- A connection on which the device waits for that frame. As initiator its Request has been taken: c.request.
-- options.dut: configuration of the device (verb listen or connect); mss, iss.
function Test:awaiting_start(options)
  options = options or {}
  if self.role == "responder" then
    local port = options.dut and self:listen(options.dut) or options.port
    return self:connect { port = port, mss = options.mss, iss = options.iss }
  end
  local dut = copy_fields(options.dut)
  if dut.rev == nil then dut.rev = self:plain_rev() end
  local c = self:accept { dut = dut, mss = options.mss, iss = options.iss }
  c.request = c:expect(mpa.request {}, { message = "an initiator opens with a Request" })
  self.request = c.request
  return c
end

-- The rounds of a check whose outcome a race in the device decides: at least so many, and up to 250 while 5 seconds are
-- not over. A device that loses one round in thirty would show it in 20 rounds every second time only.
function Test:races(least)
  local most, until_time, round = 250, rig.now() + 5, 0
  return function()
    if round >= least and (round >= most or rig.now() > until_time) then return nil end
    round = round + 1
    return round
  end
end

-- The tester's frame is out: full operation follows. A responder sends its Reply with R = 0; an initiator is asked for
-- a Send, which comes; then an FPDU of the tester is answered. Returns the device's start-up frame.
function Connection:expect_operation(frame, message)
  local peer = self.request
  message = message or "the start-up frame is good: full operation follows"
  if self.as_initiator then peer = self:expect(mpa.reply { R = 0 }, { message = message }) end
  self:agree(frame, peer)
  self:settle()
  if not self.as_initiator then
    self:ask_first_send()
    self:expect(rdmap.send {}, { message = message })
  end
  self:probe { message = message }
  return peer
end

-- The tester's start-up frame was bad: the device closes (FIN or RST). An initiator may say so with one Terminate
-- 2/0/04 before (MPA-8-16 judges that). Everything else is FAIL, an accepting Reply and FPDUs above all. Returns what
-- ended the stream, and the Terminate.
function Connection:expect_refusal(message, options)
  options = options or {}
  local got, terminate
  if not self.as_initiator then
    self.started = true
    self.receive_framing = { markers = false, crc = true, position = 0 }
  end
  got = self:receive(options.within)
  if is_terminate(got, "MPA_START_FRAME") then
    terminate = got
    got = self:receive(options.within)
    if got.kind == "timeout" then self.t:suspect(goes_on()) end
  end
  if not fits(tcp.closed(), got) then self.t:fail(message, "FIN or RST, and no answer before it", describe(got)) end
  return got, terminate
end

-- The tester's Request is out, and the device's ULP refuses it: the Reply has R = 1 and these fields, or FAIL. The
-- Consumer may close in its place (RFC 5044 7.1.3): INCONCLUSIVE, since MPA-7.1.2-05 alone says what that is worth.
-- Returns the Reply.
function Connection:expect_rejection(message, given)
  local fields = copy_fields(given)
  fields.R = 1
  local wanted, got = mpa.reply(fields), self:receive()
  if fits(tcp.closed(), got) then self.t:inconclusive("the device closes in place of a Reply with R = 1 (MPA-7.1.2-05)") end
  if not fits(wanted, got) then self.t:fail(message, describe(wanted), describe(got)) end
  return got
end

-- What the device's ULP received when start-up was done, "established": private_data in hex, ird, ord, ... nil without.
function Test:start_event(c)
  return self:await_event("established", { stream = self:stream_of(c) })
end
