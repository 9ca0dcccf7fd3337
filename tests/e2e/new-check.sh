#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck new-check: the skeleton for each kind of requirement loads, runs and is INCONCLUSIVE, never PASS; which files it
# writes and which it leaves alone; hostile arguments; exit statuses.
# shellcheck disable=SC2016 # the jq programs have variables of their own
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
WARPCHECK=$(realpath "$WARPCHECK")
"$WARPCHECK" list --format jsonl >"$WORK/rows.jsonl"
mkdir "$WORK/here"
cd "$WORK/here" || exit 1

# honest FILE ID: the script runs, and says that it is a skeleton. (The rules judge the traffic of t:open: there are PASSes of theirs.)
honest() {
	local got=0
	"$WARPCHECK" run --simulate --script "$1" --format jsonl >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || got=$?
	holds "the skeleton of $2 runs, and ends with 4 (status $got)" test "$got" -eq 4
	holds "it is INCONCLUSIVE in each role, names $2 and what to fill in, and nothing of it passes" jq -es --arg id "$2" \
		'map(select(.id == $id and .by == "check")) | length >= 1 and
		 all(.[]; .verdict == "INCONCLUSIVE" and (.message | test("fill in the stimulus and the expected outcomes of " + $id)))' "$WORK/stdout"
}

echo "== a requirement that nothing decides"
id=$(jq -r 'select(.check == null and .rule == null and .observability == "active" and (.id | startswith("ATOM7306"))).id' "$WORK/rows.jsonl" | sed -n 1p)
holds "there is one" test -n "$id"
expect 0 "new-check $id" "$WARPCHECK" new-check "$id"
says "^$id\.lua is written: fill in .* warpcheck run --simulate --script $id\.lua$"
holds "the file is named after it, and is all there is" test "$(ls -A)" = "$id.lua"
cp "$id.lua" "$WORK/first"
for column in text stimulus outcomes defect; do
	jq -r --arg id "$id" --arg c "$column" 'select(.id == $id)[$c]' "$WORK/rows.jsonl" | tr -s ' ' >"$WORK/cell"
	holds "the script has its $column" grep -qF "$(cat "$WORK/cell")" <(sed -E 's/^-- [a-z ]{12}//' "$id.lua" | tr -s ' \n' ' ')
done
honest "$id.lua" "$id"
expect 2 "a second time" "$WARPCHECK" new-check "$id"
complains "$id.lua exists \(--force replaces it\)"
echo mine >"$id.lua"
expect 2 "over a file of the user's" "$WARPCHECK" new-check "$id"
holds "which stays as it is" test "$(cat "$id.lua")" = mine
expect 0 "--force" "$WARPCHECK" new-check "$id" --force
holds "replaces it" cmp "$id.lua" "$WORK/first"
expect 0 "in small letters" "$WARPCHECK" new-check "${id,,}" -o small.lua
holds "the id is the catalogue's" grep -q "^  id = \"$id\",$" small.lua
expect 0 "-o -" "$WARPCHECK" new-check "$id" -o -
holds "writes the script to standard output" cmp "$WORK/stdout" "$WORK/first"
ln -s nowhere link.lua
expect 2 "over a link that leads nowhere" "$WARPCHECK" new-check "$id" -o link.lua
holds "nothing is made there" test ! -e nowhere
rm link.lua

echo "== requirements that need no check"
decided() { # ID WHY
	expect 2 "$1" "$WARPCHECK" new-check "$1"
	complains "$2.*--anyway"
	holds "no file of it" test ! -e "$1.lua"
}
decided DDP-7.2-01 'DDP-7.2-01 has a check already: conformance/scripts/ddp/7-errors\.lua:[0-9]+'
decided "$(jq -r 'select(.check == null and .rule != null).id' "$WORK/rows.jsonl" | sed -n 1p)" 'decided by a rule already, [a-z_0-9]+'
decided "$(jq -r 'select(.observability == "spec").id' "$WORK/rows.jsonl" | sed -n 1p)" 'no device shows it'
expect 0 "--anyway" "$WARPCHECK" new-check DDP-7.2-01 --anyway
holds "names the check that there is" grep -qE '^-- has a check +conformance/scripts/ddp/7-errors\.lua$' DDP-7.2-01.lua
holds "and a defect to try it with" grep -qE '^-- Try it: .* --script DDP-7\.2-01\.lua --defect [a-z0-9-]+$' DDP-7.2-01.lua

