#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bisect.sh ID [ROLE] [warpcheck run's options]: for `git bisect run` in a kernel's tree. Builds the siw of the tree in which it stands (the
# working directory) against the headers of the lab's kernel, boots it, and asks that one requirement, alone (-j 1). Exit status:
#
#   1    bad: the requirement fails, also where the profile knows the deviation; with BISECT_WARN=1 also where it draws a WARN
#   0    good: it passes
#   125  skip: siw is not built, the guest does not boot, or the requirement is not decided (INCONCLUSIVE, SKIP)
#   128  the command line is wrong: `git bisect run` ends
#
#   git bisect start BAD GOOD -- drivers/infiniband/sw/siw
#   git bisect run .../conformance/labs/linux/bisect.sh MPA-7.1.1-20 responder
#
# BISECT_SERIES: 6.1 or 6.12 (6.12), whose kernel, headers and other modules stay the same. BISECT_SPLAT=1: bad is also a kernel that complains,
# or ends, whatever becomes of the requirement. BISECT_LOG=DIR: what each run said is kept there, by commit.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${WARPCHECK:=$here/../../../build/warpcheck}" "${BISECT_SERIES:=6.12}" "${BISECT_RUN:=$here/run.sh}"
if [ $# -eq 0 ] || [[ $1 != [A-Z]*-* ]]; then
	echo "usage: bisect.sh ID [initiator|responder] [warpcheck run's options]" >&2
	exit 128
fi
id=$1 role=()
shift
case ${1:-} in initiator | responder) role=(--role "$1") && shift ;; esac
[ -s drivers/infiniband/sw/siw/siw_main.c ] || { echo "bisect.sh: $PWD is no kernel's tree: drivers/infiniband/sw/siw is missing" >&2; exit 125; }
if ! "$WARPCHECK" list --checks "$id" >/dev/null 2>&1; then
	echo "bisect.sh: no check decides $id" >&2
	exit 128
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(git rev-parse --short HEAD 2>/dev/null || echo tree)

status=0
export WARPCHECK
SIW_SOURCE=$PWD "$BISECT_RUN" --series "$BISECT_SERIES" "$id" "${role[@]}" --all -j 1 -o "$work/run" "$@" >"$work/said" 2>&1 </dev/null || status=$?
if [ -n "${BISECT_LOG:-}" ]; then
	mkdir -p "$BISECT_LOG"
	cp "$work/said" "$BISECT_LOG/$commit.txt"
fi
verdict=undecided
if [ -s "$work/run/results.jsonl" ]; then
	# What was found, before the profile's known deviations: one that does not occur is a FAIL in the results, and good here.
	verdict=$(jq -rn --arg id "$id" '[inputs] | [.[] | select(.type == "journal") | (select(.id == $id) | .found), (.findings[]? | select(.id == $id) | .verdict)] as $found |
		if $found == [] then .[] | select(.type == "result" and .id == $id) | .verdict else $found[] end' "$work/run/results.jsonl" |
		awk '{ seen[$0] = 1 } END { n = split("FAIL KNOWN WARN INCONCLUSIVE SKIP PASS AMBIGUOUS", order); for (i = 1; i <= n; i++) if (order[i] in seen) { print order[i]; exit } print "undecided" }')
fi
splat=''
if [ "${BISECT_SPLAT:-}" = 1 ] && grep -qE "^FAIL  LAB-HOST-01|the guest died during the run" "$work/said"; then splat=' and a splat'; fi
echo "bisect.sh: $commit: $id: $verdict$splat (exit status $status)"
case $verdict$splat in
*splat) exit 1 ;;
FAIL | KNOWN) exit 1 ;;
WARN) exit "${BISECT_WARN:-0}" ;;
PASS | AMBIGUOUS) exit 0 ;;
*)
	grep -aE '^linux-|error:|INCONCLUSIVE' "$work/said" | tail -n 3 >&2 || true
	exit 125
	;;
esac
