#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A corpus's expected findings: the project's own has no others, a new finding and a missing one fail, notes and days are kept,
# and a file of expectations that cannot be right is refused by its line.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

lines=any expect 0 "the project's own captures" "$WARPCHECK" audit pcaps --allow-gaps --quiet --expect pcaps/expected.tsv
holds "what is expected is told" grep -qE '^expected: [1-9][0-9]* findings, 0 differences' "$WORK/stdout"
lines=any expect 4 "what was not judged counts all the same" "$WARPCHECK" audit pcaps --quiet --expect pcaps/expected.tsv

corpus=$WORK/corpus
mkdir -p "$corpus/deep er"
cp pcaps/generated/bad-crc.pcap "$corpus/deep er/"
cp pcaps/generated/atomics.pcap "$corpus/"
audit=("$WARPCHECK" audit "$corpus" --allow-gaps --quiet)
lines=any expect '0 1 5' "expectations are written" "${audit[@]}" --write-expect "$corpus/expected.tsv"
holds "captures are named from their folder" grep -q $'^deep er/bad-crc.pcap\tMPA-' "$corpus/expected.tsv"
lines=any expect 0 "and hold, from another folder" env -C / "${audit[@]}" --expect "$corpus/expected.tsv"
lines=any expect 0 "and with two processes" "${audit[@]}" -j 2 --expect "$corpus/expected.tsv"

sed -i "s/\t[^\t]*\t$/\t$(date -u -d '+30 days' +%F)\ton purpose/" "$corpus/expected.tsv"
cp "$corpus/expected.tsv" "$WORK/noted.tsv"
lines=any expect '0 1 5' "written again" "${audit[@]}" --write-expect "$corpus/expected.tsv"
holds "with notes and days as they were" cmp "$corpus/expected.tsv" "$WORK/noted.tsv"

sed '/ATOM-5.2.1-02/d' "$WORK/noted.tsv" >"$corpus/less.tsv"
lines=any expect 1 "a finding that is not expected" "${audit[@]}" --expect "$corpus/less.tsv"
holds "is new: $(cat "$WORK/stderr")" grep -q 'new: atomics.pcap: ATOM-5.2.1-02 as initiator is FAIL' "$WORK/stderr"
printf 'atomics.pcap\tMPA-4.4-14\tresponder\tFAIL\t%s\tnever\n' "$(date -u -d '+30 days' +%F)" | cat "$WORK/noted.tsv" - >"$corpus/more.tsv"
lines=any expect 1 "a finding that is not there" "${audit[@]}" --expect "$corpus/more.tsv"
holds "is missing" grep -q 'missing: atomics.pcap: MPA-4.4-14 as responder was expected to be FAIL' "$WORK/stderr"
sed 's/FAIL/WARN/' "$WORK/noted.tsv" >"$corpus/other.tsv"
lines=any expect 1 "another verdict" "${audit[@]}" --expect "$corpus/other.tsv"
holds "is a change" grep -q 'changed: atomics.pcap: .* is FAIL, WARN was expected' "$WORK/stderr"
sed "s/$(date -u -d '+30 days' +%F)/2025-01-31/" "$WORK/noted.tsv" >"$corpus/due.tsv"
lines=any expect 1 "a review that is due" "${audit[@]}" --expect "$corpus/due.tsv"
holds "is told" grep -q 'due: atomics.pcap: .* was to be reviewed by 2025-01-31' "$WORK/stderr"

# refused WHAT LINE WORDS: a file of this one line.
refused() {
	printf '%b\n' "$2" >"$corpus/bad.tsv"
	expect 2 "$1" "${audit[@]}" --expect "$corpus/bad.tsv"
	holds "$1: $(cat "$WORK/stderr")" grep -qF "bad.tsv:1: $3" "$WORK/stderr"
}
refused "a requirement that is none" 'a\tMPA-99-99\tresponder\tFAIL\t2027-01-01\t' 'the requirement is "MPA-99-99"'
refused "a role that is none" 'a\tMPA-4.4-14\tboth\tFAIL\t2027-01-01\t' 'the role is "both"'
refused "a verdict that is no finding" 'a\tMPA-4.4-14\tresponder\tPASS\t2027-01-01\t' 'the verdict is "PASS"'
refused "a day that is none" 'a\tMPA-4.4-14\tresponder\tFAIL\t2027-02-30\t' '"review_by" is "2027-02-30"'
refused "a day that is far away" 'a\tMPA-4.4-14\tresponder\tFAIL\t2999-01-01\t' '"review_by" is 2999-01-01'
refused "too few columns" 'a\tMPA-4.4-14\tresponder\tFAIL\t2027-01-01' '5 columns'
refused "no capture" '\tMPA-4.4-14\tresponder\tFAIL\t2027-01-01\t' 'the capture is ""'
{ head -c 20000 /dev/zero | tr '\0' x; echo; } >"$corpus/bad.tsv"
expect 2 "a line without end" "${audit[@]}" --expect "$corpus/bad.tsv"
expect 2 "a file that is not there" "${audit[@]}" --expect "$corpus/none.tsv"
complains 'none\.tsv: No such file or directory$'
expect 2 "a part of a corpus" "${audit[@]}" --shard 1/2 --expect "$corpus/expected.tsv"
lines=any expect 4 "a place that cannot be written" "${audit[@]}" --write-expect /dev/full
finish
