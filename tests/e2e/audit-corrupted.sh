#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of the corpus with random errors in their octets (editcap -E), audited with ladders by the sanitised program, which
# also watches the frames of functions that have returned: never a crash, and every run ends with a verdict. CORRUPTED_SEEDS
# (10) captures are made of each.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
: "${CORRUPTED_SEEDS:=10}"
lines=any passes=any # an audit that leaves octets unjudged (exit status 4) prints what it judged, and why it left the rest

step='.id + " " + (.frame | tostring) + " " + (.steps[] | select(.frame != 0) | (.frame | tostring) + " " + .summary)'
expect 1 "the SCTP capture with faults" "$WARPCHECK" audit --format jsonl pcaps/generated/sctp-faults.pcap
jq -r "select(.id == \"SCTP5043-5.1-01\") | $step" "$WORK/stdout" | sed 's/^[^ ]* [0-9]* //' >"$WORK/ladder"
expect 0 "what the decoder makes of it" "$WARPCHECK" dump pcaps/generated/sctp-faults.pcap
grep -E '^ +[1-48] ' "$WORK/stdout" | sed -E 's/^ *([0-9]+)  [^ ]+  /\1 /' >"$WORK/dump"
holds "five steps" test "$(wc -l <"$WORK/ladder")" -eq 5
holds "the ladder of SCTP5043-5.1-01 says of its frames what dump says" cmp "$WORK/ladder" "$WORK/dump"

if [ ! -x "$WARPCHECK_ASAN" ]; then
	echo "no sanitised program at $WARPCHECK_ASAN: make e2e builds it"
	exit 1
fi
passes=any # of what is not damaged
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_stack_use_after_return=1"
for capture in pcaps/generated/sctp-*.pcap pcaps/generated/cm-faults.pcap pcaps/generated/atomics.pcap \
	pcaps/linux-siw/siw-rping-terminate.pcap; do
	for ((seed = 1; seed <= CORRUPTED_SEEDS; seed++)); do
		editcap --seed "$seed" -E 0.01 "$capture" "$WORK/$(basename "$capture" .pcap)-$seed.pcap" >/dev/null
	done
	expect "0 1 3 4" "$CORRUPTED_SEEDS copies of $(basename "$capture")" "$WARPCHECK_ASAN" audit --format jsonl \
		"$WORK/$(basename "$capture" .pcap)"-*.pcap
	holds "no sanitizer complains" bash -c '! grep -E "ERROR: |runtime error" "$1"' _ "$WORK/stderr"
	holds "a summary ends it" grep -q '"type":"summary"' "$WORK/stdout"
	rm -f "$WORK/$(basename "$capture" .pcap)"-*.pcap
done
finish
