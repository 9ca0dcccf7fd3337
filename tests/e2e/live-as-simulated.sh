#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A sample of the kill matrix, repeated on the real link (libnet, libpcap, the kernel's TCP under the reference stack):
# each check that catches a defect in simulation gives the same verdicts live.
set -euo pipefail

work=${WORK:-$(mktemp -d)}
sample=${SAMPLE:-12}

verdicts() {
    jq -r 'select(.type == "result" and .by == "check") | [.id, .role, .verdict] | join(" ")' "$1" | sort
}

# Defects whose requirement is decided by a check: "defect<TAB>requirement". The kernel's TCP hands octets over in order only:
# faults in what is done with octets after a gap are the simulation's, and so are those of the device's own TCP, and SCTP.
awk -F'\t' '$3 == "behaviour" && $4 ~ /^(early-|(order-arrival|window-small|fragmentable|fragments-dropped|repeats-taken|octets-after-fin|sack-(silent|shifted)|marker-lost-at-wrap)$)/ { print $1 }' reference-stack/defects/defects.tsv >"$work/ahead"
"$WARPCHECK" list --checks --defects --format jsonl |
    jq -r 'select(.check != null and (.defects | length) > 0 and (.check | test("/sctp/|-sctp|/cm/") | not)) |
        [(.defects[] | select(startswith("sctp-") | not)), .id] | select(length > 1) | [.[0], .[-1]] | join("\t")' |
    sort -u -k1,1 | awk -F'\t' 'NR == FNR { ahead[$1]; next } !($1 in ahead)' "$work/ahead" - >"$work/all"
count=$(wc -l <"$work/all")
[ "$count" -ge "$sample" ] || { echo "only $count defects have a check" >&2; exit 1; }
awk -v step=$((count / sample)) -v most="$sample" 'NR % step == 0 && n++ < most' "$work/all" >"$work/sample"

repeated=0
while IFS=$'\t' read -r defect id; do
    for how in --simulate --all; do # --all changes nothing but the terminal: the live run
        "$WARPCHECK" run --defect "$defect" "$id" "$how" -o "$work/$defect$how" >"$work/$defect$how.txt" 2>&1 || true
        verdicts "$work/$defect$how/results.jsonl" >"$work/$defect$how.verdicts"
    done
    if jq -es --arg id "$id" 'any(.[]; .type == "result" and .by == "rule" and .id == $id and (.verdict == "FAIL" or .verdict == "WARN"))' \
        "$work/$defect--simulate/results.jsonl" >/dev/null && ! grep -qE 'FAIL|WARN' "$work/$defect--simulate.verdicts"; then
        continue # the check makes the traffic, and a rule judges it
    fi
    if ! grep -qE 'FAIL|WARN' "$work/$defect--simulate.verdicts"; then
        echo "$defect: $id does not catch it in simulation" >&2
        exit 1
    fi
    if ! diff "$work/$defect--simulate.verdicts" "$work/$defect--all.verdicts"; then
        echo "$defect: $id is judged differently on the real link" >&2
        cat "$work/$defect--all.txt" >&2
        exit 1
    fi
    repeated=$((repeated + 1))
done <"$work/sample"
[ "$repeated" -ge 10 ] || { echo "only $repeated defects were repeated" >&2; exit 1; }
echo "$repeated defects: the same verdicts in simulation and on the real link"
