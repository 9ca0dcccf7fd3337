#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck probe: the reference stack is measured and has no defect; a defect is reported once, by its own id; the profile that is
# written is one of run --dut; a device that cannot be reached, that leaves checksums to hardware, or that is no iWARP device is
# distinguished, with status 4.
# shellcheck disable=SC2016 # jq's variables
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

echo "== the reference stack"
expect 0 "simulated" "$WARPCHECK" probe --simulate -o "$WORK/sim.json"
says '^  start-up +Rev 1 +accepted: Rev 1, M=0, C=1$'
says '^  start-up +Rev 2, enhanced +accepted: Rev 2, M=0, C=1, S=1, .* IRD [0-9]+, ORD [0-9]+$'
says '^  start-up +its Request +sent: Rev 2'
says '^  first FPDU +Rev 1 +RDMA Read Response, CRC right, pad 3 zero, 0 Markers$'
says '^  first FPDU +Rev 1, Markers asked for +RDMA Read Response, CRC right, pad 3 zero, 1 Marker$'
says '^  exchange +as initiator a Send of its ULP +served$'
says '^  start-up +Rev 0 .* accepted: Rev 0, M=1, C=1$'
says '^0 defects; '
holds "Rev 0 is measured with an upper tester, on a listener that is asked for it" \
	jq -e '.capabilities."mpa.rev0" == "yes" and (.questions."mpa.rev0" | startswith("measured by"))' "$WORK/sim.json"
expect 0 "simulated, IPv6, as lines" "$WARPCHECK" probe --simulate --ipv6 --format jsonl
holds "each line has a type, and the last one is the summary" \
	jq -es 'all(.[]; .type | length > 0) and .[-1].type == "summary" and .[-1].status == 0 and .[0].address == "fd77::2"' "$WORK/stdout"
holds "all exchanges are served, in both roles" \
	jq -es '[.[] | select(.type == "exchange")] | (group_by(.name) | length > 6 and all(.[]; map(.role) == ["initiator", "responder"] or map(.role) == ["responder", "initiator"])) and
		all(.[]; .served or .name == "unasked send" or (.name == "connections" and .role == "initiator"))' "$WORK/stdout"
expect 0 "embedded" "$WARPCHECK" probe --format jsonl
holds "its neighbour answers, its ICMP does, its checksums are good" \
	jq -es '(.[] | select(.type == "reach") | .answered and .icmp_echo) and (.[] | select(.type == "checksums") | .segments > 20 and .wrong == 0)' "$WORK/stdout"

echo "== the profile"
holds "what was measured" jq -e '.capabilities | .ird > 0 and ."mpa.rev2" == "yes" and ."rtr.read" == "yes"' "$WORK/sim.json"
holds "what was not is missing there, and marked with its question" \
	jq -e '(.capabilities | has("domains") | not) and (.questions.domains | test("^not measured, the default counts: yes: .*[?]$"))' "$WORK/sim.json"
jq '.interface = "lo"' "$WORK/sim.json" >"$WORK/profile.json"
passes=any
expect 0 "run --dut takes it" "$WARPCHECK" run --dut "$WORK/profile.json" --dry-run 'MPA-7.1.1-*'
expect 0 "pics --dut takes it" "$WARPCHECK" pics --dut "$WORK/profile.json" ird
says '^ird +[0-9]+ +\(the profile'
passes=none
expect 2 "a file that is there stays" "$WARPCHECK" probe --simulate -o "$WORK/sim.json"
complains 'is there already'
expect 0 "--force replaces it" "$WARPCHECK" probe --simulate -o "$WORK/sim.json" --force
expect 4 "a folder that is not there" "$WARPCHECK" probe --simulate -o "$WORK/none/sim.json"
complains 'cannot write the profile'

echo "== defects: each once, under its own id"
while read -r defect id; do
	expect 1 "$defect" "$WARPCHECK" probe --simulate --defect "$defect" --format jsonl
	holds "$defect is told once, as $id" jq -es --arg id "$id" '[.[] | select(.type == "defect").id] == [$id]' "$WORK/stdout"
