#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# interop.sh -o DIR [warpcheck interop's options]: libiwarp and Linux siw of several kernels, each with each other one and with
# itself, in one grid (docs/interop.md). Two guests of each series of SERIES ('6.1 6.12'), all on one bridge in a namespace of its own,
# each with warpcheck-agent; the images are built where they are not there. Needs root, or user namespaces, and QEMU. The exit
# status is that of `warpcheck interop`; a guest that does not come up is 4, with the end of its console. LAB_FIXED as in run.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
# shellcheck source=conformance/labs/linux/apart.bash
source "$here/apart.bash"
: "${WARPCHECK:=$root/build/warpcheck}" "${BOOT_SECONDS:=240}" "${QEMU:=qemu-system-x86_64}" "${QEMU_ACCEL:=tcg}" "${SERIES:=6.1 6.12}"
: "${LAB_FIXED:=rev=2,enhanced=yes,markers=no,crc=no,p2p=no,rtr=write+read,terminate_swapped=yes}"

complain() {
	echo "interop.sh: $1" >&2
	exit 4
}

if [ "${LAB_INSIDE:-}" != 1 ]; then
	images=()
	for series in $SERIES; do
		image=$("$here/build-image.sh" "$series") || complain "the image of $series could not be built (see above)"
		images+=("${image##*$'\n'}")
	done
	export LAB_INSIDE=1 LAB_IMAGES="${images[*]}" SERIES WARPCHECK
	status=0
	apart "${BASH_SOURCE[0]}" "$@" || status=$?
	exit "$status"
fi

work=$LAB_WORK
command -v "$QEMU" >/dev/null || complain "$QEMU cannot be run (tools/deps.sh lab)"
[ -w /dev/net/tun ] || complain "/dev/net/tun cannot be opened: no tap device for the guests"
{
	ip link set lo up
	ip link add br0 type bridge
	echo 1 >/proc/sys/net/ipv6/conf/br0/disable_ipv6
	ip link set br0 up
	ip addr add 10.78.0.1/24 dev br0
} 2>"$work/error" || complain "the bridge could not be made: $(tail -n 1 "$work/error")"
head -c 24 /dev/urandom | base64 -w0 >"$work/token"

# boot NUMBER IMAGE: the guest 10.78.0.NUMBER. cx16 and event_idx: see run.sh.
boot() {
	ip tuntap add dev "tap$1" mode tap
	ethtool -K "tap$1" tso off gso off gro off
	ip link set "tap$1" master br0
	ip link set "tap$1" up
	setsid "$QEMU" -accel "$QEMU_ACCEL" -cpu qemu64,cx16=off -m 512 -smp 1 -display none -monitor none -serial file:"$work/$1.txt" -no-reboot \
		-kernel "$2/vmlinuz" -initrd "$2/initrd.gz" \
		-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic ip4=10.78.0.$1 ip6=fd78::$1 run=$(printf 'echo %s >/token; warpcheck-agent --address :: --token /token --fixed %s >/dev/ttyS0 2>&1' "$(cat "$work/token")" "$LAB_FIXED" | base64 -w0)" \
		-netdev tap,id=n0,ifname="tap$1",script=no,downscript=no \
		-device virtio-net-pci,netdev=n0,mac="52:54:00:78:00:0$1",guest_tso4=off,guest_tso6=off,host_tso4=off,host_tso6=off,gso=off,csum=off,guest_csum=off,mrg_rxbuf=off,event_idx=off \
		</dev/null >"$work/$1.qemu" 2>&1 &
	machines[$1]=$!
}

# ready NUMBER: waits until its agent listens.
ready() {
	local tries
	for ((tries = 0; tries < BOOT_SECONDS * 5; tries++)); do
		grep -q 'READY device=' "$work/$1.txt" 2>/dev/null && return
		kill -0 "${machines[$1]}" 2>/dev/null || break
		sleep 0.2
	done
	tail -n 15 "$work/$1.txt" "$work/$1.qemu" 2>/dev/null | tr -d '\r' | sed 's/^/console: /' >&2
	complain "the guest $1 did not come up"
}

# What is known of siw is in its profile: capabilities, what a guest may not survive, which outcomes are held back.
profile() { # NUMBER SERIES
	sed -e "s/@ADDRESS@/10.78.0.$1/; s/@OWN@/10.78.0.9/; s/@NAME@/linux-siw-$2/; s/@DUT@/linux-siw/; s/\"@BESIDE@\"//; s,@TOKEN@,$work/token,
		s/10\.78\.0\.2:7471/10.78.0.$1:7471/; s/\"tap0\"/\"br0\"/; s/@LLP@/tcp/
		s/^{$/{ \"vendor\": \"Linux\", \"product\": \"siw, software iWARP\", \"driver\": \"$(uname_of "$2")\",/" "$here/linux-siw.json.in" >"$work/$1.json"
}

# The kernel, as its image says: "6.1.0-56-amd64 (6.1.192-1)".
uname_of() { cat "$(image_of "$1")/version" 2>/dev/null || echo "kernel $1"; }
image_of() {
	local series at=0
	for series in $SERIES; do
		[ "$series" != "$1" ] || echo "${images[$at]}"
		at=$((at + 1))
	done
}

declare -A machines
read -ra images <<<"$LAB_IMAGES"
number=2 devices=(libiwarp)
for series in $SERIES; do
	for twice in first second; do
		boot "$number" "$(image_of "$series")"
		profile "$number" "$series"
		[ "$twice" = second ] || devices+=("siw-$series=$work/$number.json")
		[ "$twice" = first ] || devices[-1]+=",$work/$number.json"
		number=$((number + 1))
	done
done
for ((guest = 2; guest < number; guest++)); do ready "$guest"; done
status=0
"$WARPCHECK" interop --seconds "${INTEROP_SECONDS:-30}" "$@" "${devices[@]}" || status=$?
for ((guest = 2; guest < number; guest++)); do
	if ! kill -0 "${machines[$guest]}" 2>/dev/null; then
		tr -d '\r' <"$work/$guest.txt" | tail -n 40 | sed 's/^/console: /' >&2
		echo "interop.sh: the guest $guest died" >&2
		[ "$status" -ne 0 ] || status=4
	fi
done
exit "$status"
