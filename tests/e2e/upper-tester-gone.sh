#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# An upper tester that is lost in the midst of a run: killed or stopped for good, it is given up, the rest is INCONCLUSIVE at once
# and nothing that was decided is lost; one that is slow once, or is started again, costs the check that was running.
# The device is iwarp-peer behind a profile, in namespaces of the run's own. It is its own upper tester, and says so: its death may be
# the FAIL of the check that was running, and of no other. One that does not say so is never blamed ("killed-apart").
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

checks=('MPA-7.1.1-*' 'DDP-7.1-*' 'RDMAP-7.2-*' 'DDP-5.3-*')
cat >"$WORK/device.json" <<'JSON'
{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7471" }
JSON
sed 's/:7471/:7473/' "$WORK/device.json" >"$WORK/killed-apart.json"

# Inside: a kernel TCP at one end of a cable, the device behind it, the run at the other end. $1: what is done to the device once
# five results are there; the others: the checks.
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
device() {
	rm -f "$WORK/peer.out"
	"$IWARP_PEER" --control 7471 >"$WORK/peer.out" 2>&1 &
	peer=$!
}
until_ready() { prints "$peer" "$WORK/peer.out" READY || exit 99; }
results() { [ ! -e "$out/results.jsonl" ] || grep -c '"type":"result"' "$out/results.jsonl"; }
said() { grep -q "$1" "$out/results.jsonl"; }
# The run has closed a connection of its own to the device, which has not: the device was slow once.
hung_up() { awk '$2 ~ /:1D2F$/ && $4 == "08" { found = 1 } END { exit !found }' /proc/net/tcp; }
going() { kill -0 "$run" 2>/dev/null; }

device
until_ready
profile=$WORK/device.json relay=
if [ -e "$WORK/$1.json" ]; then
	perl tests/e2e/terse_upper.pl 7473 7471 >"$WORK/relay.out" 2>&1 &
	relay=$! profile=$WORK/$1.json
	prints $relay "$WORK/relay.out" READY || exit 99
fi
"$WARPCHECK" run --dut "$profile" "${@:2}" --role responder -o "$out" &
run=$!
while going && [[ $(results) -lt 5 ]]; do sleep 0.02; done
case $1 in
killed*) kill -KILL $peer ;;
stopped) kill -STOP $peer ;;
slow)
	kill -STOP $peer
	while going && ! hung_up && ! said '"INCONCLUSIVE"'; do sleep 0.1; done # the stop may fall between two checks, or into one
	kill -CONT $peer
	;;
restarted)
	kill -KILL $peer
	wait $peer 2>/dev/null
	device
	;;
esac
wait $run
status=$?
kill -KILL $peer $relay 2>/dev/null
echo "the run ends with $status" >&2
exit $status
INSIDE

# lost HOW STATUSES: a run with that in its midst. `expect` gives it 120 s: a wait for each of its checks would take far longer.
lost() {
	out=$WORK/$1
	mkdir -p "$out"
	export out WORK WARPCHECK IWARP_PEER
	lines=any expect "$2" "an upper tester that is $1" unshare -rn bash "$WORK/inside.sh" "$1" "${checks[@]}"
	jq -r 'select(.type == "result" and .by == "check") | [.verdict, .message // ""] | @tsv' "$out/results.jsonl" >"$out/verdicts"
}
count() { grep -cE "$1" "$out/verdicts" || true; }
gone='^INCONCLUSIVE.*the connection to the upper tester is lost'
all=$("$WARPCHECK" run --simulate "${checks[@]}" --role responder --dry-run | wc -l)

for how in killed killed-apart stopped; do
	if [ "$how" = killed ]; then lost "$how" '1 4'; else lost "$how" 4; fi
	holds "$how: each check has a verdict" [ "$(wc -l <"$out/verdicts")" -eq "$all" ]
	holds "$how: what was decided before is kept" [ "$(count '^PASS')" -ge 3 ]
	holds "$how: the rest says so" [ "$(count "$gone")" -gt $((all / 2)) ]
	holds "$how: two at most say something else" [ "$(($(count '^INCONCLUSIVE') - $(count "$gone")))" -le 2 ]
	died=$(count '^FAIL.the device did not survive this check: .*which is the same program')
	holds "$how: the device is not blamed, but for its death ($died)" [ "$(count '^(FAIL|WARN)')" -eq "$died" ]
	holds "$how: it died of one check at most, where it is the upper tester" [ "$died" -le "$([ "$how" = killed ] && echo 1 || echo 0)" ]
	holds "$how: there is a report" test -s "$out/index.html"
done
for how in slow restarted; do
	lost "$how" '0 4'
	holds "$how: each check has a verdict" [ "$(wc -l <"$out/verdicts")" -eq "$all" ]
	holds "$how: it is not given up" [ "$(count "$gone")" -eq 0 ]
	holds "$how: two checks at most are disturbed" [ "$(count '^INCONCLUSIVE')" -le 2 ]
	holds "$how: the device is not blamed" [ "$(count '^(FAIL|WARN)')" -eq 0 ]
done
finish
