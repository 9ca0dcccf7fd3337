#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# abi.sh [--write] [STORED [LIBRARY]]: compares libiwarp.so with the binary interface that a release has (packaging/libiwarp.abi), by
# abidiff. What programs of that release cannot be run with is an error, exit status 1; what came since is shown. --write writes the
# interface anew: for a release, or with a new soname (docs/versions.md).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
write=
[ "${1:-}" != --write ] || { write=1; shift; }
stored=${1:-packaging/libiwarp.abi} library=${2:-${B:-build}/libiwarp.so}

# What programs can see of the library: its functions, and the types of the public headers.
interface() {
	abidw --headers-dir reference-stack/include --drop-private-types --exported-interfaces-only --no-show-locs --no-corpus-path \
		--no-comp-dir-path --no-parameter-names --no-write-default-sizes --no-elf-needed "$library"
}
if [ -n "$write" ]; then
	interface >"$stored.new"
	mv "$stored.new" "$stored"
	exit 0
fi
now=$(mktemp)
trap 'rm -f "$now"' EXIT
interface >"$now"

# abidiff's exit status has bits: 1 and 2 it failed, 4 something changed, 8 in a way that programs cannot bear.
status=0
abidiff --suppressions packaging/libiwarp.abignore "$stored" "$now" || status=$?
if [ $((status & 3)) -ne 0 ]; then
	echo "abi.sh: abidiff could not compare $stored with $library" >&2
	exit 4
fi
if [ $((status & 8)) -ne 0 ]; then
	echo "abi.sh: programs that were linked with libiwarp before would not run with this one: it needs another soname" >&2
	exit 1
fi
# A changed type is not certain to break programs, but nothing of the interface that is kept may change.
status=0
abidiff --no-added-syms --suppressions packaging/libiwarp.abignore "$stored" "$now" >/dev/null || status=$?
if [ "$status" -ne 0 ]; then
	echo "abi.sh: something that programs use has changed" >&2
	exit 1
fi
