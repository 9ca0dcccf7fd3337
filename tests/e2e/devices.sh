#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Legal devices that seeds draw: the suite says nothing against them. Here a few over TCP (DEVICES_TCP: 3, from seed DEVICES_SEED: 1) and more of
# the CM Service (DEVICES_CM: 120), whose points and pairs of points are all drawn. `make soak` has many, over SCTP too.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

seed=${DEVICES_SEED:-1}
drawn() { # LLP COUNT
	expect 0 "$2 devices over $1" "$WARPCHECK" prove --devices "$2" --seed "$seed" --llp "$1" -j "${JOBS:-$(nproc)}" --format jsonl
	cp "$WORK/stdout" "$WORK/devices"
	jq -e --argjson count "$2" -s '[.[] | select(.type == "device")] | length == $count and all(.legal and (.choices | length > 0))' "$WORK/devices" >/dev/null ||
		wrong "each of $2 devices over $1 is legal" "$(grep -v '"legal":true' "$WORK/devices" | cut -c1-400)"
	jq -e -s '.[-1] | .type == "summary" and .legal == .devices and .false_alarms == 0 and .met > 0 and .met <= .runs' "$WORK/devices" >/dev/null ||
		wrong "the summary says so" "$(tail -n 1 "$WORK/devices")"
	jq -r 'select(.type == "device") | .inconclusive[]' "$WORK/devices" >"$WORK/undecided"
	if grep -vE '^INCONCLUSIVE [A-Z0-9.a-z-]+ (responder|initiator) [^ ]+: .{20,}; expected' "$WORK/undecided" | grep .; then
		wrong "each INCONCLUSIVE has its reason" "the lines above"
	fi
}

echo "== drawn by seed"
drawn tcp "${DEVICES_TCP:-3}"
drawn cm "${DEVICES_CM:-120}"
if [ "${DEVICES_CM:-120}" -ge 120 ]; then
	jq -e -s '.[-1] | .points > 0 and .least_drawn > 0 and .least_left > 0 and .pairs == .pairs_drawn' "$WORK/devices" >/dev/null ||
		wrong "each choice point is drawn and left, and each pair drawn together" "$(tail -n 1 "$WORK/devices")"
fi
for llp in ${DEVICES_MORE:-}; do drawn "${llp%=*}" "${llp#*=}"; done # such as "sctp=40 sctp-draft02=40"

echo "== the same seed, the same device"
expect 0 "seed 7 twice" "$WARPCHECK" prove --devices 1 --seed 7 --llp cm
cp "$WORK/stdout" "$WORK/once"
expect 0 "and once more" "$WARPCHECK" prove --devices 1 --seed 7 --llp cm -j 1
expect_same() { cmp -s "$WORK/once" "$WORK/stdout" || wrong "the same lines" "$(diff "$WORK/once" "$WORK/stdout")"; }
expect_same
choices=$(sed -nE 's/^legal +7 +//p' "$WORK/once")
expect 0 "by its choices" "$WARPCHECK" prove --llp cm --choices "$choices"
says "^legal +$choices\$"

for llp in tcp sctp; do
	# Untagged segments that change their order are of one size, whatever the first of a message has.
	expect 0 "two choices about segments, over $llp" "$WARPCHECK" prove --llp "$llp" --choices segment-first-1,segments-backwards
	says '^legal +segment-first-1,segments-backwards$'
done
# Sends that wait for one another fill a completion queue later; a session that fits no pattern before its Accept has no room for a Terminate of RDMAP.
expect 0 "Sends that wait for one another" "$WARPCHECK" run --simulate --llp sctp --choices sctp-sends-bundled RDMAP-8.1.1-14
expect 0 "segments after the SACK, and an RDMAP Terminate for what fits no pattern" "$WARPCHECK" run --simulate --llp sctp \
	--choices sctp-segments-after-sack,sctp-illegal-terminates 'SCTP5043-6.1-0[23]' EMPA-7-24
expect 0 "as the device of a run" "$WARPCHECK" run --simulate --llp cm --choices "$choices" -o "$WORK/run" 'CA11-*'
jq -e --arg choices "$choices" -s '.[0].conditions.options | endswith("--choices " + $choices)' "$WORK/run/results.jsonl" >/dev/null ||
	wrong "its results name the choices" "$(head -n 1 "$WORK/run/results.jsonl")"
expect 0 "as a device of its own, on the kernel's TCP" "$WARPCHECK" run --choices acks-late,access-bounds DDP-7.1-25 --all
says '^PASS +DDP-7.1-25 '
expect 2 "a choice that no device has" "$WARPCHECK" run --choices access-bound DDP-7.1-25
complains 'did you mean "access-bounds"'

echo "== a device that a check calls a fault is reduced to what draws that"
mkdir -p "$WORK/scripts"
cat >"$WORK/scripts/narrow.lua" <<-'END'
	check {
	  id = "DDP-7.1-25", purpose = "one triple of several",
	  run = function(t)
	    local m = t:memory { access = { "read" } }
	    local c = t:open()
	    c:send(m:write(0, "12345678"))
	    c:expect_terminate("DDP_INVALID_STAG", { message = "a Write where none is allowed" })
	  end,
	}
END
expect 1 "a check that is too narrow" "$WARPCHECK" prove --scripts "$WORK/scripts" --choices acks-late,access-bounds,atomic-ids-same
says '^ALARM '
says '^ +FAIL DDP-7.1-25 responder '
says '^ +reduced: access-bounds$'
says "^ +again:   warpcheck prove --llp tcp --seed 1 --choices 'access-bounds'\$"

echo "== wrong arguments"
refuses prove "did you mean \"segments-512\"" --choices segments-51
refuses prove "alternatives of one point" --choices segments-512,segments-333
refuses prove "a number of 128 to 1460 was expected" --choices tcp.mss=9
refuses prove "cm goes with --devices or --choices" --llp cm
refuses prove "one of both was expected" --devices 1 --choices acks-late
refuses prove "exclude --variants" --devices 1 --variants
refuses prove "--devices" --devices 0
finish
