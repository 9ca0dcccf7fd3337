-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 7.1: where MPA begins in the stream of octets, and who begins.

check {
  id = "MPA-7.1-01",
  role = "both",
  sandwich = "tcp",
  purpose = "the start-up frame is the first thing that the device sends, and right after it comes the first FPDU",
  judges = { "reads", "framing" },
  run = function(t)
    local private = "seven77"
    local c = t:awaiting_start { dut = rig.has_upper_tester() and { private_data = hex(private) } or nil }
    local frame = t:start_frame {}
    c:send(frame)
    c:expect_operation(frame, "right after its start-up frame the device sends an FPDU")
    c:probe { message = "and then another" }
  end,
}

check {
  id = "MPA-7.1-07",
  role = "both",
  sandwich = "tcp",
  purpose = "who opens the TCP connection need not be who sends the Request",
  run = function(t)
    local c
    if t.role == "initiator" then
      c = t:connect { port = t:listen({ mpa_role = "initiator", rev = t:plain_rev() }, true) }
      t:stream_of(c)
      c.as_initiator = false
      c:start_as_responder()
      c:first_send("the TCP listener sends the Request, and goes on")
    else
      c = t:accept { dut = { mpa_role = "responder" }, special = true }
      c.as_initiator = true
      local octets, state = c:peek(1, t.quiet)
      if #octets > 0 or state ~= "timeout" then
        t:fail("an MPA Responder that opened the TCP connection waits for the Request", "nothing",
               hex(octets:sub(1, 32)) .. " " .. state)
      end
      c:start_as_initiator()
    end
    c:probe { message = "full operation, with roles other than TCP's" }
  end,
}
