#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck run over SCTP against a live device: the reference stack in a network namespace, and a device that a profile
# names. SCTP is in UDP datagrams (RFC 6951). Verdicts are those of the simulated device; a defect shows; rules, audit
# and tshark read the same frames.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/dissector.bash
source tests/e2e/dissector.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

echo "== the embedded device"
verdicts() { jq -r 'select(.type == "result" and .by == "check") | "\(.id) \(.role) \(.verdict)"' "$1" | sort; }
ids=(SCTP5043-6.1-01 SCTP5043-6.2-03 SCTP5043-5.2.3-05 EMPA-7-01 DDP-5.2-10 RDMAP-4.8-45 ATOM-5.2.1-20 'SCTP5043-9*')
expect 0 "RFC 5043 live" "$WARPCHECK" run --llp sctp "${ids[@]}" -o "$WORK/live" --evidence all
expect 0 "and simulated" "$WARPCHECK" run --simulate --llp sctp "${ids[@]}" -o "$WORK/simulated" --evidence none
holds "the same verdicts" diff <(verdicts "$WORK/live/results.jsonl") <(verdicts "$WORK/simulated/results.jsonl")
holds "ten of them or more, none of them INCONCLUSIVE" jq -se '[.[] | select(.type == "result" and .by == "check")] |
	length >= 10 and all(.[]; .verdict != "INCONCLUSIVE") and any(.[]; .verdict == "PASS")' "$WORK/live/results.jsonl"
holds "the run says what carried them" jq -se '.[0].target == "reference stack, embedded, SCTP"' "$WORK/live/results.jsonl"
expect 0 "the draft live, over IPv6" "$WARPCHECK" run --llp sctp-draft02 --ipv6 'SCTP-[567]*' -o "$WORK/draft" --evidence none
holds "of the draft alone" jq -se '[.[] | select(.type == "result" and .by == "check") | .id] | length > 5 and all(.[]; startswith("SCTP-"))' "$WORK/draft/results.jsonl"
expect 0 "the draft alone, simulated" "$WARPCHECK" run --simulate --llp sctp-draft02 'SCTP*' --format jsonl
holds "no check of RFC 5043 in it" jq -se 'all(.[] | select(.type == "result" and .by == "check"); .id | startswith("SCTP5043") | not)' "$WORK/stdout"
passes=none
id=SCTP5043-6.1-03
defect=$(awk -v id="$id" '$2 == id { print $1; exit }' reference-stack/defects/defects.tsv)
holds "there is a defect of $id" test -n "$defect"
expect 1 "a defect shows live" "$WARPCHECK" run --llp sctp "$id" --defect "$defect"
says "^FAIL +$id"
says "replay +warpcheck run .$id. --role [a-z]+ --llp sctp --defect $defect"

echo "== its frames"
passes=any
capture=$(find "$WORK/live/evidence" -name 'DDP-5.2-10*.pcapng' | sort | sed -n 1p)
expect 0 "audit judges SCTP in UDP" "$WARPCHECK" audit "$capture" --format jsonl
holds "all of it" jq -se '.[-1] | .ddp_segments > 0 and (.accounting.unjudged // {} | length) == 0' "$WORK/stdout"
holds "tshark sees the same segments" test "$("$TSHARK" -r "$capture" -Y 'sctp.data_payload_proto_id == 16' -T fields -e frame.number 2>"$WORK/tshark" | wc -l)" -gt 0

for kept in rfc5043 draft02 kernel-rfc5043 kernel-draft02; do
	expect 0 "audit judges two peers of $kept" "$WARPCHECK" audit "pcaps/libiwarp-sctp/$kept.pcap" --format jsonl
	holds "with nothing found, and a Terminate in it" jq -se '.[-1].ddp_segments >= 14 and any(.[]; .id == "RDMAP-4.2-02" and .verdict == "PASS")
		and all(.[]; .type != "result" or .verdict == "PASS")' "$WORK/stdout"
	ours -r "pcaps/libiwarp-sctp/$kept.pcap" -Y warp -T fields -e frame.protocols -e _ws.col.Info >"$WORK/drawn" 2>"$WORK/tshark"
	holds "the plugin draws them below UDP" grep -Eq 'udp:sctp:warp.*Terminate .*Invalid STag' "$WORK/drawn"
	holds "from the first message on" grep -Eq 'Send qn 0 msn 1' "$WORK/drawn"
done

