#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Devices that do less than the reference stack, all of it legal: one that takes no Read (IRD 0), one that answers late,
# and one whose upper tester reports neither "half_closed" nor more of its events than it has to, takes no work before a
# stream is established, and has no atomics; and one that has one Read open at a time. Nothing fails: what cannot be
# known, or the profile excludes, is skipped, and what the device does not serve is INCONCLUSIVE, all of it with one
# cause.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
case $1 in
terse)
	stands peer "$IWARP_PEER" --control 7470
	stands terse perl tests/e2e/terse_upper.pl 7471 7470
	;;
slow)
	stands peer "$IWARP_PEER" --listen 9998 --bind 127.0.0.1
	stands slow perl tests/e2e/relayed_device.pl 10.99.0.2 9999 9998 0.4
	;;
reads) stands peer "$IWARP_PEER" --listen 9999 --plain --rev 1 --ird 0 --ord 0 ;;
*) stands peer "$IWARP_PEER" --control 7470 --variant reads-one-by-one ;;
esac
judged --dut "$WORK/$1.json" -o "$WORK/$1" "${@:2}"
INSIDE
export WORK WARPCHECK IWARP_PEER

profile() { # NAME MEMBERS
	printf '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, %s }\n' "$2" >"$WORK/$1.json"
}
verdicts() { jq -r 'select(.type == "result" and .by == "check") | [.id, .verdict, .message // .pics // "", .cause // "-"] | @tsv' "$WORK/$1/results.jsonl"; }

echo "== it takes no Reads"
profile reads '"capabilities": { "initiator": "no", "mpa.rev2": "no", "ird": 0 }'
# Each of these judges frames, in a Read Response where the device serves one.
expect 4 "a device with an IRD of 0" unshare -rn bash "$WORK/inside.sh" reads MPA-7.1-03 MPA-7.1.1-02 MPA-7.1.1-07 MPA-7.1.1-27 --role responder
verdicts reads >"$WORK/reads.txt"
holds "it refuses Reads by Terminates: $(head -c 600 "$WORK/stderr")" grep -q 'no buffer available (0x1202) came in place of the answer' "$WORK/stderr"
holds "no framing fails because of that: $(grep -m 3 -E 'FAIL|WARN' "$WORK/reads.txt")" bash -c "! grep -qE 'FAIL|WARN' '$WORK/reads.txt'"
holds "start-up frames are judged" grep -qP '^MPA-7\.1\.1-02\tPASS' "$WORK/reads.txt"
holds "all that rests on Reads has one cause" \
	test "$(grep -P '\tINCONCLUSIVE\tthe device does not serve a zero-length RDMA Read' "$WORK/reads.txt" | cut -f4 | sort -u)" = terminate-0x1202-for-message
says '^one cause of [0-9]+ results: Terminate .*\(0x1202\) in place of a Read Response \(terminate-0x1202-for-message\)$'

echo "== each answer of it is late"
profile slow '"capabilities": { "initiator": "no" }'
# This check waits for silence: less time than the device needs would take a late Terminate for none.
expect 0 "a device whose answers take 0.4 s" unshare -rn bash "$WORK/inside.sh" slow DDP-7.2-07 MPA-7.1.1-02 --role responder
verdicts slow >"$WORK/slow.txt"
holds "its Terminate is awaited: $(cat "$WORK/slow.txt")" grep -qP '^DDP-7\.2-07\tAMBIGUOUS' "$WORK/slow.txt"
holds "how long it takes is in the results" jq -es 'any(.[]; .type == "served" and .answers_in >= 0.4)' "$WORK/slow/results.jsonl"

echo "== it has one Read open at a time"
several=(ATOM-5.2-02 RDMAP-5.5-10 ATOM-5.2-01 RDMAP-5.2.1-11 RDMAP-3.1-03)
profile one '"control": "127.0.0.1:7470"'
expect 4 "a device with one Read open at a time" unshare -rn bash "$WORK/inside.sh" one "${several[@]}" --role responder
verdicts one >"$WORK/one.txt"
for id in ATOM-5.2-02 RDMAP-5.5-10; do
	holds "$id needs two, which it does not serve: $(grep "^$id" "$WORK/one.txt")" \
		grep -qP "^$id\\tINCONCLUSIVE\\tthe device does not serve several Reads or atomics of its ULP at once .*\\treads-at-once-not-served-as-responder\$" "$WORK/one.txt"
