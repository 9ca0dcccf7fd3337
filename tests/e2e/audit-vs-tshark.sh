#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The decoder against Wireshark's built-in iWARP dissectors, field by field: `warpcheck dump --format jsonl` must say of
# every frame what tshark says of it, on a generated capture (Rev 1 and Rev 2, CRC, IPv4 and IPv6, FPDUs that share
# segments, sequence numbers that wrap) and on the captures in pcaps/linux-siw.
#
# Left out, because the built-in dissectors (4.0) get it wrong or do not have it:
#   - Res of a start-up frame with S = 1: they take S into it; the enhanced word: they show it as private data
#   - Markers, and FPDUs after a cut of less than 8 octets: not in these captures
#   - Immediate Data and Atomics: unknown or misplaced there
#   - the headers inside a Terminate: their length is guessed there from the error type; the control word is compared
#   - NVMe over TCP: it takes the port 4420 of NVMe over RDMA, and is switched off
#   - RPC-over-RDMA and SMB Direct: their heuristics call short Sends malformed, and are switched off
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${WARPCHECK:=build/warpcheck}" "${TSHARK:=tshark}" "${CC:=gcc}" "${WORK:=}"
if [ -z "$WORK" ]; then
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
fi

fields='iwarp_mpa.marker_flag iwarp_mpa.crc_flag iwarp_mpa.rej_flag iwarp_mpa.res iwarp_mpa.rev iwarp_mpa.pdlength
	iwarp_mpa.ulpdulength iwarp_mpa.crc iwarp_mpa.crc_check
	iwarp_ddp.tagged_flag iwarp_ddp.last_flag iwarp_ddp.rsvd iwarp_ddp.dv iwarp_ddp.rsvdulp iwarp_ddp.stag
	iwarp_ddp.tagged_offset iwarp_ddp.qn iwarp_ddp.msn iwarp_ddp.mo
	iwarp_rdma.version iwarp_rdma.rsv iwarp_rdma.opcode iwarp_rdma.inval_stag
	iwarp_rdma.sinkstag iwarp_rdma.sinkto iwarp_rdma.rdmardsz iwarp_rdma.srcstag iwarp_rdma.srcto
	iwarp_rdma.term_layer iwarp_rdma.term_etype_rdma iwarp_rdma.term_etype_ddp iwarp_rdma.term_etype_llp
	iwarp_rdma.term_errcode iwarp_rdma.term_errcode_rdma iwarp_rdma.term_errcode_ddp_tagged
	iwarp_rdma.term_errcode_ddp_untagged iwarp_rdma.term_errcode_llp
	iwarp_rdma.term_hdrct_m iwarp_rdma.hdrct_d iwarp_rdma.hdrct_r iwarp_rdma.term_rsvd'

# One line a frame and field, "FRAME FIELD VALUE,VALUE...", values in stream order and all written in one way.
# shellcheck disable=SC2016
one_way='
function value(field, v) {
	v = tolower(v)
	if (v == "true") return "1"
	if (v == "false") return "0"
	if (field == "iwarp_ddp.rsvdulp") { sub(/^0x/, "", v); return v }
	sub(/^0x0*/, "0x", v)
	return v == "0x" ? "0" : v
}
# Error type and code have a field for each layer there: one name for all.
function name(field) {
	sub(/term_etype_.*/, "term_etype", field)
	sub(/term_errcode_.*/, "term_errcode", field)
	return field
}'

# What tshark says.
by_tshark() {
	local options=() field
	for field in $fields; do options+=(-e "$field"); done
	"$TSHARK" -r "$1" --disable-protocol nvme-tcp --disable-heuristic rpcrdma_iwarp --disable-heuristic smb_direct_iwarp -Y iwarp_mpa \
		-T fields -E separator=/t -E occurrence=a -E aggregator=, -e frame.number "${options[@]}" 2>"$WORK/tshark.err" |
		awk -F'\t' -v fields="$fields" "$one_way"'
		BEGIN { n = split(fields, names, /[ \t\n]+/) }
		{
			for (i = 1; i <= n; i++) {
				if ($(i + 1) == "" || (names[i] == "iwarp_mpa.res" && $(i + 1) == "0x10")) continue
				k = split($(i + 1), values, ",")
				line = ""
				for (j = 1; j <= k; j++) line = line (j > 1 ? "," : "") value(names[i], values[j])
				print $1 "\t" name(names[i]) "\t" line
			}
		}' | LC_ALL=C sort
}

