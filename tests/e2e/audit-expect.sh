#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A corpus's expected findings: the project's own has no others; a line excuses its own flow, count and outcome alone; a new finding and a
# missing one fail, notes and days are kept, also of a renamed capture; the reports know what is expected; shards compare their own
# captures; and a file of expectations that cannot be right is refused by its line.
# shellcheck disable=SC2016 # awk's variables
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

lines=any expect 0 "the project's own captures" "$WARPCHECK" audit pcaps --allow-gaps --quiet --expect pcaps/expected.tsv
says '^as expected; .*: [1-9][0-9]* expected, 0 new$'
lines=any expect 4 "what was not judged counts all the same" "$WARPCHECK" audit pcaps --quiet --expect pcaps/expected.tsv

corpus=$WORK/corpus
mkdir -p "$corpus/deep er"
cp pcaps/generated/bad-crc.pcap "$corpus/deep er/"
cp pcaps/generated/atomics.pcap "$corpus/"
audit=("$WARPCHECK" audit "$corpus" --allow-gaps --quiet)
lines=any expect 0 "expectations are written, which is a success" "${audit[@]}" --write-expect "$corpus/expected.tsv"
says 'expected\.tsv: [1-9][0-9]* findings written$'
holds "captures are named from their folder" grep -q $'^deep er/bad-crc.pcap\tMPA-' "$corpus/expected.tsv"
holds "each line has its flow, count, outcome and digest" test -z "$(awk -F'\t' '!/^#/ && !/^capture\t/ && (NF != 10 || $4 !~ />/ || $5 < 1 || $7 == "" || $9 !~ /^[0-9a-f]+-[0-9]+$/)' "$corpus/expected.tsv")"
lines=any expect 0 "and hold, from another folder" env -C / "${audit[@]}" --expect "$corpus/expected.tsv"
lines=any expect 0 "and with two processes" "${audit[@]}" -j 2 --expect "$corpus/expected.tsv"

in_30=$(date -u -d '+30 days' +%F)
awk -F'\t' -v OFS='\t' -v day="$in_30" '/^#|^capture\t/ { print; next } { $8 = day; $10 = "on purpose"; print }' "$corpus/expected.tsv" >"$WORK/noted.tsv"
cp "$WORK/noted.tsv" "$corpus/expected.tsv"
lines=any expect 0 "written again" "${audit[@]}" --write-expect "$corpus/expected.tsv"
holds "with notes and days as they were" cmp "$corpus/expected.tsv" "$WORK/noted.tsv"
lines=any expect 0 "a review within 30 days" "${audit[@]}" --expect "$corpus/expected.tsv"
complains "^warpcheck audit: [1-9][0-9]* expected findings are to be reviewed within 30 days, the first by $in_30\$"

echo "== a line excuses what it describes"
# changed WHAT KIND PATTERN AWK: the lines as the awk program leaves them; one difference of that kind is printed.
changed() {
	awk -F'\t' -v OFS='\t' "$4" "$WORK/noted.tsv" >"$corpus/other.tsv"
	lines=any expect 1 "$1" "${audit[@]}" --expect "$corpus/other.tsv"
	complains "^warpcheck audit: $2: .*$3"
	says "^not as expected: .* $2"
}
changed "a finding that is not expected" new 'atomics.pcap: ATOM-5.2.1-02 as initiator: FAIL, found [0-9]+ times?, and expected by no line$' '!/ATOM-5.2.1-02/'
complains '^      MUST.* section '
complains '^      where     frame [1-9][0-9]*, flow '
complains "^      replay    warpcheck audit '.*atomics.pcap' ATOM-5.2.1-02\$"
complains 'to accept all of it, after a look: this command with --write-expect '
changed "a finding that is not there" missing 'atomics.pcap: MPA-4.4-14 as responder: FAIL was expected \(line [0-9]+.*\) and is gone: the capture is the same, so warpcheck judges it otherwise$' \
	'{ print } /ATOM-5.2.1-02/ { $2 = "MPA-4.4-14"; $3 = "responder"; print }'
