-- SPDX-License-Identifier: BSD-2-Clause
--
-- One lawful capture and some that are not, with what `warpcheck audit` is to find in each: corpora are made of scripts
-- like this one.
--
--   warpcheck gen --corpus faults generator/examples/faults.lua
--   warpcheck audit faults

-- A start-up, what `middle` sends, and the end.
local function exchange(middle)
  return function()
    local f = flow {}
    f:open()
    middle(f.initiator, f.responder)
    f:close()
  end
end

capture {
  name = "lawful", about = "two Sends and their ACK",
  run = exchange(function(i, r)
    i:send_each(rdmap.send { data = "one" }, rdmap.send { data = "two" })
    r:ack()
  end),
}

capture {
  name = "crc", about = "the CRC of the second Send is wrong in one bit",
  run = exchange(function(i)
    i:send(rdmap.send { data = "one" })
    finding("MPA-4.4-14", "FAIL", i:send(fpdu(rdmap.send { data = "two" }, { crc_flip = 1 }), { comment = "bad CRC" }))
  end),
}

capture {
  name = "crc-swapped", about = "all CRCs have the most significant octet first",
  run = exchange(function(i)
    local first = i:send(fpdu(rdmap.send { data = "one" }, { crc_swapped = true }))
    finding("MPA-4.4-14", "FAIL", first)
  end),
}

capture {
  name = "rejected", about = "a Reply that accepts what the Request asked for in no way",
  run = function()
    local f = flow {}
    f:handshake()
    f:start({ enhanced = { A = 1, C = 1, IRD = 4, ORD = 4 } }, { enhanced = { C = 1, IRD = 4, ORD = 4 } })
    finding("EMPA-9.2-13", "FAIL")
    finding("EMPA-9.2-28", "FAIL")
    f:close()
  end,
}

capture {
  name = "behind-the-terminate", about = "a peer that goes on after its Terminate",
  run = exchange(function(i, r)
    local write = rdmap.write { STag = 0xDEAD, TO = 0, data = "x" }
    i:send(write)
    r:send(terminate_for("DDP_INVALID_STAG", write))
    finding("RDMAP-5.4-10", "FAIL", r:send(rdmap.send { data = "still here" }))
  end),
}