# What warpcheck says, under tshark's names. The CRC is shown there as if it stood in network order.
by_warpcheck() {
	"$WARPCHECK" dump --format jsonl "$1" >"$WORK/dump.jsonl"
	jq -r '
	def swapped: "0x" + .[8:10] + .[6:8] + .[4:6] + .[2:4];
	def hex: ltrimstr("0x") | explode | reduce .[] as $c (0; . * 16 + (if $c > 96 then $c - 87 else $c - 48 end));
	select(.type == "fpdu" or .type == "mpa_start") | .frame as $frame |
	(if .type == "mpa_start" then .start.mpa_start | {
		"iwarp_mpa.marker_flag": .M, "iwarp_mpa.crc_flag": .C, "iwarp_mpa.rej_flag": .R,
		"iwarp_mpa.res": (if .S then null else .Res end), "iwarp_mpa.rev": .Rev, "iwarp_mpa.pdlength": .PD_Length }
	else {
		"iwarp_mpa.ulpdulength": .fpdu.ULPDU_Length,
		"iwarp_mpa.crc": (if .fpdu.crc_ok == null then .fpdu.crc | swapped else null end),
		"iwarp_mpa.crc_check": (if .fpdu.crc_ok != null then .fpdu.crc | swapped else null end) }
	+ (.ddp | {
		"iwarp_ddp.tagged_flag": .T, "iwarp_ddp.last_flag": .L, "iwarp_ddp.rsvd": .Rsvd, "iwarp_ddp.dv": .DV,
		"iwarp_ddp.rsvdulp": (if .T then null else .RsvdULP end), "iwarp_ddp.stag": .STag, "iwarp_ddp.tagged_offset": .TO,
		"iwarp_ddp.qn": .QN, "iwarp_ddp.msn": .MSN, "iwarp_ddp.mo": .MO })
	+ (.rdmap | {
		"iwarp_rdma.version": .RV, "iwarp_rdma.rsv": .Rsv, "iwarp_rdma.opcode": .Opcode,
		"iwarp_rdma.inval_stag": (if .Opcode == "0x4" or .Opcode == "0x6" then .InvalidateSTag | hex else null end) })
	+ (.rdmap.read_request | {
		"iwarp_rdma.sinkstag": .SinkSTag, "iwarp_rdma.sinkto": .SinkTO, "iwarp_rdma.rdmardsz": .RDMARDSZ,
		"iwarp_rdma.srcstag": .SrcSTag, "iwarp_rdma.srcto": .SrcTO })
	+ (.rdmap.terminate | {
		"iwarp_rdma.term_layer": (.Layer | if . == null then . else "0x\(.)" end),
		"iwarp_rdma.term_etype": (.EType | if . == null then . else "0x\(.)" end),
		"iwarp_rdma.term_errcode": .Code, "iwarp_rdma.term_hdrct_m": .M, "iwarp_rdma.hdrct_d": .D,
		"iwarp_rdma.hdrct_r": .R,
		"iwarp_rdma.term_rsvd": (.Reserved | if . == null then . else "dec\(.)" end) })
	end) | to_entries[] | select(.value != null) | "\($frame)\t\(.key)\t\(.value)"' "$WORK/dump.jsonl" |
		awk -F'\t' "$one_way"'
		{
			key = $1 "\t" $2
			v = $3
			if (v ~ /^dec/) v = sprintf("0x%x", substr(v, 4))
			if (key in all) all[key] = all[key] "," value($2, v)
			else all[key] = value($2, v)
		}
		END { for (key in all) print key "\t" all[key] }' | LC_ALL=C sort
}

