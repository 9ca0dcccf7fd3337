-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5040 8.2.2 items 3 and 5 to 9, RFC 5041 8.4.2: IKE, its modes, and how peers prove who they are.

-- The method with which the run began.
local function any_method(t, offer)
  t:need_ipsec()
  local _, base = rig.has_ipsec()
  local request = copy_fields(offer)
  request.method = base:find("certificate", 1, true) and "certificate" or "secret"
  return request
end

check {
  id = "RDMAP-8.2.2-06",
  also = { "DDP-8.4.2-06" },
  purpose = "IKE of RFC 2409 with the IPsec DOI agrees on an SA that carries a stream",
  run = function(t)
    local main = t:offer(any_method(t, { version = 1 }))
    local agreement = main.up and main or t:offer(any_method(t, { version = 1, aggressive = true }))
    if agreement.up then
      t:protected_stream()
      return
    end
    rig.ipsec_base()
    t:fail("IKEv1 agrees on an SA", "agreement in Main Mode or Aggressive Mode (RFC 7146 3: IKEv2 SHOULD be there in addition)", main:outcome())
  end,
}

check {
  id = "RDMAP-8.2.2-09",
  also = { "DDP-8.4.2-08" },
  purpose = "peers prove who they are by a pre-shared key",
  run = function(t)
    local first
    for _, offer in ipairs { { version = 2 }, { version = 1 }, { version = 1, aggressive = true } } do
      offer.method = "secret"
      local agreement = t:offer(offer)
      if agreement.up then
        t:protected_stream()
        return
      end
      first = first or agreement
    end
    rig.ipsec_base()
    t:fail("authentication by a pre-shared key", "agreement by IKEv2 or IKEv1", first:outcome())
  end,
}

check {
  id = "RDMAP-8.2.2-10",
  also = { "DDP-8.4.2-09" },
  purpose = "certificates with digital signatures are taken or refused; what the run began with works afterwards",
  frees = true,
  run = function(t)
    local agreement = t:offer { version = 2, method = "certificate" }
    if not agreement.up then agreement = t:offer { version = 1, method = "certificate" } end
    if agreement.up then t:protected_stream() end
    t:note("certificates: " .. agreement:outcome())
    rig.ipsec_base()
    t:protected_stream()
  end,
}

-- A device that speaks IKEv2 alone has neither mode: RDMAP-8.2.2-06 says so.
local function mode(t, aggressive, message)
  local offer = any_method(t, { version = 1, aggressive = aggressive })
  local agreement = t:offer(offer)
  if agreement.up then
    t:protected_stream()
    return
  end
  local other = t:offer(any_method(t, { version = 1, aggressive = not aggressive }))
  rig.ipsec_base()
  if not other.up then t:skip("the device agrees to no IKEv1, which RDMAP-8.2.2-06 judges") end
  t:fail(message, "agreement on " .. agreement.text, agreement:outcome())
end

check {
  id = "RDMAP-8.2.2-12",
  also = { "DDP-8.4.2-11" },
  purpose = "IKEv1 Main Mode",
  run = function(t) mode(t, false, "Main Mode") end,
}

check {
  id = "RDMAP-8.2.2-13",
  also = { "DDP-8.4.2-12" },
  purpose = "IKEv1 Aggressive Mode",
  run = function(t) mode(t, true, "Aggressive Mode") end,
}

check {
  id = "RDMAP-8.2.2-15",
  purpose = "with certificates Main Mode and Aggressive Mode are each taken or refused; what the run began with works afterwards",
  frees = true,
  run = function(t)
    for _, aggressive in ipairs { false, true } do
      local agreement = t:offer { version = 1, method = "certificate", aggressive = aggressive }
      if agreement.up then t:protected_stream() end
      t:note(agreement.text .. ": " .. agreement:outcome())
    end
    rig.ipsec_base()
    t:protected_stream()
  end,
}

check {
  id = "RDMAP-8.2.2-16",
  purpose = "a device that takes certificates names the authorities that it trusts in a Certificate Request payload",
  run = function(t)
    local seen
    for _, offer in ipairs { { version = 2 }, { version = 1 } } do
      offer.method = "certificate"
      local agreement = t:offer(offer)
      if agreement.up and agreement:has_payload("CERTREQ") then return end
      seen = seen or agreement.up
    end
    rig.ipsec_base()
    if not seen then t:skip("the device agrees to no certificate") end
    t:fail("a Certificate Request payload", "CERTREQ in an answer of the device", "none")
  end,
}

check {
  id = "RDMAP-8.2.2-17",
  purpose = "a revoked certificate is refused, where a good one of the same authority is taken",
  run = function(t)
    for _, version in ipairs { 2, 1 } do
      if t:offer({ version = version, method = "certificate" }).up then
        local agreement = t:offer { version = version, method = "revoked" }
        rig.ipsec_base()
        if agreement.up then t:fail("a revoked certificate", "no agreement", "agreement on " .. agreement.text) end
        return
      end
    end
    rig.ipsec_base()
    t:skip("the device agrees to no certificate")
  end,
}

check {
  id = "RDMAP-8.2.2-19",
  also = { "DDP-8.4.2-15" },
  purpose = "IKE agrees without extensive configuration: a Diffie-Hellman group of 2048 bits (RFC 7146), or of 1024 bits (RFC 3723)",
  run = function(t)
    local last
    for _, group in ipairs { "modp2048", "modp1024" } do
      for _, offer in ipairs { { version = 1 }, { version = 1, aggressive = true }, { version = 2 } } do
        offer.ike = "aes128-sha1-" .. group .. ",3des-sha1-" .. group
        local agreement = t:offer(any_method(t, offer))
        last = agreement
        if agreement.up then
          t:protected_stream()
          if group == "modp1024" then
            t:warn("the Diffie-Hellman group", "a group of at least 2048 bits (RFC 7146: SHOULD)", "a group of 1024 bits alone")
          end
          return
        end
      end
    end
    rig.ipsec_base()
    t:warn("IKE with the usual parameters", "agreement on AES-CBC or 3DES, HMAC-SHA1 and a group of 1024 or 2048 bits", last:outcome())
  end,
}
