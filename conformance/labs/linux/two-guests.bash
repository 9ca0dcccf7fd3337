# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For scripts that capture what two guests say to each other, on the bridge between them: everything lives in namespaces that
# end with the script. The script sources this with LAB and LAB_MODULES set (see build-image.sh), its own folder argument
# first; then $work, $OUT and $LAB_IMAGE are there, and so is the bridge. Needs root, QEMU and dumpcap.
: "${SECONDS_MAX:=240}" "${QEMU_ACCEL:=tcg}" "${SERIES:=6.1}"

if [ "${LAB_INSIDE:-}" != 1 ]; then
	out=${1:?which folder for the captures?}
	mkdir -p "$out"
	out=$(cd "$out" && pwd)
	export LAB LAB_MODULES
	image=$("$(dirname "${BASH_SOURCE[0]}")/build-image.sh" "$SERIES")
	export LAB_INSIDE=1 LAB_IMAGE=${image##*$'\n'} OUT=$out
	# shellcheck source=conformance/labs/linux/apart.bash
	source "$(dirname "${BASH_SOURCE[0]}")/apart.bash"
	status=0
	apart "$0" || status=$?
	exit "$status"
fi

work=$LAB_WORK
ip link set lo up
ip link add br0 type bridge
ip link set br0 up
for side in server client; do
	ip tuntap add dev "$side" mode tap
	ip link set "$side" master br0
	ip link set "$side" up
done

boot() { # SIDE ADDRESS INITRD COMMANDS
	setsid qemu-system-x86_64 -accel "$QEMU_ACCEL" -cpu qemu64,cx16=off -m 512 -smp 1 -display none -monitor none -serial file:"$work/$1.txt" -no-reboot \
		-kernel "$LAB_IMAGE/vmlinuz" -initrd "$3" \
		-append "console=ttyS0 quiet panic=-1 ip4=10.78.0.$2 ip6=fd78::$2 run=$(printf '%s' "$4" | base64 -w0)" \
		-netdev tap,id=n0,ifname="$1",script=no,downscript=no \
		-device virtio-net-pci,netdev=n0,mac=52:54:00:78:00:0"$2",guest_tso4=off,guest_tso6=off,host_tso4=off,host_tso6=off,gso=off,mrg_rxbuf=off,event_idx=off \
		</dev/null >"$work/$1.qemu" 2>&1 &
}

# capture INITRD SERVER CLIENT: boots both with these commands; $work/all.pcap holds all until the client says FINISHED.
# Their consoles are kept in $OUT.
capture() {
	local dumpcap tries
	dumpcap -q -i br0 -P -w "$work/all.pcap" >/dev/null 2>&1 &
	dumpcap=$!
	boot server 2 "$1" "$2"
	boot client 4 "$1" "$3"
	for ((tries = 0; tries < SECONDS_MAX * 2; tries++)); do
		grep -q FINISHED "$work/client.txt" 2>/dev/null && break
		sleep 0.5
	done
	sleep 1
	kill "$dumpcap"
	wait "$dumpcap" 2>/dev/null || true
	cp "$work"/{server,client}.txt "$OUT/"
	grep -q FINISHED "$work/client.txt" || { echo "${0##*/}: the client did not come to its end; see $OUT/client.txt" >&2; exit 1; }
}
