#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Known deviations of a device, from its profile to the exit status and every report: what is known is KNOWN, whatever else fails,
# and nothing of it conforms. The device is iwarp-peer with a defect, behind a profile, in namespaces of the run's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

checks=('DDP-7.1-01' 'DDP-7.1-17' 'DDP-6.2.2-03' 'DDP-7.1-05')
code='Invalid MSN - MSN range is not valid (0x1203)'

# profile FILE DAY ENTRY...: a device with these known deviations, excused up to that day.
profile() {
	local file=$1 day=$2
	shift 2
	{
		echo '{ "name": "mine", "replay": "mine --quick; x", "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999,'
		echo '  "control": "127.0.0.1:7471", "known_deviations": ['
		printf '%s\n' "$@" | sed "\$!s/\$/,/; s/@DAY@/$day/"
		echo ']}'
	} >"$WORK/$file.json"
}
entry() { # ID MESSAGE ACTUAL [MORE]
	echo "{ \"requirement\": \"$1\", \"role\": \"responder\", \"by\": \"check\", \"message\": \"$2\", \"actual\": \"$3\", \"finding\": \"1: wrong code\", \"note\": \"told them\", \"review_by\": \"@DAY@\"${4:-} }"
}
wrong_code="Terminate DDP / Untagged Buffer Error / $code"
one=$(entry DDP-7.1-01 'a Send on QN 0x<hex>' "$wrong_code")
two=$(entry DDP-7.1-17 'an error of DDP is reported' "$wrong_code")
three=$(entry DDP-6.2.2-03 'an invalid DDP header ends the stream' "$wrong_code")
later=$(($(date -u +%Y) + 1))-06-30

# Inside: a kernel TCP at one end of a cable, the device behind it, the run at the other end. $1: the device's options; the others:
# those of the run. AFTER=N: once there are so many results the device is killed, or, with ENDS=run, the run interrupted.
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
read -ra options <<<"$1"
rm -f "$WORK/peer.out"
"$IWARP_PEER" --control 7471 "${options[@]}" >"$WORK/peer.out" 2>&1 &
peer=$!
prints "$peer" "$WORK/peer.out" READY || exit 99
"$WARPCHECK" run --role responder "${@:2}" &
run=$!
if [ -n "${AFTER:-}" ]; then
	results() { [ ! -e "$WORK/out/results.jsonl" ] || grep -c '"type":"result"' "$WORK/out/results.jsonl"; }
	while kill -0 "$run" 2>/dev/null && [[ $(results) -lt $AFTER ]]; do sleep 0.01; done
	# The device dies of a check: while the run stands still, a connection to a listener that the check has asked for is open.
	# Exchanges around checks have the usual listener.
	stimulated() { [ -n "$(ss -Htn state established src 10.99.0.2 and sport != :9999)" ]; }
	dies() {
		while kill -0 "$run" 2>/dev/null; do
			if stimulated; then
				kill -STOP "$run"
				if stimulated; then kill -KILL "$peer" && kill -CONT "$run" && return; fi
				kill -CONT "$run"
			fi
			sleep 0.01
		done
	}
	if [ "${ENDS:-device}" = run ]; then kill -INT "$run"; else dies; fi
fi
status=0
wait "$run" || status=$?
kill -KILL "$peer" 2>/dev/null
exit "$status"
INSIDE

# judged STATUS WHAT DEVICE PROFILE OPTION...: a run of the checks, its results in $WORK/out.
judged() {
	local status=$1 what=$2 device=$3 profile=$4
	shift 4
	rm -rf "$WORK/out"
	export WORK WARPCHECK IWARP_PEER
	lines=any expect "$status" "$what" unshare -rn bash "$WORK/inside.sh" "$device" --dut "$WORK/$profile.json" -o "$WORK/out" "$@" "${checks[@]}"
}
verdicts() { jq -r 'select(.type == "result" and .by == "check") | "\(.id) \(.verdict)"' "$WORK/out/results.jsonl" | paste -s -d ,; }

profile none "$later"
sed -i 's/, *"known_deviations": \[/, "hazards": [/' "$WORK/none.json"
profile known "$later" "$one" "$two" "$three"
bad='--defect ddp-qn-wrong-code'
judged 1 "a defect that nobody knows" "$bad" none
judged 5 "a defect that the profile knows" "$bad" known
says '^does not conform; it deviates as known: 3 results of 1 finding, nothing new$'
says '^KNOWN  DDP-7\.1-01  responder'
says '^      finding   1: wrong code \(told them, review by '
holds "each is KNOWN, and the rest passes" test "$(verdicts)" = "DDP-7.1-01 KNOWN,DDP-7.1-05 PASS,DDP-7.1-17 KNOWN,DDP-6.2.2-03 KNOWN"
holds "none of it conforms" test -z "$(grep -o 'conforms in everything' "$WORK/stdout" || true)"
holds "results.jsonl: finding, note and day, message and actual as they were seen" jq -es --arg day "$later" --arg actual "$wrong_code" '
	map(select(.id == "DDP-7.1-01" and .by == "check"))[0] |
	.finding == "1: wrong code" and .deviation == "told them" and .review_by == $day and .actual == $actual and .message == "a Send on QN 0x4" and (.outcome | test("^[0-9a-f]{16}$"))' "$WORK/out/results.jsonl"
