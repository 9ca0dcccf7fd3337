#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device behind a router: with "gateway" in its profile it is probed and judged as on the link itself, over IPv4 and IPv6, TCP and
# SCTP. Without it nobody answers for the device's address, and probe says what is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# The network of this script is the router's; tester0 is the bare end of one of its cables. The device's is a network of its own.
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
unshare -n bash -c 'echo READY; exec sleep infinity' >"$WORK/network.out" &
network=$!
prints "$network" "$WORK/network.out" READY || exit 99
cable router0 tester0 10.99.0.1/24 && cable router1 device0 10.98.0.1/24 || exit 99
ip addr add fd99::1/64 dev router0 nodad && ip addr add fd98::1/64 dev router1 nodad || exit 99
echo 1 >/proc/sys/net/ipv4/ip_forward && echo 1 >/proc/sys/net/ipv6/conf/all/forwarding || exit 99
# What comes to the tester's end is the tester's: the router, whose network it lies in, does not send it round once more.
echo 0 >/proc/sys/net/ipv4/conf/tester0/forwarding && echo 1 >/proc/sys/net/ipv6/conf/tester0/disable_ipv6 || exit 99
ip link set device0 netns "$network" || exit 99
device() { exec nsenter --net="/proc/$network/ns/net" "$@"; }
(device bash -c 'source tests/e2e/cable.bash; plain_segments device0 && ip link set lo up && ip link set device0 up &&
	ip addr add 10.98.0.2/24 dev device0 && ip addr add fd98::2/64 dev device0 nodad &&
	ip route add default via 10.98.0.1 && ip route add default via fd98::1') || exit 99
rm -f "$WORK/peer.out"
llp=$(jq -r .llp "$WORK/$1.json")
(device "$IWARP_PEER" --llp "$llp" --bind "$(jq -r .address "$WORK/$1.json")" --listen 9999 --control 10.98.0.2:7471) >"$WORK/peer.out" 2>&1 &
peer=$!
prints "$peer" "$WORK/peer.out" READY || exit 99
status=0
"$WARPCHECK" "${@:2}" || status=$?
{
	kill -KILL "$peer" "$network"
	wait "$peer" "$network"
} 2>/dev/null
exit "$status"
INSIDE
export WORK WARPCHECK IWARP_PEER

profile() { # NAME LLP ADDRESS OWN GATEWAY
	jq -n --arg llp "$2" --arg address "$3" --arg own "$4" --arg gateway "$5" '{ $llp, $address, port: 9999, interface: "tester0",
		own_address: $own, $gateway, control: "10.98.0.2:7471" } + if $llp == "sctp" then { udp_port: 9899 } else {} end' >"$WORK/$1.json"
}
profile ipv4 tcp 10.98.0.2 10.99.0.3 10.99.0.1
profile ipv6 tcp fd98::2 fd99::3 fd99::1
profile sctp sctp 10.98.0.2 10.99.0.3 10.99.0.1
judged() { jq -se '[.[] | select(.type == "result" and .by == "check")] |
	(map(.role) | unique) == ["initiator", "responder"] and all(.[]; .verdict == "PASS")' "$WORK/out/$1/results.jsonl"; }
mkdir "$WORK/out"

echo "== probe"
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any lines=any
for family in ipv4 ipv6; do
	expect 0 "$family: the device is found" unshare -rn bash "$WORK/inside.sh" "$family" probe "$WORK/$family.json" -o "$WORK/$family.found.json"
	says '^  reach +(ARP|ND): answered by the gateway ([0-9a-f]{2}:){5}[0-9a-f]{2} .*; ICMP echo: answered$'
	holds "$family: the profile that it writes names the gateway" jq -es '.[0].gateway == .[1].gateway' "$WORK/$family.json" "$WORK/$family.found.json"
done
expect 0 "by options" unshare -rn bash "$WORK/inside.sh" ipv4 probe 10.98.0.2:9999 --interface tester0 --own-address 10.99.0.3 --gateway 10.99.0.1
says '"gateway": "10.99.0.1"'
jq 'del(.gateway)' "$WORK/ipv4.json" >"$WORK/direct.json"
expect 4 "without the gateway it is not" unshare -rn bash "$WORK/inside.sh" ipv4 probe "$WORK/direct.json"
says 'no answer: is the device on this link [(]else name its gateway[)]'
jq '.gateway = "10.99.0.77"' "$WORK/ipv4.json" >"$WORK/wrong.json"
expect 4 "nor by one that is not there" unshare -rn bash "$WORK/inside.sh" ipv4 probe "$WORK/wrong.json"
says 'no answer: is the gateway on this link'

echo "== run"
for name in ipv4 ipv6; do
	expect 0 "$name: checks in both roles" unshare -rn bash "$WORK/inside.sh" "$name" run --dut "$WORK/$name.json" MPA-7.1-01 DDP-4.3-01 RDMAP-5.2.1-03 -o "$WORK/out/$name"
	holds "$name: they pass" judged "$name"
done
expect 0 "sctp: checks in both roles" unshare -rn bash "$WORK/inside.sh" sctp run --dut "$WORK/sctp.json" DDP-4.3-01 RDMAP-5.2.1-03 -o "$WORK/out/sctp"
holds "sctp: they pass" judged sctp
finish
