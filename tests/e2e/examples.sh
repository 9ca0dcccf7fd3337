#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The example programs of libiwarp, compiled as another program would be, against the static and the shared library: the
# key-value store keeps what was put, for several clients, echo sends back what iwarp-peer sends, rping agrees with itself. The shared library
# offers its API and nothing of its inside.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

build() { # PROGRAM SUFFIX LIBRARIES...
	local source=$WORK/$1.c program=$WORK/$1-$2
	[ -e "$source" ] || source=reference-stack/examples/$1.c
	shift 2
	$CC -std=gnu17 -Wall -Wextra -Werror -O1 -g -I. -Ireference-stack/include -o "$program" "$source" "$@"
}
# The program of docs/libiwarp.md, and the lines at the head of verbs.h within a function.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' docs/libiwarp.md >"$WORK/greet.c"
{
	echo '#include <iwarp/verbs.h>'
	echo 'int main(void) {'
	echo 'struct iwarp_sentence sentence; struct iwarp_completion completion; static uint8_t buffer[8]; static const uint8_t text[8]; size_t count = 8;'
	awk '/^ \*     / { on = 1; print substr($0, 3); next } on { exit }' reference-stack/include/iwarp/verbs.h
	echo 'return 0; }'
} >"$WORK/head.c"
holds "the head of verbs.h has a whole example" grep -q 'iwarp_post_send.*;' "$WORK/head.c"
for name in echo kv rping loop memory sessions pairs greet head; do
	holds "$name compiles against the static library" build "$name" static "${libiwarp[@]}"
	holds "$name compiles against the shared library" build "$name" shared -L"$B" -liwarp
done
ln -sf "$B/libiwarp.so" "$WORK/libiwarp.so.0"
export LD_LIBRARY_PATH=$WORK

only_the_api() {
	local extra
	extra=$(nm -D --defined-only "$B/libiwarp.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
		grep -v '^iwarp_' | sed -n '1,3p')
	[ -z "$extra" ] || { echo "      also: $extra"; return 1; }
}
holds "the shared library offers only its API" only_the_api

used() {
	local name unused=
	for name in $(nm -D --defined-only "$B/libiwarp.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }'); do
		grep -qw "$name" reference-stack/examples/*.c || unused+=" $name"
	done
	[ -z "$unused" ] || { echo "      no example uses$unused"; return 1; }
}
holds "each function of the API stands in an example" used

# A C++ program: each header that is installed compiles, and each function that they declare has the name of a C function.
plus() {
	local names headers
	mapfile -t headers < <(make -s library-headers)
	names=$(nm --defined-only "$B/libiwarp.a" 2>"$WORK/nm" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort -u | LC_ALL=C comm -12 - \
		<(grep -ohE '[a-z_0-9]+\(' reference-stack/include/iwarp/*.h "${headers[@]}" | tr -d '(' | LC_ALL=C sort -u))
	nm -D --defined-only "$B/libiwarp.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | LC_ALL=C sort -u >"$WORK/exported"
	[ -s "$WORK/exported" ] || return 1
	LC_ALL=C comm -23 "$WORK/exported" - <<<"$names" | grep . && { echo 'no installed header declares these'; return 1; }
	{
		for header in reference-stack/include/iwarp/*.h "${headers[@]}"; do echo "#include \"${header#reference-stack/include/}\""; done
		echo 'typedef void (*function)();'
		echo 'extern const function all[] = {'
		sed 's/.*/reinterpret_cast<function>(&)/; s/&/\&&/; s/$/,/' <<<"$names"
		echo '};'
		echo 'int main() { return all[0] == nullptr; }'
	} >"$WORK/plus.cc"
	clang -x c++ -std=c++17 -Wall -Wextra -Werror -I. -Ireference-stack/include -c -o "$WORK/plus.o" "$WORK/plus.cc" &&
		clang -o "$WORK/plus" "$WORK/plus.o" "${libiwarp[@]}" && "$WORK/plus"
}
holds "a C++ program compiles and links with all of it" plus

for name in loop memory sessions ${usrsctp[0]:+pairs}; do
	expect 0 "$name, static" "$WORK/$name-static"
	says '^ok '
	holds "$name: nothing is wrong" test "$(grep -c '^WRONG' "$WORK/stdout")" -eq 0
	expect 0 "$name, shared" "$WORK/$name-shared"
