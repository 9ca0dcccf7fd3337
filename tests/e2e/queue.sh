#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The queue of the tests (tools/queue.pl): the longest part first, what must be alone is alone, exit statuses and times are kept, and
# nothing is left of a queue that is stopped. The table (tools/check-times.pl) names what ran beside what. Of a script that has
# failed the first wrong assertion stands in the last lines (tools/first-wrong.sh, trace.bash).
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

part() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; } # NAME ALONE COMMAND
queue() { tools/queue.pl "$WORK/expected.tsv" "$WORK/measured.tsv" <"$WORK/parts"; }
export WORK
export -f queue

echo "== order"
printf '# comment\nshort\t1\t1\nlong\t90\t90\nmiddle\t30\t30\n' >"$WORK/expected.tsv"
{ part short - true; part unknown - true; part middle - 'exit 3'; part long - 'kill -9 $$'; } >"$WORK/parts"
expect 0 "one processor" env JOBS=1 bash -c queue
holds "the longest first, one that is not known as if it lasted 20 s" test "$(cut -f1,2 "$WORK/stdout" | paste -sd' ')" = \
	$'long\t137 middle\t3 unknown\t0 short\t0'
holds "each is measured" test "$(cut -f1,2 "$WORK/measured.tsv" | paste -sd' ')" = $'long\t137 middle\t3 unknown\t0 short\t0'