holds "results.jsonl: version 2, and counted" jq -es 'map(select(.type == "run"))[0].version == 2 and
	(map(select(.type == "summary"))[0] | .known == 3 and .known_findings == 1 and .warn == 0 and .fail == 0)' "$WORK/out/results.jsonl"
holds "results.jsonl: the command that repeats it has the words of the profile, each for itself" jq -es '
	map(select(.verdict == "KNOWN" and .by == "check")) | length == 3 and all(.[]; .replay | endswith(" --dut mine \u0027--quick;\u0027 x --seed 1"))' "$WORK/out/results.jsonl"
holds "the page says so" grep -q '<div class="banner known" role="status">' "$WORK/out/index.html"
holds "the page is not green" test -z "$(grep -o 'banner pass" role' "$WORK/out/index.html" || true)"
holds "JUnit: an expected failure" test "$(grep -c '<skipped .*type="KNOWN"' "$WORK/out/junit.xml")" -eq 3
holds "TAP: a TODO" test "$(grep -c '^not ok .* # TODO 1: wrong code$' "$WORK/out/results.tap")" -eq 3
holds "SARIF: suppressed, and the exit code" jq -e '.runs[0] | .invocations[0].exitCode == 5 and
	(.results | map(select(.suppressions[0].status == "accepted")) | length == 3)' "$WORK/out/results.sarif"
cp -r "$WORK/out" "$WORK/first"
expect 0 "as Markdown" "$WARPCHECK" report "$WORK/first" --format md -o -
says '^Known deviations: 3 results of 1 finding\.'
expect 5 "merged" "$WARPCHECK" report --merge "$WORK/first" -o "$WORK/merged"
says '^does not conform; it deviates as known: 3 results of 1 finding, nothing new$'
expect 0 "merged, and accepted" "$WARPCHECK" report --merge --accept-known "$WORK/first" -o "$WORK/accepted"
expect 2 "a report has no verdict of its own to accept" "$WARPCHECK" report --accept-known "$WORK/first"
expect 0 "in a matrix" "$WARPCHECK" report --matrix "$WORK/first" -o "$WORK/matrix.html"
holds "the matrix has it" grep -q 'data-v="known"' "$WORK/matrix.html"

judged 0 "the same, accepted" "$bad" known --accept-known
says '^does not conform; it deviates as known: 3 results of 1 finding, nothing new$'
holds "accepted, it is KNOWN all the same" test "$(verdicts)" = "DDP-7.1-01 KNOWN,DDP-7.1-05 PASS,DDP-7.1-17 KNOWN,DDP-6.2.2-03 KNOWN"

judged 1 "another outcome" '--defect ddp-qn-unchecked' known --accept-known
says 'why       a Send on QN 0x4; the profile knows another outcome \(1: wrong code\): Terminate DDP / .* \(0x1203\)$'
holds "another outcome fails" test "$(verdicts)" = "DDP-7.1-01 FAIL,DDP-7.1-05 PASS,DDP-7.1-17 FAIL,DDP-6.2.2-03 FAIL"
judged 1 "another failure beside it" '--defect ddp-qn-wrong-code --defect ddp-msn-unchecked' known --accept-known
says '^does not conform$'
says '^it also deviates as known: 1 result of 1 finding$'
holds "what is known at one value hides no failure at another" test "$(verdicts)" = "DDP-7.1-01 KNOWN,DDP-7.1-05 FAIL,DDP-7.1-17 FAIL,DDP-6.2.2-03 FAIL"
judged 1 "a device that was mended" '' known --accept-known
says 'unexpected pass: the profile lists a known deviation \(1: wrong code\)'
profile sometimes "$later" "${one/%\}/, \"sometimes\": true \}}" "${two/%\}/, \"sometimes\": true \}}" "${three/%\}/, \"sometimes\": true \}}"
judged 0 "a race that was won" '' sometimes
profile part "$later" "$one" "$two"
judged 1 "one that is not in the profile" "$bad" part --accept-known
profile over 2020-06-30 "$one" "$two" "$three"
judged 1 "an excuse that is over" "$bad" over --accept-known
says 'known deviation \(1: wrong code\), but its review date 2020-06-30 is over'

