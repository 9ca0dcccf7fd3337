#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ESP in the tester's kernel, and in the device's, without UDP (docs/ipsec.md): this machine's kernel need not have it, so that e2e/ipsec
# runs in the lab's (conformance/labs/linux/inside.sh). Its faults are those that only the kernel's ESP can be configured to have.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip
for program in charon-systemd swanctl pki ss; do
	PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || { echo "$program is not installed (tools/deps.sh ipsec): nothing was tested"; exit 77; }
done

inside=conformance/labs/linux/inside.sh
# shellcheck disable=SC2034 # expect.bash looks at them
lines=any passes=any
expect 1 "the lab's kernel runs a command of this machine" "$inside" bash -c 'uname -r; pwd; exit 1'
says "^$PWD$"
holds "it is another kernel" test "$(uname -r)" != "$(head -n 1 "$WORK/stdout")"
expect 125 "a guest that does not come up" env QEMU=/bin/false "$inside" true
complains 'the guest ended before the command did'
expect 0 "the rows of IPsec inside the lab's kernel" "$inside" env WARPCHECK="$WARPCHECK" IWARP_PEER="$IWARP_PEER" MAKER=kernel bash tests/e2e/ipsec.sh
cat "$WORK/stdout"
says '^ok    no-replay-window$'
finish
