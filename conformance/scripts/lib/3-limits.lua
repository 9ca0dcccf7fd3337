-- SPDX-License-Identifier: BSD-2-Clause
--
-- How much of something the device can have: by its profile, its upper tester, and what was measured.

-- The IRD ("ird") or ORD ("ord") that the device can have at most, by its profile and its upper tester.
function Test:depth_most(which)
  local most, reported = rig.capability(which), self:traits()[which .. "_max"]
  most = math.type(most) == "integer" and most or 0x3FFE
  return reported and math.min(most, reported) or most
end

-- `wanted`, or as much as the device can have.
function Test:depth(which, wanted) return math.min(wanted, self:depth_most(which)) end

-- Messages that any device takes at once, for checks that are about something else: the last of them are Reads of no
-- octets, as many as it has places for (one at least), with these numbers as SinkSTag; Writes of no octets come before
-- them. Also returns the number of the first Read.
function Test:empty_messages(count)
  local first, messages = count + 1 - math.max(1, self:depth("ird", count)), {}
  for i = 1, count do messages[i] = i >= first and empty_read(i) or rdmap.write { STag = 0, TO = 0, data = "" } end
  return messages, first
end

-- Octets of Private Data that its ULP takes at most: no more than `most`.
function Test:private_data_most(most)
  for _, given in pairs { stated = rig.capability("mpa.private_data"), reported = self:traits().private_data_max } do
    if math.type(given) == "integer" then most = math.min(most, given) end
  end
  return most
end

-- The kinds of RTR messages that the device has, as its upper tester says: all of them where it says nothing.
function Test:rtr_kinds()
  local kinds = self:traits().rtr
  return kinds and #kinds > 0 and kinds or { "send", "write", "read" }
end

-- Does it have this one? "send", "write" or "read".
function Test:has_rtr(kind)
  for _, one in ipairs(self:rtr_kinds()) do
    if one == kind then return true end
  end
  return false
end

-- How long the device's receives are where a check asks for `wanted` octets: so long, but for a device whose receives
-- all have one length, whatever is asked for, as its upper tester says (`receive_octets` of its capabilities).
function Test:receive_length(wanted) return math.tointeger(self:traits().receive_octets) or wanted end

-- A Send of so many octets, in segments of `size` (1400): its frames. The MSN is the next one.
function Connection:send_frames(octets, size)
  local data, msn, frames = pattern(octets), self.msn[0], {}
  size = size or 1400
  for at = 0, math.max(octets - 1, 0), size do
    frames[#frames + 1] = rdmap.send { MSN = msn, MO = at, data = data:sub(at + 1, at + size), L = at + size >= octets and 1 or 0 }
  end
  return table.unpack(frames)
end

-- SKIP where a check asks the device for deeper queues than it has, or for an RTR message that it does not have.
function Test:need_limits(config)
  for _, kind in ipairs(config and config.rtr or {}) do
    if not self:has_rtr(kind) then self:skip("needs the " .. kind .. " as RTR, which the device does not have") end
  end
  local receive = config and math.tointeger(config.receive_octets)
  if receive and receive > self:receive_length(receive) then
    self:skip(string.format("needs a receive of %d octets, but the device's all have %d", receive, self:receive_length(receive)))
  end
  for _, which in ipairs { "ird", "ord" } do
    local wanted = config and config[which]
    if math.type(wanted) == "integer" and wanted < 0x3FFE and wanted > self:depth_most(which) then
      self:skip(string.format("needs %s of %d or more, but the device has %s = %d", which, wanted, which, self:depth_most(which)))
    end
  end
end