# agree FILE LEAST: both say the same of FILE, and at least LEAST values were compared.
agree() {
	by_tshark "$1" >"$WORK/tshark.tsv"
	by_warpcheck "$1" >"$WORK/warpcheck.tsv"
	if ! diff "$WORK/tshark.tsv" "$WORK/warpcheck.tsv" >"$WORK/diff"; then
		echo "$1: tshark (<) and warpcheck (>) disagree: frame, field, values"
		head -n 40 "$WORK/diff"
		exit 1
	fi
	local lines
	lines=$(wc -l <"$WORK/tshark.tsv")
	echo "$1: $lines fields of $(cut -f1 "$WORK/tshark.tsv" | uniq | wc -l) frames agree"
	if [ "$lines" -lt "$2" ]; then
		echo "only $lines fields were compared; expected at least $2"
		exit 1
	fi
}

# verdicts FILE: the CRC verdicts agree in number.
verdicts() {
	local good bad ours_good ours_bad
	"$TSHARK" -r "$1" -O iwarp_mpa -Y iwarp_mpa.crc_check 2>/dev/null >"$WORK/crc.txt"
	good=$(grep -c 'Good CRC' "$WORK/crc.txt" || true)
	bad=$(grep -c 'Bad CRC' "$WORK/crc.txt" || true)
	"$WARPCHECK" dump --format jsonl "$1" >"$WORK/dump.jsonl"
	ours_good=$(grep -c '"crc_ok":true' "$WORK/dump.jsonl" || true)
	ours_bad=$(grep -c '"crc_ok":false' "$WORK/dump.jsonl" || true)
	echo "$1: CRCs: tshark $good good, $bad bad; warpcheck $ours_good good, $ours_bad bad"
	[ "$good" -eq "$ours_good" ] && [ "$bad" -eq "$ours_bad" ] && [ "$good" -gt 0 ]
}

# shellcheck disable=SC2046 # an option or two
$CC -std=gnu17 -O1 -I. -o "$WORK/gen" tests/bench/bench_gen_capture.c base/*.c wire/*.c $(pkg-config --libs libisal 2>/dev/null || echo -DWARPCHECK_NO_ISAL)
"$WORK/gen" "$WORK/rev1.pcap" 4 8 1
"$WORK/gen" "$WORK/rev2.pcap" 4 8 2
agree "$WORK/rev1.pcap" 20000
agree "$WORK/rev2.pcap" 20000
verdicts "$WORK/rev1.pcap"

# The same with one octet turned over in every 50th long frame: the same number of CRCs must be called bad.
$CC -std=gnu17 -O1 -o "$WORK/spoil" -x c - <<'C'
#include <stdio.h>
/* Turns over the last octet of every 50th record of a pcap that has at least 200 octets: a CRC, or what it covers. */
int main(void)
{
    unsigned char h[24], r[16], d[65536];
    unsigned n = 0;
    if (fread(h, 1, 24, stdin) != 24 || fwrite(h, 1, 24, stdout) != 24)
        return 1;
    while (fread(r, 1, 16, stdin) == 16) {
        size_t c = r[8] | r[9] << 8 | (size_t)r[10] << 16;
        if (c > sizeof(d) || fread(d, 1, c, stdin) != c)
            return 1;
        if (c >= 200 && n++ % 50 == 0)
            d[c - 1] ^= 0x10;
        fwrite(r, 1, 16, stdout);
        fwrite(d, 1, c, stdout);
    }
    return fflush(stdout) != 0;
}
C
"$WORK/spoil" <"$WORK/rev1.pcap" >"$WORK/spoilt.pcap"
verdicts "$WORK/spoilt.pcap"
grep -q '"crc_ok":false' "$WORK/dump.jsonl"

found=0
for capture in pcaps/linux-siw/*.pcap; do
	[ -e "$capture" ] || continue
	found=$((found + 1))
	agree "$capture" 30
done
[ "$found" -gt 0 ] || { echo "no capture in pcaps/linux-siw"; exit 1; }
