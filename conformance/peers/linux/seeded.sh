#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# seeded.sh DIR [NAME...]: does the suite notice when siw gets worse? Each conformance/peers/linux/seeded/NAME.patch is one
# deliberate fault, in siw's source, with the checks that are run for it (siw as responder). siw as it is, then siw with each of
# them, is judged; a fault is caught where a check or rule fails, or warns, that did not before. The table goes to DIR/table.md.
# A fault that was judged before is not judged again (rm DIR/NAME.caught). Exit status 0: all were caught.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
out=${1:?which folder for the results?}
shift
faults=conformance/peers/linux/seeded
: "${WARPCHECK:=build/warpcheck}"
# shellcheck disable=SC2046,SC2012 # names without spaces, by intention
[ $# -gt 0 ] || set -- $(cd "$faults" && ls ./*.patch | sed 's|.*/||; s/\.patch$//')
mkdir -p "$out"

# judge NAME PATCH CHECK...: what fails or warns, as "id role verdict", in DIR/NAME.failed.
judge() {
	local name=$1 patch=$2 status=0
	shift 2
	env ${patch:+SIW_PATCH="$PWD/$patch"} "$WARPCHECK" run --dut linux-siw --role responder --all -o "$out/$name" "$@" \
		>"$out/$name.txt" 2>&1 || status=$?
	case $status in
	2 | 3)
		tail -n 3 "$out/$name.txt" >&2
		return 1
		;;
	esac
	jq -r 'select(.type == "result" and (.verdict | IN("FAIL", "WARN", "INCONCLUSIVE"))) | "\(.id) \(.role // "") \(.verdict)"' \
		"$out/$name/results.jsonl" | LC_ALL=C sort -u >"$out/$name.failed"
}

checks_of() { sed -n 's/^checks: //p' "$faults/$1.patch"; }

set -f # globs of ids stay as they are
if [ ! -s "$out/none.done" ]; then
	# shellcheck disable=SC2046
	judge none '' $(for name in "$@"; do checks_of "$name"; done | tr ' ' '\n' | sort -u)
	echo "$(wc -l <"$out/none.failed") fail or warn without a fault" | tee "$out/none.done"
fi
for name in "$@"; do
	[ ! -e "$out/$name.caught" ] || continue
	# shellcheck disable=SC2046
	judge "$name" "$faults/$name.patch" $(checks_of "$name") || continue
	LC_ALL=C comm -13 "$out/none.failed" "$out/$name.failed" | grep -v ' INCONCLUSIVE$' | cut -d ' ' -f 1 | uniq >"$out/$name.caught" || true
	echo "$name: $(paste -s -d ' ' "$out/$name.caught")"
	rm -rf "${LAB:-${B:-build}/lab}"/*/patched-*
done

missed=0
{
	echo '| fault | caught by |'
	echo '|---|---|'
	for name in "$@"; do
		[ -e "$out/$name.caught" ] || continue
		[ -s "$out/$name.caught" ] || missed=$((missed + 1))
		count=$(wc -l <"$out/$name.caught")
		echo "| $(sed -n 's/^fault: //p' "$faults/$name.patch") (\`$name\`) | $(head -n 4 "$out/$name.caught" | paste -s -d , | sed 's/,/, /g')$([ "$count" -le 4 ] || echo ", $((count - 4)) more") |"
	done
} >"$out/table.md"
echo "$# faults, $missed missed; $out/table.md"
[ "$missed" -eq 0 ]
