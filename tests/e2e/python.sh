#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Python binding of libiwarp (reference-stack/python): its structures and constants are the C compiler's, two queue pairs do each kind of
# work and end in each way, and the echo server answers iwarp-peer.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash
export LIBIWARP=$B/libiwarp.so PYTHONPATH=reference-stack/python PYTHONDONTWRITEBYTECODE=1

expect 0 "what Python thinks of the structures" python3 tests/e2e/python.py layout
sed '/^--$/,$d' "$WORK/stdout" >"$WORK/layout.c"
sed '1,/^--$/d' "$WORK/stdout" >"$WORK/python.txt"
holds "the program that asks the compiler is compiled" "${cc[@]}" -std=gnu17 -I. -Ireference-stack/include -o "$WORK/layout" "$WORK/layout.c"
holds "they are what the compiler makes of them" diff <("$WORK/layout") "$WORK/python.txt"
expect 0 "two queue pairs: each kind of work, and each kind of end" python3 tests/e2e/python.py work
expect 0 "a context that waits" python3 tests/e2e/python.py alone
expect 0 "no memory of the library's is used wrongly" env PYTHONMALLOC=malloc valgrind --quiet --error-exitcode=99 --num-callers=20 \
	python3 tests/e2e/python.py work

# --- The example ------------------------------------------------------------------------------------------------------
echo_server=reference-stack/python/echo.py
holds "it has 30 lines at most" test "$(wc -l <$echo_server)" -le 30
guide() { awk '/^```python$/ { on = 1; next } /^```$/ { on = 0 } on' docs/libiwarp.md; }
holds "the guide shows it" diff <(guide) <(sed -n '/^import contextlib/,$p' $echo_server)
expect 1 "a port that is none" python3 $echo_server nonsense
complains "^echo.py: .*nonsense"
rm -f "$WORK/echo.out"
# A shell lets its background processes ignore interrupts; env gives this one the default.
env --default-signal=INT python3 $echo_server 0 >"$WORK/echo.out" 2>"$WORK/echo.err" </dev/null &
pid[echo]=$!
holds "it serves" prints "${pid[echo]}" "$WORK/echo.out" '^port [0-9]+$'
port=$(sed -n 's/^port //p' "$WORK/echo.out")
expect 1 "its port is taken" python3 $echo_server "$port"
complains "^echo.py: listen: .*in use"
peer_start client
holds "seventy Sends of a stranger come back" echoes client "$port"
holds "and again, on a second connection" echoes client "$port"
holds "the client ends" peer_stop client
interrupted() {
	local status=0
	kill -INT "${pid[echo]}"
	wait "${pid[echo]}" || status=$?
	unset "pid[echo]"
	[ "$status" -eq 0 ] && [ ! -s "$WORK/echo.err" ] || { echo "      status $status: $(head -c 500 "$WORK/echo.err")"; return 1; }
}
holds "an interrupt ends it" interrupted
finish
