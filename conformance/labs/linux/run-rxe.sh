#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run-rxe.sh [--series 6.1|6.12] [warpcheck run's options]: judges the RDMA IP CM Service (IBTA Annex A11) of Linux, as rdma_cm and ib_cm
# have it, above rxe: the guest, namespace and exit status of run.sh, with another device on the same NIC. `warpcheck run --dut
# linux-rxe` comes here. Checks of the CM are all that can be run, so --llp cm need not be given. With CM_PATCH=FILE the kernel's
# ib_cm and rdma_cm are built with that patch (build-image.sh).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${LAB:=${B:-$root/build}/lab-rxe}"
export LAB LAB_DEVICE=linux-rxe LAB_MODULES='crc32_generic rdma_rxe'
: "${LAB_GUEST:=rdma link del siw0; rdma link add rxe0 type rxe netdev eth0; rdma link
nc -ll -p 7472 -e /bin/sh &
\$AGENT >/dev/ttyS0 2>&1; echo "init: the agent ended"}"
export LAB_GUEST

options=()
llp=(--llp cm)
for option in "$@"; do
	[ "$option" != --llp ] || llp=()
	options+=("$option")
done
exec "$here/run.sh" "${options[@]}" "${llp[@]}"
