#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# summary.sh DIR...: what runs gave, as Markdown: verdicts of each DIR, what failed in which, and for the first of them why results are
# skipped or inconclusive, and how many results each known deviation explains. reports/baselines/*/README.md have such tables.
set -euo pipefail
: "${1:?which folders of results?}"
kinds='PASS KNOWN FAIL WARN AMBIGUOUS SKIP INCONCLUSIVE'

results() { jq -r "select(.type == \"result\") | $2" "$1/results.jsonl"; }
table() { sort | uniq -c | sort -k1,1nr -k2 | sed -E 's/^ *([0-9]+) (.*)/| \1 | \2 |/'; }

echo "| run | ${kinds// / | } | findings |"
echo "|---|---|---|---|---|---|---|---|---|"
for run in "$@"; do
	line="| $(jq -r 'select(.type == "run") | .started' "$run/results.jsonl" | head -n 1)"
	[ "$(results "$run" '.flow // ""' | grep -c '^\[')" -eq 0 ] || line+=', IPv6'
	for kind in $kinds; do line+=" | $(results "$run" .verdict | grep -cx "$kind" || true)"; done
	echo "$line | $(results "$run" 'select(.verdict == "KNOWN") | .finding' | sort -u | wc -l) |"
done

failed=$(for run in "$@"; do
	started=$(jq -r 'select(.type == "run") | .started' "$run/results.jsonl" | head -n 1)
	results "$run" "select(.verdict == \"FAIL\") | \"| \(.id) | \(.role // \"both\") | \(.by) | $started |\""
done)
[ -z "$failed" ] || printf '\n| failed | role | by | run |\n|---|---|---|---|\n%s\n' "$failed"

# shellcheck disable=SC2016 # the quotes are those of Markdown
printf '\n| skipped | why |\n|---|---|\n'
# shellcheck disable=SC2016 # the quotes are those of Markdown
results "$1" 'select(.verdict == "SKIP") | .message // ""' | sed -E '
	s/^needs .*profile says (.*) = .*/the profile has no `\1`/
	s/^(the device cannot be asked to [a-z_]+) so.*/\1 so/
	s/^(the device has no such instrument).*/\1/
	s/^(the device cannot expose memory) at TO .*/\1 at a certain TO/
	s/^(runs only with --destructive).*/\1 (a hazard of this device)/' | table

if results "$1" .verdict | grep -qx INCONCLUSIVE; then
	printf '\n| inconclusive | why |\n|---|---|\n'
	results "$1" 'select(.verdict == "INCONCLUSIVE") | .id + " " + .role + ": " + (.message // "")' | table
fi

printf '\n| results | known deviation |\n|---|---|\n'
results "$1" 'select(.verdict == "KNOWN") | .finding' | table
