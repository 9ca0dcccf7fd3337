#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Conversations of valid frames in an order that no stack would send: requests, responses, segments and session messages whose STags, TOs,
# MSNs and L bits are drawn from few values, so that they meet. The sanitised audit of all of them ends with a verdict. SEED=N draws others.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
: "${SEED:=1}"

cat >"$WORK/random.lua" <<'LUA'
corpus { folder = "random", start = 1000000000, step = 0.0001 }
local state = SEED * 7919 + 11
local function draw(n)
  state = (state * 1103515245 + 12345) % 2147483648
  return (state >> 8) % n
end
local function one_of(list) return list[1 + draw(#list)] end
local function last() return draw(4) > 0 and 1 or 0 end

local function message()
  local STag, TO, data = one_of { 0xA1, 0xB2 }, one_of { 0, 8, 16, 0x9000 }, ("12345678"):rep(draw(3))
  local MSN = draw(4) == 0 and draw(5) or nil
  local kind = draw(8)
  if kind == 0 then
    return rdmap.read_request { SinkSTag = STag, SinkTO = TO, RDMARDSZ = 8 * draw(3), SrcSTag = 1, SrcTO = 0, L = last(), MSN = MSN }
  end
  if kind <= 3 then return rdmap.read_response { STag = STag, TO = TO, data = data, L = draw(2) } end
  if kind == 4 then return rdmap.write { STag = STag, TO = TO, data = data, L = draw(2) } end
  if kind == 5 then return rdmap.send { data = data, L = draw(2), MSN = MSN, MO = draw(3) == 0 and 8 or nil } end
  if kind == 6 then return rdmap.atomic_request { RequestId = draw(3), STag = 1, L = last() } end
  return draw(3) == 0 and rdmap.terminate {} or rdmap.atomic_response { RequestId = draw(3), Value = 1, L = last() }
end

for n = 1, 600 do
  capture { name = "tcp-" .. n, about = "random messages over TCP", run = function()
    local t = talk {}
    t:open {}
    for _ = 1, 12 do one_of({ t.i, t.r }):send(message()) end
    t:finish()
  end }
end

local codes = { "Initiate", "Accept", "Reject", "Terminate", "Enhanced Initiate", "Enhanced Accept", "Enhanced Reject" }
for n = 1, 300 do
  capture { name = "sctp-" .. n, about = "random messages over SCTP", run = function()
    local a = association { draft = n % 3 == 0 }
    a:open()
    for _ = 1, 14 do
      local from, kind = one_of { a.initiator, a.responder }, draw(6)
      if kind <= 1 and n % 3 ~= 0 then from:control(one_of(codes))
      elseif kind == 2 then from:sack()
      elseif kind == 3 then from.tsn = from.tsn + draw(3) - 1
      else from:send(message()) end
    end
    a:close()
  end }
end
LUA
sed -i "s/SEED \* 7919/$SEED * 7919/" "$WORK/random.lua"
expect 0 "the captures" "$WARPCHECK" gen --corpus "$WORK/made" "$WORK/random.lua"
captures=$(find "$WORK/made/random" -name '*.pcap*' | wc -l)
holds "there are some: $captures" test "$captures" -gt 0
expect "1 4" "the audit ends with a verdict" "$WARPCHECK_ASAN" audit --format jsonl --findings-only "$WORK"/made/random/*.pcap*
holds "nothing of the sanitisers: $(grep -m 1 -E 'runtime error|ERROR: ' "$WORK/stderr")" bash -c "! grep -qE 'runtime error|ERROR: ' '$WORK/stderr'"
holds "each was judged" jq -es --argjson captures "$captures" '[.[] | select(.type == "capture")] | length == $captures and all(.[]; .status == "whole")' "$WORK/stdout"
finish