changed "a capture that was replaced" missing 'atomics.pcap: MPA-4.4-14 as responder: FAIL was expected .* is gone: the capture is another one than it was$' \
	'{ print } /ATOM-5.2.1-02/ { $2 = "MPA-4.4-14"; $3 = "responder"; $9 = "00000000-1"; print }'
changed "a capture that is gone" missing 'gone.pcap: MPA-4.4-14 as responder: FAIL was expected .* is gone: the capture is not there any more$' \
	'{ print } /ATOM-5.2.1-02/ { $1 = "gone.pcap"; $2 = "MPA-4.4-14"; $3 = "responder"; $9 = "00000000-1"; print }'
changed "another verdict" changed 'ATOM-5.2.1-02 .* and WARN 1 time was expected' '/ATOM-5.2.1-02/ { $6 = "WARN" } { print }'
changed "another count" changed 'MPA-4.4-14 .* FAIL 1 time, and FAIL 2 times was expected' '/MPA-4.4-14/ { $5 = 2 } { print }'
changed "another outcome" changed 'MPA-4.4-14 .* another outcome than the expected one .*: a good CRC$' '/MPA-4.4-14/ { $7 = "a good CRC" } { print }'
changed "another flow" new 'MPA-4.4-14 ' '/MPA-4.4-14/ { $4 = "10.0.0.1:1>10.0.0.2:2" } { print }'
changed "a review that is due" due 'to be reviewed by 2025-01-31' '/MPA-4.4-14/ { $8 = "2025-01-31" } { print }'
awk -F'\t' -v OFS='\t' '/MPA-4.4-14/ { $4 = "*" } { print }' "$WORK/noted.tsv" >"$corpus/all.tsv"
lines=any expect 0 "all flows of a capture" "${audit[@]}" --expect "$corpus/all.tsv"
# One expected bad CRC excuses no other, in this flow or in the next ones.
mkdir "$WORK/flows"
cat >"$WORK/flows.lua" <<'LUA'
for number = 1, tonumber(arg.flows) do
  local f = flow { initiator = { port = 40000 + number } }
  f:open()
  f.initiator:send(fpdu(rdmap.send { data = "hello" }, { crc_flip = 1 }))
  f:close()
end
LUA
flows() { "$WARPCHECK" gen "$WORK/flows.lua" --set "flows=$1" -o "$WORK/flows/bad.pcapng" >"$WORK/gen.out"; }
flows 1
audit_flows=("$WARPCHECK" audit "$WORK/flows" --allow-gaps --quiet)
lines=any expect 0 "one flow" "${audit_flows[@]}" --write-expect "$WORK/flows/one.tsv"
lines=any expect 0 "holds" "${audit_flows[@]}" --expect "$WORK/flows/one.tsv"
flows 51
lines=any expect 1 "the same fault in 50 further flows" "${audit_flows[@]}" --expect "$WORK/flows/one.tsv"
holds "50 are new" test "$(grep -c ': new: .*bad.pcapng: MPA-4.4-14 ' "$WORK/stderr")" -eq 50
sed 's/\t10[^\t]*\t1\t/\t*\t51\t/' "$WORK/flows/one.tsv" >"$WORK/flows/all.tsv"
lines=any expect '0 1' "51 of all flows" "${audit_flows[@]}" --expect "$WORK/flows/all.tsv"
holds "are 51" bash -c "! grep -q ': new: .*MPA-4.4-14\|MPA-4.4-14.* times, and FAIL' '$WORK/stderr'"
flows 52
lines=any expect 1 "and no 52nd" "${audit_flows[@]}" --expect "$WORK/flows/all.tsv"
complains 'changed: .*bad.pcapng: MPA-4.4-14 .* FAIL 52 times, and FAIL 51 times was expected'

