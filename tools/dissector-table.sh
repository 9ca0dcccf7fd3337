#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# dissector-table.sh: the tables of docs/dissector.md, on stdout: Wireshark's built-in iWARP dissectors and the plugin on
# the same captures (pcaps/generated), feature by feature (tests/e2e/dissector_features.tsv) and capture by capture. With
# the name of a file: rewrites the tables between their marks there.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/e2e/expect.bash
source tests/e2e/dissector.bash
corpus >/dev/null

# What a capture is: the table of its folder's README.md.
declare -A what=()
while IFS='|' read -r _ name words _; do
	name=${name//[ \`]/}
	words=${words# }
	[[ $name != *.pcap ]] || what[${name%.pcap}]=${words% }
done <pcaps/generated/README.md
# What one looks for besides the headers: a filter each, empty where there is none.
declare -A mine=([every-opcode]='warp.mpa.enhanced.ird && warp.agreed.rtr' [terminate-untagged]='warp.terminate.ddp.qn == 1 && warp.terminate.culprit'
	[bad-crc]='warp.fpdu.crc.status == "Bad"' [marker-wrong]='warp.finding.id == "MPA-4.3-05"' [wrong-rtr]='warp.finding.id == "EMPA-9.2-20"'
	[malformed-start]='warp.mpa.bad' [not-negotiated]='warp.mpa.enhanced.ird == 0x3fff' [private-data]='warp.private.nvme && warp.mpa.pd_length == 32'
	[long-messages]='warp.message.octets == 900 && warp.message.first_frame' [atomics]='warp.atomic.aopcode == 2 && warp.atomic.comparedata == 9'
	[behind-the-terminate]='warp.finding.id == "RDMAP-5.4-10"' [nfs-rdma]='rpcordma && rpc.xid == 0x78' [smb-direct]='smb_direct.negotiate_request'
	[unaligned]='warp.finding.id == "MPA-5.1-04"' [waits-at-the-end]='warp.at_end' [behind-the-reply]='warp.finding.id == "MPA-7.1.2-17"')
declare -A look=([every-opcode]='IRD, ORD and RTR kinds agreed' [terminate-untagged]='quoted header, link to its frame'
	[bad-crc]='filter for the bad CRC' [marker-wrong]='says so' [wrong-rtr]='says so' [malformed-start]='says so'
	[not-negotiated]='0x3FFF named' [private-data]='NVMe, RPC-over-RDMA, depths'
	[long-messages]='segments linked to their message' [atomics]='compare data, reserved bits set' [behind-the-terminate]='says so'
	[nfs-rdma]='the call in two segments' [smb-direct]='negotiation' [unaligned]='says so' [waits-at-the-end]='what waited is shown'
	[behind-the-reply]='says that it is too early')

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

frames() { { "$@" 2>/dev/null || true; } | wc -l; } # an older Wireshark has not every field: none then
cell() { # cell WANTED FOUND
	if [ "$2" = - ]; then
		echo no
	elif [ "$2" -eq "$1" ]; then
		echo yes
	elif [ "$2" -gt 0 ] && [ "$2" -lt "$1" ]; then
		echo "$2 of $1"
	else
		echo no
	fi
}

features() {
	local version feature name wanted mine theirs options found other
	version=$("$TSHARK" --version | sed -n '1s/.*) \([0-9.]*\).*/\1/p')
	echo "| what | capture | Wireshark $version | the plugin |"
	echo "|---|---|---|---|"
	while IFS=$'\t' read -r feature name wanted mine theirs options; do
		[[ $feature != \#* ]] || continue
		read -ra options <<<"$options"
		found=$(frames ours -2 -r "$WORK/corpus/$name.pcap" "${options[@]}" -Y "$mine")
		other=-
		[ "$theirs" = - ] || other=$(frames builtin_only -2 -r "$WORK/corpus/$name.pcap" -Y "$theirs")
		echo "| $feature | \`$name\` | $(cell "$wanted" "$other") | $(cell "$wanted" "$found") |"
	done <tests/e2e/dissector_features.tsv
}

# between NAME FILE: what stands in $WORK/table goes between its marks.
between() {
	sed -i -e "/<!-- $1 -->/,/<!-- end of $1 -->/{//!d}" -e "/<!-- $1 -->/r $WORK/table" "$2"
}

if [ $# -eq 0 ]; then
	features
	table
else
	features >"$WORK/table"
	between features "$1"
	table >"$WORK/table"
	between table "$1"
fi
