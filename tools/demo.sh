#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What warpcheck does, in three acts: a correct stack conforms, a broken one is caught, a real Linux capture is judged.
set -euo pipefail
cd "$(dirname "$0")/.."

warpcheck=${WARPCHECK:-build/warpcheck}
out=${1:-build/demo}
defect=ddp-qn-wrong-code
capture=pcaps/linux-siw/siw-rping-terminate.pcap

say() { printf '\n== %s\n   $ %s\n\n' "$1" "$2"; }
die() {
    printf 'demo: %s\n' "$1" >&2
    exit 1
}

# Runs a command whose exit status is part of what is shown.
expect() {
    local want=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$want" ] || die "exit status $got from: $* (expected $want)"
}

rm -rf "$out"

say "1. Every check, live: the reference stack on the kernel's TCP, in a namespace of its own" "warpcheck run -o $out"
expect 0 "$warpcheck" run -o "$out"
if grep -E '"verdict": ?"(FAIL|INCONCLUSIVE)"' "$out/results.jsonl"; then
    die "the correct stack drew a FAIL or an INCONCLUSIVE"
fi

say "2. The same stack with one defect, caught and explained" "warpcheck run --defect $defect 'DDP-7.*' -o $out/defect"
expect 1 "$warpcheck" run --defect "$defect" 'DDP-7.*' --ladders -o "$out/defect"

say "3. A capture of Linux 6.1 siw, judged by the same rules" "warpcheck audit $capture -o $out/siw"
expect 1 "$warpcheck" audit "$capture" -o "$out/siw"
grep -q '"id": *"RDMAP-4.8-02", *"verdict": *"FAIL"' "$out/siw/results.jsonl" ||
    die "the audit did not find siw's Terminate word (RDMAP-4.8-02)"

printf '\nThe pages: %s/index.html (correct), %s/defect/index.html, %s/siw/index.html\n' "$out" "$out" "$out"
