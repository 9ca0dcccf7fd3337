#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck gen as a user has it: frames on the command line, the examples of generator/examples, bad scripts, and the project's own
# corpus, made anew: as it lies in pcaps/generated, with what the audit rightly finds. tshark (without our plugin) reads what was
# meant.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
gen=("$WARPCHECK" gen)
examples=generator/examples

# found FOLDER: what the audit finds there, as findings.tsv has it.
found() {
	{ "$WARPCHECK" audit --format jsonl "$1" || [ $? -le 1 ]; } | jq -r 'select(.type == "result" and .verdict != "PASS") |
		[(.file | sub(".*/"; "")), .id, .verdict, .frame] | @tsv' | LC_ALL=C sort
}
as_expected() { diff -u <(grep -v '^#' "$1/findings.tsv" | LC_ALL=C sort) <(found "$1"); }
fields() { "$TSHARK" -r "$1" -T fields "${@:2}" 2>/dev/null; } # FILE ARGUMENT...

# One frame.
frame='rdmap.send { MSN = 1, data = "x" }'
octets=00134143000000000000000000000001000000007800000019fa318c
expect 0 "a frame as digits" "${gen[@]}" --hex -e "$frame"
says "^$octets\$"
expect 0 "a start-up frame and a damaged FPDU" "${gen[@]}" --hex -e 'mpa.request { enhanced = { A = 1, D = 1, IRD = 4, ORD = 5 } }, fpdu(rdmap.send { MSN = 1, data = "x" }, { crc_flip = 1 })'
says '^4d504120494420526571204672616d655002000480044005$'
says '^0013.*18fa318c$'
expect 0 "as a C array" "${gen[@]}" --c -e "$frame" -o "$WORK/frame.c"
holds "the array compiles" "${cc[@]}" -Wno-unused-const-variable -c -o "$WORK/frame.o" "$WORK/frame.c"
holds "and has the octets" test "$(grep -o '0x[0-9a-f]*' "$WORK/frame.c" | sed 's/0x//' | tr -d '\n')" = "$octets"
expect 0 "as octets" "${gen[@]}" --format raw -e "$frame" -o "$WORK/frame"
holds "so many" test "$(od -An -v -tx1 "$WORK/frame" | tr -d ' \n')" = "$octets"
holds "in a connection of its own, down a pipe" test "$("${gen[@]}" -e "$frame" | fields - -Y iwarp_rdma -e iwarp_rdma.opcode)" = 0x03
holds "from the standard input" test "$(echo "return $frame" | "${gen[@]}" --hex -)" = "$octets"

