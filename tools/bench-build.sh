#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bench-build.sh: what `make` takes after a change, in seconds: of nothing, of a header that nearly everything includes, of one C file, of
# one Lua check. The files are touched, not changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
unset MAKEFLAGS MAKELEVEL # the jobs of the make that runs this are its own
make=(make -s "-j$(nproc)" programs)
"${make[@]}" >/dev/null
took() { # WHAT [FILE]
	local began ended
	[ "$#" -eq 1 ] || touch "$2"
	began=$(date +%s%N)
	"${make[@]}" >/dev/null
	ended=$(date +%s%N)
	printf '%-45s %6.1f s\n' "$1" "$(((ended - began) / 100000000))e-1"
}
took "nothing"
for file in wire/octets.h conformance/engine/run/run_judge.c conformance/scripts/ddp/7-errors.lua; do took "$file" "$file"; done