# A WARN is known by its outcome, too, where the profile knows its device; otherwise it stays one.
kept=("${checks[@]}")
checks=('DDP-7.1-18')
bare='--defect ddp-terminate-bare'
judged 0 "a WARN, and a profile that knows nothing" "$bare" none
mapfile -t warned < <(jq -r 'select(.type == "result" and .verdict == "WARN") | [.id, .message, .actual, .by] | @tsv' "$WORK/out/results.jsonl")
warnings=()
for line in "${warned[@]}"; do
	IFS=$'\t' read -r id message actual by <<<"$line"
	entry=$(entry "$id" "$message" "$actual" ', "verdict": "WARN"')
	warnings+=("${entry/\"check\"/\"$by\"}")
done
holds "it draws a WARN" test "${#warnings[@]}" -ge 1
profile other "$later" "$(entry DDP-7.1-02 'a step' another ', "sometimes": true')"
judged 1 "a WARN that the profile does not know" "$bare" other --accept-known
says '^FAIL  DDP-7\.1-18  responder'
says 'a WARN that the profile does not know$'
profile warned "$later" "${warnings[@]}"
judged 0 "a WARN that it knows" "$bare" warned
says '^WARN  DDP-7\.1-18  responder'
says '^      finding   1: wrong code \(told them, review by '
judged 1 "a WARN that is gone" '' warned
says 'unexpected pass: the profile lists a known deviation'

checks=('DDP-6.2.1-02' 'DDP-6.2.1-06')
judged 0 "a close that drops what was posted" '--variant close-drops-work' none
holds "how much came before the FIN is chance, and no part of the outcome" test \
	"$(jq -r 'select(.type == "result" and .verdict == "WARN" and .by == "check") | .actual' "$WORK/out/results.jsonl" | LC_ALL=C sort -u)" = \
	$'not all Sends, then FIN\nnot all octets, then FIN'
checks=("${kept[@]}")

# A check's failure that is excused hides none that a rule finds of the same requirement.
rule_of() { jq -r 'select(.type == "result" and .id == "RDMAP-4.8-02" and .by == "rule") | "\(.role) \(.verdict)"' "$WORK/out/results.jsonl"; }
swapped=$(entry RDMAP-4.8-02 'control word for a Write to an unknown STag' 11000300)
found=$(entry RDMAP-4.8-02 'Terminate Control has its nibbles swapped: Layer, EType, M, D and R stand where a little-endian compiler puts bit-fields (RFC <number> <number>.<number>, Figure <number>)' '11 00 03 00')
kept=("${checks[@]}")
checks=('RDMAP-4.8-02')
profile check "$later" "$swapped"
judged 1 "a rule finds what is excused of a check alone" '--defect rdmap-terminate-bit-fields' check --accept-known
holds "it is the rule that fails" test "$(verdicts) $(rule_of)" = "RDMAP-4.8-02 KNOWN responder FAIL"
marked() { jq -r 'select(.type == "result" and .by == "rule" and .verdict != "PASS") | "\(.id) \(.verdict) \(.frame == ([.steps[]? | select(.mark) | .frame] | if length == 1 then .[0] else null end))"' "$WORK/out/results.jsonl"; }
holds "and its ladder has the frame marked" test "$(marked)" = "RDMAP-4.8-02 FAIL true"
profile both "$later" "$swapped" "${found/check/rule}"
judged 5 "what is excused of both" '--defect rdmap-terminate-bit-fields' both
holds "the rule adds nothing to the check then" test "$(verdicts) $(rule_of)" = "RDMAP-4.8-02 KNOWN "
reserved=$(entry MPA-7.1.1-19 'Reserved bits are set in a Rev <number> start-up frame (RFC <number> <number>.<number>.<number>)' 'octet 16 = 0x<hex>')
checks=('MPA-7.1.1-19' 'MPA-7.1.1-1*')
profile reserved "$later" "${reserved/check/rule}"
judged 5 "what is excused of a rule" '--defect mpa-reply-reserved' reserved
holds "is KNOWN, and its ladder has the frame marked" test "$(marked)" = "MPA-7.1.1-19 KNOWN true"
judged 1 "what did not occur is named" '' reserved
complains '^warpcheck run: known deviation MPA-7\.1\.1-19 as responder did not occur in this run$'
printf 'check { id = "mine", role = "responder", purpose = "a stream begins", run = function(t) t:open():close() end }\n' >"$WORK/own.lua"
checks=()
profile own "$later" "$one"
judged 0 "own checks say nothing of it" '' own --script "$WORK/own.lua"
holds "of no deviation" test -z "$(grep 'did not occur' "$WORK/stderr" || true)"
checks=("${kept[@]}")

