#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin, built with the address and undefined-behaviour sanitisers, on captures with random errors (editcap
# -E) and random cuts (editcap -s), for DISSECTOR_FUZZ_SECONDS (20): nothing may crash, hang, or be a bug of the
# dissector. A capture that does is left in $KEEP, if that is set.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${DISSECTOR_FUZZ_SECONDS:=20}" "${KEEP:=}" "${SEED:=1}"
source tests/e2e/expect.bash
make -s plugin B="$B/asan-plugin" PLUGIN_CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined'
PLUGIN=$B/asan-plugin/dissector/warpcheck.so
source tests/e2e/dissector.bash
corpus

preload="$("$CC" -print-file-name=libasan.so) $("$CC" -print-file-name=libubsan.so)"
sanitised=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins" LD_PRELOAD="$preload"
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 timeout 60 "$TSHARK")
mergecap -F pcap -a -w "$WORK/all.pcap" "$WORK"/corpus/*.pcap
chmod a+r "$WORK/all.pcap"
expect 0 "the plugin with sanitisers" "${sanitised[@]}" -r "$WORK/corpus/siw-rping-terminate.pcap" -Y warp.finding
says 'iWARP'

runs=0 bad=0 end=$((SECONDS + DISSECTOR_FUZZ_SECONDS)) seed=$SEED
while [ "$SECONDS" -lt "$end" ] && [ "$bad" -eq 0 ]; do
	# Payload alone, TCP's header too; few errors and many; whole frames and cut ones.
	offset=$((seed % 4 == 0 ? 34 : 54)) rate=$((seed % 3 == 0 ? 5 : seed % 3 == 1 ? 1 : 20)) cut=()
	[ $((seed % 5)) -ne 0 ] || cut=(-s $((60 + seed * 7 % 400)))
	editcap -F pcap -E "0.0$(printf %02d "$rate")" -o "$offset" --seed "$seed" "${cut[@]}" "$WORK/all.pcap" "$WORK/fuzzed.pcap" \
		2>/dev/null >&2
	chmod a+r "$WORK/fuzzed.pcap"
	passes=(-2)
	[ $((seed % 2)) -eq 0 ] || passes=()
	status=0
	"${sanitised[@]}" "${passes[@]}" -V -r "$WORK/fuzzed.pcap" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	if [ "$status" -ne 0 ] || grep -qE 'Sanitizer|runtime error|Dissector bug, protocol iWARP' "$WORK/stderr" "$WORK/stdout"; then
		bad=1
		[ -z "$KEEP" ] || cp "$WORK/fuzzed.pcap" "$KEEP"
		wrong "seed $seed: status $status" "$(grep -vE '^ \*\*|^$' "$WORK/stderr" | head -n 30)"
	fi
	runs=$((runs + 1)) seed=$((seed + 1)) checked=$((checked + 1))
done
echo "ok    $runs captures with errors"
holds "some captures were tried" test "$runs" -gt 2
finish
