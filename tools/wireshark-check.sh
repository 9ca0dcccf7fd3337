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
: "${MIRROR:=http://deb.debian.org/debian}" "${TESTS:=dissector dissector-chop dissector-memory}" "${JOBS:=2}" "${KEEP:=}" "${CHROOTS:=}"
[ "$#" -gt 0 ] || set -- trixie forky
read -ra tests <<<"$TESTS"
[ ${#tests[@]} -gt 0 ] || { echo "wireshark-check.sh: TESTS names no test" >&2; exit 2; }
for name in "${tests[@]}"; do
	[ -f "tests/e2e/$name.sh" ] || { echo "wireshark-check.sh: there is no tests/e2e/$name.sh" >&2; exit 2; }
done
for suite in "$@"; do
	[[ $suite =~ ^[a-z][a-z-]*$ ]] || { echo "wireshark-check.sh: '$suite' is no suite's name" >&2; exit 2; }
done
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
	echo "wireshark-check.sh: debootstrap and root are needed to make a fresh Debian" >&2
	exit 77
fi
[ -z "$CHROOTS" ] || mkdir -p "$CHROOTS"
place=$(mktemp -d -p "${CHROOTS:-${TMPDIR:-/tmp}}" wireshark-check.XXXXXX)
# What is mounted in a chroot is mounted in a namespace of that command alone, so that nothing of it can be removed here.
[ -n "$KEEP" ] || trap 'rm -rf --one-file-system "$place"' EXIT

# inside SUITE COMMAND...: in that chroot, without anything of this environment.
inside() {
	local suite=$1
	shift
	# shellcheck disable=SC2016 # of the inner shell
	unshare --mount bash -c 'mount --make-rprivate / && mount -t proc proc "$0/proc" && exec chroot "$@"' "$place/$suite" "$place/$suite" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# A suite that is younger than this debootstrap is made as sid is.
fresh() { # fresh SUITE
	local recipe=()
	[ -e "/usr/share/debootstrap/scripts/$1" ] || recipe=(/usr/share/debootstrap/scripts/sid)
	debootstrap --variant=minbase "$1" "$place/$1" "$MIRROR" "${recipe[@]}" &&
		cp /etc/resolv.conf "$place/$1/etc/resolv.conf" &&
		# A mirror that stands still is good enough here: the signatures are checked all the same.
		echo 'Acquire::Check-Valid-Until "false";' >"$place/$1/etc/apt/apt.conf.d/50wireshark-check" &&
		inside "$1" apt-get -q -o Acquire::Retries=3 update &&
		inside "$1" apt-get -q -y -o Acquire::Retries=3 --no-install-recommends install make tshark jq perl procps xxd
}

# one_suite SUITE: 0, 1 or 77.
one_suite() {
	local suite=$1 version name log status=0
	log=$place/$suite.log
	if ! fresh "$suite" >"$log" 2>&1; then
		echo "SKIP  $suite: $(tail -n 1 "$log")"
		return 77
	fi
	mkdir "$place/$suite/tree"
	# What is deleted, but not yet in a commit, is still in the index.
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
		[ ! -e "$name" ] || printf '%s\0' "$name"
	done | tar --null -T - -c | tar -x --no-same-owner -C "$place/$suite/tree"
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
