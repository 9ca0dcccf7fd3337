#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A fault of the device's framing is named by its cause: how much of an FPDU came, what else the octets fit, and once for all the
# requirements that it concerns, in every report of a run and of an audit. And what is no cause: a pad that seems wrong because the CRC
# field before it is missing. A device with one fault has few entries, and a second fault is seen beside it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# What a run with this defect writes for these ids.
run() {
	local defect=$1
	shift
	expect 1 "a run with $defect" "$WARPCHECK" run --simulate --defect "$defect" "$@" -o "$WORK/$defect" --force
}

echo "== no CRC field"
run mpa-crc-omitted-when-off 'MPA-4.1-*' 'MPA-7.1.1-11'
says '^      hint      FPDUs have no CRC field$'
says '^one cause of [0-9]+ results: FPDUs have no CRC field \(fpdu-without-crc\)$'
says '^  MPA-4.1-09,.* MPA-7.1.1-11'
says '^FAIL  MPA-7.1.1-11  initiator  the cause of MPA-4.1-09 again: fpdu-without-crc +frame [0-9]+ of evidence/MPA-7.1.1-11-initiator.pcapng$'
results=$WORK/mpa-crc-omitted-when-off
holds "each result is kept, with its cause" jq -es '[.[] | select(.type == "result" and .cause == "fpdu-without-crc")] |
	length > 4 and all(.verdict == "FAIL" and .hint and .actual and .expected)' "$results/results.jsonl"
holds "a part of an FPDU is counted" grep -q '"actual":"16 of 20 octets of an FPDU, then nothing within the time limit' "$results/results.jsonl"
holds "no finding of a bad pad" jq -es 'all(.[]; .id != "MPA-4.1-03" or .verdict == "PASS" or .type != "result")' "$results/results.jsonl"
holds "the page groups them" grep -q 'class="fold".*of cause fpdu-without-crc: MPA-4.1-0.*MPA-7.1.1-11' "$results/index.html"
holds "JUnit has the hint" grep -q 'hint      the octets fit an FPDU without a CRC field' "$results/junit.xml"
expect 0 "Markdown" "$WARPCHECK" report "$results/results.jsonl" --format md
holds "Markdown groups them" grep -qE '^\| fpdu.without.crc \| [0-9]+ \| [A-Za-z ]* CRC field \| MPA' "$results/summary.md"
expect 0 "the report in text" "$WARPCHECK" report "$results/results.jsonl" --format text
says '^one cause of [0-9]+ results: FPDUs have no CRC field'

echo "== no Terminate before the end"
expect 0 "a CRC error ends the connection alone, which is a WARN" "$WARPCHECK" run --simulate --variant crc-closes 'MPA-8-*' 'MPA-4.1-05' 'DDP-3-08'
says '^one cause of [0-9]+ results: the device ends the stream and sends no Terminate before \(terminate-missing\)$'
says '^  DDP-3-08, MPA-4.1-05, MPA-8-02, '
holds "one WARN is written out, the others name its cause" test "$(grep '^WARN' "$WORK/stdout" | grep -cv ' the cause of DDP-3-08 again: terminate-missing')" -eq 1
run rdmap-read-stag-closes 'RDMAP-4.8-*' 'RDMAP-5.2.1-16' 'RDMAP-7.1-11'
says '^one cause of [0-9]+ results: .* \(terminate-missing\)$'
holds "so is one of several FAILs" test "$(grep '^FAIL' "$WORK/stdout" | grep -cv ' again: terminate-missing')" -eq 1

expect 0 "Terminates without a quoted header, which is a WARN" "$WARPCHECK" run --simulate --defect ddp-terminate-bare 'DDP-7.1-18' 'DDP-3-09'
says '^one cause of [0-9]+ results: .* \(terminate-header-missing\)$'

echo "== C = 0 of a device that nobody asked for that"
run mpa-crc-not-declared 'MPA-1.2-02' 'MPA-4.4-04' 'MPA-4.4-05' --role responder
says '^one cause of 3 results: C = 0 in the start-up frame of a device that nobody asked for that \(reply-c\)$'

echo "== a pad too long, a length of another FPDU, a CRC reversed"
run mpa-pad-for-ulpdu 'MPA-4.1-*' 'MPA-4.4-01'
says 'the octets fit an FPDU with [0-9] pad octets in place of [0-9]'
run mpa-length-with-header 'MPA-4.*'
says 'the octets fit an FPDU of [0-9]+ octets, ULPDU_Length says one of [0-9]+'
run mpa-crc-big-endian 'MPA-4.1-*' 'MPA-4.4-*'
says 'the CRC is right, but has its octets in reverse order'

