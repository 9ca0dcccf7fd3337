#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin on captures of every situation (warpcheck gen --corpus) and on those of real stacks: each field
# of each frame is as in tests/data/dissector/, in two passes and, but for links to later frames, in one; every FPDU
# that was sent is there with its payload; nothing is called malformed; findings can be filtered; the rules' findings
# are those of `warpcheck audit`.
#
# CAPTURES=GLOB takes some of the captures only. UPDATE=1 writes tests/data/dissector/ and pcaps/generated/ anew, to be
# looked at before they are committed.
# shellcheck disable=SC2034,SC2154 # PLUGIN, with_plugin and as_user: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${UPDATE:=}" "${CAPTURES:=*}"
source tests/e2e/expect.bash
source tests/e2e/dissector.bash
generated "$WORK/generated"
if [ -n "$UPDATE" ]; then
	cp "$WORK"/made/generated/* pcaps/generated/
fi
for capture in "$WORK"/generated/*.pcap pcaps/generated/*.pcap; do
	name=$(basename "$capture")
	holds "$name: generated as it is in pcaps/generated" cmp "$WORK/generated/$name" "pcaps/generated/$name"
done
for name in README.md findings.tsv; do
	holds "$name: as gen --corpus writes it" cmp "$WORK/made/generated/$name" "pcaps/generated/$name"
done
corpus

for capture in "$WORK"/corpus/$CAPTURES.pcap; do
	name=$(basename "$capture" .pcap)
	golden=tests/data/dissector/$name.jsonl
	units -2 -r "$capture" 2>"$WORK/stderr" | jq -c "$fields" >"$WORK/$name.two"
	units -r "$capture" 2>>"$WORK/stderr" | jq -c "$fields" >"$WORK/$name.one"
	if [ -n "$UPDATE" ]; then
		mkdir -p tests/data/dissector
		cp "$WORK/$name.two" "$golden"
	fi
	holds "$name: two passes are as in $golden" diff "$golden" "$WORK/$name.two"
	holds "$name: one pass gives the same" diff <(jq -sc "$one_pass" "$golden") \
		<(jq -sc "$one_pass" "$WORK/$name.one")
	holds "$name: nothing on stderr" test ! -s "$WORK/stderr"
	# What else is asked of all frames is asked at once: tshark takes longer to start than to read.
	ours -2 -r "$capture" -T fields -e frame.number -e _ws.malformed -e _ws.unreassembled -e warp.rdmap.opcode -e warp.finding.id \
		-e warp.finding.verdict >"$WORK/$name.frames" 2>"$WORK/stderr"
	holds "$name: nothing on stderr of this either" test ! -s "$WORK/stderr"
	holds "$name: nothing is malformed" test -z "$(awk -F'\t' '$2 $3 != ""' "$WORK/$name.frames")"
	# Status 1: something fails; 3: nothing of MPA in it.
	{ "$WARPCHECK" audit --format jsonl "$capture" 2>"$WORK/stderr" || [[ $? =~ ^[134]$ ]]; } | jq -r 'select(.type == "result" and
		(.verdict | IN("FAIL", "WARN", "AMBIGUOUS"))) |
		"\(.frame) \(.id) \(.verdict)"' | LC_ALL=C sort -u >"$WORK/$name.audit"
	awk -F'\t' '{ n = split($5, id, ","); split($6, v, ","); for (i = 1; i <= n; i++) print $1, id[i], v[i] }' "$WORK/$name.frames" |
		LC_ALL=C sort -u >"$WORK/$name.found"
	holds "$name: every finding of the audit is in its frame" test -z "$(LC_ALL=C comm -23 "$WORK/$name.audit" "$WORK/$name.found")"
	holds "$name: and none of other requirements" diff <(cut -d' ' -f2 "$WORK/$name.audit" | LC_ALL=C sort -u) \
		<(cut -d' ' -f2 "$WORK/$name.found" | LC_ALL=C sort -u)
	if [ -n "$(awk -v n="$name" '$1 == n' "$WORK/corpus/sent.tsv")" ]; then
		sent=$(awk -v n="$name" '$1 == n { print $2 }' "$WORK/corpus/sent.tsv")
		shown=$(cut -f4 "$WORK/$name.frames" | values)
		# Behind a loss the first FPDU may be passed over for one that a Marker points to.
		case $name in lost-with-markers) sent=$((sent - 1)) ;; esac
		holds "$name: $sent FPDUs sent, $shown shown" test "$sent" = "$shown"
	fi
done
# A payload with Markers inside, or cut into octets, is what was sent.
holds "every payload with Markers is as sent" \
	test "$(cat "$WORK"/markers-*.two "$WORK"/over-ipv6.two "$WORK"/sequence-wrap.two "$WORK"/octet-by-octet.two |
		grep -o '"warp.payload":"[0-9a-f]*:' | wc -l)" = 0

# Every feature that the documentation's table claims.
while IFS=$'\t' read -r feature name wanted filter _ options; do
	[[ $feature != \#* ]] || continue
	read -ra options <<<"$options"
	holds "$name: $feature" test "$(ours -2 -r "$WORK/corpus/$name.pcap" "${options[@]}" -Y "$filter" 2>/dev/null | wc -l)" = "$wanted"
done <tests/e2e/dissector_features.tsv

siw=$WORK/corpus/siw-rping-terminate.pcap
expect 0 "the list of plugins has it" "${with_plugin[@]}" -G plugins
says '^warpcheck\.so'
expect 0 "a finding can be filtered for" "${with_plugin[@]}" -r "$siw" -Y 'warp.finding.id == "RDMAP-4.8-02"'
says '^ *13 .* iWARP .* Terminate qn 2'
holds "the siw capture's findings are those of the audit" diff \
	<(awk -F'\t' '!/^#/ { print $4, $2 }' pcaps/linux-siw/findings.tsv) \
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
expect 0 "what is no iWARP is left alone" "${with_plugin[@]}" -r "$WORK/corpus/not-iwarp.pcap" -Y warp
holds "no frame of it" test ! -s "$WORK/stdout"
expect 0 "Decode As says why nothing is shown" "${with_plugin[@]}" -d tcp.port==7174,warp -r "$WORK/corpus/not-iwarp.pcap" -V
says 'Neither a start-up frame nor an FPDU that can be verified was seen'
expect 0 "so does the port's preference" "${with_plugin[@]}" -o warp.tcp.port:7174 -r "$WORK/corpus/not-iwarp.pcap" -Y warp.undecoded.expert
says 'iWARP'
expect 0 "without rules" "${with_plugin[@]}" -o warp.findings:FALSE -r "$siw" -Y warp.finding
holds "none then" test ! -s "$WORK/stdout"
expect 0 "the built-in dissectors are still there" "${with_plugin[@]}" --disable-protocol warp -r "$siw" -Y iwarp_mpa
says 'DDP/RDMA'
expect 0 "statistics" "${with_plugin[@]}" -q -z warp,tree -r "$WORK/corpus/every-opcode.pcap"
says '^ Atomic Request +3 '
says '^ 1 10\.77\.0\.1:40000 > 10\.77\.0\.2:7174 +19 '
says '^  from the Responder +6 '
says '^   RDMA Read Response +3 +300\.00 +300 +300 '
expect 0 "statistics of findings" "${with_plugin[@]}" -q -z warp,tree -r "$WORK/corpus/behind-the-terminate.pcap"
says '^ RDMAP-5\.4-10 +1 '
# Linux siw's Terminates have the bits of the control word in a little-endian host's order.
expect 0 "a Terminate is drawn as it is meant" "${with_plugin[@]}" -r "$siw" -Y warp.terminate.meant -T fields -e frame.number \
	-e _ws.col.Info -e warp.terminate.meant -e warp.terminate.ddp.stag -e warp.terminate.culprit
says '^13	.*Base or bounds violation \(0x1101\) M D swapped	DDP / Tagged Buffer Error / Base or bounds violation \(0x1101\)	0x185d1400	10$'
# That one reads the same either way, by chance. In this one layer and type differ, and as it stands on the wire it
# would be a DDP error.
cat >"$WORK/own.lua" <<'END'
capture {
  name = "swapped", about = "a Terminate in a little-endian host's order of bits",
  run = function()
    local t = talk {}
    t:open { C = 0 }
    local read = t.read(900)
    t.i:send(talk {}.send(24), read)
    t.r:send(terminate_for("RDMAP_INVALID_STAG", read, { Layer = 1, EType = 0, M = 0, D = 0, R = 0, Reserved = 0x700 }))
    t:finish()
  end,
}

capture {
  name = "no-rtr", about = "a first message that is no RTR where one is due",
  run = function()
    local t = talk {}
    t:open { C = 0, enhanced = { A = 1, C = 1, IRD = 1, ORD = 1 } }
    t.i:send(talk {}.write(0xB1, 100))
    t:finish()
  end,
}
END
cat >"$WORK/over-sctp.lua" <<'END'
capture {
  name = "rtr-over-sctp", about = "an RTR that an enhanced session agrees upon, and a first message that is none",
  run = function()
    local a = association {}
    a:open()
    for sid, data in ipairs { "", "1234" } do
      local word = { A = 1, C = 1, IRD = 1, ORD = 1 }
      a.initiator:control("Enhanced Initiate", { SID = sid, enhanced = word })
      a.responder:control("Enhanced Accept", { SID = sid, enhanced = word })
      a.initiator:send(rdmap.write { STag = 0xB1, data = data }, { SID = sid })
      a.initiator:send(rdmap.send { data = "next" }, { SID = sid })
    end
    a:close()
  end,
}
END
expect 0 "the same over SCTP is made" "$WARPCHECK" gen --only rtr-over-sctp "$WORK/over-sctp.lua" -o "$WORK/rtr-over-sctp.pcap"
chmod a+r "$WORK/rtr-over-sctp.pcap"
expect 0 "Info and tree show the RTR over SCTP" "${with_plugin[@]}" -r "$WORK/rtr-over-sctp.pcap" -Y warp.rtr -T fields -e _ws.col.Info -e warp.rtr
says 'RDMA Write .* \[RTR\]	zero-length RDMA Write$'
says 'RDMA Write .* \[no RTR\]	none: '
holds "one for each session" test "$(wc -l <"$WORK/stdout")" -eq 2
cat >"$WORK/other-sctp.lua" <<'END'
capture {
  name = "other-sctp", about = "another protocol with DDP's PPIDs, from mid-stream on",
  run = function()
    local a = association {}
    for _, side in ipairs { a.initiator, a.responder } do
      side:user("\0\15\0\8another", { PPID = net.payload_protocols.control })
      side:user("\1\0\0\5segment of none", { PPID = net.payload_protocols.segment })
    end
  end,
}
END
expect 0 "another protocol with the PPIDs is made" "$WARPCHECK" gen "$WORK/other-sctp.lua" -o "$WORK/other-sctp.pcap"
chmod a+r "$WORK/other-sctp.pcap"
expect 0 "nothing of it is drawn as DDP" "${with_plugin[@]}" -r "$WORK/other-sctp.pcap" -Y warp
holds "no packet is" test ! -s "$WORK/stdout"
expect 0 "its data are the rest's" "${with_plugin[@]}" -r "$WORK/other-sctp.pcap" -Y data -T fields -e data.len
holds "whole" test "$(tr '\n' ' ' <"$WORK/stdout")" = "11 19 11 19 "
expect 0 "a first message that is no RTR is made" "$WARPCHECK" gen --only no-rtr "$WORK/own.lua" -o "$WORK/no-rtr.pcap"
chmod a+r "$WORK/no-rtr.pcap"
expect 0 "Info says so, as the tree does" "${with_plugin[@]}" -r "$WORK/no-rtr.pcap" -Y warp.rtr -T fields -e _ws.col.Info -e warp.rtr
says 'RDMA Write .* \[no RTR\]	none: '
expect 0 "such a Terminate is made" "$WARPCHECK" gen --only swapped "$WORK/own.lua" -o "$WORK/swapped.pcap"
chmod a+r "$WORK/swapped.pcap"
expect 0 "Info, meaning, culprit and quoted header are those that are meant" "${with_plugin[@]}" -r "$WORK/swapped.pcap" -Y warp.terminate.meant -T fields \
	-e _ws.col.Info -e warp.terminate.error -e warp.terminate.meant -e warp.terminate.culprit -e warp.terminate.read.srcstag
says 'L RDMAP / Remote Protection Error / Invalid STag \(0x0100\) M D R swapped	DDP / Local Catastrophic \(0x1000\)	RDMAP / Remote Protection Error / Invalid STag \(0x0100\)	6	0x000000b1$'
expect 0 "one whose bits are in order has but one reading" "${with_plugin[@]}" -r "$WORK/corpus/terminate-untagged.pcap" -Y warp.terminate.meant
holds "so no second one is shown" test ! -s "$WORK/stdout"
expect 0 "atomics say what they do, and where" "${with_plugin[@]}" -r "$WORK/corpus/atomics.pcap"
says 'Atomic Request qn 1 msn 1 mo 0 L FetchAdd id 100 stag 0x000000c1 to 0x3000$'
says 'Atomic Response qn 3 msn 1 mo 0 L id 100 value 0x2a$'

# What is decided at the end of a connection is protocol warp in one pass too, and has the side that is meant; nobody is
# said to have sent it.
expect 0 "findings of the end" "${with_plugin[@]}" -r "$WORK/corpus/behind-the-reply.pcap" -Y 'warp.finding.id == "MPA-7.1.2-17"' \
	-T fields -e frame.number -e frame.protocols -e _ws.col.Protocol -e warp.from -e warp.finding.side
says '^8	eth:ethertype:ip:tcp:warp	iWARP		Responder$'
expect 0 "the same in two passes" "${with_plugin[@]}" -2 -r "$WORK/corpus/behind-the-reply.pcap" -Y 'warp.finding.id == "MPA-7.1.2-17"' \
	-T fields -e frame.number -e frame.protocols -e warp.from -e warp.finding.side
says '^5	eth:ethertype:ip:tcp:warp	Responder,Responder,Responder	Responder$'

# One direction alone: after eight segments without a word of the other side the FPDUs are shown as they come, in one
# pass too.
for name in one-way one-way-responder one-way-with-markers one-way-without-crc; do
	shown() { ours "$@" -r "$WORK/corpus/$name.pcap" -T fields -e warp.rdmap.opcode 2>"$WORK/stderr" | values; }
	holds "$name: one pass shows as many FPDUs as two" test "$(shown)" = 40 -a "$(shown -2)" = 40
	frames=$(ours -r "$WORK/corpus/$name.pcap" -Y warp.ddp -T fields -e frame.number 2>"$WORK/stderr" | wc -l)
	holds "$name: $frames of them in frames of their own" test "$frames" -ge 33
	expect 0 "$name: what only the end shows" "${with_plugin[@]}" -2 -r "$WORK/corpus/$name.pcap" -Y warp.at_end
	holds "$name: nothing of it" test ! -s "$WORK/stdout"
done

# Where TCP puts segments in order first, it hands over the new octets of a retransmission alone; nothing else is shown
# for it.
for name in retransmitted out-of-order overlap-differs; do
	units() { ours -2 "$@" -r "$WORK/corpus/$name.pcap" -T fields -e frame.number -e warp.rdmap.opcode -e warp.ddp.msn -e warp.ddp.to 2>"$WORK/stderr"; }
	holds "$name: segments put in order by TCP change nothing" diff <(units) <(units -o tcp.reassemble_out_of_order:TRUE)
done

# Data whose acknowledgment stands earlier in the file: TCP takes them for a retransmission.
perl -e 'binmode STDIN; binmode STDOUT; local $/; $_ = <STDIN>; my ($at, @f) = (24);
	while ($at < length) { my $n = 16 + unpack("x8V", substr $_, $at, 12); push @f, substr $_, $at, $n; $at += $n; }
	@f[7, 8] = @f[8, 7]; print substr($_, 0, 24), @f;' <"$siw" >"$WORK/ack-first.pcap"
chmod a+r "$WORK/ack-first.pcap"
expect 0 "data after their acknowledgment" "${with_plugin[@]}" -2 -r "$WORK/ack-first.pcap" -Y 'frame.number in {8, 9}' \
	-T fields -e frame.number -e frame.protocols -e warp.rdmap.opcode -e tcp.analysis.spurious_retransmission
says '^8	eth:ethertype:ip:tcp:warp	(0x0)?1	$'
says '^9	eth:ethertype:ip:tcp:warp	(0x0)?3	1$'

"${with_plugin[@]}" -G fields >"$WORK/fields"
holds "every field has a description" test -z "$(awk -F'\t' '$1 == "F" && $3 ~ /^warp(\.|$)/ && $8 == ""' "$WORK/fields")"
holds "fields were found" test "$(awk -F'\t' '$1 == "F" && $3 ~ /^warp\./' "$WORK/fields" | wc -l)" -gt 200
# A filter for a field that nothing ever has finds nothing, and says so of no capture. These are in no capture of the
# corpus: SIDR, an ABORT of SCTP, what follows a Terminate's quoted headers, what only one pass shows; findings are not
# in the golden files.
# ULPs beyond their negotiation are in tests/data/why.
for name in 2-smb-direct 4-iser 5-nvme 3-rpc-over-rdma; do
	"$WARPCHECK" gen --only healthy "tests/data/why/$name.lua" -o "$WORK/ulp.pcap" >/dev/null
	chmod a+r "$WORK/ulp.pcap"
	"${with_plugin[@]}" -2 -r "$WORK/ulp.pcap" -T json >"$WORK/$name.ulp"
done
"$WARPCHECK" dump --format jsonl "$WORK/ulp.pcap" | jq -r '.. | objects | .rpcrdma_segments? // empty | .[] | .Handle, .Length' | LC_ALL=C sort >"$WORK/chunks"
"${with_plugin[@]}" -2 -r "$WORK/ulp.pcap" -T fields -E aggregator=' ' -e warp.rpcrdma.read_segment.handle -e warp.rpcrdma.read_segment.length \
	-e warp.rpcrdma.segment.handle -e warp.rpcrdma.segment.length | tr -s ' \t' '\n' | sed '/^$/d' | LC_ALL=C sort >"$WORK/drawn"
holds "the last capture has chunks" test -s "$WORK/chunks"
holds "they are drawn as dump reads them" diff "$WORK/chunks" "$WORK/drawn"
# The port mapper's messages belong to no flow, so that no unit has them.
"${with_plugin[@]}" -2 -r "$WORK/corpus/port-mapper.pcap" -T json >"$WORK/port-mapper.ulp"
"$WARPCHECK" dump --format jsonl "$WORK/corpus/port-mapper.pcap" | jq -r 'select(.type == "port_mapper").port_mapper | [.MT, .ApPort, .CpPort, .AssocHandle] | @tsv' >"$WORK/mapped"
"${with_plugin[@]}" -2 -r "$WORK/corpus/port-mapper.pcap" -Y warp.port_mapper -T fields -e warp.port_mapper.mt -e warp.port_mapper.apport \
	-e warp.port_mapper.cpport -e warp.port_mapper.assochandle >"$WORK/drawn"
holds "the port mapper has messages" test -s "$WORK/mapped"
holds "and they are drawn as dump reads them" diff "$WORK/mapped" "$WORK/drawn"
jq -rs '[.. | objects | keys[]] | unique[]' "$WORK"/*.two "$WORK"/*.ulp | grep '^warp' | LC_ALL=C sort -u >"$WORK/seen"
awk -F'\t' '$1 == "F" && $4 != "FT_NONE" && $3 ~ /^warp\./ { print $3 }' "$WORK/fields" | LC_ALL=C sort -u >"$WORK/named"
LC_ALL=C comm -23 "$WORK/named" "$WORK/seen" | grep -vE '^warp\.(cm\.sidr_re[qp]\.|sctp\.chunk\.|finding|terminate\.excess$|waited_since$)' >"$WORK/never" || true
holds "no field that no capture shows: $(tr '\n' ' ' <"$WORK/never")" test ! -s "$WORK/never"
expect 0 "response times" "${with_plugin[@]}" -q -z warp,srt -r "$WORK/corpus/every-opcode.pcap"
says 'RDMA Read +1 +0\.000250'
says 'Atomic +3 +0\.000250'
expect 0 "conversations" "${with_plugin[@]}" -q -z conv,warp -r "$WORK/corpus/three-flows.pcap"
holds "three of them, with ports" test "$(grep -cE '^10\.77\.0\.1:[0-9]+ *<-> 10\.77\.0\.2:7174 *5 .* 9 .* 14 ' "$WORK/stdout")" = 3
expect 0 "a 4-tuple used again" "${with_plugin[@]}" -q -z conv,warp -r "$WORK/corpus/four-tuple-reuse.pcap"
holds "is two conversations" test "$(grep -c '<->' "$WORK/stdout")" = 2
expect 0 "endpoints" "${with_plugin[@]}" -q -z endpoints,warp -r "$WORK/corpus/three-flows.pcap"
says '^10\.77\.0\.2 +7174 +42 '

# Over SCTP a line for the association and one for each session in it; a packet with messages of two is one of an
# endpoint.
expect 0 "conversations over SCTP" "${with_plugin[@]}" -q -z conv,warp -r "$WORK/corpus/sctp-sessions.pcap"
holds "six of them, with ports" test "$(grep -cE '^192\.0\.2\.[12]:442[01] *<-> 192\.0\.2\.[12]:442[01] ' "$WORK/stdout")" = 6
expect 0 "endpoints of SCTP" "${with_plugin[@]}" -q -z endpoints,warp -r "$WORK/corpus/sctp-sessions.pcap"
holds "with ports, and each packet once" test "$(awk '$2 == 4420 { print $3 }' "$WORK/stdout")" -le "$(ours -r "$WORK/corpus/sctp-sessions.pcap" | wc -l)"
expect 0 "conversations of CM messages" "${with_plugin[@]}" -q -z conv,warp -r "$WORK/corpus/cm-roce-v2.pcap"
holds "eleven, by the addresses of IP" test "$(grep -cE '^192\.0\.2\.[12]:1 *<-> 192\.0\.2\.[12]:1 ' "$WORK/stdout")" = 11
holds "and no others" test "$(grep -c -- '<->' "$WORK/stdout")" = 11

expect 0 "what the ULPs sent" "${with_plugin[@]}" -q -z follow,warp,raw,1 -r "$WORK/corpus/nfs-rdma.pcap"
says '^00000077000000010000000800000000'
says '^	00000077000000010000000800000000'

# The profile, and every filter that it and the documentation name.
mkdir -p "$WORK/home/.config/wireshark/profiles/iWARP"
cp dissector/profile/* "$WORK/home/.config/wireshark/profiles/iWARP/"
chmod -R a+rX "$WORK/home"
with_home=("${as_user[@]}" env HOME="$WORK/home" WIRESHARK_PLUGIN_DIR="$plugins" "$TSHARK")
expect 0 "the profile's columns" "${with_home[@]}" -C iWARP -r "$siw" -Y 'frame.number == 13'
says ' 13 .* 1 +Responder +1 +20 +RDMAP-4\.8-02.* Terminate'
holds "no complaint about the profile" test ! -s "$WORK/stderr"
filters=()
# shellcheck disable=SC2016
while IFS= read -r filter; do
	filters+=("$filter")
done < <(awk -F@ '/^@/ { print $3 }' dissector/profile/colorfilters; awk -F'","' '/^"/ { print $3 }' dissector/profile/dfilter_buttons
	sed -n '/^## Display filters/,/^## /p' docs/dissector.md | grep '^|' | grep -oE '`(warp|not |tcp)[^`]*`' | tr -d '`' | grep -v '^tcp.stream$')
holds "filters were found" test "${#filters[@]}" -gt 30
printf -v all ' || (%s)' "${filters[@]}"
expect 0 "the filters" "${with_plugin[@]}" -r "$siw" -Y "${all# || }"

# Each layer is a protocol below warp: the hierarchy of protocols counts them.
expect 0 "the hierarchy of protocols" "${with_plugin[@]}" -q -z io,phs -r "$siw"
says '^ +tcp +frames:'
for protocol in warp warp.mpa warp.ddp warp.rdmap; do
	count=$("${with_plugin[@]}" -r "$siw" -Y "$protocol" 2>/dev/null | wc -l)
	holds "$protocol is there" test "$count" -gt 0
	says "^ +${protocol//./\\.} +frames:$count "
done
expect 0 "that of CM messages" "${with_plugin[@]}" -q -z io,phs -r "$WORK/corpus/cm-roce-v2.pcap"
says '^ +warp\.cm +frames:'
expect 0 "T says which model it is" "${with_plugin[@]}" -r "$siw" -Y warp.ddp -V
says '= T: tagged$'
says '= T: untagged$'

# The built-in dissectors' names: the values are theirs, on captures that they master. Not those of what they get wrong (docs/dissector.md),
# of a Marker's list (one here for each Marker), nor of how they put Sends together.
builtin_only -G fields 2>/dev/null | awk -F'\t' '$1 == "F" && $3 ~ /^iwarp_(mpa|ddp|rdma)(\.|$)/ && $3 !~ /not_set|reject_bit|bad_length|send\.(fragment|reassembled_in)|mpa\.markers$/ { print $3 }' >"$WORK/builtin"
names=()
while IFS= read -r name; do names+=(-e "$name"); done <"$WORK/builtin"
# What a newer one says of the enhanced word and of Private Data with it.
for name in every-opcode private-data terminate-untagged terminate-tagged many-in-one markers-alone atomics long-messages nfs-rdma terminate-mpa; do
	builtin_only -r "$WORK/corpus/$name.pcap" -T fields "${names[@]}" >"$WORK/theirs" 2>/dev/null
	ours -o warp.builtin_names:TRUE -r "$WORK/corpus/$name.pcap" -T fields "${names[@]}" >"$WORK/mine" 2>/dev/null
	awk -F'\t' 'FILENAME == ARGV[1] { name[FNR] = $1; next } FILENAME == ARGV[2] { line[FNR] = $0; next }
		{ split(line[FNR], theirs, FS); for (i = 1; i <= NF; i++) { if ($i != "") n++; if (theirs[i] != $i && !said[i]++) print name[i] } }
		END { print "values " (n > 40 ? "compared" : "missing: " n) }' "$WORK/builtin" "$WORK/theirs" "$WORK/mine" |
		grep -vE '^iwarp_rdma\.(term_(ddp|rdma)_h|atomic\.(swap|compare)_(data|mask))$|^iwarp_mpa\.(pdlength|legacy|broken_le_legacy)' >"$WORK/differ"
	holds "$name: the built-in names have the built-in values: $(tr '\n' ' ' <"$WORK/differ")" test "$(cat "$WORK/differ")" = "values compared"
done
holds "built-in names were found" test "$(wc -l <"$WORK/builtin")" -gt 60
# Asked for by a filter or a column, without that preference; also where the built-in dissectors show nothing.
for filter in iwarp_mpa.fpdu iwarp_ddp iwarp_ddp_rdmap 'iwarp_ddp.msn == 3' 'iwarp_rdma.opcode == 3'; do
	expect 0 "markers-both: the filter $filter" "${with_plugin[@]}" -r "$WORK/corpus/markers-both.pcap" -Y "$filter"
	holds "finds something" test -s "$WORK/stdout"
	holds "which the built-in dissectors do not" test -z "$(builtin_only -r "$WORK/corpus/markers-both.pcap" -Y "$filter" 2>/dev/null)"
done
expect 0 "a column" "${with_plugin[@]}" -o 'gui.column.format:"Rev","%Cus:iwarp_mpa.rev:0:R"' -r "$siw"
says '^ *2$'
holds "no tree has them otherwise" test "$(ours -r "$siw" -T json | grep -c '"iwarp_')" = 0

# Messages of several segments.
long=$WORK/corpus/long-messages.pcap
messages() { # the lengths of the messages that are whole
	ours "$@" -T fields -e warp.message | tr ',' '\n' | awk 'NF { printf "%s%d", n++ ? " " : "", length($1) / 2 } END { print "" }'
}
holds "a Send of three segments is put together" test "$(messages -r "$long")" = 600
holds "and Writes and Read Responses" test "$(messages -o warp.reassemble_tagged:TRUE -r "$long")" = '1200 600 900 128'
holds "in two passes too" test "$(messages -2 -o warp.reassemble_tagged:TRUE -r "$long")" = '1200 600 900 128'
# shellcheck disable=SC2016
holds "with their octets in order" test "$(ours -o warp.reassemble_tagged:TRUE -r "$long" -T fields -e warp.message |
	tr ',' '\n' | awk 'NF { n = length($1) == 2400 ? 400 : length($1) == 1200 ? 200 : length($1) == 1800 ? 300 : 64
		for (i = 0; i < length($1) / 2; i++)
			wrong += substr($1, 2 * i + 1, 2) != sprintf("%02x", (i % n * 7 + 1) % 256) } END { print wrong + 0 }')" = 0
holds "none of them" test "$(messages -o warp.reassemble:FALSE -r "$long")" = ''
holds "one with a hole is not" test "$(messages -2 -o warp.reassemble_tagged:TRUE -r "$WORK/corpus/messages-with-holes.pcap")" = '1000 1000'

# ULPs: what the built-in dissectors hand over on captures that they master.
ulp=(-T fields -e rpcordma.xid -e rpc.xid -e rpc.procedure -e rpc.reqframe -e smb_direct.version.min -e smb_direct.credits.requested -e _ws.col.Info)
for name in nfs-rdma smb-direct; do
	holds "$name: as behind the built-in dissectors" diff \
		<(builtin_only -r "$WORK/corpus/$name.pcap" -Y 'rpcordma || smb_direct' "${ulp[@]}") \
		<(ours -r "$WORK/corpus/$name.pcap" -Y 'rpcordma || smb_direct' "${ulp[@]}")
	holds "$name: something is" test -n "$(ours -r "$WORK/corpus/$name.pcap" -Y 'rpcordma || smb_direct')"
done
expect 0 "no ULPs" "${with_plugin[@]}" -o warp.ulp:FALSE -r "$WORK/corpus/nfs-rdma.pcap" -Y rpcordma
holds "none of them then" test ! -s "$WORK/stdout"

# Private Data: both ways in for other dissectors, and what is known by itself.
cat >"$WORK/private.lua" <<'END'
local by_port, by_guess = Proto("privport", "By port"), Proto("privguess", "By guess")
local text = ProtoField.string("privport.text", "Text")
by_port.fields = {text}
function by_port.dissector(tvb, pinfo, tree) tree:add(by_port, tvb()):add(text, "port " .. tvb:len()) return tvb:len() end
DissectorTable.get("warp.private_data"):add(40001, by_port)
by_guess:register_heuristic("warp.private_data", function(tvb, pinfo, tree)
	if tvb:len() ~= 8 or tvb(0, 4):uint() ~= 0xF6AB0E18 then return false end
	tree:add(by_guess, tvb())
	return true
end)
END
chmod a+r "$WORK/private.lua"
private=$WORK/corpus/private-data.pcap
expect 0 "private data by port" "${with_plugin[@]}" -X lua_script:"$WORK/private.lua" -r "$private" -Y privport -T fields -e frame.number -e privport.text
says 'port 32$'
expect 0 "private data by heuristic" "${with_plugin[@]}" -X lua_script:"$WORK/private.lua" -r "$private" -Y privguess
holds "in both frames" test "$(wc -l <"$WORK/stdout")" = 2
expect 0 "private data that is known" "${with_plugin[@]}" -r "$private" -T fields -e warp.private.rpcrdma.send_size -e warp.private.nvme.hrqsize -e warp.private.depth.ird
says '^4096'
says '	128	'
says '		16$'

finish
