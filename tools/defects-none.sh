#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# defects-none.sh [--llp LLP] [-j N] ID...: holds rows of defects-none.tsv ("no defect can break it") against the defects that there are. The
# stack with each defect of that lower layer meets the rows' checks and rules in simulation; a FAIL of one of these rows is named, with the
# defect. Rows that nothing judges are listed: no defect could be seen to break them. Exit status 1 where a row is broken. It is no test:
# hundreds of runs take minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${WARPCHECK:=$PWD/build/warpcheck}"
llp=tcp jobs=2
while [[ ${1:-} == -* ]]; do
	case $1 in
	--llp) llp=$2 ;;
	-j) jobs=$2 ;;
	*) exit 2 ;;
	esac
	shift 2
done
[ $# -gt 0 ] || { sed -n '4,7s/^# //p' "${BASH_SOURCE[0]}" && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rows=()
for id; do
	grep -q "^$id	" reference-stack/defects/defects-none.tsv || { echo "$id is no row of defects-none.tsv" >&2 && exit 2; }
	if "$WARPCHECK" explain "$id" | awk '/^  (check|rule) / && !/none yet/ { found = 1 } END { exit !found }'; then
		rows+=("$id")
	else
		echo "$id: neither check nor rule judges it"
	fi
done
[ ${#rows[@]} -gt 0 ] || exit 0

try() { # DEFECT ID...
	local defect=$1 folder status=0
	folder=$(mktemp -d "$work/XXXXXX")
	"$WARPCHECK" run --simulate --llp "$llp" --defect "$defect" -j 1 "${@:2}" -o "$folder/run" >"$folder/out" 2>&1 || status=$?
	case $status in
	0 | 1 | 4) jq -r --arg defect "$defect" 'select(.type == "result" and .verdict == "FAIL") | "\(.id): \($defect) breaks it: \(.message)"' "$folder/run/results.jsonl" ;;
	*) echo "$defect: not tried, exit status $status: $(tail -n 1 "$folder/out")" ;;
	esac
	rm -rf "$folder"
}
export -f try
export WARPCHECK llp work
# shellcheck disable=SC2016 # the inner shell expands it
grep -vE '^(#|id|$)' reference-stack/defects/defects.tsv | cut -f 1 |
	xargs -P "$jobs" -I{} bash -c 'try "$@"' try {} "${rows[@]}" >"$work/said"
LC_ALL=C sort "$work/said"
echo "$(grep -cvE '^(#|id|$)' reference-stack/defects/defects.tsv) defects against ${#rows[@]} rows: $(grep -c ' breaks it: ' "$work/said" || true) broken, $(grep -c ': not tried, ' "$work/said" || true) not tried"
! grep -q ' breaks it: ' "$work/said"
