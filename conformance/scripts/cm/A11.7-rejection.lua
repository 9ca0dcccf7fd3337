-- SPDX-License-Identifier: BSD-2-Clause
--
-- Rejections by the service: reason, ARI, and which field is named (Annex A11.6, A11.7).
defaults { sandwich = "cm", llp = "cm" }

-- The REJ of the service to this REQ; nil where the device accepts it, which it may if `optional`.
local function rejection(t, fields, message, optional)
  local got = optional and t:cm_ask(fields, { again = true }) or t:cm_expect_reject(fields, message)
  if got.silent then t:fail(message, "REP or REJ", got.name) end
  return got.name == "REJ" and got or nil
end

-- The same, for checks of the ARI: nil where the reason is another one, which oA11-1 judges.
local function consumer_rejection(t, fields, message, optional)
  local got = rejection(t, fields, message, optional)
  return got and got.Reason == cm.CONSUMER and got or nil
end

-- The same where a REJ is mandatory: SKIP where its reason is another one, or where it has no ARI.
local function ari_rejection(t, fields, message)
  local got = consumer_rejection(t, fields, message)
  if not got then t:skip("the device rejects by another reason than 28: there is no ARI of the service") end
  if got.InfoLength == 0 then t:skip("the device's Reject Info Length is 0: formally there is no ARI (A11-AMB-07)") end
  return got
end

local function ari(got, form)
  return string.format(form or "ARI %02x %02x, length %d", got.ari.Layer, got.ari.Code, got.ari.SuggestedLength)
end

check {
  id = "oA11-1",
  purpose = "Table 1 parameters are refused by reason 28 with an ARI of the service",
  run = function(t)
    for _, bad in ipairs(t:cm_bad_fields()) do
      local got = rejection(t, bad[1], bad[3], bad[4])
      if got and (got.Reason ~= cm.CONSUMER or got.ari.Layer ~= 0 or got.ari.Code > 6 or got.InfoLength == 1) then
        t:fail(bad[3], "REJ with reason 28, ARI 00 00 to 00 06, Reject Info Length 2 or more", cm.describe(got))
      end
      local again = got and got.again
      if again and again.name == "REJ" and (again.Reason ~= got.Reason or got.InfoLength > 0 and again.InfoLength == 0) then
        t:fail(bad[3] .. ", which comes once more", cm.describe(got) .. ", as the first time", cm.describe(again))
      end
    end
  end,
}

check {
  id = "oA11-1-02",
  purpose = "a destination that is not the server's is refused by code 06, if it is",
  run = function(t)
    local bad = t:cm_bad_fields()[4]
    t:cm_expect_code(bad[1], { 6 }, bad[3])
  end,
}

check {
  id = "oA11-1-03",
  purpose = "addresses that do not fit IPV are refused by code 04 or 05, if they are",
  run = function(t)
    local list = t:cm_bad_fields()
    if not list[5] then t:skip("the device is reached over IPv6: no address has bits that IPV 6 does not allow") end
    t:cm_expect_code(list[5][1], { 4 }, list[5][3])
    t:cm_expect_code(list[6][1], { 5 }, list[6][3])
  end,
}

check {
  id = "A11-TXT-19",
  purpose = "octet 0 of the ARI says who rejects: the service or the ULP",
  run = function(t)
    local got = ari_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    t:equal("the rejection layer of the service", 0, got.ari.Layer)
    if t.cm_unreachable or not t:cm_can_configure { answer = "reject" } then return end
    got = consumer_rejection(t, {}, "a REQ that the ULP refuses")
    if got and got.InfoLength > 0 then t:equal("the rejection layer of the ULP", 1, got.ari.Layer) end
    got = consumer_rejection(t, { MajV = 1 }, "a REQ with MajV 1, after one that the ULP has refused")
    if got and got.InfoLength > 0 then t:equal("the rejection layer of the service, after a rejection by the ULP", 0, got.ari.Layer) end
  end,
}

check {
  id = "CA11-9",
  purpose = "a rejection by the service has the form of A11 Table 4",
  run = function(t)
    local got = ari_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    local length = got.ari.SuggestedLength
    if got.ari.Layer ~= 0 or got.ari.Code > 1 or length > 68 then
      t:fail("a REQ with MajV 1", "ARI 00 01 or 00 00, a length up to 68", ari(got))
    end
    local least = length > 0 and 4 + length or 2
    if got.InfoLength < least then
      t:fail("a REQ with MajV 1", "Reject Info Length of at least " .. least, tostring(got.InfoLength))
    end
  end,
}

check {
  id = "CA11-10",
  purpose = "the service's code is one of A11 Table 5",
  run = function(t)
    ari_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    for _, bad in ipairs(t:cm_bad_fields()) do
      local got = consumer_rejection(t, bad[1], bad[3], bad[4])
      if got and got.ari.Layer == 0 and got.ari.Code > 6 then t:fail(bad[3], "a code from 00 to 06", ari(got)) end
    end
  end,
}

