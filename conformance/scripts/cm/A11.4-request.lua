-- SPDX-License-Identifier: BSD-2-Clause
--
-- What a server makes of the Private Data of a REQ (Annex A11.2, A11.4).
defaults { sandwich = "cm", llp = "cm" }

-- The least MinV that the server rejects: it is above all that the server supports. 15 unless a lower one is rejected.
local function least_rejected(t)
  for minor = 1, 14 do
    local got = t:cm_insist({ MinV = minor })
    if got.name == "REJ" then return minor end
  end
  return 15
end

-- Versions that the server knows: MinV 0, those that it accepts by default, and with an upper tester those up
-- to 2.
local function versions(t)
  if not t:cm_can_configure { minor = 2 } then
    for minor = 0, least_rejected(t) - 1 do t:cm_expect_accept({ MinV = minor }, "a REQ with version 0." .. minor) end
    return nil
  end
  for minor = 0, 2 do t:cm_expect_accept({ MinV = minor }, "a REQ with MinV " .. minor .. " to a server with MinV 2") end
  return true
end

check {
  id = "CA11-3",
  also = { "CA11-3.1.2", "A11-TXT-01" },
  purpose = "a server takes every MinV up to its own",
  run = function(t) versions(t) end,
}

check {
  id = "A11-AMB-09",
  purpose = "which minor versions compatibility binds",
  run = function(t)
    if not versions(t) then t:ambiguous("A: compatibility reduces to accepting MinV 0, the only version") end
    t:cm_expect_code({ MinV = 3 }, { 2 }, "a REQ with MinV 3 to a server with MinV 2", true)
    t:ambiguous("B: it binds every MinV up to the one that the server supports")
  end,
}

check {
  id = "A11-TXT-05",
  frees = true,
  purpose = "other CM messages, such as an MRA, may come before the answer",
  run = function(t)
    t:cm_can_configure { mra = true }
    local got = t:cm_ask { consumer = "data" }
    if got.mras > 0 then t:note("the device sent " .. got.mras .. " MRA before its answer") end
    if got.name ~= "REP" and got.name ~= "REJ" then t:fail("a good REQ", "REP or REJ, perhaps after MRAs", cm.describe(got)) end
  end,
}

-- Ports of clients that no other check has.
local PORT <const> = 49500

check {
  id = "A11-TXT-06",
  purpose = "the 56 octets of consumer data are the ULP's, and reach it unchanged",
  run = function(t)
    for n, octets in ipairs { 56, 20, 4, 3, 2, 1, 0 } do -- each less than the one before
      local data, port = ("\xC5\x3A\x91\xFF"):rep(14):sub(1, octets), PORT + n
      t:cm_expect_accept({ consumer = data, SourcePort = port }, "a REQ with " .. octets .. " octets of consumer data", true)
      if rig.has_upper_tester() then
        local event = t:cm_request_event(port)
        t:equal("the consumer data that the ULP is told of, of " .. octets .. " octets", hex(data), cm.event_data(event))
      end
    end
  end,
}

check {
  id = "CA11-2",
  purpose = "a REQ with another MajV is rejected",
  run = function(t)
    for _, major in ipairs { 1, 15 } do t:cm_expect_reject({ MajV = major }, "a REQ with MajV " .. major) end
  end,
}

check {
  id = "CA11-3.1.1",
  purpose = "a REQ with a MinV above the server's is rejected",
  run = function(t)
    local least = least_rejected(t)
    for minor = least, 15 do
      t:cm_expect_reject({ MinV = minor }, "a REQ with MinV " .. minor .. ", where " .. least .. " is rejected")
    end
  end,
}

check {
  id = "CA11-4",
  purpose = "a REQ whose IPV the server does not support is rejected",
  run = function(t)
    for _, version in ipairs { 0, 5, 7, 15 } do t:cm_expect_reject({ IPV = version }, "a REQ with IPV " .. version) end
    local six = { IPV = 6, Source = cm.address("2001:db8::1"), Destination = cm.address("2001:db8::2") }
    local four = { IPV = 4, Source = cm.address("192.0.2.1"), Destination = cm.address("192.0.2.2") }
    if t:cm_can_configure { families = { 4 } } then
      t:cm_expect_reject(six, "a REQ with IPV 6 to a server that supports IPv4 alone")
    end
    if t:cm_can_configure { families = { 6 } } then
      t:cm_expect_reject(four, "a REQ with IPV 4 to a server that supports IPv6 alone")
    end
    -- A server of both may refuse such addresses, and not the version.
    if t:cm_can_configure { families = { 4, 6 } } then
      for _, fields in ipairs { six, four } do
        t:cm_expect_code(fields, { 4, 5, 6 }, "a REQ with IPV " .. fields.IPV .. " to a server that supports both IP versions")
      end
    end
  end,
}

check {
  id = "A11-TXT-11",
  purpose = "Res is ignored on receive",
  run = function(t)
    for _, res in ipairs { 1, 6, 15 } do t:cm_expect_accept({ Res = res }, "a REQ with Res " .. res, true) end
  end,
}
