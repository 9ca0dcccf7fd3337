-- SPDX-License-Identifier: BSD-2-Clause
--
-- Input for a fuzzer, or for a test of one's own: FPDUs out of random fields, a few of them wrong on purpose. Another
-- --seed, other frames; the same seed, the same ones. `arg.count` says how many.
--
--   warpcheck gen --seed 7 --set count=3 --hex generator/examples/seeds.lua
--   warpcheck gen --seed 7 --c generator/examples/seeds.lua -o seeds.h

local makers = {
  function(n) return rdmap.send { MSN = n, data = distinct(math.random(0, 64)) } end,
  function() return rdmap.write { STag = math.random(0, 0xFFFFFFFF), TO = math.random(0), data = distinct(math.random(0, 64)) } end,
  function(n)
    return rdmap.read_request { MSN = n, SinkSTag = math.random(0, 0xFFFFFFFF), SinkTO = math.random(0),
                                RDMARDSZ = math.random(0, 0xFFFFFFFF), SrcSTag = 1, SrcTO = 0 }
  end,
  function(n) return rdmap.send { MSN = n, Opcode = math.random(0, 15), DV = math.random(0, 3), RV = math.random(0, 3) } end,
}

local frames = {}
for n = 1, tonumber(arg.count or "16") do
  local frame = makers[math.random(#makers)](n)
  if math.random(4) == 1 then frame = fpdu(frame, { crc_flip = 1 << math.random(0, 31) }) end
  if math.random(8) == 1 then frame = fpdu(frame.inner or frame, { length = math.random(0, 0xFFFF) }) end
  frames[n] = frame
end
return frames
