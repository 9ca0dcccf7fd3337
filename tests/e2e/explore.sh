#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sessions that seeds draw: the correct stack and legal devices fail none, defects are found, and a session that is shown is the one that
# was played. EXPLORE_SESSIONS (1000) from seed EXPLORE_SEED (1) on the correct stack.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

seed=${EXPLORE_SEED:-1}
echo "== nothing fails where nothing is wrong with the device"
expect 0 "sessions on the correct stack" "$WARPCHECK" explore --simulate --seed "$seed" --sessions "${EXPLORE_SESSIONS:-1000}" -j "${JOBS:-$(nproc)}" --format jsonl
holds "the summary says so" jq -e -s '.[-1] | .type == "summary" and .failed == 0 and .undecided == 0 and .wrong > 0 and .wrong < .sessions and .refused > 0 and .refused < .met' "$WORK/stdout"
# Devices that exploration once called faulty, or that were: a Reply in several TCP segments, a Terminate that quotes the first segment,
# segments that go out backwards, a device that is slow to acknowledge.
for choices in tcp.mss=128,reply-flag-wanted terminate-first-segment segments-backwards acks-late,segments-64 immediate-events-all oversize-refused 12; do
	expect 0 "on the legal device $choices" "$WARPCHECK" explore --simulate --choices "$choices" --seed 3 --wrong 50 --sessions 100
done

for llp in sctp sctp-draft02; do
	expect 0 "over $llp" "$WARPCHECK" explore --simulate --llp "$llp" --seed "$seed" --sessions 200 -j "${JOBS:-$(nproc)}"
	expect 0 "a legal device over $llp" "$WARPCHECK" explore --simulate --llp "$llp" --choices 12 --seed 3 --sessions 100
done

expect 0 "one that speaks version 0 of DDP and RDMAP (SCTP-2.2-08)" "$WARPCHECK" explore --simulate --llp sctp-draft02 --choices sctp-version-0 --seed 3 --sessions 100

# What one legal device refuses, and the stack takes: another A in the Reply (EMPA-9.2-31), Immediate Data in segments (ATOM-6.3-09), a
# DDP-SSN that came before (SCTP5043-10-11), octets after a Reply whose PD_Length is wrong (MPA-7.1.1-37).
for case in 'reply-excess-taken tcp 504 145' 'reply-flag-wanted tcp 408 96' 'immediate-split-refused tcp 416 161' 'sctp-duplicate-ends sctp 411 82'; do
	read -r choice llp of number <<<"$case"
	expect 0 "session $number of seed $of on the legal device $choice" "$WARPCHECK" explore --simulate --llp "$llp" --choices "$choice" --seed "$of" --from "$number" --sessions 1
done
# The Response to its first Read is long in coming to it; the second Read waits for that.
expect 0 "a slow device with one Read at a time" "$WARPCHECK" explore --simulate --choices acks-late,window-small,reads-one-by-one --seed 508 --from 23 --sessions 1

echo "== the same seed, the same sessions"
expect 0 "session 9 of seed 4" "$WARPCHECK" explore --simulate --seed 4 --show 9
cp "$WORK/stdout" "$WORK/session.lua"
expect 0 "once more" "$WARPCHECK" explore --simulate --seed 4 --show 9
holds "octet for octet" cmp "$WORK/session.lua" "$WORK/stdout"
expect 0 "it runs as a check" "$WARPCHECK" run --simulate --destructive --script "$WORK/session.lua" --all
says '^PASS +explored-4-9 '
"$WARPCHECK" explore --simulate --llp sctp --seed 4 --show 9 >"$WORK/sctp.lua"
expect 0 "one over SCTP runs as a check" "$WARPCHECK" run --simulate --destructive --llp sctp --script "$WORK/sctp.lua" --all
says '^PASS +explored-4-9 '
expect 1 "a device with a defect" "$WARPCHECK" explore --simulate --defect rdmap-empty-send-undelivered --seed 2 --sessions 200 -j 1
cp "$WORK/stdout" "$WORK/once"
expect 1 "by two processes" "$WARPCHECK" explore --simulate --defect rdmap-empty-send-undelivered --seed 2 --sessions 200 -j 2
holds "the same lines" cmp "$WORK/once" "$WORK/stdout"
number=$(sed -nE '/first is number/{s/.*first is number ([0-9]+) of seed 2$/\1/p;q}' "$WORK/once")
expect 1 "its first session alone" "$WARPCHECK" explore --simulate --defect rdmap-empty-send-undelivered --seed 2 --from "$number" --sessions 1
"$WARPCHECK" explore --simulate --seed 2 --show "$number" >"$WORK/session.lua"
expect 1 "and as a check" "$WARPCHECK" run --simulate --destructive --defect rdmap-empty-send-undelivered --script "$WORK/session.lua"
says "^FAIL +explored-2-$number "

