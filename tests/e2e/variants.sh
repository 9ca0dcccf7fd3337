#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Every legal variant of reference-stack/defects/variants.tsv meets all checks and rules: no FAIL, and WARN from the ids that its row
# names and from no others. Each names requirements that exist. With WHOLE=1 (make check-all) that which checks cannot meet which
# variant is true: each of these comes to the same with and without it.
set -euo pipefail
work=${WORK:-$(mktemp -d)}

rows() { grep -vE '^(#|$)' reference-stack/defects/variants.tsv; }
"$WARPCHECK" prove --variants ${WHOLE:+--matrix} -j "${JOBS:-$(nproc)}" --format jsonl >"$work/variants.jsonl" || {
    jq -c 'select(.legal == false or .type == "summary" or .type == "alarm")' "$work/variants.jsonl" >&2
    exit 1
}
tail -n 1 "$work/variants.jsonl" | jq -e \
    --argjson variants "$(rows | wc -l)" \
    --argjson checks "$("$WARPCHECK" list --checks --format jsonl | jq -s 'length')" \
    --argjson rules "$("$WARPCHECK" list --rules --format jsonl | jq -s 'length')" '
    .type == "summary" and .variants == $variants and .legal == $variants and .false_alarms == 0 and
    .checks >= $checks and .rules == $rules and .met >= $variants and .met <= .pairs' >/dev/null || { tail -n 1 "$work/variants.jsonl" >&2; exit 1; }
[ "$(jq -s '[.[] | select(.type == "variant" and .legal)] | length' "$work/variants.jsonl")" -eq "$(rows | wc -l)" ] ||
    { echo "lines of variants and rows of the table differ" >&2; exit 1; }

# A Response that takes its time is waited for: nothing is left undecided by it.
jq -se '[.[] | select(.variant == "responses-late")] | length == 1 and .[0].inconclusive == 0' "$work/variants.jsonl" >/dev/null ||
    { echo "responses-late leaves checks undecided" >&2; exit 1; }

# A TCP that cuts at any octet does cut: the same FPDUs take more frames. Without RDMAP-5.2.1-03, whose FPDUs are nearly all the tester's.
in_frames() {
    "$WARPCHECK" run --simulate 'RDMAP-5.2.1-0[!3]*' "$@" >"$work/run" || true
    sed -nE 's/^([0-9]+) frames, ([0-9]+) FPDUs.*/\1 \2/p' "$work/run"
}
read -r whole fpdus < <(in_frames)
read -r cut same < <(in_frames --variant segments-cut)
if [ "$fpdus" -ne "$same" ] || [ "$cut" -lt $((whole + fpdus / 2)) ]; then
    echo "segments-cut: $same FPDUs in $cut frames, as against $fpdus in $whole" >&2
    exit 1
fi

rows | cut -f2,3 | sed 's/[,\t]/\n/g' | grep -v '^-$' | sort -u >"$work/named"
"$WARPCHECK" list --format jsonl | jq -r 'select(.observability != "spec") | .id' | sort -u >"$work/known"
if comm -23 "$work/named" "$work/known" | grep .; then
    echo "variants name requirements that the catalogue does not have" >&2
    exit 1
fi

# A variant that does not exist is reported.
status=0
"$WARPCHECK" prove --variants no-such-variant 2>"$work/stderr" || status=$?
if [ "$status" -ne 2 ] || ! grep -q "no variant is called 'no-such-variant'" "$work/stderr"; then
    echo "exit status $status for an unknown variant" >&2
    cat "$work/stderr" >&2
    exit 1
fi
tail -n 1 "$work/variants.jsonl"
