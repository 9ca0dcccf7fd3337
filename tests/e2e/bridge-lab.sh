#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck bridge between Linux siw in the lab's guest and libiwarp (conformance/labs/linux/bridge.sh), both ways: contents come as they went; what TCP does to
# FPDUs siw survives; libiwarp fails nothing, whatever is done to what siw sends; what is known of siw is seen, and nothing else. The same above the
# kernel's SCTP, between two guests, and with libusrsctp at either end, where nothing fails. A device that does not come up is INCONCLUSIVE. Where there is no QEMU or no tap device: a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
bridge=conformance/labs/linux/bridge.sh

expect 2 "a device that is none" "$bridge" siw-5.4 libiwarp
complains "unknown device 'siw-5.4': expected siw-6.1, siw-6.12, sctp-6.1, sctp-6.12 or libiwarp"
expect 2 "siw has no SCTP" "$bridge" sctp-6.1 siw-6.1
complains 'sctp-6.1 and siw-6.1 cannot speak to each other: siw has no SCTP'
expect 4 "no iwarp-peer for the guest" env IWARP_PEER=/nowhere/iwarp-peer "$bridge" libiwarp sctp-6.1
complains '/nowhere/iwarp-peer cannot be run'
expect 4 "a guest that cannot boot" env LAB_KERNEL=/bin/true BOOT_SECONDS=20 "$bridge" siw-6.1 libiwarp
complains 'INCONCLUSIVE: the device at A did not come up'
# Ended from outside while a guest boots, which this one never does: neither processes nor folders are left.
printf '#!/bin/sh\necho >"%s/stands.here"\nsleep 600\n' "$WORK" >"$WORK/stands"
chmod +x "$WORK/stands"
mkdir -p "$WORK/temporary"
stands() { [ -e "$WORK/stands.here" ]; }
gone() { [ -z "$(ls "$WORK/temporary")" ] && ! grep -qsaF "$WORK/stands" /proc/[0-9]*/cmdline; }
ended() {
	local status=0 run
	env TMPDIR="$WORK/temporary" BOOT_SECONDS=600 QEMU="$WORK/stands" "$bridge" siw-6.1 libiwarp >"$WORK/ended.txt" 2>&1 </dev/null &
	run=$!
	eventually "$run" stands || return 1
	kill -TERM "$run"
	wait "$run" || status=$?
	[ "$status" -eq 143 ] && eventually $$ gone
}
holds "a bridge that is ended while a guest boots: nothing is left" ended
expect 4 "no QEMU" env QEMU=/nowhere/qemu "$bridge" libiwarp siw-6.1
complains '/nowhere/qemu cannot be run'

# Findings of rules and checks, without the requirements of `known`. The role is that of the device: A is the initiator.
# shellcheck disable=SC2016 # programs of jq
{
	others='map(select(.type == "result" and .verdict == "FAIL") | .id) | unique - $known'
	passes='map(select(.type == "result" and (.id | startswith($prefix)) and .verdict == "PASS")) | length'
}
# Each impairment has a connection of its own, and each of them was made.
made() {
	streams=$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/stdout")
	says "^$streams of $streams connections were made, and contents compared at both ends$"
}
expect 1 "libiwarp receives what is impaired" "$bridge" siw-6.1 libiwarp --suite impairments -o "$WORK/receives"
made
holds "it does what the texts have" jq -es --argjson known '["MPA-4.1-03"]' "$others == []" "$WORK/receives/results.jsonl" # siw's pad (finding 5)
holds "contents are as they went" jq -es --arg prefix CONTENTS- "$passes == $streams" "$WORK/receives/results.jsonl"
holds "each impairment has its verdict" jq -es --arg prefix IMPAIRMENT- "$passes == $streams" "$WORK/receives/results.jsonl"
holds "a console is kept" grep -q 'READY device=' "$WORK/receives/console-a.txt"

expect 1 "siw receives what is impaired" "$bridge" libiwarp siw-6.1 --suite impairments -o "$WORK/siw"
made
for name in send-delayed send-stalled cut-in-header cut-in-crc send-joined send-lost request-lost; do
	says "^PASS  $name: the stream went on, and ended in order$"
done
says "^FAIL  contents of stream [0-9]+, write-corrupted: the RDMA Write put other octets into B's memory than A gave$" # finding 7
holds "all other contents are as they went" jq -es --arg prefix CONTENTS- "$passes == $((streams - 1))" "$WORK/siw/results.jsonl"
says '^FAIL  RDMAP-4.8-02  responder' # finding 1; impairments read its Terminates as they are meant:
says '^PASS  qn-unknown: Terminate DDP / Untagged Buffer Error / Invalid QN \(0x1201\)$'
says '^PASS  payload-corrupted: Terminate LLP \(MPA\) / MPA Error / MPA CRC Error \(0x2002\)$'
holds "impairments fail by finding 7 alone" jq -es 'map(select(.type == "result" and (.id | startswith("IMPAIRMENT-")) and .verdict == "FAIL") | .id) | sort
	== ["IMPAIRMENT-field-edited-crc-kept", "IMPAIRMENT-header-corrupted"]' "$WORK/siw/results.jsonl"

# over_sctp NAME A B: both devices are judged, and each impairment and all contents are right.
over_sctp() {
	expect 0 "$1" "$bridge" "$2" "$3" --suite impairments-sctp -o "$WORK/$2-$3"
	made
	for prefix in CONTENTS- IMPAIRMENT-; do
		holds "$1: each has passed" jq -es --arg prefix "$prefix" "$passes == $streams" "$WORK/$2-$3/results.jsonl"
	done
	# shellcheck disable=SC2016 # a program of jq
	holds "$1: both devices are judged" jq -es '[.[] | select(.by == "rule" and .verdict == "PASS" and .role) | [.role, .file]] | unique == [["initiator", "link-a"], ["responder", "link-b"]]' \
		"$WORK/$2-$3/results.jsonl"
}
over_sctp "the SCTP of two kernels" sctp-6.1 sctp-6.1
"$IWARP_PEER" --llp sctp --udp-port 0 --bind 127.0.0.1 --control "$WORK/no/socket" >/dev/null 2>"$WORK/user" || true
if grep -q 'libusrsctp is not part of this build' "$WORK/user"; then
	cat "$WORK/user"
else
	over_sctp "libusrsctp and the kernel's" libiwarp sctp-6.1
	over_sctp "the kernel's and libusrsctp" sctp-6.1 libiwarp
fi
finish