run mpa-crc-without-pad 'MPA-4.1-*' 'MPA-4.4-*' 'DDP-4.1-*'
says '^one cause of [0-9]+ results: the CRC .* the pad \(crc-without-pad\)$'
holds "a FAIL is shown whole, whatever came before it" grep -qA2 '^FAIL  .*  conformance/scripts/' "$WORK/stdout"

# These two see an end, and silence: both follow from FPDUs that the device's peer cannot read.
run mpa-crc-big-endian 'MPA-4.1-*' DDP-6.2.2-01 RDMAP-4.8-28
holds "what follows from framing hangs below it" jq -es '[.[] | select(.type == "result" and .verdict == "FAIL") | .cause // .id] | unique == ["crc-octets-reversed"]' \
	"$WORK/mpa-crc-big-endian/results.jsonl"
run mpa-crc-big-endian DDP-6.2.2-01 RDMAP-4.8-28 'MPA-7.1.1-19' --defect mpa-reply-reserved
holds "a second fault, of a start-up frame, does not" jq -es '[.[] | select(.type == "result" and .verdict == "FAIL") | .cause // .id] | unique |
	contains(["crc-octets-reversed"]) and length > 1' "$WORK/mpa-crc-big-endian/results.jsonl"

echo "== checks and rules name one cause"
run mpa-marker-halves-swapped 'MPA-4.2-*' 'MPA-4.3-*'
holds "checks and rules do" jq -es '[.[] | select(.type == "result" and .cause == "marker-wrong") | .by] | unique == ["check", "rule"]' \
	"$WORK/mpa-marker-halves-swapped/results.jsonl"
holds "every failure is of one of 3 causes at most" jq -es '[.[] | select(.type == "result" and .verdict == "FAIL") | .cause // .id] | unique | length <= 3' \
	"$WORK/mpa-marker-halves-swapped/results.jsonl"

# Reports of FOLDER, whose failures have one cause: shown once, with the ids below, in each of them. NAME: the cause, IDS: of the failures.
reports_group() { # WHAT FOLDER NAME IDS
	local count
	count=$(jq -s --arg name "$3" '[.[] | select(.type == "result" and .cause == $name)] | length' "$2/results.jsonl")
	says "^one cause of $count results: .* \\($3\\)\$"
	says "^  $4\$"
	holds "$1: the page has one fold of the cause" test "$(grep -o "of cause $3: $4<" "$2/index.html" | wc -l)" -eq 1
	holds "$1: and none of its failures elsewhere" test "$(grep -c 'class="fold"' "$2/index.html")" -eq "$5"
	holds "$1: JUnit has the cause in each failure" test "$(grep -c "^cause     $3, one of $count results: $4\$" "$2/junit.xml")" -ge "$(tr ',' '\n' <<<"$4" | wc -l)"
	expect 0 "$1: Markdown" "$WARPCHECK" report "$2/results.jsonl" --format md
	holds "$1: Markdown groups them" grep -qE "^\\| $3 \\| $count \\| .* \\| $4 \\|\$" "$2/summary.md"
	expect 0 "$1: text" "$WARPCHECK" report "$2/results.jsonl" --format text
	says "^one cause of $count results: .* \\($3\\)\$"
}

ids() { jq -rs '[.[] | select(.type == "result" and .cause) | .id] | reduce .[] as $i ([]; if index($i) then . else . + [$i] end) | join(", ")' "$1/results.jsonl"; }
run mpa-marker-reserved-set 'MPA-4.2-02' 'MPA-4.3-05'
reports_group "a run" "$WORK/mpa-marker-reserved-set" marker-wrong "$(ids "$WORK/mpa-marker-reserved-set")" 1
expect 1 "so does an audit" "$WARPCHECK" audit "$WORK/mpa-marker-halves-swapped/evidence" --allow-gaps -o "$WORK/audit"
reports_group "an audit" "$WORK/audit" marker-wrong 'MPA-4.2-02, MPA-4.3-05, MPA-4.3-16, MPA-4.3-17' 1
holds "an audit: each failure has the cause" jq -es 'all(.[] | select(.type == "result" and .verdict == "FAIL"); .cause == "marker-wrong" and .hint)' "$WORK/audit/results.jsonl"

echo "== the line of a fold counts and names its own cards, not those of other verdicts"
run ddp-qn-wrong-code 'DDP-7.1-*' 'DDP-7.2-01'
cause=terminate-0x1203-for-terminate-0x1201
page=$WORK/ddp-qn-wrong-code/index.html
holds "three that fail" grep -q "3 requirements of cause $cause: DDP-7.1-01, DDP-7.1-17, DDP-7.2-01<" "$page"
holds "one that warns" grep -q "1 requirement of cause $cause: DDP-7.1-18<" "$page"
says '^      expected  silence or DDP / Untagged Buffer Error / Invalid QN \(0x1201\) or DDP / Untagged Buffer Error / '

