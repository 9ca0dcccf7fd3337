#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin, built with the address and undefined-behaviour sanitisers, on captures with random errors (editcap
# -E) and random cuts (editcap -s), for DISSECTOR_FUZZ_RUNS (40) of them; and on what libFuzzer made: the seeds of
# tests/fuzz/corpus/capture, what `make fuzz` found since, and the folders named in FUZZ_CORPUS. Nothing may crash, hang, or
# be a bug of the dissector. A capture that does is left in $KEEP, if that is set.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${DISSECTOR_FUZZ_RUNS:=40}" "${KEEP:=}" "${SEED:=1}" "${FUZZ_CORPUS:=}"
source tests/e2e/expect.bash
# What no line has set is a pattern, not what the stack had there by chance: a bool of it is found each time.
make -s plugin B="$B/asan-plugin" PLUGIN_CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -ftrivial-auto-var-init=pattern'
PLUGIN=$B/asan-plugin/dissector/warpcheck.so
source tests/e2e/dissector.bash
corpus

preload="$($CC -print-file-name=libasan.so) $($CC -print-file-name=libubsan.so)"
sanitised=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins" LD_PRELOAD="$preload"
	ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 prlimit --cpu=120 "$TSHARK")
ethernet=() others=() # by link type: one file holds one
for capture in "$WORK"/corpus/*.pcap; do
	if [ "$(od -An -tu4 -j20 -N4 "$capture")" -eq 1 ]; then ethernet+=("$capture"); else others+=("$capture"); fi
done
mergecap -F pcap -a -w "$WORK/all.pcap" "${ethernet[@]}"
chmod a+r "$WORK/all.pcap"
expect 0 "the plugin with sanitisers" "${sanitised[@]}" -r "$WORK/corpus/siw-rping-terminate.pcap" -Y warp.finding
says 'iWARP'

# sound WHAT FILE OPTION...: the capture goes through, or is kept and reported.
bad=0
sound() {
	local what=$1 file=$2 status=0
	shift 2
	checked=$((checked + 1))
	"${sanitised[@]}" "$@" -V -r "$file" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	# A record that the file's reader refuses (ERF's have a form of their own) ends the file; what came before was dissected.
	if [ "$status" -eq 2 ] && grep -q 'appears to be damaged or corrupt' "$WORK/stderr"; then status=0; fi
	if [ "$status" -ne 0 ] || grep -qE 'Sanitizer|runtime error|Dissector bug, protocol iWARP' "$WORK/stderr" "$WORK/stdout"; then
		bad=$((bad + 1))
		[ -z "$KEEP" ] || cp "$file" "$KEEP"
		wrong "$what ($*): status $status" "$(grep -vE '^ \*\*|^$' "$WORK/stderr" | sed -n '1,30p')"
	fi
}

# What libFuzzer made, as captures: one for each link type.
$CC -std=gnu17 -O1 -o "$WORK/fuzz_to_pcap" tests/e2e/fuzz_to_pcap.c
read -ra folders <<<"$FUZZ_CORPUS"
mkdir -p "$WORK/fuzzer"
for folder in tests/fuzz/corpus/capture "$B/fuzz/corpus/fuzz_capture" "${folders[@]}"; do
	[ ! -d "$folder" ] || find "$folder" -type f -print0
done | sort -z | "$WORK/fuzz_to_pcap" "$WORK/fuzzer"
chmod -R a+rX "$WORK/fuzzer"
inputs=0
rm -f "$WORK/fuzzer/247.pcap" # Wireshark reads InfiniBand frames in ERF records only
for file in "$WORK"/fuzzer/*.pcap; do
	[ "$(stat -c %s "$file")" -gt 24 ] || continue
	inputs=$((inputs + 1))
	sound "libFuzzer's frames" "$file" -2
	sound "libFuzzer's frames" "$file" -o warp.reassemble_tagged:TRUE
	sound "libFuzzer's frames, by port" "$file" -o warp.tcp.port:1-65535 -o tcp.relative_sequence_numbers:FALSE
done
holds "libFuzzer made some" test "$inputs" -gt 0

# Payload alone, TCP's header too; few errors and many; whole frames and cut ones; one pass and two.
ways=('-o warp.late:TRUE' '-2' '-2 -o warp.reassemble_tagged:TRUE' '-o tcp.reassemble_out_of_order:TRUE' '-2 -o tcp.desegment_tcp_streams:FALSE'
	'-o warp.findings:FALSE -o warp.tcp.port:7174,9999')
runs=0 seed=$SEED
while [ "$runs" -lt "$DISSECTOR_FUZZ_RUNS" ] && [ "$bad" -eq 0 ]; do
	offset=$((seed % 4 == 0 ? 34 : 54)) rate=$((seed % 3 == 0 ? 5 : seed % 3 == 1 ? 1 : 20)) cut=()
	[ $((seed % 5)) -ne 0 ] || cut=(-s $((60 + seed * 7 % 400)))
	base=$WORK/all.pcap
	[ $((seed % 7)) -ne 0 ] || [ ${#others[@]} -eq 0 ] || base=${others[seed / 7 % ${#others[@]}]}
	editcap -F pcap -E "0.0$(printf %02d "$rate")" -o "$offset" --seed "$seed" "${cut[@]}" "$base" "$WORK/fuzzed.pcap" \
		2>/dev/null >&2
	chmod a+r "$WORK/fuzzed.pcap"
	read -ra way <<<"${ways[seed % ${#ways[@]}]}"
	sound "seed $seed" "$WORK/fuzzed.pcap" "${way[@]}"
	runs=$((runs + 1)) seed=$((seed + 1))
done
echo "ok    $runs captures with errors, $inputs of libFuzzer's"
holds "all of them were tried" test "$runs" -eq "$DISSECTOR_FUZZ_RUNS"
finish
