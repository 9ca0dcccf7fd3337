#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin on captures of every situation (dissector_corpus.c) and on those of real stacks: each field of
# each frame is as in tests/data/dissector/, in two passes and, but for links to later frames, in one; every FPDU that
# was sent is there with its payload; nothing is called malformed; findings can be filtered; the rules' findings are
# those of `warpcheck audit`.
#
# UPDATE=1 writes tests/data/dissector/ anew, to be looked at before it is committed.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${UPDATE:=}"
source tests/e2e/expect.bash
[ -e "${PLUGIN:=$B/dissector/warpcheck.so}" ] || make -s plugin B="$B"
source tests/e2e/dissector.bash
corpus

# One line a frame. Payloads that are what the corpus sends (octet i is 7i + 1) are told by their length.
# shellcheck disable=SC2016
fields='
def octets: split(":") | map(explode | map(if . > 96 then . - 87 else . - 48 end) | .[0] * 16 + .[1]);
def short: octets as $o | if $o == [range($o | length) | (. * 7 + 1) % 256] then "\($o | length) octets as sent" else . end;
def payloads: walk(if type == "object" and has("warp.payload") and (.["warp.payload"] | type) == "string"
	then .["warp.payload"] |= short else . end | if type == "object" and has("warp.data")
	then .["warp.data"] |= "\(length / 3 | ceil) octets" else . end |
	if type == "object" then del(.["warp.finding"]) else . end);
to_entries[] | select(.value._source.layers.warp) |
	{frame: (.key + 1), warp: ([.value._source.layers.warp] | flatten | map(payloads))}'
# What one pass cannot know: links to later frames, octets of units that turn out later to be ones; and units that had
# to wait are shown where they could be decoded. So the units are compared in any order.
# shellcheck disable=SC2016
one_pass='
[.[].warp[] | select(has("warp.data") | not) | walk(if type == "object" then del(.["warp.response_in",
	"warp.response_last", "warp.message.last_frame", "warp.shown_in", "warp.terminated_by", "warp.waited_since"])
	else . end)] | sort | .[]'

