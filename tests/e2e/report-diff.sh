#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --diff`: what is new, changed, vanished, fixed and added between runs and between audits, in each format, and the exit
# status that --fail-on chooses; what cannot be compared is refused.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

checks=('DDP-7.2*' 'MPA-4.4-1*')
expect 0 "the old firmware" "$WARPCHECK" run --simulate "${checks[@]}" -o "$WORK/old"
expect 1 "the new one, with a fault" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code "${checks[@]}" 'DDP-5.2-01' -o "$WORK/new"
expect 1 "another fault at the same place" "$WARPCHECK" run --simulate --defect ddp-stag-rdmap-code "${checks[@]}" -o "$WORK/other"

counts() { jq -c 'select(.type == "step") | .counts' "$WORK/stdout"; } # of the last step
kinds() { jq -r "select(.type == \"difference\" and .kind == \"$1\") | .id" "$WORK/stdout" | sort -u | tr '\n' ' '; }

expect 0 "a run beside itself" "$WARPCHECK" report --diff "$WORK/old" "$WORK/old" --fail-on any --format jsonl
holds "nothing differs" test "$(counts)" = '{"new":0,"changed":0,"vanished":0,"fixed":0,"added":0}'
expect 1 "the new firmware beside the old" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" --format jsonl
holds "what fails is new: $(kinds new)" grep -q 'DDP-7.2-01 ' <<<"$(kinds new)"
holds "what was not decided is added: $(kinds added)" test "$(kinds added)" = "DDP-5.2-01 "
expect 0 "the same, where that is no failure" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" --format jsonl --fail-on vanished,changed
expect 0 "the other way round" "$WARPCHECK" report --diff "$WORK/new" "$WORK/old" --format jsonl --fail-on new
holds "what failed is fixed" grep -q 'DDP-7.2-01 ' <<<"$(kinds fixed)"
holds "what is not decided any more has vanished" test "$(kinds vanished)" = "DDP-5.2-01 "
expect 1 "which is a failure unless told otherwise" "$WARPCHECK" report --diff "$WORK/new" "$WORK/old"
holds "the closing line names both" grep -q 'ddp-qn-wrong-code -> reference stack, simulated: 0 new' "$WORK/stdout"
lines=any expect 1 "another outcome" "$WARPCHECK" report --diff "$WORK/new" "$WORK/other" --format jsonl
holds "is a change: $(kinds changed)" grep -q 'DDP-7.2-01 ' <<<"$(kinds changed)"
expect 1 "three firmwares" "$WARPCHECK" report --diff v1="$WORK/old" v2="$WORK/new" v3="$WORK/old" --format md
holds "each step is told" test "$(grep -c " → " "$WORK/stdout")" -eq 2
holds "by the names that were given" grep -q '^## v2 → v3' "$WORK/stdout"
holds "and the trend: each run's results" test "$(grep -c '^| results | ' "$WORK/stdout")" -ge 2
three=(report --diff v1="$WORK/old" v2="$WORK/new" v3="$WORK/old")
lines=any expect 1 "the same as text" "$WARPCHECK" "${three[@]}"
says '^trend     DDP-7\.2-01  responder: PASS -> FAIL -> PASS$'
says '^trend     DDP-5\.2-01  responder: no result -> PASS -> no result$'
says '^trend     FAIL: 0 -> 2 -> 0$'
lines=any expect 1 "as lines" "$WARPCHECK" "${three[@]}" --format jsonl
holds "a line for each run" test "$(jq -r 'select(.type == "run") | .results.FAIL' "$WORK/stdout" | tr '\n' ' ')" = "0 2 0 "
holds "and the verdicts" jq -es 'any(.[]; .type == "trend" and .id == "DDP-5.2-01" and .role == "responder" and .verdicts == [null, "PASS", null])' "$WORK/stdout"
lines=any expect 1 "four runs, two of them the same" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" "$WORK/new" "$WORK/old"
says '^trend     DDP-7\.2-01  responder: PASS -> FAIL -> FAIL -> PASS$'
expect 1 "two runs have no trend" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new"
holds "none" test -z "$(grep '^trend' "$WORK/stdout" || true)"
expect 1 "three as a page" "$WARPCHECK" "${three[@]}" --format html -o "$WORK/trend.html"
holds "with the trend" grep -q '<h2>Trend</h2>' "$WORK/trend.html"
expect 1 "a page by its ending" "$WARPCHECK" "${three[@]}" -o "$WORK/ending.html"
holds "it is the page" cmp "$WORK/trend.html" "$WORK/ending.html"
expect 1 "as a page" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" --format html -o "$WORK/diff.html"
# On a small screen the tables have no head: each cell says what it is of.
holds "each number says what it counts" test -z "$(tr -d '\n' <"$WORK/diff.html" | grep -oE '<td>[0-9]+' || true)"
holds "and each side which it is" test "$(grep -o '<span class="dev">before: ' "$WORK/diff.html" | wc -l)" -ge 2

