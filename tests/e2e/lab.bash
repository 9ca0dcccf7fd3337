# SPDX-License-Identifier: BSD-2-Clause
#
# What the scripts that boot a virtual machine share; to be sourced from the tree's root.
#
#   lab_or_skip   ends the script with 77 and a reason where no virtual machine can be made here; else the image is there
#                 behind it, however long its packages took to come

lab_skip() {
	echo "the lab needs $1"
	exit 77
}

lab_or_skip() {
	local kernel
	command -v qemu-system-x86_64 >/dev/null || lab_skip "qemu-system-x86_64 (tools/deps.sh lab)"
	command -v ethtool >/dev/null || lab_skip "ethtool (tools/deps.sh lab)"
	[ -w /dev/net/tun ] || lab_skip "/dev/net/tun"
	kernel=$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: linux-image-//p' | sed -n 1p)
	[ -d "/usr/src/linux-headers-${kernel:-none}" ] ||
		lab_skip "the headers of Debian's kernel (tools/deps.sh lab-6.1)"
	conformance/labs/linux/build-image.sh 6.1 >"$WORK/image" 2>&1 || {
		tail -n 20 "$WORK/image"
		echo "WRONG the lab's image could not be built"
		exit 1
	}
}
