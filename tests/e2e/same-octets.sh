#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the tree lies is no part of what is built: two folders of different names give the same library, with line numbers
# for a debugger. (`make packages-check` compares whole packages.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
ROOT=$PWD
# shellcheck source=tools/folders.bash
source tools/folders.bash
read -ra folders < <(room_folders)
one=$WORK/one two=$WORK/another-folder/of-another-length
for tree in "$one" "$two"; do
	mkdir -p "$tree"
	tar -c --exclude-vcs --exclude=./build Makefile mk packaging tools docs "${folders[@]}" |
		tar -x -C "$tree"
done
# Little optimised: this is about names. ccache must not give one what was made for the other.
built() { env -u MAKEFLAGS make -C "$1" -s "${@:2}" B=build CFLAGS='-O0 -g' >"$WORK/said" 2>&1; }
holds "one folder" built "$one" build/libiwarp.so
holds "another" built "$two" build/libiwarp.so
holds "the same octets" cmp "$one/build/libiwarp.so" "$two/build/libiwarp.so"
expect 0 "a debugger's lines" readelf --debug-dump=decodedline "$one/build/libiwarp.so"
says 'fpdu\.c +[0-9]+'
holds "what make has built does not name its folder" test "$(grep -lF "$ROOT" "$B/warpcheck" "$B/iwarp-peer" "$B/libiwarp.so" | wc -l)" = 0
finish
