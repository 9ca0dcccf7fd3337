#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# systems.sh [SUITE...]: what a new user does, in fresh minimal Debians of these suites (bookworm trixie forky), each a root of its own
# (tools/suite.bash): the README's two commands with the tree in a folder that only root may enter, packages, their installation, and the
# first run of an ordinary user. As root, and with Debian's archive in reach.
#
# STEPS ("demo check deb user") says which of these; a step that needs an earlier one brings it along. A line for each step, with its seconds
# and, of `make check`, its counts and each SKIP with its reason; whole logs, and a table with the versions of what was used there, in
# OUT (build/suites). 0: all holds; 1: something does not; 77: a suite could not be had, so nothing is known of it.
#
# ROOTS=DIR is where the systems are made (a folder of their own, removed afterwards; KEEP=1 leaves it); MIRROR; JOBS (nproc);
# CHECK_NET=1 gives `make check` the network, which is otherwise loopback alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${STEPS:=demo check deb user}" "${OUT:=${B:-build}/suites}" "${ROOTS:=}" "${KEEP:=}" "${JOBS:=$(nproc)}" "${CHECK_NET:=}"
source tools/suite.bash
[ "$#" -gt 0 ] || set -- bookworm trixie forky
for suite in "$@"; do
	suite_name "$suite" || { echo "systems.sh: '$suite' is no suite's name" >&2; exit 2; }
done
for step in $STEPS; do
	case $step in
	demo | check | deb | user) ;;
	*) echo "systems.sh: unknown step '$step': expected demo, check, deb or user" >&2; exit 2 ;;
	esac
done
why=$(suite_possible) || { echo "systems.sh: $why" >&2; exit 77; }
[ -z "$ROOTS" ] || mkdir -p "$ROOTS"
mkdir -p "$OUT"
place=$(mktemp -d -p "${ROOTS:-${TMPDIR:-/tmp}}" systems.XXXXXX)
[ -n "$KEEP" ] || trap 'rm -rf --one-file-system "$place"' EXIT
tree=/root/warpcheck

wants() { [[ " $STEPS " == *" $1 "* ]]; }
inside() { suite_inside "$place/$suite" "$@"; }
made() { inside env -C "$tree" make "$@"; }

# step NAME COMMAND...: a line for it; its log is $OUT/SUITE-NAME.log, its seconds are in `seconds`.
step() {
	local name=$1 log=$OUT/$suite-$1.log began=$SECONDS status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	seconds=$((SECONDS - began))
	if [ "$status" -eq 0 ]; then
		echo "ok    $suite: $name ($seconds s)"
		return 0
	fi
	echo "WRONG $suite: $name (exit status $status, $seconds s)"
	{ grep -aE '^(FAIL|WRONG)|error|\*\*\*' "$log" || true; echo '... and the end of its log:'; tail -n 12 "$log"; } | sed -n '1,60s/^/      | /p'
	return 1
}

# The first version of a package that is installed there, or "-".
version_of() {
	{ inside dpkg-query -W -f='${db:Status-Status} ${source:Upstream-Version}\n' "$@" 2>/dev/null || true; } | sed -n 's/^installed //p' | sort -V | tail -n 1 |
		sed 's/[+~].*//' | grep . || echo -
}

checks() {
	local SUITE_NET=$SUITE_NET # the steps after this one need the network
	[ -n "$CHECK_NET" ] || SUITE_NET=own
	made "-j$JOBS" check
}

packages() {
	made deb && inside sh -c "apt-get -q -y --no-install-recommends install tshark $tree/build/deb/*.deb"
}

# What an ordinary user sees first, with the packages installed.
first_run() {
	inside useradd --create-home reader &&
		inside setpriv --reuid=reader --regid=reader --init-groups env -C /home/reader HOME=/home/reader bash -euc '
		warpcheck --version
		warpcheck run "MPA-7.*" -o report
		test -s report/index.html
		warpcheck run --simulate "DDP-7.2*" --quiet
		warpcheck gen -e "fpdu(rdmap.send { data = \"hello\" }, { crc_flip = 1 })" -o bad-crc.pcapng
		status=0; warpcheck audit bad-crc.pcapng || status=$?
		test "$status" -eq 1
		test -n "$(tshark -r bad-crc.pcapng -Y warp.finding)"
		man -w warpcheck 2>/dev/null || ls /usr/share/man/man1/warpcheck.1.gz'
}

# one_suite: 0, 1 or 77; its row of the table in $OUT/SUITE.row
one_suite() {
	local status=0 seconds='' demo=- check=- counts=- deb=- first=- log=$OUT/$suite-fresh.log
	local packages=(make git ca-certificates)
	if ! { suite_fresh "$suite" "$place/$suite" "${packages[@]}" && suite_tree "$place/$suite" "$tree"; } >"$log" 2>&1; then
		echo "SKIP  $suite: $(tail -n 1 "$log")"
		return 77
	fi
	inside chmod 700 /root
	if wants demo; then
		if step demo made "-j$JOBS" demo; then demo="$seconds s"; else status=1 demo=no; fi
	fi
	if wants check; then
		# The packages first: afterwards there is no network.
		if step packages made "-j$JOBS" prerequisites deps && step check checks; then check="$seconds s"; else status=1 check=no; fi
		counts=$(tail -n 1 "$OUT/$suite-check.log" 2>/dev/null || echo -)
		grep -a '^SKIP ' "$OUT/$suite-check.log" 2>/dev/null | sed "s/^/      $suite: /" || true
		echo "      $suite: $counts"
	fi
	if wants deb || wants user; then
		if step deb packages; then deb="$seconds s"; else status=1 deb=no; fi
	fi
	if wants user; then
		if step user first_run; then first="$seconds s"; else status=1 first=no; fi
	fi
	printf '| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n' "$suite" "$(version_of libwireshark-dev tshark)" \
		"$(version_of libuv1-dev)" "$(inside sh -c 'gcc -dumpfullversion 2>/dev/null' || echo -)" \
		"$(inside sh -c 'clang --version 2>/dev/null | sed -n "1s/.*version \([0-9.]*\).*/\1/p"' | grep . || echo -)" "$(version_of libpcap-dev)" \
		"$(version_of liblua5.4-dev)" "$(version_of libc6-dev)" "$demo" "$check" "$counts" "$deb" "$first" >"$OUT/$suite.row"
	return "$status"
}

result=0 unknown=
for suite in "$@"; do
	status=0
	one_suite || status=$?
	[ -n "$KEEP" ] || rm -rf --one-file-system "${place:?}/$suite"
	case $status in
	0) ;;
	77) unknown+=" $suite" ;;
	*) result=1 ;;
	esac
done
{
	echo '| suite | Wireshark | libuv | gcc | clang | libpcap | Lua | glibc | `make demo` | `make check` | counted | `make deb`, installed | first run of a user |'
	echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|'
	for suite in "$@"; do [ ! -e "$OUT/$suite.row" ] || cat "$OUT/$suite.row"; done
} >"$OUT/table.md"
cat "$OUT/table.md"
[ -z "$unknown" ] || echo "systems.sh: nothing is known of these suites:$unknown" >&2
[ "$result" -ne 0 ] || [ -z "$unknown" ] || result=77
exit "$result"
