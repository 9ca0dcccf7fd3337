#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks of DDP, RDMAP and atomics over SCTP: the same scripts as over TCP. They pass on the reference stack, catch its defects, use
# nothing that only TCP has, and judge the end of a stream only when the device had the stimulus.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

echo "== one script, two LLPs"
checks() { jq -r 'select(.type == "result" and .by == "check" and .verdict == "PASS") | "\(.id) \(.role) \(.script)"' "$WORK/stdout" | sort; }
expect 0 "atomics over TCP" "$WARPCHECK" run --simulate 'ATOM*' --format jsonl -j 2
checks >"$WORK/tcp"
expect 0 "atomics over SCTP" "$WARPCHECK" run --simulate --llp sctp 'ATOM*' --format jsonl -j 2
checks >"$WORK/sctp"
holds "the same results of the same scripts" diff "$WORK/tcp" "$WORK/sctp"
holds "100 of them or more" test "$(wc -l <"$WORK/sctp")" -ge 100
holds "the run says what carried them" jq -se '.[0].conditions.options == "--simulate --llp sctp" and (.[0].target | endswith("SCTP"))' "$WORK/stdout"
holds "it had segments" jq -se 'any(.[]; .type == "summary" and .ddp_segments > 1000)' "$WORK/stdout"
expect 0 "DDP and RDMAP over SCTP, one of each script" "$WARPCHECK" run --simulate --llp sctp DDP-1.2-04 DDP-4.1-02 DDP-4.2-04 DDP-5.2-10 DDP-5.3-08 DDP-5.4-03 \
	DDP-6.2.2-05 DDP-7.1-15 RDMAP-3-02 RDMAP-5.5-11 RDMAP-4.8-13 RDMAP-5.3-07 RDMAP-5.2.1-14 RDMAP-7.1-11 RDMAP-5.5-10 --format jsonl -j 2
holds "all of them were run" test "$(checks | cut -d' ' -f1 | sort -u | wc -l)" -ge 11
expect 0 "atomics over SCTP by the draft" "$WARPCHECK" run --simulate --llp sctp-draft02 'ATOM*' --format jsonl -j 2
checks >"$WORK/draft"
holds "the same results by the draft" diff "$WORK/tcp" "$WORK/draft"
expect 3 "how a stream ends is not judged by the draft" "$WARPCHECK" run --simulate --llp sctp-draft02 RDMAP-6.2-01 --format jsonl
expect 3 "a check that says llp = \"tcp\" is not there" "$WARPCHECK" run --simulate --llp sctp DDP-A-01 --format jsonl

echo "== what only TCP has, and the stimulus"
expect 2 "checks that go wrong" "$WARPCHECK" run --simulate --llp sctp --script tests/data/library/any-llp.lua --format jsonl
outcome() { jq -se --arg id "$1" --arg verdict "$2" --arg why "$3" 'any(.[]; .id == $id and .type == "result" and .verdict == $verdict and ((.message // "") | contains($why)))' "$WORK/stdout"; }
for name in c.tcp fpdu octets mss connect; do
	holds "$name is a script error" outcome "any-$name" INCONCLUSIVE 'is of MPA over TCP: a check with llp = "any" cannot use it'
done
holds "an end without a SACK of the stimulus is INCONCLUSIVE" outcome any-no-stimulus INCONCLUSIVE 'before it acknowledged what was sent to it'
holds "an end with it is judged" outcome any-stimulus PASS ''
holds "segments are read in the order of their DDP-SSNs" outcome any-order PASS ''
holds "a check of llp = \"any\" passes" outcome any-llp PASS ''
expect 0 "and over TCP" "$WARPCHECK" run --simulate --script tests/data/library/any-llp.lua any-llp --format jsonl
holds "where the same check passes" outcome any-llp PASS ''

echo "== many streams at once"
# A device whose ULP closes late keeps the 16 streams of a check open, which are closed before the good exchange after it.
expect 0 "streams that the device has not ended" "$WARPCHECK" run --simulate --llp sctp --variant teardown-late ATOM-8.2-04 DDP-4.1-14 --format jsonl -j 2
holds "the checks pass, and so does the good exchange after them" jq -se \
	'[.[] | select(.type == "result" and .by == "check")] | length == 3 and all(.[]; .verdict == "PASS")' "$WORK/stdout"

