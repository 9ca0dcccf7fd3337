#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# bridge.sh A B [warpcheck bridge's options]: two devices with `warpcheck bridge` as the only link between them (docs/bridge.md): each of A and B is
# siw-6.1 or siw-6.12, a guest with Linux siw, sctp-6.1 or sctp-6.12, a guest with iwarp-peer above the kernel's SCTP, or libiwarp on this
# machine: over TCP, or, against such a guest, over libusrsctp in UDP. Their upper testers are on a network of their own and make the traffic; without
# --suite or --script nothing is impaired. Everything is in namespaces that end with the script. Needs root, or user namespaces, and QEMU. The
# exit status is that of `warpcheck bridge`; a device that does not come up, and a guest whose kernel complains or ends, is 4 unless it is
# 1, with the end of its console. With -o DIR the consoles are kept there. LAB_FIXED as in run.sh, IWARP_PEER as in run-sctp.sh. LAB_UDP=PORT: the
# guests' SCTP goes in UDP (RFC 6951) between two of them, too, and with that port.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=conformance/labs/linux/apart.bash
source "$here/apart.bash"
# shellcheck source=conformance/labs/linux/kernel.bash
source "$here/kernel.bash"
# shellcheck source=conformance/labs/linux/host.bash
source "$here/host.bash"
: "${WARPCHECK:=$root/build/warpcheck}" "${BOOT_SECONDS:=240}" "${QEMU:=qemu-system-x86_64}" "${QEMU_ACCEL:=tcg}" "${LAB_FIXED:=$siw_fixed}"
devices='siw-6.1, siw-6.12, sctp-6.1, sctp-6.12 or libiwarp'

complain() {
	echo "bridge.sh: $1" >&2
	exit 4
}

if [ "${LAB_INSIDE:-}" != 1 ]; then
	[ $# -ge 2 ] || { echo "usage: bridge.sh A B [warpcheck bridge's options]; A and B are $devices" >&2; exit 2; }
	case $1/$2 in
	siw-*/sctp-* | sctp-*/siw-*) echo "bridge.sh: $1 and $2 cannot speak to each other: siw has no SCTP" >&2; exit 2 ;;
	esac
	images=()
	for device in "$1" "$2"; do
		peer=''
		case $device in
		libiwarp) images+=('') && continue ;;
		siw-6.*) ;;
		sctp-6.*)
			peer=${IWARP_PEER:-${B:-$root/build}/iwarp-peer}
			[ -x "$peer" ] || complain "$peer cannot be run: IWARP_PEER names another"
			;;
		*) echo "bridge.sh: unknown device '$device': expected $devices" >&2; exit 2 ;;
		esac
		command -v "$QEMU" >/dev/null || complain "$QEMU cannot be run (tools/deps.sh lab)"
		image=$(LAB_PEER=$peer "$here/build-image.sh" "${device#*-}") || complain "the image of $device could not be built (see above)"
		images+=("${image##*$'\n'}")
	done
	export LAB_INSIDE=1 LAB_IMAGE_A=${images[0]} LAB_IMAGE_B=${images[1]} WARPCHECK
	status=0
	apart "${BASH_SOURCE[0]}" "$@" || status=$?
	exit "$status"
fi

declare -A names=([a]=$1 [b]=$2)
shift 2
udp=${LAB_UDP:-}
[[ "${names[*]}" != *libiwarp* ]] || : "${udp:=9899}" # libusrsctp's way
output='' previous=''
for option in "$@"; do
	[ "$previous" != -o ] || output=$option
	previous=$option
done
work=$LAB_WORK
{
	ip link set lo up
	ip link add name control0 type bridge
	echo 1 >/proc/sys/net/ipv6/conf/control0/disable_ipv6
	ip link set control0 up
	ip addr add 10.79.0.1/24 dev control0
} 2>"$work/error" || complain "the network of the upper testers could not be made: $(tail -n 1 "$work/error")"
head -c 24 /dev/urandom | base64 -w0 >"$work/token"

# A tap device without addresses; what it carries is as it would cross a wire.
tap() {
	{
		ip tuntap add dev "$1" mode tap
		echo 1 >"/proc/sys/net/ipv6/conf/$1/disable_ipv6"
		ethtool -K "$1" tso off gso off gro off
		ip link set "$1" up
	} 2>"$work/error" || complain "the tap device $1 could not be made: $(tail -n 1 "$work/error")"
}

