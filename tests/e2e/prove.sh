#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The kill matrix: every defect is killed by a requirement that it names, and the correct stack trips nothing over
# PROVE_SEEDS seeds (20; `warpcheck prove` has 8). Every check is killed by a defect that names it, in each of its roles and
# with the verdict of its level, and no two defects share an operation (--demands).
set -euo pipefail

work=${WORK:-$(mktemp -d)}

# Of two requirements that a defect breaks, one has a check that sees nothing: that the other one catches it is not enough.
mkdir "$work/blind"
printf '%s\n' 'check { id = "EMPA-6-03", purpose = "sees nothing", role = "responder", run = function(t) t:open():probe() end }' >"$work/blind/blind.lua"
status=0
"$WARPCHECK" prove --scripts "$work/blind" mpa-reply-reserved >"$work/blind/said" || status=$?
if [ "$status" -ne 1 ] || ! grep -q '^SURVIVED .*not caught by: EMPA-6-03 .*caught by: MPA-7.1.1-19' "$work/blind/said"; then
    cat "$work/blind/said" >&2
    exit 1
fi

status=0
"$WARPCHECK" prove --demands -j "${JOBS:-$(nproc)}" --seeds "${PROVE_SEEDS:-20}" --format jsonl >"$work/matrix.jsonl" || status=$?
[ "$status" -le 1 ] # 1: a demand is not met, or what the summary says below

# Every demand is met.
jq -r 'select(.type == "unmet") | .text' "$work/matrix.jsonl" >"$work/unmet"
if [ -s "$work/unmet" ]; then
    cat "$work/unmet" >&2
    exit 1
fi
"$WARPCHECK" list --checks --format jsonl >"$work/list"
# Every defect, check and rule that there is took part (an id may have a check over TCP and one over SCTP), but for defects that act over SCTP whose requirement no check over SCTP decides.
tail -n 1 "$work/matrix.jsonl" | jq -e \
    --argjson defects "$(cat reference-stack/defects/defects.tsv reference-stack/defects/defects-cm.tsv | grep -cvE '^(#|$)')" \
    --argjson sctp "$(grep -cE '^sctp-' reference-stack/defects/defects.tsv)" \
    --argjson checks "$(wc -l <"$work/list")" \
    --argjson rules "$("$WARPCHECK" list --rules --format jsonl | jq -s 'length')" '
    .type == "summary" and .defects + .left_out == $defects and .left_out < $sctp and
    .killed == .defects and .false_alarms == 0 and .inconclusive == 0 and .checks >= $checks and .rules == $rules' >/dev/null || { tail -n 1 "$work/matrix.jsonl" >&2; exit 1; }

# Every check has a defect that it kills, by its own id. The checks of requirements that no device can break
# (reference-stack/defects/defects-none.tsv) draw no FAIL; but each of them loses its PASS where the exchange that it looks at is broken: a message is
# lost, is too long or has no end. Those of IPsec, which no simulated stack has, are proved on devices that are configured wrongly (tests/e2e/ipsec.sh).
jq -r 'select(.check != null and .no_defect == null) | .id' "$work/list" | sort -u >"$work/checks"
jq -r 'select(.type == "defect") | .killed_by[]' "$work/matrix.jsonl" | sort -u >"$work/killers"
comm -23 "$work/checks" "$work/killers" >"$work/idle"
"$WARPCHECK" list --no-defect --format jsonl | jq -r '.id' | sort -u | comm -12 - "$work/killers" >"$work/broken"
if [ -s "$work/broken" ]; then
    echo "reference-stack/defects/defects-none.tsv says that no defect can break these, and one of the matrix did:" >&2
    cat "$work/broken" >&2
    exit 1
fi
jq -r 'select(.check != null and .no_defect != null and (.check | startswith("conformance/scripts/ipsec/") | not)) | .id' "$work/list" | sort -u >"$work/free"
mapfile -t free <"$work/free"
unpassed() { # LLP DEFECT
    "$WARPCHECK" run --simulate --format jsonl --llp "$1" --defect "$2" "${free[@]}" 2>/dev/null |
        jq -r 'select(.type == "result" and .by == "check" and (.verdict | IN("INCONCLUSIVE", "FAIL", "WARN"))) | .id' || true
}
{
    for llp in tcp sctp sctp-draft02; do
        for defect in ddp-fpdu-lost ddp-length-unchecked ddp-last-ignored sctp-ppid-later sctp-answer-plain sctp-initiate-plain; do unpassed $llp $defect; done
    done
    for defect in $(grep -vE '^(#|$)' reference-stack/defects/defects-cm.tsv | cut -f1); do unpassed cm "$defect"; done
} | sort -u >"$work/unpassed"
if comm -23 "$work/free" "$work/unpassed" | grep .; then
    echo "checks of requirements that no device can break, which pass whatever is broken" >&2
    exit 1
fi
if [ -s "$work/idle" ]; then
    echo "checks that kill no defect:" >&2
    cat "$work/idle" >&2
    exit 1
fi

# What reference-stack/defects/defects-uncaught.tsv excuses of one defect catches another one.
grep -vE '^(#|$)' reference-stack/defects/defects-uncaught.tsv | cut -f2 | sort -u >"$work/excused"
jq -r 'select(.type == "defect") | .killed_by as $by | (.requirement / ",")[] | select(. as $id | any($by[]; . == $id))' "$work/matrix.jsonl" |
    sort -u | comm -23 "$work/excused" - >"$work/left"
if [ -s "$work/left" ]; then
    echo "requirements that are excused, and that catch no defect that names them:" >&2
    cat "$work/left" >&2
    exit 1
fi
tail -n 1 "$work/matrix.jsonl"
