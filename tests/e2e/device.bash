# SPDX-License-Identifier: BSD-2-Clause
#
# A device on a cable, for scripts that run inside a network namespace of their own; sourcing it lays the cable.
#
#   stands NAME COMMAND...   starts a program of the device and waits until it prints READY, into NAME.out below $WORK
#   judged OPTION...         runs `warpcheck run` with these options, ends the programs, and exits with its status
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
standing=()

stands() {
	rm -f "$WORK/$1.out" # an earlier run's has READY, too
	"${@:2}" >"$WORK/$1.out" 2>&1 &
	standing+=($!)
	prints $! "$WORK/$1.out" READY || exit 99
}

judged() {
	local status=0
	"$WARPCHECK" run "$@" || status=$?
	{
		kill -KILL "${standing[@]}"
		wait "${standing[@]}"
	} 2>/dev/null
	exit $status
}
