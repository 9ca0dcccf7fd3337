#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# coverage.sh: runs the unit tests of the coverage build and prints, for each folder and for the least covered files,
# how many lines and branches they reached. COVERAGE_E2E=1 adds the end-to-end scripts. The .gcov files stay in
# $B/cov/gcov.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}"
B=$(realpath "$B")
find "$B/cov" -name '*.gcda' -delete
"$B/cov/unit-tests" >"$B/cov/unit-tests.log" 2>&1 </dev/null ||
	echo "coverage.sh: unit tests failed; see $B/cov/unit-tests.log" >&2
if [ -n "${COVERAGE_E2E:-}" ]; then
	WARPCHECK=$B/cov/warpcheck IWARP_PEER=$B/cov/iwarp-peer tools/check.sh e2e || true
fi
mkdir -p "$B/cov/gcov"
root=$PWD
# gcov tells of a source file once for each object; a header's inline functions are therefore counted as often as they
# were compiled, and headers are left out.
cd "$B/cov/gcov"
find "$B/cov/obj" -name '*.gcno' ! -path '*/obj/tests/*' -print0 | LC_ALL=C sort -z |
	xargs -0 gcov -b -c -s "$root" -r -p 2>/dev/null |
	awk '
		/^File / { split($0, quoted, "\047"); file = quoted[2]; next }
		file !~ /\.c$/ { next }
		/^Lines executed:/ { sub(/.*:/, ""); split($0, part, /% of /); L = part[2]; l = part[1] * part[2] / 100
			folder = file; sub(/\/[^\/]*$/, "", folder)
			all[folder] += L; hit[folder] += l; total += L; reached += l
			least[file] = part[1]; next }
		/^Taken at least once:/ { sub(/.*:/, ""); split($0, part, /% of /)
			folder = file; sub(/\/[^\/]*$/, "", folder)
			ball[folder] += part[2]; bhit[folder] += part[1] * part[2] / 100; btotal += part[2]; breached += part[1] * part[2] / 100; next }
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
			sort = "sort -n | head -n 10"
			for (f in least) printf "%6.1f%%  %s\n", least[f], f | sort
			close(sort)
		}'
