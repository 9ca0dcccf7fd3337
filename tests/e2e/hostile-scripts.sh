#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Scripts that mean harm (tests/data/hostile; the first line of each says which command, what exit status and what sentence), short
# memory, and signals while a script computes: one sentence, the right exit status, no file out of place, results that stay whole.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
hostile=tests/data/hostile

for script in "$hostile"/*.lua; do
	name=$(basename "$script" .lua)
	read -r _ command status text <"$script"
	if [ "$command" = run ]; then
		got=0
		timeout -k 5 300 "$WARPCHECK" run --simulate --script "$script" -o "$WORK/out/$name" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || got=$?
		holds "run: $name ends with $status" test "$got" = "$status"
	else
		expect "$status" "gen: $name" "$WARPCHECK" gen -o "$WORK/$name.pcapng" "$script"
		holds "$name writes nothing" test ! -e "$WORK/$name.pcapng"
	fi
	cat "$WORK/stdout" "$WORK/stderr" >"$WORK/both"
	holds "and it says: $text" grep -qF -- "$text" "$WORK/both"
done
holds "no file is named after ../" test -z "$(find "$WORK" -name 'outside*')"

# What a script does to the library, it does to itself.
cp "$hostile/caught-shortage.lua" "$WORK/next.lua"
sed -i 's/A-1/A-2/; s/if .* then t:fail("wrong") end/t:connect() t:equal("format", "07", ("%02d"):format(7))/' "$WORK/next.lua"
sed 's/^check .*/check = rig/' "$hostile/spoils.lua" >"$WORK/spoils.lua"
expect 0 "a script behind one that spoils the library" "$WARPCHECK" run --simulate --script "$WORK/spoils.lua" --script "$WORK/next.lua" --all
says 'PASS +A-2'

# Short memory: 4 and a sentence, or all of it, never an abort.
sizes=0
for kib in $(seq 8000 4000 80000); do
	status=0
	(ulimit -v "$kib" && exec "$WARPCHECK" run --simulate MPA-7.1-02 --role responder) >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	[ "$status" -ne 127 ] || continue # the program itself could not be loaded
	sizes=$((sizes + 1))
	last="with $kib KiB"
	holds "with $kib KiB: 0 or 4" test "$status" = 0 -o "$status" = 4
	[ "$status" = 0 ] || holds "with $kib KiB: a sentence" test -s "$WORK/stderr" -o -s "$WORK/stdout"
done
holds "some of these sizes let the program start" test "$sizes" -gt 3

# Signals. The second check compares long texts: each comparison is one instruction.
cat >"$WORK/stays.lua" <<'LUA'
check { id = "A-1", purpose = "p", run = function() end }
check {
  id = "A-2",
  purpose = "p",
  run = function()
    local s = ("x"):rep(50000000)
    local a, b = s .. "a", s .. "b"
    while a ~= b do s = a < b end
  end,
}
LUA
wait_for() { # FILE PATTERN
	prints "$process" "$1" "$2" || wrong "$last: it ended before $1 had $2"
}
"$WARPCHECK" run --simulate --script "$WORK/stays.lua" -o "$WORK/signals" >"$WORK/stdout" 2>"$WORK/stderr" &
process=$! last="two signals during a script"
wait_for "$WORK/signals/results.jsonl" '"id":"A-1"'
kill -TERM "$process"
kill -INT "$process"
status=0
wait "$process" || status=$?
holds "two signals end the run with 4" test "$status" = 4
complains 'interrupted twice'
holds "its results are whole lines" jq -e . "$WORK/signals/results.jsonl"
holds "and the first check's is there" grep -q '"id":"A-1"' "$WORK/signals/results.jsonl"

"$WARPCHECK" run --simulate --script "$WORK/stays.lua" -o "$WORK/timer" >"$WORK/stdout" 2>"$WORK/stderr" && status=0 || status=$?
last="a script inside one call after the other"
holds "a script that no count stops is stopped by the timer" test "$status" = 2
says 'does not end'

# prove: one signal ends it, and its workers.
mkdir "$WORK/scripts"
cp "$WORK/stays.lua" "$WORK/scripts"
mkfifo "$WORK/pipe"
"$WARPCHECK" prove --scripts "$WORK/scripts" --seeds 1 -j 2 --format jsonl >"$WORK/stdout" 2>"$WORK/stderr" &
process=$! last="a signal during prove"
# Asked once: a worker that was there may be gone, and another not yet there, when it is asked again.
until workers=$(pgrep -P "$process" | paste -sd ' ') && [ -n "$workers" ]; do kill -0 "$process" || break; done
kill -TERM "$process"
status=0
wait "$process" || status=$?
holds "a signal ends prove with 4" test "$status" = 4
complains 'interrupted'
for worker in $workers; do holds "worker $worker is gone" test ! -e "/proc/$worker"; done

# gen: nothing half is left behind.
cat >"$WORK/stays-gen.lua" <<'LUA'
packet("x")
local s = ("x"):rep(50000000)
local a, b = s .. "a", s .. "b"
while a ~= b do s = a < b end
LUA
"$WARPCHECK" gen -o "$WORK/half.pcapng" "$WORK/stays-gen.lua" >"$WORK/stdout" 2>"$WORK/stderr" &
process=$! last="two signals during gen"
until [ -e "$WORK/half.pcapng.part" ]; do kill -0 "$process" || break; done
kill -TERM "$process"
kill -INT "$process"
status=0
wait "$process" || status=$?
holds "two signals end gen with 4" test "$status" = 4
holds "and leave nothing half" test -z "$(find "$WORK" -name 'half*')"

# The same when both signals come right after a file was opened, whichever it is.
echo 'packet("x")' >"$WORK/short-gen.lua"
for ((at = 1, twice = 1; twice == 1 && at < 400; at++)); do
	last="two signals after file $at of gen" status=0
	CHAOS_CLASS=open CHAOS_AT=$at CHAOS_DO=twice CHAOS_COUNT=$WORK/twice.count LD_PRELOAD=$B/chaos.so \
		"$WARPCHECK" gen -o "$WORK/twice.pcapng" "$WORK/short-gen.lua" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	[ "$status" != 0 ] || { twice=$(grep -c happened "$WORK/twice.count" || true) && rm "$WORK/twice.count"; }
	holds "nothing half is left" test ! -e "$WORK/twice.pcapng.part"
done
holds "files were opened" test "$at" -gt 3 -a "$at" -lt 400

# audit: a capture that never comes.
cp "$WORK/out/closes/evidence/A-1.pcapng" "$WORK/first.pcapng"
"$WARPCHECK" audit -o "$WORK/audit" "$WORK/first.pcapng" "$WORK/pipe" >"$WORK/stdout" 2>"$WORK/stderr" &
process=$! last="signals during audit"
exec {hold}<>"$WORK/pipe"
wait_for "$WORK/audit/results.jsonl" 'first.pcapng'
kill -TERM "$process"
kill -INT "$process"
status=0
wait "$process" || status=$?
exec {hold}>&-
holds "signals end audit with 4" test "$status" = 4
holds "its results are whole lines" jq -e . "$WORK/audit/results.jsonl"
finish
