#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh all|quick|e2e: runs what the Makefile has built and counts. `all`: the tree's own rules, the unit tests (plain and
# sanitised), the linters, a smoke run of each fuzz target, and tests/e2e/*.sh; `quick`: the rules, the unit tests, one simulated
# run and the demo; `e2e`: only the scripts.
#
# All of it is parts (tools/check-part.sh) in one queue, the longest first by tests/times.tsv, as many at once as the processors have
# room for (tools/queue.pl). At the end stands a table of the slowest parts, with what ran beside them, and the critical path;
# B/check/times.tsv has all of them. TIMES=1 makes tests/times.tsv of it.
#
# An end-to-end script says what it checks, exits with 0 if all holds, 77 if it cannot run here (then it must say why,
# and is counted neither as passed nor as failed), else with anything else. It finds in its environment: ROOT (the
# tree), B (the build folder), WARPCHECK, IWARP_PEER, WARPCHECK_ASAN (sanitised), IWARP_PEER_ASAN (where the run has built it),
# TSHARK, CC, JOBS (how many processes it should compute with), WHOLE (1: what has a short form runs whole), and WORK, an empty
# folder of its own. It runs in ROOT without input, beside others; a line "# exclusive: NAME" says that no other script with this
# line may run beside it, and "# exclusive: all" that nothing may. T='a b' selects scripts by name.
#
# The last line is "N passed, N failed"; the exit status is 0 only if something passed and nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
: "${B:=$ROOT/build}" "${T:=}" "${TIMES:=}" "${WHOLE:=}"
: "${WARPCHECK:=$B/warpcheck}" "${IWARP_PEER:=$B/iwarp-peer}" "${WARPCHECK_ASAN:=$B/asan/warpcheck}" "${TSHARK:=tshark}"
: "${CC:=gcc}" "${E2E_SECONDS:=3600}" "${UNIT_SECONDS:=1200}"
export PLUGIN=${PLUGIN:-$B/dissector/warpcheck.so} # the Makefile has built it
export ROOT B WARPCHECK IWARP_PEER WARPCHECK_ASAN TSHARK CC WHOLE E2E_SECONDS UNIT_SECONDS
# The analyzer ends sooner in long functions; what it finds beyond that, `make lint` and `make check-all` do.
LINT_SHALLOW=$([ -n "$WHOLE" ] || echo 1)
export LINT_SHALLOW
export LC_ALL=C.UTF-8 TZ=UTC
# A caller's own options come after, and win; these hold for all others.
export ASAN_OPTIONS=abort_on_error=0:allocator_may_return_null=1:detect_stack_use_after_return=1:quarantine_size_mb=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
unset MAKEFLAGS MFLAGS MAKELEVEL
tools/needs.sh || { echo "nothing was tested"; echo "0 passed, 1 failed"; exit 1; }
mode=${1:-all}
log_dir=$B/check
mkdir -p "$log_dir"
run=$(mktemp -d "$log_dir/run.XXXXXX") # another may run in this folder
trap 'rm -rf "$run"' EXIT

# ---- the parts ----------------------------------------------------------------------------------------------------------

part() { # NAME [ALONE]
	printf '%s\t%s\ttools/check-part.sh %q\n' "$1" "${2:--}" "$1"
}

names() { # FOLDER PREFIX: the names of its C files
	local file
	for file in "$1"/*.c "$1"/*/*.c; do
		[[ ${file##*/} == "$2"* ]] || continue
		basename "$file" .c
	done | LC_ALL=C sort -u
}

unit() { # PROGRAM [SUITE...]: its suites, but those
	local name
	for name in $(names tests/unit test_); do
		[[ " ${*:2} " == *" ${name#test_} "* ]] || part "$1/${name#test_}"
	done
}

# Parts that are as long as others, so that no processor is left with a long one at the end.
LINT_PARTS=8
lint() {
	local step i
	part lint/lua
	for step in clang-format shellcheck; do part "lint/$step"; done
	for step in cppcheck clang-tidy; do
		for ((i = 1; i <= LINT_PARTS; i++)); do part "lint/$step.$i-$LINT_PARTS"; done
	done
}

scripts() {
	local name alone
	for name in tests/e2e/*.sh; do
		name=$(basename "$name" .sh)
		[ -z "$T" ] || [[ " $T " == *" $name "* ]] || continue
		alone=$(sed -n 's/^# exclusive: \([a-z0-9-]*\).*/\1/p' "tests/e2e/$name.sh")
		part "e2e/$name" "${alone:--}"
	done
}

parts() {
	local name
	if [ "$mode" != e2e ]; then
		for name in arrows files defect-tests outcomes phrases test-names; do part "tree/$name"; done
		unit unit-tests
	fi
	case $mode in
	all)
		part tree/rooms
		lint
		# memory_short and cm_memory have an allocator of their own, which AddressSanitizer does not let them have.
		unit unit-tests-sanitised memory_short cm_memory
		part unit-tests-threads
		for name in $(names tests/fuzz fuzz_); do part "fuzz-smoke/$name"; done
		scripts
		;;
	quick) part quick/run; part quick/demo ;;
	e2e) scripts ;;
	*) echo "check.sh: '$mode': all, quick or e2e was expected" >&2; exit 2 ;;
	esac
}