# The examples.
for script in "$examples"/*.lua; do
	name=$(basename "$script" .lua)
	expect 0 "$name" "${gen[@]}" --corpus "$WORK/ex/$name" "$script"
	expect 0 "$name once more" "${gen[@]}" --corpus "$WORK/ex2/$name" "$script"
	holds "$name: the same octets" diff -r "$WORK/ex/$name" "$WORK/ex2/$name"
	[ "$name" = seeds ] || holds "$name: the audit finds what it says" as_expected "$WORK/ex/$name"
	for capture in "$WORK/ex/$name"/*.pcapng; do
		holds "$name: tshark reads $(basename "$capture")" test "$(fields "$capture" -e frame.number | wc -l)" -gt 0
		[ "$name" = seeds ] || holds "$name: every checksum is right" test -z "$(fields "$capture" -o ip.check_checksum:TRUE \
			-o tcp.check_checksum:TRUE -Y 'ip.checksum.status == 0 || tcp.checksum.status == 0 || sctp.checksum.status == 0' -e frame.number)"
	done
done
exchange=$WORK/ex/exchange/exchange.pcapng
holds "a comment" test "$(fields "$exchange" -Y frame.comment -e frame.comment | sed -n 1p)" = 'the RTR message: a zero-length RDMA Write'
holds "its opcodes" test "$(fields "$exchange" -Y iwarp_rdma -e iwarp_rdma.opcode | tr -s ',\n' '  ')" = '0x00 0x00 0x00 0x00 0x03 0x01 0x02 '
segments=$WORK/ex/segments
sends() { "$WARPCHECK" dump "$1" | grep -c ' Send '; }
for name in aligned cut order ipv6; do holds "$name: eight Sends" test "$(sends "$segments/$name.pcapng")" = 8; done
holds "a hole: seven" test "$(sends "$segments/hole.pcapng")" = 7
holds "late: four" test "$(sends "$segments/late.pcapng")" = 4
holds "tshark sees the disorder" test -n "$(fields "$segments/order.pcapng" -Y 'tcp.analysis.retransmission || tcp.analysis.out_of_order' -e frame.number)"
holds "and the VLAN" test "$(fields "$segments/order.pcapng" -e vlan.id | sort -u)" = 77
holds "and the hole" test -n "$(fields "$segments/hole.pcapng" -Y 'tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment' -e frame.number)"
holds "and IPv6" test "$(fields "$segments/ipv6.pcapng" -e ipv6.src | sort -u | sed -n 1p)" = fd77::1
holds "SCTP: a chunk that came twice" test "$(fields "$WORK/ex/others/sctp.pcapng" -Y 'sctp.retransmission' -e frame.number | wc -l)" = 1
holds "CM: a REQ and a REJ" test "$(fields "$WORK/ex/others/cm.pcapng" -e infiniband.mad.attributeid | tr '\n' ' ')" = '0x0010 0x0012 '

# What the documentation shows.
awk -v to="$WORK/shown" '/^```lua$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > (to n ".lua") }' docs/writing-captures.md
for script in "$WORK"/shown*.lua; do
	expect 0 "the documentation's $(basename "$script" .lua)" "${gen[@]}" "$script" -o "$WORK/shown.pcapng"
	holds "has iWARP in it" test "$("$WARPCHECK" dump "$WORK/shown.pcapng" | grep -c 'MPA Re')" = 2
done
holds "three of them" test -e "$WORK/shown3.lua" -a ! -e "$WORK/shown4.lua"

# Seeds, arguments, formats.
holds "another seed, other frames" test "$("${gen[@]}" --hex --seed 1 "$examples/seeds.lua")" != "$("${gen[@]}" --hex --seed 2 "$examples/seeds.lua")"
holds "so many as were asked for" test "$("${gen[@]}" --hex --set count=5 "$examples/seeds.lua" | wc -l)" = 5
expect 0 "pcap by its suffix" "${gen[@]}" "$examples/exchange.lua" -o "$WORK/exchange.pcap"
holds "the same packets" diff <(fields "$WORK/exchange.pcap" -e tcp.payload -e frame.time_epoch) <(fields "$exchange" -e tcp.payload -e frame.time_epoch)
expect 0 "raw IP" "${gen[@]}" -e 'capture { link = "raw" } flow {}:open()' -o "$WORK/raw.pcapng"
holds "is read" test "$(fields "$WORK/raw.pcapng" -Y iwarp_mpa -e frame.number | wc -l)" = 2
expect 0 "cut packets" "${gen[@]}" -e 'capture { snap = 60 } flow {}:open()' -o "$WORK/cut.pcapng"
holds "are cut" test "$(fields "$WORK/cut.pcapng" -e frame.cap_len | sort -u | tail -n 1)" = 60
expect 0 "one of several" "${gen[@]}" --only lawful "$examples/faults.lua" -o "$WORK/lawful.pcapng"
expect 0 "their names" "${gen[@]}" --list "$examples/faults.lua"
says '^crc-swapped +all CRCs'

# What is refused, and how.
script() { # TEXT...: a script of these lines; sets `bad`
	bad=$WORK/bad.lua
	printf '%s\n' "$@" >"$bad"
}
script 'local f = flow {}' 'f:open()' 'f.initiator:send(rdmap.send { Colour = 1 })'
expect 2 "a field that is not there" "${gen[@]}" "$bad" -o "$WORK/none.pcapng"
complains "bad.lua:3: Send has no field called 'Colour'\$"
holds "leaves no file" test ! -e "$WORK/none.pcapng" -a ! -e "$WORK/none.pcapng.part"
script 'flow }'
expect 2 "a script that does not read" "${gen[@]}" "$bad" -o "$WORK/none.pcapng"
complains 'bad.lua:1: '
script 'while true do end'
expect 2 "a script without end" "${gen[@]}" "$bad" -o "$WORK/none.pcapng"
complains 'bad.lua:1: the script does not end$'
script 'io.open("/etc/passwd")'
expect 2 "files are not for scripts" "${gen[@]}" "$bad" -o "$WORK/none.pcapng"
complains "bad.lua:1: .*'io'"
script 'x = 1'
expect 3 "no packet" "${gen[@]}" "$bad" -o "$WORK/none.pcapng"
complains 'describes no packet'
expect 2 "several captures for one file" "${gen[@]}" "$examples/faults.lua" -o "$WORK/none.pcapng"
complains 'has 5 captures: choose one with --only'
expect 3 "a name that is not there" "${gen[@]}" --only nobody "$examples/faults.lua" -o "$WORK/none.pcapng"
expect 2 "a script that is not there" "${gen[@]}" "$WORK/nobody.lua"
complains 'nobody.lua: No such file'
expect 2 "nothing at all" "${gen[@]}"
complains 'one script, one -e TEXT, or --corpus DIR'
expect 2 "an unknown option" "${gen[@]}" --colour
expect 2 "an unknown format" "${gen[@]}" --format jpeg -e "$frame"
expect 2 "a seed that is no number" "${gen[@]}" --seed x -e "$frame"
expect 2 "--set without a value" "${gen[@]}" --set x -e "$frame"
expect 2 "--corpus with -o" "${gen[@]}" --corpus "$WORK/x" -o "$WORK/y"
expect 4 "a folder that is not there" "${gen[@]}" -e "$frame" -o "$WORK/nowhere/x.pcapng"
complains 'nowhere/x.pcapng: cannot write'
for format in pcapng pcap hex c raw; do
	expect 4 "a full disk, $format" "${gen[@]}" --format "$format" -e 'for _ = 1, 1000 do packet(("x"):rep(1000)) end' -o /dev/full
	complains 'No space left on device'
done

# The project's own corpus.
expect 0 "the corpus" "${gen[@]}" --corpus "$WORK/corpus"
for file in pcaps/generated/* "$WORK"/corpus/generated/*; do
	name=$(basename "$file")
	cmp -s "$WORK/corpus/generated/$name" "pcaps/generated/$name" || wrong "$name: not as in pcaps/generated"
done
for folder in "$WORK"/corpus/*/; do
	folder=${folder%/}
	holds "$(basename "$folder"): the audit finds what is expected" as_expected "$folder"
done
holds "the stack's corpus has captures with and without faults" test "$(cut -f1 "$WORK/corpus/reference-stack/findings.tsv" | sort -u | wc -l)" -gt 40 \
	-a "$(find "$WORK/corpus/reference-stack" -name '*.pcapng' | wc -l)" -gt 90
if [ -x "$WARPCHECK_ASAN" ]; then
	expect 0 "the corpus, sanitised" "$WARPCHECK_ASAN" gen --corpus "$WORK/sanitised"
	holds "is the same" diff -r "$WORK/corpus" "$WORK/sanitised"
else
	echo "no sanitised program at $WARPCHECK_ASAN"
fi
expect 0 "another seed" "${gen[@]}" --seed 2 --corpus "$WORK/corpus2"
holds "makes other octets of the stack's" test "$(cat "$WORK"/corpus/reference-stack/*.pcapng | cksum)" != "$(cat "$WORK"/corpus2/reference-stack/*.pcapng | cksum)"
holds "and the same of the others" diff -r "$WORK/corpus/generated" "$WORK/corpus2/generated"
holds "where the audit finds what is expected" as_expected "$WORK/corpus2/reference-stack"
finish
