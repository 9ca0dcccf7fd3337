#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Why flows end. tests/data/why/*.lua make a capture for each situation, and beside each script a text says the sentences that are due:
# dump, the lines of results.jsonl, the page and, where it is built, the Wireshark plugin say the same ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# sentences FOLDER: "capture frame sentence", of dump.
sentences() {
	local file
	for file in "$1"/*.pcap; do
		"$WARPCHECK" dump "$file" | sed -n "s/^ *\([0-9]*\)  .*  why: /$(basename "$file" .pcap) \1 /p"
	done
}

for script in tests/data/why/*.lua; do
	name=$(basename "$script" .lua)
	expect 0 "the captures of $name" "$WARPCHECK" gen --corpus "$WORK/$name" "$script"
	folder=$(find "$WORK/$name" -name '*.pcap' -printf '%h\n' | sort -u)
	sentences "$folder" >"$WORK/$name.txt"
	holds "$name: what dump says" diff "tests/data/why/$name.txt" "$WORK/$name.txt"
	expect '0 1 4' "an audit of $name" "$WARPCHECK" audit "$folder" -j 2 -o "$WORK/$name.out"
	says '^END  '
	jq -r 'select(.type == "end") | "\(.file | sub(".*/"; "") | sub(".pcap$"; "")) \(.frame) \(.why)"' "$WORK/$name.out/results.jsonl" >"$WORK/$name.jsonl"
	holds "$name: results.jsonl says the same" diff "$WORK/$name.txt" "$WORK/$name.jsonl"
	holds "$name: and so does the page" test "$(grep -c "$(tail -n 1 "$WORK/$name.txt" | cut -d' ' -f3- | cut -c1-60)" "$WORK/$name.out/index.html")" -gt 0
	jq -r 'select(.type == "end") | select((.why | split("; ") | map(capture(" broke a rule first: (?<id>[^ ]+)").id) | first) != .broke) | .why' \
		"$WORK/$name.out/results.jsonl" >"$WORK/odd" || echo "jq failed" >>"$WORK/odd"
	holds "$name: the rule that the sentence names is the member's" test ! -s "$WORK/odd"
	holds "$name: ends with such a rule were read" jq -es 'any(.[]; .type == "end" and has("broke"))' "$WORK/$name.out/results.jsonl"
	# what was not asked is not said to be kept
	expect '0 1 3 4' "an audit by one rule of $name" "$WARPCHECK" audit "$folder" MPA-7.1.1-01 --format jsonl
	says 'no selected rule was broken before it'
done
finish
