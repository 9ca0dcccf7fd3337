# SPDX-License-Identifier: BSD-2-Clause
#
# What the end-to-end scripts share; to be sourced from the tree's root.
#
#   expect STATUSES WHAT COMMAND...   runs it, at most EXPECT_SECONDS (1200); its exit status must be one of STATUSES ("2", "1 4"). Status 2
#                                     to 4 must come with exactly one line on stderr, and without one on stdout
#                                     that says PASS; with lines=any the usage may follow, with passes=any there may
#                                     be PASSes (of what was judged, beside what was not). The output is left in $WORK/stdout and $WORK/stderr.
#   says PATTERN / complains PATTERN  a line of the last stdout / stderr must match (grep -E)
#   wrong, holds                      wrong.bash
#   eventually, prints                wait.bash
#
# "${cc[@]}" is the compiler, "${libiwarp[@]}" the library and what it needs. Everything is checked before the script ends: `finish` gives the exit status.
set -euo pipefail
: "${B:=$PWD/build}" "${CC:=gcc}" "${TSHARK:=tshark}" "${WORK:=}"
: "${EXPECT_SECONDS:=1200}" "${WARPCHECK:=$B/warpcheck}" "${IWARP_PEER:=$B/iwarp-peer}" "${WARPCHECK_ASAN:=$B/asan/warpcheck}"
if [ -z "$WORK" ]; then
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
fi
source tests/e2e/wait.bash
source tests/e2e/wrong.bash
read -ra cc <<<"$CC" # it may be of several words: "ccache gcc"
# What CRCs are computed with, as the library was built; for programs that are compiled of base/*.c and wire/*.c, too.
if pkg-config --exists libisal; then isal=(-lisal); else isal=(-DWARPCHECK_NO_ISAL); fi
read -ra usrsctp <<<"$(pkg-config --libs usrsctp 2>/dev/null || true)" # where the library was built with it
libiwarp=("$B/libiwarp.a" -luv "${isal[@]}" "${usrsctp[@]}" -pthread)
last='' lines=one passes=none

expect() {
	local statuses=$1 what=$2 status=0 count
	shift 2
	last=$what checked=$((checked + 1))
	timeout -k 5 "$EXPECT_SECONDS" "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
	if [[ " $statuses " != *" $status "* ]]; then
		wrong "$what: exit status $status, expected $statuses" "command: $*" "stderr: $(head -c 2000 "$WORK/stderr")"
		return 0
	fi
	if [ "$status" -ge 2 ] && [ "$status" -ne 5 ]; then # 5 is a verdict, as 0 and 1 are
		count=$(wc -l <"$WORK/stderr")
		[ "$count" -eq 1 ] || { [ "$lines" = any ] && [ "$count" -gt 0 ]; } ||
			wrong "$what: $count lines on stderr, expected $lines" "$(head -n 5 "$WORK/stderr")"
		[ "$passes" = any ] || ! grep -qE '^PASS|"verdict":"PASS"' "$WORK/stdout" || wrong "$what: a PASS was printed" "command: $*"
	fi
	echo "ok    $what (status $status)"
}

says() {
	checked=$((checked + 1))
	grep -qE -- "$1" "$WORK/stdout" || wrong "$last: stdout does not say '$1'" "$(head -n 5 "$WORK/stdout")"
}

complains() {
	checked=$((checked + 1))
	grep -qE -- "$1" "$WORK/stderr" || wrong "$last: stderr does not say '$1'" "$(head -n 5 "$WORK/stderr")"
}

# refuses COMMAND WORDS ARGUMENT...: exit status 2, and one line that has these words.
refuses() {
	local words=$2
	expect 2 "$1 ${*:3}" "$WARPCHECK" "$1" "${@:3}"
	checked=$((checked + 1))
	grep -qF -- "$words" "$WORK/stderr" || wrong "$last: stderr does not say '$words'" "$(head -n 5 "$WORK/stderr")"
	holds "one line" test "$(wc -l <"$WORK/stderr")" -eq 1
}

# generator NAME: builds tests/bench/bench_gen_capture.c as $WORK/NAME.
generator() {
	$CC -std=gnu17 -O1 -I. -o "$WORK/$1" tests/bench/bench_gen_capture.c base/*.c wire/*.c "${isal[@]}"
}

finish() {
	[ ! -e "$WORK/not-in-time" ] || wrong "$(head -n 1 "$WORK/not-in-time")"
	echo "$checked checked, $broken wrong"
	[ "$checked" -gt 0 ] && [ "$broken" -eq 0 ]
}
