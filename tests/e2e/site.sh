#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --site`: the site of this repository's baselines. Every link on its pages leads to a file and a place that are there,
# every finding names the versions in which results are of it, and descriptions that cannot be are refused in one line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

site=$WORK/site
expect 0 "the site of the baselines" "$WARPCHECK" report --site reports/baselines -o "$site"
says "^$site/index.html$"

# links PAGE: the targets of its links, those to other sites left out
links() { grep -oE ' (href|src)="[^"]*"' "$1" | sed -E 's/^ [a-z]+="//; s/"$//' | grep -vE '^(https?|data):' | sort -u; }
absent=0 followed=0
while read -r page; do
	while read -r link; do
		target=${link%%#*} place=${link#*#}
		[ -n "$target" ] && file=$(dirname "$page")/$target || file=$page
		followed=$((followed + 1))
		if [ ! -s "$file" ] || { [[ $link == *#* ]] && ! grep -qF "id=\"$place\"" "$file"; }; then
			echo "$page: $link leads nowhere"
			absent=$((absent + 1))
		fi
	done < <(links "$page")
done < <(find "$site" -maxdepth 1 -name '*.html')
holds "each of $followed links leads somewhere" test "$followed" -gt 500 -a "$absent" -eq 0

holds "a history names its implementation" grep -q '<h1>warpcheck: what differs between versions of Linux siw</h1><p><a href="index.html">' "$site/history-linux-siw.html"

while IFS=$'\t' read -r stack version run findings; do
	[ "$stack" != stack ] || continue
	holds "$run: its page" grep -q '<html' "$site/$run/index.html"
	holds "$run: in the first page, with its version" grep -qF "<a href=\"$run/index.html\">$version</a>" "$site/index.html"
	for capture in reports/baselines/"$run"/*.pcapng; do
		[ -e "$capture" ] || continue
		holds "$run: $(basename "$capture")" cmp "$capture" "$site/$run/$(basename "$capture")"
	done
	[ -n "$findings" ] || continue
	met=$(jq -r 'select(.verdict == "KNOWN") | .finding | select(test("^[0-9]+:")) | split(":")[0]' "reports/baselines/$run/results.jsonl" | sort -u | wc -l)
	other=$(jq -r 'select(.verdict == "KNOWN" and (.finding | test("^[0-9]+:") | not)) | .id' "reports/baselines/$run/results.jsonl" | wc -l)
	[ "$other" -eq 0 ] || holds "$run: $other results of no finding" grep -qF "$version: $other more KNOWN result" "$site/findings.html"
	shown=$(grep -oF "<div>$version: " "$site/findings.html" | wc -l)
	none=$(grep -oF "<div>$version: not met" "$site/findings.html" | wc -l)
	holds "$run: $met findings were met, and are shown so" test $((shown - none)) -eq "$met"
done <reports/baselines/site.tsv

site_of() { # site_of LINE...: a description with these rows
	rm -rf "$WORK/bad"
	mkdir -p "$WORK/bad/run"
	cp reports/baselines/linux-siw-6.1/results.jsonl "$WORK/bad/run/"
	printf '%b\n' "$@" >"$WORK/bad/site.tsv"
}
refused() { # refused WHAT PATTERN
	expect 2 "$1" "$WARPCHECK" report --site "$WORK/bad" -o "$WORK/none"
	complains "$2"
	holds "$1: nothing was made" test ! -e "$WORK/none"
}
head='stack\tversion\trun\tfindings'
site_of "$head"
refused "no run" 'site.tsv: 0 runs, 1 to 16 were expected'
site_of 'stack\tversion' 'a\tb'
refused "a column is missing" 'site.tsv:1: no column "run"'
site_of "$head" 'a\tb\t../run\t'
refused "a run elsewhere" 'the run "../run" of row 1: the name of a folder beside the table'
site_of "$head" 'a\t1\trun\t' 'a\t2\trun\t'
refused "a run twice" 'the run "run" stands there twice'
site_of "$head" 'a\t1\tabsent\t'
refused "a run that is not there" 'absent/results.jsonl'
site_of "$head" 'a\t1\trun\tnone.tsv'
refused "findings that are not there" 'none.tsv: no such file'
site_of "$head" 'a\t\trun\t'
refused "no version" 'row 1 names no stack, or no version'
site_of "$head" 'a\t1\trun\tfindings.tsv'
printf 'finding\ttitle\trequirements\tlevel\tseverity\treport\n1\tt\tMPA-6-01\tMUST\tx\tabsent.txt\n' >"$WORK/bad/findings.tsv"
expect 4 "a report that is not there" "$WARPCHECK" report --site "$WORK/bad" -o "$WORK/none"
complains 'absent.txt: no such file'
holds "without the first page nothing looks complete" test ! -e "$WORK/none/index.html"
site_of "$head" 'a\t1\trun\t'
mkdir "$WORK/full"
echo x >"$WORK/full/mine"
expect 2 "a folder in which something is" "$WARPCHECK" report --site "$WORK/bad" -o "$WORK/full"
expect 0 "one run without findings" "$WARPCHECK" report --site "$WORK/bad/site.tsv" -o "$WORK/one"
holds "has no page of findings" test ! -e "$WORK/one/findings.html"
expect 2 "without -o" "$WARPCHECK" report --site "$WORK/bad"
expect 2 "with --matrix" "$WARPCHECK" report --site --matrix "$WORK/bad" -o "$WORK/x"
finish
