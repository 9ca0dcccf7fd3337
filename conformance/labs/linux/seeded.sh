#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# seeded.sh DIR [NAME...]: does the suite notice when siw gets worse? Each conformance/labs/linux/seeded/NAME.patch is one
# deliberate fault in siw's source. Its head says what it does ("fault:"), which checks are run for it ("checks:"), whether siw is
# the responder then or the initiator ("role:", responder unless given), and where siw itself has to be another for the fault to
# show, with which patch ("base:", a name in patches/; a line "fixed:" there is what the agent says of such a siw). siw without
# the fault, then siw with it, is judged in that role; a fault is caught where a check or rule fails, or warns, that did not
# before, also one that was a known deviation before (KNOWN) and has another outcome now. What stays KNOWN is compared, too: its outcome,
# numbers aside, has to be one that siw has without the fault. The table goes to DIR/table.md. A fault that was judged before is not
# judged again (rm DIR/NAME.caught). Exit status 0: all were caught, and nothing stays KNOWN with another outcome.
#
# DUT=linux-rxe: the same of the faults in seeded-rxe, of the kernel's ib_cm and rdma_cm below rxe. DUT=linux-siw-6.12 REVERTS=yes: of those in
# reverts, each of which takes back what a commit of siw's history mended (its head names it: "fix:"); a kernel that complains has LAB-HOST-01 then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
out=${1:?which folder for the results?}
shift
here=conformance/labs/linux
: "${WARPCHECK:=build/warpcheck}" "${DUT:=linux-siw}"
case $DUT in
linux-rxe*) faults=$here/seeded-rxe device=rxe patched=CM_PATCH images=${LAB:-${B:-build}/lab-rxe} ;;
*) faults=$here/seeded device=siw patched=SIW_PATCH images=${LAB:-${B:-build}/lab} ;;
esac
[ "${REVERTS:-}" != yes ] || faults=$here/reverts
# shellcheck disable=SC2046,SC2012 # names without spaces, by intention
[ $# -gt 0 ] || set -- $(cd "$faults" && ls ./*.patch | sed 's|.*/||; s/\.patch$//')
mkdir -p "$out"
out=$(cd "$out" && pwd)

# shellcheck source=conformance/labs/linux/patch-head.bash
source "$here/patch-head.bash"

# setting NAME: what siw is without the fault, in which role: "none" as responder, "none-initiator", "none-initiator-BASE".
setting() {
	local role base
	role=$(head_of "$1" role responder) base=$(head_of "$1" base)
	case $role in responder | initiator) ;; *) echo "$1.patch: role $role: responder or initiator" >&2; exit 2 ;; esac
	[ -z "$base" ] || [ -e "$here/patches/$base.patch" ] || { echo "$1.patch: no patches/$base.patch" >&2; exit 2; }
	[ "$role" = responder ] && role='' || role=-initiator
	echo "none$role${base:+-$base}"
}

