#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Findings in real stacks (docs/findings/linux-siw.md): each has its place in the source, a severity, one report that is
# whole, and something to repeat it with, or a reason why there is nothing. Requirements that they name exist. What is held back is in no
# report and in no reproducer. The deliberate faults in siw (docs/findings/seeded-siw.md) are whole, too. The tables of whole runs
# (reports/baselines/linux-siw-*/README.md) agree with themselves, with the profile and with what the findings are called.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

findings=docs/findings/linux-siw.md
table=docs/findings/linux-siw.tsv held=docs/findings/held-back.tsv faults=docs/findings/seeded-siw.tsv
reports=docs/findings/reports
reproducers=reports/baselines/reproducers-linux-siw

# The columns of a table that its page is rendered from; ids: the requirement ids in a text, one a line.
column() { awk -F '\t' -v name="$1" '/^#/ { next } !at { for (i = 1; i <= NF; i++) if ($i == name) at = i; next } { print $at }' "$2"; }
ids() { { grep -oE '\b(A11|ATOM|DDP|EMPA|MPA|RDMAP|SCTP)-[A-Z0-9.]+-[0-9]{2}\b' || true; }; }
expect 0 "the pages have the tables of their files" tools/tables.pl --check docs/findings/*.md reports/baselines/*/README.md

cut -f 1 conformance/requirements/*.tsv | grep -E '^[A-Z0-9]+-' | LC_ALL=C sort -u >"$WORK/catalogue"
holds "the catalogue was read" test "$(wc -l <"$WORK/catalogue")" -gt 1000
exist() { # exist WHAT <ids
	LC_ALL=C sort -u >"$WORK/named"
	LC_ALL=C comm -23 "$WORK/named" "$WORK/catalogue" >"$WORK/unknown"
	holds "$1: its requirements exist: $(paste -s -d ' ' "$WORK/unknown")" test ! -s "$WORK/unknown"
}

# "ID ROLE" of each requirement that is held back; the role may be "both".
paste <(column requirements "$held") <(column role "$held") | while IFS=$'\t' read -r requirements role; do
	ids <<<"$requirements" | sed "s/\$/ $role/"
done >"$WORK/held"
holds "what is held back was read" test "$(wc -l <"$WORK/held")" -ge 20
exist "held back" < <(cut -d ' ' -f 1 "$WORK/held")

# A report: whole, in lines that a mailing list takes, with commands that can be given.
report() {
	local file=$1 name id role script part
	name=${file##*/}
	for part in 'To: ' 'Subject: ' 'What happens$' 'How it was seen$' 'How to repeat it$' 'Where it is$' 'Suggested change$' 'Severity$'; do
		holds "$name has \"$part\"" grep -q "^$part" "$file"
	done
	holds "$name goes to the list" grep -qE '^(To|Cc): linux-rdma@vger.kernel.org$' "$file"
	holds "$name says how severe it is" grep -qE '^(Error reporting|Interoperability|Integrity|Robustness|Low)\b' <(sed -n '/^Severity$/,$p' "$file")
	# A diff has the columns of its source, and the kernel's rule for a tag is one line.
	awk '/^--- a\//{d = 1} d && !/^[-+ @]|^$/{d = 0} !d && !/^Fixes: / && length > 72 {print FILENAME ": " FNR ": " length " columns"}' "$file" >"$WORK/long"
	holds "$name has 72 columns: $(head -n 1 "$WORK/long")" test ! -s "$WORK/long"
	exist "$name" < <(ids <"$file")
	while read -r id; do
		holds "$name names $id, which is not held back" test -z "$(grep -wF -- "$id" "$WORK/held")"
	done <"$WORK/named"
	grep -oE 'warpcheck run [A-Z0-9]+-[^ ]+ --dut [^ ]+ --role [a-z]+' "$file" >"$WORK/commands" || true
	holds "$name says how to repeat it, or why not" grep -qE '^ +warpcheck run |^for this: ' "$file"
	while read -r _ _ id _ _ _ role; do
		holds "$name: a check decides $id" "$WARPCHECK" list --checks "$id"
		holds "$name: $role" grep -qxE 'initiator|responder' <<<"$role"
	done <"$WORK/commands"
	while read -r script; do
		holds "$name: $script is there" test -s "$script"
	done < <(grep -oE "$reproducers/[^ ]+\.lua" "$file" || true)
}

