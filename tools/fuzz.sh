#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# fuzz.sh OPTION...: runs each fuzz target (or those named in T) with libFuzzer's options OPTION. The seeds are in
# tests/fuzz/corpus/NAME (also without the prefix fuzz_), what is found on the way stays in $B/fuzz/corpus/NAME and
# inputs that break something in $B/fuzz/artifacts. A dictionary is tests/fuzz/NAME.dict.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}" "${T:=}"
# A caller's own options come behind, and win.
export ASAN_OPTIONS=detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
ran=0 broken=0
mkdir -p "$B/fuzz/artifacts"
for source in tests/fuzz/fuzz_*.c; do
	[ -e "$source" ] || continue
	name=$(basename "$source" .c)
	[ -z "$T" ] || [[ " $T " == *" $name "* || " $T " == *" ${name#fuzz_} "* ]] || continue
	corpora=("$B/fuzz/corpus/$name")
	mkdir -p "${corpora[0]}"
	for seeds in "tests/fuzz/corpus/$name" "tests/fuzz/corpus/${name#fuzz_}"; do
		[ ! -d "$seeds" ] || corpora+=("$seeds")
	done
	options=("$@" -print_final_stats=1 "-artifact_prefix=$B/fuzz/artifacts/$name-" -timeout=25 -rss_limit_mb=2048)
	[ ! -e "tests/fuzz/$name.dict" ] || options+=("-dict=tests/fuzz/$name.dict")
	log=$B/fuzz/$name.log
	ran=$((ran + 1))
	if "$B/fuzz/$name" "${options[@]}" "${corpora[@]}" >"$log" 2>&1 </dev/null; then
		echo "ok    $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
	else
		broken=$((broken + 1))
		echo "FAIL  $name: see $log and $B/fuzz/artifacts"
		tail -n 40 "$log" | sed 's/^/      | /'
	fi
done
if [ "$ran" -eq 0 ]; then
	echo "fuzz.sh: no fuzz target${T:+ named '$T'} in tests/fuzz" >&2
	exit 1
fi
[ -n "${FUZZ_QUIET:-}" ] || echo "$((ran - broken)) passed, $broken failed"
[ "$broken" -eq 0 ]
