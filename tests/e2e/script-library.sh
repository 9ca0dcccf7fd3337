#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# docs/script-library.md names every function of the script library that a check can reach, and no other; docs/writing-checks.md
# names none that is not there. No check drops what it was given. The templates run, pass on the reference stack, and catch the defect that they name.
# shellcheck disable=SC2016 # backquotes are what is looked for
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

echo "== the order"
expect 0 "a table's keys come in their order" "$WARPCHECK" run --simulate --script tests/data/library/order.lua --format jsonl
holds "the check says so" jq -se 'any(.id == "library-order" and .verdict == "PASS")' "$WORK/stdout"

echo "== events"
expect 0 "whose an event is" "$WARPCHECK" run --simulate --script tests/data/library/accepted.lua --format jsonl
holds "the check passes" jq -se 'any(.id == "library-accepted" and .verdict == "PASS")' "$WORK/stdout"

echo "== the index"
expect 1 "a check that names what it can reach" "$WARPCHECK" run --simulate --script tests/data/library/names.lua --format jsonl
{
	jq -r 'select(.id == "library-names").actual' "$WORK/stdout" | tr ' ' '\n'
	# The methods of c.tcp have a protected metatable: the table that declares them.
	cat conformance/engine/script/*.c | sed -nE 's/^.*\{"([a-z_]+)", connection_[a-z_]+\},.*/c.tcp:\1/p; s/^.*\{"([a-z_]+)", exchange_[a-z_]+\},.*/e:\1/p'
} | LC_ALL=C sort -u >"$WORK/there"
holds "the library has 150 names or more" test "$(wc -l <"$WORK/there")" -ge 150
holds "among them methods of c, t, m, target and c.tcp, and plain functions" \
	test "$(grep -cxE 'c:expect|t:open|m:check|target:store|c\.tcp:fin|fpdu|rdmap\.send|wire\.pack|rig\.now' "$WORK/there")" -eq 9

# names_in FILE: what stands in backquotes at the beginning of a table's row, each up to its arguments.
names_in() {
	sed -nE 's/^\| (`[^|]*) \|.*/\1/p' "$1" | grep -oE '`[^`]+`' | sed -E 's/^`//; s/`$//; s/[({].*//' | LC_ALL=C sort -u
}
names_in docs/script-library.md | grep -vx 't\.dut:verb' >"$WORK/named"
holds "docs/script-library.md names no function twice" \
	test -z "$(sed -nE 's/^\| (`[^|]*) \|.*/\1/p' docs/script-library.md | grep -oE '`[^`]+`' | sed -E 's/[({].*//; s/`//g' | sort | uniq -d)"
LC_ALL=C comm -23 "$WORK/there" "$WORK/named" >"$WORK/missing"
LC_ALL=C comm -13 "$WORK/there" "$WORK/named" >"$WORK/gone"
holds "docs/script-library.md lists each of them; missing: $(paste -sd' ' "$WORK/missing")" test ! -s "$WORK/missing"
holds "and lists nothing else; not in the library: $(paste -sd' ' "$WORK/gone")" test ! -s "$WORK/gone"
tools/script-meta.pl <docs/script-library.md >"$WORK/definitions"
holds "the definitions for editors are Lua" "$B/tools/lua-syntax" "$WORK/definitions"
# Each name of the page, whosever method it is; `rtr_expected` and `null` are values.
sed -nE 's/^function ([A-Za-z_0-9.:]+)\(.*/\1/p; s/^([a-z_A-Z0-9.]+) = nil$/\1/p' "$WORK/definitions" |
	sed -E 's/^test:/t:/; s/^connection:/c:/; s/^memory:/m:/; s/^association:/a:/; s/^exchange:/e:/; s/^tcp_connection:/c.tcp:/; s/^device:/t.dut:/' |
	LC_ALL=C sort -u >"$WORK/defined"
names_in docs/script-library.md | LC_ALL=C comm -3 - "$WORK/defined" >"$WORK/differ"
holds "and have each name of the page, and no other: $(paste -sd' ' "$WORK/differ")" test ! -s "$WORK/differ"
names_in docs/writing-checks.md | grep -E '^(c|t|m|c\.tcp|wire|rig|rdmap|mpa):?[a-z_]*[:.]?' | grep -E '[:.]' |
	grep -vE '^(t\.dut|t\.role|t\.id|t\.reaction|t\.quiet|t\.large|c\.tcp|c\.msn|c\.send_framing|c\.receive_framing)' |
	LC_ALL=C comm -23 - "$WORK/there" >"$WORK/gone"
holds "docs/writing-checks.md describes no function that is not there: $(paste -sd' ' "$WORK/gone")" test ! -s "$WORK/gone"

echo "== judgements"
passes=any
expect 0 "each accepts what it says, and fails everything else" "$WARPCHECK" run --simulate --script tests/data/library/judging.lua --all
says '^PASS +library-judging '
# shellcheck disable=SC2034 # expect.bash looks at it
passes=none

echo "== the checks"
# What came is judged: a result that stands alone in its line is one that is dropped.
dropped=$(grep -rnE '^[[:blank:]]*[a-z_.]+:(receive|peek|alive|try|await_event|deliveries|events_of|collect_events)\(' conformance/scripts conformance/templates --include='*.lua' --exclude-dir=lib || true)
holds "no check drops what it was given${dropped:+: $dropped}" test -z "$dropped"

# What comes is of a kind that there is: a loop until another one ends at the limit of what a check may compute.
scripts=(conformance/scripts conformance/templates tests/data/library --include='*.lua' --exclude-dir=lib)
grep -rhoE '\.kind [=~]= "[a-z_]*"' "${scripts[@]}" | grep -oE '[a-z_]+"' | LC_ALL=C sort -u >"$WORK/compared"
sed -n '/c:receive(seconds)\|a:receive(sid/p' docs/script-library.md | grep -oE '[a-z_]+"' | LC_ALL=C sort -u >"$WORK/kinds"
holds "checks ask for five kinds or more" test "$(wc -l <"$WORK/compared")" -ge 5
LC_ALL=C comm -23 "$WORK/compared" "$WORK/kinds" >"$WORK/gone"
holds "and for no kind that never comes: $(tr -d '"' <"$WORK/gone" | paste -sd' ')" test ! -s "$WORK/gone"

echo "== the templates"
cp conformance/templates/*.lua "$WORK"
count=0
for template in "$WORK"/*.lua; do
	name=$(basename "$template" .lua)
	count=$((count + 1))
	defect=$(sed -nE "s/^--.* --script $name\.lua --defect ([a-z0-9-]+).*/\1/p" "$template")
	holds "$name.lua names a defect that it catches" test -n "$defect"
	passes=any
	expect 0 "$name.lua, copied, passes on the reference stack" "$WARPCHECK" run --simulate --script "$template" --all
	says "^PASS +template-$name "
	expect 1 "$name.lua fails with $defect" "$WARPCHECK" run --simulate --script "$template" --defect "$defect"
	says "^FAIL +template-$name "
	# shellcheck disable=SC2034 # expect.bash looks at it
	passes=none
done
holds "the names of Terminates are those of wire/terminate.h" diff \
	<(sed -nE 's/^ +E\(TERM_([A-Z0-9_]+),.*/\1/p' wire/terminate.h | LC_ALL=C sort) \
	<(sed -n '/^## Terminates/,/^## Over/s/^| \([A-Z0-9]*_[A-Z0-9_]*\) .*/\1/p' docs/script-library.md | LC_ALL=C sort)
holds "there are three templates" test "$count" -eq 3
finish
