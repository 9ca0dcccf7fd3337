#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The kill matrix: every defect is killed by a requirement that it names, and the correct stack trips nothing over 50 seeds.
set -euo pipefail

work=${WORK:-$(mktemp -d)}

"$WARPCHECK" prove --format jsonl >"$work/matrix.jsonl" || {
    jq -c 'select(.killed == false or .type == "summary")' "$work/matrix.jsonl" >&2
    exit 1
}
tail -n 1 "$work/matrix.jsonl" | jq -e '
    .type == "summary" and .defects >= 80 and .killed == .defects and .false_alarms == 0 and .inconclusive == 0 and
    .checks >= 80 and .rules >= 60' >/dev/null || { tail -n 1 "$work/matrix.jsonl" >&2; exit 1; }

# Every check has a defect that it kills, by its own id.
"$WARPCHECK" list --checks --format jsonl | jq -r 'select(.check != null) | .id' | sort -u >"$work/checks"
jq -r 'select(.type == "defect") | .killed_by[]' "$work/matrix.jsonl" | sort -u >"$work/killers"
comm -23 "$work/checks" "$work/killers" >"$work/idle"
if [ -s "$work/idle" ]; then
    echo "checks that kill no defect:" >&2
    cat "$work/idle" >&2
    exit 1
fi
tail -n 1 "$work/matrix.jsonl"