# guest SIDE NUMBER IMAGE: 10.78.0.NUMBER on the link, which is the interface link-SIDE, and 10.79.0.NUMBER for its upper tester. cx16 and event_idx: see run.sh.
guest() {
	local upper
	case ${names[$1]} in
	siw-*)
		upper="warpcheck-agent --address 10.79.0.$2 --token /token --fixed $LAB_FIXED"
		ready[$1]='READY device='
		;;
	sctp-*)
		upper="iwarp-peer --llp sctp --sctp-stack kernel --bind 10.78.0.$2${udp:+ --peer-udp-port $udp} --control 10.79.0.$2:7471 --control-token /token"
		upper="${udp:+sysctl -w net.sctp.udp_port=$udp; }$upper"
		ready[$1]='^READY.* control='
		;;
	esac
	tap "link-$1"
	tap "agent-$1"
	ip link set "agent-$1" master control0
	local offloads=guest_tso4=off,guest_tso6=off,host_tso4=off,host_tso6=off,gso=off,csum=off,guest_csum=off,mrg_rxbuf=off,event_idx=off
	setsid "$QEMU" -accel "$QEMU_ACCEL" -cpu qemu64,cx16=off -m 512 -smp 1 -display none -monitor none -serial file:"$work/$1.txt" -no-reboot \
		-kernel "${LAB_KERNEL:-$3/vmlinuz}" -initrd "$3/initrd.gz" \
		-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic ip4=10.78.0.$2 ip6=fd78::$2 run=$(printf 'ip link set eth1 up; ip addr add 10.79.0.%d/24 dev eth1; echo %s >/token; %s >/dev/ttyS0 2>&1' "$2" "$(cat "$work/token")" "$upper" | base64 -w0)" \
		-netdev tap,id=n0,ifname="link-$1",script=no,downscript=no -device virtio-net-pci,netdev=n0,mac="52:54:00:78:00:0$2",$offloads \
		-netdev tap,id=n1,ifname="agent-$1",script=no,downscript=no -device virtio-net-pci,netdev=n1,mac="52:54:00:79:00:0$2",$offloads \
		</dev/null >"$work/$1.qemu" 2>&1 &
	machines[$1]=$!
}

# stack SIDE NUMBER: the same of the reference stack, in a network of its own.
stack() {
	local below=()
	[[ "${names[*]}" != *sctp-* ]] || below=(--llp sctp --bind "10.78.0.$2" --udp-port "$udp" --peer-udp-port "$udp")
	unshare -n bash -c 'echo THERE; exec sleep infinity' >"$work/$1.network" &
	local network=$!
	until grep -q THERE "$work/$1.network"; do
		kill -0 "$network" 2>/dev/null || complain "no network for the reference stack"
		sleep 0.05
	done
	{
		ip link add name "link-$1" type veth peer name device0 netns "$network"
		ip link add name "agent-$1" type veth peer name agent0 netns "$network"
		echo 1 >"/proc/sys/net/ipv6/conf/link-$1/disable_ipv6"
		ip link set "link-$1" up
		ip link set "agent-$1" master control0 up
		nsenter --net="/proc/$network/ns/net" bash -ec "ip link set lo up; ip addr add 10.78.0.$2/24 dev device0; ip link set device0 up
			ip addr add 10.79.0.$2/24 dev agent0; ip link set agent0 up"
	} 2>"$work/error" || complain "the network of the reference stack could not be made: $(tail -n 1 "$work/error")"
	nsenter --net="/proc/$network/ns/net" "$WARPCHECK" peer "${below[@]}" --control "10.79.0.$2:7471" --control-token "$work/token" >"$work/$1.txt" 2>&1 </dev/null &
	machines[$1]=$!
	ready[$1]='^READY.* control='
}

show_console() { # SIDE
	tail -n "${2:-20}" "$work/$1.txt" "$work/$1.qemu" 2>/dev/null | tr -d '\r' | sed 's/^/console: /' >&2
}

declare -A machines ready
for side in a:2 b:3; do
	image=LAB_IMAGE_${side%:*}
	image=${image^^}
	if [ "${names[${side%:*}]}" = libiwarp ]; then stack "${side%:*}" "${side#*:}"; else guest "${side%:*}" "${side#*:}" "${!image}"; fi
done
for side in a b; do
	for ((tries = 0; ; tries++)); do
		! grep -q "${ready[$side]}" "$work/$side.txt" 2>/dev/null || break
		if ! kill -0 "${machines[$side]}" 2>/dev/null || [ "$tries" -ge $((BOOT_SECONDS * 5)) ]; then
			show_console "$side"
			complain "INCONCLUSIVE: the device at ${side^^} did not come up"
		fi
		sleep 0.2
	done
done
status=0
"$WARPCHECK" bridge link-a link-b --upper-tester-a 10.79.0.2:7471 --upper-tester-b 10.79.0.3:7471 --upper-tester-token "$work/token" \
	--address-b 10.78.0.3 "$@" || status=$?
for side in a b; do
	[ -z "$output" ] || [ ! -d "$output" ] || tr -d '\r' <"$work/$side.txt" >"$output/console-$side.txt"
	if ! kill -0 "${machines[$side]}" 2>/dev/null; then
		show_console "$side" 40
		echo "bridge.sh: the device at ${side^^} ended during the run" >&2
	elif grep -qaE "$complaints" "$work/$side.txt"; then
		show_console "$side" 40
		echo "bridge.sh: the kernel of the device at ${side^^} complains" >&2
	else
		continue
	fi
	[ "$status" -eq 1 ] || status=4
done
exit "$status"
