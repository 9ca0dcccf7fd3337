#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# wireshark-check.sh [SUITE...]: the plugin, from the sources as they stand in the working tree, with the Wireshark of other Debian
# suites (trixie forky). For each one, debootstrap makes a fresh Debian, make builds plugin and programs there, and the plugin's tests
# run with that tshark against the same golden files. As root, and with Debian's archive in reach. The last line of each suite has its
# version and what was counted. 0: all holds; 1: something does not; 77: a suite could not be had, so nothing is known of it.
#
# CHROOTS=DIR (a folder of its own, removed afterwards) is where they are made, KEEP=1 leaves it; MIRROR; TESTS: which scripts of
# tests/e2e; JOBS (2).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/suite.bash
: "${TESTS:=dissector dissector-chop dissector-memory}" "${JOBS:=2}" "${KEEP:=}" "${CHROOTS:=}"
[ "$#" -gt 0 ] || set -- trixie forky
read -ra tests <<<"$TESTS"
[ ${#tests[@]} -gt 0 ] || { echo "wireshark-check.sh: TESTS names no test" >&2; exit 2; }
for name in "${tests[@]}"; do
	[ -f "tests/e2e/$name.sh" ] || { echo "wireshark-check.sh: there is no tests/e2e/$name.sh" >&2; exit 2; }
done
for suite in "$@"; do
	suite_name "$suite" || { echo "wireshark-check.sh: '$suite' is no suite's name" >&2; exit 2; }
done
why=$(suite_possible) || { echo "wireshark-check.sh: $why" >&2; exit 77; }
[ -z "$CHROOTS" ] || mkdir -p "$CHROOTS"
place=$(mktemp -d -p "${CHROOTS:-${TMPDIR:-/tmp}}" wireshark-check.XXXXXX)
[ -n "$KEEP" ] || trap 'rm -rf --one-file-system "$place"' EXIT

# inside SUITE COMMAND...
inside() { suite_inside "$place/$1" "${@:2}"; }
fresh() { suite_fresh "$1" "$place/$1" make tshark jq perl procps xxd; } # fresh SUITE

# one_suite SUITE: 0, 1 or 77.
one_suite() {
	local suite=$1 version name log status=0
	log=$place/$suite.log
	if ! fresh "$suite" >"$log" 2>&1; then
		echo "SKIP  $suite: $(tail -n 1 "$log")"
		return 77
	fi
	suite_tree "$place/$suite" /tree >>"$log" 2>&1
	if ! inside "$suite" sh -c 'cd /tree && tools/deps.sh build plugin' >>"$log" 2>&1; then
		echo "SKIP  $suite: $(tail -n 1 "$log")"
		return 77
	fi
	version=$(inside "$suite" pkg-config --modversion wireshark)
	if ! inside "$suite" make -C /tree -j"$JOBS" plugin programs build/chaos.so >"$log" 2>&1; then
		echo "WRONG $suite: Wireshark $version: the sources do not compile"
		grep -E 'error|warning|\*\*\*' "$log" | sed -n '1,10s/^/      /p'
		return 1
	fi
	for name in "${tests[@]}"; do
		# shellcheck disable=SC2016 # of the inner shell
		if inside "$suite" bash -c 'cd /tree && export B=$PWD/build ROOT=$PWD WARPCHECK=$PWD/build/warpcheck CC=gcc TSHARK=tshark \
			IWARP_PEER=$PWD/build/iwarp-peer PLUGIN=$PWD/build/dissector/warpcheck.so WORK=$(mktemp -d) && bash "tests/e2e/$1.sh"' \
			bash "$name" >"$log" 2>&1; then
			echo "ok    $suite: Wireshark $version: $name: $(tail -n 1 "$log")"
		else
			echo "WRONG $suite: Wireshark $version: $name: $(tail -n 1 "$log")"
			grep -v '^ok' "$log" | sed -n '1,40s/^/      /p'
			status=1
		fi
	done
	return "$status"
}

result=0 unknown=
for suite in "$@"; do
	status=0
	one_suite "$suite" || status=$?
	[ -n "$KEEP" ] || rm -rf --one-file-system "${place:?}/$suite"
	case $status in
	0) ;;
	77) unknown+=" $suite" ;;
	*) result=1 ;;
	esac
done
[ -z "$unknown" ] || echo "wireshark-check.sh: nothing is known of these suites:$unknown" >&2
[ "$result" -ne 0 ] || [ -z "$unknown" ] || result=77
exit "$result"
