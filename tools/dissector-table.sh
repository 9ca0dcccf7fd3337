#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# dissector-table.sh: the table of docs/dissector.md, on stdout: Wireshark's built-in iWARP dissectors and the plugin on
# the same captures (tests/e2e/dissector_corpus.c). With the name of a file: rewrites the table between its marks there.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/e2e/expect.bash
source tests/e2e/dissector.bash
corpus >/dev/null

declare -A what=(
	[every-opcode]='every opcode, enhanced start-up, RTR' [terminate-untagged]='Terminate that quotes an untagged header'
	[terminate-tagged]='Terminate that quotes a tagged header' [markers-both]='Markers both ways, several FPDUs a segment'
	[markers-one-way]='Markers one way' [markers-without-crc]='Markers, no CRC' [marker-wrong]='a wrong FPDUPTR'
	[octet-by-octet]='segments of 1, 5 and 7 octets' [short-tails]='segments that end 1 to 7 octets into an FPDU'
	[behind-the-reply]='FPDUs behind the Reply in one segment' [many-in-one]='nine FPDUs in one segment'
	[out-of-order]='segments out of order' [retransmitted]='new octets behind retransmitted ones'
	[lost-with-crc]='a lost segment, CRC' [lost-with-markers]='a lost segment, Markers and CRC'
	[four-tuple-reuse]='4-tuple used again' [snapped]='capture of 128 octets a frame'
	[mid-stream-with-crc]='begins in mid-stream, CRC' [mid-stream-with-markers]='begins in mid-stream, Markers'
	[mid-stream-without-crc]='begins in mid-stream, neither' [one-way]='only the Initiator captured'
	[sequence-wrap]='sequence numbers wrap' [bad-crc]='a bad CRC' [short-sends]='Sends of 0 to 16 octets'
	[long-sends]='Sends of several segments' [send-at-offset]='a Send without its beginning' [short-ulpdus]='ULPDUs too short for a header' [rejected]='rejected'
	[not-negotiated]='depths not negotiated' [wrong-rtr]='an RTR of a kind not agreed' [private-data]='private data'
	[malformed-start]='malformed start-up frame' [over-ipv6]='IPv6')
# What one looks for besides the headers: a filter each, empty where there is none.
declare -A mine=([every-opcode]='warp.mpa.enhanced.ird && warp.agreed.rtr' [terminate-untagged]='warp.terminate.ddp.qn == 1 && warp.terminate.culprit'
	[bad-crc]='warp.fpdu.crc.status == "Bad"' [marker-wrong]='warp.finding.id == "MPA-4.3-05"' [wrong-rtr]='warp.finding.id == "EMPA-9.2-20"'
	[malformed-start]='warp.mpa.bad' [not-negotiated]='warp.mpa.enhanced.ird == 0x3fff' [private-data]='warp.private.nvme && warp.mpa.pd_length == 32')
declare -A look=([every-opcode]='IRD, ORD and RTR kinds agreed' [terminate-untagged]='quoted header, link to its frame'
	[bad-crc]='filter for the bad CRC' [marker-wrong]='says so' [wrong-rtr]='says so' [malformed-start]='says so'
	[not-negotiated]='0x3FFF named' [private-data]='NVMe, RPC-over-RDMA, depths')

table() {
	local version name sent theirs_shown mine_shown malformed extra
	version=$("$TSHARK" --version | sed -n '1s/.*) \([0-9.]*\).*/\1/p')
	echo "| capture | FPDUs | Wireshark $version shows | called malformed | the plugin shows | called malformed | and |"
	echo "|---|---:|---:|---:|---:|---:|---|"
	while IFS=$'\t' read -r name sent; do
		file=$WORK/corpus/$name.pcap
		theirs_shown=$(builtin_only -r "$file" -T fields -e iwarp_rdma.opcode 2>/dev/null | values)
		malformed=$(builtin_only -r "$file" -Y _ws.malformed 2>/dev/null | wc -l)
		mine_shown=$(ours -2 -r "$file" -T fields -e warp.rdmap.opcode 2>/dev/null | values)
		mine_malformed=$(ours -2 -r "$file" -Y _ws.malformed 2>/dev/null | wc -l)
		extra=
		if [ -n "${mine[$name]:-}" ]; then
			extra="${look[$name]}: "
			if [ -n "$(ours -2 -r "$file" -Y "${mine[$name]}" 2>/dev/null)" ]; then extra+='yes'; else extra+='**no**'; fi
		fi
		echo "| ${what[$name]:-$name} | $sent | $theirs_shown | $malformed | $mine_shown | $mine_malformed | $extra |"
	done <"$WORK/corpus/sent.tsv"
}

if [ $# -eq 0 ]; then
	table
else
	table >"$WORK/table"
	sed -i -e '/<!-- table -->/,/<!-- end of table -->/{//!d}' -e "/<!-- table -->/r $WORK/table" "$1"
fi
