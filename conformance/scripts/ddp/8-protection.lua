-- SPDX-License-Identifier: BSD-2-Clause
-- RFC 5041 8: which memory a stream reaches.

defaults { llp = "any" }

local ASSOCIATED = { warn = { "DDP_INVALID_STAG" }, message = "a Write to an STag that is not associated with the stream" }

local function not_associated(t, c, m)
  c:send(m:write(0, "12345678"))
  c:expect_terminate("DDP_NOT_ASSOCIATED", ASSOCIATED)
  m:check("nothing is placed from a stream that the STag is not associated with")
end

local function placed(t, c, m, data)
  c:send(m:write(16, data))
  c:probe { message = "a Write of a stream that the STag is associated with" }
  m:patch(16, data)
  m:check("a Write of a stream that the STag is associated with is placed")
end

check {
  id = "DDP-8.1-01",
  purpose = "bounds are kept to the octet",
  run = function(t)
    local m = t:memory { octets = 100 }
    -- Its neighbour, or, of a device that chooses where memory is, memory somewhere else.
    local around = t:memory { octets = 100, base = m.last, optional = true } or t:memory { octets = 100 }
    for _, case in ipairs { { 92, 9 }, { -1, 1 }, { 99, 2 }, { 100, 1 }, { 97, 7 }, { 0, 128 }, { 50, 1000 } } do
      t:expect_error(m:write(case[1], pattern(case[2])), "DDP_BOUNDS",
                     string.format("%d octets at base %+d of 100", case[2], case[1]))
    end
    m:check("nothing is placed")
    around:check("nor in the memory next to it")
    local c = t:open()
    c:send(m:write(0, "0"), m:write(99, "9"))
    c:probe { message = "one octet at base +0 of 100, and one at +99" }
    m:patch(0, "0")
    m:patch(99, "9")
    m:check("the first octet and the last one are placed")
    around:check("and not in the memory next to it")
  end,
}

check {
  id = "DDP-8.2-01",
  purpose = "an STag of another Protection Domain is not reached",
  run = function(t)
    not_associated(t, t:open(), t:memory { pd = 2 })
  end,
}

check {
  id = "DDP-8.2-02",
  purpose = "an STag that is bound to one stream is not reached from another, even of the same Protection Domain",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { bound = b }
    not_associated(t, a, m)
    placed(t, b, m, "goes on")
  end,
}

check {
  id = "DDP-8.2-04",
  purpose = "Protection Domains: all streams of the domain reach the STag, others do not",
  run = function(t)
    local m = t:memory { pd = 1 }
    placed(t, t:open { dut = { pd = 1 } }, m, "first")
    placed(t, t:open { dut = { pd = 1 } }, m, "second")
    not_associated(t, t:open { dut = { pd = 2 } }, m)
    -- Two streams at once, of two domains.
    local other = t:memory { pd = 2 }
    local a, b = t:open { dut = { pd = 1 } }, t:open { dut = { pd = 2 } }
    placed(t, a, m, "beside it")
    placed(t, b, other, "of another")
    not_associated(t, a, other)
  end,
}

check {
  id = "DDP-8.2-05",
  purpose = "stream association: the stream reaches the STag, others do not",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { bound = a }
    placed(t, a, m, "of its own")
    not_associated(t, b, m)
  end,
}

check {
  id = "DDP-8.3-02",
  purpose = "the ULP revokes an STag: it is valid before, and invalid afterwards",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    placed(t, c, m, "before")
    t.dut:invalidate { stag = m.STag }
    c:expect_error(m:write(16, "afterwards"), "DDP_INVALID_STAG", "a Write to an STag that the ULP revoked")
    m:check("nothing is placed under an STag that is revoked")
  end,
}

check {
  id = "DDP-8.3.1-03",
  purpose = "a stream of one Protection Domain uses no STag of another: neither Write nor Read",
  run = function(t)
    local m = t:memory { pd = 2, data = "secret of another domain" }
    not_associated(t, t:open(), m)
    local c = t:open()
    c:expect_error(m:read(0, 16), "RDMAP_NOT_ASSOCIATED",
                   "a Read of an STag of another domain", { warn = { "RDMAP_INVALID_STAG" } })
  end,
}

check {
  id = "DDP-8.3.1-04",
  purpose = "an STag of one stream is not used by another, nor by a later connection",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { bound = a }
    not_associated(t, b, m)
    placed(t, a, m, "of its own")
    a:finish()
    a:close()
    local later = t:open()
    later:expect_error(m:write(0, "12345678"), { "DDP_NOT_ASSOCIATED", "DDP_INVALID_STAG" },
                       "a Write of a later stream to an STag of one that is over")
  end,
}

check {
  id = "DDP-8.3.1-05",
  role = "both",
  purpose = "nothing outside the buffer is reached, at none of its borders",
  run = function(t)
    local m = t:memory()
    -- Its neighbours, or, of a device that chooses where memory is, memory somewhere else.
    local below = t:memory { base = m.TO - 4096, optional = true } or t:memory()
    local above = t:memory { base = m.last, optional = true } or t:memory()
    for _, case in ipairs { { -1, 1 }, { 4096, 1 }, { 4095, 2 }, { 1 << 32, 1 }, { -(1 << 32), 1 }, { 1 << 63, 1 } } do
      t:expect_error(m:write(case[1], pattern(case[2])), { "DDP_BOUNDS", "DDP_TO_WRAP" },
                     string.format("%d octets at base %+d", case[2], case[1]))
    end
    m:check("nothing is placed")
    below:check("nor below")
    above:check("nor above")
  end,
}

