#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Names and texts from elsewhere reach neither stdout nor stderr as they are: no command shows an escape character, another control
# character, or one that turns the reading direction, whatever files, options, scripts, captures and results say.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

evil=$'\e[31;1m\a\e]0;t\e\\\b\x7f\u202e\u009b'
name="x$evil"
mkdir "$WORK/$name"
printf 'no capture' >"$WORK/$name.pcap"
printf '{"type":"run","command":"run","target":"%s","tool":"x"}\n' '\u001b[31m' >"$WORK/$name.jsonl"
cat >"$WORK/$name.lua" <<LUA
check { id = "A-1", purpose = "$evil", run = function(t) t:fail("$evil", "$evil", "$evil") end }
LUA
printf 'error("%s")\n' "$evil" >"$WORK/bad$name.lua"
printf 'syntax %s\n' "$evil" >"$WORK/syntax$name.lua"
printf 'capture { name = "a", about = "%s", run = function() packet("x") end }\n' "$evil" >"$WORK/gen$name.lua"
printf '{"name":"%s","colour":1}' "$evil" >"$WORK/$name.json"
printf '{"type":"alarm","seed":1,"text":"\\u001b[31m\\u0007"}\n{"type":"defect","defect":"\\u001b[31m","requirement":"\\u001b[31m","killed_by":[],"killed":false}\n' >"$WORK/prove.jsonl"

# shown COMMAND...: runs it, whatever its status, and looks at all that it says
shown() {
	local status=0
	timeout -k 5 120 "$@" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
	cat "$WORK/stdout" "$WORK/stderr" >"$WORK/both"
	last="${*//[^[:print:]]/?}"
	holds "it says something: $last" test -s "$WORK/both"
	checked=$((checked + 1))
	if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' "$WORK/both"; then
		wrong "control characters: $last" "$(cat -v "$WORK/both" | sed -n '1,5p')"
	fi
}
for command in "$WARPCHECK" "$IWARP_PEER"; do
	shown "$command" "$name"
	shown "$command" "--$name"
done
for command in run audit prove gen dump list explain pics report complete peer; do
	shown "$WARPCHECK" "$command" "$WORK/$name"
	shown "$WARPCHECK" "$command" "$WORK/$name.pcap"
	shown "$WARPCHECK" "$command" "--$name"
	shown "$WARPCHECK" "$command" "--format" "$name"
	shown "$WARPCHECK" "$command" "$name"
done
shown "$WARPCHECK" run --simulate --script "$WORK/$name.lua"
shown "$WARPCHECK" run --simulate --script "$WORK/$name.lua" --dry-run
shown "$WARPCHECK" run --simulate --script "$WORK/bad$name.lua"
shown "$WARPCHECK" run --simulate --script "$WORK/syntax$name.lua"
shown "$WARPCHECK" run --simulate --script "$WORK/$name"
shown "$WARPCHECK" run --simulate --defect "$name"
shown "$WARPCHECK" run --simulate -o "$WORK/$name.pcap/x"
shown "$WARPCHECK" run --dut "$WORK/$name.json"
shown "$WARPCHECK" run --dut "$WORK/$name"
shown "$WARPCHECK" prove "$name"
shown "$WARPCHECK" prove --merge "$WORK/prove.jsonl"
shown "$WARPCHECK" prove --merge "$WORK/$name.jsonl"
shown "$WARPCHECK" audit "$WORK"
shown "$WARPCHECK" gen "$WORK/bad$name.lua"
shown "$WARPCHECK" gen "$WORK/syntax$name.lua"
shown "$WARPCHECK" gen --list "$WORK/gen$name.lua"
shown "$WARPCHECK" gen --corpus "$WORK/corpus$name" "$WORK/gen$name.lua"
shown "$WARPCHECK" gen -e "error('$evil')"
shown "$WARPCHECK" gen --only "$name" --list
shown "$WARPCHECK" report "$WORK/$name.jsonl"
shown "$WARPCHECK" report --merge "$WORK/$name.jsonl" -o "$WORK/merged$name"
shown "$IWARP_PEER" --connect "$name:1"
shown "$IWARP_PEER" --connect "127.0.0.1:$name"
shown "$IWARP_PEER" --control "$name"
shown "$IWARP_PEER" --listen "$name"
shown "$IWARP_PEER" --defect "$name"
shown "$IWARP_PEER" --listen 0 --rtr "$name"
shown "$IWARP_PEER" --listen 0 --bind "$name"
finish
