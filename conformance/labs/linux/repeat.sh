#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# repeat.sh DIR [TIMES] [warpcheck run's options]: `warpcheck run --dut linux-siw` so many times (3), each in a guest of its own,
# with the results in DIR/1, DIR/2, ...; what is not the same every time is shown, but for checks that the profile knows to
# be decided by a race ("sometimes"), and for two recommendations. A run that is there already, whole, is not made again.
# DUT=linux-siw-6.12: that kernel.
# Exit status 0: every other verdict is the same; 1: not.
set -euo pipefail
out=${1:?which folder for the results?}
times=${2:-3}
shift $(($# < 2 ? $# : 2))
: "${WARPCHECK:=build/warpcheck}" "${DUT:=linux-siw}"

here=$(dirname "${BASH_SOURCE[0]}")
# A WARN is no known deviation. Races decide these two: finding 10, and whether octets that siw has not read are there when it closes.
races=$(jq -c '[.known_deviations[] | select(.sometimes) | .requirement + " " + .by] + ["MPA-7.1.2-11 check", "RDMAP-6.2.1-06 check"]' \
	"$here/linux-siw.json.in")

verdicts() {
	jq -r --argjson races "$races" 'select(.type == "result" and (.id + " " + .by | IN($races[]) | not)) | select(.type == "result") | [.id, .role // "", .by, .verdict] | @tsv' "$1/results.jsonl" | LC_ALL=C sort -u
}

mkdir -p "$out"
for ((i = 1; i <= times; i++)); do
	if [ ! -s "$out/$i.status" ]; then
		status=0
		"$WARPCHECK" run --dut "$DUT" --all -o "$out/$i" --force "$@" >"$out/$i.txt" 2>&1 || status=$?
		echo "$status" >"$out/$i.status"
	fi
	verdicts "$out/$i" >"$out/$i.tsv"
	echo "run $i: exit status $(cat "$out/$i.status"), $(cut -f 4 "$out/$i.tsv" | sort | uniq -c | tr -s ' \n' ' ')"
done
differ=0
for ((i = 2; i <= times; i++)); do
	diff "$out/1.tsv" "$out/$i.tsv" >"$out/difference" || differ=1
	[ ! -s "$out/difference" ] || { echo "run $i is not as run 1:"; cat "$out/difference"; }
done
[ "$differ" -eq 0 ] && echo "the same verdicts, $times times"
