#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# cable.bash FILE COMMAND...: for tools/chaos.sh, in a network of its own (unshare -rn). Makes two cables, a0 to far-a and b0 to far-b, and sends
# the frames of FILE when COMMAND waits for them: with "bridge" among its words what its first sender has sent at far-a, and the rest at far-b,
# each frame when the one before has crossed the bridge; otherwise all at far-a. Ends with COMMAND, and with its exit status.
set -u
file=$1
shift
sender=''
trap '[ -z "$sender" ] || kill -KILL "$sender" 2>/dev/null' EXIT
for side in a b; do
	ip link add "${side}0" mtu 9500 type veth peer name "far-${side}" mtu 9500 || exit 99
	for interface in "${side}0" "far-${side}"; do
		echo 1 >"/proc/sys/net/ipv6/conf/$interface/disable_ipv6" # nothing but what is sent here
		ip link set "$interface" up || exit 99
	done
done
far="far-a"
[[ " $* " != *' bridge '* ]] || far="far-a,far-b"
"$@" &
command=$!
# A line that says so might be what cannot be written.
until [[ $(cat "/proc/$command/wchan" 2>/dev/null) = *poll* ]]; do
	kill -0 "$command" 2>/dev/null || break
	sleep 0.01
done
python3 "$(dirname "${BASH_SOURCE[0]}")/../e2e/replay.py" "$far" "$file" &
sender=$!
status=0
wait "$command" 2>/dev/null || status=$?
exit "$status"
