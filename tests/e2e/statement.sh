#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a vendor gives away and what a profile takes over: the conformance statement of a document has each of its requirements once, with the
# device and why what is not decided is not; report --known is what a profile takes; CSV has each result, and no formula.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 1 "a run" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*' 'MPA-7.1.1-0*' -o "$WORK/run"

echo "== the statement"
jq -c 'if .type == "run" then .device = {"vendor": "ACME <b>", "product": "X1", "firmware": "2.0", "capabilities": {"ird": 16}} else del(.chain) end' \
	"$WORK/run/results.jsonl" >"$WORK/results.jsonl"
expect 0 "of one document" "$WARPCHECK" report --statement RFC5041 "$WORK/results.jsonl" -o "$WORK/statement.html"
says 'statement\.html$'
holds "each requirement once" test "$(grep -oE '<th scope="row">DDP-[A-Z0-9.]+-[0-9]+' "$WORK/statement.html" | sort | uniq -u | wc -l)" -eq \
	"$("$WARPCHECK" list --format jsonl | jq -r 'select(.source == "RFC5041") | .id' | wc -l)"
holds "the device, as text" grep -q 'ACME &lt;b' "$WORK/statement.html"
holds "its capabilities" grep -q '<dt>ird</dt><dd>16</dd>' "$WORK/statement.html"
holds "what is broken" grep -q 'Invalid QN' "$WORK/statement.html"
holds "why something is not decided" grep -q 'nothing in this run exercised it' "$WORK/statement.html"
holds "the outcome for this document, first" grep -q '<strong>Does not conform</strong><p>[0-9]* of [0-9]* decided requirements ' "$WORK/statement.html"
holds "which check decided what is kept, in which roles" grep -q '<p class="src">check <code>conformance/scripts/ddp/[^<]*</code> as initiator and responder' "$WORK/statement.html"
holds "what each verdict means" grep -q 'a recommendation (SHOULD) that is not kept\|kept wherever it was tried' "$WORK/statement.html"
holds "a place to sign" grep -q '<dt>Signature</dt>' "$WORK/statement.html"
expect 0 "without a file it stands beside the results" "$WARPCHECK" report --statement all "$WORK/run"
holds "there" test -s "$WORK/run/statement.html"

echo "== on paper"
mkdir -p "$WORK/bin" "$WORK/none" "$WORK/tmp"
browser() { printf '#!/bin/sh\n%s\n' "$1" >"$WORK/bin/chromium" && chmod +x "$WORK/bin/chromium"; }
# A browser that says which page it was given, in place of a PDF.
browser 'for word; do case $word in --print-to-pdf=*) pdf=${word#*=} ;; file://*) page=${word#file://} ;; esac; done; { echo %PDF; cat "$page"; } >"$pdf"'
paper=(env "PATH=$WORK/bin:$PATH" "TMPDIR=$WORK/tmp" "$WARPCHECK" report --statement RFC5041 "$WORK/results.jsonl" -o "$WORK/statement.pdf")
expect 0 "a browser makes a PDF of the page" "${paper[@]}"
says "^$WORK/statement\.pdf$"
holds "of this page" cmp <(echo %PDF && cat "$WORK/statement.html") "$WORK/statement.pdf"
browser 'exit 3'
expect 4 "a browser that fails" "${paper[@]}"
complains 'the browser made no PDF; the page is had by -o x\.html$'
browser 'kill -KILL $$'
expect 4 "a browser that is killed" "${paper[@]}"
complains 'the browser made no PDF: the browser was killed by signal 9; the page is had'
expect 4 "no browser" env "PATH=$WORK/none" "TMPDIR=$WORK/tmp" "$WARPCHECK" report --statement RFC5041 "$WORK/results.jsonl" -o "$WORK/statement.pdf"
complains 'a browser makes the PDF, and none is installed \(chromium, google-chrome, \.\.\.\)'
holds "the older file stays" grep -q '^%PDF' "$WORK/statement.pdf"
expect 2 "a page that cannot be made" "${paper[@]//RFC5041/RFC9999}"
complains 'no document of the catalogue'
holds "no folder is left" rmdir "$WORK/tmp"

expect 2 "a document that is none" "$WARPCHECK" report --statement RFC9999 "$WORK/run"
complains 'no document of the catalogue; all, or one of RFC5044'
expect 2 "two kinds at once" "$WARPCHECK" report --statement RFC5041 --known "$WORK/run"
expect 0 "the page of the run" "$WARPCHECK" report "$WORK/results.jsonl" --format html -o "$WORK/page.html"
holds "shows the device, too" grep -q 'Device: vendor' "$WORK/page.html"
for format in html junit tap sarif md; do
	expect 0 "the report $format" "$WARPCHECK" report "$WORK/results.jsonl" --format "$format" -o "$WORK/report.$format"
	holds "names the device" grep -qE 'ACME (<|&lt;|&#60;)b' "$WORK/report.$format"
	holds "its capabilities" grep -qE '(ird&?[a-z]*;?"?: ?16|&quot;ird&quot;:16)' "$WORK/report.$format"
	holds "and the whole command" grep -qE "warpcheck run --simulate --defect ddp-qn-wrong-code .*(DDP-7.2-0|MPA-7.1.1-0)" "$WORK/report.$format"
done
expect 0 "the table of results" "$WARPCHECK" report "$WORK/results.jsonl" --format csv -o "$WORK/report.csv"
holds "names the device in each row" test "$(grep -c 'ACME <b>' "$WORK/report.csv")" -eq "$(($(wc -l <"$WORK/report.csv") - 1))"

echo "== known deviations"
expect 0 "of a run" "$WARPCHECK" report --known "$WORK/run" -o "$WORK/known.json"
holds "each failure" test "$(jq '[.known_deviations[].requirement] | unique | length' "$WORK/known.json")" -eq \
	"$(jq -s '[.[] | select(.type == "result" and (.verdict == "FAIL" or .verdict == "WARN")) | .id] | unique | length' "$WORK/run/results.jsonl")"
jq '. + {"address": "192.0.2.7", "port": 9999, "interface": "lo", "own_address": "192.0.2.9", "vendor": "ACME"}' "$WORK/known.json" >"$WORK/profile.json"
passes=any
expect 0 "a profile takes them" "$WARPCHECK" run --dut "$WORK/profile.json" --dry-run 'DDP-7.2-0*'
passes=none

echo "== spreadsheets"
expect 0 "results" "$WARPCHECK" report "$WORK/run" --format csv -o "$WORK/results.csv"
python3 - "$WORK/results.csv" "$WORK/run/results.jsonl" >"$WORK/csv.out" <<'PYTHON' || true
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
results = [r for r in map(json.loads, open(sys.argv[2])) if r["type"] == "result"]
assert [(r["requirement"], r["verdict"]) for r in rows] == [(r["id"], r["verdict"]) for r in results]
assert not any(cell[:1] in ("=", "+", "-", "@") for row in rows for cell in row.values() if cell)
print("good")
PYTHON
holds "each result is a row, and no cell a formula" grep -qx good "$WORK/csv.out"
expect 0 "requirements" "$WARPCHECK" list --format csv
holds "each is a row" test "$(wc -l <"$WORK/stdout")" -eq "$(("$("$WARPCHECK" list | wc -l)" + 1))"
finish
