#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# lint.sh: everything that can be said of the sources without running them. Each step that finds something is named at the
# end; the exit status is 1 then.
#
#   CLANG_FLAGS      the compiler's flags
#   LUA_SYNTAX       a program that parses Lua
#   T                'wire generator': looks only at files below those folders
#   STEPS            'clang-tidy cppcheck': only these steps, of arrows, rooms, files, phrases, test-names, clang-format,
#                    lua, shellcheck, cppcheck and clang-tidy
#   PART             I/N: of the files of clang-format, shellcheck, cppcheck and clang-tidy each N-th, from the I-th on
#   JOBS             how many processes (as many as there are processors)
#   FAST=1           leaves cppcheck and clang-tidy out, which take minutes
#   SHALLOW=1        lets clang's analyzer end sooner in long functions, which takes half of the time (the continuous integration
#                    does so; its mode "shallow" would take a quarter, and finds what is not there)
#   B                the build folder: B/lint remembers by content which files a linter has found clean (tools/lint-memory.pl)
#   LINT_WHOLE=1     looks at every file all the same
#   LINT_ANY=1       also with another version of LLVM's tools than the one whose form the tree has
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${CLANG_FLAGS:=-std=gnu17 -I. -Ireference-stack/include}" "${LUA_SYNTAX:=}" "${T:=}" "${FAST:=}" "${SHALLOW:=}" "${STEPS:=}"
: "${PART:=1/1}" "${JOBS:=$(nproc)}" "${B:=build}" "${LINT_WHOLE:=}" "${LINT_ANY:=}"
steps='arrows rooms files phrases test-names clang-format lua shellcheck cppcheck clang-tidy'
# shellcheck source=tools/folders.bash
source tools/folders.bash
folders="$(room_folders) tests tools"
for folder in $T; do
	[ -d "$folder" ] || { echo "lint: T='$T': '$folder' is no folder; below the tree's root there are: $folders" >&2; exit 2; }
done
for step in $STEPS; do
	[[ " $steps " == *" $step "* ]] || { echo "lint: STEPS='$STEPS': there is no step '$step'; there are: $steps" >&2; exit 2; }
done
if ! [[ $PART =~ ^([0-9]+)/([0-9]+)$ ]] || ((BASH_REMATCH[1] < 1 || BASH_REMATCH[1] > BASH_REMATCH[2])); then
	echo "lint: PART='$PART': I/N was expected, I from 1 to N" >&2
	exit 2
fi
part=${PART%/*} parts=${PART#*/}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
found=() skipped=()

sources() { # NAME-PATTERN...: the files below the folders looked at, or below T
	local pattern args=()
	for pattern in "$@"; do args+=(-o -name "$pattern"); done
	# shellcheck disable=SC2086
	find ${T:-$folders} -type f \( "${args[@]:1}" \) | LC_ALL=C sort
}

# by_file TOOL SALT OBJECTS <FILES: gives those of this part that are not remembered, a few at a time, to the function by_TOOL, which
# prints what it finds and returns 1 if it finds something. SALT: whatever the result follows from, in addition to the file and its
# headers. OBJECTS: where the compiler has noted the headers; nothing: the tool looks at no headers.
by_file() {
	local tool=$1 memory=$B/lint/$1 salt few=8
	salt=$(sha256sum <<<"$2") || return 1
	export OBJECTS=$3
	[ -z "$LINT_WHOLE" ] || rm -rf "${memory:?}"
	awk -v part="$part" -v parts="$parts" 'NR % parts == part % parts' | tools/lint-memory.pl due "$memory" "$salt" >"$work/$tool" ||
		return 1
	echo "   $(wc -l <"$work/$tool") to look at"
	# shellcheck disable=SC2016 # the inner shell expands it
	xargs -r -a "$work/$tool" -n "$few" -P "$JOBS" bash -c '
		began=$(date +%s) tool=$1 memory=$2 salt=$3
		shift 3
		"by_$tool" "$@" || exit 1
		printf "%s\n" "$@" | tools/lint-memory.pl keep "$memory" "$salt" "$began"' by-file "$tool" "$memory" "$salt"
}

by_clang-format() { clang-format --dry-run -Werror "$@"; }
by_shellcheck() { shellcheck -x -S warning "$@"; }
# NULL is a pointer in C, and uthash's loops are unknown to cppcheck (gcc and clang look for the uninitialised).
cppcheck_options=(--quiet --error-exitcode=1 --inline-suppr --std=c11 --platform=unix64 "--enable=warning,portability,performance"
	--suppress=missingIncludeSystem --suppress=varFuncNullUB --suppress=uninitvar --suppress=autoVariables
	--suppress=unmatchedSuppression --library=tools/cppcheck.cfg --max-configs=4 -I. -Ireference-stack/include
	'--template={file}:{line}: {severity}: {message} [{id}]')
