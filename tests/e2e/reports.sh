#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The reports for machines, read by others: results.tap by Perl's TAP::Parser and prove, results.sarif by jq (the schema's
# demands: sarif.jq). What they say is compared with what jq makes of results.jsonl, whether they come from audit, from
# run, or from report; of whole runs, broken, stopped and empty ones, and with names that try to be something else.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

perl -MTAP::Parser -e 1 2>/dev/null || { echo "no TAP::Parser: apt-get install perl"; exit 1; }

# The worst verdict of each requirement and role, as "ID (ROLE)<tab>VERDICT".
worst() {
	jq -rs '["SKIP", "PASS", "AMBIGUOUS", "INCONCLUSIVE", "WARN", "FAIL"] as $order |
		map(select(.type == "result")) | group_by([.id, .role]) | .[] |
		[.[0].id + (if .[0].role then " (" + .[0].role + ")" else "" end),
		 (map(.verdict) | max_by(. as $v | $order | index($v)))] | @tsv' "$1" | LC_ALL=C sort
}

# The same as a TAP document says it.
points() {
	perl tests/e2e/tap.pl "$1" | awk -F'\t' '{
		verdict = $4 != "-" ? $4 : $2 == "SKIP" ? "SKIP" : "PASS"
		want = verdict == "FAIL" || verdict == "INCONCLUSIVE" ? "not ok" : "ok"
		if ($1 != want && $2 != "TODO") verdict = "told as " $1
		id = $3; sub(/: .*/, "", id)
		if (id == "account") next # whether all of the input was judged: no requirement
		print id "\t" verdict }' | LC_ALL=C sort
}