numbers=$(column finding "$table")
holds "the page has a section for each finding" test "$(sed -n 's/^## \([0-9]*\)\. .*/\1/p' "$findings")" = "$numbers"
holds "the findings are numbered from 1 on" test "$(paste -s -d ' ' <<<"$numbers")" = "$(seq -s ' ' "$(wc -l <<<"$numbers")")"
for number in $numbers; do
	padded=$(printf %02d "$number")
	sed -n "/^## $number\. /,/^## /p" "$findings" | sed '1d;/^## /d' >"$WORK/section"
	set -- "$reports/$padded"-*.txt
	holds "finding $number has one report" test $# -eq 1 -a -s "$1"
	awk -F '\t' -v number="$number" '$1 == number' "$table" >"$WORK/row"
	IFS=$'\t' read -r _ requirements level severity path _ _ _ fixes mainline <"$WORK/row"
	holds "finding $number says whether mainline has a change" test -n "$mainline"
	holds "finding $number and its report name the same commit, or none ($fixes)" test "$(sed -nE 's/^Fixes: ([0-9a-f]{12}) \("[^"]+"\)$/\1/p' "$1")" = "${fixes/not known/}"
	holds "finding $number has its report in the table" test "docs/findings/$path" = "$1"
	holds "finding $number has its place" grep -qE '^Place: .*`' "$WORK/section"
	holds "finding $number has a severity" grep -qE '^(interop|error reporting|robustness|integrity)\b' <<<"$severity"
	holds "finding $number has a level" grep -qE '^(MUST|SHOULD)\b' <<<"$level"
	exist "finding $number" < <(ids <<<"$requirements")
	holds "finding $number names a requirement" test -s "$WORK/named"
	report "$1"
done
# Those in C: of a finding each, named in its report, no longer than they may be, compiled without a warning, and about nothing that is held back.
for file in "$reports"/*.c; do
	name=$(basename "$file" .c)
	holds "$name.c has its report, which names it" grep -qF "$name.c" "$reports/$name.txt"
	holds "$name.c has at most 150 lines" test "$(wc -l <"$file")" -le 150
	holds "$name.c is compiled without a warning" "${cc[@]}" -Wall -Wextra -Werror -o "$WORK/repro" "$file"
	exist "$name.c" < <(sed -n 2p "$file" | ids)
	holds "$name.c says what it is about" test -s "$WORK/named"
	while read -r id; do
		holds "$name.c is about $id, which is not held back" test -z "$(grep -wF -- "$id" "$WORK/held")"
	done <"$WORK/named"
done
with=$(basename -a "$reports"/*.c | cut -c 1-2 | sed 's/^0//') without=$(sed -n 's/^| \([0-9, ]*\) | [^|]* |$/\1/p' "$reports/README.md" | tr -d ' ' | tr , '\n')
holds "each finding has one, or a reason why it has none" test "$(printf '%s\n' "$with" "$without" | sort -n)" = "$numbers"
for file in "$reports"/*.txt; do
	case ${file##*/} in
	[0-9][0-9]-*) holds "${file##*/} is about a finding" grep -qx "$((10#$(basename "$file" | cut -c 1-2)))" <<<"$numbers" ;;
	*) report "$file" ;;
	esac
	holds "$reports/README.md has ${file##*/} in its order" grep -qF "(${file##*/})" "$reports/README.md"
done

