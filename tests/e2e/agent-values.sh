#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The upper tester's protocol says how numbers, octets and words are written (docs/upper-tester.md). iwarp-peer and the agent for
# devices with verbs accept the same values, read the same numbers out of them, and refuse the same ones.
# shellcheck disable=SC2034,SC2154 # shared with the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

build_agent() {
	local parts=()
	mapfile -t parts < <(find conformance/labs/linux/agent -name '*.c' -not -name '*_main.c'; find upper-tester tests/fuzz -name '*.c' \( -path 'upper-tester/*' -not -path '*/skeleton/*' -o -name 'fake_device*' \))
	"${cc[@]}" -std=gnu17 -Wall -Wextra -Werror -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I. \
		-include tests/fuzz/fake_verbs.h -o "$WORK/agent" tests/e2e/agent_lines.c "${parts[@]}" -ljansson
}
holds "the agent above a device that is played" build_agent

# A value of reg_mr's `length`, and the length that it means; "-": it is refused.
cat >"$WORK/numbers" <<'N'
10 10
"10" 10
"010" 10
"0x10" 16
"0X1f" 31
"0777" 777
"09" 9
"1e3" -
"0x" -
"0b1" -
" 8" -
"+8" -
"-8" -
"8 " -
"" -
-1 -
8.5 -
null -
true -
"18446744073709551626" -
N
# Members of reg_mr, and whether they are accepted.
cat >"$WORK/members" <<'M'
"data":"0aFf" true
"data":"0af" false
"data":"0g" false
"data":7 false
"data":"000102030405060708090a0b0c0d0e0f10" false
"fill":"count" true
"fill":"256" false
"fill":"020" true
"fill":"no" false
"access":["remote_read","local_write"] true
"access":["remote_read"],"mapping":"read_only" true
"mapping":"read_write" false
"access":[] true
"access":"remote_read" false
"access":["remote"] false
"access":["remote_read",1] false
M
# What a program makes of it: COMMAND reads lines and writes replies.
replies() { # COMMAND...
	{
		while IFS= read -r row; do echo "{\"verb\":\"reg_mr\",\"length\":${row% *}}"; done <"$WORK/numbers"
		while IFS= read -r row; do echo "{\"verb\":\"reg_mr\",\"length\":16,${row% *}}"; done <"$WORK/members"
	} >"$WORK/lines"
	"$@" <"$WORK/lines" | jq -r 'if .ok then .length else "-" end'
}
expected() {
	sed 's/.* //' "$WORK/numbers"
	sed 's/.* true$/16/; s/.* false$/-/' "$WORK/members"
}
over_socket() {
	local line
	while IFS= read -r line; do
		printf '%s\n' "$line" >&"$socket"
		IFS= read -r -t 20 reply <&"$socket" || return 1
		printf '%s\n' "$reply"
	done
}
same() { # COMMAND...
	replies "$@" >"$WORK/got" && expected | diff - "$WORK/got" >"$WORK/diff" || { paste "$WORK/lines" "$WORK/got"; cat "$WORK/diff"; return 1; } >&2
}
holds "the agent reads them as the document has them" same "$WORK/agent"
peer_start peer
exec {socket}<>"/dev/tcp/127.0.0.1/${control[peer]}"
holds "and iwarp-peer does" same over_socket

# The reply of each to one command: is the number read, or refused, alike in other verbs?
agrees() { # LINE EXPECTED-OK
	[ "$("$WORK/agent" <<<"$1" | jq .ok)" = "$2" ] && [ "$(over_socket <<<"$1" | jq .ok)" = "$2" ]
}
holds "'rtr' with a word that is unknown" agrees '{"verb":"listen","rtr":["sent"]}' false
holds "'rtr' without a word" agrees '{"verb":"listen","rtr":[]}' false
holds "'accept' with a word that is unknown" agrees '{"verb":"listen","accept":"never"}' false
holds "'accept' that is no string" agrees '{"verb":"listen","accept":1}' false
holds "'repost' that is no flag" agrees '{"verb":"listen","repost":"yes"}' false
exec {socket}<&-
holds "the peer ends cleanly" peer_stop peer
finish
