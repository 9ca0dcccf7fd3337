#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device of another origin: tests/e2e/rnic/rnic.py, an iWARP stack above the kernel's TCP, made from the RFCs alone. None of its
# habits, which the texts allow, fails a check, in either role; each of some faults does. habits.py has the words for both.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
command -v python3 >"$WORK/python" || { echo "no python3"; exit 77; }

# What each habit meets: how streams begin, what segments look like, Reads and how they end, errors and their Terminates.
met=(MPA-4.3-04 MPA-7.1-01 MPA-7.1-02 MPA-7.1.2-04 EMPA-9.1-04 DDP-4.2-01 DDP-4.3-01 DDP-5.2-04 DDP-6.2.1-06 DDP-7.1-01 DDP-7.2-07 RDMAP-4.4-03
	RDMAP-5.2-01 RDMAP-5.2.1-03 RDMAP-5.5-10 ATOM-7-10)
# And what one of them meets besides.
declare -A also=([receive-big]="DDP-1.2-03 DDP-5.2-05 DDP-7.1-03 DDP-7.1-04 DDP-7.1-15 DDP-7.1-24 DDP-7.2-01 RDMAP-3.1-08 RDMAP-4.8-05 RDMAP-4.8-34
		RDMAP-5.3-06 RDMAP-7.1-05" [terminate-then-reset]=ATOM-8.1-03 [ord-1]=ATOM7306-5-07 [at-once]="ATOM-8.1-03 EMPA-3-02"
	[falls-back]="EMPA-6-02 EMPA-6-05 EMPA-9-02 EMPA-9.1-0[12] EMPA-9.2-0[12] EMPA-10-1[12]"
	[one-place]="MPA-1.2-01 MPA-5.1-05 MPA-7.1.5-03 DDP-4.2-07 RDMAP-5.2.1-10 RDMAP-5.2.1-20 RDMAP-5.4-10 RDMAP-7.2-15 RDMAP-B-04 ATOM-8.1-03"
	[few-means]="DDP-5.2-0[12] RDMAP-5.5-06 RDMAP-5.1-08 RDMAP-8.1.1-0* MPA-7.1.1-2[6-9]" [fpdus-short]=RDMAP-7.1-08 [ulp-late]="DDP-4.3-06 DDP-4.3-07 DDP-4.3-11 DDP-5.2-16 DDP-5.3-10 MPA-4.4-20")

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
control=(--control 7470)
[ -z "$ALONE" ] || control=()
stands rnic python3 tests/e2e/rnic/rnic.py --address 10.99.0.2 --listen 9999 "${control[@]}" "$1"
[ -z "$SKELETON" ] || RNIC_CONTROL=7470 stands skeleton "$SKELETON" 7471
judged --dut "$WORK/rnic.json" -o "$WORK/out/$1" --quiet "${@:2}"
INSIDE
at='"address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999'
echo "{ $at, \"control\": \"127.0.0.1:7470\" }" >"$WORK/upper.json"
alone="$at, \"capabilities\": { \"initiator\": \"no\" }"
echo "{ $alone }" >"$WORK/alone.json"
for habit in rejects-without closes-without; do # what the profile gives their ULP: "please"
	echo "{ $alone, \"request_private_data\": \"706c65617365\" }" >"$WORK/$habit.json"
done
mkdir "$WORK/log"
export WORK WARPCHECK ALONE='' SKELETON=''
# Each in a network of its own, so that many wait side by side. The status is in NAME's log.
# ALONE: no upper tester, but a ULP of the device's own.
meet() { # WORD SELECTION...
	local status=0 name=${NAMED:-$1}
	local work=$WORK/log/$name.work
	mkdir "$work" "$work/out"
	cp "$WORK/${ALONE:-upper}.json" "$work/rnic.json"
	[ ! -e "$WORK/$name.json" ] || cp "$WORK/$name.json" "$work/rnic.json"
	env WORK="$work" unshare -rn bash "$WORK/inside.sh" "$@" >"$WORK/log/$name" 2>&1 || status=$?
	echo "status $status" >>"$WORK/log/$name"
}
export -f meet
findings() { jq -r --arg verdict "$2" 'select(.type == "result" and .verdict == $verdict) | "\(.id) \(.role // "-")"' "$WORK/log/$1.work/out/${1%-c}/results.jsonl" | LC_ALL=C sort -u | xargs; }

echo "== habits"
words() { python3 -c "import sys; sys.path.insert(0, 'tests/e2e/rnic'); import habits; print(*habits.$1, sep='\n')"; }
words HABITS >"$WORK/habits"
words OF_ULP | LC_ALL=C sort >"$WORK/alone"
{ echo at-once; grep -vxFf "$WORK/alone" "$WORK/habits"; } | while read -r habit; do
	# shellcheck disable=SC2086 # several words, or none: xargs takes a blank at the end for a line that goes on
	echo "$habit" "${met[@]}" ${also[$habit]:-}
