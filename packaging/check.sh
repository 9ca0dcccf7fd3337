#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh: the Debian packages of the commit that is checked out. Two builds in folders of different names have the same octets;
# lintian finds nothing; in a fresh Debian (debootstrap, as root and with Debian's archive in reach) they install, the programs run, a
# program is compiled with libiwarp-dev, tshark has the plugin, and after they are removed nothing of them is left.
#
# SUITE (bookworm) is that Debian; the packages of another suite than this machine's are built in it, too. MIRROR: where it comes from.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
COMMIT=$(git rev-parse HEAD) # the same for both builds, whatever is committed meanwhile
export COMMIT
: "${B:=build}" "${SUITE:=bookworm}" "${MIRROR:=http://deb.debian.org/debian}"
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
failed=0
holds() { # holds WHAT COMMAND...
	local what=$1
	shift
	if "$@" >"$work/said" 2>&1 </dev/null; then
		echo "ok    $what"
	else
		echo "WRONG $what"
		tail -n 15 "$work/said" | sed 's/^/      /'
		failed=$((failed + 1))
	fi
}

source tools/suite.bash
SUITE_ENV=("COMMIT=$COMMIT")
inside() { suite_inside "$@"; } # ROOT COMMAND...
fresh=yes
suite_fresh "$SUITE" "$root" >"$work/debootstrap" 2>&1 || fresh=

# The packages of another suite than this machine's are built there: they depend on its libraries.
debs=$B/deb again=$work/another-place/for-the-same there='' maker=()
# shellcheck source=/dev/null
if [ "$SUITE" != "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" ]; then
	[ -n "$fresh" ] || { echo "SKIP  no $SUITE here: $(tail -n 1 "$work/debootstrap")"; exit 77; }
	cp -a "$root" "$work/maker"
	git clone -q --no-local . "$work/maker/source"
	mkdir "$work/maker/needs"
	cp -a packaging/debian "$work/maker/needs/debian"
	there=$work/maker debs=$work/maker/built again=$work/maker/another-place/for-the-same
	maker=(inside "$there" env -C /source)
	holds "what a build needs is there" inside "$work/maker" sh -c \
		'apt-get -qq -y --no-install-recommends install git ca-certificates make gcc libc6-dev dpkg-dev fakeroot lintian && apt-get -qq -y --no-install-recommends build-dep /needs'
fi
"${maker[@]}" packaging/build-deb.sh "${debs#"$there"}" >"$work/first"
"${maker[@]}" packaging/build-deb.sh "${again#"$there"}" >"$work/second"
sums() { (cd "$1" && sha256sum ./*.deb); }
sums "$debs" >"$work/first.sums"
sums "$again" >"$work/second.sums"
holds "two builds, the same octets ($(wc -l <"$work/first.sums") packages)" diff "$work/first.sums" "$work/second.sums"
# shellcheck disable=SC2016 # of the inner shell
holds "lintian finds nothing" "${maker[@]}" bash -c 'lintian --allow-root --fail-on error,warning "$0"/*.changes' "${debs#"$there"}"

if [ -z "$fresh" ]; then
	echo "SKIP  no fresh Debian here: $(tail -n 1 "$work/debootstrap")"
	[ "$failed" -eq 0 ] || exit 1
	exit 77 # whether they can be installed is not known
fi
mkdir "$root/packages"
cp "$debs"/*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*
files() { inside "$root" find / -xdev \( -path /proc -o -path /packages -o -path /tmp -o -path '/var/lib/apt' -o -path '/var/cache' -o -path '/var/log' \) -prune -o -print | LC_ALL=C sort; }
# What they depend on, by its names of this suite, and none of themselves.
mapfile -t ours < <(for deb in "$root"/packages/*.deb; do dpkg-deb -f "$deb" Package; done)
mapfile -t needs < <(for deb in "$root"/packages/*.deb; do dpkg-deb -f "$deb" Pre-Depends Depends; done | sed 's/^[A-Za-z-]*://' | tr ',' '\n' |
	sed 's/|.*//; s/(.*//; s/[[:space:]]//g; /^$/d' | LC_ALL=C sort -u | grep -vxFf <(printf '%s\n' "${ours[@]}"))
holds "they depend on ${#needs[@]} packages" test "${#needs[@]}" -ge 10
holds "what they need is there" inside "$root" apt-get -qq -y --no-install-recommends install tshark gcc libc6-dev pkg-config "${needs[@]}"
files >"$work/before"
holds "they install" inside "$root" sh -c 'apt-get -qq -y --no-install-recommends install /packages/*.deb'
holds "warpcheck judges" inside "$root" sh -c 'warpcheck run --simulate "DDP-7.2*" --quiet && warpcheck list >/tmp/list'
holds "iwarp-peer says what it is" inside "$root" iwarp-peer --help
holds "the agent, too" inside "$root" warpcheck-agent --help
holds "tshark has the plugin" inside "$root" sh -c 'tshark -G plugins | sed -n "s,^warpcheck.so.*,yes,p" | wc -l | xargs test 1 -eq'
holds "the manual pages are there" inside "$root" sh -c 'ls /usr/share/man/man1/warpcheck.1.gz /usr/share/man/man1/warpcheck-agent.1.gz /usr/share/man/man3/libiwarp.3.gz'
holds "documents have the names by which others lead to them" inside "$root" sh -c \
	'find /usr/share/doc/warpcheck/ /usr/share/doc/libiwarp-dev/ -name "*.md.gz" >/tmp/packed && test ! -s /tmp/packed'
# shellcheck disable=SC2016 # of the inner shell
holds "the examples are compiled with libiwarp-dev" inside "$root" sh -c \
	'cd /usr/share/doc/libiwarp-dev/examples && for example in *.c; do cc -std=c17 -Werror $example $(pkg-config --cflags --libs libiwarp) -o /tmp/example || exit 1; done'
holds "Python has the library" inside "$root" python3 -c 'import iwarp; iwarp.Context().close()'
holds "they go" inside "$root" apt-get -qq -y purge "${ours[@]}"
files >"$work/after"
holds "and nothing is left" diff "$work/before" "$work/after"
exit $((failed != 0))