check {
  id = "DDP-8.3.1-07",
  purpose = "the ULP gives the right to read, to write, both or none",
  run = function(t)
    local each = { {}, { "read" }, { "write" }, { "read", "write" } }
    for _, rights in ipairs(each) do rights.called = #rights == 0 and "none" or table.concat(rights, " and ") end
    t:each_value("rights", each, function(rights)
      local m = t:memory { access = rights, data = pattern(32) }
      local text = rights.called
      local may = {}
      for _, right in ipairs(rights) do may[right] = true end
      local c = t:open()
      c:send(m:write(100, "written"))
      if may.write then
        c:probe { message = "a Write with rights to " .. text }
        m:patch(100, "written")
      else
        c:expect_terminate(NO_WRITE_RIGHT, { message = "a Write with rights to " .. text })
      end
      m:check("memory with rights to " .. text)
      c = t:open()
      c:send(m:read(0, 32))
      if may.read then
        c:expect_response(0x51A6, 0, pattern(32), "a Read with rights to " .. text)
      else
        c:expect_terminate("RDMAP_ACCESS", { warn = { "RDMAP_INVALID_STAG" }, message = "a Read with rights to " .. text })
      end
    end)
  end,
}

--------------------------------------------------------------------------------------------------------------------
-- The ULP's interface

check {
  id = "DDP-8.3-01",
  purpose = "the ULP narrows the range of an STag: what lies outside from then on is refused",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    c:send(m:write(3000, "before"))
    c:probe { message = "a Write inside the range" }
    m:patch(3000, "before")
    m:check("a Write inside the range is placed")
    t.dut:bounds { stag = m.STag, length = 2048 }
    c:expect_error(m:write(3000, "afterwards"), { "DDP_BOUNDS", "DDP_INVALID_STAG" },
                   "a Write outside the range as it is now")
    t.dut:bounds { stag = m.STag, length = 4096 }
    m:check("nothing is placed outside the range")
  end,
}

check {
  id = "DDP-8.3-03",
  purpose = "the ULP can tell which stream an STag belongs to",
  run = function(t)
    local a, b = t:pair()
    local m = t:memory { bound = b }
    placed(t, b, m, "the stream's own")
    not_associated(t, a, m)
  end,
}

check {
  id = "DDP-8.3-04",
  purpose = "an access with an STag that is not valid on the stream is told to the ULP",
  run = function(t)
    local other = t:memory { pd = 2 }
    for _, case in ipairs { { bad_write(), "an unknown STag" },
                            { other:write(0, "12345678"), "an STag of another domain" } } do
      local c = t:open()
      local stream = t:stream_of(c)
      c:expect_error(case[1], { "DDP_INVALID_STAG", "DDP_NOT_ASSOCIATED" }, "a Write to " .. case[2])
      local event = t:await_event("error", { stream = stream })
      if not event then t:fail("a Write to " .. case[2], "the event \"error\"", "none") end
    end
  end,
}

check {
  id = "DDP-8.3.1-06",
  purpose = "the ULP registers memory under an STag, and gives it up",
  run = function(t)
    local m = t:memory()
    placed(t, t:open(), m, "registered")
    t.dut:dereg { stag = m.STag }
    t:expect_error(m:write(16, "given up"), "DDP_INVALID_STAG", "a Write to an STag that was given up")
  end,
}

check {
  id = "DDP-8.3.1-08",
  purpose = "after the ULP's revocation nothing of the buffer changes any more",
  run = function(t)
    local m = t:memory()
    local c = t:open()
    c:probe()
    for i = 1, 8 do c:send(m:write(i * 100, pattern(100, i))) end
    t.dut:invalidate { stag = m.STag }
    t.dut:mem_write { stag = m.STag, offset = 0, data = string.rep("5a", m.octets) }
    m:patch(0, string.rep("\x5A", m.octets))
    for i = 1, 8 do c:send(m:write(i * 100, pattern(100, i + 20))) end
    c:expect_terminate("DDP_INVALID_STAG", { message = "Writes to an STag that the ULP revoked" })
    m:check("memory that the ULP filled after the revocation")
  end,
}

-- That memory which its ULP may read alone is not exposed for writing: the one for reading shows that the device has
-- such memory. And none is exposed that its ULP does not have, as that of another process.
local function refuses_foreign(t)
  local function register(right, mapping)
    return t:command("reg_mr", { length = 4096, access = { "local_read", right }, mapping = mapping or "read_only", fill = 0x5A })
  end
  t:memory()
  local readable = register("remote_read")
  if not readable.ok then t:skip("the device registers no memory that is mapped read-only: " .. tostring(readable.error)) end
  local writable = register("remote_write")
  if writable.ok then t:fail("memory that is mapped read-only, for remote write", "the registration is refused", "it has STag " .. writable.stag) end
  t:note("refused: " .. tostring(writable.error))
  for _, right in ipairs { "remote_read", "remote_write" } do
    local hidden = register(right, "none")
    if hidden.ok then t:fail("addresses at which its ULP has no memory, for " .. right, "the registration is refused", "it has STag " .. hidden.stag) end
  end
end

check {
  id = "DDP-8.3.2-05",
  purpose = "memory is exposed for no more than what its ULP may do there",
  run = refuses_foreign,
}

check {
  id = "RDMAP-8.1.2-06",
  purpose = "a buffer gets an STag for what its ULP may do there alone",
  run = refuses_foreign,
}