check {
  id = "CA11-10-02",
  purpose = "the service's code stands in octet 1 of the ARI",
  run = function(t)
    local got = ari_rejection(t, { IPV = 5 }, "a REQ with IPV 5")
    local none = got.ari.Code == 0 and got.ari.SuggestedLength == 0
    if got.ari.Layer ~= 0 or not (got.ari.Code == 3 or none) then
      t:fail("a REQ with IPV 5", "ARI 00 03, or 00 00 without a suggested value", ari(got))
    end
  end,
}

check {
  id = "A11-TXT-20",
  purpose = "the code names the one field that is bad",
  run = function(t)
    ari_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    for _, bad in ipairs(t:cm_bad_fields()) do
      local got = consumer_rejection(t, bad[1], bad[3], bad[4])
      if got and got.ari.Layer == 0 and got.ari.Code <= 6 and got.ari.Code ~= 0 and got.ari.Code ~= bad[2] then
        t:fail(bad[3], string.format("code %02x or 00", bad[2]), ari(got))
      end
    end
  end,
}

-- A suggested value that a server gives, on its own or because it is configured so; nil: none.
local function suggestion(t, fields, message)
  t:cm_can_configure { suggest = true }
  local got = consumer_rejection(t, fields, message)
  return got and got.ari.Layer == 0 and got.ari.SuggestedLength > 0 and got or nil
end

local suggestions = {
  { { MajV = 1 }, "a REQ with MajV 1" },
  { { MinV = 15 }, "a REQ with MinV 15" },
  { { IPV = 5 }, "a REQ with IPV 5", { [0x04] = "A", [0x06] = "A", [0x40] = "B", [0x60] = "B" } },
}

check {
  id = "oA11-2",
  also = { "A11-TXT-21" },
  purpose = "a suggested value stands in octets 4 and on, and its length in octet 2",
  run = function(t)
    local seen = t.id == "A11-TXT-21" -- a server need not suggest anything
    for _, case in ipairs(suggestions) do
      local got = suggestion(t, case[1], case[2])
      if got then
        seen = true
        local length = got.ari.SuggestedLength
        if length > 68 or (got.InfoLength > 0 and got.InfoLength < 4 + length) then
          t:fail(case[2], "a length up to 68, and Reject Info Length of at least 4 and that", ari(got) .. ", Reject Info Length " .. got.InfoLength)
        end
        -- Table 4 says nothing of the value itself. Where a value that fits stands in octet 3, and none in octet 4, it
        -- begins too soon.
        local fits = case[3] or {}
        if fits[got.ari.Filler] and not fits[got.value:byte(1)] then
          t:fail(case[2], "a suggested value from octet 4 of the ARI on", string.format("%02x in octet 3, and %s from octet 4 on", got.ari.Filler, hex(got.value)))
        end
      end
    end
    if not seen then t:skip("the device suggests no value") end
  end,
}

check {
  id = "A11-AMB-06",
  frees = true,
  purpose = "how a suggested value of 4 bits is written",
  run = function(t)
    local case = suggestions[3]
    local got = suggestion(t, case[1], case[2])
    if not got then t:skip("the device suggests no value for IPV") end
    local reading = case[3][got.value:byte(1)]
    if not reading then t:skip("the device suggests " .. hex(got.value) .. ", which is no IP version in either form") end
    t:ambiguous(reading == "A" and "A: the suggested 4-bit value is the low nibble of one octet" or
                "B: it is the whole octet of Table 1")
  end,
}

check {
  id = "A11-TXT-22",
  frees = true,
  purpose = "octet 3 of the ARI is a filler",
  run = function(t)
    local got = ari_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    if got.ari.Filler ~= 0 then t:note(string.format("the filler is %02x", got.ari.Filler)) end
  end,
}

check {
  id = "A11-TXT-24",
  purpose = "an unspecified rejection suggests no value",
  run = function(t)
    t:cm_can_configure { unspecified = true }
    local got = consumer_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    if not got or got.ari.Layer ~= 0 or got.ari.Code ~= 0 then t:skip("the device names each reason: it sends no code 00") end
    t:equal("the length of a suggested value with code 00", 0, got.ari.SuggestedLength)
  end,
}

local function everything_bad(t, version)
  local list = t:cm_bad_fields()
  local fields = { IPV = 5, Destination = list[4][1].Destination, Source = ("\xFF"):rep(16) }
  for name, value in pairs(version) do fields[name] = value end
  return fields
end

check {
  id = "CA11-11",
  purpose = "versions are verified before any other field",
  run = function(t)
    local major = t:cm_expect_code(everything_bad(t, { MajV = 1 }), { 1 }, "a REQ with MajV 1, and every other field bad", true)
    local minor = t:cm_expect_code(everything_bad(t, { MinV = 15 }), { 2 }, "a REQ with MinV 15, and every other field bad", true)
    if not (major or minor) then t:skip("the device rejects by another reason than 28: no field is named") end
  end,
}

