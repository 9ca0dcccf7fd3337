-- SPDX-License-Identifier: BSD-2-Clause
--
-- DDP over SCTP, by RFC 5043 with RFC 6581 section 7, and by the draft.
local START <const>, STEP <const> = 1000000000, 0.0001
corpus { folder = "generated", start = START, step = STEP }

local function opened(given)
  local a = association {
    ipv6 = given.ipv6, draft = given.draft,
    initiator = { initial_tsn = 0xFFFFFFFC },
    responder = { initial_tsn = 0xFFFFFFFC + 1000 & 0xFFFFFFFF },
  }
  if not given.late then a:open() end
  return a
end

-- Of SHUTDOWN only its place matters here: its TSN is 0.
local function close(a)
  a.initiator:chunk { type = net.chunk_types["SHUTDOWN"], value = ("\0"):rep(4) }
  a.responder:chunk { type = net.chunk_types["SHUTDOWN ACK"] }
  a.initiator:chunk { type = net.chunk_types["SHUTDOWN COMPLETE"] }
end

local word <const> = { A = 1, C = 1, IRD = 4, ORD = 2 }
local function send(octets) return rdmap.send { data = counting(octets) } end
local function write(octets) return rdmap.write { STag = 0xB1, TO = 0x1000, data = counting(octets) } end

-- Accepted, rejected, refused by the adaptation layer; plain and enhanced.
local function sessions(given)
  local a = opened(given)
  local i, r = a.initiator, a.responder
  i:control("Initiate", { private_data = "hello" })
  r:control("Accept", { private_data = "welcome" })
  i:send(send(20))
  r:send(send(21))
  i:send(write(100))
  i:send(rdmap.read_request { SinkSTag = 0xA1, SinkTO = 0x2000, RDMARDSZ = 60, SrcSTag = 0xB1, SrcTO = 0x3000 })
  r:send(rdmap.read_response { STag = 0xA1, TO = 0x2000, data = counting(60) })
  for _, segment in ipairs { segments(rdmap.send, {}, counting(500):rep(2), 500) } do i:send(segment) end
  i:control("Terminate")
  r:control("Terminate")
  i:control("Enhanced Initiate", { private_data = "again", enhanced = word })
  r:control("Enhanced Accept", { enhanced = word })
  i:send(write(0))
  r:send(send(5))
  r:control("Terminate")
  r:control("Initiate", { SID = 1 })
  i:control("Reject", { SID = 1, private_data = "no" })
  i:control("Enhanced Initiate", { SID = 2, enhanced = word })
  r:control("Enhanced Reject", { SID = 2, private_data = "no" })
  i:control("Initiate", { SID = 3 })
  r:control("Terminate", { SID = 3 })
  close(a)
end

capture {
  name = "sctp-sessions", about = "DDP over SCTP: every session control message, plain and enhanced",
  run = function()
    sessions {}
  end,
}

-- A Stream Reset by its table and by its text.
capture {
  name = "sctp-draft", about = "DDP over SCTP by the draft: no sessions, Stream Resets",
  run = function()
    local a = opened { draft = true }
    local i, r = a.initiator, a.responder
    i:send(send(10), { SID = 1 })
    i:send(write(30), { SID = 1 })
    r:send(send(11), { SID = 1 })
    i:stream_reset(1)
    i:send(send(12), { SID = 1 })
    r:stream_reset(1, net.payload_protocols.draft_segment)
    r:send(send(13), { SID = 1 })
    close(a)
  end,
}

-- User messages in fragments; then several chunks in a packet; then each packet before the one before it.
capture {
  name = "sctp-order", about = "DDP over SCTP: fragments, bundles, packets out of order",
  findings = { { "SCTP5043-9-05", "FAIL", 11 } },
  run = function()
    local a = opened {}
    local i = a.initiator
    i:control "Initiate"
    a.responder:control "Accept"
    i:send(send(200), { fragment = 60 })
    i:bundle(function()
      i:send(send(10))
      i:send(write(11))
      i:send(send(12), { fragment = 20 }) -- in a packet that would have held it
    end)
    a:hold()
    for n = 0, 3 do i:send(send(30 + n)) end
    a:release { 4, 3, 2, 1 }
    a:hold()
    i:send(send(120), { fragment = 50 })
    a:release { 3, 2, 1 }
    i:control "Terminate"
    close(a)
  end,
}

capture {
  name = "sctp-late", about = "DDP over SCTP: no INIT, one packet twice, one lost",
  run = function()
    local a = opened { late = true }
    local i, r = a.initiator, a.responder
    a:hold()
    i:control "Initiate"
    r:control "Accept"
    a:release {}
    wait(6 * STEP)
    a:hold()
    i:send(send(20))
    r:send(send(21))
    i:send(send(20)) -- lost
    a:release { 1, 2, 1 }
    i:send(send(22))
    i:control "Terminate"
    wait(0.03)
    r:sack()
  end,
}

capture {
  name = "sctp-faults", about = "DDP over SCTP: everything that a passive rule can find fault with",
  findings = {
    { "SCTP5043-2-01", "FAIL", 5 }, { "SCTP5043-5.1-01", "FAIL", 8 }, { "SCTP5043-5.2.3-02", "FAIL", 10 },
    { "SCTP5043-5.2.3-09", "FAIL", 9 },
  },
  run = function()
    local a = opened {}
    local i, r = a.initiator, a.responder
    i:send(send(9), { SID = 2 }) -- no session
    i:control "Initiate"
    r:control "Accept"
    i:user("plain", { SID = 3, PPID = 0 })
    i:control("Terminate", { private_data = "why" })
    r:user("\0\1\0\9", { PPID = net.payload_protocols.control })
  end,
}

capture {
  name = "sctp-over-ipv6", about = "DDP over SCTP and IPv6",
  run = function()
    sessions { ipv6 = true }
  end,
}