echo "== defects"
expect 0 "42 defects are killed over SCTP" "$WARPCHECK" prove --llp sctp -j 2 --format jsonl \
	ddp-rsvdulp-untagged-later ddp-header-alone-refused ddp-qn-wrong-code ddp-msn-not-advanced ddp-place-before-check \
	ddp-untagged-version-unchecked ddp-close-drops-work ddp-untagged-by-stag ddp-version-in-writes rdmap-response-as-write \
	rdmap-invalidate-always rdmap-read-to-end-refused rdmap-terminate-msn rdmap-opcode-wrong-code rdmap-read-end-unchecked \
	rdmap-read-request-padded rdmap-reads-first rdmap-reads-leak rdmap-late-size rdmap-terminate-untold \
	rdmap-read-error-unspecified rdmap-terminate-bits-checked atom-compare-unmasked atom-align-to atom-align-4 \
	atom-base-unchecked imm-short atom-opcode-undefined atom-done-when-sent atom-response-id-dropped bound-mo-end-word \
	bound-header-cut bound-swap-7 class-untagged-stays ddp-next-header ddp-sends-first ddp-fin-flushes ddp-fin-response-stale \
	ddp-fpdu-lost rdmap-response-overtakes-large rdmap-response-given-up imm-overtakes
holds "each by a requirement that it names" jq -se '.[-1] | .defects == 42 and .killed == 42' "$WORK/stdout"
expect 2 "a defect of MPA meets nothing there" "$WARPCHECK" prove --llp sctp ddp-crc-catastrophic
complains 'as ddp-crc-catastrophic is one: fpdu: '
expect 2 "nor does one whose operation is MPA's" "$WARPCHECK" prove --llp sctp mpa-stray-octet
complains 'has no meaning over SCTP, as mpa-stray-octet is one: frame: '
expect 2 "nor one of the draft's, what only a session has" "$WARPCHECK" prove --llp sctp-draft02 ddp-close-resets
complains 'as ddp-close-resets is one: draft: '
expect 0 "what needs requests that wait at once, or segments before their turn" "$WARPCHECK" prove --llp sctp -j 2 --format jsonl \
	atom-id-unique rdmap-read-slot-late atom-snapshot class-operation-resets class-invalidate-resets bound-early-beyond \
	bound-early-unchecked empa-ord-not-applied ord-zero-as-configured sctp-segment-elsewhere
holds "each by a requirement that it names" jq -se '.[-1] | .defects == 10 and .killed == 10' "$WORK/stdout"
expect 0 "and over the draft" "$WARPCHECK" prove --llp sctp-draft02 -j 2 --format jsonl \
	atom-id-unique rdmap-read-slot-late bound-early-beyond class-cut-twice class-catastrophe-untold empa-terminate-d sctp-ssn-behind
holds "each of them, too" jq -se '.[-1] | .defects == 7 and .killed == 7' "$WORK/stdout"
expect 0 "legal variants meet the checks over SCTP" "$WARPCHECK" prove --variants --llp sctp -j 2 --format jsonl segments-512 responses-first
holds "without a FAIL" jq -se '.[-1] | .variants == 2 and .legal == 2' "$WORK/stdout"
# Over the draft the end of a stream does not show: a device that closes it after a Terminate which is not valid, without a word, is silent.
for variant in terminate-msn-closes terminate-version-closes; do
	expect 0 "$variant over the draft" "$WARPCHECK" run --simulate --llp sctp-draft02 --variant "$variant" RDMAP-5.4-08 --format jsonl -j 2
	holds "is a PASS" jq -se '[.[] | select(.type == "result" and .by == "check")] | length == 2 and all(.[]; .verdict == "PASS")' "$WORK/stdout"
done
expect 1 "a Terminate that is ignored is none" "$WARPCHECK" run --simulate --llp sctp-draft02 --defect ddp-msn-dropped RDMAP-5.4-08 --format jsonl -j 2
expect 2 "one that acts in TCP meets nothing there" "$WARPCHECK" prove --variants --llp sctp segments-cut
complains 'as segments-cut is one: stream: '
expect 2 "another LLP" "$WARPCHECK" prove --llp cm ddp-qn-wrong-code
complains 'tcp, sctp or sctp-draft02 was expected'

echo "== what SCTP has lost comes by retransmissions, one timer after another"
cat >"$WORK/lost.lua" <<'L'
-- SPDX-License-Identifier: BSD-2-Clause
check {
  id = "SCTP5043-10-05", role = "responder", llp = "sctp", purpose = "five chunks, of which the device has one more after a time",
  run = function(t)
    local a, begun, each = t:sctp_open(), rig.now(), SECONDS
    local handle = a.handle
    a.handle = { status = function() return { unacknowledged = math.max(0, 5 - math.floor((rig.now() - begun) / each)) } end }
    a:expect_acknowledged("five chunks")
    a.handle = handle
  end,
}
L
sed 's/SECONDS/1.5/' "$WORK/lost.lua" >"$WORK/slow.lua"
sed 's/SECONDS/100/' "$WORK/lost.lua" >"$WORK/never.lua"
expect 0 "a device that has all of it after 7.5 seconds" "$WARPCHECK" run --simulate --llp sctp --script "$WORK/slow.lua"
expect 1 "one that has nothing more for longer than it may take" "$WARPCHECK" run --simulate --llp sctp --script "$WORK/never.lua"
says '^      actual    5 chunks without'
finish
