#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# fuzz-speed.sh FOLDER NAME...: compares the fuzz targets NAME of FOLDER (the build/fuzz of another tree) with this tree's.
# Both run the same inputs, the seeds and the corpus of $B/fuzz/corpus, 20 times each. It prints the processor's time in user
# mode that each took.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}"
if [ "$#" -lt 2 ]; then
	echo "fuzz-speed.sh: expected a folder of fuzz programs and the names of targets" >&2
	exit 1
fi
folder=$1
shift

# Seconds of user mode that a program needs for the inputs.
seconds() {
	local program=$1 TIMEFORMAT=%U
	shift
	{ time "$program" -runs=20 "$@" >/dev/null 2>&1 </dev/null || echo "fuzz-speed.sh: $program failed" >&2; } 2>&1
}

for name; do
	corpora=("tests/fuzz/corpus/$name")
	[ ! -d "$B/fuzz/corpus/fuzz_$name" ] || corpora+=("$B/fuzz/corpus/fuzz_$name")
	mapfile -t inputs < <(find "${corpora[@]}" -type f)
	old=$(seconds "$folder/fuzz_$name" "${inputs[@]}")
	new=$(seconds "$B/fuzz/fuzz_$name" "${inputs[@]}")
	awk -v name="$name" -v count="${#inputs[@]}" -v old="$old" -v new="$new" \
		'BEGIN { printf "%-12s %5d inputs, %6.2f s and %6.2f s: %.1f times as fast\n", name, count, old, new, old / new }'
done