# What was decided stays decided, whatever becomes of the device or of the run.
export AFTER=4
checks+=('MPA-4.*' 'MPA-7.*') # there is enough to come behind those
# The device is its own upper tester: it has died of the check that was running, and of no other.
judged 1 "a device that dies behind known deviations" "$bad" known --accept-known
failed=$(jq -r 'select(.type == "result" and .verdict == "FAIL") | .message' "$WORK/out/results.jsonl")
holds "nothing fails but by its death: $failed" test -z "$(grep -v '^the device did not survive this check' <<<"$failed" | grep . || true)"
holds "of one check" test "$(grep -c . <<<"$failed")" -eq 1
judged 1 "a device that dies behind a failure" "$bad" none
# Neither did anything occur that nobody could see any more, nor does a rule pass that saw half of the run.
judged 1 "a device that dies before what a rule knows of it" '' reserved
holds "no pass is unexpected" test -z "$(jq -r 'select(.type == "result") | .message // ""' "$WORK/out/results.jsonl" | grep 'unexpected pass' || true)"
holds "and nothing is said not to occur" test -z "$(grep 'did not occur' "$WORK/stderr" || true)"
export ENDS=run
judged 1 "a run that is interrupted behind a failure" "$bad" none
judged 4 "a run that is interrupted behind known deviations" "$bad" known --accept-known
unset AFTER ENDS

# A check that tries several values: a single failure has the usual text, and does not hide a failure at another value.
rounded=("$WARPCHECK" run --simulate --role initiator --defect bound-ord-rounded EMPA-9.1-17)
lines=any expect 1 "a device that fails at one value" "${rounded[@]}"
says 'actual +[0-9]+ of [0-9]+ '
lines=any expect 1 "the same device, which fails at another value, too" "${rounded[@]}" --defect bound-ord-zero
says 'actual +IRD [1-9][0-9]*: [0-9]+ of [0-9]+; IRD 0: '
# Each of these checks goes on after a value at which it fails, too: the result lists what came at the others.
while IFS=$'\t' read -r id defect values; do
	lines=any expect 1 "$id goes on after a value that fails" "$WARPCHECK" run --simulate --defect "$defect" "$id"
	says "actual +$values"
done <<'VALUES'
MPA-7.1.2-28	mpa-private-256	octets 512, 257, 508, 509, 511:
DDP-7.1-16	ddp-place-after-error	octets before the buffer 1 of 1400: .*; octets before the buffer 8 of 1400:
DDP-7.1-24	ddp-mo-wrong-code	MO 4096, 5000: Terminate
DDP-8.3.1-07	ddp-access-unchecked	rights none, read:
EMPA-9.1-01	set-up-ird-one-short	IRD 3, 8: Terminate
EMPA-9.1-06	bound-ord-one-more	IRD 2, 2 beside 8: 3 of 12; IRD 3: 4 of 16; IRD after the Reads: 3 or more
EMPA-9.1-07	bound-ord-one-more	IRD 2, 2 beside 8: 3 of 12; IRD 3: 4 of 16
EMPA-9.1-12	empa-reply-ord-more	IRD 0: 8; IRD 1: 9; IRD 5: 13
EMPA-9.1-28	empa-ord-ignored	ORD 2: 12 of 12; ORD 3: 16 of 16
RDMAP-5.2.1-14	beside-read-page	Read across 4 GiB: .*; Read across pages:
RDMAP-7.2-16	bound-read-wrap-one	SrcTO 2 octets at -1, 4097 octets at -4096,
RDMAP-6.1-07	bound-ord-one-more	limit 1: 2; limit 3: 4; limit 4: 5; limit 2 of size 0: 3
VALUES

# A device whose listener comes a moment later than the run.
cat >"$WORK/late.sh" <<'LATE'
set -u
source tests/e2e/cable.bash
cable device0 tester0 10.99.0.2/24 || exit 99
refused() { awk '$1 == "Tcp:" && $15 ~ /^[0-9]+$/ { print $15 }' /proc/net/snmp; }
before=$(refused)
"$WARPCHECK" run --dut "$WORK/late.json" MPA-7.1.1-02 --role responder &
run=$!
while kill -0 "$run" 2>/dev/null && [ "$(refused)" = "$before" ]; do sleep 0.01; done
"$IWARP_PEER" --listen 9999 >/dev/null 2>&1 &
peer=$!
status=0
wait "$run" || status=$?
kill -KILL "$peer" 2>/dev/null
exit "$status"
LATE
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999 }' >"$WORK/late.json"
lines=any expect 0 "a device that refuses the first handshake" unshare -rn bash "$WORK/late.sh"
finish
