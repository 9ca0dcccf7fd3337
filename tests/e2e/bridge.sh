#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck bridge between two networks of namespaces, with iwarp-peer in each: idle, contents come as they went, ARP, ND and what the
# cards leave undone included; each impairment is applied once, where its trigger says, and each device does what the texts have;
# the same script gives the same twice; what is not applied is no success; nothing that a script holds is held for ever; a ring
# that overflows is counted, and blamed on no device; an interface that vanishes is said in a line. The same over SCTP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# ---- bad input, without an interface
refuses bridge "two interfaces were expected" lo
refuses bridge "lo: this interface is named twice" lo lo
refuses bridge "nowhere0: no such interface" nowhere0 nowhere1
refuses bridge '--suite "all": impairments, impairments-sctp, fields or fields-sctp was expected' lo nowhere1 --suite all
refuses bridge '--force is for -o DIR' lo nowhere1 --force
refuses bridge '--hold "1 day": a time from 1s' lo nowhere1 --hold '1 day'
expect 3 "an id that is none" "$WARPCHECK" bridge lo nowhere1 MPA-99
bad() { # SENTENCE SCRIPT: it is read before an interface is opened
	printf '%s\n' "$2" >"$WORK/bad.lua"
	refuses bridge "bad.lua:1: $1" lo nowhere1 --script "$WORK/bad.lua"
}
bad 'an impairment has no member "wen", did you mean "when"?' 'impair { name = "x", wen = {}, act = print }'
bad 'an impairment needs name, a text' 'impair { when = {}, act = function() end }'
bad 'when.nth: a number from 1 was expected' 'impair { name = "x", when = { nth = 0 }, act = function() end }'
bad 'when.kind "sctp": rdmap, ddp, ulpdu, start or session was expected' 'impair { name = "x", when = { kind = "sctp" }, act = function() end }'
bad 'when.side: "A" or "B" was expected' 'impair { name = "x", when = { side = "C" }, act = function() end }'
bad 'over: "tcp" or "sctp" was expected' 'impair { name = "x", over = "udp", when = {}, act = function() end }'
bad 'act: a function was expected' 'impair { name = "x", when = {} }'

# ---- between two devices
cat >"$WORK/each.lua" <<'LUA'
-- One impairment a stream: `stream` counts connections of iWARP.
local function third(name, stream, act)
	impair { name = name, when = { message = "Send", nth = 3, stream = stream }, act = act }
end
third("dropped", 1, function(unit) unit:drop() end)
third("twice", 2, function(unit) unit:duplicate() end)
impair { name = "late-response", when = { message = "RDMA Read Response", nth = 3, stream = 3 }, act = function(unit) unit:delay(0.05) end }
third("edited", 4, function(unit, event) unit:edit { MSN = event.MSN + 70 } end)
third("edited-crc-kept", 5, function(unit) unit:edit({ MSN = 77 }, { crc = "kept" }) end)
third("swapped", 6, function(unit) unit:swap() end)
third("cut", 7, function(unit) unit:cut(1, 5, 100) end)
third("joined", 8, function(unit) unit:join() end)
third("corrupted", 9, function(unit) unit:corrupt(30) end)
third("stalled", 10, function(unit) unit:stall() end)
third("lost", 11, function(unit) unit:lose() end)
third("finished", 12, function(unit) unit:close() end)
third("reset", 13, function(unit) unit:close("rst") end)
impair { name = "bad-request", when = { kind = "start", request = true, stream = 14 }, act = function(unit) unit:edit { Rev = 9 } end }
third("longer", 15, function(unit, event) unit:replace(event.octets .. ("x"):rep(50)) end)
third("one-more", 16, function(unit, event) unit:insert(event.octets) end)
LUA
cat >"$WORK/sctp.lua" <<'LUA'
local function third(name, stream, act)
	impair { name = name, over = "sctp", when = { message = "Send", nth = 3, stream = stream }, act = act }