echo "== a capture with another name"
mv "$corpus/atomics.pcap" "$corpus/100% atomics.pcap"
lines=any expect 1 "is told as that" "${audit[@]}" --expect "$corpus/expected.tsv"
complains '^warpcheck audit: renamed: .*100% atomics.pcap: ATOM-5.2.1-02 .* the capture was atomics.pcap \(line [0-9]+\)'
holds "and as nothing else" bash -c "! grep -qE ': (new|missing): ' '$WORK/stderr'"
lines=any expect 0 "and keeps its notes" "${audit[@]}" --write-expect "$corpus/expected.tsv"
holds "under the new name" test "$(grep -c $'^100%25 atomics.pcap\t.*\ton purpose$' "$corpus/expected.tsv")" -eq "$(grep -c '^atomics.pcap' "$WORK/noted.tsv")"

echo "== the reports"
lines=any expect 0 "all expected" "${audit[@]}" --expect "$corpus/expected.tsv" -o "$WORK/out"
expected=$(grep -c $'\tFAIL\t' "$corpus/expected.tsv")
holds "each expected FAIL is KNOWN" jq -es --argjson n "$expected" '[.[] | select(.type == "result" and .verdict == "KNOWN" and .finding == "on purpose")] | length == $n' "$WORK/out/results.jsonl"
holds "the summary counts them" jq -es --argjson n "$(grep -c $'\ton purpose$' "$corpus/expected.tsv")" '.[-1].expectation | .expected == $n and .new == 0' "$WORK/out/results.jsonl"
holds "JUnit has no failure" bash -c "! grep -q '<failure' '$WORK/out/junit.xml'"
holds "SARIF suppresses each result" jq -e '[.runs[0].results[] | select(.level == "error" and (.suppressions | length) == 0)] == []' "$WORK/out/results.sarif"
holds "each location has a line" jq -e 'all(.runs[0].results[]; .locations[0].physicalLocation.region.startLine > 0)' "$WORK/out/results.sarif"
holds "the page says so" grep -q 'As expected' "$WORK/out/index.html"
expect 0 "a summary in Markdown" "$WARPCHECK" report "$WORK/out" --format md -o -
says '^Findings: [0-9]+ expected, 0 new\.$'
sed '/MPA-4.4-14/d' "$corpus/expected.tsv" >"$WORK/less.tsv"
cp "$WORK/less.tsv" "$corpus/less.tsv"
lines=any expect 1 "one is new" "${audit[@]}" --expect "$corpus/less.tsv" -o "$WORK/new"
holds "JUnit has one failure" test "$(grep -c '<failure' "$WORK/new/junit.xml")" -eq 1
holds "the page says so" grep -q 'Not as expected' "$WORK/new/index.html"
expect 0 "annotations" "$WARPCHECK" report "$WORK/new" --format github -o -
says '^::error file=.*bad-crc.pcap,title=MPA-4.4-14 as initiator::FAIL in frame [0-9]+: .*\(MUST.*: '
holds "expected findings are none" test "$(grep -c '^::' "$WORK/stdout")" -eq 2

echo "== parts of a corpus"
for part in 1 2; do
	lines=any expect '0 1' "part $part" "${audit[@]}" --shard $part/2 --expect "$corpus/expected.tsv" -o "$WORK/part$part"
done
lines=any expect 0 "merged" "$WARPCHECK" report --merge "$WORK/part1" "$WORK/part2" -o "$WORK/merged"
says '^as expected.*: [0-9]+ expected, 0 new$'
{ cat "$corpus/expected.tsv"; grep -m 1 $'^deep er/bad-crc' "$corpus/expected.tsv" | sed 's/^deep er.bad-crc/gone/'; } >"$corpus/gone.tsv"
for part in 1 2; do
	lines=any expect '0 1' "part $part, a capture is gone" "${audit[@]}" --shard $part/2 --expect "$corpus/gone.tsv" -o "$WORK/gone$part"
done
lines=any expect 1 "merged" "$WARPCHECK" report --merge "$WORK/gone2" "$WORK/gone1" -o "$WORK/gone"
says '^not as expected: .* 1 missing$'
lines=any expect 2 "parts with other expectations" "$WARPCHECK" report --merge "$WORK/gone2" "$WORK/part1" -o "$WORK/mixed"
complains "its file of expectations is "
expect 2 "a part writes none" "${audit[@]}" --shard 1/2 --write-expect "$WORK/none.tsv"

