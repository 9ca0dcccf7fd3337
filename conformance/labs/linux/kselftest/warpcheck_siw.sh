#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Is siw of the running kernel what the RFCs of iWARP ask for? warpcheck, from outside of the kernel's tree, sends frames to siw over a veth pair
# and judges what comes back. Output: KTAP, a line for each requirement. Exit status: that of kselftest (0 pass, 1 fail, 2 nothing but known
# deviations, 4 skip).
#
# WARPCHECK_IDS: which requirements (globs; the start-up frames, CRCs and Terminates of each layer). WARPCHECK_PROFILE: what siw is known to do
# (a profile of warpcheck, in which
# @ADDRESS@ and the like are filled in: linux-siw.json.in of warpcheck's tree, which stands in the folder above). WARPCHECK_AGENT: the upper tester (warpcheck-agent, which needs libibverbs).
ksft_skip=4
: "${WARPCHECK:=warpcheck}" "${WARPCHECK_AGENT:=warpcheck-agent}" "${WARPCHECK_LINK:=siw}" "${WARPCHECK_ARGS:=}"
: "${WARPCHECK_IDS:=MPA-7.1.1-* MPA-4.4-* DDP-7.2-* RDMAP-4.8-*}" "${WARPCHECK_PROFILE:=$(dirname "$0")/../linux-siw.json.in}"
dut=10.78.0.2 tester=10.78.0.3 host=10.78.0.1

skip() {
	echo "TAP version 13"
	echo "1..0 # SKIP $1"
	exit "$ksft_skip"
}

[ "$(id -u)" -eq 0 ] || skip "needs root"
command -v "$WARPCHECK" >/dev/null || skip "warpcheck is not installed"
command -v "${WARPCHECK_AGENT%% *}" >/dev/null || skip "${WARPCHECK_AGENT%% *}, warpcheck's upper tester, is not installed"
command -v ip >/dev/null || skip "ip is not installed"
[ -r "$WARPCHECK_PROFILE" ] || skip "$WARPCHECK_PROFILE cannot be read: name a profile in WARPCHECK_PROFILE"

work=$(mktemp -d)
ns=warpcheck-$$
agent=''
cleanup() {
	[ -z "$agent" ] || kill "$agent" 2>/dev/null
	ip link del "$ns-d" 2>/dev/null
	ip netns del "$ns" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT

ip netns add "$ns" 2>/dev/null || skip "a network namespace cannot be made"
{
	ip link add "${ns:0:13}-d" type veth peer name tester netns "$ns"
} 2>/dev/null || skip "a veth pair cannot be made"
link=${ns:0:13}-d
ip addr add "$dut/24" dev "$link"
ip link set "$link" up
ip -n "$ns" addr add "$host/24" dev tester
ip -n "$ns" link set lo up
ip -n "$ns" link set tester up
{ # segments as they would cross a wire, with checksums of their own
	ethtool -K "$link" tx off tso off gso off gro off
	ip netns exec "$ns" ethtool -K tester tx off tso off gso off gro off
} >/dev/null 2>&1 || skip "ethtool is not installed, or cannot turn checksum offload off"

for ((tries = 0; tries < 100; tries++)); do # the kernel says a little later that a new link is up
	grep -q 'state UP' < <(ip -n "$ns" link show tester) && break
	sleep 0.1
done

if [ "$WARPCHECK_LINK" = siw ]; then
	modprobe -q siw
	rdma link add "siw-$$" type siw netdev "$link" 2>"$work/error" || skip "siw cannot be bound to a veth: $(tail -n 1 "$work/error")"
fi
head -c 24 /dev/urandom | base64 -w0 >"$work/token"
$WARPCHECK_AGENT --address "$dut" --port 7471 --token "$work/token" >"$work/agent" 2>&1 &
agent=$!
for ((tries = 0; tries < 100; tries++)); do
	grep -qs READY "$work/agent" && break
	kill -0 "$agent" 2>/dev/null || skip "the upper tester ends: $(tail -n 1 "$work/agent")"
	sleep 0.1
done
grep -qs READY "$work/agent" || skip "the upper tester does not come up"
sed -e "s/@ADDRESS@/$dut/g; s/@OWN@/$tester/; s/@NAME@/siw/; s/@DUT@/siw/; s/\"@BESIDE@\"//; s/@LLP@/tcp/; s,@TOKEN@,$work/token," \
	-e 's/"interface": "[^"]*"/"interface": "tester"/' "$WARPCHECK_PROFILE" >"$work/profile.json"
set -f
# shellcheck disable=SC2086 # lists of words
ip netns exec "$ns" "$WARPCHECK" run --dut "$work/profile.json" $WARPCHECK_IDS -j 1 --format tap13 --exit-code kselftest $WARPCHECK_ARGS
