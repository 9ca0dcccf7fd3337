#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# hazards.sh DIR [DUT [ID...]]: is what the profile calls a hazard one? Each check that stands under "hazards" (of those of ID...)
# is run with --destructive in a guest of its own (DUT: linux-siw, or linux-siw-6.12), with its results in DIR/ID-ROLE. A line
# each: exit status, id, role, verdict, and what became of the guest: "alive", "complains" (its kernel did), "mute" (rping does
# not work any more), "dead", or "not asked" where the check is skipped for another reason. DIR/table.tsv has them all. What is
# there already is not run again. Exit status 0: each hazard is one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
out=${1:?which folder for the results?}
dut=${2:-linux-siw}
shift $(($# < 2 ? $# : 2))
: "${WARPCHECK:=build/warpcheck}"
mkdir -p "$out"
sed -e 's/@ADDRESS@/10.78.0.2/; s/@OWN@/10.78.0.3/; s/@NAME@/siw/; s/@DUT@/siw/; s/"@BESIDE@"//' conformance/labs/linux/linux-siw.json.in >"$out/profile.json"
"$WARPCHECK" run --dut "$out/profile.json" --dry-run "$@" | awk '/ SKIP: runs only with --destructive/ { print $1, $2 }' >"$out/list"
[ -s "$out/list" ] || { echo "hazards.sh: no such hazard" >&2; exit 3; }

while read -r id role; do
	run=$out/$id-$role
	if [ ! -s "$run/line" ]; then
		rm -rf "$run"
		guest=alive
		# A few rows bind the other side than the one that the check watches: --role does not find them.
		for roles in "--role $role" ''; do
			status=0
			# shellcheck disable=SC2086 # none, or two words
			"$WARPCHECK" run --dut "$dut" --destructive $roles --all -o "$run" "$id" >"$run.txt" 2>&1 </dev/null || status=$?
			if [ "$status" -ne 3 ] || [ -s "$run/results.jsonl" ]; then break; fi
		done
		[ -s "$run/results.jsonl" ] || { echo "hazards.sh: $id $role: no results, exit status $status: $(tail -n 1 "$run.txt")" >&2; exit 4; }
		! grep -q "the guest's kernel complains" "$run.txt" || guest=complains
		! grep -q 'rping does not work any more' "$run.txt" || guest=mute
		! grep -q 'the guest died during the run' "$run.txt" || guest=dead
		jq -r --arg id "$id" --arg role "$role" 'select(.type == "result" and .id == $id and .role == $role and .by == "check") | .verdict' \
			"$run/results.jsonl" | paste -s -d ' ' >"$run.verdicts"
		[ "$guest $(cat "$run.verdicts")" != 'alive SKIP' ] || guest='not asked'
		printf '%s\t%s\t%s\t%s\t%s\n' "$status" "$id" "$role" "$(cat "$run.verdicts")" "$guest" >"$run/line"
	fi
	cat "$run/line"
done <"$out/list" | tee "$out/table.tsv"
harmless=$(grep -c 'alive$' "$out/table.tsv") || true
echo "$(wc -l <"$out/table.tsv") hazards, $harmless left the guest alive; $out/table.tsv"
[ "$harmless" -eq 0 ]
