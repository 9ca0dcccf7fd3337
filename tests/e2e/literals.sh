#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/literals.sh accepts this tree; it rejects a stream id, a depth, a number of streams, a segment size, an STag, a number of receives,
# octets and rounds that stand as numbers in a check without a reason, a reason without such a place, and a line without a reason.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/literals.sh
says '^0 wrong; [0-9]+ numbers in checks, each with its reason$'

tree=$WORK/tree
mkdir "$tree"
cp --parents -rt "$tree" conformance/scripts tools/literals.tsv
expect 0 "a copy of it" tools/literals.sh "$tree"

# planted LINE KIND: a check with this line in it is rejected.
planted() {
	local script=conformance/scripts/sctp/planted.lua
	printf '%s\n' "check { id = \"X-1\", run = function(t)" "  $1" "end }" >"$tree/$script"
	expect 1 "$1" tools/literals.sh "$tree"
	says "^$script:2: $2 as a number: "
	rm "$tree/$script"
}
planted 'a:probe(9)' sid
planted 'a:control(63, "Initiate")' sid
planted 'local b = t:sctp_open { sid = 5 }' sid
planted 'for _, sid in ipairs(sids) do if sid == 5 then return end end' sid
planted 'local a = t:associate { tester = { outbound = 64, inbound = 64 } }' streams
planted 'local c = t:open { dut = { ird = 64 } }' depth
planted 'local c = t:open { mss = 1200 }' size
planted 'local c = t:open { dut = { receives = 99 } }' receives
planted 'for i = 1, 64 do streams[i] = t:open() end' count
planted 'for n = 1, 9 do streams[n] = t:open() end' round
planted 'local buffer = { octets = 77 }' octets
planted 'c:send(rdmap.write { STag = 0x100, TO = 0, data = "octets" })' stag

cp tools/literals.tsv "$WORK/kept"
printf 'sid\ta:probe[(]9[)]\tIt is nice.\n' >>"$tree/tools/literals.tsv"
expect 1 "a reason without a place" tools/literals.sh "$tree"
says 'no place in the scripts is this: a:probe'
{ cat "$WORK/kept"; printf 'sid\t(sid = 0|.*)\t\n'; } >"$tree/tools/literals.tsv"
expect 1 "a line without a reason" tools/literals.sh "$tree"
says 'kind, expression and reason were expected'
finish