done <<'DEFECTS'
mpa-pad-for-ulpdu MPA-4.1-06
mpa-pad-word-more MPA-4.1-06
mpa-pad-stale MPA-4.1-03
mpa-crc-before-pad MPA-4.1-01
mpa-crc-big-endian MPA-4.4-14
mpa-crc-inverted MPA-4.4-14
mpa-crc-without-pad MPA-4.4-15
mpa-crc-both-bits MPA-7.1.1-13
mpa-length-with-header MPA-4.1-02
mpa-length-with-markers MPA-4.1-02
mpa-markers-own-bit MPA-7.1.1-07
mpa-reply-key-wrong MPA-7.1.1-04
mpa-reply-length-more MPA-7.1.1-26
mpa-request-length-endian MPA-7.1.1-26
DEFECTS
expect 2 "an unknown defect" "$WARPCHECK" probe --simulate --defect no-such-defect

echo "== the command line"
expect 2 "an address without an interface" "$WARPCHECK" probe 192.0.2.7:9999
complains 'needs --interface IF'
expect 2 "a device and the reference stack" "$WARPCHECK" probe 192.0.2.7:9999 --interface lo --own-address 192.0.2.9 --simulate
expect 2 "two devices" "$WARPCHECK" probe a.json b.json
expect 2 "no such profile" "$WARPCHECK" probe "$WORK/none.json"
expect 2 "two families" "$WARPCHECK" probe '[fd00::7]:9999' --interface lo --own-address 192.0.2.9
complains 'different families'
expect 2 "an unknown format" "$WARPCHECK" probe --simulate --format xml
expect 4 "no such interface" unshare -rn "$WARPCHECK" probe 192.0.2.7:9999 --interface none0 --own-address 192.0.2.9

echo "== devices at the end of a cable"
cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/expect.bash
source tests/e2e/cable.bash
probe() { expect "$1" "$2" "$WARPCHECK" probe 192.0.2.7:9999 --interface tester --own-address 192.0.2.9 "${@:3}"; }
cable device tester 192.0.2.7/24
probe 4 "nobody listens"
says '^  reach +ARP: answered by .*; ICMP echo: answered$'
says '^  TCP .* refused by the peer'
says '^no profile is written'
# A listener of which nothing can be asked.
"$IWARP_PEER" --bind 192.0.2.7 --listen 9999 >"$WORK/peer.out" 2>&1 </dev/null &
peer=$!
trap 'kill "$peer"' EXIT
prints "$peer" "$WORK/peer.out" READY
probe 0 "iwarp-peer, without its upper tester" -o "$WORK/device.json"
says '^  exchange +as responder a zero-length RDMA Read +served$'
says '^  exchange +as responder a Send to its ULP +not asked: nobody could ask for it$'
holds "measured by the Replies" jq -e '.capabilities."mpa.crc_off" == "no" and (.questions."mpa.crc_off" | startswith("measured by"))' "$WORK/device.json"
probe 0 "an upper tester that does not answer" --control 192.0.2.7:9 --format jsonl
holds "is told, and the device is probed without" jq -es '.[] | select(.type == "upper tester") | .answers == false' "$WORK/stdout"
# The same listener with an upper tester that can be asked for nothing: what the device does by itself counts.
echo 0123456789abcdef >"$WORK/token"
python3 upper-tester/skeleton/skeleton.py --address 192.0.2.7 --port 7471 --listen 9999 >"$WORK/upper.out" 2>&1 </dev/null &
upper=$!
trap 'kill "$peer" "$upper"' EXIT
prints "$upper" "$WORK/upper.out" READY
probe 0 "iwarp-peer, beside an upper tester that knows no option" --control 192.0.2.7:7471 --control-token "$WORK/token" -o "$WORK/beside.json"
says '^  start-up +Rev 0 .* it closes the connection \(FIN\)$'
holds "the profile names the token's file" jq -e --arg token "$WORK/token" '.control_token_file == $token' "$WORK/beside.json"
holds "Rev 0 is measured" jq -e '.capabilities."mpa.rev0" == "no" and (.questions."mpa.rev0" | startswith("measured by"))' "$WORK/beside.json"
perl -e 'use Socket; socket(my $s, AF_INET, SOCK_DGRAM, 0) or die; my $value = pack("LL", 0x17, 1);
	my $request = pack("a16 P x16", "device", $value); ioctl($s, 0x8946, $request) or die "$!\n"'
