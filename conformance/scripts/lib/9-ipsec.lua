-- SPDX-License-Identifier: BSD-2-Clause
--
-- IPsec below the stream (docs/ipsec.md): what the tester's IKE offers, and what the device made of it.

local Agreement = {}
Agreement.__index = Agreement

-- Each check of IPsec begins so: the run reaches its device through ESP, or nothing can be seen.
function Test:need_ipsec()
  if not rig.has_ipsec() then
    self:inconclusive("the device has IPsec (capability ipsec), but its profile does not say how it is reached: member \"ipsec\", docs/ipsec.md")
  end
end

local function offer_text(offer)
  local out = { offer.version == 1 and (offer.aggressive and "IKEv1 Aggressive Mode" or "IKEv1 Main Mode") or "IKEv2" }
  out[#out + 1] = offer.method == "certificate" and "certificate" or offer.method == "revoked" and "revoked certificate" or "pre-shared key"
  if offer.ike then out[#out + 1] = "IKE " .. offer.ike end
  if offer.esp then out[#out + 1] = "ESP " .. offer.esp end
  if offer.mode then out[#out + 1] = offer.mode .. " mode" end
  return table.concat(out, ", ")
end

-- What charon says of it, as notes of the evidence; keys are not in it.
local function note_log(t, log)
  for line in log:gmatch("[^\n]+") do
    local text = line:match("^%d+(%[%u+%] .*)")
    if text and not text:find("^%[CFG%] .*vici") then t:note("IKE " .. text) end
  end
end

-- Offers this to the device: members of conformance/engine/ipsec/ipsec_offer.h. SKIP where the profile has no key or
-- certificate for it.
function Test:offer(offer)
  self:need_ipsec()
  local request = copy_fields(offer)
  request.verb = "up"
  local text = offer_text(offer)
  self:note("the tester offers: " .. text)
  local answer = rig.ipsec(request)
  if answer.lacking then self:skip(answer.lacking) end
  note_log(self, answer.log)
  return setmetatable({ t = self, text = text, up = answer.up, log = answer.log, sas = answer.sas }, Agreement)
end

-- Has the device's IKE said anything?
function Agreement:heard() return self.log:find("received packet", 1, true) ~= nil end

-- Has it taken a proposal of ESP, whether ESP can be made here or not? The proposal, or nil.
function Agreement:proposal() return self.log:match("selected proposal: ESP:(%S+)") end

-- Has a message of this kind, an answer of the device, a payload of this name?
function Agreement:has_payload(name)
  for payloads in self.log:gmatch("parsed [^\n]* %[ ([^\n]*) %]") do
    for word in payloads:gmatch("%S+") do
      if word == name then return true end
    end
  end
  return false
end

-- What the device did, in words.
function Agreement:outcome()
  if self.up then return "agreed" end
  if not self:heard() then return "no answer" end
  local last = "no agreement"
  for line in self.log:gmatch("[^\n]+") do
    local text = line:match("%] (received [%u_]+ .*)") or line:match("%] (.*giving up.*)") or line:match("%] (.*failed.*)") or
                 line:match("%] (.*unable to.*)")
    if text and not text:find("^initiate") then last = text end
  end
  return last
end

-- A stream, inside what was agreed, on which a Read, or what else the device serves, is answered. ESP has carried it
-- both ways.
function Test:protected_stream()
  local _, _, kernel = rig.has_ipsec()
  self:note("the tester's ESP is made by " .. (kernel and "its kernel" or "strongSwan, in user space"))
  rig.ipsec { verb = "mark" }
  local c = self:open()
  c:probe()
  local count = rig.ipsec { verb = "count" }
  if count.esp_in == 0 or count.esp_out == 0 then
    self:inconclusive(string.format("the stream works, and the tester saw %d ESP packets go out and %d come in", count.esp_out, count.esp_in))
  end
  return c
end

-- WARN unless the stream is alive after `what`, a delete: RFC 5040 8.2.2, RFC 5041 8.4.2 and RFC 5044 9.4 say MUST NOT, and RFC 7146 3,
-- which updates them, SHOULD NOT, for the deletes of both versions of IKE.
function Test:expect_stream_lives(c, what)
  local alive, got = c:alive()
  if not alive then
    self:warn("the stream goes on after " .. what .. " (RFC 7146 3: SHOULD NOT end; RFC 5040 8.2.2: MUST NOT)",
              "an answer on it, without FIN, RST or Terminate", got and describe(got) or "nothing")
  end
end

-- The SA of ESP is there no more, on the tester's side.
function Test:await_no_sa(seconds)
  local deadline = rig.now() + seconds
  repeat
    local answer = rig.ipsec { verb = "look" }
    if not answer.sas:find("INSTALLED", 1, true) then return true end
    rig.wait(0.2)
  until rig.now() >= deadline
  return false
end

-- Another SA, as new traffic brings up; FAIL unless the device agrees to it.
function Test:renew_sa(what)
  local answer = rig.ipsec { verb = "renew" }
  note_log(self, answer.log)
  if not answer.up then
    rig.ipsec_base()
    self:fail("after " .. what .. " a new SA can be agreed", "another SA of ESP", "no agreement")
  end
end

-- Sends the ESP packets that carried the last exchange of this stream once more; with `alter` under sequence numbers
-- that the device has not seen, so that their integrity check value is wrong. FAIL if the device answers them.
function Test:expect_no_reaction(c, alter, message)
  rig.wait(self.quiet) -- the last acknowledgements are on their way
  rig.ipsec { verb = "mark" }
  c:probe()
  rig.wait(self.quiet)
  local before = rig.ipsec { verb = "count" }
  rig.wait(self.quiet)
  if before.esp_out == 0 or rig.ipsec({ verb = "count" }).esp_in ~= before.esp_in then
    self:inconclusive("the device sends by itself, or nothing was seen: what follows a repeated packet could not be told")
  end
  local sent = rig.ipsec { verb = "resend", alter = alter }
  rig.wait(self.quiet)
  local after = rig.ipsec { verb = "count" }
  if after.esp_in ~= before.esp_in then
    self:fail(message, "nothing: the packets are dropped below TCP",
              string.format("%d ESP packets in answer to %d of the tester's", after.esp_in - before.esp_in, sent.frames))
  end
  -- What is sent in this way does arrive: the device repeats its answer to a repeated request of IKEv2.
  rig.ipsec { verb = "resend", ike = true }
  local deadline = rig.now() + self.reaction
  repeat
    rig.wait(self.round_trip + 0.02)
    if rig.ipsec({ verb = "count" }).responses_in > after.responses_in then
      c:probe { message = "the stream after the packets" }
      return
    end
  until rig.now() >= deadline
  self:inconclusive("nothing shows that frames which the tester repeats reach the device: it does not repeat its answer to a request of IKEv2")
end
