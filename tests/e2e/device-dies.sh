#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The embedded device is killed at counted moments of a live run, by SIGKILL as a person or a system without memory does
# it: the kernel closes its connections, which no verdict may rest on. Or one of its allocations fails. The check that
# was running is INCONCLUSIVE, none fails, and --resume ends as a run does that nobody disturbed. A crash (SIGSEGV) is a
# FAIL of the check that was running, and of no other.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
run=("$WARPCHECK" run MPA-7.1-06 DDP-5.3-01 --role responder -j 1 -o "$WORK/out")
chaos=(env LD_PRELOAD="$B/chaos.so" CHAOS_CLASS=files CHAOS_COUNT="$WORK/count")
verdicts() { jq -r 'select(.type == "result") | .verdict' "$WORK/out/results.jsonl" | sort | uniq -c; }
whole() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$WORK/out/results.jsonl" | sort -u; }
blamed() { grep -E 'FAIL|WARN|KNOWN' <(verdicts); }

expect 0 "nobody disturbs it" "${chaos[@]}" "${run[@]}"
whole >"$WORK/whole"
calls=$(cut -d' ' -f1 "$WORK/count")
holds "$calls calls are made, at least 100" test "$calls" -ge 100
died=0
for ((i = 1; i <= 12; i++)); do
	at=$((calls * i / 14)) status=0
	rm -rf "$WORK/out"
	"${chaos[@]}" CHAOS_AT="$at" CHAOS_DO=orphan "${run[@]}" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	holds "the device is killed at call $at (status $status)" test "$status" -eq 4 -o "$status" -eq 0
	# In the midst of a connection, or between two: then the next one is refused. No check decides anything either way.
	! grep -q INCONCLUSIVE <(verdicts) || died=$((died + 1))
	holds "nothing is blamed on it at call $at: $(verdicts | xargs)" test -z "$(blamed)"
	expect 0 "killed at call $at, then gone on with" "${run[@]}" --resume
	whole >"$WORK/again"
	holds "the same as when undisturbed" diff "$WORK/whole" "$WORK/again"
done
holds "it died before the end of most ($died)" test "$died" -ge 6

crashed=0
for ((i = 2; i <= 12; i += 2)); do
	at=$((calls * i / 14)) status=0
	rm -rf "$WORK/out"
	"${chaos[@]}" CHAOS_AT="$at" CHAOS_DO=orphan CHAOS_SIGNAL=11 "${run[@]}" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	[ "$(blamed | awk '{ print $1 }')" != 1 ] || crashed=$((crashed + 1))
	holds "one check at most is blamed for the crash at call $at: $(verdicts | xargs)" test "$(blamed | awk '{ n += $1 } END { print n + 0 }')" -le 1
	holds "by the signal (status $status)" test "$status" -ne 1 -o \
		"$(grep -c 'the device did not survive this check: the device.s process ended (signal 11)' "$WORK/out/results.jsonl")" -eq 1
done
holds "most crashes are findings ($crashed)" test "$crashed" -ge 2

# Allocations of the device: the last that was made in a new place shows how many there are until it has done everything
# once. Those before it serve the exchanges that show what the device serves; the checks come after it.
short=0 memory=(env LD_PRELOAD="$B/chaos.so" CHAOS_CLASS=memory CHAOS_WHO=programs)
"${memory[@]}" CHAOS_SITES="$WORK/sites" "${run[@]}" --force >"$WORK/stdout" 2>"$WORK/stderr" || true
allocations=$(sort -n "$WORK/sites" | tail -1)
holds "the device makes $allocations allocations, at least 100" test "$allocations" -ge 100
memory+=(CHAOS_DO=fail)
for ((i = 1; i <= 20; i++)); do
	at=$((allocations * i / 8)) status=0
	rm -rf "$WORK/out"
	"${memory[@]}" CHAOS_AT="$at" "${run[@]}" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	holds "the device's allocation $at fails (status $status)" test "$status" -eq 4 -o "$status" -eq 0
	[ -s "$WORK/out/results.jsonl" ] || continue
	! grep -q "the device's process is out of memory" "$WORK/out/results.jsonl" || short=$((short + 1))
	holds "nothing is blamed on it: $(verdicts | xargs)" test -z "$(blamed)"
done
holds "the device was short of memory in some ($short)" test "$short" -ge 5
finish
