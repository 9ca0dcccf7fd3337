#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The lab (conformance/peers/linux): where QEMU is installed, Linux siw boots, is judged on a few requirements, and leaves
# nothing behind; a guest that cannot boot is INCONCLUSIVE. Without QEMU or a tap device: a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

skip() {
	echo "the lab needs $1"
	exit 77
}
command -v qemu-system-x86_64 >/dev/null || skip "qemu-system-x86_64 (tools/deps.sh lab)"
[ -w /dev/net/tun ] || skip "/dev/net/tun"
[ -d /usr/src/linux-headers-"$(apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: linux-image-//p' | head -n 1)" ] ||
	skip "the headers of Debian's kernel (tools/deps.sh lab-6.1)"

export WARPCHECK_PEERS=$PWD/conformance/peers
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
expect 4 "a guest that does not come up" env LAB_READY=never BOOT_SECONDS=1 "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-17'
complains "INCONCLUSIVE: the guest did not come up within 1 s"
expect 1 "Linux siw, the R bit of a Request" "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-02' 'MPA-7.1.1-17' --all -o "$WORK/siw"
says "^PASS  MPA-7.1.1-02"
says "^FAIL  MPA-7.1.1-17"
holds "the console is kept" grep -q READY "$WORK/siw/console.txt"
finish