echo "== days"
lines=any expect 0 "spread" "${audit[@]}" --write-expect "$WORK/spread.tsv" --review-spread 20
holds "captures are due on other days" test "$(awk -F'\t' '!/^#|^capture/ { print $8 }' "$WORK/spread.tsv" | sort -u | wc -l)" -gt 1
expect 2 "a spread without new lines" "${audit[@]}" --expect "$corpus/expected.tsv" --review-spread 20

echo "== files that cannot be right"
head='capture\trequirement\trole\tflow\tcount\tverdict\toutcome\treview_by\tdigest\tnote'
# refused WHAT LINE WORDS: a file of this one line.
refused() {
	printf '%b\n' "$head" "$2" >"$corpus/bad.tsv"
	expect 2 "$1" "${audit[@]}" --expect "$corpus/bad.tsv"
	holds "$1: $(cat "$WORK/stderr")" grep -qF "bad.tsv:2: $3" "$WORK/stderr"
}
refused "a requirement that is none" 'a\tMPA-99-99\tresponder\t*\t1\tFAIL\tx\t2027-01-01\t\t' 'the requirement is "MPA-99-99"'
refused "a role that is none" 'a\tMPA-4.4-14\tboth\t*\t1\tFAIL\tx\t2027-01-01\t\t' 'the role is "both"'
refused "a verdict that is no finding" 'a\tMPA-4.4-14\tresponder\t*\t1\tPASS\tx\t2027-01-01\t\t' 'the verdict is "PASS"'
refused "a count that is none" 'a\tMPA-4.4-14\tresponder\t*\t0\tFAIL\tx\t2027-01-01\t\t' 'the count is "0"'
refused "no flow" 'a\tMPA-4.4-14\tresponder\t\t1\tFAIL\tx\t2027-01-01\t\t' 'the flow is ""'
refused "a day that is none" 'a\tMPA-4.4-14\tresponder\t*\t1\tFAIL\tx\t2027-02-30\t\t' '"review_by" is "2027-02-30"'
refused "a day that is far away" 'a\tMPA-4.4-14\tresponder\t*\t1\tFAIL\tx\t2999-01-01\t\t' '"review_by" is 2999-01-01'
refused "too few columns" 'a\tMPA-4.4-14\tresponder\tFAIL\t2027-01-01' '5 columns'
refused "no capture" '\tMPA-4.4-14\tresponder\t*\t1\tFAIL\tx\t2027-01-01\t\t' 'the capture is ""'
refused "a broken escape" 'a%%2\tMPA-4.4-14\tresponder\t*\t1\tFAIL\tx\t2027-01-01\t\t' 'column 1 has a "%"'
printf 'capture\trequirement\trole\tverdict\treview_by\tnote\ndeep er/bad-crc.pcap\tMPA-4.4-14\tinitiator\tFAIL\t%s\tolder\n' "$in_30" >"$corpus/bad.tsv"
expect 2 "the first version, whose lines excuse everything" "${audit[@]}" --expect "$corpus/bad.tsv"
complains 'bad.tsv:1: a line of this version excuses every finding of its requirement; audit --write-expect '
lines=any expect 0 "is written anew" "${audit[@]}" --write-expect "$corpus/bad.tsv"
holds "with note and day" grep -q $'^deep er/bad-crc.pcap\tMPA-4.4-14\t.*\t'"$in_30"$'\t.*\tolder$' "$corpus/bad.tsv"
{ head -c 30000 /dev/zero | tr '\0' x; echo; } >"$corpus/bad.tsv"
expect 2 "a line without end" "${audit[@]}" --expect "$corpus/bad.tsv"
expect 2 "a file that is not there" "${audit[@]}" --expect "$corpus/none.tsv"
complains 'none\.tsv: No such file or directory$'
lines=any expect 4 "a place that cannot be written" "${audit[@]}" --write-expect /dev/full
finish
