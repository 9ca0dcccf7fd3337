#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# fuzz.sh OPTION...: runs each fuzz target (or those named in T) with libFuzzer's options OPTION, and prints what came of
# it: executions, executions a second of the processor's time, coverage (edges, features) and the size of the corpus.
#
# The seeds are in tests/fuzz/corpus/NAME, a dictionary is tests/fuzz/fuzz_NAME.dict, and tests/fuzz/options has what one target
# is given and another not. What is found on the way stays in $B/fuzz/corpus/fuzz_NAME, inputs that break something in
# $B/fuzz/artifacts.
#
#   FUZZ_CORPUS=DIR   what is found stays in DIR/NAME instead, for the next time; at the end each corpus is minimised: of inputs
#                     that reach the same only the smallest stay
#   FUZZ_JOBS=N       so many targets at once (1)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}" "${T:=}" "${FUZZ_CORPUS:=}" "${FUZZ_JOBS:=1}"
export B FUZZ_CORPUS
# A dead stack frame is not used again for a while, so that what still points into it is found. A caller's own options
# follow, and win.
export ASAN_OPTIONS=detect_stack_use_after_return=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}

# What tests/fuzz/options says of a target.
own_options() {
	sed -n "s/^$1  *//p" tests/fuzz/options
}

# The number of files in a folder.
files() {
	find "$1" -type f | wc -l
}

# The number after a word in the last line of libFuzzer's that has it.
last() {
	sed -n "s/^\(.* \)\{0,1\}$2:* *\([0-9][0-9]*\).*/\2/p" "$1" | tail -n 1
}

# Only the inputs that it takes to reach what all of them reach. A corpus is replaced when its successor is whole.
minimise() {
	local corpus=$1 name=$2
	rm -rf "$corpus.new" && mkdir -p "$corpus.new"
	if "$B/fuzz/fuzz_$name" -merge=1 -rss_limit_mb=2048 "$corpus.new" "$corpus" >"$B/fuzz/fuzz_$name.merge.log" 2>&1 </dev/null; then
		rm -rf "$corpus" && mv "$corpus.new" "$corpus"
	else
		rm -rf "$corpus.new"
		echo "      | $corpus could not be minimised: see $B/fuzz/fuzz_$name.merge.log"
	fi
}

# One target: a line of what came of it. 1: something broke.
fuzz() {
	local name=$1 log=$B/fuzz/fuzz_$1.log corpus=$B/fuzz/corpus/fuzz_$1 seeds options word status=0
	local executions cpu TIMEFORMAT='%U %S'
	shift
	[ -z "$FUZZ_CORPUS" ] || corpus=$FUZZ_CORPUS/$name
	mkdir -p "$corpus"
	seeds=()
	options=("$@" -print_final_stats=1 "-artifact_prefix=$B/fuzz/artifacts/fuzz_$name-" -timeout=25 -rss_limit_mb=2048)
	for word in "+$name" $(own_options "$name"); do
		case $word in
		+*) [ ! -d "tests/fuzz/corpus/${word#+}" ] || seeds+=("tests/fuzz/corpus/${word#+}") ;;
		*) options+=("$word") ;;
		esac
	done
	[ ! -e "tests/fuzz/fuzz_$name.dict" ] || options+=("-dict=tests/fuzz/fuzz_$name.dict")
	cpu=$({ time "$B/fuzz/fuzz_$name" "${options[@]}" "$corpus" "${seeds[@]}" >"$log" 2>&1 </dev/null; } 2>&1) || status=$?
	if [ "$status" -ne 0 ]; then
		echo "FAIL  fuzz_$name: see $log and $B/fuzz/artifacts"
		tail -n 40 "$log" | sed 's/^/      | /'
		return 1
	fi
	[ -z "$FUZZ_CORPUS" ] || minimise "$corpus" "$name"
	executions=$(last "$log" 'stat::number_of_executed_units')
	printf 'ok    %-18s %9s executions, %6.0f a second, %5s edges, %6s features, %5s inputs in the corpus\n' "fuzz_$name" \
		"$executions" "$(awk -v n="$executions" '{print n / ($1 + $2 + 0.001)}' <<<"$cpu")" \
		"$(last "$log" cov)" "$(last "$log" ft)" "$(files "$corpus")"
}
export -f fuzz own_options files last minimise

names=()
for source in tests/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c) && name=${name#fuzz_}
	[ -z "$T" ] || [[ " $T " == *" $name "* || " $T " == *" fuzz_$name "* ]] || continue
	names+=("$name")
done
if [ "${#names[@]}" -eq 0 ]; then
	echo "fuzz.sh: no fuzz target${T:+ named $T} in tests/fuzz" >&2
	exit 1
fi
mkdir -p "$B/fuzz/artifacts"
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
# shellcheck disable=SC2016 # the inner shell expands it
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$FUZZ_JOBS" bash -c '
	out=$(fuzz "${@: -1}" "${@:1:$#-1}")
	printf "%s\n" "$out"' fuzz "$@" | tee "$summary"
ok=$(grep -c '^ok ' "$summary" || true)
if [ -z "${FUZZ_QUIET:-}" ]; then
	sed -n 's/^ok  *fuzz_[^ ]*  *\([0-9]*\) executions.*/\1/p' "$summary" | awk '{sum += $1} END {print sum + 0, "executions"}'
	echo "$ok passed, $((${#names[@]} - ok)) failed"
fi
[ "$ok" -eq "${#names[@]}" ]
