-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1.1 and 7.1.2 rules 2, 3, 5 and 8: the Key, and what is no start-up frame at all.

defaults { sandwich = "tcp" }

local KEYS = { responder = "MPA ID Req Frame", initiator = "MPA ID Rep Frame" }

-- One connection for each position at which the expected Key has another octet.
local function each_key_octet(t, message)
  local key = KEYS[t.role]
  for at = 1, #key do
    local c = t:awaiting_start()
    local wrong = key:sub(1, at - 1) .. string.char(key:byte(at) ~ 0x20) .. key:sub(at + 1)
    c:send(t:start_frame { key = wrong })
    c:expect_refusal(string.format("octet %d of the Key is wrong: %s", at - 1, message))
    c.tcp:close()
  end
end

local function refuse_octets(t, octets, message)
  local c = t:awaiting_start()
  c:send(octets)
  c:expect_refusal(message)
  c.tcp:close()
end

check {
  id = "MPA-7.1.1-02",
  role = "responder",
  purpose = "a Request with one wrong octet in its Key, at each of the 16 positions, closes the connection",
  run = function(t) each_key_octet(t, "a responder closes the connection") end,
}

check {
  id = "MPA-7.1.1-05",
  role = "initiator",
  purpose = "a Reply with one wrong octet in its Key, at each of the 16 positions, closes the connection",
  run = function(t) each_key_octet(t, "an initiator closes the connection") end,
}

check {
  id = "MPA-7.1.2-03",
  role = "responder",
  purpose = "without a Request there is no full operation: silence is kept, and an FPDU in its place closes the connection",
  judges = { "reads", "framing" },
  run = function(t)
    local c = t:connect()
    c:expect_quiet { message = "a responder sends nothing before a Request" }
    -- A good FPDU of 52 octets: it would be executed by a device that is in full operation already.
    c:send(empty_read(1))
    c:expect_refusal("an FPDU is no valid Request")
  end,
}

check {
  id = "MPA-7.1.2-04",
  role = "responder",
  purpose = "Requests with a bad Key, with 513 octets of Private Data, and 20 octets of anything close the connection",
  run = function(t)
    refuse_octets(t, mpa.request { key = "MPA ID Req Frama" }:octets(), "a bad Key closes the connection")
    refuse_octets(t, mpa.request { key = "MPA ID Req Frama" }:octets() .. mpa.request {}:octets(),
                  "a bad Key closes the connection, though a good Request follows")
    refuse_octets(t, mpa.request { private_data = string.rep("p", 513) }:octets(), "513 octets of Private Data")
    refuse_octets(t, unhex "9c41 d2e7 0b66 f318 5ad0 7e24 91bb c60f 3358 a47d", "20 octets that are no Request")
  end,
}

check {
  id = "MPA-7.1.2-14",
  role = "initiator",
  purpose = "Replies with a bad Key, with 513 octets of Private Data, and of revision 255 close the connection",
  run = function(t)
    refuse_octets(t, mpa.reply { key = "MPA ID Rep Frama" }:octets(), "a Reply with a bad Key")
    refuse_octets(t, mpa.reply { private_data = string.rep("p", 513) }:octets(),
                  "a Reply with 513 octets of Private Data")
    refuse_octets(t, mpa.reply { Rev = 255 }:octets(), "a Reply of revision 255")
  end,
}

check {
  id = "MPA-7.1.2-19",
  role = "both",
  purpose = "the Key of the other frame, and an HTTP request, close the connection",
  run = function(t)
    local other = t.role == "responder" and mpa.reply or mpa.request
    refuse_octets(t, other {}:octets(), "the Key of the other frame is not the expected one")
    refuse_octets(t, "GET / HTTP/1.1\r\nHost: warpcheck.test\r\n\r\n", "an HTTP request is no start-up frame")
  end,
}

check {
  id = "MPA-7.1.2-25",
  role = "both",
  purpose = "two initiators, or two responders, are told by the frame that the other one sends",
  run = function(t)
    if t.role == "responder" then
      refuse_octets(t, mpa.reply { private_data = "responder too" }:octets(), "a Reply to a responder")
      return
    end
    local c = t:awaiting_start()
    c:send(mpa.request { private_data = "initiator too" })
    c:expect_refusal("an initiator that gets a Request has met another initiator: it closes, and does not reply")
  end,
}

check {
  id = "MPA-7.1.3-03",
  role = "responder",
  purpose = "20 octets that are no Request: a graceful close or a reset, and soon",
  run = function(t)
    local c = t:connect()
    local begun = rig.now()
    c:send(unhex "0016 4143 0000 0000 0000 0000 0000 0001 0000 0000")
    local got = c:expect_refusal("20 octets that are no Request close the connection")
    local delay = rig.now() - begun
    if delay > 1 + 10 * t.round_trip then
      t:warn("the connection is closed immediately", "FIN or RST within a second", string.format("after %.1f s", delay))
    end
    t:ambiguous(got.kind == "fin" and "A: a graceful close (FIN)" or "B: an immediate reset (RST)")
  end,
}