end
third("twice", 1, function(unit) unit:duplicate() end)
third("edited", 2, function(unit, event) unit:edit { MSN = event.MSN + 70 } end)
third("longer", 3, function(unit, event) unit:replace(event.octets .. ("x"):rep(50)) end)
third("one-more", 4, function(unit, event) unit:insert(event.octets) end)
third("shut-down", 5, function(unit) unit:close() end)
third("dropped", 6, function(unit) unit:drop() end) -- its DDP-SSN is missing: what follows waits for it, until
impair { name = "aborted", when = { message = "Send", nth = 6, stream = 6 }, act = function(unit) unit:close("abort") end }
impair { name = "bad-initiate", when = { kind = "session", Code = 5, stream = 7 }, act = function(unit) unit:edit { Code = 2 } end }
third("held", 8, function(unit) unit:stall() end)
third("joined", 9, function(unit) unit:join() end)
LUA
cat >"$WORK/nothing.lua" <<'LUA'
impair { name = "fifth-terminate", when = { message = "Terminate", nth = 5 }, act = function(unit) unit:drop() end }
impair { name = "broken", when = { message = "Send" }, act = function(unit) unit:drop(nil .. 1) end }
LUA
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
processes=()
trap '[ ${#processes[@]} -eq 0 ] || kill -KILL "${processes[@]}" 2>/dev/null' EXIT
source tests/e2e/wait.bash
ip link set lo up
# device SIDE NUMBER: a network with an iwarp-peer; the other end of its cable is SIDE0, bare.
device() {
	unshare -n bash -c 'echo READY; exec sleep infinity' >"$WORK/network-$1" &
	processes+=($!)
	prints $! "$WORK/network-$1" READY || exit 99
	local network=$!
	printf -v "network_$1" %s "$network"
	ip link add "$1"0 type veth peer name device0 && ip link set device0 netns "$network" && ip link set "$1"0 up || exit 99
	nsenter --net="/proc/$network/ns/net" bash -c "ip link set lo up && ip addr add 10.9.0.$2/24 dev device0 &&
		ip addr add fd09::$2/64 dev device0 nodad && ip link set device0 up" || exit 99
	nsenter --net="/proc/$network/ns/net" "$IWARP_PEER" --ipv6 --control "$WORK/$1.sock" >"$WORK/$1.out" 2>&1 &
	processes+=($!)
	prints $! "$WORK/$1.out" READY || exit 99
}
# start NAME OPTION...
start() {
	local name=$1
	shift
	rm -f "$WORK/$name.out"
	"$WARPCHECK" bridge a0 b0 "$@" >"$WORK/$name.out" 2>&1 &
	bridge=$!
	processes+=("$bridge")
	prints "$bridge" "$WORK/$name.out" 'are one link' || exit 99
}
stop() { # NAME
	local status=0
	kill -INT "$bridge"
	wait "$bridge" || status=$?
	echo "$1 $status"
}
traffic() { python3 tests/e2e/bridge_traffic.py "$WORK/a.sock${4:-}" "$WORK/b.sock${4:-}" "$2" "$3" >"$WORK/$1.jsonl" || exit 99; }
# Of each device one more process, over SCTP in UDP datagrams. False: not in this build.
over_sctp() {
	local side
	for side in a:1 b:2; do
		local network=network_${side%:*}
		nsenter --net="/proc/${!network}/ns/net" "$IWARP_PEER" --llp sctp --bind "10.9.0.${side#*:}" --control "$WORK/${side%:*}.sock.sctp" \
			>"$WORK/${side%:*}.sctp.out" 2>&1 &
		processes+=($!)
		prints $! "$WORK/${side%:*}.sctp.out" READY || return 1
	done
}
device a 1 && device b 2 || exit 99

start idle --capture "$WORK/idle"
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$bridge/status" >"$WORK/confined"
traffic idle 10.9.0.2 1
traffic idle6 fd09::2 1
stop idle
for round in first second; do
	start "$round" --script "$WORK/each.lua" --hold 1s --capture "$WORK/$round" --all
	traffic "$round" 10.9.0.2 "$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/$round.out")" # one a stream
	stop "$round"
