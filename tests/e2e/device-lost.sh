#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Devices as they are, behind profiles with wait_for_device, restart_command and connect_command: a server that serves
# one connection and exits, one that crashes on a certain stimulus, one that somebody else starts again, one that does
# not come back, one whose upper tester dies with it, and an initiator that has no upper tester. The run goes on; a death is a FAIL of the check that caused
# it; the commands' output is kept, and their processes end with the run. The same without any of these members: a death
# is a FAIL, and a link that is down none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# Inside a network namespace, with the stack behind the device on the loopback. $1: which device; the others: of `run`.
cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
stands peer "$IWARP_PEER" --listen 9998 --bind 127.0.0.1 --control 7471
supervisor=
if [[ $1 =~ ^(supervised|relay|vanishing|plain|unplugged|together|apart)$ ]]; then
	declare -A kinds=([relay]=once [unplugged]=unplug)
	kind=${kinds[$1]:-crash}
	args=(9998 "$kind")
	[[ ! $1 =~ ^(together|apart)$ ]] || args=(9999 crash 7472 7471)
	[ "$1" != apart ] || { stands terse perl tests/e2e/terse_upper.pl 7473 7471 && args[3]=7473; }
	again() { until [ -e "$WORK/enough" ]; do perl tests/e2e/fragile_device.pl 10.99.0.2 9999 "${args[@]}"; [[ $how =~ ^(supervised|relay)$ ]] || return 0; done; }
	rm -f "$WORK/enough"
	how=$1 again >"$WORK/supervised.txt" 2>&1 &
	supervisor=$!
	prints "$supervisor" "$WORK/supervised.txt" '^listens' || exit 99
fi
"$WARPCHECK" run --dut "$WORK/$1.json" -o "$WORK/$1" "${@:2}"
status=$?
touch "$WORK/enough"
ps -eo args >"$WORK/$1.left"
kill "${standing[@]}"
# The supervisor ends with its device: there is "enough".
[ -z "$supervisor" ] || { pkill -P "$supervisor" && wait "$supervisor"; } 2>/dev/null
exit $status
INSIDE

profile() { # NAME MEMBERS
	printf '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, %s }\n' "$2" >"$WORK/$1.json"
}
device() { printf '"restart_command": ["perl", "%s/tests/e2e/fragile_device.pl", "{address}", "{port}", "9998", "%s"]' "$PWD" "$1"; }
profile once "$(device once)"
profile failing "$(device failing)"
profile crash "\"wait_for_device\": 20, $(device crash)"
profile supervised '"wait_for_device": 20'
profile relay '"wait_for_device": 20'
profile plain '"name": "a device that nobody waits for"'
upper='"control": "127.0.0.1:7472"'
profile together "$upper"
profile apart "$upper"
profile fails-together "$upper, \"restart_command\": [\"perl\", \"$PWD/tests/e2e/fragile_device.pl\", \"{address}\", \"{port}\", \"9999\", \"crash\", \"7472\", \"7471\"]"
profile unplugged '"name": "a device that nobody waits for"'
profile vanishing '"wait_for_device": 1'
profile initiator "\"connect_command\": [\"perl\", \"$PWD/tests/e2e/lone_initiator.pl\", \"$IWARP_PEER\", \"{address}\", \"{port}\"]"
profile enhanced "\"connect_command\": [\"perl\", \"$PWD/tests/e2e/lone_initiator.pl\", \"$IWARP_PEER\", \"{address}\", \"{port}\", \"enhanced\"]"

run() { # STATUSES WHAT DEVICE ARGUMENTS...
	export WORK WARPCHECK IWARP_PEER
	expect "$1" "$2" unshare -rn bash "$WORK/inside.sh" "${@:3}"
	out=$WORK/$3
	[ -s "$out/results.jsonl" ] || return 0
	jq -r 'select(.type == "result" and .by == "check") | [.id, .verdict, .message // "", .actual // "", .frame // 0] | @tsv' "$out/results.jsonl" >"$out/verdicts"
	holds "$2: nothing is left of its commands" bash -c "! grep -E 'fragile_device|lone_initiator' '$WORK/$3.left' | grep -v 'perl tests/e2e/fragile_device'"
}
count() { grep -cE "$1" "$out/verdicts" || true; }

