#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bench-build.sh: what it takes to build again after a change: a header that nearly every file includes, a file of the engine, a Lua
# check. Each is touched, and make is run; ccache is not asked. Prints seconds by the clock, seconds of processors, and what was compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=build}" "${MAKE:=make}"
export CCACHE_DISABLE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
build() { "$MAKE" B="$B" programs >"$log" 2>&1 || { cat "$log" >&2; exit 1; }; }

build
printf '%-45s %9s %9s  %s\n' touched 'clock, s' 'cpu, s' compiled
for file in base/octets.h conformance/engine/run/run_judge.c conformance/scripts/ddp/7-errors.lua nothing; do
	[ "$file" = nothing ] || touch "$file"
	TIMEFORMAT='%R %U %S'
	exec {err}>&2
	# shellcheck disable=SC2261 # the inner one is the build's, the outer one time's
	seconds=$({ time build 2>&"$err"; } 2>&1)
	read -r wall user system <<<"$seconds"
	printf '%-45s %9.1f %9.1f  %s\n' "$file" "$wall" "$(awk -v a="$user" -v b="$system" 'BEGIN { print a + b }')" "$(grep -c '^  CC' "$log" || true)"
done