echo "== room"
# Each part waits until the other is there: they end only if they run at once.
mkdir "$WORK/meet"
meets() { printf 'touch %q/%s; source tests/e2e/wait.bash; eventually $$ test -e %q/%s' "$WORK/meet" "$1" "$WORK/meet" "$2"; }
{ part a - "$(meets a b)"; part b - "$(meets b a)"; } >"$WORK/parts"
expect 0 "two processors: two at once" env JOBS=2 bash -c queue
holds "both end" test "$(cut -f2 "$WORK/stdout" | sort -u)" = 0
rm "$WORK"/meet/*
printf 'a\t60\t6\nb\t60\t6\nc\t60\t6\n' >"$WORK/expected.tsv"
{ part a - "$(meets a b)"; part b - "$(meets b c)"; part c - "$(meets c a)"; } >"$WORK/parts"
expect 0 "what waits most of the time leaves room: three at once on one" env JOBS=1 bash -c queue
holds "all end" test "$(cut -f2 "$WORK/stdout" | sort -u)" = 0

echo "== alone"
# A folder can be made once: who finds it there was not alone.
alone() { printf 'mkdir %q/%s && sed -n 1,1000p tools/queue.pl >%q/%s.text && rmdir %q/%s' "$WORK" "$1" "$WORK" "$2" "$WORK" "$1"; }
{
	for name in k l m n; do part "$name" port "$(alone port "$name")"; done
	for name in x y; do part "$name" all "$(alone port "$name")"; done
} >"$WORK/parts"
expect 0 "parts that use the same, and parts that nothing may run beside" env JOBS=8 bash -c queue
holds "were never there at once" test "$(cut -f2 "$WORK/stdout" | sort -u)" = 0

echo "== processes"
part jobs - "echo \$JOBS >$WORK/jobs" >"$WORK/parts"
expect 0 "eight processors" env JOBS=8 bash -c queue
holds "a part computes with half of them" test "$(cat "$WORK/jobs")" = 4
expect 0 "one processor" env JOBS=1 bash -c queue
holds "a part computes with one" test "$(cat "$WORK/jobs")" = 1

echo "== what a part leaves behind"
part leaves - "sleep 1000 & echo \$! >$WORK/left; exit 3" >"$WORK/parts"
expect 0 "a part ends before its processes" env JOBS=1 bash -c queue
holds "they end with it" eventually $$ test ! -e "/proc/$(cat "$WORK/left")/exe"

echo "== a queue that is stopped"
part endless - "echo \$\$ >$WORK/endless.new && mv $WORK/endless.new $WORK/endless && sleep 1000 & wait" >"$WORK/parts"
JOBS=1 tools/queue.pl "$WORK/expected.tsv" "$WORK/measured.tsv" <"$WORK/parts" >"$WORK/stopped" 2>&1 &
queue=$!
holds "runs" eventually "$queue" test -e "$WORK/endless"
kill -TERM "$queue"
status=0
wait "$queue" || status=$?
holds "says so: status $status" test "$status" -eq 1
holds "and its part has ended" eventually $$ bash -c "! kill -0 -$(cat "$WORK/endless") 2>/dev/null"

echo "== wrong input"
printf 'a\tlong\t3\n' >"$WORK/expected.tsv"
expect 2 "times that are none" env JOBS=1 bash -c queue
complains 'line 1: NAME, SECONDS and SECONDS were expected'
printf 'a b c\n' >"$WORK/parts"
: >"$WORK/expected.tsv"
expect 2 "a part that is none" env JOBS=1 bash -c queue
complains 'line 1: NAME, ALONE and COMMAND were expected'
expect 2 "no file of times" tools/queue.pl "$WORK/none" "$WORK/measured.tsv"

echo "== the table"
printf 'e2e/a\t0\t0.00\t10.00\t10.00\ne2e/b\t1\t0.00\t4.00\t4.00\ne2e/c\t0\t4.00\t13.00\t9.00\nlab\t0\t0.00\t12.00\t0.50\n' >"$WORK/measured.tsv"
printf 'build\t0\t0.00\t7.00\t14.00\n' >"$WORK/build.tsv"
expect 0 "of four parts and the build" tools/check-times.pl "$WORK/measured.tsv" "$WORK/times.tsv" "$WORK/build.tsv"
says '^lab +12\.0 +0\.5  e2e/a 10, e2e/c 8, e2e/b 4$'
says '^e2e/b +4\.0 +4\.0  e2e/a 4, lab 4$'
says '^the critical path on two processors, 20 s: build 7, e2e/c 9, e2e/b 4$'
says '^processors computed 38 s, so that two cannot take less than 19 s$'
holds "is kept whole" test "$(grep -c . "$WORK/times.tsv")" -eq 6
holds "with what ran beside" grep -q $'^e2e/c\t9.00\t9.00\t4.00\t13.00\tlab 8, e2e/a 6$' "$WORK/times.tsv"
printf '# head\nold\t3.0\t2.0\ne2e/a\t99.0\t1.0\n' >"$WORK/expected.tsv"
expect 0 "brings the expected times up to date" tools/check-times.pl --expect "$WORK/times.tsv" "$WORK/expected.tsv"
holds "where the parts have run" test "$(paste -sd' ' "$WORK/expected.tsv")" = $'# head lab\t12.0\t0.5 e2e/a\t10.0\t10.0 e2e/c\t9.0\t9.0 e2e/b\t4.0\t4.0 old\t3.0\t2.0'

echo "== a script that has failed"
# failing SCRIPT: what a failed script leaves, as tools/check-part.sh runs it.
failing() {
	TRACE=$WORK/trace BASH_ENV=tests/e2e/trace.bash bash -c "$1" >"$WORK/log" 2>&1 || true
	expect 0 "what is wrong first" tools/first-wrong.sh "$WORK/log" "$WORK/trace"
	holds "in less than 20 lines" test "$(wc -l <"$WORK/stdout")" -lt 20
	rm -f "$WORK/trace"
}
failing 'WORK=$(mktemp -d); source tests/e2e/expect.bash; expect 0 "it works" bash -c "echo no >&2; exit 3"; holds "seven" test 7 -eq 8; for i in {1..60}; do echo "ok   $i"; done; finish'
says 'WRONG it works: exit status 3, expected 0$'
says 'command: bash -c echo no'
says 'stderr: no$'
failing 'export EVENTUALLY_SECONDS=0 WORK=$(mktemp -d); source tests/e2e/expect.bash; source tests/e2e/wait.bash; holds "one" true; eventually $$ false || true; finish'
says 'WRONG not within 0 s: false$'
failing 'set -euo pipefail; f() { local count=41; [ "$count" -eq 42 ]; }; x=$(false; echo) ; if (false); then :; fi; echo working; f; echo never'
says 'exit status 1: \[ "\$count" -eq 42 \]'
says 'count=41$'
says 'working$'

echo "== a script that has held"
printf 'ok    one\n' >"$WORK/log"
expect 0 "with nothing else in its log" tools/unseen.sh "$WORK/log"
for line in 'jq: error (at x:1): Cannot index string with string "broke"' 'jq: 1 compile error' 'tests/e2e/x.sh: line 7: jqq: command not found' 'x.sh: line 3: syntax error near unexpected token'; do
	printf 'ok    one\n%s\n1 checked, 0 wrong\n' "$line" >"$WORK/log"
	expect 1 "though a command of it failed" tools/unseen.sh "$WORK/log"
	says "^WRONG .*no assertion saw it: ${line%% *}"
done
finish
