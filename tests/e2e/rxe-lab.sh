#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# rxe in the lab: behind a router, and in a guest of IPv6 alone (paths.sh), it is judged as on the link itself; and a fault in the kernel's CM
# has a program (report --reproducer c) that ends with 1 there, and with 0 at the kernel's own CM. Where there is no QEMU or no tap device:
# a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip

labs=$PWD/conformance/labs/linux id=oA11-1
export WARPCHECK_LABS=$PWD/conformance/labs
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
expect 2 "a path that there is not" "$labs/paths.sh" nowhere
complains '^usage: paths\.sh router\|ipv6-only'
# between FIELD: the addresses of the tester's frames and the device's, which the captures of the run have.
between() { tshark -r "$WORK/$1/evidence/$id.pcapng" -Y 'udp.port == 4791' -T fields -e "$2.src" 2>/dev/null | sort -u | paste -sd ' '; }
expect 0 "behind a router" "$labs/paths.sh" router "$id" --evidence all -o "$WORK/router"
holds "it passes" jq -es --arg id "$id" 'any(.[]; .type == "result" and .id == $id and .verdict == "PASS")' "$WORK/router/results.jsonl"
holds "from another network" test "$(between router ip)" = '10.78.0.2 10.79.0.3'
expect 0 "a guest of IPv6 alone" "$labs/paths.sh" ipv6-only "$id" --evidence all -o "$WORK/ipv6-only"
holds "it passes" jq -es --arg id "$id" 'any(.[]; .type == "result" and .id == $id and .verdict == "PASS")' "$WORK/ipv6-only/results.jsonl"
holds "over IPv6" test "$(between ipv6-only ipv6)" = 'fd78::2 fd78::3'

if [ ! -s /usr/src/linux-source-6.1.tar.xz ]; then
	echo "SKIPPED: the kernel's source is missing (tools/deps.sh lab-6.1)"
	finish
	exit
fi
export CM_PATCH=$labs/seeded-rxe/refusal-reason.patch
passes=any
expect 1 "a CM with a fault" "$WARPCHECK" run --dut linux-rxe "$id" --role responder --all -o "$WORK/fault"
passes=none
expect 0 "its program" "$WARPCHECK" report --reproducer c "$id" "$WORK/fault" -o "$WORK/fault.c"
holds "is compiled without a warning" "${cc[@]}" -Wall -Wextra -Werror -o "$WORK/fault.bin" "$WORK/fault.c"
# shellcheck disable=SC2016 # the lab's shell expands it
export LAB_RUN='"$WORK/fault.bin" 10.78.0.1 10.78.0.2 10.78.0.2 7471 "$(cat "$LAB_TOKEN")"; echo "ends with $?"' WORK
expect 0 "it is tried at the fault" "$labs/run-rxe.sh"
says '^ends with 1$'
unset CM_PATCH
expect 0 "it is tried at the kernel's own CM" "$labs/run-rxe.sh"
says '^ends with 0$'
finish