# Of later versions (2.17 was tried): that a branch was not analysed, and what they find in code that has just looked whether there was memory,
# or that closes a file in a condition. Debian 12's version has the same checks without these mistakes.
if [[ $(cppcheck --version 2>/dev/null) =~ ([0-9]+)\.([0-9]+) ]] && ((BASH_REMATCH[1] * 100 + BASH_REMATCH[2] > 210)); then
	for id in normalCheckLevelMaxBranches nullPointerOutOfMemory nullPointerArithmeticOutOfMemory nullPointerOutOfResources \
		ctunullpointerOutOfMemory ctunullpointerOutOfResources ctunullpointer nullPointerRedundantCheck deallocuse; do
		cppcheck_options+=("--suppress=$id")
	done
fi
CPPCHECK_OPTIONS="${cppcheck_options[*]@Q}"
by_cppcheck() {
	local file options status=0
	eval "options=($CPPCHECK_OPTIONS)"
	# One by one: of several files it compares the functions, and which files stand together is chance here.
	for file in "$@"; do cppcheck "${options[@]}" "$file" || status=1; done
	return "$status"
}
by_clang-tidy() {
	local file out status=0
	for file in "$@"; do
		# shellcheck disable=SC2086
		if ! out=$(clang-tidy --quiet $DEPTH "$file" -- $CLANG_FLAGS -DWARPCHECK_VERSION=\"lint\" 2>&1); then
			printf '%s\n' "$out" | grep -vE '^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter' || true
			status=1
		fi
	done
	return "$status"
}
DEPTH=
[ -z "$SHALLOW" ] || DEPTH='--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=40000'
DEPENDENCIES="clang $CLANG_FLAGS -DWARPCHECK_VERSION=lint -MM"
export CLANG_FLAGS CPPCHECK_OPTIONS DEPTH DEPENDENCIES
export -f by_clang-format by_shellcheck by_cppcheck by_clang-tidy

step_arrows() { tools/arrows.sh; }
step_rooms() { tools/rooms.sh "$B"; }
step_files() { tools/files.sh; }
step_phrases() { tools/phrases.sh; }
step_test-names() { tools/test-names.sh; }
step_lua() { sources '*.lua' | if [ -n "$LUA_SYNTAX" ]; then xargs -r "$LUA_SYNTAX"; else xargs -r luac5.4 -p --; fi; }
# The tree has the form that one version of LLVM gives it, and is clean by its checks; later ones put some spaces elsewhere, and have checks more.
LLVM_VERSION=14
# judges TOOL: it is of that version, or LINT_ANY is set.
judges() {
	local version
	version=$("$1" --version | grep -oE 'version [0-9]+' | cut -d' ' -f2)
	[ "$version" != "$LLVM_VERSION" ] && [ -z "$LINT_ANY" ] || return 0
	echo "$1 $version: the tree is judged by version $LLVM_VERSION (LINT_ANY=1: by any)"
	return 1
}
step_clang-format() {
	judges clang-format || return 77
	sources '*.c' '*.h' | by_file clang-format "$(clang-format --version; cat .clang-format)" ""
}
step_shellcheck() {
	command -v shellcheck >/dev/null || { echo "   not installed"; return 0; }
	{ sources '*.sh'; [ ! -e .ci/run ] || echo .ci/run; } |
		by_file shellcheck "$(shellcheck --version; find tests tools conformance -name '*.bash' -exec sha256sum {} +)" ""
}
step_cppcheck() { sources '*.c' | by_file cppcheck "$(cppcheck --version; cat tools/cppcheck.cfg) $CPPCHECK_OPTIONS" "$B/obj"; }
step_clang-tidy() {
	judges clang-tidy || return 77
	sources '*.c' | by_file clang-tidy "$(clang-tidy --version; cat .clang-tidy) $CLANG_FLAGS $DEPTH" "$B/obj"
}

for step in $steps; do
	[ -z "$STEPS" ] || [[ " $STEPS " == *" $step "* ]] || continue
	case $step in cppcheck | clang-tidy) [ -z "$FAST" ] || continue ;; esac
	echo "== $step"
	status=0
	"step_$step" || status=$?
	case $status in
	0) ;;
	77) skipped+=("$step") ;;
	*) found+=("$step") ;;
	esac
done
if [ "${#found[@]}" -gt 0 ]; then
	printf 'lint: found something:'
	printf ' [%s]' "${found[@]}"
	echo
	exit 1
fi
# A step that was all that was asked for, and is not here: that is no success.
[ "${#skipped[@]}" -eq 0 ] || [ "$STEPS" != "${skipped[*]}" ] || exit 77
echo "lint: clean"
