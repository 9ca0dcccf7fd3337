#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The ladder of what a rule found in a run: it has steps, and one that is marked, at the frame that the result names: in simulation, live,
# over SCTP, of a CM, with several processes, and where --resume continues evidence of a run that was stopped. The page, the
# text, SARIF and a report of the same results show it. Without the evidence there is none, and nothing else changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# found OUT: what rules found: id, role, verdict, frame, how many steps, the frames of those that are marked.
found() {
	jq -r 'select(.type == "result" and .by == "rule" and .verdict != "PASS") |
		[.id, .role, .verdict, .frame, (.steps // [] | length), ([.steps[]? | select(.mark) | .frame | tostring] | join(","))] | @tsv' "$1/results.jsonl"
}

# whole NAME OUT LEAST: LEAST results or more, each with a ladder that marks its frame and nothing else.
whole() {
	found "$2" >"$WORK/found"
	holds "$1: $(wc -l <"$WORK/found") rules found something" [ "$(wc -l <"$WORK/found")" -ge "$3" ]
	awk -F '\t' '$5 < 2 || $4 != $6' "$WORK/found" >"$WORK/wrong"
	holds "$1: each has a ladder with its frame alone marked: $(head -n 5 "$WORK/wrong")" [ ! -s "$WORK/wrong" ]
}

# Everything but ladders and times.
lines() { jq -cS 'del(.steps, .started, .ended, .chain, .duration_ns, .command_line, .offset, .octets)' "$1/results.jsonl"; }

run=("$WARPCHECK" run --simulate --defect mpa-pad-stale --defect mpa-reply-reserved --defect atom-request-reserved
	'MPA-4*' 'MPA-7.1*' 'DDP-5*' 'ATOM-5.2.1*')

echo "== in simulation"
expect 1 "a run with defects that rules find" "${run[@]}" -o "$WORK/whole"
whole simulated "$WORK/whole" 3
holds "what is found is the device's: its sender is named by the step" bash -c \
	"[ -z \"\$(jq -r 'select(.type == \"result\" and .by == \"rule\") | .steps[]? | select(.mark and .from != \"dut\") | .summary' '$WORK/whole/results.jsonl')\" ]"
expect 1 "the same with two processes" "${run[@]}" -j 2 -o "$WORK/two"
holds "comes to the same ladders" cmp <(found "$WORK/whole") <(found "$WORK/two")
holds "step for step" cmp <(jq -c 'select(.by == "rule") | .steps' "$WORK/whole/results.jsonl") <(jq -c 'select(.by == "rule") | .steps' "$WORK/two/results.jsonl")

echo "== over SCTP, and of a CM"
expect 1 "a run over SCTP" "$WARPCHECK" run --simulate --llp sctp --defect ddp-rsvdulp-zero --defect ddp-rsvd-tagged 'DDP-*' 'RDMAP-4*' -o "$WORK/sctp"
whole sctp "$WORK/sctp" 3
expect 1 "a run of a CM" "$WARPCHECK" run --simulate --llp cm --defect cm-nibbles -o "$WORK/cm"
whole cm "$WORK/cm" 1

echo "== live"
expect 1 "a live run" "$WARPCHECK" run --defect mpa-pad-stale --defect mpa-reply-reserved 'MPA-4*' 'MPA-7.1*' -o "$WORK/live"
whole live "$WORK/live" 2

echo "== what shows it"
# One whose cause no result before it has shown: the others are a line each.
rule=$(jq -rn '[inputs | select(.type == "result" and .by == "rule" and .verdict == "FAIL" and .cause == null)][0].id' "$WORK/whole/results.jsonl")
expect 0 "the report in text" "$WARPCHECK" report "$WORK/whole" --format text
holds "has the ladder of $rule" awk -v id="$rule" '$1 == "FAIL" { at = $2 == id } at && /^ *>/ { seen = 1 } END { exit !seen }' "$WORK/stdout"
expect 0 "SARIF" "$WARPCHECK" report "$WORK/whole" --format sarif -o "$WORK/report.sarif"
holds "has it as a code flow" jq -e --arg id "$rule" '[.runs[0].results[] | select(.ruleId == $id and .codeFlows)] | length > 0' "$WORK/report.sarif"
expect 0 "the difference from a run with two processes" "$WARPCHECK" report --diff "$WORK/whole" "$WORK/two"

echo "== a run that is resumed"
lines "$WORK/whole" >"$WORK/wanted"
journals=$(grep -n '"type":"journal"' "$WORK/whole/results.jsonl" | tail -n 1 | cut -d: -f1)
for end in $((journals - 1)) $((journals / 2)); do
	rm -rf "$WORK/stopped"
	cp -r "$WORK/whole" "$WORK/stopped"
	head -n "$end" "$WORK/whole/results.jsonl" >"$WORK/stopped/results.jsonl"
	expect 1 "stopped after $end lines and resumed" "${run[@]}" -o "$WORK/stopped" --resume
	holds "the same ladders" cmp <(found "$WORK/whole") <(found "$WORK/stopped")
done

echo "== without evidence"
expect 1 "a run that keeps none" "${run[@]}" --evidence none -o "$WORK/none"
holds "the page has fewer ladders" [ "$(grep -o 'Ladder diagram' "$WORK/none/index.html" | wc -l)" -lt "$(grep -o 'Ladder diagram' "$WORK/whole/index.html" | wc -l)" ]
holds "has what rules found" [ "$(found "$WORK/none" | wc -l)" -eq "$(found "$WORK/whole" | wc -l)" ]
holds "and no ladder of it" [ -z "$(found "$WORK/none" | awk -F '\t' '$5 != 0')" ]
for what in removed cut empty; do
	rm -rf "$WORK/stopped"
	cp -r "$WORK/whole" "$WORK/stopped"
	head -n "$((journals - 1))" "$WORK/whole/results.jsonl" >"$WORK/stopped/results.jsonl"
	for file in "$WORK"/stopped/evidence/*.pcapng; do
		case $what in
		removed) rm "$file" ;;
		cut) truncate -s 700 "$file" ;;
		empty) : >"$file" ;;
		esac
	done
	expect 1 "resumed where evidence is $what" "${run[@]}" -o "$WORK/stopped" --resume
	holds "each result is there" cmp <(lines "$WORK/stopped") "$WORK/wanted"
	found "$WORK/stopped" | awk -F '\t' '$5 != 0 && $4 != $6' >"$WORK/wrong"
	holds "no ladder marks another frame" [ ! -s "$WORK/wrong" ]
done
finish
