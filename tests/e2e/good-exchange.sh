#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The good exchange that a profile prefers stands around each check, in place of the least that the device serves; one that is none
# is refused. The device is iwarp-peer in namespaces of the run's own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
stands peer "$IWARP_PEER" --control 7471
judged --dut "$1" DDP-7.1-01 --role responder --evidence all -o "$2"
INSIDE
export WORK WARPCHECK IWARP_PEER

# prefers EXCHANGE SEEN NOT-SEEN: the messages of the check's own capture; what is learned before it is in another.
prefers() {
	local name=${1// /-} shown
	jq -n --arg exchange "$1" '{ address: "10.99.0.2", own_address: "10.99.0.3", interface: "tester0", port: 9999,
		control: "127.0.0.1:7471" } + if $exchange == "" then {} else { good_exchange: $exchange } end' >"$WORK/$name.json"
	lines=any expect 0 "a run that prefers '$1'" unshare -rn bash "$WORK/inside.sh" "$WORK/$name.json" "$WORK/out-$name"
	shown=$("$WARPCHECK" dump "$WORK/out-$name/evidence/DDP-7.1-01-responder.pcapng")
	holds "'$1': $2" grep -q "$2" <<<"$shown"
	holds "'$1': no $3" sh -c '! grep -q "$0" <<-E
		$1
	E' "$3" "$shown"
}
prefers "" "RDMA Read Request .* size 0 " "size 8 "
prefers "empty read" "RDMA Read Request .* size 0 " "size 8 "
prefers "read" "RDMA Read Request .* size 8 " "size 0 "
prefers "send to" ">10.99.0.2:[0-9]*  Send qn 0 msn 1 mo 0 L len 6" "size 0 "

jq '.good_exchange = "reed"' "$WORK/read.json" >"$WORK/wrong.json"
expect 2 "an exchange that is none" "$WARPCHECK" run --dut "$WORK/wrong.json" DDP-7.1-01
holds "the nearest is named: $(cat "$WORK/stderr")" grep -q '"good_exchange" is "reed", did you mean "read"?' "$WORK/stderr"

# The memory that a fence reads is gone where a check has the device start again: it gets another.
expect 0 "a device that answers no empty Read, started again by a check" "$WARPCHECK" run --simulate --defect ddp-empty-response-suppressed RDMAP-8.1.1-11
finish
