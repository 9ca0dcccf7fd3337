#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The course is taken: with right answers, each found in the way that the lessons teach, it is passed; with wrong ones it is not. The peer's defect is
# on no command line. Progress is remembered, forgotten, and refused where its file is none.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
export XDG_STATE_HOME=$WORK/state
state=$XDG_STATE_HOME/warpcheck/course.json
exercises=$(grep -c '^[0-9]' conformance/engine/course/exercises.tsv)

# found CAPTURE FIELDS: the first FAIL of the audit, as words of an answer
found() {
	"$WARPCHECK" audit "$1" --format jsonl >"$WORK/found" || true
	jq -rs "[.[] | select(.type == \"result\" and .verdict == \"FAIL\")][0] | \"$2\"" "$WORK/found"
}
begin() { expect 0 "start $1" "$WARPCHECK" course start "$1" -o "$WORK/$1"; }
capture() { echo "$WORK/$1/exercise-$1.pcapng"; }
right() {
	expect 0 "exercise $1: ${*:2}" "$WARPCHECK" course answer "$@"
	says '^right: '
}

echo "== nothing is done yet"
expect 1 "not passed" "$WARPCHECK" course --passed
says "^0 of $exercises exercises passed\$"
expect 0 "the list" "$WARPCHECK" course
says '^next: warpcheck course start 1$'

echo "== wrong answers"
script=conformance/templates/responder.lua
for answer in "1 8 initiator" "1 17 responder" "2 12 initiator" "3 5 initiator" "4 MPA-4.4-14" "5 MPA-4.4-14 9" "5 MPA-4.1-03 10" \
	"6 MPA-4.2-05 18" "7 DDP-5.2-08 11" "8 DDP-4.3-12 10" "9 RDMAP-4.8-03 8" "10 DDP-7.1-01" "11 $script" "12 $script" "13 MPA-4.3-04 17" "14 RDMAP-4.4-02"; do
	read -ra words <<<"$answer"
	expect 1 "exercise $answer" "$WARPCHECK" course answer "${words[@]}"
	says '^wrong: '
done
always='check { id = "DDP-7.1-05", purpose = "fails always", run = function(t) t:fail("always", "", "") end }'
never='check { id = "DDP-7.1-05", purpose = "fails never", run = function(t) t:open() end }'
other=${always/DDP-7.1-05/my-own}
for text in "$always" "$never" "$other"; do
	echo "$text" >"$WORK/wrong.lua"
	expect 1 "a check that shows nothing" "$WARPCHECK" course answer 11 "$WORK/wrong.lua"
	says '^wrong: '
done
expect 1 "who answers wrongly has not passed" "$WARPCHECK" course --passed
says "^0 of $exercises exercises passed\$"
expect 0 "the list" "$WARPCHECK" course
says ' 1  capture .*\(2 answers\)$'

echo "== right answers"
for n in 1 2 3; do
	begin "$n"
	read -ra words <<<"$(found "$(capture "$n")" '\(.frame) \(.role)')"
	right "$n" "${words[@]}"
done
for n in 5 6 7 8 9 13; do
	begin "$n"
	read -ra words <<<"$(found "$(capture "$n")" '\(.id) \(.frame)')"
	right "$n" "${words[@]}"
done
crc=$("$WARPCHECK" dump "$(capture 5)" --format jsonl | jq -s '[.[] | select(.fpdu.crc_ok == false)][0].frame')
right 5 mpa-4.4-14 "$crc"

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/expect.bash
ip link set lo up
dumpcap -q -i lo -f 'tcp port 9999' -w "$WORK/live.pcapng" 2>"$WORK/dumpcap" &
capturing=$!
eventually "$capturing" test -s "$WORK/live.pcapng" || { cat "$WORK/dumpcap"; exit 1; }
rm -f "$WORK/peer"
"$WARPCHECK" course peer 4 --listen 9999 >"$WORK/peer" 2>&1 &
peer=$!
prints "$peer" "$WORK/peer" '^READY listen=9999' || exit 1
tr '\0' ' ' <"/proc/$peer/cmdline" >"$WORK/cmdline"
"$WARPCHECK" peer --connect 127.0.0.1:9999 --once >"$WORK/client" 2>&1 &
client=$!
whole() { "$WARPCHECK" dump "$WORK/live.pcapng" 2>/dev/null | grep -c 'MPA Reply' >"$WORK/replies"; }
eventually "$capturing" whole || exit 1
kill "$client" "$peer" "$capturing" || true
wait
INSIDE
if unshare -rn true 2>"$WORK/unshare" && command -v dumpcap >"$WORK/dumpcap"; then
	export WARPCHECK
	lines=any expect 0 "the peer's start-up is captured" unshare -rn env WORK="$WORK" bash "$WORK/inside.sh"
	holds "its command line does not tell" test "$(cat "$WORK/cmdline")" = "$WARPCHECK course peer 4 --listen 9999 "
	holds "nor does what it prints" test "$(grep -c reserved "$WORK/peer")" -eq 0
	right 4 "$(found "$WORK/live.pcapng" '\(.id)')"
