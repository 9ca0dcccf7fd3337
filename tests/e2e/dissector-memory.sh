#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin without memory: its decoder's and its rules' allocations fail, one at each place that asks for memory, in
# turns it alone, and it with all that come after it. (The unit suite flow_memory lets each of them fail.) Wireshark goes on:
# every frame is shown, nothing crashes, and no table of ours ends the program.
# shellcheck disable=SC2154 # as_user, plugins, TSHARK: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
source tests/e2e/dissector.bash
cp "$B/chaos.so" "$WORK/"

# shown AT DEED CAPTURE: what tshark shows of the capture, when that allocation fails; its status in $status.
shown() {
	status=0
	rm -f "$WORK/count" "$WORK/sites"
	touch "$WORK/count" "$WORK/sites"
	chmod a+rw "$WORK/count" "$WORK/sites"
	timeout -k 5 60 "${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins" LD_PRELOAD="$WORK/chaos.so" \
		CHAOS_CLASS=memory CHAOS_FROM=/warpcheck.so CHAOS_AT="$1" CHAOS_DO="$2" CHAOS_COUNT="$WORK/count" \
		CHAOS_SITES="$WORK/sites" \
		"$TSHARK" -r "$3" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
}

for name in bad-crc sctp-sessions cm-roce-v2; do
	capture=$WORK/$name.pcap before=$broken
	cp "pcaps/generated/$name.pcap" "$capture"
	chmod a+r "$capture"
	shown 0 '' "$capture"
	holds "$name: tshark ends with 0, not $status" test "$status" -eq 0
	frames=$(wc -l <"$WORK/stdout") deed=full
	mapfile -t sites <"$WORK/sites"
	holds "$name: ${#sites[@]} places ask for memory" test "${#sites[@]}" -ge 5
	for at in "${sites[@]}"; do
		if [ "$deed" = full ]; then deed=fail; else deed=full; fi
		shown "$at" "$deed" "$capture"
		checked=$((checked + 1))
		if [ "$status" -ne 0 ] || [ "$(wc -l <"$WORK/stdout")" -ne "$frames" ] || grep -q 'Dissector bug' "$WORK/stdout" "$WORK/stderr"; then
			wrong "$name: allocation $at ($deed): status $status, $(wc -l <"$WORK/stdout") of $frames frames" "$(head -n 3 "$WORK/stderr")"
		elif ! grep -q happened "$WORK/count"; then
			wrong "$name: allocation $at ($deed) did not come"
		fi
	done
	[ "$broken" -ne "$before" ] || echo "ok    $name: ${#sites[@]} allocations"
done
finish
