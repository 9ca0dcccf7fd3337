#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arch.sh [ARCH...]: the programs on other processors (arm64 s390x i386), cross-compiled and run by QEMU's user emulation, in a fresh Debian
# (SUITE, bookworm; tools/suite.bash). As root, and with Debian's archive in reach. For each: the unit tests, the seeds of the fuzz targets,
# and that these give the same octets as on this processor: `audit --format jsonl` of all of pcaps/, `gen --corpus`, the results of
# `run --simulate`, `prove` of one defect in PROVE_EACH (25), and what two peers have in memory after an exchange over loopback, one of them
# on each processor. What user emulation cannot do (raw sockets, namespaces, filters of system calls) is left to GUEST: `make demo`'s three
# acts in a QEMU system with Debian's arm64 kernel (tools/arch-guest.sh; GUEST= leaves it out).
#
# A line for each; whole logs, and a table, in OUT (build/arch). 0: all holds; 1: something does not; 77: it could not be tried.
# PARTS="unit corpora audit gen simulated prove peers" says which. ROOTS, KEEP, MIRROR, JOBS: as of tools/systems.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${SUITE:=bookworm}" "${OUT:=${B:-build}/arch}" "${ROOTS:=}" "${KEEP:=}" "${JOBS:=$(nproc)}" "${GUEST=arm64}" "${PROVE_EACH:=25}" "${PARTS:=unit corpora audit gen simulated prove peers}"
source tools/suite.bash
[ "$#" -gt 0 ] || set -- arm64 s390x i386
for arch in "$@"; do
	case $arch in
	amd64 | arm64 | armhf | i386 | ppc64el | riscv64 | s390x) ;;
	*) echo "arch.sh: unknown architecture '$arch'" >&2; exit 2 ;;
	esac
done
suite_name "$SUITE" || { echo "arch.sh: '$SUITE' is no suite's name" >&2; exit 2; }
why=$(suite_possible) || { echo "arch.sh: $why" >&2; exit 77; }
[ -z "$ROOTS" ] || mkdir -p "$ROOTS"
mkdir -p "$OUT"
OUT=$(realpath "$OUT")
place=$(mktemp -d -p "${ROOTS:-${TMPDIR:-/tmp}}" arch.XXXXXX)
[ -n "$KEEP" ] || trap 'rm -rf --one-file-system "$place"' EXIT
root=$place/root
if ! { suite_fresh "$SUITE" "$root" make git ca-certificates && suite_tree "$root" /warpcheck; } >"$OUT/fresh.log" 2>&1; then
	echo "SKIP  no $SUITE here: $(tail -n 1 "$OUT/fresh.log")"
	echo "arch.sh: nothing is known of these processors: $*" >&2
	exit 77
fi
wanted() { # everything that has to be fetched
	suite_inside "$root" /warpcheck/tools/deps.sh build test || return
	for arch in "$@"; do
		suite_inside "$root" make -C /warpcheck "ARCH=$arch" deps || return
		# What could only be unpacked is installed here, where nothing else needs its place.
		[ ! -d "$root/warpcheck/build/$arch/sysroot/usr/lib" ] || cp -a "$root/warpcheck/build/$arch/sysroot/usr/lib/." "$root/usr/lib/"
	done
}
if ! wanted "$@" >"$OUT/deps.log" 2>&1; then
	echo "SKIP  not all packages can be had: $(tail -n 1 "$OUT/deps.log")"
	echo "arch.sh: nothing is known of these processors: $*" >&2
	exit 77
fi
status=0
SUITE_NET=own SUITE_EMULATED=1 SUITE_ENV=("JOBS=$JOBS" "PROVE_EACH=$PROVE_EACH" "PARTS=$PARTS" OUT=/logs) \
	suite_inside "$root" /warpcheck/tools/arch-inside.sh "$@" || status=$?
cp -r "$root/logs/." "$OUT/" 2>/dev/null || true
if [ -n "$GUEST" ] && [[ " $* " == *" $GUEST "* ]]; then
	tools/arch-guest.sh "$root" "$OUT" || status=1
fi
[ ! -e "$OUT/table.md" ] || cat "$OUT/table.md"
exit "$status"