check {
  id = "A11-TXT-25",
  purpose = "of several bad fields any may be named, versions excepted",
  run = function(t)
    local got = t:cm_expect_code(everything_bad(t, {}), { 3, 4, 5, 6 }, "a REQ with IPV 5 and bad addresses", true)
    if not got then t:skip("the device rejects by another reason than 28: no field is named") end
    local list = t:cm_bad_fields()
    if list[5] then
      t:cm_expect_code({ Source = list[5][1].Source, Destination = list[6][1].Destination }, { 4, 5, 6 },
                       "a REQ with IPV 4 and addresses of 128 bits")
    end
  end,
}

check {
  id = "A11-AMB-03",
  purpose = "which reason a rejection of a bad version or IPV has",
  run = function(t)
    local only_28 = true
    for i = 1, 3 do
      local bad = t:cm_bad_fields()[i]
      only_28 = t:cm_expect_reject(bad[1], bad[3]).Reason == cm.CONSUMER and only_28
    end
    t:ambiguous(only_28 and "B: only reason 28 with ARI is the rejection meant" or "A: any REJ is a rejection")
  end,
}

check {
  id = "A11-AMB-04",
  purpose = "whether code 00 may stand for a version",
  run = function(t)
    local got = t:cm_expect_code({ MajV = 1 }, { 1 }, "a REQ with MajV 1", true)
    if not got then t:skip("the device rejects by another reason than 28: no field is named") end
    t:ambiguous(got.ari.Code == 0 and "A: ARI 00 may stand for a version mismatch too" or
                "B: a version mismatch has to be named by 01 or 02")
  end,
}

check {
  id = "A11-AMB-05",
  purpose = "which of two bad versions is named",
  run = function(t)
    local got = t:cm_expect_code({ MajV = 1, MinV = 15 }, { 1, 2 }, "a REQ with MajV 1 and MinV 15", true)
    if not got then t:skip("the device rejects by another reason than 28: no field is named") end
    if got.ari.Code == 0 then t:skip("the device names neither: code 00") end
    t:ambiguous(got.ari.Code == 2 and "B: either wrong field may be named, 01 or 02" or "A: MajV is judged first, code 01")
  end,
}

check {
  id = "A11-AMB-07",
  purpose = "what Reject Info Length counts",
  run = function(t)
    local got = consumer_rejection(t, { MajV = 1 }, "a REQ with MajV 1")
    if not got then t:skip("the device rejects a bad version by another reason than 28") end
    if got.InfoLength == 1 or got.InfoLength > 72 then
      t:fail("a REQ with MajV 1", "Reject Info Length 0, or from 2 to 72", tostring(got.InfoLength))
    end
    t:ambiguous(got.InfoLength == 0 and "C: it stays 0" or got.InfoLength == 72 and "B: it is the fixed 72" or
                "A: Reject Info Length counts the ARI octets used")
  end,
}

check {
  id = "A11-AMB-08",
  purpose = "which IPv6 addresses contradict IPV 6",
  run = function(t)
    local _, dut = rig.addresses()
    local own, family = cm.address(dut)
    local destination = family == 6 and own or cm.address("2001:db8::2")
    local refused, taken = 0, 0
    for _, address in ipairs { "::", "::ffff:c000:201", "::c000:201" } do
      local got = t:cm_expect_code({ IPV = 6, Source = cm.address(address), Destination = destination }, { 3, 4, 5, 6 },
                                   "a REQ with IPV 6 and the source " .. address)
      if got and got.name == "REJ" and got.ari.Code == 3 then t:skip("the device supports IPv4 alone") end
      if got and (got.name == "REP" or got.ari.Code == 5 or got.ari.Code == 6) then taken = taken + 1 end
      if got and got.name == "REJ" and got.ari.Code == 4 then refused = refused + 1 end
    end
    if refused + taken == 0 then t:skip("the device refuses each of them without a reason: code 00") end
    t:ambiguous(refused == 0 and "A: only the upper 96 bits tell the family, so these addresses fit IPV 6" or
                "B: IPv4-mapped and unspecified addresses contradict IPV 6")
  end,
}

check {
  id = "A11-AMB-10",
  purpose = "whether a server has to look at addresses",
  run = function(t)
    local list, refused = t:cm_bad_fields(), 0
    for i = 4, #list do
      local got = t:cm_expect_code(list[i][1], { list[i][2] }, list[i][3])
      if not got or got.name == "REJ" then refused = refused + 1 end
    end
    t:ambiguous(refused < #list - 3 and "A: a supporting server may accept without looking at the addresses" or
                "B: it has to refuse bad ones with codes 04 to 06")
  end,
}