# The deliberate faults of seeded.sh: each says what it does and which checks are for it, and has its row in the table.
seeded_faults() { # seeded_faults FOLDER TABLE
	local patch name base
	for patch in "$1"/*.patch; do
		name=$(basename "$patch" .patch)
		sed '/^---/q' "$patch" >"$WORK/head"
		holds "$name says what the fault is" grep -q '^fault: .*\.$' "$WORK/head"
		holds "$name has a role or none" test -z "$(sed -n 's/^role: //p' "$WORK/head" | grep -vxE 'responder|initiator')"
		base=$(sed -n 's/^base: //p' "$WORK/head")
		holds "$name: its base is there" test -z "$base" -o -s "conformance/labs/linux/patches/$base.patch"
		holds "$name has its row in $2" grep -qx "$name" <(column patch "$2")
	done
	while read -r glob; do
		holds "$glob selects requirements for a fault" "$WARPCHECK" list "$glob"
	done < <(sed -n 's/^checks: //p' "$1"/*.patch | tr ' ' '\n' | sort -u)
}
seeded_faults conformance/labs/linux/seeded "$faults"
seeded_faults conformance/labs/linux/seeded-rxe docs/findings/seeded-rxe.tsv
seeded_faults conformance/labs/linux/reverts docs/findings/reverts-siw.tsv
# Those of seeded-host.sh have their row in the page, as the script prints it up to what was named.
for patch in conformance/labs/linux/seeded-host/*.patch; do
	field() { sed -n "/^---/q; s/^$1: //p" "$patch"; }
	holds "$(basename "$patch") names a check that is there" "$WARPCHECK" list --checks "$(field checks)"
	holds "$(basename "$patch") names a kernel that can be built" test -s "conformance/labs/linux/config/$(field config).config"
	holds "$(basename "$patch") has its row" grep -qF "| $(field fault) | \`$(basename "$patch" .patch)\` | \`$(field config)\` | \`$(field says)\` | $(field checks) as " docs/lab-kernels.md
done
for patch in conformance/labs/linux/reverts/*.patch; do
	fix=$(sed -n '/^---/q; s/^fix: //p' "$patch")
	holds "$(basename "$patch") names the commit as its table does" test -n "$fix" -a "$fix" = "$(awk -F '\t' -v patch="$(basename "$patch" .patch)" '$1 == patch { print $3 }' docs/findings/reverts-siw.tsv)"
done

# A reproducer may be about a requirement that is held back for the other role alone.
for script in "$reproducers"/*.lua; do
	"$WARPCHECK" run --simulate --dry-run --script "$script" | awk '{print $1, $2}' >"$WORK/decided"
	exist "${script##*/}" < <(cut -d ' ' -f 1 "$WORK/decided")
	holds "${script##*/} decides something" test -s "$WORK/decided"
	while read -r id role; do
		holds "${script##*/} is about $id as $role, which is not held back" \
			test -z "$(awk -v id="$id" -v role="$role" '$1 == id && ($2 == role || $2 == "both" || role == "both")' "$WORK/held")"
	done <"$WORK/decided"
done

# Whole runs, as summary.sh writes them: each row has as many results, none of them undecided, and the results that were skipped or are known
# deviations are as many as the first row counts. Nothing failed.
profile=conformance/labs/linux/linux-siw.json.in
should='a SHOULD that is not kept'
holds "the profile says \"$should\" of a WARN alone" \
	jq -e --arg should "$should" '[.known_deviations[] | select(.finding == $should)] | length > 0 and all(.verdict == "WARN")' "$profile"
jq -r '.known_deviations[].finding' "$profile" | grep -vxF "$should" | sort -u >"$WORK/notes"
while read -r number; do
	holds "the profile's finding $number is there" grep -qx "$number" <<<"$numbers"
done < <(sed -n 's/^\([0-9]*\): .*/\1/p' "$WORK/notes" | sort -un)
holds "the profile has findings by number, and what is held back" test -z "$(grep -vE '^[0-9]+: .|^held back$' "$WORK/notes")"
# What is held back is named by its outcome's digest; where octets of a device's memory are part of it, by a text that says no more
# than that the requirement is broken.
holds "the profile does not say what is held back" test -z "$(jq -r '.known_deviations[] | select(.finding == "held back" and .outcome == null) | .actual' "$profile" | grep -v '<hex>')"
holds "nor do the published runs" test -z "$(jq -r 'select(.finding == "held back" and (.message // .expected // .actual // .hint)) | .id' reports/baselines/*/results.jsonl)"
sum() { awk '{ n += $1 } END { print n + 0 }'; }
for runs in reports/baselines/linux-siw-*/runs.tsv; do
	folder=$(dirname "$runs") kernel=$(basename "$(dirname "$runs")")
	holds "$kernel: a run over IPv4 first, and one over IPv6" test "$(column ip "$runs" | paste -s -d ' ')" = "IPv4 IPv6"
	# shellcheck disable=SC2016 # the fields are awk's
	holds "$kernel: its runs are whole, none FAIL, none INCONCLUSIVE" awk -F '\t' '
		NR > 1 && ($3 + $4 + $5 + $6 + $7 + $8 + $9 < 1000 || $5 != 0 || $9 != 0 || NF != 10) { bad = 1 }
		END { exit bad || NR < 2 }' "$runs"
	skipped=$(column SKIP "$runs" | sed -n 1p) known=$(column KNOWN "$runs" | sed -n 1p) several=$(column findings "$runs" | sed -n 1p)
	holds "$kernel: $skipped skipped results have their reasons" test "$(column results "$folder/skipped.tsv" | sum)" = "$skipped"
	holds "$kernel: $known results are known deviations" test "$(column results "$folder/known.tsv" | sum)" = "$known"
	holds "$kernel: of $several findings" test "$(column finding "$folder/known.tsv" | wc -l)" = "$several"
	column finding "$folder/known.tsv" | grep -vxFf "$WORK/notes" >"$WORK/unknown" || true
	holds "$kernel: the profile knows its deviations: $(head -n 1 "$WORK/unknown")" test ! -s "$WORK/unknown"
	while read -r number; do
		holds "$kernel: finding $number is there" grep -qx "$number" <<<"$numbers"
	done < <(column finding "$folder/known.tsv" | sed -n 's/^\([0-9]*\): .*/\1/p')
