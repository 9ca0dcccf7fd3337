#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# coverage.sh: runs what exercises the programs of the coverage build - the unit tests, the end-to-end scripts of iwarp-peer,
# all checks, each defect - and prints, for each folder and for the least covered files, how many lines and branches they reached.
# Exit status 1 when a folder with an aim misses it, or something that was run failed. COVERAGE_E2E='audit cli' runs those
# end-to-end scripts in place of iwarp-peer's, COVERAGE_E2E=all all of them. The .gcov files stay in $B/cov/gcov.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}" "${CC:=gcc}" "${COVERAGE_E2E:=iwarp-peer upper-tester peer-program}"
B=$(realpath "$B")
aim_percent=95
aim_folders='base reference-stack upper-tester wire'
status=0
find "$B/cov" -name '*.gcda' -delete
"$B/cov/unit-tests" >"$B/cov/unit-tests.log" 2>&1 </dev/null || {
	status=1
	echo "coverage.sh: unit tests failed; see $B/cov/unit-tests.log" >&2
}
[ "$COVERAGE_E2E" != all ] || COVERAGE_E2E=
cov=$B/cov
env T="$COVERAGE_E2E" B="$cov" WARPCHECK="$cov/warpcheck" IWARP_PEER="$cov/iwarp-peer" CC="$CC" tools/check.sh e2e >"$cov/e2e.log" 2>&1 || {
	status=1
	echo "coverage.sh: end-to-end scripts failed; see $B/cov/e2e.log" >&2
}
# All checks on the correct stack, and each defect with the checks that it names: what `prove` runs, without its repetitions.
simulated() { # OPTION...: 0, or 1 where something fails
	"$COV/warpcheck" run --simulate "$@" >/dev/null 2>>"$COV/simulated.log" </dev/null || [[ $? =~ ^[134]$ ]]
}
# shellcheck disable=SC2086
with_defect() { simulated --defect "$1" ${2//,/ }; }
export -f simulated with_defect
export COV=$B/cov
: >"$COV/simulated.log"
simulated || status=1
grep -v '^#' reference-stack/defects/defects.tsv | awk -F'\t' 'NF > 1 && !seen[$1]++ { print $1; print $2 }' |
	xargs -n 2 -P "$(nproc)" bash -c 'with_defect "$@"' with_defect || {
	status=1
	echo "coverage.sh: a run with a defect failed; see $COV/simulated.log" >&2
}
rm -rf "$B/cov/gcov"
mkdir -p "$B/cov/gcov"
root=$PWD
# gcov reports a source file once for each object; a header's inline functions are therefore counted as often as they
# were compiled, and headers are left out. The sum over all, at the end of each run of gcov, belongs to no file.
cd "$B/cov/gcov"
find "$B/cov/obj" -name '*.gcno' ! -path '*/obj/tests/*' -print0 | LC_ALL=C sort -z |
	xargs -0 gcov -b -c -s "$root" -r -p 2>/dev/null |
	awk -v aim="$aim_percent" -v aims="$aim_folders" '
		/^File / { split($0, quoted, "\047"); file = quoted[2]; folder = file; sub(/\/[^\/]*$/, "", folder); next }
		file !~ /\.c$/ { next }
		/^Lines executed:/ { sub(/.*:/, ""); split($0, part, /% of /)
			all[folder] += part[2]; hit[folder] += part[1] * part[2] / 100
			total += part[2]; reached += part[1] * part[2] / 100
			least[file] = part[1]; next }
		/^Taken at least once:/ { sub(/.*:/, ""); split($0, part, /% of /)
			ball[folder] += part[2]; bhit[folder] += part[1] * part[2] / 100
			btotal += part[2]; breached += part[1] * part[2] / 100; next }
		/^$/ { file = "" }
		END {
			printf "%-32s %8s %7s %9s %7s\n", "folder", "lines", "hit", "branches", "hit"
			sort = "LC_ALL=C sort"
			for (d in all)
				printf "%-32s %8d %6.1f%% %9d %6.1f%%\n", d, all[d], 100 * hit[d] / all[d], ball[d],
					ball[d] ? 100 * bhit[d] / ball[d] : 100 | sort
			close(sort)
			if (total == 0) { print "coverage.sh: nothing measured" > "/dev/stderr"; exit 1 }
			printf "%-32s %8d %6.1f%% %9d %6.1f%%\n", "all", total, 100 * reached / total, btotal,
				btotal ? 100 * breached / btotal : 100
			print "\nleast covered:"
			sort = "sort -n | sed -n '1,10p'"
			for (f in least) printf "%6.1f%%  %s\n", least[f], f | sort
			close(sort)
			print ""
			count = split(aims, folders, " ")
			for (i = 1; i <= count; i++) {
				percent = all[folders[i]] ? 100 * hit[folders[i]] / all[folders[i]] : 0
				bad = percent < aim
				printf "%-32s aim %d%% of lines: %s\n", folders[i] "/", aim, bad ? "MISSED" : "reached"
				missed += bad
			}
			exit missed != 0
		}' || status=1
exit "$status"
