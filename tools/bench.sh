#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bench.sh: runs tests/bench/run.sh if there is one, else every tests/bench/*.sh. They find the programs under $B
# (those made of tests/bench/bench_*.c under $B/bench), and print ratios; WORK is a folder for what they generate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=$PWD/build}"
: "${WARPCHECK:=$B/warpcheck}" "${IWARP_PEER:=$B/iwarp-peer}" "${TSHARK:=tshark}"
ROOT=$PWD WORK=$B/bench/work
export ROOT B WARPCHECK IWARP_PEER TSHARK WORK
mkdir -p "$WORK"
if [ -e tests/bench/run.sh ]; then
	exec bash tests/bench/run.sh
fi
status=0 ran=0
for script in tests/bench/*.sh; do
	[ -e "$script" ] || continue
	ran=$((ran + 1))
	echo "== $(basename "$script" .sh)"
	bash "$script" || status=1
done
if [ "$ran" -eq 0 ]; then
	echo "bench.sh: no benchmark in tests/bench" >&2
	exit 1
fi
exit "$status"