done

# summary.sh on a run whose verdicts the command itself has counted; a page whose table is another one is named.
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
expect 1 "a run of a defect over IPv6" "$WARPCHECK" run --simulate --ipv6 --defect mpa-alignment-needed 'MPA-A.4-01' 'MPA-7.1.1-0*' -o "$WORK/run"
mkdir "$WORK/tables"
conformance/labs/linux/summary.sh -o "$WORK/tables" "$WORK/run"
IFS=' ' read -r pass fail skip < <(jq -r 'select(.type == "summary") | "\(.pass) \(.fail) \(.skip)"' "$WORK/run/results.jsonl")
holds "summary.sh counts as the run does, and says IPv6" \
	grep -qE "^[-0-9T:Z]+"$'\t'"IPv6"$'\t'"$pass"$'\t'"0"$'\t'"$fail"$'\t'"0"$'\t'"[0-9]+"$'\t'"$skip"$'\t'"0"$'\t'"0$" "$WORK/tables/runs.tsv"
holds "and names what failed" test "$(column requirement "$WORK/tables/failed.tsv" | wc -l)" -eq "$fail"
printf '<!-- table tables/runs.tsv: ip={ip} | passed={PASS} -->\n<!-- end -->\n' >"$WORK/page.md"
expect 1 "a page without its table" tools/tables.pl --check "$WORK/page.md"
says 'its tables are not those of their files'
expect 0 "the page is rendered" tools/tables.pl "$WORK/page.md"
expect 0 "now it has its table" tools/tables.pl --check "$WORK/page.md"
holds "the table has the values" grep -qx "| IPv6 | $pass |" "$WORK/page.md"
printf '<!-- table tables/runs.tsv: ip={no} -->\n<!-- end -->\n' >"$WORK/page.md"
expect 2 "a column that is not there" tools/tables.pl --check "$WORK/page.md"
complains 'no column no'
printf '<!-- table tables/runs.tsv: ip={ip} -->\n' >"$WORK/page.md"
expect 2 "a table without an end" tools/tables.pl "$WORK/page.md"
complains '1 tables begin, 0 of them have an end'
# Each frame that the page names is in the table, each of the table is named there, and the capture has it: its sender, and its octets.
frames=docs/findings/frames.tsv
perl -0777 -ne '
	for (split /^(?=## \d+\. )/m) {
		next unless /^## (\d+)\. /;
		my $finding = $1;
		while (/[Ff]rames? (\d+(?:(?:, | and | to |: )\d+)*)|\(in the capture of 6\.1: (\d+) and (\d+)\)/g) {
			my $numbers = defined $1 ? $1 : "$2 $3";
			my ($first, $last) = $numbers =~ / to / ? $numbers =~ /(\d+) to (\d+)/ : ();
			print "$finding $_\n" for defined $first ? ($first, $last) : $numbers =~ /\d+/g;
		}
	}' "$findings" | LC_ALL=C sort -u >"$WORK/cited"
paste -d ' ' <(column finding "$frames") <(column frame "$frames") | LC_ALL=C sort -u >"$WORK/listed"
holds "the frames that the page names were read" test "$(wc -l <"$WORK/cited")" -gt 30
holds "they are those of frames.tsv: $(diff "$WORK/cited" "$WORK/listed" | grep '^[<>]' | paste -s -d ' ')" cmp -s "$WORK/cited" "$WORK/listed"
seen_frame() { # CAPTURE FRAME FROM PAYLOAD
	local address=10.78.0.3 line
	[ "$3" = tester ] || address=10.78.0.2
	line=$("$TSHARK" -r "reports/baselines/linux-siw-$1.pcapng" -Y "frame.number == $2" -T fields -e ip.src -e tcp.payload 2>/dev/null)
	grep -qE "^$address	$4" <<<"$line	"
}
while IFS=$'\t' read -r finding capture frame from payload; do
	case $finding in '#'* | finding) continue ;; esac
	[ "$payload" != '$' ] || payload='	*$'
	holds "finding $finding: $capture, frame $frame of $from" seen_frame "$capture" "$frame" "$from" "${payload/%\$/[[:space:]]*\$}"
	holds "finding $finding names $capture.pcapng" grep -qF "${capture#*/}.pcapng" "$findings"
done <"$frames"
finish
