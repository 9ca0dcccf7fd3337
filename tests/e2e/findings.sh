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
reports=docs/findings/reports
reproducers=reports/baselines/reproducers-linux-siw

# ids: the requirement ids in a text, one a line. "RDMAP-4.8-29, 4.8-42" and "MPA-4.4-05, -02" are short for whole ids.
ids() {
	sed 's/([^)]*)//g' | { grep -oE '\b(A11|ATOM|DDP|EMPA|MPA|RDMAP|SCTP)-[A-Z0-9.]+-[0-9]{2}\b|(, | and )([0-9][0-9.]*|[A-C]\.[0-9.]+)?-[0-9]{2}\b' || true; } | awk '
		{ sub(/^(, | and )/, "") }
		/^[A-Z][A-Z0-9]*-/ { document = section = $0; sub(/-.*/, "", document); sub(/-[0-9]+$/, "", section); sub(/^[^-]*-/, "", section) }
		/^-/ { $0 = document "-" section $0 }
		/^[0-9]/ { section = $0; sub(/-[0-9]+$/, "", section); $0 = document "-" $0 }
		{ print }'
}

cut -f 1 conformance/requirements/*.tsv | grep -E '^[A-Z0-9]+-' | LC_ALL=C sort -u >"$WORK/catalogue"
holds "the catalogue was read" test "$(wc -l <"$WORK/catalogue")" -gt 1000
exist() { # exist WHAT <ids
	LC_ALL=C sort -u >"$WORK/named"
	LC_ALL=C comm -23 "$WORK/named" "$WORK/catalogue" >"$WORK/unknown"
	holds "$1: its requirements exist: $(paste -s -d ' ' "$WORK/unknown")" test ! -s "$WORK/unknown"
}

# "ID ROLE" of each requirement that is held back; the role may be "both".
sed -n '/^## Held back/,/^## Beside/p' "$findings" | grep '^|' | sed 1,2d | while IFS='|' read -r _ requirement role _; do
	ids <<<"$requirement" | sed "s/\$/ ${role// /}/"
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
	# A diff has the columns of its source.
	awk '/^--- a\//{d = 1} d && !/^[-+ @]|^$/{d = 0} !d && length > 72 {print FILENAME ": " FNR ": " length " columns"}' "$file" >"$WORK/long"
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

numbers=$(sed -n 's/^## \([0-9]*\)\. .*/\1/p' "$findings")
holds "the findings are numbered from 1 on" test "$(paste -s -d ' ' <<<"$numbers")" = "$(seq -s ' ' "$(wc -l <<<"$numbers")")"
for number in $numbers; do
	padded=$(printf %02d "$number")
	sed -n "/^## $number\. /,/^## /p" "$findings" | sed '1d;/^## /d' >"$WORK/section"
	set -- "$reports/$padded"-*.txt
	holds "finding $number has one report" test $# -eq 1 -a -s "$1"
	holds "finding $number links its report" grep -qF "(reports/${1##*/})" "$findings"
	holds "finding $number has its place" grep -qE '^Place: .*`' "$WORK/section"
	holds "finding $number has a severity" grep -qE '\b(interop|error reporting|robustness|integrity)\b' <(head -n 4 "$WORK/section")
	# The first words, up to the level, are its requirements.
	exist "finding $number" < <(tr '\n' ' ' <"$WORK/section" | sed 's/MUST.*//; s/\. .*//' | ids)
	holds "finding $number names a requirement" test -s "$WORK/named"
	report "$1"
done
for file in "$reports"/*.txt; do
	case ${file##*/} in
	[0-9][0-9]-*) holds "${file##*/} is about a finding" grep -qx "$((10#$(basename "$file" | cut -c 1-2)))" <<<"$numbers" ;;
	*) report "$file" ;;
	esac
	holds "$reports/README.md has ${file##*/} in its order" grep -qF "(${file##*/})" "$reports/README.md"
done

