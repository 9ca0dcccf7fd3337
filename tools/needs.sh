#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# needs.sh: whether this machine lets the tests do what they do, in addition to the packages of tools/deps.sh; silent when it does. Else a line for
# each thing that is missing, with what the system says and what to do about it, and exit status 1.
set -euo pipefail
missing=0

# needs WHAT REMEDY COMMAND...
needs() {
	local what=$1 remedy=$2 said
	shift 2
	said=$("$@" 2>&1 >/dev/null </dev/null) && return
	missing=$((missing + 1))
	printf 'the tests need %s, and this system refuses: %s\n      %s\n' "$what" "$(sed -n 1p <<<"${said:-$1 fails}")" "$remedy" >&2
}

page='docs/containers.md has the remedy for each kind of container, chroot and hardened kernel'
needs 'user and network namespaces' "$page" unshare --user --map-root-user --net true
[ "$missing" -ne 0 ] ||
	needs 'veth pairs in a network namespace' "$page; or the kernel has no veth: modprobe veth" \
		unshare --user --map-root-user --net ip link add warpneeds0 type veth peer name warpneeds1
needs 'the processes of /proc' 'mount -t proc proc /proc' test -e /proc/self/status
needs 'loopback' 'ip link set lo up' bash -c 'for sign in /proc/net/route /proc/net/dev; do test -r $sign; done && grep -q "^ *lo:" /proc/net/dev && test -n "$(ip -o address show dev lo)"'
needs 'a /dev with null, zero, urandom and terminals' 'docs/containers.md' bash -c 'test -c /dev/null && test -c /dev/zero && test -c /dev/urandom && test -e /dev/ptmx'
[ "$missing" -eq 0 ]
