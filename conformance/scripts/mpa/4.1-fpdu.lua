-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5044 4.1: ULPDU_Length, pad and CRC field of an FPDU.

check {
  id = "MPA-4.1-04",
  role = "both",
  sandwich = "startup",
  purpose = "pad octets may hold anything, as long as the CRC is right",
  run = function(t)
    local c = t:open_with_framing()
    c:send(fpdu(rdmap.send { data = "x" }, { pad = "\255\255\255" }))
    c:expect_accepted({ "x" }, "a pad of FF FF FF that is in the CRC")
  end,
}

check {
  id = "MPA-4.1-05",
  role = "both",
  purpose = "pad octets are part of what the CRC covers",
  run = function(t)
    local c = t:open_with_framing()
    local crc = c:crc_of(rdmap.send { data = "x" })
    c:send(fpdu(rdmap.send { data = "x" }, { pad = "\1\0\0", crc_value = crc }))
    c:expect_crc_error("a pad of 01 00 00 with the CRC of a zero pad")
    if rig.has_upper_tester() then t:expect_deliveries(c, {}, "an FPDU with a wrong CRC is not delivered") end
  end,
}

check {
  id = "MPA-4.1-07",
  role = "both",
  sandwich = "startup",
  purpose = "the pad is skipped by ULPDU_Length, for all four residues",
  judges = { "reads", "framing" },
  run = function(t)
    local c = t:open_with_framing()
    c:send(rdmap.send {}, rdmap.send { data = "1" }, rdmap.send { data = "22" }, rdmap.send { data = "333" },
           empty_read(7))
    c:expect(rdmap.read_response { STag = 7 }, { message = "a Read Request after pads of 0, 3, 2 and 1 octets" })
    c:expect_accepted({ "", "1", "22", "333" }, "Sends with pads of 0, 3, 2 and 1 octets")
    c:finish()
    t:receives_all_lengths()
  end,
}

check {
  id = "MPA-4.1-11",
  role = "both",
  sandwich = "startup",
  purpose = "without agreed CRCs the CRC field is not looked at",
  run = function(t)
    local c = t:open_with_framing { crc = false }
    c:send(fpdu(empty_read(7),
                { crc_value = 0xEFBEADDE }))
    c:expect(rdmap.read_response { STag = 7 }, { message = "C = 0 on both sides: the CRC field DE AD BE EF is not looked at" })
    c:send(fpdu(rdmap.send { data = "x" }, { crc_value = 1 }))
    c:expect_accepted({ "x" }, "C = 0 on both sides: the CRC field is not looked at")
  end,
}

check {
  id = "MPA-4.1-12",
  role = "both",
  purpose = "ULPDU_Length 0 and 65535: an error or not looked at, but the device stays sane",
  run = function(t)
    local ignored, refused
    for _, length in ipairs { 0, 65535 } do
      local c = t:open_with_framing()
      if length == 0 then
        c:send("\0\0\0\0" .. string.pack("<I4", wire.crc32c("\0\0\0\0")))
      else
        c:send(rdmap.write { STag = UNKNOWN_STAG, TO = 0, data = string.rep("w", length - 14) })
      end
      local alive, got = c:alive()
      if alive then
        ignored = true
      elseif fits(tcp.closed(), got) or (is_terminate(got)) then
        refused = refused or (length == 0 or got.Layer == 2)
      else
        t:fail("an FPDU with ULPDU_Length " .. length, "a Terminate, FIN or RST, or the next FPDU is taken", describe(got))
      end
      c.tcp:close()
    end
    t:ambiguous((refused or not ignored) and "A: a length outside the legal range is an error"
                or "B: it is ignored, as no reaction is defined")
  end,
}
