#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run -j begins what takes long first. Every check that waits for 4 s or more says so (`lasts`), or it may begin last and the run waits
# for it. The simulated run knows how long a check waits on any machine: its clock is the simulation's.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# declared PATH ID: the seconds that the check of that id says in its script; nothing: none.
declared() {
	awk -v id="\"$2\"" '
		/^check \{/ { inside = 1; mine = 0; lasts = "" }
		inside && index($0, id) { mine = 1 }
		inside && $1 == "lasts" { lasts = $3 + 0 }
		inside && $1 == "run" { if (mine) { print lasts; exit } inside = 0 }' "$1"
}

"$WARPCHECK" list --format jsonl >"$WORK/catalogue"
for llp in tcp sctp; do
	echo "== over $llp"
	"$WARPCHECK" run --simulate --llp "$llp" -j 2 -o "$WORK/run" >"$WORK/stdout" 2>"$WORK/stderr"
	status=$?
	holds "the run came to its end" test "$status" -eq 0
	jq -r 'select(.type == "result" and .by == "check" and .duration_ns >= 4e9) | "\(.id) \(.duration_ns / 1e9 | floor)"' \
		"$WORK/run/results.jsonl" | sort -u >"$WORK/long"
	holds "some checks last long" test -s "$WORK/long"
	while read -r id seconds; do
		path=$(jq -r --arg id "$id" 'select(.id == $id) | .check' "$WORK/catalogue")
		says=$(declared "$path" "$id")
		holds "$id lasts $seconds s, $path says ${says:-nothing}" \
			awk -v says="${says:-0}" -v seconds="$seconds" 'BEGIN { exit !(says >= seconds / 2 && says <= seconds * 2 + 1) }'
	done <"$WORK/long"
	rm -rf "$WORK/run"
done
finish
