#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# paths.sh router|ipv6-only [warpcheck run's options]: as `warpcheck run --dut linux-rxe` (DUT=linux-siw: that), on another path. SERIES: 6.1 or 6.12 (6.1). One
# check at a time.
#
#   router     the tester is in another network than the guest, behind a router, whose MAC is all that either sees of the other: the profile's
#              "gateway" (docs/profiles.md). The router is this machine's kernel, in the lab's namespace
#   ipv6-only  the guest has no IPv4 address, and its agent is asked over IPv6
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${DUT:=linux-rxe}" "${SERIES:=6.1}"
case ${1:-} in
router | ipv6-only) path=$1 && shift ;;
*) echo "usage: paths.sh router|ipv6-only [warpcheck run's options]" >&2 && exit 2 ;;
esac
if [ -z "${LAB_PROFILE:-}" ]; then
	script=run.sh
	[ "$DUT" != linux-rxe ] || script=run-rxe.sh
	LAB_RUN=$(printf '%q ' "$here/paths.sh" "$path" "$@")
	export LAB_RUN LAB_JOBS=1 DUT
	exec "$here/$script" --series "$SERIES"
fi

# guest COMMAND...: in the guest, by its shell's port, while it has an IPv4 address.
guest() {
	exec 3<>/dev/tcp/10.78.0.2/7472
	echo "$* && echo 'guest: done'; exit" >&3
	grep -q '^guest: done' < <(timeout 60 cat <&3) || { echo "paths.sh: in the guest failed: $*" >&2; exit 4; }
}

folder=$(dirname "$LAB_PROFILE")
inside=()
if [ "$path" = router ]; then
	guest ip route add 10.79.0.0/24 via 10.78.0.1
	mkfifo "$folder/apart"
	unshare --net sh -c "echo >'$folder/apart'; exec sleep 86400" &
	tester=$!
	trap 'kill "$tester" 2>/dev/null || true' EXIT
	read -r _ <"$folder/apart" # the namespace is there
	inside=(nsenter --target "$tester" --net)
	ip link add router type veth peer name tester netns "$tester"
	ip addr add 10.79.0.1/24 dev router
	ip link set router up
	echo 1 >/proc/sys/net/ipv4/ip_forward
	"${inside[@]}" ip link set lo up
	"${inside[@]}" ip addr add 10.79.0.2/24 dev tester
	"${inside[@]}" ip link set tester up
	"${inside[@]}" ip route add default via 10.79.0.1
	{ # frames as they would cross a wire
		ethtool -K router tx off tso off gso off gro off
		"${inside[@]}" ethtool -K tester tx off tso off gso off gro off
	} >/dev/null 2>&1
	jq '.interface = "tester" | .own_address = "10.79.0.3" | .gateway = "10.79.0.1"' "$LAB_PROFILE" >"$folder/path.json"
else
	guest '{ { sleep 1; ip addr del 10.78.0.2/24 dev eth0; } </dev/null >/dev/null 2>&1 & }'
	echo 0 >/proc/sys/net/ipv6/conf/tap0/disable_ipv6
	echo 0 >/proc/sys/net/ipv6/conf/tap0/accept_dad
	ip addr add fd78::1/64 dev tap0 nodad
	for ((tries = 0; tries < 100; tries++)); do # until the guest is gone from IPv4, and answers over IPv6
		! timeout 1 bash -c 'exec 3<>/dev/tcp/10.78.0.2/7472' 2>/dev/null && timeout 5 bash -c 'exec 3<>/dev/tcp/fd78::2/7471' 2>/dev/null && break
		[ "$tries" -lt 99 ] || { echo "paths.sh: the guest did not come to be one of IPv6 alone" >&2; exit 4; }
		sleep 0.2
	done
	jq '.address = "fd78::2" | .own_address = "fd78::3" | .control = "[fd78::2]:7471"' "$LAB_PROFILE" >"$folder/path.json"
fi
llp=()
[ "$DUT" != linux-rxe ] || llp=(--llp cm)
status=0
"${inside[@]}" "$WARPCHECK" run --dut "$folder/path.json" "${llp[@]}" "$@" || status=$?
exit "$status"
