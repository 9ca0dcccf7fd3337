#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck bridge --upper-tester-a --upper-tester-b: the command makes the traffic of a suite itself, and compares contents at both ends. A stack
# without a fault holds what was sent; one that places what it should not is named, though all that it says on the wire is right; an
# upper tester that is not there, wants a token or goes away is said, and is no success. The same over SCTP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

refuses bridge '--upper-tester-a and --upper-tester-b belong together' lo nowhere1 --upper-tester-a 127.0.0.1:7471
refuses bridge '--upper-tester-b "127.0.0.1": "address:port" was expected' lo nowhere1 --upper-tester-a 127.0.0.1:7471 --upper-tester-b 127.0.0.1
refuses bridge '--upper-tester-a "127.0.0.1:70000": a port from 1 to 65535 was expected' lo nowhere1 --upper-tester-a 127.0.0.1:70000 --upper-tester-b 127.0.0.1:1
refuses bridge '--upper-tester-a "here:1": an IPv4 or IPv6 address was expected' lo nowhere1 --upper-tester-a here:1 --upper-tester-b 127.0.0.1:1
refuses bridge '--address-b "there": an IPv4 or IPv6 address was expected' lo nowhere1 --upper-tester-a 127.0.0.1:1 --upper-tester-b 127.0.0.1:1 --address-b there
refuses bridge '--upper-tester-token, --address-b and --connections are for --upper-tester-a' lo nowhere1 --connections 3

