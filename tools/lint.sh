#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# lint.sh: everything that can be said of the sources without running them. CLANG_FLAGS are the compiler's flags,
# LUA_SYNTAX a program that parses Lua; FAST=1 leaves cppcheck and clang-tidy
# out, which take minutes; SHALLOW=1 lets clang's analyzer end sooner in long functions, which takes half of the time (the
# continuous integration does so; its mode "shallow" would take a quarter, and finds what is not there); T='wire generator' looks only at files below those folders. Each step that
# finds something is named at the end; the exit status is 1 then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${CLANG_FLAGS:=-std=gnu17 -I. -Ireference-stack/include}" "${LUA_SYNTAX:=}" "${T:=}" "${FAST:=}" "${SHALLOW:=}"
folders='wire upper-tester reference-stack generator conformance reports dissector tests tools'
for folder in $T; do
	[ -d "$folder" ] || { echo "lint: T='$T': '$folder' is no folder; below the tree's root there are: $folders" >&2; exit 2; }
done
sources() { # NAME-PATTERN...: the files below the folders looked at, or below T
	local pattern args=()
	for pattern in "$@"; do args+=(-o -name "$pattern"); done
	# shellcheck disable=SC2086
	find ${T:-$folders} -type f \( "${args[@]:1}" \) | LC_ALL=C sort
}
found=()
step() {
	local name=$1
	shift
	echo "== $name"
	"$@" || found+=("$name")
}

format() { sources '*.c' '*.h' | xargs -r clang-format --dry-run -Werror; }
tidy() {
	local depth=
	[ -z "$SHALLOW" ] || depth='--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=40000'
	# shellcheck disable=SC2016,SC2086
	sources '*.c' | CLANG_FLAGS="$CLANG_FLAGS" DEPTH="$depth" xargs -r -P "$(nproc)" -n 1 bash -c '
		if ! out=$(clang-tidy --quiet $DEPTH "$1" -- $CLANG_FLAGS -DWARPCHECK_VERSION=\"lint\" 2>&1); then
			printf "%s\n" "$out" | grep -vE "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter"
			exit 1
		fi' clang-tidy
}
# NULL is a pointer in C, and uthash's loops are unknown to cppcheck (gcc and clang look for the uninitialised).
static() {
	sources '*.c' >"$work/cppcheck.list"
	[ ! -s "$work/cppcheck.list" ] || cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --platform=unix64 \
		--enable=warning,portability,performance --suppress=missingIncludeSystem --suppress=varFuncNullUB --suppress=uninitvar --suppress=autoVariables \
		--suppress=unmatchedSuppression --library=tools/cppcheck.cfg --max-configs=4 -j "$(nproc)" -I. -Ireference-stack/include \
		--template='{file}:{line}: {severity}: {message} [{id}]' --file-list="$work/cppcheck.list"
}
scripts() { sources '*.lua' | if [ -n "$LUA_SYNTAX" ]; then xargs -r "$LUA_SYNTAX"; else xargs -r luac5.4 -p --; fi; }
shell() { { sources '*.sh'; [ ! -e .ci/run ] || echo .ci/run; } | xargs -r shellcheck -x -S warning; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step "include arrows" tools/arrows.sh
step "rooms" tools/rooms.sh "${B:-build}"
step "files" tools/files.sh
step "clang-format" format
step "Lua syntax" scripts
if command -v shellcheck >/dev/null; then step "shellcheck" shell; fi
[ -n "$FAST" ] || step "cppcheck" static
[ -n "$FAST" ] || step "clang-tidy" tidy
if [ "${#found[@]}" -gt 0 ]; then
	printf 'lint: found something:'
	printf ' [%s]' "${found[@]}"
	echo
	exit 1
fi
echo "lint: clean"
