#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each folder of pcaps/ that has an expected.tsv: `warpcheck audit` finds what is listed there, and nothing else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${WARPCHECK:=build/warpcheck}" "${WORK:=}"
if [ -z "$WORK" ]; then
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
fi

tab=$(printf '\t')
folders=0 wrong=0
for expected in pcaps/*/expected.tsv; do
	folder=$(dirname "$expected")
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
[ "$folders" -gt 0 ] || { echo "no expected.tsv in pcaps/"; exit 1; }
[ "$wrong" -eq 0 ]