# The key checks have a stimulus that is no Request: the device dies of that.
checks=('MPA-7.1.2-0*' 'DDP-5.3-0*' --role responder)
"$WARPCHECK" run --simulate "${checks[@]}" --dry-run | grep -v SKIP | cut -d' ' -f1 | sort -u >"$WORK/selected"

for how in once failing; do
	run 0 "a server that is $how" $how "${checks[@]}"
	holds "$how: checks pass" [ "$(count $'\tPASS\t')" -ge 3 ]
	holds "$how: its end is no finding" [ "$(count $'\t(FAIL|WARN|INCONCLUSIVE)\t')" -eq 0 ]
	holds "$how: the restarts are counted" [ "$(jq 'select(.type == "summary") | .restarts' "$out/results.jsonl")" -ge 9 ]
	holds "$how: and told" grep -qE '^restart_command was run [0-9]+ times in the course of the run' "$WORK/stdout"
	holds "$how: it was started for each connection" [ "$(cat "$out"/evidence/*.restart.txt | grep -c "^listens on 10.99.0.2 port 9999, $how")" -ge 9 ]
done

# The crash, by a restart_command of ours and by a supervisor that is none.
for how in crash supervised; do
	run 1 "a server that crashes ($how)" $how "${checks[@]}"
	holds "$how: the run goes on" [ "$(count $'\tPASS\t')" -ge 1 ]
	holds "$how: nobody is INCONCLUSIVE" [ "$(count $'\tINCONCLUSIVE\t')" -eq 0 ]
	holds "$how: two checks killed it" [ "$(count $'\tFAIL\tthe device did not survive this check')" -eq 2 ]
	holds "$how: the verdict names a frame" [ "$(count $'\tFAIL\t.*\t0$')" -eq 0 ]