done | xargs -P 6 -L 1 bash -c 'meet "$@"' meet
ALONE=alone xargs -P 6 -I{} bash -c 'meet "$@"' meet {} "${met[@]}" <"$WORK/alone"
# All that one device can have together.
holds "thirty habits or more are tried at once" test "$(words AT_ONCE | wc -l)" -ge 30
holds "each is one that is tried alone" test -z "$(words AT_ONCE | grep -vxFf "$WORK/habits")"
echo at-once >>"$WORK/habits"
while read -r habit; do
	holds "$habit: the run came to its end: $(tail -n 2 "$WORK/log/$habit" | xargs)" grep -qE '^status [045]$' "$WORK/log/$habit"
	holds "$habit: nothing fails: $(findings "$habit" FAIL)" test -z "$(findings "$habit" FAIL)"
	holds "$habit: some pass" test -n "$(findings "$habit" PASS)"
done <"$WORK/habits"

echo "== the skeleton in C"
# The other runs have the one in Python. The same device, behind a copy of the one in C: one habit, and all at once.
read -ra cc <<<"${HOST_CC:-${CC:-cc}}"
sed -e '/VENDOR: a function of your own in place of unsupported/i #include "tests/e2e/rnic/skeleton_device.h"' \
	-e '/^ *{"[a-z_]*", /s/"\([a-z_]*\)", [a-z_]*,/"\1", forward,/' upper-tester/skeleton/skeleton_main.c >"$WORK/skeleton.c"
holds "all of its verbs are filled in" test "$(grep -c '^ *{"[a-z_]*", forward,' "$WORK/skeleton.c")" -gt 20
holds "the skeleton in C" "${cc[@]}" -std=gnu17 -Wall -Wextra -Wno-unused-function -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I. \
	-o "$WORK/skeleton" "$WORK/skeleton.c" -ljansson
jq '.control = "127.0.0.1:7471"' "$WORK/upper.json" | tee "$WORK/plain-c.json" >"$WORK/at-once-c.json"
for habit in plain at-once; do
	# shellcheck disable=SC2086 # several words, or none
	SKELETON=$WORK/skeleton NAMED=$habit-c meet "$habit" "${met[@]}" ${also[$habit]:-} &
done
wait
for habit in plain at-once; do
	verdicts() { jq -r 'select(.type == "result") | "\(.id) \(.role) \(.verdict)"' "$WORK/log/$1.work/out/$habit/results.jsonl" | LC_ALL=C sort; }
	holds "$habit: nothing fails" test -z "$(findings "$habit-c" FAIL)"
	holds "$habit: the verdicts are those with the skeleton in Python" diff <(verdicts "$habit") <(verdicts "$habit-c")
done

# And the one that nobody has filled in: what nobody can ask the device for is skipped, and leaves nothing undecided.
holds "the skeleton as it stands" "${cc[@]}" -std=gnu17 -O1 -o "$WORK/bare" upper-tester/skeleton/skeleton_main.c -ljansson
# shellcheck disable=SC2016 # the script's own parameter
printf '#!/bin/sh\nexec "%s" "$1" 9999\n' "$WORK/bare" >"$WORK/bare.sh"
chmod +x "$WORK/bare.sh"
cp "$WORK/plain-c.json" "$WORK/bare.json"
ALONE=alone SKELETON=$WORK/bare.sh NAMED=bare meet plain 'MPA-7.1.1-*'
holds "the skeleton as it stands: passes and skips" jq -es '[.[] | select(.type == "result") | .verdict] | unique - ["AMBIGUOUS"] == ["PASS", "SKIP"]' \
	"$WORK/log/bare.work/out/plain/results.jsonl"

echo "== faults"
cat >"$WORK/faults" <<'LIST'
f-crc-zero MPA-4.4*
f-pad-not-zero MPA-4.1*
f-marker-place MPA-4.3*
f-reply-rev MPA-7.1.1*
f-depths-swapped EMPA-9.1*
f-msn-stays DDP-4.3*
f-mo-zero DDP-4.3*
f-bounds-one DDP-7.1*
f-terminate-code DDP-7.1*
f-read-size-16 RDMAP-4.4*
f-not-invalidated RDMAP-5.3*
f-responses-reversed RDMAP-5.2*
f-delivers-twice DDP-5.*
f-atomic-value ATOM-5.1*
LIST
xargs -P 6 -L 1 bash -c 'meet "$@"' meet <"$WORK/faults"
while read -r fault selection; do
	holds "$fault: $selection fails: $(findings "$fault" FAIL | head -c 200)" test -n "$(findings "$fault" FAIL)"
done <"$WORK/faults"
finish