echo "== defects are found, each by what it breaks"
found() { # DEFECT WORDS
	expect 1 "$1" "$WARPCHECK" explore --simulate --defect "$1" --first --whole --sessions 2000
	says "$2"
}
found ddp-msn-shared '^FAIL +DDP-4\.3-12: '
found next-solicited 'what the ULP is told of delivery [0-9]+: solicited'
found ddp-stag-hangs '^FAIL  how the device reacts'
found bound-response-stag-second '^FAIL +RDMAP-4\.4-03: '

echo "== what fails is reduced to a check"
reduced() { # DEFECT STEPS [OPTION...]: sessions with at most so many steps are left
	local check count
	expect 1 "$1" "$WARPCHECK" explore --simulate --defect "$1" -o "$WORK/$1" "${@:3}"
	checks=("$WORK/$1"/checks/*.lua)
	holds "a check" test -s "${checks[0]}"
	holds "of few steps" test "$(grep -c '^      { "' "${checks[0]}")" -le "$2"
	expect 0 "the correct stack passes it" "$WARPCHECK" run --simulate --destructive --script "${checks[0]}"
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		expect 1 "the defect fails it, seed $seed" "$WARPCHECK" run --simulate --destructive --defect "$1" --seed "$seed" --script "${checks[0]}"
	done
	for check in "${checks[@]}"; do
		holds "its evidence is there" test -s "$WORK/$1/run/evidence/$(basename "$check" .lua).pcapng"
	done
	holds "its result has a ladder" jq -e -s 'any(.verdict == "FAIL" and (.steps | length > 0))' "$WORK/$1/run/results.jsonl"
	holds "the report is there" test -s "$WORK/$1/run/index.html"
}
reduced rdmap-empty-send-undelivered 1 --sessions 100
reduced ddp-length-no-buffer 1 --sessions 200
reduced next-solicited 2 --sessions 50

echo "== as many names as there may be"
names=()
for _ in {1..16}; do names+=(--defect ddp-msn-shared --variant immediate-events-all); done
expect 0 "sixteen defects and sixteen variants" "$WARPCHECK" explore --simulate --wrong 0 --from 1 --sessions 1 "${names[@]}"
says '^1 sessions, 0 with something wrong: 0 failed'

echo "== wrong arguments"
refuses explore "-o DIR was expected"
refuses explore "excludes --whole" --simulate --whole -o "$WORK/x"
mkdir -p "$WORK/there/checks"
expect 4 "a folder with checks" "$WARPCHECK" explore --simulate --defect next-solicited --sessions 50 -o "$WORK/there"
complains "a new folder was expected"
refuses explore "did you mean \"ddp-qn-unchecked\"" --simulate --defect ddp-qn-uncheked
refuses explore "tcp, sctp or sctp-draft02 was expected" --simulate --llp cm
refuses explore "--sessions" --simulate --sessions 0
refuses explore "--wrong" --simulate --wrong 101
refuses explore "segments-backwards" --simulate --choices segments-backwards,segments-uneven
finish