for capture in "$WORK"/corpus/*.pcap; do
	name=$(basename "$capture" .pcap)
	golden=tests/data/dissector/$name.jsonl
	ours -2 -r "$capture" -T json --no-duplicate-keys -J warp 2>"$WORK/stderr" | jq -c "$fields" >"$WORK/$name.two"
	ours -r "$capture" -T json --no-duplicate-keys -J warp 2>>"$WORK/stderr" | jq -c "$fields" >"$WORK/$name.one"
	if [ -n "$UPDATE" ]; then
		mkdir -p tests/data/dissector
		cp "$WORK/$name.two" "$golden"
	fi
	holds "$name: two passes are as in $golden" diff "$golden" "$WORK/$name.two"
	holds "$name: one pass gives the same" diff <(jq -sc "$one_pass" "$golden") \
		<(jq -sc "$one_pass" "$WORK/$name.one")
	holds "$name: nothing on stderr" test ! -s "$WORK/stderr"
	holds "$name: nothing is malformed" \
		test -z "$(ours -r "$capture" -Y '_ws.malformed || _ws.unreassembled' 2>&1)"
	# What is decided at a connection's end only is not told to Wireshark, which never says when a capture ends.
	# Status 1: something fails; 3: nothing of MPA in it.
	{ "$WARPCHECK" audit --format jsonl "$capture" 2>"$WORK/stderr" || [[ $? =~ ^[134]$ ]]; } | jq -r 'select(.type == "result" and
		(.verdict | IN("FAIL", "WARN", "AMBIGUOUS")) and (.id | IN("MPA-5.1-04", "MPA-7.1.2-17", "RDMAP-5.4-10") | not)) |
		"\(.frame) \(.id) \(.verdict)"' | LC_ALL=C sort -u >"$WORK/$name.audit"
	ours -2 -r "$capture" -Y warp.finding -T fields -e frame.number -e warp.finding.id -e warp.finding.verdict |
		awk -F'\t' '{ n = split($2, id, ","); split($3, v, ","); for (i = 1; i <= n; i++) print $1, id[i], v[i] }' |
		LC_ALL=C sort -u >"$WORK/$name.found"
	holds "$name: every finding of the audit is in its frame" test -z "$(LC_ALL=C comm -23 "$WORK/$name.audit" "$WORK/$name.found")"
	holds "$name: and none of other requirements" diff <(cut -d' ' -f2 "$WORK/$name.audit" | LC_ALL=C sort -u) \
		<(cut -d' ' -f2 "$WORK/$name.found" | LC_ALL=C sort -u)
	if [ -n "$(awk -v n="$name" '$1 == n' "$WORK/corpus/sent.tsv")" ]; then
		sent=$(awk -v n="$name" '$1 == n { print $2 }' "$WORK/corpus/sent.tsv")
		shown=$(ours -r "$capture" -T fields -e warp.rdmap.opcode | values)
		# Behind a loss the first FPDU may be passed over for one that a Marker points to.
		case $name in lost-with-markers) sent=$((sent - 1)) ;; esac
		holds "$name: $sent FPDUs sent, $shown shown" test "$sent" = "$shown"
	fi
done
# A payload with Markers inside, or cut into octets, is what was sent.
holds "every payload with Markers is as sent" \
	test "$(cat "$WORK"/markers-*.two "$WORK"/over-ipv6.two "$WORK"/sequence-wrap.two "$WORK"/octet-by-octet.two |
		grep -o '"warp.payload":"[0-9a-f]*:' | wc -l)" = 0

siw=$WORK/corpus/siw-rping-terminate.pcap
expect 0 "the list of plugins has it" "${with_plugin[@]}" -G plugins
says '^warpcheck\.so'
expect 0 "a finding can be filtered for" "${with_plugin[@]}" -r "$siw" -Y 'warp.finding.id == "RDMAP-4.8-02"'
says '^ *13 .* iWARP .* Terminate qn 2'
holds "the siw capture's findings are those of the audit" diff \
	<(awk -F'\t' '!/^#/ { print $4, $2 }' pcaps/linux-siw/expected.tsv) \
	<(ours -r "$siw" -T fields -e frame.number -e warp.finding.id -Y warp.finding |
		awk -F'\t' '{ n = split($2, id, ","); for (i = 1; i <= n; i++) print $1, id[i] }')
expect 0 "a Read's answer says when it was asked" "${with_plugin[@]}" -r "$siw" -Y 'warp.response_time' -T fields -e frame.number -e warp.request_in
says '^12	9$'
expect 0 "a bad CRC can be filtered for" "${with_plugin[@]}" -r "$WORK/corpus/bad-crc.pcap" -Y 'warp.fpdu.crc.status == "Bad"'
says '\[bad CRC\]'
expect 0 "Decode As" "${with_plugin[@]}" -d tcp.port==9999,warp -r "$siw" -Y 'frame.number == 8'
says 'iWARP'
expect 0 "by port" "${with_plugin[@]}" -o warp.tcp.port:9999 -r "$siw" -Y 'frame.number == 8'
says 'iWARP'
expect 0 "without rules" "${with_plugin[@]}" -o warp.findings:FALSE -r "$siw" -Y warp.finding
holds "none then" test ! -s "$WORK/stdout"
expect 0 "the built-in dissectors are still there" "${with_plugin[@]}" --disable-protocol warp -r "$siw" -Y iwarp_mpa
says 'DDP/RDMA'
expect 0 "statistics" "${with_plugin[@]}" -q -z warp,tree -r "$WORK/corpus/every-opcode.pcap"
says 'Atomic Request +3'
expect 0 "response times" "${with_plugin[@]}" -q -z warp,srt -r "$WORK/corpus/every-opcode.pcap"
says 'RDMA Read +1'
says 'Atomic +3'

finish
