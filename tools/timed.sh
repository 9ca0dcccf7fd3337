#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# timed.sh FILE COMMAND...: runs it, and writes a line into FILE as tools/queue.pl would: "build", its exit status, begin and end
# in seconds since it began, seconds of processors.
set -euo pipefail
file=$1
shift
status=0 TIMEFORMAT='%R %U %S'
exec {out}>&1 {err}>&2 # make hands descriptors to its children by their low numbers
# shellcheck disable=SC2261 # the inner one is the command's, the outer one time's
seconds=$({ time "$@" >&"$out" 2>&"$err"; } 2>&1) || status=$?
read -r wall user system <<<"$seconds"
awk -v status="$status" -v wall="$wall" -v cpu="$user $system" \
	'BEGIN { split(cpu, of, " "); printf "build\t%d\t0.00\t%.2f\t%.2f\n", status, wall, of[1] + of[2] }' >"$file"
exit "$status"
