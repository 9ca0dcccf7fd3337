#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# --shard i/n and what merges: shards are disjoint and complete, the merged report is that of the whole, in whichever
# order and tree; what is missing, contradicts itself or does not belong together is reported.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# results FILE: its results without what merging adds, and of a run's rules what does not depend on the order of checks.
results() {
	jq -cS 'select(.type == "result") | del(.shares, .otherwise) |
		if .by == "rule" and (.shares or $run) then {id, by, script, verdict, count} else . end' \
		--argjson run "$(jq 'select(.type == "run") | .command == "run"' "$1")" "$1" | LC_ALL=C sort
}
same_results() { cmp <(results "$1") <(results "$2"); }
summary() { jq -cS 'select(.type == "summary") | del(.ended, .chain)' "$1"; }

echo "== run"
select=(run --simulate --defect ddp-qn-wrong-code 'DDP-7*' 'DDP-4*' 'MPA-4*')
expect 1 "the whole" "$WARPCHECK" "${select[@]}" -o "$WORK/whole"
for i in 1 2 3; do
	expect "0 1" "shard $i/3" "$WARPCHECK" "${select[@]}" --shard "$i/3" -o "$WORK/s$i"
done
for i in 1 2 3; do "$WARPCHECK" "${select[@]}" --shard "$i/3" --dry-run; done | LC_ALL=C sort >"$WORK/parts"
"$WARPCHECK" "${select[@]}" --dry-run | LC_ALL=C sort >"$WORK/plan"
holds "three parts are the whole, each check once" cmp "$WORK/parts" "$WORK/plan"
expect 1 "merge" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/s2" "$WORK/s3" -o "$WORK/merged"
holds "the same results as the whole" same_results "$WORK/whole/results.jsonl" "$WORK/merged/results.jsonl"
holds "the same counts" cmp <(summary "$WORK/whole/results.jsonl") <(summary "$WORK/merged/results.jsonl")
of_checks() { find "$1" -type f ! -name 'served-*' -printf '%f\n' | LC_ALL=C sort; } # what each shard learned of the device is its own
holds "the same evidence" cmp <(of_checks "$WORK/whole/evidence") <(of_checks "$WORK/merged/evidence")
holds "what the parts learned of the device, once" jq -es \
	'[.[] | select(.type == "served")] | length >= 1 and length == (unique | length)' "$WORK/merged/results.jsonl"
holds "a page and JUnit" test -s "$WORK/merged/index.html" -a -s "$WORK/merged/junit.xml"

echo "== any order, any tree, twice"
expect "1 4" "two of them" "$WARPCHECK" report --merge "$WORK/s3" "$WORK/s1" -o "$WORK/two"
complains 'shard 2/3 is missing'
holds "its summary says so, too" jq -es 'last.stopped == "shard 2/3 is missing"' "$WORK/two/results.jsonl"
expect 1 "a merge of a merge, the same twice" "$WARPCHECK" report --merge "$WORK/s2" "$WORK/two" "$WORK/s1" "$WORK/two" -o "$WORK/tree"
holds "the same octets" cmp "$WORK/tree/results.jsonl" "$WORK/merged/results.jsonl"
expect 1 "a merge alone" "$WARPCHECK" report --merge "$WORK/tree" -o "$WORK/again"
holds "stays what it is" cmp "$WORK/again/results.jsonl" "$WORK/merged/results.jsonl"
head -n 20 "$WORK/s2/results.jsonl" >"$WORK/stopped.jsonl"
expect "1 4" "a shard that was stopped" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/stopped.jsonl" "$WORK/s3" -o "$WORK/half"
complains 'shard 2/3 \(stopped before its end\) is missing'
expect 1 "the rest of it later" "$WARPCHECK" report --merge "$WORK/half" "$WORK/s2" -o "$WORK/mended"
holds "the same octets" cmp "$WORK/mended/results.jsonl" "$WORK/merged/results.jsonl"

echo "== what contradicts itself"
jq -c 'if .type == "result" and .by == "check" and .verdict == "FAIL" then .verdict = "PASS" else . end' \
	"$WORK/whole/results.jsonl" >"$WORK/edited.jsonl"
lines=any expect 2 "results that somebody has changed" "$WARPCHECK" report --merge "$WORK/edited.jsonl" -o "$WORK/edited"
complains 'lines before the summary are lost or changed'
jq -cn --slurpfile all "$WORK/edited.jsonl" '([$all[] | select(.type == "result" and .verdict == "FAIL")] | length) as $fails | $all[] |
	if .type == "summary" then .pass += .fail - $fails | .fail = $fails | del(.chain) else . end' >"$WORK/other.jsonl"
