#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Which captures a run keeps: those of checks that did not pass, and of those in which a rule found something. Each file that a result, the
# page or another report names exists, also after a merge and a resumed run, and no other file does.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
select=('MPA-7.1.2-*' 'DDP-5.2-*' 'DDP-7.1-0*' 'RDMAP-4.8-*')
run=("$WARPCHECK" run --simulate --defect ddp-qn-wrong-code "${select[@]}")

# Files that results name, the page links to, and that there are.
named() { jq -r 'select(.type == "result" or .type == "journal") | .evidence // empty' "$1/results.jsonl" | LC_ALL=C sort -u; }
linked() { grep -oE 'href="evidence/[^"#]+' "$1/index.html" | cut -c7- | LC_ALL=C sort -u; }
there() { (cd "$1" && find evidence -name '*.pcapng' ! -name 'served-*' | LC_ALL=C sort); }
whole() {
	holds "$2: each file that a result names is there, and no other" diff <(named "$1") <(there "$1")
	linked "$1" >"$WORK/linked"
	holds "$2: the page links to some of them" test -s "$WORK/linked"
	holds "$2: each file that the page links to is there" test -z "$(LC_ALL=C comm -23 "$WORK/linked" <(there "$1"))"
	holds "$2: so is each that SARIF, TAP, JUnit and Markdown name" bash -c 'cd "$1" && for file in $(cat results.sarif results.tap junit.xml summary.md 2>/dev/null |
		grep -oE "evidence/[A-Za-z0-9._-]+\.pcapng" | sort -u); do test -s "$file" || exit 1; done' sh "$1"
	holds "$2: a check that passed has none, unless a rule found something" test -z "$(jq -r 'select(.type == "result" and .by == "check" and
		.verdict == "PASS" and .evidence != null) | .evidence' "$1/results.jsonl" | while read -r file; do
		jq -e --arg file "$file" 'select(.type == "journal" and .evidence == $file and (.findings | length) > 0)' "$1/results.jsonl" >/dev/null ||
			echo "$file"
	done)"
}

expect 1 "a run with a defect" "${run[@]}" -o "$WORK/fail"
whole "$WORK/fail" "by itself"
holds "what the device serves is kept" test -s "$WORK/fail/evidence/served-responder.pcapng"
expect 1 "all evidence" "${run[@]}" -o "$WORK/all" --evidence all
holds "there is much more of it" test "$(there "$WORK/all" | wc -l)" -gt $((3 * $(there "$WORK/fail" | wc -l)))
holds "each check that ran has a file" test "$(there "$WORK/all" | wc -l)" -eq \
	"$(jq -r 'select(.type == "result" and .by == "check" and .verdict != "SKIP") | .id + .role' "$WORK/all/results.jsonl" | sort -u | wc -l)"
holds "and says the same of the device" diff \
	<(jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$WORK/fail/results.jsonl") \
	<(jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$WORK/all/results.jsonl")
expect 1 "no evidence" "${run[@]}" -o "$WORK/none" --evidence none
holds "there is none, and no result names any" test -z "$(there "$WORK/none")$(named "$WORK/none")"
holds "the page links to none" test -z "$(linked "$WORK/none")"

echo "== merged, and gone on with"
for i in 1 2; do expect "0 1" "part $i" "${run[@]}" --shard $i/2 -o "$WORK/part$i"; done
expect 1 "the parts joined" "$WARPCHECK" report --merge "$WORK/part1" "$WORK/part2" -o "$WORK/merged"
whole "$WORK/merged" "merged"
# The first run ends before its last checks: its journal and results up to there.
mkdir -p "$WORK/half"
head -n $(($(wc -l <"$WORK/fail/results.jsonl") / 2)) "$WORK/fail/results.jsonl" >"$WORK/half/results.jsonl"
cp -r "$WORK/fail/evidence" "$WORK/half/evidence"
lines=any expect 1 "gone on with" "${run[@]}" -o "$WORK/half" --resume
whole "$WORK/half" "gone on with"

echo "== the limit"
expect 0 "a long capture without a limit that matters" "$WARPCHECK" run --simulate RDMAP-5.5-22 --role responder --evidence all \
	--evidence-limit 100 -o "$WORK/whole"
expect 0 "one of 1 MiB" "$WARPCHECK" run --simulate RDMAP-5.5-22 --role responder --evidence all --evidence-limit 1 -o "$WORK/cut"
size() { stat -c %s "$WORK/$1/evidence/RDMAP-5.5-22.pcapng"; }
holds "it has twice as much at most ($(size cut) of $(size whole) octets)" test "$(size cut)" -lt 2200000 -a "$(size whole)" -gt 4000000
holds "its last comment says what is missing" grep -aqE '[0-9]+ frames are cut, and [0-9]+ left out: run --evidence-limit' "$WORK/cut/evidence/RDMAP-5.5-22.pcapng"
holds "tshark reads it to its end" "$TSHARK" -r "$WORK/cut/evidence/RDMAP-5.5-22.pcapng" -q -z io,stat,0

echo "== what is not understood"
expect 2 "another kind of evidence" "$WARPCHECK" run --simulate --evidence some
complains '^warpcheck run: --evidence "some": fail, all or none was expected$'
for limit in 0 -1 x 1x 99999999999; do
	expect 2 "a limit of $limit" "$WARPCHECK" run --simulate --evidence-limit "$limit"
	complains "^warpcheck run: --evidence-limit \"$limit\": a number of MiB from 1 to 1048576 was expected$"
done
finish