# ---- what came of them --------------------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0 what_failed=
declare -A suites good bad # of a unit test runner: suites that have not ended, tests that passed and failed

failure() { # NAME SECONDS WHY
	what_failed+=" $1"
	echo "FAIL  $1 ($3, $2 s)"
	# What does not hold comes first: of a long log some readers keep the beginning only.
	local log=$log_dir/${1//\//_}.log
	{ awk 'NF && !/^ok / && ++n <= 60' "$log"; echo '... and the end of its log:'; tail -n 30 "$log"; } | sed 's/^/      | /'
}

# A suite says how many of its tests passed; one that dies or runs nothing is one failure.
suite() { # RUNNER SUITE STATUS SECONDS
	local line log=$log_dir/$1_$2.log
	line=$(tail -n 1 "$log")
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] && ((BASH_REMATCH[1] + BASH_REMATCH[2] > 0)) &&
		((($3 == 0) == (BASH_REMATCH[2] == 0))); then
		((good[$1] += BASH_REMATCH[1], bad[$1] += BASH_REMATCH[2])) || true
	else
		((bad[$1] += 1)) || true
	fi
	[ "$3" -eq 0 ] && [[ $line =~ ^[0-9]+\ passed,\ 0\ failed$ ]] || failure "$1/$2" "$4" "exit status $3"
	((suites[$1] -= 1)) || true
	[ "${suites[$1]}" -eq 0 ] || return 0
	passed=$((passed + good[$1])) failed=$((failed + bad[$1]))
	echo "$([ "${bad[$1]}" -eq 0 ] && echo 'ok   ' || echo 'FAIL ') $1: ${good[$1]} passed, ${bad[$1]} failed"
}

verdict() { # NAME STATUS SECONDS: counts one thing that either holds or not
	case $2 in
	0) passed=$((passed + 1)); echo "ok    $1 ($3 s)" ;;
	77) skipped=$((skipped + 1)); echo "SKIP  $1: $(tail -n 1 "$log_dir/${1//\//_}.log")" ;;
	124) failed=$((failed + 1)); failure "$1" "$3" "no end" ;;
	*) failed=$((failed + 1)); failure "$1" "$3" "exit status $2" ;;
	esac
}

parts >"$run/parts.tsv"
while IFS=$'\t/' read -r runner _; do
	case $runner in unit-tests | unit-tests-sanitised) suites[$runner]=$((${suites[$runner]:-0} + 1)) good[$runner]=0 bad[$runner]=0 ;; esac
done <"$run/parts.tsv"
due=$(wc -l <"$run/parts.tsv")
while IFS=$'\t' read -r name status seconds; do
	due=$((due - 1))
	case $name in
	unit-tests/* | unit-tests-sanitised/*) suite "${name%/*}" "${name#*/}" "$status" "$seconds" ;;
	*) verdict "$name" "$status" "$seconds" ;;
	esac
done < <(tools/queue.pl tests/times.tsv "$run/measured.tsv" <"$run/parts.tsv")
[ "$due" -eq 0 ] || { failed=$((failed + due)); echo "FAIL  parts without a verdict: $due"; }

tools/check-times.pl "$run/measured.tsv" "$log_dir/times.tsv" "${BUILD_TIMES:-}" || failed=$((failed + 1))
[ -z "$TIMES" ] || tools/check-times.pl --expect "$log_dir/times.tsv" tests/times.tsv
[ "$skipped" -eq 0 ] || echo "$skipped skipped (see above), counted neither way"
[ -z "$what_failed" ] || echo "failed:$what_failed"
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