grep -v '"verdict":"FAIL"' "$WORK/whole/results.jsonl" >"$WORK/lost.jsonl"
lines=any expect 2 "a FAIL that is lost" "$WARPCHECK" report --merge "$WORK/lost.jsonl" -o "$WORK/lost"
complains 'lines before the summary are lost or changed'
jq -c 'del(.chain)' "$WORK/lost.jsonl" >"$WORK/unchained.jsonl"
lines=any expect 2 "the same, by its count" "$WARPCHECK" report --merge "$WORK/unchained.jsonl" -o "$WORK/lost"
complains 'it has [0-9]+ FAIL results, and its summary counts [0-9]+; lines are lost or changed$'
expect 1 "PASS here, FAIL there" "$WARPCHECK" report --merge "$WORK/other.jsonl" "$WORK/whole" -o "$WORK/both"
says '^contradicted: DDP-7.2-01 responder: FAIL, the worst, counts; another part says PASS$'
holds "the worse, and what the other said" jq -es \
	'any(.[]; .id == "DDP-7.2-01" and .verdict == "FAIL" and .otherwise == "PASS")' "$WORK/both/results.jsonl"
holds "the page says so" grep -q Contradicted "$WORK/both/index.html"
expect 1 "the other way round" "$WARPCHECK" report --merge "$WORK/whole" "$WORK/other.jsonl" -o "$WORK/htob"
holds "the same octets" cmp "$WORK/both/results.jsonl" "$WORK/htob/results.jsonl"

echo "== what does not belong together"
expect 0 "another device" "$WARPCHECK" run --simulate 'DDP-7.2-01' --shard 1/3 -o "$WORK/correct"
expect 2 "another target" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/correct" -o "$WORK/no"
complains 'its target is'
expect "0 1" "another selection" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7*' --shard 2/3 -o "$WORK/less"
expect 2 "another division" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/less" -o "$WORK/no"
complains 'its division'
expect "0 1" "another n" "$WARPCHECK" "${select[@]}" --shard 2/4 -o "$WORK/four"
expect 2 "another number of shards" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/four" -o "$WORK/no"
complains "number of shards is '4', not '3'"
expect "0 1" "another seed" "$WARPCHECK" "${select[@]}" --shard 2/3 --seed 7 -o "$WORK/seven"
expect 2 "another seed" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/seven" -o "$WORK/no"
complains "its seed is '7', not '1'"
expect 2 "into one of them" "$WARPCHECK" report --merge "$WORK/s1" "$WORK/s2" -o "$WORK/s1"
expect 2 "without -o" "$WARPCHECK" report --merge "$WORK/s1"
expect 2 "several without --merge" "$WARPCHECK" report "$WORK/s1" "$WORK/s2"
expect 4 "another shard's results are not gone on with" "$WARPCHECK" "${select[@]}" --shard 1/3 --resume -o "$WORK/s2"
complains 'cannot resume'
expect 4 "nor merged ones" "$WARPCHECK" "${select[@]}" --resume -o "$WORK/merged"
complains 'merged results'

echo "== empty shards"
cat >"$WORK/skips.lua" <<'LUA'
check {
  id = "DDP-7.2-01",
  purpose = "nothing",
  sandwich = "tcp",
  rules = false,
  run = function(t) t:skip("not today") end,
}
LUA
expect 0 "more shards than checks" "$WARPCHECK" run --simulate 'DDP-7.2-01' --role responder --shard 2/2 -o "$WORK/e2"
complains 'shard 2/2: this shard has no checks; the other shards have them'
holds "results.jsonl all the same" jq -es 'map(.type) == ["run", "rules", "summary"]' "$WORK/e2/results.jsonl"
expect 4 "the empty one alone" "$WARPCHECK" report --merge "$WORK/e2" -o "$WORK/e"
complains 'shard 1/2 is missing'
expect 0 "the other" "$WARPCHECK" run --simulate 'DDP-7.2-01' --role responder --shard 1/2 -o "$WORK/e1"
expect 0 "both" "$WARPCHECK" report --merge "$WORK/e1" "$WORK/e2" -o "$WORK/e12"
expect 0 "one empty, one that skips all" "$WARPCHECK" run --simulate --script "$WORK/skips.lua" --shard 1/2 -o "$WORK/k1"
complains 'all of its checks are skipped'
expect 0 "the other" "$WARPCHECK" run --simulate --script "$WORK/skips.lua" --shard 2/2 -o "$WORK/k2"
expect 3 "together they decide nothing" "$WARPCHECK" report --merge "$WORK/k1" "$WORK/k2" -o "$WORK/k"
expect 3 "nothing selected stays nothing" "$WARPCHECK" run --simulate 'NOPE-*' --shard 1/2
for wrong in 0/4 5/4 1 1/ /4 1/4x -1/4 1/9999; do
	expect 2 "--shard $wrong" "$WARPCHECK" run --simulate --shard "$wrong"
	expect 2 "audit --shard $wrong" "$WARPCHECK" audit --shard "$wrong" pcaps
done

echo "== audit"
expect "0 1" "audit" "$WARPCHECK" audit pcaps -o "$WORK/audit"
for i in 1 2 3; do
	expect "0 1" "audit, shard $i/3" "$WARPCHECK" audit pcaps --shard "$i/3" -o "$WORK/a$i"
