#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device cannot evade judgement by segments that its peer's TCP does not accept (RFC 9293 3.10.7, RFC 5961): a fault
# behind them is found as without them, and where nobody knows what the peer accepted, the capture does not conform.
# capture_evade.c puts them in front of the frame that carries the fault.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
"${cc[@]}" -std=gnu17 -O1 -o "$WORK/evade" tests/e2e/capture_evade.c
lines=any passes=any

# fails CAPTURE: which requirements the audit's results fail.
fails() { jq -r 'select(.verdict == "FAIL") | .id' "$WORK/stdout" | LC_ALL=C sort -u; }

while read -r capture frame; do
	expect 1 "$capture as it is" "$WARPCHECK" audit --format jsonl "pcaps/generated/$capture.pcap"
	fails >"$WORK/fails"
	for attack in syn ahead ack no-ack reset fin; do
		"$WORK/evade" "$attack" "$frame" "pcaps/generated/$capture.pcap" "$WORK/$capture-$attack.pcap"
		expect 1 "$capture, $attack" "$WARPCHECK" audit --format jsonl "$WORK/$capture-$attack.pcap"
		holds "$capture, $attack: the same faults" cmp "$WORK/fails" <(fails)
	done
	for attack in sum twice; do
		"$WORK/evade" "$attack" "$frame" "pcaps/generated/$capture.pcap" "$WORK/$capture-$attack.pcap"
		expect "1 4" "$capture, $attack: never exit status 0" "$WARPCHECK" audit --format jsonl "$WORK/$capture-$attack.pcap"
		holds "$capture, $attack: octets that came twice are unjudged" jq -es \
			'map(select(.type == "summary"))[0].account.unjudged | (.conflict.octets // 0) + (.uncompared.octets // 0) > 0' "$WORK/stdout"
	done
	"$WORK/evade" both "$frame" "pcaps/generated/$capture.pcap" "$WORK/$capture-both.pcap"
	expect "1 4" "$capture, both: never exit status 0" "$WARPCHECK" audit --format jsonl "$WORK/$capture-both.pcap"
done <<-'LIST'
	send-at-offset 6
	short-ulpdus 7
	wrong-rtr 6
LIST

echo "== a healthy capture stays one"
for attack in syn ahead ack no-ack reset fin both sum twice; do
	"$WORK/evade" "$attack" 8 pcaps/generated/long-sends.pcap "$WORK/healthy.pcap"
	case $attack in
	sum | twice) status="1 4" ;; # the first copy is judged: its CRC is wrong
	*) status="0 4" ;;
	esac
	expect "$status" "long-sends, $attack" "$WARPCHECK" audit "$WORK/healthy.pcap"
done
finish
