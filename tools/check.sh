#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh all|e2e: runs what the Makefile has built and counts. `all`: the tree's own rules, the unit tests (plain and
# sanitised), a smoke run of each fuzz target, and tests/e2e/*.sh; `e2e`: only the last.
#
# An end-to-end script says what it checks, exits with 0 if all holds, 77 if it cannot run here (then it must say why,
# and is counted neither as passed nor as failed), else with anything else. It finds in its environment: ROOT (the
# tree), B (the build folder), WARPCHECK, IWARP_PEER, WARPCHECK_ASAN (sanitised), IWARP_PEER_ASAN (where the run has built it),
# TSHARK, CC, and WORK, an empty folder of its own. It runs in ROOT without input, beside others. T='a b' selects scripts by name.
#
# The last line is "N passed, N failed"; the exit status is 0 only if something passed and nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
: "${B:=$ROOT/build}" "${T:=}"
: "${WARPCHECK:=$B/warpcheck}" "${IWARP_PEER:=$B/iwarp-peer}" "${WARPCHECK_ASAN:=$B/asan/warpcheck}" "${TSHARK:=tshark}"
: "${CC:=gcc}" "${E2E_SECONDS:=2400}" "${UNIT_SECONDS:=1200}"
export PLUGIN=${PLUGIN:-$B/dissector/warpcheck.so} # the Makefile has built it
export ROOT B WARPCHECK IWARP_PEER WARPCHECK_ASAN TSHARK CC
export LC_ALL=C.UTF-8 TZ=UTC
# A caller's own options come after, and win; the first three hold for all others.
export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:quarantine_size_mb=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
unset MAKEFLAGS MFLAGS MAKELEVEL
tools/needs.sh || { echo "nothing was tested"; echo "0 passed, 1 failed"; exit 1; }
passed=0 failed=0 skipped=0 what_failed=
log_dir=$B/check
mkdir -p "$log_dir"

# verdict NAME STATUS SECONDS LOG: counts one thing that either holds or not, and shows the log of what does not.
verdict() {
	case $2 in
	0) passed=$((passed + 1)); echo "ok    $1 ($3 s)" ;;
	77) skipped=$((skipped + 1)); echo "SKIP  $1: $(tail -n 1 "$4")" ;;
	*)
		failed=$((failed + 1)) what_failed+=" $1"
		if [ "$2" -eq 124 ]; then echo "FAIL  $1: no end after $3 s"; else echo "FAIL  $1 (exit status $2, $3 s)"; fi
		# What does not hold comes first: of a long log some readers keep the beginning only.
		{ awk 'NF && !/^ok / && ++n <= 60' "$4"; echo '... and the end of its log:'; tail -n 30 "$4"; } | sed 's/^/      | /'
		;;
	esac
}

