#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck run --llp cm: the checks of the RDMA IP CM Service, on the simulated link and, in a network namespace,
# against iwarp-peer --cm over RoCEv2. What a device does wrong shows in exit status and results; what the wire alone
# cannot decide is skipped; a device that does not answer is reported in one line.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

echo "== simulated"
passes=any
lines=any expect 0 "IPv4" "$WARPCHECK" run --simulate --llp cm -o "$WORK/simulated"
says '^[0-9]+ PASS, 0 FAIL, [0-9]+ AMBIGUOUS$'
lines=any expect 0 "IPv6" "$WARPCHECK" run --simulate --llp cm --ipv6
says '^[0-9]+ PASS, 0 FAIL, [0-9]+ AMBIGUOUS'
passes=none
lines=any expect 1 "a defect" "$WARPCHECK" run --simulate --llp cm CA11-2 --defect cm-major-unchecked
says '^FAIL +CA11-2 +responder'
says 'replay +warpcheck run .CA11-2. --role responder --simulate --llp cm --defect cm-major-unchecked'
expect 2 "no device that speaks CM" "$WARPCHECK" run --llp cm
complains '--llp cm needs --simulate or --dut'
expect 2 "another layer" "$WARPCHECK" run --llp udp --simulate
complains 'tcp, sctp, sctp-draft02 or cm was expected'

echo "== live"
cat >"$WORK/cm.json" <<'JSON'
{ "name": "cm", "address": "10.99.0.2", "port": 3260, "interface": "tester0", "own_address": "10.99.0.3",
  "capabilities": { "cm": "yes" } }
JSON
# Inside: the device at one end of a cable, the run at the other end. $1: the device's options; the others: those of the
# run.
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
peer=
if [ -n "$1" ]; then
	read -ra options <<<"$1"
	rm -f "$WORK/peer.out"
	"$IWARP_PEER" --cm --bind 10.99.0.2 --cm-service tcp/3260 "${options[@]}" >"$WORK/peer.out" 2>&1 &
	peer=$!
	prints "$peer" "$WORK/peer.out" READY || exit 99
fi
status=0
"$WARPCHECK" run --llp cm --dut "$WORK/cm.json" "${@:2}" || status=$?
[ -z "$peer" ] || kill "$peer"
exit "$status"
INSIDE
export WORK WARPCHECK IWARP_PEER
live() { # STATUS WHAT OPTIONS ARGUMENT...
	lines=any expect "$1" "$2" unshare -rn bash "$WORK/inside.sh" "${@:3}"
}
passes=any
live 0 "the agent conforms" "--cm-mra" -o "$WORK/out" --evidence all
says '^[0-9]+ PASS, 0 FAIL, [0-9]+ AMBIGUOUS, [0-9]+ SKIP'
servers='map(select(.type == "result" and .by == "check" and .role == "responder"))'
holds "each check of a server has a verdict" jq -es --slurpfile all "$WORK/simulated/results.jsonl" "$servers as \$live |
	(\$live | map(.id)) == (\$all | $servers | map(.id)) and all(\$live[]; .verdict != \"INCONCLUSIVE\")" "$WORK/out/results.jsonl"
# A good REQ is all that this check sends.
holds "the tester's frames have a correct ICRC: nothing in the evidence is at fault" "$WARPCHECK" audit "$WORK/out/evidence/A11-TXT-05.pcapng"
passes=none
live 1 "a defect" "--defect cm-ipv-unchecked" CA11-4 CA11-2
says '^FAIL +CA11-4 +responder'
live 4 "nobody answers" "" CA11-2
complains 'did not answer a CM REQ to UDP port 4791'
finish