probe 4 "TX checksums are left to hardware"
says 'wrong in [0-9]+ of [0-9]+ TCP segments: they are left to hardware'
says 'turn that off: ethtool -K device tx off'
expect 4 "a run has the remedy, too" "$WARPCHECK" run --dut "$WORK/device.json" 'MPA-7.1.1-*'
complains 'answers with wrong checksums \([0-9]+ frames\): .* ethtool -K INTERFACE tx off'
# It answers Requests of Rev 1, and then closes: what it does with start-up frames is judged, and nothing else.
kill "$peer"
wait "$peer" 2>/dev/null || true
ip link del device
cable device tester 192.0.2.7/24
perl -e 'use IO::Socket::INET; my $listener = IO::Socket::INET->new(LocalPort => 9999, Listen => 64, ReuseAddr => 1) or die "$!\n";
	$| = 1; print "READY\n";
	while (my $stream = $listener->accept) {
		read($stream, my $request, 20) == 20 or next;
		syswrite $stream, "MPA ID Rep Frame\x40\x01\0\0" if substr($request, 17, 1) eq "\x01";
		1 while sysread $stream, my $rest, 4096;
	}' >"$WORK/replies.out" 2>&1 </dev/null &
peer=$!
prints "$peer" "$WORK/replies.out" READY
probe 4 "a device that serves start-ups alone"
says '^  exchange +as responder a start-up +served$'
complains 'serves no exchange after a start-up: a run can judge its start-ups alone$'
# It says something else to every connection, as a service of another protocol does.
kill "$peer"
wait "$peer" 2>/dev/null || true
perl -e 'use IO::Socket::INET; my $listener = IO::Socket::INET->new(LocalPort => 9999, Listen => 64, ReuseAddr => 1) or die "$!\n";
	$| = 1; print "READY\n";
	while (my $stream = $listener->accept) {
		syswrite $stream, "220 mail.example.net ESMTP \x00\xff" . "x" x 100;
		1 while sysread $stream, my $rest, 4096;
	}' >"$WORK/garbage.out" 2>&1 </dev/null &
peer=$!
prints "$peer" "$WORK/garbage.out" READY
probe 4 "a service of another protocol" -o "$WORK/other.json"
complains 'nothing shows that the device speaks MPA'
says 'octets that are no MPA reply, but SMTP or FTP: 220 mail.example.net ESMTP'
says '^no profile is written: nothing was measured'
holds "and there is none" test ! -e "$WORK/other.json"
ip addr del 192.0.2.7/24 dev device
probe 4 "nobody answers for the address"
says '^  reach +ARP: no answer'
kill "$peer"
wait "$peer" 2>/dev/null || true
ip link del device
# The other end in a namespace of its own, at the index that this end has here: obeying the remedy has to change something.
unshare -n sleep infinity &
other=$!
trap 'kill "$peer" "$upper" "$other" 2>/dev/null' EXIT
elsewhere() { [ "$(readlink /proc/$other/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }
eventually "$other" elsewhere
there() { nsenter -n -t "$other" "$@"; }
ip link add tester index 2 type veth peer name device index 2 netns "$other"
ip link set tester up
there ip addr add 192.0.2.7/24 dev device
there ip link set lo up
there ip link set device up
holds "both ends have one index" test "$(ip -o link show tester | cut -d: -f1)" = "$(there ip -o link show device | cut -d: -f1)"
nsenter -n -t "$other" "$IWARP_PEER" --bind 192.0.2.7 --listen 9999 >"$WORK/there.out" 2>&1 </dev/null &
peer=$!
prints "$peer" "$WORK/there.out" READY
probe 4 "TX checksums are left to hardware, in another namespace"
says "turn that off: in the device's network namespace: ethtool -K device tx off"
kill "$peer" "$other"
finish
INSIDE
mkdir "$WORK/inside"
expect 0 "reach, TCP, checksums" env WORK="$WORK/inside" B="$B" WARPCHECK="$WARPCHECK" IWARP_PEER="$IWARP_PEER" unshare -rn bash "$WORK/inside.sh"
sed 's/^/      /' "$WORK/stdout"
finish