echo 0123456789abcdef0123456789abcdef >"$WORK/token"
cat >"$WORK/harmless.lua" <<'LUA'
-- What changes no octet, on streams 2 and 4; one that ends a stream; one whose contents only the script knows.
impair { name = "late", when = { message = "Send", nth = 3, stream = 2 }, act = function(unit) unit:delay(0.05) end }
impair { name = "cut", when = { message = "Send", nth = 3, stream = 4 }, act = function(unit) unit:cut(1, 5, 100) end }
impair { name = "ended", when = { message = "Send", nth = 3, stream = 5 }, act = function(unit) unit:close() end }
impair { name = "other", when = { message = "Send", nth = 3, stream = 6 }, act = function(unit, event)
  unit:replace(event.octets:sub(1, 100) .. ("x"):rep(#event.octets - 100))
end }
LUA
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
processes=()
trap '[ ${#processes[@]} -eq 0 ] || kill -KILL "${processes[@]}" 2>/dev/null' EXIT
source tests/e2e/wait.bash
ip link set lo up
ip link add name control0 type bridge
ip addr add 10.79.0.1/24 dev control0
ip link set control0 up
# device SIDE NUMBER: a network on the link SIDE0 and on that of the upper testers.
device() {
	unshare -n bash -c 'echo READY; exec sleep infinity' >"$WORK/network-$1" &
	processes+=($!)
	prints $! "$WORK/network-$1" READY || exit 99
	local network=$!
	printf -v "network_$1" %s "$network"
	ip link add name "${1}0" type veth peer name device0 netns "$network" && ip link set "${1}0" up &&
		ip link add name "agent-$1" type veth peer name agent0 netns "$network" && ip link set "agent-$1" master control0 up || exit 99
	nsenter --net="/proc/$network/ns/net" bash -c "ip link set lo up && ip addr add 10.9.0.$2/24 dev device0 && ip link set device0 up &&
		ip addr add 10.79.0.1$2/24 dev agent0 && ip link set agent0 up" || exit 99
}
# peer SIDE PORT OPTION...: one more iwarp-peer there, whose upper tester is at PORT. False: it does not start.
peer() {
	local side=$1 port=$2 network=network_$1
	shift 2
	nsenter --net="/proc/${!network}/ns/net" "$IWARP_PEER" --control "10.79.0.1$([ "$side" = a ] && echo 1 || echo 2):$port" "$@" >"$WORK/$side-$port.out" 2>&1 &
	processes+=($!)
	peer=$!
	prints $! "$WORK/$side-$port.out" READY
}
# bridges NAME PORT-OF-A PORT-OF-B OPTION...
bridges() {
	local name=$1 a=$2 b=$3 status=0
	shift 3
	"$WARPCHECK" bridge a0 b0 --upper-tester-a "10.79.0.11:$a" --upper-tester-b "10.79.0.12:$b" --address-b 10.9.0.2 -o "$WORK/$name" "$@" >"$WORK/$name.out" 2>&1 || status=$?
	echo "$name $status"
}
received() { ip -j -s link show dev b0 | jq '.[0].stats64.rx.packets'; }
device a 1 && device b 2 && peer a 7471 && peer b 7471 && peer b 7472 --defect mpa-place-before-crc && peer b 7473 --control-token "$WORK/token" &&
	peer a 7473 --control-token "$WORK/token" || exit 99
bridges plain 7471 7471
bridges several 7471 7471 --script "$WORK/harmless.lua" --all
# Beside the suite's own streams, the devices have others: such a one is no stream that an impairment is for.
peer a 7476 && peer b 7476 || exit 99
upper() { echo "$1" >&"$2" && read -r reply <&"$2"; }
exec 3<>/dev/tcp/10.79.0.11/7476 4<>/dev/tcp/10.79.0.12/7476
upper '{"verb":"listen"}' 4
printf -v others '{"verb":"connect","address":"10.9.0.2","port":%d}' "$(jq .port <<<"$reply")"
bridges suite 7471 7471 --suite impairments >"$WORK/suite.status" &
suite=$!
before=$(received)
few() { [ "$(received)" -gt $((before + 20)) ]; }
eventually "$suite" few || exit 99
upper "$others" 3
established() { upper '{"verb":"poll"}' 3 && jq -e 'any(.events[]; .event == "established")' <<<"$reply"; }
eventually "$suite" established >/dev/null && kill -0 "$suite" && echo "others beside"
wait "$suite"
cat "$WORK/suite.status"
bridges placed 7471 7472 --suite impairments
bridges shown 7473 7473 --upper-tester-token "$WORK/token"
bridges untold 7473 7473
bridges nobody 7471 7499 --duration 1s
peer b 7474 || exit 99
# The device is gone in the midst: its upper tester is stopped when the first connection has been made.
"$WARPCHECK" bridge a0 b0 --upper-tester-a 10.79.0.11:7471 --upper-tester-b 10.79.0.12:7474 --address-b 10.9.0.2 --connections 10000 --hold 1s >"$WORK/gone.out" 2>&1 &
bridge=$!
processes+=("$bridge")
frames() { [ "$(received)" -gt $((before + 200)) ]; }
before=$(received)
eventually "$bridge" frames || exit 99
kill -KILL "$peer"
status=0
wait "$bridge" || status=$?
echo "gone $status"
# Stopped by the user: the process of the traffic ends with the command.
"$WARPCHECK" bridge a0 b0 --upper-tester-a 10.79.0.11:7471 --upper-tester-b 10.79.0.12:7471 --address-b 10.9.0.2 --connections 10000 >"$WORK/stopped.out" 2>&1 &
bridge=$!
processes+=("$bridge")
before=$(received)
eventually "$bridge" frames || exit 99
child=$(cat "/proc/$bridge/task/$bridge/children")
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/${child% }/status" >"$WORK/confined"
kill -INT "$bridge"
status=0
wait "$bridge" || status=$?
echo "stopped $status"
ended() { ! grep -q '^State:.[RSDT]' "/proc/${child% }/status" 2>/dev/null; } # whoever inherits it may not wait for it
eventually $$ ended && echo "traffic ended"
if peer a 7475 --llp sctp --bind 10.9.0.1 && peer b 7475 --llp sctp --bind 10.9.0.2; then
	bridges over-sctp 7475 7475 --suite impairments-sctp
fi
INSIDE
export WORK WARPCHECK IWARP_PEER
expect 0 "all of it" unshare -rn bash "$WORK/inside.sh"
cp "$WORK/stdout" "$WORK/statuses"
ends() { holds "$1 ends with $2" grep -qx "$1 $2" "$WORK/statuses"; }

ends plain 0
holds "plain: one connection" grep -qx '1 of 1 connections were made, and contents compared at both ends' "$WORK/plain.out"
ends several 0
for line in 'PASS  contents of stream 1: 7 of 7 Sends, the RDMA Write, 4 of 4 RDMA Reads' 'PASS  contents of stream 2, late: 7 of 7 Sends.*' \
	'PASS  contents of stream 4, cut: 7 of 7 Sends.*' 'PASS  contents of stream 5, ended: [0-2] of 7 Sends.*' '6 of 6 connections were made.*'; do
	holds "several: $line" grep -qxE "$line" "$WORK/several.out"
done
holds "what the script alone knows is not judged" test "$(grep -c 'contents of stream 6' "$WORK/several.out")" -eq 0
holds "beside the suite there was another connection" grep -qx 'others beside' "$WORK/statuses"
ends suite 0
# shellcheck disable=SC2016 # programs of jq
{
	holds "suite: a result for each connection" jq -es --argjson n "$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/suite.out")" '
		map(select(.type == "result" and (.id | startswith("CONTENTS-")))) | length == $n and all(.verdict == "PASS")' "$WORK/suite/results.jsonl"
	holds "suite: and for each impairment" jq -es --argjson n "$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/suite.out")" '
		map(select(.type == "result" and (.id | startswith("IMPAIRMENT-")))) | length == $n and all(.verdict == "PASS")' "$WORK/suite/results.jsonl"
}
ends placed 1
holds "what was placed before its CRC was looked at" grep -qx 'FAIL  contents of stream [0-9]*, write-corrupted: the RDMA Write put other octets into B.s memory than A gave' "$WORK/placed.out"
holds "and on the wire that impairment shows nothing" grep -q '^PASS  write-corrupted: ' "$WORK/placed.out"
ends shown 0
ends untold 4
holds "no token, in a line" grep -q 'the traffic did not come to its end: the upper tester of B: listen: a token was expected' "$WORK/untold.out"
ends nobody 4
holds "nobody there, in a line" grep -q '^warpcheck bridge: --upper-tester-b 10.79.0.12:7499: ' "$WORK/nobody.out"
ends gone 4
holds "gone: why" grep -q 'the traffic did not come to its end: the upper tester of B: ' "$WORK/gone.out"
ends stopped 4
holds "stopped: in a line" grep -q 'the traffic did not come to its end: it was stopped$' "$WORK/stopped.out"
holds "the process of the traffic ends with it" grep -qx 'traffic ended' "$WORK/statuses"
holds "it has no privileges: $(xargs <"$WORK/confined")" grep -qx 'CapEff: 0\+ CapBnd: 0\+ NoNewPrivs: 1 Seccomp: 2' <(xargs <"$WORK/confined")
if [ -e "$WORK/over-sctp.out" ]; then
	ends over-sctp 0
else
	holds "without SCTP, for a reason" grep -q 'libusrsctp is not part of this build' "$WORK/a-7475.out"
fi
finish
