#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# findings-count.sh [-j N] [-o DIR] DEFECT...|-r COUNT [-s SEED]: how many findings one fault gives. The stack with each of these defects, or
# with COUNT of its TCP table that a seed chooses, meets the whole suite in simulation. A line of each: findings, defect, the causes of its
# FAILs (an id: it has none), and what the last lines call one fault. A finding is a cause, or a FAIL without one; what the console says to be
# perhaps one fault is one. Then how many have one, two, ... The run's own lines are kept with -o. It is no test: it takes some seconds each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${WARPCHECK:=$PWD/build/warpcheck}"
jobs=2 out='' random=0 seed=1
while getopts j:o:r:s: option; do
	case $option in
	j) jobs=$OPTARG ;;
	o) out=$OPTARG ;;
	r) random=$OPTARG ;;
	s) seed=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
if [ "$random" -gt 0 ]; then
	mapfile -t drawn < <(grep -vE '^(#|id|$)' reference-stack/defects/defects.tsv | cut -f 1 |
		perl -e 'srand(shift); my @all = <STDIN>; for my $i (0 .. $#all) { my $k = $i + int(rand(@all - $i)); @all[$i, $k] = @all[$k, $i] } print @all[0 .. shift() - 1]' \
			"$seed" "$random")
	set -- "$@" "${drawn[@]}"
fi
[ $# -gt 0 ] || { sed -n '4,8s/^# //p' "${BASH_SOURCE[0]}" && exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: "${out:=$work}"
mkdir -p "$out"

count() { # DEFECT
	local folder=$out/$1.d perhaps='' causes named status=0
	"$WARPCHECK" run --simulate --defect "$1" -j 1 -o "$folder" --force >"$out/$1.txt" 2>&1 || status=$?
	[ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 4 ] || echo "$1: exit status $status" >&2
	mv "$folder/results.jsonl" "$out/$1.jsonl"
	rm -rf "$folder"
	causes=$(jq -rs 'map(select(.type == "result" and .verdict == "FAIL")) | group_by(.cause // .id) | map("\(.[0].cause // .[0].id)=\(length)") | join(" ")' "$out/$1.jsonl")
	perhaps=$(sed -n 's/^perhaps one fault: //p' "$out/$1.txt")
	named=$(tr ' ' '\n' <<<"$causes" | grep -c . || true)
	if [ -n "$perhaps" ] && [[ $perhaps != *silence* ]]; then # one, and those without a cause
		named=$((1 + $(tr ' ' '\n' <<<"$causes" | grep -cE '^[A-Z0-9]+-[0-9A-Z.]+-[0-9]+=' || true)))
	fi
	printf '%d\t%s\t%s\t%s\n' "$named" "$1" "$causes" "$perhaps"
}
export -f count
export out WARPCHECK
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\n' "$@" | xargs -P "$jobs" -I{} bash -c 'count "$1"' count {} | LC_ALL=C sort -n >"$work/table"
cat "$work/table"
echo "findings: defects"
cut -f 1 "$work/table" | LC_ALL=C sort -n | uniq -c | awk '{ print $2 ": " $1 }'