echo "== a skeleton of each kind"
for pair in MPA-7.1.1-02:responder MPA-7.1.1-05:initiator EMPA-6-01:both DDP-4.1-04:both RDMAP-5.4-08:both ATOM-5.2-01:both; do
	id=${pair%%:*}
	expect 0 "new-check $id" "$WARPCHECK" new-check "$id" --anyway --force
	holds "its role is ${pair#*:}" grep -q "^  role = \"${pair#*:}\"," "$id.lua"
	honest "$id.lua" "$id"
done
# Scripts that load, whatever stands in the row: quotes, backslashes, each kind of requirement.
mkdir all
jq -s -r '(map(select(.text + .stimulus + .outcomes | test("[\"\\\\]"))) + [group_by([.source, .subject, .observability])[][0]]) | unique_by(.id)[].id' \
	"$WORK/rows.jsonl" >"$WORK/kinds"
holds "100 kinds or more" test "$(wc -l <"$WORK/kinds")" -ge 100
failed=0
while IFS= read -r id; do
	"$WARPCHECK" new-check "$id" --anyway -o "all/$id.lua" >/dev/null || failed=$((failed + 1))
done <"$WORK/kinds"
holds "a skeleton of each" test "$failed" -eq 0
expect 0 "all of them load" "$WARPCHECK" run --simulate --script all --dry-run
holds "as many checks" test "$(cut -d' ' -f1 "$WORK/stdout" | sort -u | grep -cxFf "$WORK/kinds")" -eq "$(wc -l <"$WORK/kinds")"
holds "no line is longer than 130 characters, but for the purpose" \
	test -z "$(cat all/*.lua | grep -vE '^  purpose = ' | grep -E '^.{131}')"

echo "== hostile arguments"
expect 2 "no id" "$WARPCHECK" new-check
complains 'id of a requirement is missing'
expect 2 "an unknown id" "$WARPCHECK" new-check DDP-7.2-1
complains 'no requirement has the id DDP-7\.2-1; nearest are DDP-7\.2-01'
expect 2 "an id that is a path" "$WARPCHECK" new-check ../../DDP-7.2-01
expect 2 "an empty id" "$WARPCHECK" new-check ''
expect 2 "an id of 10000 letters" "$WARPCHECK" new-check "$(head -c 10000 /dev/zero | tr '\0' A)"
expect 2 "an id with an escape sequence" "$WARPCHECK" new-check $'DDP\033[31m'
holds "which does not reach the terminal" test -z "$(grep $'\033' "$WORK/stderr")"
expect 2 "two ids" "$WARPCHECK" new-check DDP-8.3.2-07 MPA-A.5.1-02
complains 'MPA-A\.5\.1-02 is a second one'
expect 2 "-o without a file" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o
expect 2 "-o with an empty name" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o ''
expect 2 "-o names a folder" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o all
expect 4 "--force does not remove a folder" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o all --force
expect 4 "a folder that is not there" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o nowhere/x.lua
expect 4 "a file in place of a folder" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o "small.lua/x.lua"
expect 4 "a disk that is full" "$WARPCHECK" new-check DDP-8.3.2-07 --anyway -o /dev/full
odd=$'it\'s "odd"\nos.exit() -- ]] \033[31m.lua'
expect 0 "a file name with quotes, a newline and an escape sequence" "$WARPCHECK" new-check ATOM7306-5.2.2-01 --anyway -o "$odd"
holds "the name stays in its comment" test "$(grep -c 'os\.exit' "$odd")" = "$(grep -c '^-- .*os\.exit' "$odd")"
honest "$odd" ATOM7306-5.2.2-01
finish