done
holds "the signal is named" grep -q $'its process ended with signal 11 (Segmentation fault)\t' "$WORK/crash/verdicts"
holds "its output is kept" grep -q '^crashes$' "$WORK"/crash/evidence/*.restart.txt
holds "a refusal is named" grep -q 'it accepts no TCP connection any more (.*refused' "$WORK/supervised/verdicts"
# The frame is the stimulus: of the tester, with octets.
frames() { jq -r 'select(.verdict == "FAIL" and .by == "check") | [.evidence, .frame] | @tsv' "$WORK/crash/results.jsonl"; }
while read -r file frame; do
	holds "$file frame $frame is the tester's, with octets" [ "$("$TSHARK" -r "$WORK/crash/$file" -Y "frame.number == $frame && ip.src == 10.99.0.3 && tcp.len > 0" 2>/dev/null | wc -l)" -eq 1 ]
done < <(frames)

# Somebody starts a server anew that serves one connection: it refuses for a while, and no check is blamed for that.
run '0 4' "a server of one connection that somebody starts again" relay "${checks[@]}"
holds "relay: its end is no finding" [ "$(count $'\t(FAIL|WARN)\t')" -eq 0 ]

# Nobody waits for it. A RST to each SYN shows the death; the check that killed it is named by all that follow.
passes=any run 1 "a server that crashes, and nobody waits for it" plain "${checks[@]}"
holds "plain: one check killed it" [ "$(count $'\tFAIL\tthe device did not survive this check: it accepts no TCP connection any more')" -eq 1 ]
holds "plain: the verdict names a frame" [ "$(count $'\tFAIL\t.*\t0$')" -eq 0 ]
killer=$(awk -F'\t' '$2 == "FAIL" { print $1 }' "$out/verdicts")
holds "plain: the rest names $killer" [ "$(count $'\tINCONCLUSIVE\tthe device is lost since check '"$killer")" -ge 3 ]
holds "plain: and nothing else" [ "$(count $'\tINCONCLUSIVE\t')" -eq "$(count $'\tINCONCLUSIVE\tthe device is lost since check '"$killer")" ]
holds "plain: the rest has one cause" [ "$(jq -r 'select(.verdict == "INCONCLUSIVE" and .by == "check") | .cause' "$out/results.jsonl" | sort -u)" = device-lost ]
holds "plain: a start-up was served" [ "$(count 'does not serve a start-up')" -eq 0 ]

# Its upper tester dies with it. It says that they are one program: else the listener may have been the upper tester's.
passes=any run 1 "a server that crashes with its upper tester" together "${checks[@]}"
holds "together: the check that killed it" [ "$(count $'\tFAIL\tthe device did not survive this check: .*same program, is gone as well')" -eq 1 ]
holds "together: nothing else fails" [ "$(count $'\t(FAIL|WARN)\t')" -eq 1 ]
passes=any run 4 "a server whose upper tester is gone" apart "${checks[@]}"
holds "apart: nobody is blamed" [ "$(count $'\t(FAIL|WARN)\t')" -eq 0 ]
run 1 "a server that crashes with its upper tester, and is started again" fails-together "${checks[@]}"
holds "fails-together: two checks killed it, and the signal is named" \
	[ "$(count $'\tFAIL\tthe device did not survive this check: .*signal 11')" -eq 2 ]

# Silence on a link that is down is no death.
passes=any run 4 "a cable that is pulled out" unplugged "${checks[@]}"
holds "unplugged: nothing is blamed on it" [ "$(count $'\t(FAIL|WARN)\t')" -eq 0 ]
holds "unplugged: the check says why" [ "$(count $'\tINCONCLUSIVE\tthe tester.s end of the link went down during this check')" -eq 1 ]
holds "unplugged: the rest names it" [ "$(count $'\tINCONCLUSIVE\tthe device is lost since check ')" -ge 3 ]

passes=any run '1 4' "a server that does not come back" vanishing "${checks[@]}"
holds "vanishing: the check that killed it" [ "$(count $'\tFAIL\tthe device did not survive this check')" -eq 1 ]
holds "vanishing: the rest says why" [ "$(count $'\tINCONCLUSIVE\tthe device is lost: it accepts no TCP connection for 1 s')" -ge 3 ]

run 0 "an initiator without an upper tester" initiator 'MPA-7.1.1-*' 'MPA-9*' 'DDP-5*' --role initiator
holds "initiator: checks decide" [ "$(count $'\tPASS\t')" -ge 3 ]
holds "initiator: none fails" [ "$(count $'\t(FAIL|INCONCLUSIVE)\t')" -eq 0 ]
holds "initiator: its output is kept" [ "$(cat "$out"/evidence/*.connect.txt | grep -c '"stream"')" -ge 3 ]
"$WARPCHECK" run --dut "$WORK/initiator.json" 'MPA-7.1.1-*' 'MPA-9*' 'DDP-5*' --role initiator --dry-run 2>"$WORK/foreseen.txt" |
	awk '/  SKIP: / { print $1 }' | LC_ALL=C sort >"$WORK/foreseen"
grep $'\tSKIP\t' "$out/verdicts" | cut -f1 | LC_ALL=C sort >"$WORK/skipped"
holds "initiator: --dry-run foresees each check that is skipped" diff -u "$WORK/skipped" "$WORK/foreseen"
holds "initiator: and counts them" grep -q " $(wc -l <"$WORK/skipped") to skip" "$WORK/foreseen.txt"

# A Reply to an enhanced Request has the enhanced word in front of the Private Data, and PD_Length covers it (RFC 6581 6).
run 0 "an enhanced initiator without an upper tester" enhanced MPA-7.1.1-28 MPA-7.1.1-37 MPA-9.1-01 --role initiator
holds "enhanced: PD_Length is judged" [ "$(count $'^MPA-7.1.1-(28|37)\t(PASS|AMBIGUOUS|WARN)\t')" -eq 2 ]
holds "enhanced: two connections at once are skipped" [ "$(count $'^MPA-9.1-01\tSKIP\tconnect_command serves one connection at a time')" -eq 1 ]

# The probe starts the initiator, too, and measures by its Request.
cat >"$WORK/probe.sh" <<'PROBE'
source tests/e2e/cable.bash
cable device0 tester0 10.99.0.2/24 || exit 99
"$WARPCHECK" probe "$WORK/enhanced.json" -o "$WORK/probed.json"
PROBE
expect 0 "the probe of an initiator" unshare -rn bash "$WORK/probe.sh"
says '^  TCP +the device accepts no connection; connect_command opens them$'
says '^  start-up +its Request +sent: Rev 2, M=0, C=1, S=1'
says '^  exchange +as initiator a zero-length RDMA Read +served$'
holds "probe: what the Request says is measured" \
	jq -e '.capabilities | .initiator == "yes" and .responder == "no" and ."mpa.rev2" == "yes" and ."mpa.rev1" == "no" and .ird > 0' "$WORK/probed.json"
finish
