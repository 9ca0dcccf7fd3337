#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arch-inside.sh ARCH...: the part of tools/arch.sh that runs where the cross compilers and the foreign libraries are.
# It builds for this processor and for each of those, runs both, and compares.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${OUT:=build/arch}" "${JOBS:=2}" "${PROVE_EACH:=25}" "${PARTS:=unit corpora audit gen simulated prove peers}"
mkdir -p "$OUT"
failed=0 seconds=0

# step WHAT COMMAND...: a line for it; its output is left in $OUT/$arch-WHAT.log
step() {
	local what=$1 log=$OUT/$arch-${1// /-}.log began=$SECONDS status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	seconds=$((SECONDS - began))
	if [ "$status" -eq 0 ]; then
		echo "ok    $arch: $what: $(tail -n 1 "$log") ($seconds s)"
	else
		failed=$((failed + 1))
		echo "WRONG $arch: $what (exit status $status, $seconds s)"
		tail -n 25 "$log" | sed 's/^/      | /'
	fi
	return "$status"
}

# The programs' own folders are named alike, so that no path differs.
audited() { # PROGRAM FILE
	local status=0
	"$1" audit --format jsonl pcaps >"$2" || status=$?
	sed -i -E 's/"(started|ended)":"[^"]*"/"\1":"then"/g; s/("chain":\{"lines":[0-9]+,"crc32c":)"[^"]*"/\1"of these"/' "$2"
	[ "$status" -eq 1 ] || [ "$status" -eq 4 ]
}
# The stack keeps the target of an atomic operation in the byte order of its host, as devices do (docs/upper-tester.md):
# what an Atomic Response says of octets that were there before is another number on the other kind of machine.
simulated() { # PROGRAM FOLDER: what is a result in it
	"$1" run --simulate --seed 1 -j "$JOBS" -o "$2" --force >/dev/null &&
		jq -cS 'select(.type == "result" or .type == "summary") | del(.seconds, .elapsed, .began, .ended, .time, .evidence, .chain) | if (.id // "" | startswith("ATOM-"))
			then walk(if type == "object" then del(.octets, .summary) else . end) else . end' "$2/results.jsonl" >"$2.results"
}
made() {
	"$1" gen --corpus "$2" >/dev/null || return
	find "$2/reference-stack" -name '*-fetch-add.pcapng' -delete -o -name '*-swap.pcapng' -delete
}
defects=$(awk -v each="$PROVE_EACH" -F'\t' '!/^#/ && NF > 3 && $1 != "id" && n++ % each == 0 { print $1 }' reference-stack/defects/defects.tsv)
proved() { # PROGRAM FILE
	# shellcheck disable=SC2086 # names
	"$1" prove $defects -j "$JOBS" >"$2"
}

same() { # WHAT MINE THEIRS: one file or folder
	diff -r "$2" "$3" >"$OUT/$arch-different" || { head -n 20 "$OUT/$arch-different"; return 1; }
	if [ -d "$2" ]; then find "$2" -type f | wc -l | sed 's/$/ files, the same octets/'; else wc -l <"$2" | sed 's/$/ lines, the same octets/'; fi
}
both() { # FUNCTION RESULT: on this processor (once) and on the other; then what is compared has the suffix $2
	local here=$OUT/here-$1 there=$OUT/$arch-$1
	[ -e "$here.done" ] || { "$1" build/warpcheck "$here" && touch "$here.done"; } || return 1
	rm -rf "$there"
	"$1" "$program" "$there" && same "$1" "$here${2:-}" "$there${2:-}"
}

# What QEMU's user emulation does not have is tested on the other processor in a whole system: tools/arch-guest.sh.
#   netns, link_net: packet sockets and namespaces (netlink); confine, confine_calls: filters of system calls
#   memory_short and its like count what the loader does
not_emulated='netns link_net confine confine_calls'
unit_tested() {
	local names=() file name
	for file in tests/unit/*/test_*.c; do
		name=$(basename "$file" .c)
		name=${name#test_}
		[[ " $not_emulated " == *" $name "* ]] || names+=("$name")
	done
	# Seeds by the thousand show nothing about a processor that a few do not.
	MANGLE_COPIES=50 STACK_SIM_SEEDS=20 SCTP_SEEDS=20 CK_TIMEOUT_MULTIPLIER=20 CK_DEFAULT_TIMEOUT=300 "build/$arch/unit-tests" "${names[@]}"
}
replayed() {
	local name said program count=0 inputs=0
	for program in build/"$arch"/replay/*; do
		[ -f "$program" ] && [ -x "$program" ] || continue
		name=${program##*/}
		said=$("$program" "tests/fuzz/corpus/$name" 2>&1) || { echo "$name: $said"; return 1; }
		count=$((count + 1)) inputs=$((inputs + $(tail -n 1 <<<"$said" | cut -d' ' -f1)))
	done
	echo "$count targets, $inputs inputs"
	[ "$count" -gt 0 ]
}
# exchanged ONE OTHER: the stacks of two processors write, read and send 200,000 octets; the memory of both is the same
exchanged() {
	WORK=$OUT/$arch-peers ONE=$1 OTHER=$2 bash tools/arch-exchange.sh
}

arch=$(dpkg --print-architecture)
step build make "-j$JOBS" programs || exit 1
for arch in "$@"; do
	program=build/$arch/warpcheck
	if ! step build make "-j$JOBS" ARCH="$arch" programs "build/$arch/unit-tests" replay-programs; then continue; fi
	if ! step starts "$program" --version; then
		echo "      $arch: its programs are not executed here: /proc/sys/fs/binfmt_misc has no handler for them"
		continue
	fi
	for part in $PARTS; do
		case $part in
		unit) step "unit tests" unit_tested ;;
		corpora) step corpora replayed ;;
		audit) step audit both audited ;;
		gen) step gen both made ;;
		simulated) step simulated both simulated .results ;;
		prove) step prove both proved ;;
		peers)
			step "peers, it as initiator" exchanged build/iwarp-peer "build/$arch/iwarp-peer" || true
			step "peers, it as responder" exchanged "build/$arch/iwarp-peer" build/iwarp-peer
			;;
		esac || true
	done
done
exit $((failed != 0))