expect 1 "an audit" "$WARPCHECK" audit pcaps/generated -o "$WORK/audit-old"
cp -r "$WORK/audit-old" "$WORK/audit-new"
victim=$(jq -r 'select(.type == "result" and .verdict == "FAIL") | .file' "$WORK/audit-old/results.jsonl" | sed -n 1p)
jq -c --arg file "$victim" 'select((.type == "result" and .file == $file and .verdict == "FAIL") | not)' \
	"$WORK/audit-old/results.jsonl" >"$WORK/audit-new/results.jsonl"
expect 0 "other checks" "$WARPCHECK" run --simulate 'DDP-5.2-02' -o "$WORK/apart"
lines=any expect 3 "runs that have nothing in common" "$WARPCHECK" report --diff "$WORK/old" "$WORK/apart" --fail-on none
lines=any expect '0 1' "an audit that finds less in one capture" "$WARPCHECK" report --diff "$WORK/audit-old" "$WORK/audit-new" --format jsonl
jq -r 'select(.type == "difference") | .file' "$WORK/stdout" | sort -u >"$WORK/files"
holds "the differences are that capture's" test "$(cat "$WORK/files")" = "$victim"

echo "== run --compare"
failing=(run --simulate --defect ddp-qn-wrong-code DDP-7.2-01)
expect 0 "a run" "$WARPCHECK" run --simulate DDP-7.2-01 -o "$WORK/before"
expect 1 "one that fails, compared with it" "$WARPCHECK" "${failing[@]}" -o "$WORK/after" --compare "$WORK/before"
says '^new +DDP-7.2-01  responder'
says 'defect ddp-qn-wrong-code: 2 new, 0 changed'
expect 0 "one that fails in the same way" "$WARPCHECK" "${failing[@]}" -o "$WORK/again" --compare "old=$WORK/after"
says '^old -> .*: 0 new, 0 changed'
says '^what fails failed before, too'
expect 0 "one that fails no longer" "$WARPCHECK" run --simulate DDP-7.2-01 -o "$WORK/fixed" --compare "$WORK/after/results.jsonl"
says '^fixed +DDP-7.2-01  responder'
expect 0 "what would be run" "$WARPCHECK" "${failing[@]}" -o "$WORK/none" --compare "$WORK/after" --dry-run
holds "is compared with nothing" test -z "$(grep -E ' -> ' "$WORK/stdout")"
expect 2 "results that the run would remove" "$WARPCHECK" "${failing[@]}" -o "$WORK/after" --force --compare "$WORK/after"
holds "are left" test -s "$WORK/after/results.jsonl"
expect 2 "a folder without results" "$WARPCHECK" "${failing[@]}" -o "$WORK/none" --compare "$WORK/nowhere"
expect 2 "results of an audit" "$WARPCHECK" "${failing[@]}" -o "$WORK/none" --compare "$WORK/audit-old"
holds "nothing is begun for any of them" test ! -e "$WORK/none"
expect 2 "without -o" "$WARPCHECK" "${failing[@]}" --compare "$WORK/before"
expect 2 "with lines for programs" "$WARPCHECK" "${failing[@]}" -o "$WORK/none" --compare "$WORK/before" --format jsonl

expect 2 "a run and an audit" "$WARPCHECK" report --diff "$WORK/old" "$WORK/audit-old"
holds "are not compared" grep -q 'results of "run" and of "audit" cannot be compared' "$WORK/stderr"
expect 2 "one run" "$WARPCHECK" report --diff "$WORK/old"
expect 2 "an unknown kind" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" --fail-on worse
expect 2 "--fail-on alone" "$WARPCHECK" report "$WORK/old" --fail-on new
expect 2 "an unknown format" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" --format tap
expect 2 "the results as output" "$WARPCHECK" report --diff "$WORK/old" "$WORK/new" -o "$WORK/old/results.jsonl"
expect 2 "no such run" "$WARPCHECK" report --diff "$WORK/old" "$WORK/nowhere"
head -n 20 "$WORK/new/results.jsonl" >"$WORK/cut.jsonl"
lines=any expect '1 4' "a run that was stopped" "$WARPCHECK" report --diff "$WORK/old" "$WORK/cut.jsonl" --fail-on none
lines=any expect '1 4' "or as the older one" "$WARPCHECK" report --diff "$WORK/cut.jsonl" "$WORK/old" --fail-on none
holds "is no success" grep -q 'did not come to its end\|no summary line' "$WORK/stderr"
finish
