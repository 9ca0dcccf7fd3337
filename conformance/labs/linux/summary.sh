#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# summary.sh [-o FOLDER] DIR...: what runs gave, as tab-separated values in FOLDER: runs.tsv (the verdicts of each DIR), failed.tsv (what
# failed in which), and of the first DIR skipped.tsv, inconclusive.tsv (why results are so) and known.tsv (how many results
# each known deviation explains). Without -o the script prints them. The pages of reports/baselines render their tables from
# such files (tools/tables.pl).
set -euo pipefail
folder=''
if [ "${1:-}" = -o ]; then
	folder=${2:?into which folder?}
	shift 2
fi
: "${1:?which folders of results?}"
kinds='PASS KNOWN FAIL WARN AMBIGUOUS SKIP INCONCLUSIVE'
if [ -n "$folder" ]; then
	out=$folder
	mkdir -p "$out"
else
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi

results() { jq -r "select(.type == \"result\") | $2" "$1/results.jsonl"; }
started() { jq -r 'select(.type == "run") | .started' "$1/results.jsonl" | sed -n 1p; }
counted() { sort | uniq -c | sort -k1,1nr -k2 | sed -E 's/^ *([0-9]+) /\1\t/'; }

{
	printf 'started\tip\t%s\tfindings\n' "${kinds// /$'\t'}"
	for run in "$@"; do
		ip=IPv4
		[ "$(results "$run" '.flow // ""' | grep -cE '^(\[|[0-9a-f]*:)')" -eq 0 ] || ip=IPv6
		printf '%s\t%s' "$(started "$run")" "$ip"
		for kind in $kinds; do printf '\t%s' "$(results "$run" .verdict | grep -cx "$kind" || true)"; done
		printf '\t%s\n' "$(results "$run" 'select(.verdict == "KNOWN") | .finding' | sort -u | wc -l)"
	done
} >"$out/runs.tsv"

{
	printf 'requirement\trole\tby\tstarted\n'
	for run in "$@"; do
		results "$run" "select(.verdict == \"FAIL\") | [.id, .role // \"both\", .by, \"$(started "$run")\"] | @tsv"
	done
} >"$out/failed.tsv"

# shellcheck disable=SC2016 # the quotes are those of Markdown
{
	printf 'results\twhy\n'
	results "$1" 'select(.verdict == "SKIP") | .message // ""' | sed -E '
		s/^needs .*, but the profile has (.*) = .*/the profile has no `\1`/
		s/^(the device cannot be asked to [a-z_]+) so.*/\1 so/
		s/^(the device has no such instrument).*/\1/
		s/^(the device cannot expose memory) at TO .*/\1 at a certain TO/
		s/^(runs only with --destructive).*/\1 (a hazard of this device)/' | counted
} >"$out/skipped.tsv"

{
	printf 'results\twhy\n'
	results "$1" 'select(.verdict == "INCONCLUSIVE") | .id + " " + .role + ": " + (.message // "")' | tr '\t' ' ' | counted
} >"$out/inconclusive.tsv"

{
	printf 'results\tfinding\n'
	results "$1" 'select(.verdict == "KNOWN") | .finding' | counted
} >"$out/known.tsv"

# Of what is held back (SECURITY.md) the requirement and the outcome's digest are all that is published.
[ -z "$folder" ] || jq -c 'select(.type != "journal") | del(.steps, .duration_ns, .flow, .file, .frame, .offset, .octets, .evidence, .command_line) |
	if .finding == "held back" then del(.message, .expected, .actual, .hint, .cause, .reading) else . end' "$1/results.jsonl" >"$out/results.jsonl"

[ -n "$folder" ] || for table in runs failed skipped inconclusive known; do
	echo "== $table"
	cat "$out/$table.tsv"
done
