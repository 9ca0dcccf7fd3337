#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A CI job that judges a device and compares it with the last run. Copy it, or call it where it is.
#
#   PROFILE     the device: a profile (docs/profiles.md), or linux-siw
#   SELECT      requirements, such as "DDP-7.* RDMAP-*" (all)
#   OUT         folder for the results (warpcheck-out)
#   PREVIOUS    results.jsonl, or its folder, of the last run that was good; without it nothing is compared
#   WARPCHECK   the program (warpcheck)
#
# Exit status: with PREVIOUS 1 where something is new or has vanished, 4 where the run did not come to its end, else 0; without it
# warpcheck run's, where known deviations are no failure.
set -u
: "${OUT:=warpcheck-out}" "${WARPCHECK:=warpcheck}" "${PREVIOUS:=}" "${SELECT:=}"
: "${PROFILE:?which device: a profile, or linux-siw}"

status=0
set -f # globs of ids stay as they are
# shellcheck disable=SC2086 # several of them
"$WARPCHECK" run --dut "$PROFILE" --accept-known -o "$OUT" --force $SELECT || status=$?
set +f
[ -s "$OUT/results.jsonl" ] || exit "$status"
if [ "${GITHUB_ACTIONS:-}" = true ]; then
	"$WARPCHECK" report "$OUT" --format github -o - || status=4
fi
if [ -n "$PREVIOUS" ]; then
	status=0
	"$WARPCHECK" report --diff "before=$PREVIOUS" "now=$OUT" --fail-on new,vanished || status=$?
fi
exit "$status"