# both DIR: a whole run's folder; its TAP and SARIF agree with its results.
both() {
	local dir=$1
	expect 0 "TAP 13 of $2" "$WARPCHECK" report "$dir" --format tap13 -o "$WORK/tap13"
	holds "version 14, and the same lines under version 13" \
		cmp <(echo "TAP version 14" && tail -n +2 "$WORK/tap13") "$dir/results.tap"
	expect 0 "TAP::Parser has nothing to say against it" perl tests/e2e/tap.pl "$WORK/tap13"
	holds "each requirement and role has its verdict" diff <(worst "$dir/results.jsonl") <(points "$WORK/tap13")
	holds "SARIF of $2 keeps what the schema demands" jq -e -f tests/e2e/sarif.jq "$dir/results.sarif"
	jq -r 'select(.type == "result" and (.verdict | IN("PASS", "SKIP") | not)) |
		[.id, .role // "", .verdict, .file // ""] | @tsv' "$dir/results.jsonl" | LC_ALL=C sort |
		awk -F'\t' '++seen[$1, $2, $3] <= 25' >"$WORK/listed"
	jq -r '.runs[0].results[] | [.ruleId, .properties.role // "", .properties.verdict,
		((.locations[0].physicalLocation.artifactLocation.uri // "") | gsub("%20"; " ") | gsub("%3A"; ":"))] | @tsv' \
		"$dir/results.sarif" | LC_ALL=C sort >"$WORK/told"
	holds "each finding is a result, and nothing else is" \
		cmp <(cut -f1-3 "$WORK/listed") <(cut -f1-3 "$WORK/told")
	holds "the exit code is told" \
		test "$(jq '.runs[0].invocations[0].exitCode' "$dir/results.sarif")" -eq "$3"
}

# Perl's own harness: its exit status.
harness() { prove --exec cat "$1" >"$WORK/prove" 2>&1; }

# octets SARIF FOLDER LIMIT: the regions of so many results hold the octets that Wireshark finds in the frame.
octets() {
	local path frame offset length regions=0
	while IFS=$'\t' read -r path frame offset length; do
		cmp <("$TSHARK" -r "$2/$path" -Y "frame.number == $frame" -F pcap -w - 2>/dev/null | tail -c +41) \
			<(tail -c +$((offset + 1)) "$2/$path" | head -c "$length") || return 1
		regions=$((regions + 1))
	done < <(jq -r '[.runs[0].results[] | .locations[0] | [.physicalLocation.artifactLocation.uri, .properties.frame,
		.physicalLocation.region.byteOffset, .physicalLocation.region.byteLength] | select(.[2] != null)] | unique | .[] | @tsv' \
		"$1" | sed -n "1,${3}p")
	[ "$regions" -eq "$3" ]
}

echo "== an audit"
expect 1 "audit of all captures" "$WARPCHECK" audit pcaps -o "$WORK/audit"
both "$WORK/audit" "an audit" 1
holds "there is more than one file, and more than one finding" \
	jq -e '.runs[0] | (.artifacts | length) > 1 and (.results | length) > 20' "$WORK/audit/results.sarif"
holds "every capture named is there" bash -c "jq -r '.runs[0].artifacts[].location.uri' '$WORK/audit/results.sarif' |
	while read -r path; do [ -f \"\$path\" ] || exit 1; done"
holds "prove fails it" bash -c "! prove --exec cat '$WORK/tap13'"
holds "the regions are the frames' octets" octets "$WORK/audit/results.sarif" . 8
expect 0 "report makes them again" bash -c "mkdir -p '$WORK/again' && cp '$WORK/audit/results.jsonl' '$WORK/again' &&
	'$WARPCHECK' report '$WORK/again' >/dev/null"
for file in index.html junit.xml results.tap results.sarif; do
	holds "the same $file" cmp "$WORK/audit/$file" "$WORK/again/$file"
done
expect 1 "audit --format sarif, without a folder" "$WARPCHECK" audit pcaps --format sarif
holds "standard output is that file, but for times and command" \
	cmp <(sed -E 's/"((start|end)TimeUtc|commandLine)":"[^"]*"//g' "$WORK/stdout") \
	<(sed -E 's/"((start|end)TimeUtc|commandLine)":"[^"]*"//g' "$WORK/audit/results.sarif")
expect 1 "audit --format tap by two processes" "$WARPCHECK" audit -j 2 pcaps --format tap
holds "standard output is that file" cmp <(grep -vE '^# (started|command)' "$WORK/stdout") <(grep -vE '^# (started|command)' "$WORK/audit/results.tap")
expect 1 "another path to the same captures" "$WARPCHECK" audit "$PWD/pcaps" --format sarif
cp "$WORK/stdout" "$WORK/absolute.sarif"
holds "absolute paths are file URIs" jq -e -f tests/e2e/sarif.jq "$WORK/absolute.sarif"
holds "they are" jq -e 'all(.runs[0].artifacts[]; .location.uri | startswith("file:///"))' "$WORK/absolute.sarif"
prints() { jq -r '.runs[0].results[].partialFingerprints[]' "$1" | LC_ALL=C sort; }
holds "every finding has its own fingerprint" test -z "$(prints "$WORK/absolute.sarif" | uniq -d)"
holds "and keeps it" cmp <(prints "$WORK/absolute.sarif") <(prints "$WORK/audit/results.sarif")

echo "== names that try to be something else"
hostile="$WORK/names/a #SKIP [x](http:y) {0}"$'\n'"Bail out! <b>.pcap"
mkdir -p "$WORK/names"
cp pcaps/generated/marker-wrong.pcap "$hostile"
expect 1 "audit of such a file" "$WARPCHECK" audit "$hostile" -o "$WORK/hostile"
both "$WORK/hostile" "such a file" 1
holds "its name is in the YAML block, on one line" \
	grep -qE '^  file: ".*a #SKIP \[x\]\(http:y\) \{0\}\\nBail out! <b>\.pcap"$' "$WORK/hostile/results.tap"

echo "== captures that cannot be read to their end"
head -c 700 pcaps/generated/marker-wrong.pcap >"$WORK/cut.pcap"
lines=any
expect 4 "audit of one that breaks off" "$WARPCHECK" audit "$WORK/cut.pcap" -o "$WORK/cut"
lines=one
expect 0 "TAP of it" "$WARPCHECK" report "$WORK/cut" --format tap13 -o "$WORK/tap13"
holds "prove fails it" bash -c "! prove --exec cat '$WORK/tap13'"
holds "for nothing else" test "$(grep -c '^not ok' "$WORK/tap13")" -eq 1
holds "SARIF keeps what the schema demands" jq -e -f tests/e2e/sarif.jq "$WORK/cut/results.sarif"
holds "and tells of it" jq -e '.runs[0].invocations[0] | .exitCode == 4 and (.executionSuccessful | not) and
	(.toolExecutionNotifications[0].message.text | test("ends abruptly"))' "$WORK/cut/results.sarif"
holds "so does JUnit" grep -q 'cut.pcap is read to its end' "$WORK/cut/junit.xml"
holds "and the page" grep -q 'not every capture could be read to its end' "$WORK/cut/index.html"

echo "== a run"
expect 0 "a stack that conforms" "$WARPCHECK" run --simulate 'DDP-7*' -o "$WORK/good"
both "$WORK/good" "a run" 0
holds "prove passes it" harness "$WORK/tap13"
expect 1 "a stack that does not" "$WARPCHECK" run --simulate 'DDP-7*' --defect ddp-qn-wrong-code -o "$WORK/bad"
both "$WORK/bad" "a broken stack" 1
holds "prove fails it" bash -c "! prove --exec cat '$WORK/tap13'"
holds "the evidence is attached, and there" bash -c "cd '$WORK/bad' && jq -er '.runs[0].results[] |
	select(.ruleId == \"DDP-7.2-01\" or .ruleId == \"DDP-7.2-02\") | .attachments[0].artifactLocation.uri' results.sarif | xargs ls"
holds "the regions are the frames' octets in the evidence" octets "$WORK/bad/results.sarif" "$WORK/bad" 3
holds "a failure has its ladder, with a step that counts" \
	jq -e '[.runs[0].results[] | select(.level == "error") | .codeFlows[0].threadFlows[0].locations[]?.importance] |
	any(. == "essential")' "$WORK/bad/results.sarif"
expect 1 "run --format sarif" "$WARPCHECK" run --simulate 'DDP-7.2-*' --defect ddp-qn-wrong-code --format sarif
holds "standard output is SARIF alone" jq -e -f tests/e2e/sarif.jq "$WORK/stdout"
expect 0 "run --format tap13" "$WARPCHECK" run --simulate 'DDP-7.2-*' --format tap13
cp "$WORK/stdout" "$WORK/from-run"
holds "standard output is TAP alone" perl tests/e2e/tap.pl "$WORK/from-run"
expect 2 "an unknown format" "$WARPCHECK" run --simulate --format xml
complains 'text, jsonl, html, .*tap.*sarif.* was expected'
expect 2 "an unknown format of audit" "$WARPCHECK" audit --format xml pcaps
complains 'text, jsonl, html, .*tap.*sarif.* was expected'
expect 2 "an unknown format of report" "$WARPCHECK" report "$WORK/good" --format xml
complains 'text, html, .*tap.*sarif.* was expected'
# shellcheck disable=SC2016
expect 4 "a full disk" bash -c '"$0" run --simulate "DDP-7.2-*" --format tap >/dev/full' "$WARPCHECK"

echo "== a run that decides nothing"
jq -c 'if .type == "result" then .verdict = "SKIP" elif .type == "summary" then .skip = .pass + .skip | .pass = 0 else . end' \
	"$WORK/good/results.jsonl" >"$WORK/skipped.jsonl"
expect 0 "TAP of it" "$WARPCHECK" report "$WORK/skipped.jsonl" --format tap13 -o "$WORK/skipped"
holds "prove fails it" bash -c "! prove --exec cat '$WORK/skipped'"
expect 0 "SARIF of it" "$WARPCHECK" report "$WORK/skipped.jsonl" --format sarif -o "$WORK/skipped.sarif"
holds "exit code 3" test "$(jq '.runs[0].invocations[0].exitCode' "$WORK/skipped.sarif")" -eq 3

echo "== a run that was stopped"
# stopped FOLDER WHY: such a run's reports.
stopped() {
	expect 0 "TAP of it" "$WARPCHECK" report "$1" --format tap13 -o "$WORK/stopped"
	expect 3 "it bails out" perl tests/e2e/tap.pl "$WORK/stopped"
	complains "bailed out: .*$2"
	holds "prove fails it" bash -c "! prove --exec cat '$WORK/stopped'"
	holds "who knows no Bail out! misses a test point" test \
		"$(sed -n 's/^1\.\.//p' "$WORK/stopped")" -eq $(($(grep -cE '^(not )?ok ' "$WORK/stopped") + 1))
	expect 0 "SARIF of it" "$WARPCHECK" report "$1" --format sarif -o "$WORK/stopped.sarif"
	holds "SARIF is well-formed" jq -e -f tests/e2e/sarif.jq "$WORK/stopped.sarif"
	holds "and says that it was stopped" jq -e '.runs[0].invocations[0] | .executionSuccessful == false and .exitCode == 4 and
		any(.toolExecutionNotifications[]; .level == "error")' "$WORK/stopped.sarif"
	expect 0 "JUnit of it" "$WARPCHECK" report "$1" --format junit -o "$WORK/stopped.xml"
	holds "has an error" grep -q '<error message=' "$WORK/stopped.xml"
}
mkdir -p "$WORK/killed"
grep -v '"type":"summary"' "$WORK/good/results.jsonl" >"$WORK/killed/results.jsonl"
stopped "$WORK/killed" "no summary line"
"$WARPCHECK" run --simulate -o "$WORK/interrupted" >"$WORK/run.out" 2>"$WORK/run.err" &
running=$!
until [ "$(wc -l 2>/dev/null <"$WORK/interrupted/results.jsonl" || echo 0)" -gt 20 ]; do
	kill -0 "$running" 2>/dev/null || break
done
kill -INT "$running" 2>/dev/null || true
status=0
wait "$running" || status=$?
holds "an interrupted run's exit status is 4 ($status)" test "$status" -eq 4
holds "and it says so" grep -q 'interrupted; --resume continues the run' "$WORK/run.err"
stopped "$WORK/interrupted" "interrupted"
holds "its page says so" grep -q 'The run was stopped: interrupted' "$WORK/interrupted/index.html"

echo "== no report of an audit names an option that audit does not have"
mkdir -p "$WORK/half"
"$WARPCHECK" audit pcaps/generated/private-data.pcap -o "$WORK/half-of" >"$WORK/half.out"
grep -v '"type":"summary"' "$WORK/half-of/results.jsonl" >"$WORK/half/results.jsonl"
expect 0 "reports of half an audit" "$WARPCHECK" report "$WORK/half"
holds "none of them says --resume" test -z "$(grep -l -e '[-]-resume goes on' "$WORK"/half/* || true)"
got=0
unshare -rm bash -c "mount -t tmpfs -o size=32k none '$WORK/half' && '$WARPCHECK' audit pcaps/generated -o '$WORK/half/o'" \
	>"$WORK/stdout" 2>"$WORK/stderr" || got=$?
last="audit into a full disk"
holds "an audit into a full disk ends with 4 ($got)" test "$got" -eq 4
complains 'results.jsonl: cannot write: No space left on device; the results so far are kept$'

echo "== a report does not replace what it is made from, and goes where it was sent"
before=$(sha256sum <"$WORK/good/results.jsonl")
ln "$WORK/good/results.jsonl" "$WORK/same.jsonl"
expect 2 "a page in place of the results" "$WARPCHECK" report "$WORK/good" --format html -o "$WORK/good/results.jsonl"
complains 'contains the results from which the report is made'
expect 2 "the same by another name" "$WARPCHECK" report "$WORK/good" --format junit -o "$WORK/same.jsonl"
expect 2 "a matrix in place of the results" "$WARPCHECK" report --matrix "a=$WORK/good" -o "$WORK/good/results.jsonl"
holds "the results are as they were" test "$(sha256sum <"$WORK/good/results.jsonl")" = "$before"
expect 2 "text into a file" "$WARPCHECK" report "$WORK/good" --format text -o "$WORK/text"
complains 'goes to standard output'
expect 0 "text to standard output" "$WARPCHECK" report "$WORK/good" --format text -o -

echo "== results of others do not write lines of their own"
# A line that begins with "::" is a command to GitHub.
for member in role id; do
	jq -c --arg member "$member" 'if .type == "result" then .[$member] = "responder\n::error::" else . end | del(.chain)' \
		"$WORK/good/results.jsonl" >"$WORK/forged.jsonl"
	expect 2 "a newline in $member" "$WARPCHECK" report "$WORK/forged.jsonl" --format github -o -
	complains 'control characters in its id or role'
done
finish
