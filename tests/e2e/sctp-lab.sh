#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel's SCTP below libiwarp, in the lab's guest (conformance/labs/linux/run-sctp.sh): it is judged on a few requirements in both
# roles, over SCTP in IP packets, and exchanges data with libiwarp over libusrsctp, over a wire that loses and reorders packets. Where
# there is no QEMU, no tap device or no SCTP in user space: a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip

export WARPCHECK_LABS=$PWD/conformance/labs
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
ids=(SCTP5043-8-01 SCTP5043-6.6-01 SCTP5043-10-03 RDMAP-5.2.1-20 RDMAP-B-04) # the last reads 4 MiB at once
expect 0 "Linux SCTP below libiwarp conforms" "$WARPCHECK" run --dut linux-sctp "${ids[@]}" -o "$WORK/sctp"
holds "in both roles" jq -se '[.[] | select(.type == "result" and .verdict == "PASS") | .role] | unique == ["initiator", "responder"]' \
	"$WORK/sctp/results.jsonl"
holds "and the console is kept" grep -q 'READY listen=5043' "$WORK/sctp/console.txt"
expect 0 "so does that of a tree, here what the kernel's package has" "$WARPCHECK" run --dut linux-sctp --kernel-tree "${LAB:-$B/lab}/6.1/kernel" "${ids[0]}" -o "$WORK/tree"

expect 4 "no iwarp-peer for the guest" env IWARP_PEER=/nowhere/iwarp-peer "$WARPCHECK" run --dut linux-sctp "${ids[0]}"
complains '/nowhere/iwarp-peer cannot be run'

# The control socket cannot be made: the peer ends, whatever its build has.
"$IWARP_PEER" --llp sctp --udp-port 0 --bind 127.0.0.1 --control "$WORK/no/socket" >/dev/null 2>"$WORK/user" || true
if grep -q 'libusrsctp is not part of this build' "$WORK/user"; then
	cat "$WORK/user"
	finish
	exit
fi
expect 0 "libusrsctp and the kernel exchange data over a bad wire" env PROFILES=rfc5043 WIRES=bad conformance/labs/sctp/exchange.sh
says "^contents and order are the same on both sides"
says "packets were lost"
finish