# one NAME COMMAND...: runs a command as one test.
one() {
	local name=$1 log=$log_dir/${1//\//_}.log status=0 began=$SECONDS
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	verdict "$name" "$status" $((SECONDS - began)) "$log"
}

# suite PROGRAM SUITE LOG: one suite in a process of its own (a parent that stays small forks fast); its status after the log.
suite() {
	local status=0
	timeout -k 10 "$UNIT_SECONDS" "$1" "$2" >"$3" 2>&1 </dev/null || status=$?
	echo "$status" >"$3.status"
}
export -f suite
export UNIT_SECONDS

# unit NAME PROGRAM [SUITE...]: runs every suite of a unit test runner (but SUITE), as many at once as there are processors,
# and adds their counts; a suite that dies or runs nothing is one failure.
unit() {
	local began=$SECONDS logs=$log_dir/$1 good=0 bad=0 log line status
	rm -rf "$logs" && mkdir -p "$logs"
	for file in tests/unit/*/test_*.c; do
		file=$(basename "$file" .c)
		[[ " ${*:3} " != *" ${file#test_} "* ]] || continue
		printf '%s\0%s\0%s\0' "$2" "${file#test_}" "$logs/${file#test_}.log"
	done | xargs -0 -n 3 -P "$(nproc)" bash -c 'suite "$@"' suite
	for log in "$logs"/*.log; do
		line=$(tail -n 1 "$log") status=$(cat "$log.status")
		if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] && ((BASH_REMATCH[1] + BASH_REMATCH[2] > 0)) &&
			(((status == 0) == (BASH_REMATCH[2] == 0))); then
			good=$((good + BASH_REMATCH[1])) bad=$((bad + BASH_REMATCH[2]))
		else
			bad=$((bad + 1)) status=1
		fi
		[ "$status" -eq 0 ] || { echo "      | suite $(basename "$log" .log):"; sed 's/^/      | /' "$log" | tail -n 40; }
	done
	passed=$((passed + good)) failed=$((failed + bad))
	[ "$bad" -eq 0 ] || what_failed+=" $1"
	echo "$([ "$bad" -eq 0 ] && echo 'ok   ' || echo 'FAIL ') $1: $good passed, $bad failed ($((SECONDS - began)) s)"
}

# The linters and the runs of all legal variants take many minutes of processor time, and most scripts below leave a processor idle:
# these two run beside them, as the least important processes, and their verdicts come at the end.
beside() { # beside NAME SECONDS COMMAND...
	local began=$SECONDS log=$log_dir/${1//\//_}.log status=0
	timeout -k 10 "$2" nice -n 19 "${@:3}" >"$log" 2>&1 </dev/null || status=$?
	echo "$status $((SECONDS - began))" >"$log.status"
}
beside_begin() {
	rm -f "$log_dir"/*.log.status
	rm -rf "$log_dir/e2e/variants"
	mkdir -p "$log_dir/e2e/variants"
	(
		beside tree/lint 7200 env -u T -u FAST SHALLOW=1 LUA_SYNTAX="$B/tools/lua-syntax" tools/lint.sh &
		beside e2e/variants 7200 env WORK="$log_dir/e2e/variants" bash tests/e2e/variants.sh &
		wait
	) &
	others=$!
	trap 'kill "$others" 2>/dev/null || true' EXIT
}
beside_end() {
	local name log
	wait "$others" || true
	trap - EXIT
	for name in tree/lint e2e/variants; do
		log=$log_dir/${name//\//_}.log
		# shellcheck disable=SC2046 # two numbers
		verdict "$name" $(cat "$log.status" 2>/dev/null || echo 1 0) "$log"
	done
}

if [ "${1:-all}" = all ]; then
	beside_begin
	one tree/defect-tests tools/defect-tests.sh
	one tree/outcomes tools/outcomes.sh
	unit unit-tests "$B/unit-tests"
	# memory_short and cm_memory have an allocator of their own, which AddressSanitizer does not let them have.
	# The sanitised tests make a tenth of the mangled captures: ten times the same code.
	MANGLE_COPIES=1000 CK_TIMEOUT_MULTIPLIER=5 unit unit-tests-sanitised "$B/asan/unit-tests" memory_short cm_memory
	one unit-tests-threads timeout -k 10 300 "$B/tsan/thread-tests" threads
	for target in tests/fuzz/fuzz_*.c; do
		[ -e "$target" ] || continue
		name=$(basename "$target" .c)
		one "fuzz-smoke/$name" env T="$name" FUZZ_QUIET=1 timeout -k 10 300 tools/fuzz.sh -runs=2000 -max_total_time=30
	done
fi

# The scripts run as many at once as there are processors: most wait for something most of the time. Those that take minutes begin, so
# that nothing is left at the end that runs alone.
script() { # script NAME: its name, exit status and seconds go to descriptor 3
	local began=$SECONDS log=$log_dir/e2e_$1.log status=0
	export WORK=$log_dir/e2e/$1
	rm -rf "$WORK"
	mkdir -p "$WORK"
	timeout -k 10 "$E2E_SECONDS" bash "tests/e2e/$1.sh" >"$log" 2>&1 </dev/null 3>&- || status=$?
	echo "$1 $status $((SECONDS - began))" >&3
}
export -f script
export log_dir E2E_SECONDS
scripts() {
	local name first="valgrind prove siw-exchange lab"
	{
		# shellcheck disable=SC2086 # names without spaces
		printf '%s\n' $first
		for name in tests/e2e/*.sh; do
			name=$(basename "$name" .sh)
			[[ " $first " == *" $name "* ]] || echo "$name"
		done
	} | while read -r name; do
		[ -e "tests/e2e/$name.sh" ] || continue
		[ -z "$T" ] || [[ " $T " == *" $name "* ]] || continue
		[ "$name" != variants ] || [ "${1:-all}" != all ] || continue # beside all others
		echo "$name"
	done
}
due=$(scripts "${1:-all}" | wc -l)
while read -r name status seconds; do
	due=$((due - 1))
	verdict "e2e/$name" "$status" "$seconds" "$log_dir/e2e_$name.log"
done < <(scripts "${1:-all}" | xargs -r -n 1 -P "$(nproc)" bash -c 'script "$@"' script 3>&1 >&2)
[ "$due" -eq 0 ] || { failed=$((failed + due)); echo "FAIL  scripts without a verdict: $due"; }

[ "${1:-all}" != all ] || beside_end
[ "$skipped" -eq 0 ] || echo "$skipped skipped (see above), counted neither way"
[ -z "$what_failed" ] || echo "failed:$what_failed"
echo "$passed passed, $failed failed"
[ "$passed" -gt 0 ] && [ "$failed" -eq 0 ]
