#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check-part.sh NAME: runs one part of the tests, for tools/check.sh, which says what the environment is; what it prints is in
# B/check/NAME.log, with "_" for "/". Exit status 77: it cannot run here, and the log's last line says why.
#
#   unit-tests/SUITE, unit-tests-sanitised/SUITE, unit-tests-threads
#   fuzz-smoke/fuzz_NAME
#   lint/STEP, lint/STEP.I-N     a step of tools/lint.sh, or its I-th part of N
#   e2e/NAME                     tests/e2e/NAME.sh. What is wrong first stands in the last lines of its log
#   tree/NAME, quick/NAME        see below
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=$1
unset T FAST # they chose the parts
log=$B/check/${name//\//_}.log
exec >"$log" 2>&1 </dev/null

script() {
	local status=0 trace=$B/check/e2e/$1.trace
	export WORK=$B/check/e2e/$1
	rm -rf "$WORK"
	mkdir -p "$WORK"
	TRACE=$trace BASH_ENV=$ROOT/tests/e2e/trace.bash timeout -k 10 "$E2E_SECONDS" bash "tests/e2e/$1.sh" || status=$?
	[ "$status" -ne 0 ] || tools/unseen.sh "$log" || status=1
	case $status in
	0 | 77) ;;
	124) echo "no end after $E2E_SECONDS s"; tools/first-wrong.sh "$log" "$trace" ;;
	*) tools/first-wrong.sh "$log" "$trace" ;;
	esac
	return "$status"
}

lint() {
	local step=${1%%.*} part=1/1
	[ "$step" = "$1" ] || part=${1#*.} part=${part/-//}
	exec env SHALLOW="$LINT_SHALLOW" STEPS="$step" PART="$part" LUA_SYNTAX="$B/tools/lua-syntax" tools/lint.sh
}

case $name in
tree/arrows | tree/files | tree/defect-tests | tree/outcomes | tree/phrases | tree/test-names) exec "tools/${name#*/}.sh" ;;
tree/rooms) exec tools/rooms.sh "$B" ;;
unit-tests/*) exec timeout -k 10 "$UNIT_SECONDS" "$B/unit-tests" "${name#*/}" ;;
# A tenth of the mangled captures: ten times the same code (docs/trust.md). All tests of a suite in one process: LeakSanitizer takes
# longer to search a process than most tests take. unit-tests/* have a process for each test, and so has netns, whose tests give up
# privileges.
unit-tests-sanitised/*)
	fork=no
	[ "$name" != unit-tests-sanitised/netns ] || fork=yes
	exec env CK_FORK=$fork MANGLE_COPIES=1000 CK_TIMEOUT_MULTIPLIER=5 timeout -k 10 "$UNIT_SECONDS" "$B/asan/unit-tests" "${name#*/}" ;;
unit-tests-threads) exec timeout -k 10 300 "$B/tsan/thread-tests" threads ;;
# The same inputs each time: what chance finds is for `make fuzz` (docs/fuzzing.md).
fuzz-smoke/*) exec env T="${name#*/}" FUZZ_QUIET=1 timeout -k 10 300 tools/fuzz.sh -seed=1 -runs=2000 -max_total_time=30 ;;
lint/*) lint "${name#*/}" ;;
e2e/*) script "${name#*/}" ;;
quick/demo) exec tools/demo.sh ;;
quick/run) exec "$WARPCHECK" run --simulate -j "$JOBS" ;;
*) echo "check-part.sh: there is no part '$name'"; exit 2 ;;
esac
