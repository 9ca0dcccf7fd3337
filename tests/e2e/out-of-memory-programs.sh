#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Allocations of iwarp-peer under load, and each allocation of the examples of libiwarp, fail once, and then with all that come
# after them: no program crashes or hangs, none ends with success when something was lost, and each has a sentence for it.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
export WORK CHAOS=$B/chaos.so

# ---- iwarp-peer: each allocation that is reached in a way of its own -----------------------------------------------------

under_load() { perl tests/support/peer_load.pl "$IWARP_PEER" "$IWARP_PEER" sites fail full >"$WORK/load" 2>&1; }
holds "iwarp-peer without memory" under_load
sed -n "s|^WRONG|      &|p" "$WORK/load" | sed -n '1,5p'
tail -n 1 "$WORK/load"
holds "in more than a hundred cases something is lost" test "$(sed -n 's/.* cases, \([0-9]*\) with.*/\1/p' "$WORK/load")" -gt 100

# ---- the examples -------------------------------------------------------------------------------------------------------

for name in echo kv rping; do
	holds "$name compiles" "${cc[@]}" -std=gnu17 -O1 -g -I. -Ireference-stack/include -o "$WORK/$name" "reference-stack/examples/$name.c" \
		"${libiwarp[@]}"
done
without=(env LD_PRELOAD="$CHAOS" CHAOS_CLASS=memory MALLOC_PERTURB_=165)

# serve COMMAND...: starts a server; `port`, or nothing when it has ended.
serve() {
	exec {lines}< <(exec "$@" 2>"$WORK/server.err" </dev/null)
	server=$!
	read -r -u "$lines" _ port || port=''
}

# end_server: its status in `served`. A server without a client would wait for ever.
end_server() {
	kill "$server" 2>/dev/null || true
	served=0
	wait "$server" || served=$?
	exec {lines}<&-
}

# judge WHAT STATUS STDERR: 0 is right only if $good; 1 with a sentence; 124 and signals never are.
judge() {
	checked=$((checked + 1))
	if [ "$2" -eq 0 ]; then
		[ "$good" = yes ] || wrong "$1: status 0, and something was lost"
	elif [ "$2" -ne 1 ] || ! grep -qE '^(rping|kv|echo): .' "$3"; then
		wrong "$1: status $2" "$(head -n 3 "$3")"
	else
		failed=$((failed + 1))
	fi
}

failed=0
# client NAME OUTPUT COMMAND...: the client's allocations fail; PORT in its arguments is the server's.
client() {
	local at deed count=0 good status what=$1 output=$2
	shift 2
	for deed in '' fail full; do
		for at in $(seq "${count/#0/1}"); do
			serve "${server_command[@]}"
			rm -f "$WORK/count"
			[ "$output" != green ] || holds "the server keeps a colour" "$WORK/kv" 127.0.0.1 "$port" put colour green
			status=0
			timeout -k 1 20 "${without[@]}" CHAOS_AT="${deed:+$at}" CHAOS_DO="$deed" CHAOS_COUNT="$WORK/count" \
				"${@//PORT/$port}" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
			good=$([ -z "$output" ] || grep -qx "$output" "$WORK/stdout" && echo yes || echo no)
			if [ -z "$deed" ]; then
				holds "$what, undisturbed (status $status)" test "$status$good" = 0yes
				count=$(cut -d' ' -f1 "$WORK/count")
				holds "$what: $count allocations, at least 10" test "$count" -ge 10
			else
				judge "$what, allocation $at ($deed)" "$status" "$WORK/stderr"
			fi
			end_server
		done
	done
}

# server NAME OUTPUT COMMAND...: the server's; the client has to notice, and the server does not crash.
server() {
	local at deed count=$1 good status what=$2
	shift 2
	for deed in fail full; do
		for at in $(seq "$count"); do
			serve "${without[@]}" CHAOS_AT="$at" CHAOS_DO="$deed" "${server_command[@]}"
			status=0 good=yes
			[ -z "$port" ] || timeout -k 1 20 "${@//PORT/$port}" >"$WORK/stdout" 2>"$WORK/stderr" </dev/null || status=$?
			[ "$status" -ne 124 ] || wrong "$what, allocation $at of the server ($deed): the client does not end"
			end_server
			[ "$status" -eq 0 ] || good=no
			[ "$served" -eq 143 ] || judge "$what, allocation $at of the server ($deed)" "$served" "$WORK/server.err"
		done
	done
}

server_command=("$WORK/rping" serve 127.0.0.1 0 4096)
client rping '2 rounds' "$WORK/rping" 127.0.0.1 PORT 2 4096
server 30 rping "$WORK/rping" 127.0.0.1 PORT 2 4096
server_command=("$WORK/kv" serve 0)
client 'kv get' green "$WORK/kv" 127.0.0.1 PORT get colour
client 'kv put' '' "$WORK/kv" 127.0.0.1 PORT put colour green
server 20 'kv put' "$WORK/kv" 127.0.0.1 PORT put colour green
server_command=("$WORK/echo" 0)
server 20 echo "$WORK/rping" 127.0.0.1 PORT 1 32
finish
