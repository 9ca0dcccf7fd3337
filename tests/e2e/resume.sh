#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# --resume: a run that was stopped at any octet of its results and resumed has the verdicts, counters and lines of one
# that was not, what its rules found included; a reader of a stopped run sees what its rules had found; another program,
# selection, profile, seed or option is refused.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
: "${POINTS:=16}" "${SEED:=11}"

# Everything but the times, which are the run's own.
lines() { jq -cS 'del(.started, .ended, .chain, .duration_ns, .command_line)' "$1"; }
rules() { jq -c 'select(.type == "result" and .by == "rule") | [.id, .verdict]' "$1"; }

# points FILE: POINTS octets of the file, every other one the end of a line.
points() {
	LC_ALL=C awk -v seed="$SEED" -v count="$POINTS" '
		BEGIN { srand(seed) }
		{ end[NR] = total += length($0) + 1 }
		END {
			for (i = 0; i < count; i++)
				print i % 2 ? int(rand() * total) : end[1 + int(rand() * (NR - 1))]
			print end[NR - 1] # all but the summary
		}' "$1"
}

# stopped STATUS ARGUMENT...: the run, stopped at each point and resumed.
stopped() {
	local status=$1 whole=$WORK/whole cut
	shift
	rm -rf "$whole"
	expect "$status" "$*" "$WARPCHECK" run --simulate "$@" -o "$whole"
	lines "$whole/results.jsonl" >"$WORK/wanted"
	echo "seed $SEED"
	points "$whole/results.jsonl" >"$WORK/points"
	while read -r cut; do
		rm -rf "$WORK/stopped"
		mkdir "$WORK/stopped"
		cp -r "$whole/evidence" "$WORK/stopped" # ladders of what rules found are drawn of it
		head -c "$cut" "$whole/results.jsonl" >"$WORK/stopped/results.jsonl"
		expect "$status" "stopped at octet $cut" "$WARPCHECK" run --simulate "$@" -o "$WORK/stopped" --resume
		holds "the same lines as without the stop" cmp <(lines "$WORK/stopped/results.jsonl") "$WORK/wanted"
	done <"$WORK/points"
}

echo "== stopped at any octet"
stopped 1 --defect atom-request-reserved 'ATOM-4*' 'ATOM-5*'
stopped 1 --defect mpa-reply-reserved 'MPA-7.1*'
stopped 1 --defect mpa-pad-stale 'MPA-4*'
stopped 0 'DDP-7*' 'MPA-4.4*'

echo "== stopped by a line that cannot be written"
# Among the first lines are what the device serves in each role: a run without that must not go on to other checks.
select=(run --simulate --defect atom-request-reserved 'ATOM-5.2.1*' -j 1)
# A finding may do without its ladder and the place of its frame, where the evidence could not be written.
placeless() { lines "$1" | jq -cS 'del(.offset, .octets, .steps) | del(.findings[]?.offset, .findings[]?.octets)'; }
expect 1 "undisturbed" "$WARPCHECK" "${select[@]}" -o "$WORK/kept"
placeless "$WORK/kept/results.jsonl" >"$WORK/wanted"
stopped=0
for at in {1..12}; do
	rm -rf "$WORK/stopped"
	expect "1 4" "write $at fails" env LD_PRELOAD="$B/chaos.so" CHAOS_CLASS=write CHAOS_AT="$at" CHAOS_DO=fail CHAOS_ERRNO=28 CHAOS_WHO=main \
		CHAOS_COUNT="$WORK/count" "$WARPCHECK" "${select[@]}" -o "$WORK/stopped"
	[ ! -s "$WORK/stderr" ] || stopped=$((stopped + 1))
	expect 1 "resumed" "$WARPCHECK" "${select[@]}" -o "$WORK/stopped" --resume
	holds "the same lines in the same order" cmp <(placeless "$WORK/stopped/results.jsonl") "$WORK/wanted"
done
holds "some stop the run: $stopped" test "$stopped" -gt 4

echo "== stopped before the last checks, and again"
select=(run --simulate --defect atom-request-reserved 'ATOM*')
expect 1 "the run" "$WARPCHECK" "${select[@]}" -o "$WORK/atom"
says '^FAIL  ATOM-5.2.1-02'
lines "$WORK/atom/results.jsonl" >"$WORK/wanted"
grep -n '"type":"result"' "$WORK/atom/results.jsonl" | sed -n '246p; 130p' | cut -d: -f1 | sort -rn >"$WORK/ends"
cp -r "$WORK/atom" "$WORK/again"
while read -r end; do
	head -n "$end" "$WORK/atom/results.jsonl" >"$WORK/again/results.jsonl"
	expect 0 "the report of a run that was stopped" "$WARPCHECK" report "$WORK/again" --format tap -o "$WORK/stopped.tap"
	holds "has what the rule had found" grep -q '^not ok .*ATOM-5.2.1-02' "$WORK/stopped.tap"
	expect 1 "resumed" "$WARPCHECK" "${select[@]}" -o "$WORK/again" --resume
	says '^FAIL  ATOM-5.2.1-02'
	holds "the same lines" cmp <(lines "$WORK/again/results.jsonl") "$WORK/wanted"
