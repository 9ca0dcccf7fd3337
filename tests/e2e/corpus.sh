#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each folder of pcaps/ that has an findings.tsv: `warpcheck audit` finds what is listed there, and nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${WARPCHECK:=build/warpcheck}" "${WORK:=}"
if [ -z "$WORK" ]; then
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
fi

tab=$(printf '\t')
folders=0 wrong=0
# well_formed FILE: each line is a capture that is there, a requirement that there is, a verdict and a frame. A line that is misspelt
# would otherwise look like something that the audit did not find.
well_formed() {
	local number=0 file id verdict frame rest hint bad=0
	while IFS=$tab read -r file id verdict frame rest; do
		number=$((number + 1))
		case $file in '#'* | '') continue ;; esac
		[ -f "${1%/*}/$file" ] || { echo "$1:$number: there is no capture '$file'"; bad=1; }
		hint=$("$WARPCHECK" explain "$id" 2>&1 >/dev/null) || { echo "$1:$number: $hint"; bad=1; }
		case $verdict in FAIL | WARN | AMBIGUOUS) ;; *) echo "$1:$number: the verdict '$verdict' is none of FAIL, WARN and AMBIGUOUS"; bad=1 ;; esac
		[[ $frame =~ ^[1-9][0-9]*$ && -z $rest ]] || { echo "$1:$number: four columns with a frame's number in the last were expected"; bad=1; }
	done <"$1"
	return "$bad"
}

for expected in pcaps/*/findings.tsv; do
	folder=$(dirname "$expected")
	well_formed "$expected" || wrong=$((wrong + 1))
	folders=$((folders + 1))
	status=0
	"$WARPCHECK" audit --format jsonl "$folder" >"$WORK/results.jsonl" || status=$?
	if [ "$status" -gt 1 ]; then
		echo "$folder: exit status $status, 0 or 1 was expected"
		exit 1
	fi
	{ grep -v '^#' "$expected" || true; } | sort >"$WORK/expected"
	jq -r 'select(.type == "result" and .verdict != "PASS") | [(.file | sub(".*/"; "")), .id, .verdict, .frame] | @tsv' \
		"$WORK/results.jsonl" | sort >"$WORK/found"
	if ! diff -u --label "$expected" --label "found in $folder" "$WORK/expected" "$WORK/found"; then
		wrong=$((wrong + 1))
	fi
	failures=$(grep -c "${tab}FAIL${tab}" "$WORK/expected" || true)
	if [ "$((failures > 0))" -ne "$status" ]; then
		echo "$folder: exit status $status with $failures failures expected"
		wrong=$((wrong + 1))
	fi
done
[ "$folders" -gt 0 ] || { echo "no findings.tsv in pcaps/"; exit 1; }
[ "$wrong" -eq 0 ]