done

# serve NAME COMMAND...: starts it and waits for "port N"; sets `port`.
serve() {
	local name=$1
	shift
	rm -f "$WORK/$name.out"
	"$@" >"$WORK/$name.out" 2>&1 </dev/null &
	pid[$name]=$!
	prints "${pid[$name]}" "$WORK/$name.out" '^port [0-9]+$' || return 1
	port=$(sed -n 's/^port //p' "$WORK/$name.out")
}
stop() {
	kill "${pid[$1]}" 2>/dev/null
	wait "${pid[$1]}" || true
	unset "pid[$1]"
}

for library in static shared; do
	holds "kv, $library: the server starts" serve kv "$WORK/kv-$library" serve 0
	kv=("$WORK/kv-$library" 127.0.0.1 "$port")
	expect 0 "kv, $library: put" "${kv[@]}" put colour green
	expect 0 "kv, $library: put another" "${kv[@]}" put 'a key of thirty-one octets, now' 'spaces too'
	expect 0 "kv, $library: get" "${kv[@]}" get colour
	says '^green$'
	expect 0 "kv, $library: put again" "${kv[@]}" put colour "$(printf 'x%.0s' {1..95})"
	expect 0 "kv, $library: get what is new" "${kv[@]}" get colour
	says '^x{95}$'
	expect 0 "kv, $library: get the other" "${kv[@]}" get 'a key of thirty-one octets, now'
	says '^spaces too$'
	expect 1 "kv, $library: get what nobody put" "${kv[@]}" get nothing
	stop kv
done
expect 1 "kv: nobody listens" "$WORK/kv-static" 127.0.0.1 1 get colour
complains 'refused'

for port in 70000 -1 7x; do
	expect 1 "kv: no port $port" "$WORK/kv-static" serve "$port"
	complains 'port'
	expect 1 "echo: no port $port" "$WORK/echo-static" "$port"
	complains "'$port' is no port"
	expect 2 "rping: no port $port" "$WORK/rping-static" serve 127.0.0.1 "$port"
	complains 'usage'
done
expect 2 "rping: no count" "$WORK/rping-static" 127.0.0.1 1 many
complains 'usage'
expect 1 "rping: no size" "$WORK/rping-static" 127.0.0.1 1 5 31
complains 'from 32'

rping() { # HOST WORD...
	holds "rping, $*: the server starts" serve rping "$WORK/rping-static" serve "$1" 0 4096
	expect 0 "rping, $*" "$WORK/rping-shared" "$1" "$port" 20 "${@:2}"
	says '^20 rounds$'
	holds "rping, $*: the server ends in order" wait "${pid[rping]}"
	holds "rping, $*: so many rounds for it, too" grep -q '^20 rounds$' "$WORK/rping.out"
	unset "pid[rping]"
}
rping 127.0.0.1
rping 127.0.0.1 4096 rev1
rping ::1 33
expect 1 "rping: nobody listens" "$WORK/rping-static" 127.0.0.1 1 20
complains 'refused'

holds "echo starts" serve echo "$WORK/echo-shared" 0
expect 0 "the program of the guide" "$WORK/greet-shared" "$port"
holds "the guide shows what it prints" test "$(awk '/^```$/ && !c { on = !on; next } /^```[a-z]+$/ { c = 1 } c && /^```$/ { c = 0; next } on && !c' docs/libiwarp.md)" = "$(cat "$WORK/stdout")"
peer_start initiator
ask initiator "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port}"
stream=$(value .stream)
holds "iwarp-peer connects to it" await initiator '.event == "established"'
echoes() {
	local i
	for ((i = 1; i <= 100; i++)); do
		ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"data\":\"$(printf '%04x' "$i")aabbcc\"}" || return 1
	done
	await initiator '.event == "receive" and .data == "0064aabbcc"' || return 1
	[ "$(events initiator 'select(.event == "receive").data' | sort -u | wc -l)" -eq 100 ]
}
holds "a hundred Sends come back, from sixty-four shared receives" echoes
holds "iwarp-peer ends it" ask initiator "{\"verb\":\"disconnect\",\"stream\":$stream}"
holds "so does echo" await initiator '.event == "closed"'
holds "iwarp-peer ends cleanly" peer_stop initiator
stop echo
finish
