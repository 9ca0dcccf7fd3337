#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# check.sh: the Debian packages of the commit that is checked out. Two builds in folders of different names have the same octets;
# lintian finds nothing; in a fresh Debian (debootstrap, as root and with Debian's archive in reach) they install, the programs run, a
# program is compiled with libiwarp-dev, tshark has the plugin, and after they are removed nothing of them is left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
COMMIT=$(git rev-parse HEAD) # the same for both builds, whatever is committed meanwhile
export COMMIT
: "${B:=build}" "${SUITE:=bookworm}" "${MIRROR:=http://deb.debian.org/debian}"
work=$(mktemp -d)
root=$work/root
trap 'umount -l "$root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
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

packaging/build-deb.sh "$B/deb" >"$work/first"
packaging/build-deb.sh "$work/another-place/for-the-same" >"$work/second"
sums() { (cd "$1" && sha256sum ./*.deb); }
sums "$B/deb" >"$work/first.sums"
sums "$work/another-place/for-the-same" >"$work/second.sums"
holds "two builds, the same octets ($(wc -l <"$work/first.sums") packages)" diff "$work/first.sums" "$work/second.sums"
holds "lintian finds nothing" lintian --allow-root --fail-on error,warning "$B"/deb/*.changes

if ! debootstrap --variant=minbase "$SUITE" "$root" "$MIRROR" >"$work/debootstrap" 2>&1; then
	echo "SKIP  no fresh Debian here: $(tail -n 1 "$work/debootstrap")"
	[ "$failed" -eq 0 ] || exit 1
	exit 77 # whether they can be installed is not known
fi
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$B"/deb/*.deb "$root/packages/"
rm -f "$root"/packages/*-dbgsym_*
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
files() { inside find / -xdev \( -path /proc -o -path /packages -o -path /tmp -o -path '/var/lib/apt' -o -path '/var/cache' -o -path '/var/log' \) -prune -o -print | LC_ALL=C sort; }
inside apt-get -qq update >"$work/update" 2>&1 || true
holds "what they need is there" inside apt-get -qq -y --no-install-recommends install tshark gcc libc6-dev pkg-config iproute2 \
	libpcap0.8 libnet1 libisal2 liblua5.4-0 libuv1 libxml2 libseccomp2 libusrsctp2 libuv1-dev libisal-dev libjansson-dev libusrsctp-dev \
	libibverbs1 librdmacm1
files >"$work/before"
holds "they install" inside sh -c 'apt-get -qq -y --no-install-recommends install /packages/*.deb'
holds "warpcheck judges" inside sh -c 'warpcheck run --simulate "DDP-7.2*" --quiet && warpcheck list >/tmp/list'
holds "iwarp-peer says what it is" inside iwarp-peer --help
holds "the agent, too" inside warpcheck-agent --help
holds "tshark has the plugin" inside sh -c 'tshark -G plugins | sed -n "s,^warpcheck.so.*,yes,p" | wc -l | xargs test 1 -eq'
holds "the manual pages are there" inside sh -c 'ls /usr/share/man/man1/warpcheck.1.gz /usr/share/man/man1/warpcheck-agent.1.gz /usr/share/man/man3/libiwarp.3.gz'
holds "an example is compiled with libiwarp-dev" inside sh -c 'cd /usr/share/doc/libiwarp-dev/examples && gcc -o /tmp/echo echo.c* $(pkg-config --cflags --libs libiwarp)'
holds "they go" inside apt-get -qq -y purge warpcheck warpcheck-wireshark warpcheck-agent libiwarp-dev libiwarp0
files >"$work/after"
holds "and nothing is left" diff "$work/before" "$work/after"
exit $((failed != 0))