done
# The suite gives each of its impairments a stream of its own; then against a device that calls a wrong Queue Number by another name.
start suite --suite impairments -o "$WORK/report"
streams=$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/suite.out")
traffic suite 10.9.0.2 "$streams"
stop suite
start fields --suite fields
traffic fields 10.9.0.2 "$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/fields.out")"
stop fields
nsenter --net="/proc/$network_b/ns/net" "$IWARP_PEER" --ipv6 --defect ddp-qn-wrong-code --control "$WORK/b.sock.2" >"$WORK/defective.out" 2>&1 &
processes+=($!)
prints $! "$WORK/defective.out" READY || exit 99
start defective --suite impairments
python3 tests/e2e/bridge_traffic.py "$WORK/a.sock" "$WORK/b.sock.2" 10.9.0.2 "$streams" >"$WORK/defective.jsonl" || exit 99
stop defective
if over_sctp; then
	start over-sctp --suite impairments-sctp --all
	streams=$(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/over-sctp.out")
	traffic over-sctp 10.9.0.2 "$streams" .sctp
	stop over-sctp
	start sctp --script "$WORK/sctp.lua" --hold 1s
	traffic sctp 10.9.0.2 "$(($(sed -n 's/.*; \([0-9]*\) impairments$/\1/p' "$WORK/sctp.out") - 1))" .sctp # "aborted" ends the stream of "dropped"
	stop sctp
fi
start nothing --script "$WORK/nothing.lua"
traffic nothing 10.9.0.2 1
stop nothing
# A ring that cannot hold what comes while nobody reads it; then a stream on which nothing is lost.
start ring --buffer 1M
kill -STOP "$bridge"
nsenter --net="/proc/$network_a/ns/net" python3 -c '
import socket
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(4000):
    flood.sendto(bytes(1400), ("10.9.0.2", 9))
'
kill -CONT "$bridge"
traffic ring 10.9.0.2 1
stop ring
# Killed: what it had captured is there.
start killed --capture "$WORK/killed"
traffic killed 10.9.0.2 1
captured() { grep -q '"type":"tcp_close"' < <("$WARPCHECK" dump --format jsonl "$WORK/killed/$1.pcapng" 2>/dev/null); }
{ eventually "$bridge" captured a && eventually "$bridge" captured b; } || echo "killed: captures are not written while it goes on"
kill -KILL "$bridge"
wait "$bridge" 2>/dev/null || echo "killed $?"
# The folder of captures is in that of the reports.
start both --capture "$WORK/both/links" -o "$WORK/both"
traffic both 10.9.0.2 1
stop both
# A disc without room for what comes: said while it goes on, and what comes then is judged.
mkdir "$WORK/disc" "$WORK/disc.read" && mount -t tmpfs -o size=24k none "$WORK/disc" || exit 99
start full --capture "$WORK/disc"
traffic full 10.9.0.2 3
prints "$bridge" "$WORK/full.out" '/b.pcapng: cannot write: No space left on device; this capture ends here, all else goes on' && echo "full: said at once"
traffic after 10.9.0.2 1
stop full
cp "$WORK"/disc/* "$WORK/disc.read"
start gone
ip link del a0
status=0
wait "$bridge" || status=$?
echo "gone $status"
INSIDE
export WORK WARPCHECK IWARP_PEER
expect 0 "all of it" unshare -rnm bash "$WORK/inside.sh"
cp "$WORK/stdout" "$WORK/statuses"

whole='.sends == [0,1,2,3,4,5] and .write and all(.reads[]; .) and .terminates == []'
holds "idle, it conforms" grep -qx 'idle 0' "$WORK/statuses"
for name in idle idle6; do holds "$name: contents come as they went" jq -e "$whole" "$WORK/$name.jsonl"; done
holds "ARP and ND went as they came" grep -qE 'foreign .*ARP .*ICMP' "$WORK/idle.out"
holds "no privileges are left: $(xargs <"$WORK/confined")" grep -qx 'CapEff: 0\+ CapBnd: 0\+ NoNewPrivs: 1 Seccomp: 2' <(xargs <"$WORK/confined")
for side in a b; do expect 0 "$side: its capture is judged alike" "$WARPCHECK" audit "$WORK/idle/$side.pcapng"; done

# stream_of RUN IMPAIRMENT: the number of its stream, as the command said it.
stream_of() { sed -n "s/^impaired  $2: stream \([0-9]*\),.*/\1/p" "$WORK/$1.out" | grep .; }
for round in first second; do
	holds "$round: no device fails" grep -qx "$round 0" "$WORK/statuses"
	holds "$round: each impairment once" test "$(grep -c '^applied .* 1 time ' "$WORK/$round.out")" -eq "$(grep -cE '^(third|impair)[( ]' "$WORK/each.lua")"
	holds "$round: what was held went on, in a line" test "$(grep -c "stream $(stream_of "$round" stalled): what A sends was held for 1 s, and no script released it" "$WORK/$round.out")" -eq 1
done
holds "the same twice" diff <(jq -c 'del(.a, .b)' "$WORK/first.jsonl") <(jq -c 'del(.a, .b)' "$WORK/second.jsonl")
holds "and so are the lines" diff <(grep '^applied' "$WORK/first.out") <(grep '^applied' "$WORK/second.out")
# ended IMPAIRMENT SENDS TERMINATE: the Sends that came, and the Terminate that B sent.
ended() {
	# shellcheck disable=SC2016 # a program of jq
	holds "$1: Sends $2, Terminate $3" jq -es --argjson n "$(stream_of first "$1")" --argjson sends "$2" --argjson terminate "$3" \
		'.[] | select(.session == $n) | .sends == $sends and ([.terminates[] | select(.[0] == "b")] | map(.[2:])) == $terminate' "$WORK/first.jsonl"
}
ended dropped '[0,1]' '[[1,2,3]]' # the next MSN is none that is due: Invalid MSN
ended twice '[0,1,2]' '[[1,2,3]]'
ended edited '[0,1]' '[[1,2,3]]'
ended edited-crc-kept '[0,1]' '[[2,0,2]]' # MPA: CRC
ended swapped '[0,1]' '[[1,2,3]]'
ended corrupted '[0,1]' '[[2,0,2]]'
ended finished '[0,1]' '[]'
ended reset '[0,1]' '[]'
ended one-more '[0,1,2]' '[[1,2,3]]'
for name in late-response cut joined stalled lost; do
	holds "$name: contents come as they went" jq -es --argjson n "$(stream_of first "$name")" ".[] | select(.session == \$n) | $whole" "$WORK/first.jsonl"
done
# shellcheck disable=SC2016 # programs of jq
{
	holds "no session without a good Request" jq -es --argjson n "$(stream_of first bad-request)" '.[] | select(.session == $n) | .sends == [] and (.a | index("established")) == null' "$WORK/first.jsonl"
	holds "longer: all but the third are as they went, and numbers fit" jq -es --argjson n "$(stream_of first longer)" '.[] | select(.session == $n) | .sends == [0,1,"other",3,4,5] and .write and all(.reads[]; .)' "$WORK/first.jsonl"
}
# On each link the other direction is the bridge's own doing, as far as it was changed: there alone audit finds something.
for pair in a:initiator b:responder; do
	"$WARPCHECK" audit --format jsonl "$WORK/first/${pair%:*}.pcapng" >"$WORK/judged" || true
	# shellcheck disable=SC2016 # programs of jq
	holds "$pair: nothing of the device's own" jq -es --arg role "${pair#*:}" 'all(.[]; .type != "result" or .verdict != "FAIL" or .role != $role)' "$WORK/judged"
	holds "$pair: something of the bridge's" jq -es --arg role "${pair#*:}" 'any(.[]; .type == "result" and .verdict == "FAIL")' "$WORK/judged"
done
holds "frames that were changed say by what" grep -qa 'impairment edited: 1 field edited' "$WORK/first/b.pcapng"

holds "suite: our stack does what the texts have" grep -qx 'suite 0' "$WORK/statuses"
holds "suite: each impairment passes" test "$(grep -cE '^PASS  [a-z-]+: ' "$WORK/suite.out")" -eq "$(grep -c '^impaired ' "$WORK/suite.out")"
holds "suite: there are some" grep -q '^PASS  qn-unknown: Terminate .* Invalid QN (0x1201)$' "$WORK/suite.out"
# shellcheck disable=SC2016 # a program of jq
holds "suite: each has a result" jq -es --argjson n "$(grep -c '^impaired ' "$WORK/suite.out")" '
	map(select(.type == "result" and (.id | startswith("IMPAIRMENT-")))) | length == $n and all(.verdict == "PASS" and .frame > 0 and (.expected | length) > 0)
	' "$WORK/report/results.jsonl"
holds "suite: and the page has them" grep -q 'IMPAIRMENT-qn-unknown' "$WORK/report/index.html"
holds "fields: our stack does what the texts have" grep -qx 'fields 0' "$WORK/statuses"
holds "fields: each impairment passes" test "$(grep -cE '^PASS  [a-z]+[0-9]-' "$WORK/fields.out")" -eq "$(grep -c '^impaired ' "$WORK/fields.out")"
holds "fields: there are hundreds" test "$(grep -c '^impaired ' "$WORK/fields.out")" -ge 200
holds "a device that calls a wrong Queue Number by another name fails" grep -qx 'defective 1' "$WORK/statuses"
holds "by that impairment" grep -q '^FAIL  qn-unknown: .*; allowed: Terminate .* Invalid QN (0x1201)$' "$WORK/defective.out"
holds "and by no other" test "$(grep -cE '^FAIL  [a-z-]+: ' "$WORK/defective.out")" -eq 1
if [ -e "$WORK/sctp.jsonl" ]; then
	holds "over SCTP: our stack does what the texts have" grep -qx 'over-sctp 0' "$WORK/statuses"
	holds "over SCTP: each impairment passes" test "$(grep -cE '^PASS  [a-z-]+: ' "$WORK/over-sctp.out")" -eq "$(grep -c '^impaired ' "$WORK/over-sctp.out")"
	holds "over SCTP: both devices are judged" grep -qE '^PASS  SCTP5043-' "$WORK/over-sctp.out"
	sctp() { # IMPAIRMENT CONDITION
		# shellcheck disable=SC2016 # a program of jq
		holds "over SCTP, $1: $2" jq -es --argjson n "$(stream_of sctp "$1" || sed -n "s/^third(\"$1\", \([0-9]*\),.*/\1/p" "$WORK/sctp.lua")" ".[] | select(.session == \$n) | $2" "$WORK/sctp.jsonl"
	}
	for name in twice one-more held joined; do sctp "$name" "$whole"; done # TSNs are translated, a DDP-SSN that comes again is nothing new
	sctp edited '.sends == [0,1] and ([.terminates[] | select(.[0] == "b")] | map(.[2:])) == [[1,2,3]]'
	sctp longer '.sends == [0,1,"other",3,4,5] and .write and all(.reads[]; .)'
	for name in shut-down dropped; do sctp "$name" '.sends == [0,1] and .terminates == [] and (.a | index("error")) and (.b | index("error"))'; done
	sctp bad-initiate '.sends == []'
	holds "over SCTP no message is joined with another" grep -qE 'INCONCLUSIVE  joined was not applied: it is in no TCP segment' "$WORK/sctp.out"
	holds "over SCTP, no device fails" grep -qE '^[0-9]+ PASS, 0 FAIL' "$WORK/sctp.out"
	holds "over SCTP all others were applied once" test "$(grep -c '^applied .* 1 time ' "$WORK/sctp.out")" -eq "$(($(grep -cE '^(third|impair)[( ]' "$WORK/sctp.lua") - 1))"
else
	holds "without SCTP, for a reason" grep -q 'libusrsctp is not part of this build' "$WORK"/[ab].sctp.out
fi
holds "what was not applied is no success" grep -qx 'nothing 4' "$WORK/statuses"
holds "it says why" grep -qE 'INCONCLUSIVE  fifth-terminate was not applied: its trigger did not come' "$WORK/nothing.out"
holds "a script's error has its line" grep -qE 'nothing.lua:2: .*; broken does nothing any more' "$WORK/nothing.out"
holds "and the traffic went on" jq -e "$whole" "$WORK/nothing.jsonl"
holds "a ring that overflows is no success" grep -qx 'ring 4' "$WORK/statuses"
holds "what it lost is counted" grep -qE '[1-9][0-9]* frames were lost on the way: [1-9][0-9]* before they were read \(a larger --buffer helps\), 0 that' "$WORK/ring.out"
holds "and no device is blamed for it" grep -qE '^[0-9]+ PASS, 0 FAIL' "$WORK/ring.out"
holds "what came afterwards is whole" jq -e "$whole" "$WORK/ring.jsonl"
holds "killed: what was captured until then is there" test "$(grep '^killed' "$WORK/statuses")" = 'killed 137'
holds "captures in the folder of the reports" grep -qx 'both 0' "$WORK/statuses"
expect 0 "they can be read" "$WARPCHECK" audit "$WORK/both/links/a.pcapng" "$WORK/both/links/b.pcapng"
holds "a full disc is said while the bridge goes on" grep -qx 'full: said at once' "$WORK/statuses"
holds "in one line a capture" test "$(grep -c 'cannot write' "$WORK/full.out")" -eq 2
holds "it is no success" grep -qx 'full 4' "$WORK/statuses"
for side in a b; do
	"$WARPCHECK" dump --format jsonl "$WORK/disc.read/$side.pcapng" >"$WORK/dumped" 2>"$WORK/dumped.err" || true
	holds "$side: what was written can be read" test "$(wc -l <"$WORK/dumped")" -gt 0 -a ! -s "$WORK/dumped.err"
done
holds "what comes then goes as it came" jq -e "$whole" "$WORK/after.jsonl"
holds "and is judged" grep -qE '^[0-9]+ PASS, 0 FAIL' "$WORK/full.out"
holds "an interface that vanishes" grep -qx 'gone 4' "$WORK/statuses"
holds "is one line" test "$(grep -c 'a0: the interface cannot be read any more' "$WORK/gone.out")" -eq 1
finish