# The deliberate faults of seeded.sh: each says what it does and which checks are for it, and has its row in the table.
seeded=conformance/labs/linux/seeded
for patch in "$seeded"/*.patch; do
	name=$(basename "$patch" .patch)
	sed '/^---/q' "$patch" >"$WORK/head"
	holds "$name says what the fault is" grep -q '^fault: .*\.$' "$WORK/head"
	holds "$name has a role or none" test -z "$(sed -n 's/^role: //p' "$WORK/head" | grep -vxE 'responder|initiator')"
	base=$(sed -n 's/^base: //p' "$WORK/head")
	holds "$name: its base is there" test -z "$base" -o -s "conformance/labs/linux/patches/$base.patch"
	holds "$name has its row in docs/findings/seeded-siw.md" grep -qE "^\| .*\| \`$name\` \|" docs/findings/seeded-siw.md
done

while read -r glob; do
	holds "$glob selects requirements for a fault" "$WARPCHECK" list "$glob"
done < <(sed -n 's/^checks: //p' "$seeded"/*.patch | tr ' ' '\n' | sort -u)

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

# Whole runs, as summary.sh prints them: each row has as many results, none of them undecided, and what is said of the skipped and of the
# known deviations is about as many as the first row counts. Nothing failed.
profile=conformance/labs/linux/linux-siw.json.in
jq -r '.known_deviations[].finding' "$profile" | sort -u >"$WORK/notes"
while read -r number; do
	holds "the profile's finding $number is there" grep -qx "$number" <<<"$numbers"
done < <(sed -n 's/^\([0-9]*\): .*/\1/p' "$WORK/notes" | sort -un)
holds "the profile has findings by number, and what is held back" test -z "$(grep -vE '^[0-9]+: .|^held back$' "$WORK/notes")"
# What is held back is named by its outcome's digest; where octets of a device's memory are part of it, by a text that says no more
# than that the requirement is broken.
holds "the profile does not say what is held back" test -z "$(jq -r '.known_deviations[] | select(.finding == "held back" and .outcome == null) | .actual' "$profile" | grep -v '<hex>')"
rows() { # rows HEAD FILE: those of the table with this head, without the bars at their ends
	awk -v head="$1" 'index($0, head) == 1 { on = 1; next } on && !/^\|/ { exit } on && !/^\|-/ { gsub(/^\| | \|$/, ""); print }' "$2"
}
sum() { awk -F ' [|] ' '{ n += $1 } END { print n + 0 }'; }
for readme in reports/baselines/linux-siw-*/README.md; do
	kernel=$(basename "$(dirname "$readme")")
	rows '| run |' "$readme" >"$WORK/runs"
	holds "$kernel: a run over IPv4 first, and one over IPv6" test -n "$(sed -n '1{/IPv6/!p}' "$WORK/runs")" -a -n "$(grep IPv6 "$WORK/runs")"
	# shellcheck disable=SC2016 # the fields are awk's
	holds "$kernel: its runs are whole, none FAIL, none INCONCLUSIVE" awk -F ' [|] ' '
		{ all = $2 + $3 + $4 + $5 + $6 + $7 + $8 } all < 1000 || $4 != 0 || $8 != 0 || NF != 9 { bad = 1 }
		END { exit bad || NR == 0 }' "$WORK/runs"
	read -r skipped known findings < <(awk -F ' [|] ' 'NR == 1 { print $7, $3, $9 }' "$WORK/runs")
	holds "$kernel: $skipped skipped results have their reasons" test "$(rows '| skipped |' "$readme" | sum)" = "$skipped"
	rows '| results | known deviation |' "$readme" >"$WORK/known"
	holds "$kernel: $known results are known deviations" test "$(sum <"$WORK/known")" = "$known"
	holds "$kernel: of $findings findings" test "$(wc -l <"$WORK/known")" = "$findings"
	sed 's/^[0-9]* | //' "$WORK/known" | grep -vxFf "$WORK/notes" >"$WORK/unknown" || true
	holds "$kernel: the profile knows its deviations: $(head -n 1 "$WORK/unknown")" test ! -s "$WORK/unknown"
	while read -r number; do
		holds "$kernel: finding $number is there" grep -qx "$number" <<<"$numbers"
	done < <(sed -n 's/^[0-9]* | \([0-9]*\): .*/\1/p' "$WORK/known")
done

# summary.sh on a run whose verdicts are told by the command itself.
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
expect 1 "a run of a defect over IPv6" "$WARPCHECK" run --simulate --ipv6 --defect mpa-alignment-needed 'MPA-A.4-01' 'MPA-7.1.1-0*' -o "$WORK/run"
conformance/labs/linux/summary.sh "$WORK/run" >"$WORK/summary"
IFS=' ' read -r pass fail skip < <(jq -r 'select(.type == "summary") | "\(.pass) \(.fail) \(.skip)"' "$WORK/run/results.jsonl")
holds "summary.sh counts as the run does, and says IPv6" grep -qE "^\| [-0-9T:Z]+, IPv6 \| $pass \| 0 \| $fail \| 0 \| [0-9]+ \| $skip \| 0 \| 0 \|$" "$WORK/summary"
finish
