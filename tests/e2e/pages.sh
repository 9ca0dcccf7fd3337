#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The pages of a run, of an audit, of a matrix, of differences, of a statement, of a site with its grid, and of the course in headless Chromium, at widths of 1280 and 400 pixels, light and dark: axe-core finds nothing, no script fails, nothing
# is wider than the window, the pages are a few screens tall as they come, and the ladder is readable. Without Chromium, node or axe-core: a SKIP.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

chromium=$(command -v chromium || command -v chromium-browser || true)
axe=$B/axe/node_modules/axe-core/axe.min.js
[ -n "$chromium" ] || { echo "no Chromium: tools/deps.sh page"; exit 77; }
command -v node >"$WORK/node" || { echo "no node: apt-get install nodejs npm"; exit 77; }
[ -s "$axe" ] || { echo "no axe-core in $B/axe: tools/deps.sh page"; exit 77; }

expect 1 "a run with failures" "$WARPCHECK" run --simulate 'DDP-7.2*' 'MPA-7.1.1-0*' --defect ddp-qn-wrong-code -o "$WORK/run"
expect 1 "an audit with failures" "$WARPCHECK" audit pcaps/generated -o "$WORK/audit"
expect 0 "a matrix of both" "$WARPCHECK" report --matrix "$(printf 'rnic%.0s' {1..60})=$WORK/run" "audit=$WORK/audit" -o "$WORK/matrix.html"
expect 0 "a run without failures" "$WARPCHECK" run --simulate 'DDP-7.2*' -o "$WORK/good"
expect 1 "what differs between three runs" "$WARPCHECK" report --diff "$WORK/good" "$WORK/run" "$WORK/good" --fail-on any --format html -o "$WORK/diff.html"
expect 0 "the site of the baselines" "$WARPCHECK" report --site reports/baselines -o "$WORK/site"
expect 0 "the course as one page" tools/course-page.sh "$WORK/course.html"
holds "all of its lessons, and no link to a document" test "$(grep -c '^<details id="[1-6]-' "$WORK/course.html")" -eq 6 -a "$(grep -c 'href="[^"#]*\.md"' "$WORK/course.html")" -eq 0
holds "each card says what it is about while it is closed" test "$(grep -o '<article' "$WORK/audit/index.html" | wc -l)" -eq \
	"$(grep -o '<span class="purpose">' "$WORK/audit/index.html" | wc -l)"
expect 0 "a link to a part of the course" "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chromium" --dump-dom "file://$WORK/course.html#glossary"
says '^<details id="glossary" open'
expect 0 "a conformance statement" "$WARPCHECK" report --statement RFC5041 "$WORK/run" -o "$WORK/statement.html"
expect 0 "the statement as a PDF" "$WARPCHECK" report --statement RFC5041 "$WORK/run" -o "$WORK/statement.pdf"
holds "which the browser has made" test "$(head -c 5 "$WORK/statement.pdf")" = %PDF-
pages=("$WORK/statement.html" "$WORK/run/index.html" "$WORK/matrix.html" "$WORK/diff.html" "$WORK/audit/index.html" "$WORK/site/index.html" "$WORK/site/findings.html" "$WORK/site/interop/index.html"
	"$WORK/course.html")
expect 0 "Chromium opens the pages" node tests/e2e/browser.js "$chromium" "$axe" "${SHOTS:-}" "${pages[@]}"
cp "$WORK/stdout" "$WORK/seen"
holds "each page was seen four times" test "$(grep -vcE '^(finding|paper|pictures)' "$WORK/seen")" -eq "$((4 * ${#pages[@]}))"
grep '^finding' "$WORK/seen" || true
holds "neither axe-core nor a script has a finding" test -z "$(grep '^finding' "$WORK/seen" || true)"
while IFS=$'\t' read -r page width scheme height overflow open lines; do
	# A statement is for paper: each requirement is on it, and nothing folded.
	[[ $page == */statement.html ]] || holds "$page, $width pixels, $scheme: $height pixels tall" test "$height" -le 12000
	holds "$page, $width pixels, $scheme: nothing is wider than the window ($overflow, open $open)" test "$overflow" -le 0 -a "$open" -le 0
	holds "$page, $width pixels, $scheme: no ladder with letters too small to read ($lines)" test "$lines" -eq 0
done < <(grep -vE '^(finding|paper|pictures)' "$WORK/seen")
while IFS=$'\t' read -r _ page overflow closed heads pictures; do
	holds "$page on paper: nothing is wider than the sheet ($overflow)" test "$overflow" -le 0
	# Of the grid's exchanges those are open in which something failed.
	[[ $page == */interop/* || $page == interop/* ]] || holds "$page on paper: no fold is closed ($closed)" test "$closed" -eq 0
	holds "$page on paper: a table is a table ($heads)" test "$heads" -eq 0
	holds "$page on paper: each figure is there ($pictures)" test "$pictures" -eq 0
done < <(grep '^paper' "$WORK/seen")
holds "each page was seen on paper" test "$(grep -c '^paper' "$WORK/seen")" -eq "${#pages[@]}"
holds "each figure is on a small screen, too" test -z "$(grep '^pictures' "$WORK/seen" | grep -v $'\t0$')"

expect 0 "a matrix of devices that differ" "$WARPCHECK" report --matrix "good=$WORK/good" "bad=$WORK/run" -o "$WORK/devices.html"
expect 0 "the matrix, when it is opened" "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chromium" --dump-dom "file://$WORK/devices.html"
says '<details class="sec" open'
holds "only where devices differ" grep -qE '[0-9]+ of [0-9]+ requirements shown' "$WORK/stdout"
expect 0 "a link to a row that the boxes leave out" "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$WORK/chromium" \
	--dump-dom "file://$WORK/devices.html#DDP-7.2-02"
holds "shows it" grep -qE '<tr id="DDP-7.2-02"[^>]*>' "$WORK/stdout"
finish
