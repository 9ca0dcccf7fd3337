#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arch-guest.sh ROOT OUT: what QEMU's user emulation cannot do (raw sockets, namespaces, filters of system calls, Landlock) in a whole
# QEMU system with Debian's arm64 kernel: the three acts of `make demo`, live, and the unit tests of those. ROOT is the system that
# tools/arch.sh has made, with the arm64 programs in /warpcheck/build/arm64. Logs go to OUT. 0: it holds; 1: it does not; 77: it cannot run here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$1 out=$2
: "${GUEST_SECONDS:=3600}" "${SUITE:=bookworm}"
source tools/suite.bash
tools/deps.sh arch >&2 || exit 77
began=$SECONDS
guest=$(mktemp -d "$root/../guest.XXXXXX")
trap 'rm -rf --one-file-system "$guest"' EXIT
skip() { echo "SKIP  the arm64 guest: $1"; exit 77; }

# The first stage of debootstrap unpacks what every system has; of what else is wanted, and its dependencies, it brings the packages.
debootstrap --foreign --arch=arm64 --variant=minbase --include=iproute2,kmod "$SUITE" "$guest/root" "$MIRROR" >"$out/guest-fresh.log" 2>&1 ||
	skip "$(tail -n 1 "$out/guest-fresh.log")"
for package in "$guest"/root/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$guest/root"; done
rm -rf "$guest"/root/var/cache/apt/archives "$guest"/root/usr/share/{doc,locale,man,zoneinfo} "$guest/root/debootstrap"
kernel=$(suite_inside "$root" apt-cache depends linux-image-arm64:arm64 | awk -F'[ :<]+' '/Depends: linux-image-/ && !n++ { for (i = 1; i <= NF; i++) if ($i ~ /^linux-image-/) print $i }')
[ -n "$kernel" ] || skip "no kernel of $SUITE for arm64"
suite_inside "$root" env -C /tmp apt-get -q -o APT::Sandbox::User=root download "$kernel:arm64" >"$out/guest-kernel.log" 2>&1 || skip "$(tail -n 1 "$out/guest-kernel.log")"
dpkg-deb -x "$root"/tmp/"$kernel"_*.deb "$guest/kernel"
rm -f "$root"/tmp/"$kernel"_*.deb
mkdir -p "$guest/root/modules"
file=$(find "$guest/kernel" -name 'veth.ko*' | sed -n 1p)
[ -z "$file" ] || cp "$file" "$guest/root/modules/"
for file in "$guest"/root/modules/*.xz; do [ ! -e "$file" ] || xz -d "$file"; done

# The tree, the programs, and the libraries that these want.
mkdir -p "$guest/root/warpcheck/build/arm64"
cp -r "$root"/warpcheck/{tools,pcaps,tests,conformance,reference-stack,docs,generator} "$guest/root/warpcheck/"
cp "$root"/warpcheck/build/arm64/{warpcheck,iwarp-peer,unit-tests} "$guest/root/warpcheck/build/arm64/"
for program in warpcheck iwarp-peer unit-tests; do
	suite_inside "$root" qemu-aarch64-static -E LD_TRACE_LOADED_OBJECTS=1 "/warpcheck/build/arm64/$program"
done | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
	mkdir -p "$guest/root${library%/*}"
	cp -L "$root$library" "$guest/root$library"
done
cat >"$guest/root/init" <<'END'
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TZ=UTC
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm && mount -t devpts devpts /dev/pts && mount -t tmpfs tmpfs /dev/shm && mount -t tmpfs tmpfs /tmp
for module in /modules/*.ko; do insmod "$module"; done
ip link set lo up
cd /warpcheck
uname -a
build/arm64/warpcheck --version
status=0
B=build/arm64 WARPCHECK=build/arm64/warpcheck bash tools/demo.sh /tmp/demo || status=$?
echo "GUEST demo $status"
for suite in netns link_net confine confine_calls; do
	status=0
	CK_TIMEOUT_MULTIPLIER=20 build/arm64/unit-tests $suite >/tmp/said 2>&1 || status=$?
	[ "$status" -eq 0 ] || cat /tmp/said
	echo "GUEST $suite $status: $(tail -n 1 /tmp/said)"
done
echo "GUEST end"
echo o >/proc/sysrq-trigger
sleep 60
END
chmod +x "$guest/root/init"
(cd "$guest/root" && find . | cpio -o -H newc --quiet) >"$guest/initrd"
log=$out/guest.log
timeout -k 10 "$GUEST_SECONDS" qemu-system-aarch64 -M virt -cpu cortex-a72 -smp 2 -m 3072 -nographic -nic none -no-reboot \
	-kernel "$guest"/kernel/boot/vmlinuz-* -initrd "$guest/initrd" -append 'console=ttyAMA0 rdinit=/init panic=-1 quiet' >"$log" 2>&1 </dev/null ||
	{ echo "WRONG arm64 guest: QEMU ended with $?"; tail -n 20 "$log"; exit 1; }
tr -d '\r' <"$log" >"$log.new" && mv "$log.new" "$log"
result=0
for what in demo netns link_net confine confine_calls; do
	line=$(sed -n "s/^GUEST $what //p" "$log")
	if [[ $line =~ ^0 ]]; then
		echo "ok    arm64 guest: $what ${line#0}"
	else
		result=1
		echo "WRONG arm64 guest: $what: ${line:-it did not come so far}"
	fi
done
[ "$result" -eq 0 ] || tail -n 40 "$log" | sed 's/^/      | /'
echo "      arm64 guest: $(sed -n '/^Linux /{s/.* \(Debian [^ ]*\).*/\1/p;q}' "$log") ($((SECONDS - began)) s with all that it was made of)"
exit "$result"