# A message in fragments, in a packet that would have held it, over IP and in UDP: the plugin counts the packet's octets
# as audit does.
cat >"$WORK/fragment.lua" <<'LUA'
capture {
  name = "fragment", about = "a Send in fragments of 400 octets, in one packet",
  run = function()
    local a = association {}
    a:open()
    a.initiator:control("Enhanced Initiate", { SID = 1 })
    a.responder:control("Enhanced Accept", { SID = 1 })
    a.initiator:bundle(function() a.initiator:send(rdmap.send { data = distinct(700) }, { SID = 1, fragment = 400 }) end)
    a.responder:sack()
    a.initiator:control("Terminate", { SID = 1 })
    a:close()
  end,
}
LUA
expect 0 "fragments over IP" "$WARPCHECK" gen --corpus "$WORK/fragments" "$WORK/fragment.lua"
"${TSHARK%tshark}editcap" -F pcap "$WORK"/fragments/fragment.pcap* "$WORK/over-ip.pcap"
# A UDP header (RFC 6951) after each IPv4 header of 20 octets behind Ethernet's 14.
perl -e 'local $/; my $file = <STDIN>; my $at = 24; print substr($file, 0, 24);
	my ($word, $half) = unpack("V", $file) == 0xa1b2c3d4 || unpack("V", $file) == 0xa1b23c4d ? ("V", "v") : ("N", "n");
	while ($at < length $file) {
		my ($seconds, $part, $octets) = unpack("${word}3", substr($file, $at, 12));
		my $frame = substr($file, $at + 16, $octets);
		my ($ip, $sctp) = (substr($frame, 14, 20), substr($frame, 34, unpack("n", substr($frame, 16, 2)) - 20));
		my $udp = pack("n4", 9899, 9899, 8 + length $sctp, 0);
		substr($ip, 2, 2, pack("n", 28 + length $sctp));
		substr($ip, 9, 1, "\x11");
		substr($ip, 10, 2, "\0\0");
		my $sum = 0;
		$sum += $_ for unpack("n10", $ip);
		$sum = ($sum & 0xffff) + ($sum >> 16) while $sum >> 16;
		substr($ip, 10, 2, pack("n", 0xffff - $sum));
		$frame = substr($frame, 0, 14) . $ip . $udp . $sctp;
		print pack("${word}4", $seconds, $part, length $frame, length $frame), $frame;
		$at += 16 + $octets;
	}' <"$WORK/over-ip.pcap" >"$WORK/in-udp.pcap"
lines=any
for kept in over-ip in-udp; do
	expect 1 "audit finds the fragment, $kept" "$WARPCHECK" audit "$WORK/$kept.pcap" --format jsonl
	jq -r 'select(.type == "result" and .verdict == "FAIL" and (.actual // "" | test("^a message of [0-9]+ octets in fragments"))) | .actual' "$WORK/stdout" >"$WORK/$kept.audit"
	ours -r "$WORK/$kept.pcap" -Y warp.finding -T fields -e warp.finding.actual >"$WORK/$kept.plugin" 2>"$WORK/tshark"
	holds "$kept: one finding of audit" test "$(wc -l <"$WORK/$kept.audit")" -eq 1
	holds "$kept: the plugin's is the same: $(cat "$WORK/$kept.audit")" grep -qF "$(cat "$WORK/$kept.audit")" "$WORK/$kept.plugin"
done
# shellcheck disable=SC2034 # expect.bash looks at it
lines=one
octets() { grep -oE '[0-9]+ octets$' "$WORK/$1.audit" | tr -dc '0-9'; }
holds "in UDP the packet has 8 octets more" test "$(octets in-udp)" -eq "$(($(octets over-ip) + 8))"

echo "== a device that a profile names"
cat >"$WORK/sctp.json" <<'JSON'
{ "name": "sctp", "address": "10.99.0.2", "port": 5043, "llp": "sctp", "udp_port": 9899, "interface": "tester0",
  "own_address": "10.99.0.3", "control": "10.99.0.2:7471", "capabilities": { "sctp.enhanced": "yes", "instrumented": "yes" } }
JSON
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
rm -f "$WORK/peer.out"
"$IWARP_PEER" --llp sctp --bind 10.99.0.2 --listen 5043 --control 10.99.0.2:7471 >"$WORK/peer.out" 2>&1 &
peer=$!
prints "$peer" "$WORK/peer.out" READY || exit 99
status=0
"$WARPCHECK" run --dut "$WORK/sctp.json" "$@" || status=$?
kill "$peer"
exit "$status"
INSIDE
export WORK WARPCHECK IWARP_PEER
lines=any expect 0 "conforms" unshare -rn bash "$WORK/inside.sh" "${ids[@]}" -o "$WORK/dut" --evidence none
holds "with the verdicts of the others" diff <(verdicts "$WORK/dut/results.jsonl") <(verdicts "$WORK/live/results.jsonl")

echo "== what is refused"
passes=none
expect 2 "another LLP than the profile's" "$WARPCHECK" run --dut "$WORK/sctp.json" --llp tcp
complains '--llp tcp: the profile .*sctp.json says that the device.s "llp" is "sctp"'
expect 2 "CM of a device over SCTP" "$WARPCHECK" run --dut "$WORK/sctp.json" --llp cm
complains 'is of a device over SCTP'
expect 2 "a probe of it" "$WARPCHECK" probe "$WORK/sctp.json"
complains 'probe asks over MPA and TCP alone'
refused() { # WHAT JQ SENTENCE
	jq "$2" "$WORK/sctp.json" >"$WORK/bad.json"
	expect 2 "$1" "$WARPCHECK" run --dut "$WORK/bad.json"
	complains "$3"
}
refused "an LLP that there is not" '.llp = "udp"' 'bad.json: "llp" is "udp", "tcp", "sctp" or "sctp-draft02" was expected'
refused "a port that there is not" '.udp_port = 65536' 'bad.json: "udp_port" is 65536, a port from 1 to 65535 was expected'
refused "a UDP port without SCTP" 'del(.llp)' 'bad.json: "udp_port" is for SCTP in UDP'
finish
