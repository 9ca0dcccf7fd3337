#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# seeded-host.sh TREE DIR [NAME...]: does the lab notice when siw harms the kernel that it runs in? Each conformance/labs/linux/seeded-host/NAME.patch is
# one deliberate fault in siw's source that no frame shows. Its head says what it does ("fault:"), which kernel finds it ("config:", a name for
# --kernel-config), what that kernel says then ("says:"), and which checks lead to it ("checks:"). TREE is a kernel's source. siw of TREE with the fault is
# judged on that kernel; a fault is caught where LAB-HOST-01 fails with these words, and names one of these checks as the one that does it again, alone in
# a fresh guest. KERNEL=DIR: on this built kernel, which has the options of all that are named, in place of one for each. The table goes to DIR/table.md.
# A fault that was judged before is not judged again (rm DIR/NAME.caught). Exit status 0: all were caught.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
tree=${1:?which source of a kernel?} out=${2:?which folder for the results?}
shift 2
faults=conformance/labs/linux/seeded-host
: "${WARPCHECK:=build/warpcheck}"
[ -s "$tree/drivers/infiniband/sw/siw/siw_main.c" ] || { echo "seeded-host.sh: $tree: drivers/infiniband/sw/siw is missing" >&2; exit 2; }
# shellcheck disable=SC2046,SC2012 # names without spaces, by intention
[ $# -gt 0 ] || set -- $(cd "$faults" && ls ./*.patch | sed 's|.*/||; s/\.patch$//')
for name in "$@"; do
	[ -s "$faults/$name.patch" ] || { echo "seeded-host.sh: there is no $faults/$name.patch" >&2; exit 2; }
done
mkdir -p "$out"
out=$(cd "$out" && pwd)

# shellcheck source=conformance/labs/linux/patch-head.bash
source "$faults/../patch-head.bash"

# judge NAME: what LAB-HOST-01 came to, in DIR/NAME.caught; nothing there: it is missed.
judge() {
	local siw=$out/$1.siw check status=0 kernel=("$tree" --kernel-config "$(head_of "$1" config)")
	[ -z "${KERNEL:-}" ] || kernel=("$KERNEL")
	rm -rf "$siw"
	cp -r "$tree/drivers/infiniband/sw/siw" "$siw"
	patch -s --fuzz=0 -p5 -d "$siw" <"$faults/$1.patch" || return 1
	# shellcheck disable=SC2046 # ids
	"$WARPCHECK" run --dut linux-siw --kernel-tree "${kernel[@]}" --siw-source "$siw" -j 1 --all \
		-o "$out/$1" --force $(head_of "$1" checks) >"$out/$1.txt" 2>&1 || status=$?
	[ -s "$out/$1/results.jsonl" ] || { echo "$1: exit status $status: $(tail -n 1 "$out/$1.txt")" >&2; return 1; }
	jq -r --arg says "$(head_of "$1" says)" 'select(.type == "result" and .id == "LAB-HOST-01" and .verdict == "FAIL" and (.actual | contains($says))) | .message' \
		"$out/$1/results.jsonl" >"$out/$1.said"
	for check in $(head_of "$1" checks); do
		sed -nE "s/.*; ($check as [a-z]+) does it again.*/\1/p" "$out/$1.said"
	done >"$out/$1.caught"
}

broken=0 missed=0
for name in "$@"; do
	[ -e "$out/$name.caught" ] || judge "$name" || { broken=$((broken + 1)); continue; }
	[ -s "$out/$name.caught" ] || missed=$((missed + 1))
	echo "$name: $(paste -s -d ' ' "$out/$name.caught")"
done
{
	echo '| fault | patch | kernel with | the kernel says | named |'
	echo '|---|---|---|---|---|'
	for name in "$@"; do
		[ ! -e "$out/$name.caught" ] ||
			echo "| $(head_of "$name" fault) | \`$name\` | \`$(head_of "$name" config)\` | \`$(head_of "$name" says)\` | $(paste -s -d , "$out/$name.caught" | sed 's/,/, /g') |"
	done
} >"$out/table.md"
echo "$# faults, $missed missed, $broken not judged; $out/table.md"
[ "$missed" -eq 0 ] && [ "$broken" -eq 0 ]
