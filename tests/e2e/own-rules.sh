#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that a user writes in Lua (docs/writing-rules.md): audit --rules treats them like the built-in rules. An error message names the line of the
# user's script. A rule that fails, does not end, or reads a field that does not exist changes no other result.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

capture=pcaps/generated/every-opcode.pcap
rules() { # NAME: the rest is its text, from standard input
	cat >"$WORK/$1.lua"
}
results() { # of the last command's standard output
	jq -c 'select(.type == "result")' "$WORK/stdout"
}

echo "== the page's rules"
awk '/^```lua$/ { inside = 1; next } /^```$/ { inside = 0 } inside' docs/writing-rules.md >"$WORK/page.lua"
passes=any
expect 1 "judge the captures" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' --format jsonl --all
passes=none
holds "each gives results" test "$(results | jq -r .id | sort -u | paste -sd ' ')" = "$(grep -oE 'ACME-[0-9]+' "$WORK/page.lua" | sort -u | paste -sd ' ')"
holds "each passes somewhere" test "$(results | jq -r 'select(.verdict == "PASS") | .id' | sort -u | wc -l)" -eq "$(grep -oE 'ACME-[0-9]+' "$WORK/page.lua" | sort -u | wc -l)"
holds "a MUST fails, a SHOULD warns" test "$(results | jq -r 'select(.verdict != "PASS") | .verdict' | sort -u | paste -sd ' ')" = "FAIL WARN"
results | sort >"$WORK/one"
passes=any
expect 1 "two processes" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' --format jsonl --all -j 2
passes=none
results | sort >"$WORK/two"
holds "find the same" cmp -s "$WORK/one" "$WORK/two"
expect "1 4" "with all other rules" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated --format jsonl -o "$WORK/all"
holds "these find what they found" test "$(results | grep -v '"ACME-' | sort | sha256sum)" = \
	"$("$WARPCHECK" audit pcaps/generated --format jsonl 2>/dev/null | jq -c 'select(.type == "result")' | sort | sha256sum)"
holds "the page has them" grep -q 'A Send has at most' "$WORK/all/index.html"
expect 0 "what they find is expected" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' --allow-gaps --write-expect "$WORK/expected.tsv" --quiet
expect 0 "and then it is no news" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' --allow-gaps --expect "$WORK/expected.tsv" --quiet
expect 3 "an id that no rule has" "$WARPCHECK" audit --rules "$WORK/page.lua" "$capture" 'ACME-9'

echo "== ladders"
expect 1 "a folder of results" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' -o "$WORK/ladders" --quiet
found() { jq -r 'select(.type == "result" and .verdict != "PASS") | [.id, .frame, (.steps // [] | length), ([.steps[]? | select(.mark) | .frame | tostring] | join(","))] | @tsv' "$1/results.jsonl"; }
found "$WORK/ladders" >"$WORK/drawn"
holds "each finding has a ladder with its frame alone marked" test -s "$WORK/drawn" -a -z "$(awk -F'\t' '$3 < 2 || $2 != $4' "$WORK/drawn")"
expect 1 "the same with two processes" "$WARPCHECK" audit --rules "$WORK/page.lua" pcaps/generated 'ACME-*' -j 2 -o "$WORK/ladders-two" --quiet
steps() { jq -cS 'select(.type == "result" and .verdict != "PASS") | [.file, .id, .frame, .steps]' "$1/results.jsonl" | sort; }
holds "draws the same" cmp <(steps "$WORK/ladders") <(steps "$WORK/ladders-two")
expect 0 "the report in text" "$WARPCHECK" report "$WORK/ladders" --format text
holds "marks a step of each" test "$(grep -cE '^(FAIL|WARN) +ACME-' "$WORK/stdout")" -le "$(grep -cE '^ *> ' "$WORK/stdout")"
holds "the page has them" test "$(grep -c 'class="ladder' "$WORK/ladders/index.html")" -ge 1
# Several messages in one frame: the ladder marks the one that the rule meant, which is not the first.
rules third <<'LUA'
rule { id = "OWN-3", text = "no message has number 3", on = "rdmap", judge = function(event) return event.MSN ~= 3 end }
rule { id = "OWN-DDP", text = "no segment has number 3", on = "ddp", judge = function(event) return event.MSN ~= 3 end }
LUA
expect 1 "a rule about one message of several in a frame" "$WARPCHECK" audit --rules "$WORK/third.lua" pcaps/generated/many-in-one.pcap 'OWN-*' -o "$WORK/third" --quiet
holds "the very message is marked, also for its DDP Segment" test "$(jq -r 'select(.type == "result" and .verdict == "FAIL") | .steps[] | select(.mark) | .summary' "$WORK/third/results.jsonl" |
	grep -c 'msn 3 ')" = 2