echo "== what is not served has the cause of that"
run mpa-crc-inverted 'MPA-4.1-*' 'RDMAP-5.2.1-0*'
holds "INCONCLUSIVE, with the cause of the failures" jq -es '[.[] | select(.type == "result" and .cause == "crc-not-complemented") | .verdict] | unique == ["FAIL", "INCONCLUSIVE"]' \
	"$WORK/mpa-crc-inverted/results.jsonl"
holds "nothing else is to be seen" jq -es '[.[] | select(.type == "result" and (.verdict == "FAIL" or .verdict == "INCONCLUSIVE")) | .cause // .id] | unique | length <= 3' \
	"$WORK/mpa-crc-inverted/results.jsonl"

echo "== what came in place of what"
run mpa-crc-drops 'MPA-8-*' 'MPA-4.4-*' 'DDP-3-08'
says '^one cause of [0-9]+ results: the error that Terminate .*\(0x2002\) is for has no consequence \(error-unnoticed-0x2002\)$'

echo "== one fault, one finding"
# Entries of a run: its FAILs, those of one cause together.
entries() { jq -rs '[.[] | select(.type == "result" and .verdict == "FAIL") | .cause // .id] | unique | .[]' "$1/results.jsonl"; }
total=0
while read -r defect most selection; do
	read -ra selection <<<"$selection"
	run "$defect" "${selection[@]}"
	entries "$WORK/$defect" >"$WORK/entries"
	count=$(wc -l <"$WORK/entries") total=$((total + $(wc -l <"$WORK/entries")))
	holds "$defect: $count entries of at most $most: $(head -n 12 "$WORK/entries" | tr '\n' ' ')" test "$count" -ge 1 -a "$count" -le "$most"
done <<'DEFECTS'
rdmap-read-fields-swapped 1 RDMAP-4.* RDMAP-5.2* ATOM-6.* EMPA-9.1-*
ddp-version-0             1 MPA-4.* DDP-4.*
mpa-initiator-waits       2 EMPA-* MPA-7.1.2-*
rdmap-terminate-m-always  1 RDMAP-4.8-* EMPA-8* EMPA-9* ATOM-8*
empa-reply-host-order     1 EMPA-*
atom-value-host-order     6 ATOM-5* ATOM-7*
atom-id-is-msn            1 ATOM-5* ATOM-7*
atom-response-gap         4 ATOM-5*
ddp-msn-from-0            3 DDP-4.3-* RDMAP-5.2* MPA-4.*
ddp-rsvd-untagged         1 DDP-4.* MPA-4.* RDMAP-4.1-* RDMAP-5.3-0*
ddp-writes-dropped        2 DDP-4.* DDP-5.* DDP-8.*
ddp-to-aligned            2 DDP-4.* DDP-5.* RDMAP-4.*
rdmap-terminate-layer-3   2 DDP-7.2-* RDMAP-4.8-* RDMAP-7.2-*
mpa-request-revision-0    5 EMPA-6-* EMPA-9.3-* MPA-7.1.1-*
empa-ord-ignored          1 EMPA-3-01 EMPA-9.1-* RDMAP-6.1-0*
mpa-responder-sends-first 1 RDMAP-4.8-* MPA-7.1.2-* DDP-7.2-*
mpa-reply-key-wrong       1 MPA-7.1.1-* MPA-7.1-05 EMPA-6-0*
mpa-reply-reserved        1 MPA-7.1.1-1* MPA-7.1.1-2* EMPA-6-0*
mpa-reply-revision-3      1 MPA-7.1.1-2* MPA-7.1.1-3*
empa-reply-a-zero         1 EMPA-9.2-*
rdmap-se-as-send          1 RDMAP-3.* RDMAP-4.1-*
several-quotes-newest     1 RDMAP-4.8-4*
mpa-request-key-unchecked 1 MPA-7.1.1-0* MPA-7.1.2-*
DEFECTS
holds "the total of these: $total of at most 35" test "$total" -le 35

# Numbers of nine digits are no octets.
run atom-mask-zero-nothing ATOM-5.1.1-04
holds "no text makes a script fail" bash -c "! grep -q 'script error' '$WORK/atom-mask-zero-nothing/results.jsonl'"

echo "== a flag of a start-up frame, its revision"
run empa-request-a-missing 'EMPA-9.2-*' 'EMPA-5-01'
says '^one cause of 14 results: A of MPA Requests is another than is due \(request-a\)$'
run empa-reply-rev-1 'EMPA-9-*' 'EMPA-10-*' 'EMPA-9.2-*' --role responder
says '^one cause of [0-9]+ results: Rev of MPA Replies is another than is due \(reply-rev\)$'
says '^  EMPA-10-01, .*EMPA-10-06.*EMPA-9-03'