else
	echo "no network namespaces or no dumpcap: the answer is the one of the teacher's table"
	right 4 "$("$WARPCHECK" course --solutions | sed -nE 's/^\| 4 .* \| ([A-Z0-9.-]+) \|$/\1/p')"
fi
expect 1 "checks on the device" "$WARPCHECK" course run 10 'DDP-7.1-13'
holds "the defect is not shown" test "$(grep -c 'ddp-end\|--defect' "$WORK/stdout")" -eq 0
expect 1 "checks on the other device" "$WARPCHECK" course run 14 'RDMAP-4.4-01'
right 14 "$(sed -nE 's/^FAIL +([^ ]+) .*/\1/p' "$WORK/stdout" | sed -n 1p)"
expect 1 "checks on the device" "$WARPCHECK" course run 10 'DDP-7.1-13'
right 10 "$(sed -nE 's/^FAIL +([^ ]+) .*/\1/p' "$WORK/stdout" | sed -n 1p)"
awk -v to="$WORK/solution" '/^```lua$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (to n ".lua") }' docs/course/solutions.md
expect 1 "not passed before the last two" "$WARPCHECK" course --passed
right 11 "$WORK/solution1.lua"
right 12 "$WORK/solution2.lua"
expect 0 "the course is passed" "$WARPCHECK" course --passed
says "^$exercises of $exercises exercises passed: the course is passed\$"
expect 1 "a later wrong answer" "$WARPCHECK" course answer 1 8 initiator
expect 0 "what is passed stays passed" "$WARPCHECK" course --passed

echo "== what cannot be"
bad() {
	expect 2 "$2" "$WARPCHECK" course "${@:3}"
	complains "$1"
}
bad 'was expected, did you mean "start"' "a misspelt word" strat 1
bad 'unknown option' "an option that is none" --force
bad 'number of an exercise' "no number" start
bad "there is no exercise \"$((exercises + 1))\"" "no such exercise" start "$((exercises + 1))"
bad 'there is no exercise' "a number that is none" hint 1x
bad '-o needs a value' "no folder" start 1 -o
bad 'asks for FRAME ROLE' "too few words" answer 1 17
bad 'is no number of a frame' "no frame" answer 1 x initiator
bad 'initiator or responder' "no role" answer 1 17 client
bad 'MPA-4.4-14' "a misspelt id" answer 5 MPA-4.4-144 10
bad 'has no peer' "no peer" peer 1
bad 'has no device' "no device" run 1
bad 'id or a glob' "an option for the run" run 10 --defect
bad 'No such file' "no script" answer 11 "$WORK/none.lua"
echo 'check {' >"$WORK/broken.lua"
bad 'broken.lua:' "a script that is none" answer 11 "$WORK/broken.lua"
bad 'stands alone' "an option and a word" --reset start 1

echo "== the file of progress"
cp "$state" "$WORK/kept"
for text in '' '{' '{"version": 9, "exercises": {}}' '{"version": 1, "exercises": {"1": {"tries": -1}}}'; do
	echo "$text" >"$state"
	expect 4 "progress that is none: $text" "$WARPCHECK" course
	complains 'course.json: .*--reset'
done
expect 0 "it is forgotten" "$WARPCHECK" course --reset
expect 1 "nothing is passed" "$WARPCHECK" course --passed
rm "$state"
ln -s "$WORK/kept" "$state"
expect 4 "a link in its place" "$WARPCHECK" course
expect 0 "is replaced, and not followed" "$WARPCHECK" course --reset
holds "what it led to stays" grep -q passed "$WORK/kept"
rm "$state"
mkfifo "$state"
expect 4 "a pipe in its place" "$WARPCHECK" course
rm "$state"
expect 4 "no place for it" env -u XDG_STATE_HOME -u HOME "$WARPCHECK" course
expect 0 "without XDG_STATE_HOME" env -u XDG_STATE_HOME HOME="$WORK/home" "$WARPCHECK" course --reset
holds "it is below HOME" test -s "$WORK/home/.local/state/warpcheck/course.json"
finish
