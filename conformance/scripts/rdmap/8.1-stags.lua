-- SPDX-License-Identifier: BSD-2-Clause
--
-- RFC 5040 8.1.1: STags that are revoked, and how STags are given out.
defaults { llp = "any" }

-- The ULP revokes the STag: what its memory holds then.
local function revoke(t, m)
  t.dut:invalidate { stag = m.STag }
  return t.dut:mem_read { stag = m.STag }.data
end

local function expect_nothing_more(t, c, m, snapshot, message)
  c:expect_terminate("DDP_INVALID_STAG", { next = true, warn = { "DDP_NOT_ASSOCIATED" }, message = message })
  t:equal("memory after the revocation: " .. message, snapshot, t.dut:mem_read { stag = m.STag }.data)
end

check {
  id = "RDMAP-8.1.1-08",
  role = "both",
  purpose = "once the ULP has revoked an STag nothing is written to its memory",
  run = function(t)
    local c = t:open()
    local m = t:memory()
    for i = 0, 19 do c:send(m:write(i * 8, "before!!")) end
    c:probe()
    local snapshot = revoke(t, m)
    for i = 20, 39 do c:send(m:write(i * 8, "behind!!")) end
    expect_nothing_more(t, c, m, snapshot, "a Write to an STag that was revoked")
    -- Writes that the device has, placed or not, and one that it has in part: nobody waits until they are done.
    c = t:open()
    m = t:memory()
    for i = 0, 19 do c:send(m:write(i * 8, "in time?")) end
    c:send(m:write(160, "a part  ", { L = 0 }))
    rig.wait(2 * t.round_trip)
    snapshot = revoke(t, m)
    c:send(m:write(168, "the rest"))
    for i = 22, 39 do c:send(m:write(i * 8, "behind!!")) end
    expect_nothing_more(t, c, m, snapshot, "Writes that are under way when their STag is revoked")
  end,
}

-- 1000 STags, or `count`, as they are given out.
local function stags(t, count)
  local out = {}
  for i = 1, count or 1000 do
    out[i] = t.dut:reg_mr { length = 16 }.stag
    t.dut:dereg { stag = out[i] }
  end
  return out
end

check {
  id = "RDMAP-8.1.1-11",
  purpose = "STags are hard to foresee, from others and from the start before",
  run = function(t)
    local list, foreseen = stags(t), 0
    for i = 4, #list do
      local a, b, new = list[i - 2], list[i - 1], list[i]
      local step = (new - b) & 0xFFFFFFFF
      local rotated = ((b << 1) | (b >> 31)) & 0xFFFFFFFF
      if step == 1 or step == 0x100 or step == ((b - a) & 0xFFFFFFFF) or new == rotated then foreseen = foreseen + 1 end
    end
    if foreseen > #list // 20 then
      t:fail("STags that the three before foretell", "at most 5 %", string.format("%d of %d", foreseen, #list - 3))
    end
    if not t:command("reset").ok then return end
    local _, _, port = rig.addresses()
    t.dut:listen { port = port }
    local again, same = stags(t, 16), 0
    for i, stag in ipairs(again) do if stag == list[i] then same = same + 1 end end
    if same > 1 then
      t:fail("STags after the device's start that its start before foretells", "at most 1", string.format("%d of %d", same, #again))
    end
  end,
}

check {
  id = "RDMAP-8.1.1-12",
  purpose = "STags are taken from all of their 32 bits",
  run = function(t)
    local seen, count = {}, 0
    for _, stag in ipairs(stags(t)) do
      if not seen[stag >> 28] then seen[stag >> 28], count = true, count + 1 end
    end
    if count < 12 then t:warn("values of the first four bits of 1000 STags", "at least 12", tostring(count)) end
  end,
}