echo "== a message that is lost shows in all that does not come after it"
run mpa-first-fpdu-discarded 'MPA-8-*' 'DDP-7.1-*'
says '^perhaps one fault: [0-9]+ causes, with [0-9]+ results, are that nothing comes'
holds "so does the page" grep -q '<p class="notice">Perhaps one fault: ' "$WORK/mpa-first-fpdu-discarded/index.html"
expect 0 "and Markdown" "$WARPCHECK" report "$WORK/mpa-first-fpdu-discarded/results.jsonl" --format md
holds "as a sentence after the table" grep -q '^Perhaps one fault: ' "$WORK/mpa-first-fpdu-discarded/summary.md"
run mpa-pad-for-ulpdu 'MPA-4.1-*'
holds "one kind of message that does not come is no such thing" bash -c "! grep -q '^perhaps one fault' '$WORK/stdout'"

echo "== one fault, and the causes that it may have"
while read -r defect causes selection; do
	read -ra selection <<<"$selection"
	run "$defect" "${selection[@]}"
	holds "$defect: nothing fails for another cause" jq -es --arg causes "$causes" '[.[] | select(.type == "result" and .verdict == "FAIL")] |
		length > 1 and all(.[]; .cause as $cause | $causes | split(",") | index($cause)) and any(.[]; .cause == ($causes | split(",")[0]))' "$WORK/$defect/results.jsonl"
done <<'CAUSES'
ddp-type-layer-swapped terminate-layer-etype-exchanged EMPA-8-0* RDMAP-4.8-0[1-4]
ddp-invalidated-by-word invalidated-in-force DDP-4.3-07 RDMAP-1.2-0[24] RDMAP-5.3-19
ddp-last-early send-l,octets-missing RDMAP-3.1-02 RDMAP-3.2-01 RDMAP-4.1-15 DDP-4.1-0[56]
ddp-last-missing-send send-l,silence-for-segment MPA-4.3-04 MPA-4.3-13 DDP-4.1-04
rdmap-read-done-early read-done-early RDMAP-5.2.2-05 RDMAP-6.1-0[57]
ddp-buffer-dropped dropped-without-receive,error-unnoticed DDP-7.1-0[27] ATOM-7-12 ATOM-5.4-02
ddp-goes-on-after-error goes-on-after-error DDP-3-11 EMPA-10-08 MPA-7.1.1-02 MPA-7.1.1-13 MPA-7.1.1-23 MPA-9.1-01
mpa-ulpdu-twice ulpdu-repeated MPA-4.1-0[1268] DDP-4.1-0[47] RDMAP-4.2-04
ddp-empty-response-suppressed empty-read-unanswered RDMAP-5.2.1-15 RDMAP-5.2.1-20 DDP-5.2-10
cut-send ddp-header-cut,octets-missing DDP-4.3-1[13] MPA-4.1-02
mpa-first-fpdu-discarded first-fpdu-overlooked MPA-7.1-06
mpa-reject-resets reset-for-fin,end-for-message,terminate-missing MPA-7.1.2-0[78] MPA-7.1.4.2-02 EMPA-9.1-1[45]
bound-swap-2 error-unnoticed,error-unnoticed-0x0207,error-untold,placed-undue ATOM-5.1.2-0[5678]
ddp-header-cut-ignored error-unnoticed,placed-undue DDP-4.4-0[12] DDP-7.1-19
CAUSES

echo "== two faults, two findings"
for pair in 'rdmap-read-fields-swapped rdmap-terminate-m-always' 'ddp-msn-from-0 rdmap-read-fields-swapped' 'ddp-rsvd-untagged ddp-qn-wrong-code' \
	'atom-id-is-msn ddp-qn-wrong-code' 'ddp-writes-dropped rdmap-terminate-m-always'; do
	read -ra two <<<"$pair"
	selection=(RDMAP-4.8-\* RDMAP-5.2\* RDMAP-4.4-\* DDP-4.\* DDP-7.\* ATOM-5.1\*)
	for one in "${two[@]}"; do
		expect 1 "$one alone" "$WARPCHECK" run --simulate --defect "$one" "${selection[@]}" -o "$WORK/$one-alone" --force
	done
	expect 1 "$pair" "$WARPCHECK" run --simulate --defect "${two[0]}" --defect "${two[1]}" "${selection[@]}" -o "$WORK/both" --force
	entries "$WORK/both" | sort >"$WORK/entries"
	for one in "${two[@]}"; do
		other=${two[0]}
		[ "$one" != "$other" ] || other=${two[1]}
		holds "$one is seen beside $other, by an entry that it alone has" \
			grep -qxFf <(entries "$WORK/$one-alone" | grep -vxFf <(entries "$WORK/$other-alone")) "$WORK/entries"
	done
done

echo "== a device by the book"
expect 0 "no cause where nothing fails" "$WARPCHECK" run --simulate 'MPA-4.1-*'
holds "none is named" bash -c "! grep -qE 'cause|hint' '$WORK/stdout'"
finish