done
for id in ATOM-5.2-01 RDMAP-5.2.1-11 RDMAP-3.1-03; do holds "$id takes one after another: $(grep "^$id" "$WORK/one.txt")" grep -qP "^$id\\tPASS" "$WORK/one.txt"; done
profile known '"control": "127.0.0.1:7470", "capabilities": { "reads_at_once": "no" }'
expect 0 "the profile says so" unshare -rn bash "$WORK/inside.sh" known "${several[@]}" --role responder
verdicts known >"$WORK/known.txt"
for id in ATOM-5.2-02 RDMAP-5.5-10; do
	holds "$id is skipped: $(grep "^$id" "$WORK/known.txt")" grep -qP "^$id\\tSKIP\\t.*reads_at_once = no" "$WORK/known.txt"
done
for id in ATOM-5.2-01 RDMAP-5.2.1-11 RDMAP-3.1-03; do holds "$id is decided all the same" grep -qP "^$id\\tPASS" "$WORK/known.txt"; done
# A check that has another stimulus is decided by that.
expect 0 "own Reads are one stimulus of two" "$WARPCHECK" run --simulate --variant reads-one-by-one RDMAP-6.2-02
# Where it sends them one by one, what is wrong with the second is seen.
expect 1 "a wrong second Read" "$WARPCHECK" run --simulate --variant reads-one-by-one --defect rdmap-read-request-second RDMAP-5.2.1-11

echo "== it has a receive window of 700 octets"
expect 0 "what has no room at once is sent as there is room" "$WARPCHECK" run --simulate --variant window-small ATOM-6.3-03

echo "== its upper tester tells little"
profile terse '"control": "127.0.0.1:7471", "capabilities": { "instrumented": "yes", "atomics": "no", "immediate": "no", "extensions.switch": "no" }'
# What needs "half_closed" and members of events, and what can do without; a device without atomics says so.
expect 0 "an upper tester that leaves out what it may" unshare -rn bash "$WORK/inside.sh" terse DDP-6.2.1-04 DDP-6.2.1-05 DDP-6.2.1-08 \
	MPA-7.1.1-33 MPA-7.1.1-34 MPA-7.1.2-28 MPA-7.1.2-12 MPA-7.1.2-13 MPA-7.1.2-15 MPA-7.1.2-16 MPA-7.1.3-02 EMPA-9.1-08 EMPA-12-01 RDMAP-3.2-09 DDP-3-04 DDP-3-12 MPA-7.2-02 MPA-8-01 MPA-7.1.1-24 ATOM-5-01 DDP-7.1-01
verdicts terse >"$WORK/terse.txt"
holds "nothing fails: $(grep -m 3 -vP '\t(PASS|SKIP|AMBIGUOUS)\t' "$WORK/terse.txt")" \
	bash -c "! grep -vqP '\t(PASS|SKIP|AMBIGUOUS)\t' '$WORK/terse.txt'"
for id in DDP-6.2.1-08 ATOM-5-01 DDP-7.1-01; do holds "$id is decided" grep -qP "^$id\\tPASS" "$WORK/terse.txt"; done
for id in DDP-6.2.1-05 DDP-3-12 MPA-7.2-02; do
	holds "$id needs the event" grep -qP "^$id\\tSKIP\\tthe device's upper tester does not tell of the event \"half_closed\"" "$WORK/terse.txt"
done
for id in MPA-7.1.1-33 MPA-7.1.2-28; do
	holds "$id needs a member" grep -qP "^$id\\tSKIP\\tthe device's upper tester does not tell \"private_data\" of the event" "$WORK/terse.txt"
done
finish