# judge NAME SETTING PATCH CHECK...: what fails or warns, as "id role verdict", in DIR/NAME.failed.
judge() {
	local name=$1 role=responder base='' patch=$3 fixed='' status=0
	case $2 in none-initiator*) role=initiator base=${2#none-initiator} ;; *) base=${2#none} ;; esac
	base=${base#-}
	shift 3
	if [ -n "$base" ]; then
		fixed=$(sed -n '/^---/q; s/^fixed: //p' "$here/patches/$base.patch")
		cat "$here/patches/$base.patch" ${patch:+"$patch"} >"$out/$name.patch"
		patch=$out/$name.patch
	elif [ -n "$patch" ]; then
		patch=$PWD/$patch
	fi
	env ${patch:+"$patched=$patch"} ${fixed:+LAB_FIXED="$fixed"} "$WARPCHECK" run --dut "$DUT" --role "$role" --all \
		-o "$out/$name" --force "$@" >"$out/$name.txt" 2>&1 || status=$?
	case $status in
	2 | 3)
		echo "$name: $(grep -v '^report: ' "$out/$name.txt" | tail -n 1)" >&2
		return 1
		;;
	esac
	[ -s "$out/$name/results.jsonl" ] || { echo "$name: $(tail -n 1 "$out/$name.txt")" >&2; return 1; }
	jq -r 'select(.type == "result" and (.verdict | IN("FAIL", "WARN", "INCONCLUSIVE"))) | "\(.id) \(.role // "") \(.verdict)\(if .verdict == "WARN" then " " + (.message // "") else "" end)"' \
		"$out/$name/results.jsonl" | LC_ALL=C sort -u >"$out/$name.failed"
	jq -r 'select(.type == "result" and .verdict == "KNOWN") | [.id, .role // "", .by, .message // "", .actual // ""] | @tsv' \
		"$out/$name/results.jsonl" | sed -E 's/\t([^\t]*\t[^\t]*)$/\n\1/' | sed -E 'n; s/0x[0-9a-f]+/0x<hex>/g; s/[0-9]+/<number>/g' |
		paste - - | LC_ALL=C sort -u >"$out/$name.known"
}

set -f # globs of ids stay as they are
settings=$(for name in "$@"; do setting "$name"; done | sort -u)
for without in $settings; do
	checks=$(for name in "$@"; do
		[ "$(setting "$name")" != "$without" ] || head_of "$name" checks
	done | tr ' ' '\n' | sort -u)
	# What was judged without a fault before counts only where it covers these checks.
	if [ ! -s "$out/$without.checks" ] || [ -n "$(echo "$checks" | comm -23 - "$out/$without.checks")" ]; then
		# shellcheck disable=SC2086
		judge "$without" "$without" '' $checks
		echo "$checks" >"$out/$without.checks"
		echo "$without: $(wc -l <"$out/$without.failed") fail or warn without a fault"
	fi
done
broken=0 excused=0 same=0
for name in "$@"; do
	[ ! -e "$out/$name.caught" ] || continue
	without=$(setting "$name")
	# shellcheck disable=SC2046
	judge "$name" "$without" "$faults/$name.patch" $(head_of "$name" checks) || { broken=$((broken + 1)); continue; }
	LC_ALL=C comm -13 "$out/$without.failed" "$out/$name.failed" | grep -v ' INCONCLUSIVE$' | cut -d ' ' -f 1 | uniq >"$out/$name.caught" || true
	echo "$name: $(paste -s -d ' ' "$out/$name.caught")"
	LC_ALL=C comm -13 "$out/$without.known" "$out/$name.known" >"$out/$name.excused"
	same=$((same + $(LC_ALL=C comm -12 "$out/$without.known" "$out/$name.known" | wc -l)))
	if [ -s "$out/$name.excused" ]; then
		excused=$((excused + 1))
		echo "$name: KNOWN with another outcome: $(head -n 1 "$out/$name.excused")"
	fi
	find "$images" -maxdepth 2 -name 'patched-*' -exec rm -rf {} +
done

missed=0
{
	echo "| fault | patch | $device as | caught by |"
	echo '|---|---|---|---|'
	for name in "$@"; do
		[ -e "$out/$name.caught" ] || continue
		[ -s "$out/$name.caught" ] || missed=$((missed + 1))
		count=$(wc -l <"$out/$name.caught")
		echo "| $(head_of "$name" fault) | \`$name\` | $(head_of "$name" role responder) | $(head -n 4 "$out/$name.caught" | paste -s -d , | sed 's/,/, /g')$([ "$count" -le 4 ] || echo ", $((count - 4)) more") |"
	done
} >"$out/table.md"
echo "$# faults, $missed missed, $broken not judged; $same results KNOWN as without the fault, $excused faults excused; $out/table.md"
[ "$missed" -eq 0 ] && [ "$broken" -eq 0 ] && [ "$excused" -eq 0 ]
