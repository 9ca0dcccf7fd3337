#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The reproducers of findings in real stacks: each decides its requirement, the reference stack passes all of them, and
# a defect that is like the finding (there is one for most) does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

folder=reports/baselines/reproducers-linux-siw
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
for seed in 1 2; do
	expect 0 "the reference stack, seed $seed" "$WARPCHECK" run --simulate --seed "$seed" --format jsonl --script "$folder"
	jq -r 'select(.by == "check") | "\(.id) \(.verdict)"' "$WORK/stdout" | sort >"$WORK/decided"
	holds "every reproducer passes" test "$(grep -c ' PASS$' "$WORK/decided")" = "$("$WARPCHECK" run --simulate --dry-run --script "$folder" | wc -l)"
done
while read -r id defect; do
	expect 1 "$defect, $id" "$WARPCHECK" run --simulate --script "$folder" --defect "$defect" "$id"
	says "^FAIL  $id"
done <<'E2'
RDMAP-4.8-02 rdmap-terminate-bit-fields
MPA-6-06 framing-crc-in-one-segment
MPA-7.1.1-17 mpa-request-r-checked
MPA-7.1.1-20 mpa-reserved-checked
MPA-4.4-05 mpa-crc-not-declared
MPA-6-01 mpa-place-before-crc
DDP-7.1-04 ddp-length-no-buffer
MPA-7.1-06 mpa-first-fpdu-discarded
RDMAP-4.8-29 rdmap-invalidate-unchecked
RDMAP-5.3-16 rdmap-invalidate-field-lost
RDMAP-4.8-37 rdmap-terminate-padded
RDMAP-4.8-34 rdmap-terminate-length-zero
EMPA-9.1-12 empa-ord-not-applied
MPA-7.1.1-13 mpa-terminate-crc-zero
EMPA-9.1-26 empa-3fff-number
EMPA-9.1-30 empa-3fff-number
EMPA-6-10 set-up-carry-lost
EMPA-6-12 set-up-short-word-taken
MPA-7.1.2-17 mpa-responder-sends-first
RDMAP-7.2-07 ddp-mo-dropped
RDMAP-4.1-16 rdmap-queue-unchecked
RDMAP-6.1-07 rdmap-response-behind-work
DDP-4.4-01 ddp-header-cut-ignored
RDMAP-4.2-07 rdmap-read-length-unchecked
EMPA-9.1-22 set-up-event-own-depths
DDP-7.1-16 ddp-place-before-check
RDMAP-5.5-23 ddp-fpdu-lost
E2
finish
