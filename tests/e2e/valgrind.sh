#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The example programs and iwarp-peer under valgrind: no error, nothing lost, whatever end they come to.
# shellcheck disable=SC2034,SC2154 # shared with the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
if ! command -v valgrind >/dev/null; then
	echo "valgrind is not installed"
	exit 77
fi
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

grind=(valgrind --quiet --error-exitcode=99 --leak-check=full "--errors-for-leak-kinds=definite,indirect,possible" --child-silent-after-fork=yes
	--num-callers=20)
# Not the sanitised one: valgrind and AddressSanitizer exclude each other.
printf '#!/bin/sh\nexec %s %q "$@"\n' "${grind[*]} --log-file=$WORK/valgrind.%p" "$IWARP_PEER" >"$WORK/iwarp-peer"
chmod +x "$WORK/iwarp-peer"
program=$WORK/iwarp-peer

# A program with a fault of each kind is distinguished from one without: else nothing below means anything.
cat >"$WORK/faulty.c" <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile char *octets = malloc(8);
    (void)argv;
    if (octets != NULL && argc == 2)
        octets[8] = 1;
    if (argc != 3)
        free((void *)octets);
    octets = NULL;
    return 0;
}
C
holds "a faulty program compiles" "${cc[@]}" -O0 -g -o "$WORK/faulty" "$WORK/faulty.c"
expect 0 "without a fault" "${grind[@]}" "$WORK/faulty"
lines=any
expect 99 "a write beyond the end is noticed" "${grind[@]}" "$WORK/faulty" 1
expect 99 "lost memory is noticed" "${grind[@]}" "$WORK/faulty" 1 2
lines=one

clean() { # NAME: stopped by SIGTERM, status 0, no word of valgrind
	local process=${pid[$1]}
	peer_stop "$1" && [ -f "$WORK/valgrind.$process" ] && [ ! -s "$WORK/valgrind.$process" ] && return 0
	head -n 40 "$WORK/valgrind.$process"
	return 1
}

peer_start responder
peer_start initiator
talk() {
	ask responder '{"verb":"listen","echo":true,"markers":true}' && port=$(value .port) || return 1
	ask responder '{"verb":"reg_mr","length":65536}' && stag=$(value .stag) || return 1
	ask initiator '{"verb":"reg_mr","length":65536,"fill":"count"}' && sink=$(value .stag) || return 1
	ask initiator "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port,\"markers\":true}" && stream=$(value .stream) || return 1
	await initiator '.event == "established"' || return 1
	ask initiator "{\"verb\":\"write\",\"stream\":$stream,\"stag\":$stag,\"length\":60000}" || return 1
	ask initiator "{\"verb\":\"read\",\"stream\":$stream,\"source_stag\":$stag,\"sink_stag\":$sink,\"length\":65536,\"id\":1}" || return 1
	ask initiator "{\"verb\":\"atomic\",\"stream\":$stream,\"operation\":\"fetch_add\",\"stag\":$stag,\"data\":1,\"id\":2}" || return 1
	ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"length\":3000}" || return 1
	await initiator '.event == "atomic_done"' && await initiator '.event == "receive"' || return 1
	ask initiator "{\"verb\":\"write\",\"stream\":$stream,\"stag\":1,\"length\":10}" || return 1
	await initiator '.event == "terminate_received"' && await initiator '.event == "closed"'
}
holds "iwarp-peer: all kinds of work, then a Terminate" talk
holds "iwarp-peer: wrong commands" ask initiator '{"verb":"reset"}'
misspoken() { # no command of these is obeyed
	ask responder '{"verb":"reg_mr","length":4096}' && small=$(value .stag) || return 1
	jq -cn --argjson stream 1 --argjson stag "$small" --argjson port "$port" -f tests/e2e/upper-tester.jq |
		awk 'NR % 12 == 0' >"$WORK/wrong"
	while IFS= read -r line; do
		! ask responder "$line" >/dev/null || { echo "      obeyed: $line"; return 1; }
		[ -n "$reply" ] || return 1
	done <"$WORK/wrong"
}
holds "iwarp-peer: more than a hundred of them" misspoken
open_end() { # streams and work that are there when the end comes
	ask initiator "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port}" && stream=$(value .stream) || return 1
	await initiator ".event == \"established\" and .stream == $stream" || return 1
	ask initiator "{\"verb\":\"read\",\"stream\":$stream,\"source_stag\":$stag,\"length\":0}" || return 1
	ask initiator "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port}"
}
holds "iwarp-peer: streams in the middle of it" open_end
holds "the initiator: no error, nothing lost" clean initiator
holds "the responder: no error, nothing lost" clean responder

# --- The examples -------------------------------------------------------------------------------------------------------
for name in echo kv rping; do
	holds "$name compiles" "${cc[@]}" -std=gnu17 -O1 -g -I. -Ireference-stack/include -o "$WORK/$name" "reference-stack/examples/$name.c" \
		"${libiwarp[@]}"
done
serve() { # NAME COMMAND...: sets `port`
	local name=$1
	shift
	rm -f "$WORK/$name.out"
	"${grind[@]}" "--log-file=$WORK/$name.grind" "$@" >"$WORK/$name.out" 2>&1 </dev/null &
	pid[$name]=$!
	prints "${pid[$name]}" "$WORK/$name.out" '^port [0-9]+$' || return 1
	port=$(sed -n 's/^port //p' "$WORK/$name.out")
}
# These servers know no end but a signal's: what they say up to it counts.
stopped() {
	kill "${pid[$1]}"
	wait "${pid[$1]}" || true
	unset "pid[$1]"
	[ ! -s "$WORK/$1.grind" ] || { head -n 40 "$WORK/$1.grind"; return 1; }
}
holds "kv serves" serve kv "$WORK/kv" serve 0
client=("${grind[@]}" "$WORK/kv" 127.0.0.1 "$port")
expect 0 "kv put" "${client[@]}" put colour green
expect 0 "kv get" "${client[@]}" get colour
says '^green$'
expect 1 "kv get what nobody put" "${client[@]}" get nothing
expect 1 "kv: nobody listens" "${grind[@]}" "$WORK/kv" 127.0.0.1 1 get colour
expect 1 "kv: its port is taken" "${grind[@]}" "$WORK/kv" serve "$port"
expect 1 "echo: its port is taken" "${grind[@]}" "$WORK/echo" "$port"
expect 1 "rping: that is no rping" "${grind[@]}" "$WORK/rping" 127.0.0.1 "$port" 5 1000
holds "kv's server: no error" stopped kv
holds "rping serves" serve rping "$WORK/rping" serve 127.0.0.1 0 4096
expect 0 "rping" "${grind[@]}" "$WORK/rping" 127.0.0.1 "$port" 5 1000
says '^5 rounds$'
holds "rping's server: every round, no error, nothing lost" wait "${pid[rping]}"
holds "rping's server: not a word" test ! -s "$WORK/rping.grind"
unset "pid[rping]"
expect 1 "rping: nobody listens" "${grind[@]}" "$WORK/rping" 127.0.0.1 1 5
holds "echo serves" serve echo "$WORK/echo" 0
program=$B/iwarp-peer
peer_start client
holds "seventy Sends come back, then the end" echoes client "$port"
holds "echo: no error" stopped echo
holds "its client ends" peer_stop client
finish