done <"$WORK/ends"
expect 1 "a run that has ended" "$WARPCHECK" "${select[@]}" -o "$WORK/again" --resume
holds "stays what it is" cmp <(lines "$WORK/again/results.jsonl") "$WORK/wanted"

echo "== a shard that was stopped, in a merge"
for i in 1 2; do
	expect "0 1" "shard $i/2" "$WARPCHECK" "${select[@]}" --shard "$i/2" -o "$WORK/s$i"
done
expect 1 "merged" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/s2" -o "$WORK/merged"
count=$(grep -c '"type":"result"' "$WORK/s2/results.jsonl")
line=$(grep -n '"type":"result"' "$WORK/s2/results.jsonl" | sed -n "$((count / 2))p" | cut -d: -f1)
mkdir "$WORK/half"
head -n "$line" "$WORK/s2/results.jsonl" >"$WORK/half/results.jsonl"
cp -r "$WORK/s2/evidence" "$WORK/half/evidence"
expect 1 "with half a shard" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/half" -o "$WORK/partial"
complains 'shard 2/2 \(stopped before its end\) is missing'
holds "what its rules found is in it" jq -es '
	map(select(.type == "result" and .id == "ATOM-5.2.1-02")) |
	(map(.role) | sort) == ["initiator", "responder"] and all(.[]; .shares | length == 2)' "$WORK/partial/results.jsonl"
expect 1 "resumed" "$WARPCHECK" "${select[@]}" --shard 2/2 -o "$WORK/half" --resume
expect 1 "merged" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/half" -o "$WORK/whole-again"
holds "the same results" cmp <(rules "$WORK/merged/results.jsonl") <(rules "$WORK/whole-again/results.jsonl")

echo "== another run is not gone on with"
run=(run --simulate -o "$WORK/refused")
expect 0 "a run" "$WARPCHECK" "${run[@]}" 'MPA-7.1-*'
refuses() {
	local what=$1
	shift
	expect 4 "$what" "$@" --resume
	complains "results.jsonl: cannot resume: the run was made with $what \('.*', this one is '.*'\)$"
}
sha256sum "$WORK/refused/results.jsonl" >"$WORK/sum"
refuses 'another seed' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --seed 7
refuses 'another selection' "$WARPCHECK" "${run[@]}" 'MPA-7.1*'
refuses 'another selection' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --role responder
refuses 'another selection' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --level must
refuses 'other options' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --destructive
refuses 'another target' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --defect mpa-pad-stale
refuses 'another target' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --ipv6
refuses 'another --shard' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --shard 1/2
cp -r conformance/scripts/mpa "$WORK/scripts"
refuses 'other scripts' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*' --script "$WORK/scripts"
holds "and nothing is changed" sha256sum --check --quiet "$WORK/sum"
sed -i '1s/"tool":"warpcheck [^"]*"/"tool":"warpcheck 0.0.1"/' "$WORK/refused/results.jsonl"
refuses 'another program version' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*'
sed -i '1s/"tool":"warpcheck [^"]*"/"tool":"warpcheck 0.1.0"/; 1s/"catalogue":"[^"]*"/"catalogue":"00"/' "$WORK/refused/results.jsonl"
refuses 'another catalogue' "$WARPCHECK" "${run[@]}" 'MPA-7.1-*'

echo "== a profile"
# A device that cannot be reached leaves no results to resume: the run line is taken from a run, with what this one
# has.
jq -n '{name: "d", address: "192.0.2.1", port: 9, interface: "none", own_address: "192.0.2.9"}' >"$WORK/profile.json"
dut=(run --dut "$WORK/profile.json" 'MPA-7.1-*' -o "$WORK/dut")
expect 4 "a device that cannot be reached" "$WARPCHECK" "${dut[@]}"
holds "leaves an empty folder" test "$(find "$WORK/dut" | wc -l)" -eq 1
head -n 1 "$WORK/whole/results.jsonl" | jq -c '.target = "d" | .conditions.options = "" | .conditions.selection = "MPA-7.1-*" | .conditions.profile = "00"' \
	>"$WORK/dut/results.jsonl"
refuses 'another profile' "$WARPCHECK" "${dut[@]}"
finish
