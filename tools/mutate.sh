#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mutate.sh [-n COUNT] [-s SEED] [-j N] [-o OPTIONS | -u SUITES] FILE...: puts one fault after another into a copy of the FILEs (paths from
# the root of the tree: reference-stack/core/deliver.c) and asks whether `warpcheck run --simulate OPTIONS` sees it. A fault is one
# changed token: a comparison, && or ||, an arithmetic or bit operator, a number, true or false, a condition turned over, a statement
# left out. Which ones are tried depends on SEED (1) alone; COUNT is 20. A run has N processes (1), and ends with the first id that
# fails; ccache is used if it is there and CC names nothing else. Each line says what became of one: caught (by which
# id), crashed, hung, inconclusive, not compiled, or survived; the last line counts them. A survivor is for the reader to judge: it
# changes nothing, or nothing that a peer or the ULP can see, or it is a fault that the suite misses (docs/trust.md).
#
# The faults are the device's alone as long as FILE is of reference-stack/: tester and device share wire/ (tests/unit/wire/ holds that).
# With -u, the unit tests SUITES are asked in place of a run: so the judges are tried (-u 'rules_sctp rules_session'
# conformance/rules/sctp_rules.c), which a run would ask to judge themselves.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

count=20 seed=1 jobs=1 options=() suites=()
while getopts n:s:j:o:u: option; do
	case $option in
	n) count=$OPTARG ;;
	s) seed=$OPTARG ;;
	j) jobs=$OPTARG ;;
	o) read -ra options <<<"$OPTARG" ;;
	u) read -ra suites <<<"$OPTARG" ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { sed -n '4,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tools/folders.bash
source tools/folders.bash
read -ra folders < <(room_folders)
cp --parents -rt "$work" Makefile mk tools "${folders[@]}"
program=build/warpcheck
if [ "${#suites[@]}" -gt 0 ]; then
	program=build/unit-tests
	cp -rt "$work" tests
fi

# FILE, line, column, length and replacement of each fault that is possible, separated by tabs; comments and strings are left alone.
faults() {
	awk '
		BEGIN {
			split("<= < >= > == != && || += -= ++ -- << >> + - & | < <= > >= != == || && -= += -- ++ >> << - + | &", word, " ")
			for (i = 1; i <= 18; i++) swap[word[i]] = word[i + 18]
		}
		function fault(at, length_of, new) { printf "%s\t%d\t%d\t%d\t%s\n", FILENAME, FNR, at, length_of, new }
		/^[^ \t]/ || /^ *\/?\*/ || /"/ { next }
		{
			line = $0
			sub(/\/[*\/].*/, "", line)
			if (match(line, /^ *if \(.*\)$/)) {
				at = index(line, "if (") + 3
				fault(at, length(line) - at + 1, "(!" substr(line, at) ")")
			}
			if (line ~ /^ +[a-z_>.-]+(\[[^]]*\])?( [-+|&]?= |\(|\+\+|--).*;$/ && line !~ /^ +return/) {
				match(line, /[^ ]/)
				fault(RSTART, length(line) - RSTART + 1, ";")
			}
			for (at = 1; at <= length(line); at++) {
				rest = substr(line, at)
				if (match(rest, /^[A-Za-z_][A-Za-z_0-9]*/)) {
					name = substr(rest, 1, RLENGTH)
					if (name == "true" || name == "false") fault(at, RLENGTH, name == "true" ? "false" : "true")
				} else if (match(rest, /^(0x[0-9A-Fa-f]+|[0-9]+)/))
					fault(at, RLENGTH, "(" substr(rest, 1, RLENGTH) " + 1)")
				else if (match(rest, /^(->|\()/)) RLENGTH = RLENGTH
				else if (match(rest, /^(<=|>=|==|!=|&&|\|\||\+=|-=|\+\+|--|<<|>>)/) || match(rest, /^ [-+&|<>] /)) {
					token = substr(rest, 1, RLENGTH)
					gsub(/ /, "", token)
					if (token in swap) fault(at, RLENGTH, RLENGTH == 3 ? " " swap[token] " " : swap[token])
				} else RLENGTH = 1
				at += RLENGTH - 1
			}
		}' "$@"
}

if [ -z "${CC:-}" ] && command -v ccache >/dev/null; then export CC='ccache gcc' CCACHE_NOHASHDIR=1; fi

# What the unit tests make of the program: its word, and the first case that fails.
judge_by_suites() {
	local status=0
	(cd "$work" && ulimit -t 60 && CK_VERBOSITY=normal exec build/unit-tests "${suites[@]}") >"$work/log" 2>&1 || status=$?
	case $status in
	0) echo survived ;;
	1) sed -nE 's/^.*:[FE]:([^:]*:[^:]*:[0-9]+):.*/caught \1/p; T; q' "$work/log" | grep . || echo crashed ;;
	137 | 152) echo hung ;;
	*) echo crashed ;;
	esac
}

# What the run makes of the program: its word, and the first id that fails. The run gets SIGPIPE when that id has been read.
judge_by_run() {
	local status id
	id=$({
		status=0
		(ulimit -t 60 && exec "$work/build/warpcheck" run --simulate -j "$jobs" --format jsonl "${options[@]}") || status=$?
		echo "$status" >"$work/status"
	} 2>/dev/null | { grep -m 1 -E '"verdict":"(FAIL|WARN)"' || true; } | jq -r .id)
	status=$(<"$work/status")
	case $status,$id in
	*,?*) echo "caught $id" ;;
	137,* | 152,*) echo hung ;;
	0,*) echo survived ;;
	4,*) echo inconclusive ;;
	*) echo crashed ;;
	esac
}

judge() {
	if [ "${#suites[@]}" -gt 0 ]; then judge_by_suites; else judge_by_run; fi
}

faults "$@" | awk -v seed="$seed" 'BEGIN { srand(seed) } { printf "%.9f\t%s\n", rand(), $0 }' | LC_ALL=C sort | cut -f2- | awk -v count="$count" 'NR <= count' >"$work/faults"
make -s -C "$work" WERROR= "$program" >/dev/null
result=$(judge)
[ "$result" = survived ] || { echo "mutate.sh: without a fault the run or the suites are not clean: $result" >&2; exit 1; }
while IFS=$'\t' read -r file line column octets new; do
	awk -v line="$line" -v column="$column" -v octets="$octets" -v new="${new//\\/\\\\}" '
		NR == line { $0 = substr($0, 1, column - 1) new substr($0, column + octets) } { print }' "$file" >"$work/$file"
	if make -s -C "$work" WERROR= "$program" >/dev/null 2>&1; then result=$(judge); else result="not compiled"; fi
	printf '%-22s %s:%s: %s -> %s\n' "$result" "$file" "$line" "$(sed -n "${line}p" "$file" | cut -c "$column-$((column + octets - 1))")" "$new"
	cp "$file" "$work/$file"
done <"$work/faults" | tee "$work/table"
sed -E 's/^(not compiled|[a-z]+).*/\1/' "$work/table" | LC_ALL=C sort | uniq -c | awk '{ n = $1; $1 = ""; printf "%s%d%s", (NR > 1 ? ", " : ""), n, $0 } END { print "" }'