echo "== what a rule can ask"
expect 0 "is listed for editors" "$WARPCHECK" audit --rules-meta
{
	echo 'local asked = {}'
	awk '/^---@class warpcheck/ { kind = substr($2, 11) } /^---@field/ && kind ~ /^(open|close|start|ulpdu|ddp|rdmap|gap|undecoded|sctp|session|cm|end)$/ {
		sub(/\?$/, "", $2); printf "asked[\"%s\"] = (asked[\"%s\"] or \"\") .. \" %s\"\n", kind, kind, $2 }' "$WORK/stdout"
	cat <<-'LUA'
		for kind, fields in pairs(asked) do
			rule { id = "ALL-" .. kind, text = "each field can be asked", on = kind, judge = function(event)
				for field in fields:gmatch("%S+") do local value = event[field] end
				return true
			end }
		end
	LUA
} >"$WORK/all.lua"
passes=any
expect 0 "each field of each kind of events" "$WARPCHECK" audit --rules "$WORK/all.lua" pcaps/generated 'ALL-*' --format jsonl --allow-gaps
passes=none
holds "open close start ulpdu ddp rdmap gap session sctp cm and end were there" test "$(results | jq -r .id | sort -u | paste -sd ' ')" = \
	"ALL-close ALL-cm ALL-ddp ALL-end ALL-gap ALL-open ALL-rdmap ALL-sctp ALL-session ALL-start ALL-ulpdu ALL-undecoded"

echo "== a script that is wrong"
refused() { # SENTENCE: the rules come from standard input
	rules wrong
	expect 2 "$1" "$WARPCHECK" audit --rules "$WORK/wrong.lua" "$capture"
	complains "$1"
}
refused "wrong.lua:[12]: '}' expected" <<<'rule { id = "X"'
refused 'wrong.lua:1: a rule has no member "judg", did you mean "judge"\?' <<<'rule { id = "X-1", text = "x", on = "ddp", judg = function() end }'
refused 'wrong.lua:1: on: "rdma" is no kind of events, did you mean "rdmap"\?' <<<'rule { id = "X-1", text = "x", on = "rdma", judge = function() end }'
refused 'wrong.lua:2: id "X-1" is that of another rule' <<<'rule { id = "X-1", text = "x", on = "ddp", judge = function() end }
rule { id = "X-1", text = "x", on = "ddp", judge = function() end }'
refused 'wrong.lua:1: id "DDP-7.2-01" is that of a requirement of RFC5041' <<<'rule { id = "DDP-7.2-01", text = "x", on = "ddp", judge = function() end }'
refused 'wrong.lua:1: level "MUSST" is unknown, did you mean "MUST"\?' <<<'rule { id = "X-1", level = "MUSST", text = "x", on = "ddp", judge = function() end }'
refused 'wrong.lua:1: level: what may be done cannot be broken' <<<'rule { id = "X-1", level = "MAY", text = "x", on = "ddp", judge = function() end }'
refused 'wrong.lua:1: a rule needs text' <<<'rule { id = "X-1", on = "ddp", judge = function() end }'
refused 'wrong.lua:1: id "X 1"' <<<'rule { id = "X 1", text = "x", on = "ddp", judge = function() end }'
refused 'no rule is declared' <<<'local x = 1'
refused 'wrong.lua.*does not end' <<<'while true do end'
refused 'not enough memory' <<<'local s = ("x"):rep(200000000)'
expect 2 "no such file" "$WARPCHECK" audit --rules "$WORK/none.lua" "$capture"
complains 'none\.lua: No such file'

echo "== a rule that fails at an event"
fails() { # SENTENCE: the function's body comes from standard input
	{ echo 'rule { id = "OK-1", text = "segments come", on = "ddp", judge = function() return true end }'
		printf 'rule { id = "X-1", text = "x", on = "rdmap", judge = function(event, state) %s end }\n' "$(cat)"; } >"$WORK/wrong.lua"
	passes=any
	expect 4 "$1" "$WARPCHECK" audit --rules "$WORK/wrong.lua" "$capture" 'X-1' 'OK-1' --format jsonl
	passes=none
	holds "is undecided, and says why" test "$(results | jq -r 'select(.id == "X-1") | .verdict' | sort -u)" = INCONCLUSIVE
	holds "with its line" grep -qE "$1" <(results | jq -r 'select(.id == "X-1") | .message')
	holds "the other rule goes on" test "$(results | jq -r 'select(.id == "OK-1") | .verdict' | sort -u)" = PASS
}
fails 'wrong.lua:2: events of kind rdmap have no field "opcod", did you mean "Opcode"\?' <<<'return event.opcod == 3'
fails 'wrong.lua:2: .*judge\(\) returns nil, true, false or a table, not number' <<<'return 1'
fails 'wrong.lua:2: .*has no member "expect", did you mean "expected"\?' <<<'return { expect = 1 }'
fails 'wrong.lua:2: .*does not end' <<<'while true do end'
fails 'wrong.lua:2: an event is read only' <<<'event.MSN = 1'
fails 'wrong.lua:2: an event is over when judge\(\) returns' <<<'state.last = state.last or event return state.last.frame > 0'
fails 'wrong.lua:2: .*boom' <<<'error("boom")'
finish
