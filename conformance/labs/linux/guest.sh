#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# guest.sh INTERFACE TOKEN-FILE: inside a guest that runs already, one of virtme-ng for example: siw on that network device, and the agent that
# `warpcheck run --dut linux-siw --guest ADDRESS --guest-token TOKEN-FILE` asks from outside, on port 7471. Ends when the agent ends. Who can reach
# that port and knows the file's content gives orders to the agent. WARPCHECK_AGENT: another program than the tree's. LAB_LINK=none: siw is there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=conformance/labs/linux/kernel.bash
source "$here/kernel.bash"
[ $# -eq 2 ] || { echo "usage: guest.sh INTERFACE TOKEN-FILE" >&2; exit 2; }
interface=$1 token=$2
: "${WARPCHECK_AGENT:=${B:-$here/../../../build}/warpcheck-agent}"
complain() {
	echo "guest.sh: $1" >&2
	exit 1
}
[ -s "$token" ] || complain "$token: no such file, or an empty one (head -c 24 /dev/urandom | base64 >$token)"
command -v "$WARPCHECK_AGENT" >/dev/null || complain "$WARPCHECK_AGENT cannot be run (make agent)"
address=$(ip -4 -o addr show dev "$interface" 2>/dev/null | awk '{ sub("/.*", "", $4); print $4; exit }')
[ -n "$address" ] || complain "$interface has no IPv4 address"
if [ "${LAB_LINK:-siw}" = siw ] && ! grep -q "netdev $interface " < <(rdma link); then
	modprobe -q siw || true # it may be built in
	rdma link add siw0 type siw netdev "$interface" || complain "no siw on $interface: the kernel needs CONFIG_RDMA_SIW (docs/lab-kernels.md)"
fi
ulimit -l unlimited 2>/dev/null || true
ethtool -K "$interface" tx off tso off gso off gro off >/dev/null 2>&1 || echo "guest.sh: ethtool cannot turn the offload of $interface off: checksums may be wrong" >&2
exec "$WARPCHECK_AGENT" --address "$address" --port 7471 --token "$token" --fixed "$siw_fixed"
