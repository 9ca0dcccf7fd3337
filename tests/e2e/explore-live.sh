#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Sessions that seeds draw, played on the wire: against the reference stack as a process, and against a device by its profile, which gets
# nothing wrong without --destructive. A defect is found, played again, reduced, and run once more with its evidence; a device that fails
# now and then is called flaky, and sessions that a device has no means for are skipped.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
stands peer "$IWARP_PEER" --control 7470 "${@:2}"
status=0
# shellcheck disable=SC2086 # several options
"$WARPCHECK" explore --dut "$WORK/dut.json" -o "$WORK/$1" --format jsonl $OPTIONS >"$WORK/$1.jsonl" || status=$?
kill -KILL "${standing[@]}"
exit $status
INSIDE
export WORK WARPCHECK IWARP_PEER OPTIONS
summary() { # NAME CONDITION
	holds "$1: $2" jq -es ".[-1] | .type == \"summary\" and $2" "$WORK/$1.jsonl"
}

echo "== the reference stack as a process"
expect 0 "nothing fails" "$WARPCHECK" explore --sessions 40 --seed 3 -o "$WORK/clean"
says '^40 sessions, [1-9][0-9]* with something wrong: 0 failed, in 0 groups$'
# Its ULP comes too late for its first Send: the device, an initiator, has refused the start-up.
# drawn CONDITION: the number of the first session of which it is true, by the session's text in $drawn.
drawn() {
	local number drawn
	for number in {0..200}; do
		drawn=$("$WARPCHECK" explore --simulate "${@:2}" --show "$number")
		! "$1" || { echo "$number"; return; }
	done
}
is_refused() { [[ $drawn = *'role = "initiator"'* && $drawn =~ open\ =\ [^$'\n']*wrong\ =\  && $drawn = *'reactions = { "closes"'* ]]; }
late=$(drawn is_refused)
holds "a start-up is wrong in some session" test -n "$late"
expect 0 "an end that is allowed" "$WARPCHECK" explore --from "$late" --sessions 1 -o "$WORK/late"
# One that a rule finds: what is only seen when nothing comes is waited for in each try.
is_found() { # the device is an initiator: a Send of its own comes before its Read
	local said
	[[ $drawn = *'role = "initiator"'* && $drawn != *'"another"'* && $(grep -c '^      { "' <<<"$drawn") -ge 3 && $drawn = *'"device read"'* ]] || return
	said=$("$WARPCHECK" explore --simulate --whole --defect ddp-msn-shared --wrong 0 --from "$number" --sessions 1 || true)
	grep -q '^FAIL  DDP-4.3-12' <<<"$said"
}
found=$(drawn is_found --wrong 0)
holds "a session of several steps shows a defect" test -n "$found"
expect 1 "a defect" "$WARPCHECK" explore --defect ddp-msn-shared --wrong 0 --from "$found" --sessions 1 -o "$WORK/faulty"
says '^      reduced to 1 step: device read$'
says "^      its run: $WORK/faulty/explored-1$"
checks=("$WORK"/faulty/checks/*.lua)
holds "an empty Read is left" grep -qF '{ "device read", region = 1, at = 0, octets = 0 },' "${checks[0]}"
holds "with its evidence" test -s "$WORK/faulty/run/evidence/$(basename "${checks[0]}" .lua).pcapng"
expect 0 "the correct stack passes it" "$WARPCHECK" run --script "${checks[0]}"
expect 4 "the folder is kept" "$WARPCHECK" explore --sessions 1 -o "$WORK/faulty"
complains "a new folder was expected"

echo "== a device by its profile"
echo '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7470",
        "capabilities": { "atomics": "no", "initiator": "no" } }' >"$WORK/dut.json"
jq '.address = "127.0.0.1" | .own_address = "127.0.0.9" | .interface = "lo" | .control = "127.0.0.1:9"' "$WORK/dut.json" >"$WORK/nobody.json"
OPTIONS="--sessions 30"
expect 0 "legal sessions alone" unshare -rn bash "$WORK/inside.sh" legal
summary legal '.wrong == 0 and .failed == 0 and .undecided == 0 and .sessions == 30 and .skipped > 0 and .skipped < 30'
OPTIONS="--sessions 20 --destructive --seed 2"
expect 0 "and others" unshare -rn bash "$WORK/inside.sh" others
summary others '.wrong > 0 and .failed == 0 and .undecided == 0'
OPTIONS="--sessions 40 --whole"
expect 1 "with a defect" unshare -rn bash "$WORK/inside.sh" found --defect ddp-msn-shared
holds "the rule names it" jq -es 'any(.[]; .type == "group" and .id == "DDP-4.3-12" and .run == "explored-1")' "$WORK/found.jsonl"

echo "== a device that is not there"
expect 4 "nothing is decided" "$WARPCHECK" explore --dut "$WORK/nobody.json" --sessions 4 -o "$WORK/nobody"
complains 'no upper tester answers'
says '^0 sessions, 0 with something wrong: 0 failed, in 0 groups$'

echo "== wrong arguments"
refuses explore "-o DIR was expected" --sessions 1
refuses explore "--simulate excludes --dut" --simulate --dut "$WORK/dut.json"
refuses explore "--wrong 5 needs --destructive" --dut "$WORK/dut.json" --wrong 5 -o "$WORK/x"
refuses explore "--dut excludes --defect" --dut "$WORK/dut.json" --defect ddp-msn-shared -o "$WORK/x"
printf '{ "addres": "10.99.0.2" }' >"$WORK/bad.json"
refuses explore "did you mean \"address\"" --dut "$WORK/bad.json" --sessions 1 -o "$WORK/y"
finish
