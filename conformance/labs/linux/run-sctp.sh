#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run-sctp.sh [--series 6.1|6.12] [warpcheck run's options]: judges iwarp-peer over the SCTP of Linux: the guest, namespace and exit
# status of run.sh, with iwarp-peer in the guest above the kernel's sockets and SCTP over IP on the wire. `warpcheck run --dut
# linux-sctp` comes here. With --llp sctp-draft02 the peer speaks the draft. IWARP_PEER is another program than the tree's;
# LAB_UDP=PORT gives the guest's SCTP that UDP port too (RFC 6951).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
export LAB_DEVICE=linux-sctp LAB_LLP=sctp LAB_READY='READY listen=' LAB_AFTER=none
: "${IWARP_PEER:=${B:-$root/build}/iwarp-peer}"
[ -x "$IWARP_PEER" ] || { echo "$LAB_DEVICE: $IWARP_PEER cannot be run: IWARP_PEER names another" >&2; exit 4; }
export LAB_PEER=$IWARP_PEER

profile=rfc5043 address=10.78.0.2 previous=
for option in "$@"; do
	case $previous$option in
	--llpsctp-draft02) profile=draft02 LAB_LLP=sctp-draft02 ;;
	*--ipv6) address=fd78::2 ;;
	esac
	previous=
	[ "$option" != --llp ] || previous=$option
done
peer="iwarp-peer --llp sctp --sctp-stack kernel --sctp-profile $profile --bind $address"
[ -n "${LAB_GUEST:-}" ] || export LAB_BESIDE=yes # a peer for each of the checks side by side
: "${LAB_GUEST:=${LAB_UDP:+sysctl -w net.sctp.udp_port=$LAB_UDP net.sctp.encap_port=$LAB_UDP; }nc -ll -p 7472 -e /bin/sh &
for i in \$(seq 1 \$jobs); do $peer --listen \$((9900 + i)) --control 10.78.0.2:\$((7472 + i)) >/dev/null 2>&1 & done
$peer --listen 5043 --control 10.78.0.2:7471 >/dev/ttyS0 2>&1
echo init: iwarp-peer ended with \$?}"
export LAB_GUEST
exec "$here/run.sh" "$@"