done
expect "0 1" "merged" "$WARPCHECK" report --merge "$WORK/a3" "$WORK/a1" "$WORK/a2" -o "$WORK/audited"
holds "the same results as the whole" same_results "$WORK/audit/results.jsonl" "$WORK/audited/results.jsonl"
holds "the same counts" cmp <(summary "$WORK/audit/results.jsonl") <(summary "$WORK/audited/results.jsonl")
files=$(find pcaps -name '*.pcap' -o -name '*.pcapng' -o -name '*.cap' | wc -l)
expect 0 "more shards than captures" "$WARPCHECK" audit pcaps --shard "$((files + 1))/$((files + 1))"
complains 'this shard has no captures'
mkdir "$WORK/broken"
cp pcaps/generated/*.pcap* "$WORK/broken"
first=$(find "$WORK/broken" -type f | sort | sed -n 1p)
printf 'no capture' >"$WORK/broken/foreign.pcap"
head -c "$(($(stat -c %s "$first") - 5))" "$first" >"$WORK/broken/torn.pcap"
status=0
"$WARPCHECK" audit "$WORK/broken" --level may >/dev/null 2>&1 || status=$?
for i in 1 2; do "$WARPCHECK" audit "$WORK/broken" --level may --shard "$i/2" -o "$WORK/b$i" >/dev/null 2>&1 || true; done
merged=0
"$WARPCHECK" report --merge "$WORK/b1" "$WORK/b2" -o "$WORK/b" >/dev/null 2>&1 || merged=$?
holds "files that cannot be read: exit status $merged as of the whole ($status), and no success" \
	test "$merged" -eq "$status" -a "$status" -ne 0

echo "== prove"
defects=(ddp-qn-unchecked ddp-qn-wrong-code mpa-early-delivered)
prove() { "$WARPCHECK" prove --seeds 1 --format jsonl "${defects[@]}" "$@"; }
prove >"$WORK/proved"
for i in 1 2; do prove --shard "$i/2" >"$WORK/p$i"; done
expect 0 "prove --merge" "$WARPCHECK" prove --merge --format jsonl "$WORK/p2" "$WORK/p1" "$WORK/p2"
cp "$WORK/stdout" "$WORK/p"
holds "the same as the whole" cmp <(jq -cS 'del(.shard, .plan)' "$WORK/p" | LC_ALL=C sort) <(jq -cS . "$WORK/proved" | LC_ALL=C sort)
expect 0 "as text" "$WARPCHECK" prove --merge "$WORK/p"
says '^3 of 3 defects killed by .* over 1 seeds: 0 false alarms$'
expect 4 "one of them" "$WARPCHECK" prove --merge "$WORK/p1"
complains 'shard 2/2 is missing'
expect 2 "a defect that no check can meet" "$WARPCHECK" prove --llp sctp mpa-stray-octet
complains 'has no meaning over SCTP, as mpa-stray-octet is one: frame: '
head -n 1 "$WORK/p1" >"$WORK/torn"
expect 4 "one that was stopped" "$WARPCHECK" prove --merge "$WORK/torn"
jq -c 'if .defect == "ddp-qn-unchecked" then .killed = false else . end' "$WORK/p" >"$WORK/survived"
expect 1 "one says that a defect survived" "$WARPCHECK" prove --merge "$WORK/p" "$WORK/survived"
# Two whole ones in one file, and a survivor after a line that cannot be parsed: the merge does not pass over what follows.
(cat "$WORK/proved" && echo '{"type":"correct","seed":bad}' && cat "$WORK/survived") >"$WORK/damaged"
expect 2 "one that is damaged" "$WARPCHECK" prove --merge "$WORK/damaged"
complains 'is damaged after line [0-9]+: invalid token'
(cat "$WORK/proved" && head -c 100 "$WORK/survived") >"$WORK/breaks-off"
expect 4 "one that breaks off after a whole one" "$WARPCHECK" prove --merge "$WORK/breaks-off"
complains 'stopped before its end; repeat it'
sed 's|"shard":"1/2"|"shard":"01/2"|' "$WORK/p1" >"$WORK/other-spelling"
expect 0 "a shard's name with another spelling" "$WARPCHECK" prove --merge "$WORK/other-spelling" "$WORK/p2"
printf '%s\n' '{"type":"alarm","seed":1,"text":"\u001b[2Jx"}' '{"type":"summary","checks":1,"rules":1}' >"$WORK/alarm"
expect 1 "an alarm with control characters" "$WARPCHECK" prove --merge "$WORK/alarm"
holds "they are not printed" test "$(tr -d '\n\040-\176\200-\377' <"$WORK/stdout" | wc -c)" = 0
expect 2 "something else" "$WARPCHECK" prove --merge "$WORK/whole/results.jsonl"
finish
