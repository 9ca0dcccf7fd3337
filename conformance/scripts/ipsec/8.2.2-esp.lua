-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 8.2.2 items 1 and 2, RFC 5041 8.4.2, RFC 5044 9.3 and 9.4: ESP below the stream, and its transforms.

local function needs_version(t, offer, what)
  local agreement = t:offer(offer)
  if not agreement.up then
    rig.ipsec_base()
    t:skip("the device does not agree to " .. agreement.text .. ", without which " .. what)
  end
  return agreement
end

check {
  id = "MPA-9.3-01",
  purpose = "an SA is agreed, and a stream is set up and works inside ESP",
  frees = true, -- without that no device is reached, and the run ends before it
  run = function(t)
    t:need_ipsec()
    t:protected_stream()
  end,
}

check {
  id = "MPA-9.3-02",
  requires = "upper_tester",
  purpose = "FPDUs of many lengths inside ESP are delivered as they are outside",
  run = function(t)
    t:need_ipsec()
    local c = t:protected_stream()
    c:finish()
    c:close()
    local lengths, sent = { 0, 1, 3, 4, 127, 512, 1280 }, {}
    local other = t:open { dut = { receives = #lengths, receive_octets = 2048 } }
    for i, octets in ipairs(lengths) do
      sent[i] = pattern(octets, i)
      other:send(rdmap.send { data = sent[i] })
    end
    t:expect_deliveries(other, sent, "Sends of 0 to 1280 octets inside ESP")
    other:probe { message = "the stream inside ESP after them" }
  end,
}

check {
  id = "RDMAP-8.2.2-04",
  also = { "DDP-8.4.2-04" },
  purpose = "ESP in tunnel mode is agreed, and carries a stream",
  frees = true, -- the run begins with it, or not at all
  run = function(t)
    t:need_ipsec()
    rig.ipsec_base()
    local answer = rig.ipsec { verb = "look" }
    if not answer.sas:find("TUNNEL", 1, true) then
      t:inconclusive("the SA that the run began with is not listed in tunnel mode")
    end
    t:protected_stream()
  end,
}

check {
  id = "RDMAP-8.2.2-05",
  also = { "DDP-8.4.2-05" },
  purpose = "ESP in transport mode is agreed or refused; tunnel mode works afterwards",
  frees = true,
  run = function(t)
    local agreement = t:offer { mode = "transport" }
    t:note("transport mode: " .. (agreement:proposal() and "the device agrees" or agreement:outcome()))
    rig.ipsec_base()
    t:protected_stream()
  end,
}

check {
  id = "RDMAP-8.2.2-02",
  also = { "DDP-8.4.2-02" },
  purpose = "a captured ESP packet that is sent again is dropped below TCP, and the stream goes on",
  lasts = 12,
  run = function(t)
    needs_version(t, { version = 2 }, "nothing shows that a repeated frame arrives")
    local c = t:protected_stream()
    t:expect_no_reaction(c, false, "ESP packets that the device has had already")
  end,
}

check {
  id = "RDMAP-8.2.2-03",
  also = { "DDP-8.4.2-03" },
  purpose = "ESP without integrity is refused, and an ESP packet whose integrity check fails is dropped below TCP",
  lasts = 14,
  run = function(t)
    local agreement = t:offer { version = 2, esp = "aes128" }
    if agreement:proposal() then
      t:fail("an SA without data origin authentication and integrity", "no agreement", "ESP:" .. agreement:proposal())
    end
    needs_version(t, { version = 2 }, "nothing shows that an altered frame arrives")
    local c = t:protected_stream()
    t:expect_no_reaction(c, true, "ESP packets with another sequence number than the one that their check value covers")
  end,
}

-- Which of these the device takes, each offered alone, and then a stream inside it.
local function taken(t, offers)
  local taken, refused = {}, {}
  for _, esp in ipairs(offers) do
    local agreement = t:offer { version = t.ike_version, esp = esp }
    if agreement.up then
      t:protected_stream()
      taken[esp] = true
    else
      refused[#refused + 1] = esp .. ": " .. agreement:outcome()
    end
  end
  rig.ipsec_base()
  return taken, table.concat(refused, "; ")
end

-- RFC 3723 2.3.1: 3DES-CBC and HMAC-SHA1. RFC 7146 2.1 and 2.2: AES-CBC with keys of 128 bits in place of 3DES. NULL
-- encryption is a MUST of both.
check {
  id = "MPA-9.4-01",
  purpose = "the mandatory transforms: HMAC-SHA1 with AES-CBC (RFC 7146) or 3DES (RFC 3723), and with NULL encryption",
  lasts = 10,
  run = function(t)
    local good, refused = taken(t, { "aes128-sha1", "null-sha1" })
    if not good["aes128-sha1"] then
      local old, why = taken(t, { "3des-sha1" })
      if not old["3des-sha1"] then
        t:fail("a mandatory transform", "agreement on ESP with HMAC-SHA1 and AES-CBC (RFC 7146) or 3DES-CBC (RFC 3723)", refused .. "; " .. why)
      end
    end
    if not good["null-sha1"] then
      t:fail("NULL encryption", "agreement on ESP with HMAC-SHA1 and NULL encryption (RFC 3723 2.3.1)", refused)
    end
  end,
}

-- RFC 7146 2: a device of 1 Gbit/s and more MUST have extended sequence numbers. How fast it is nobody can see: WARN. ESP in user space has
-- none to offer.
local function try_extended_numbers(t)
  local _, _, kernel = rig.has_ipsec()
  if not kernel then return end
  local good, refused = taken(t, { "aes128-sha1-esn" })
  if not good["aes128-sha1-esn"] then
    t:warn("extended sequence numbers (RFC 7146 2: MUST where it does 1 Gbit/s and more)", "agreement on ESP with them", refused)
  end
end

check {
  id = "MPA-9.4-04",
  purpose = "which text the transforms follow: AES-CBC is offered alone, and 3DES alone; then an IKEv2 delete, and extended sequence numbers",
  lasts = 12,
  run = function(t)
    local good, refused = taken(t, { "aes128-sha1", "3des-sha1" })
    local agreement = t:offer { version = 2 }
    if agreement.up then
      local c = t:protected_stream()
      rig.ipsec { verb = "delete" }
      t:renew_sa("a delete of IKEv2")
      t:expect_stream_lives(c, "an IKEv2 delete")
    end
    if good["aes128-sha1"] then try_extended_numbers(t) end
    if good["aes128-sha1"] and good["3des-sha1"] then return end
    if good["aes128-sha1"] then t:ambiguous("B: RFC 7146 replaces the transforms: AES-CBC, no 3DES") end
    if good["3des-sha1"] then t:ambiguous("A: RFC 5044 and RFC 3723 alone: 3DES, no AES-CBC") end
    t:inconclusive("neither AES-CBC nor 3DES with HMAC-SHA1 is agreed, which MPA-9.4-01 judges: " .. refused)
  end,
}
