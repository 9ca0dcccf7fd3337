#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The upper tester's protocol, as docs/upper-tester.md promises it: what is wrong in any member of any verb gets an error
# and changes nothing; lines in any portions, pipelined, endless or of noise; clients that vanish, do not listen or come by
# the hundred. Another control connection and a stream in operation go on all the while.
# shellcheck disable=SC2034,SC2154 # shared with the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

# Which program it is about: the one that the run has built, not one that was left behind.
taken() { # WANTED VARIABLE=VALUE...
	local wanted=$1
	shift
	# shellcheck disable=SC2016 # the other shell expands it
	[ "$(env -u IWARP_PEER_ASAN B="$WORK/old" IWARP_PEER="$WORK/built" "$@" bash -c 'source tests/e2e/expect.bash; source tests/e2e/upper.bash; echo "$program"')" = "$wanted" ]
}
left_behind() { mkdir -p "$WORK/old/asan" && cp /bin/false "$WORK/old/asan/iwarp-peer"; }
holds "a sanitised program of another day" left_behind
holds "is not taken" taken "$WORK/built"
holds "one that the run has built is" taken "$WORK/old/asan/iwarp-peer" IWARP_PEER_ASAN="$WORK/old/asan/iwarp-peer"

peer_start responder
peer_start initiator

setup() {
	ask responder '{"verb":"listen","echo":true}' && port=$(value .port) || return 1
	ask responder '{"verb":"reg_mr","length":4096,"fill":"count"}' && stag=$(value .stag) || return 1
	ask initiator "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port}" && stream=$(value .stream) || return 1
	await initiator '.event == "established"' && await responder '.event == "established"' || return 1
	other=$(events responder 'select(.event == "accepted").stream')
}
holds "a stream, a region and a listener" setup

# The echo of one Send, and the state of what must not change, into $WORK/state.
sends=0
goes_on() {
	sends=$((sends + 1))
	ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"data\":\"$(printf '%08x' "$sends")\"}" &&
		await initiator ".event == \"receive\" and .data == \"$(printf '%08x' "$sends")\"" && poll responder
}
state() {
	ask responder "{\"verb\":\"status\",\"stream\":$other}" && jq -c '{state, ird, ord, mulpdu, crc_errors, octets_dropped, reads_outstanding, ok}' <<<"$reply" >"$WORK/state" &&
		ask responder "{\"verb\":\"mem_read\",\"stag\":$stag}" && echo "$reply" >>"$WORK/state" &&
		ask responder "{\"verb\":\"listen\",\"port\":$port,\"echo\":true}"
}
unchanged() {
	goes_on || return 1
	cp "$WORK/state" "$WORK/state.before"
	state && cmp "$WORK/state" "$WORK/state.before" || return 1
	[ "$(events responder 'select(.event != "receive" and .event != "send_done" and .event != "accepted" and .event != "connect_request" and .event != "established" and .event != "transmit_ready")' | wc -l)" -eq 0 ]
}
holds "it carries a Send there and back" goes_on
holds "its state is told" state

# --- The version, and every verb that the document names ----------------------------------------------------------------
holds "capabilities" ask responder '{"verb":"capabilities"}'
holds "the protocol's version is that of the document" \
	test "$(value .protocol)" = "$(sed -n '1s/.*version //p' docs/upper-tester.md)"
# shellcheck disable=SC2016 # the document's backquotes
verbs=$(sed -n '/^## Verbs/,/^## Options/s/^| `\([a-z_]*\)` .*/\1/p' docs/upper-tester.md)
holds "the document names more than twenty verbs" test "$(wc -w <<<"$verbs")" -gt 20
known() {
	local verb
	for verb in $verbs; do
		ask responder "{\"verb\":\"$verb\",\"no such\":1}" >/dev/null && return 1
		[[ $reply == *"$verb has no member"* ]] || { echo "      $verb: $reply"; return 1; }
	done
}
holds "each of them is known, and knows its members" known

# --- Control connections of any kind ------------------------------------------------------------------------------------
# talk COMMAND...: its stdout goes over a control connection of its own (to `door`), after it a last, good command; the replies
# before that one's are left in $WORK/replies.
door=${control[responder]}
talk() {
	local extra writer status=0
	exec {extra}<>"/dev/tcp/127.0.0.1/$door"
	{ "$@" && echo '{"verb":"capabilities","tag":"last"}'; } 1>&"$extra" &
	writer=$!
	timeout 60 sed '/"tag":"last"/q' <&"$extra" >"$WORK/replies" || status=$?
	wait "$writer" || status=$?
	exec {extra}<&-
	[ "$status" -eq 0 ] && grep -q '"ok":true.*"tag":"last"' < <(tail -n 1 "$WORK/replies") && sed -i '$d' "$WORK/replies"
}
# refused N COMMAND...: there are N replies, each an error with a sentence.
refused() {
	local count=$1
	shift
	talk "$@" && jq -es --argjson n "$count" 'length == $n and all(.[]; .ok == false and (.error | length) > 5)' <"$WORK/replies" &&
		return 0
	echo "      $(wc -l <"$WORK/replies") replies; $(grep -v '"ok":false' "$WORK/replies" | sed -n '1,3p' | cut -c 1-300)"
	return 1
}
# accepted N COMMAND...: there are N replies, all good.
accepted() {
	local count=$1
	shift
	talk "$@" && jq -es --argjson n "$count" 'length == $n and all(.[]; .ok)' <"$WORK/replies"
}

jq -cn --argjson stream "$other" --argjson stag "$stag" --argjson port "$port" -f tests/e2e/upper-tester.jq >"$WORK/wrong"
wrong_count=$(wc -l <"$WORK/wrong")
holds "there are a thousand wrong commands or more" test "$wrong_count" -gt 1000
holds "each of $wrong_count wrong commands is refused" refused "$wrong_count" cat "$WORK/wrong"
tagged() { # jq 1.7 compares numbers by their digits: 1E+300 and 1.0000000000000001E+300, which are one number, only after a computation
	jq -es --slurpfile wrong "$WORK/wrong" 'def same: walk(if type == "number" then . + 0 else . end);
		[., $wrong] | transpose | all(.[]; (.[0].tag | same) == (.[1].tag | same) or (.[0].error | startswith("not JSON: too big")))' <"$WORK/replies"
}
holds "with its tag, in order" tagged
named() { # a value of the wrong type is reported with the name of its member
	jq -e 'select(.tag != null and (.tag[2] | type | . != "number" and . != "string")) | .tag[1] as $name |
		select(.error | contains($name) | not)' <"$WORK/replies" | sed -n '1,3p' >"$WORK/unnamed"
	[ ! -s "$WORK/unnamed" ] || { echo "      $(tr -d '\n' <"$WORK/unnamed" | cut -c 1-400)"; return 1; }
}
holds "naming the member whose type is wrong" named
holds "none of that changed anything" unchanged

tags() { printf '%s\n' '{"verb":"capabilities","tag":null}' '{"verb":"capabilities","tag":[1,{"a":"é"}]}' '{"verb":"no","tag":1.5}'; }
holds "a tag of any type" talk tags
holds "is copied" jq -es 'map(.tag) == [null, [1, {"a": "é"}], 1.5] and (.[0] | has("tag"))' "$WORK/replies"

numbers() { # the same number in each of its forms, and one of 64 bits
	printf '{"verb":"mem_read","stag":%s,"offset":%s,"length":1}\n' "$stag" 10 "\"$stag\"" '"10"' "\"$(printf '0x%X' "$stag")\"" '"0xa"' "$stag" '"010"'
	echo '{"verb":"reg_mr","length":8,"base":"0xFFFFFFFFFFFFFFF8","stag":9}'
	echo '{"verb":"dereg","stag":9}'
	echo '{"verb":"reg_mr","length":8,"base":-8,"stag":9}'
	echo '{"verb":"dereg","stag":"9"}'
}
holds "numbers as integers and strings, decimal and hexadecimal" accepted 8 numbers
holds "all mean the same" jq -es '(.[0:4] | all(.data == "0a")) and .[4].base == "0xfffffffffffffff8" and .[6].base == .[4].base' "$WORK/replies"

# --- Lines --------------------------------------------------------------------------------------------------------------
breaks() { printf '\n\r\n\n{"verb":"capabilities"}\r\n\r\n\n {"verb":"capabilities"} \n'; }
portions() {
	local text='{"verb":"capabilities","tag":"in parts"}' i
	for ((i = 0; i < ${#text}; i++)); do
		printf '%s' "${text:i:1}"
		sleep 0.005
	done
	echo
}
pipelined() { local i; for ((i = 0; i < 5000; i++)); do echo "{\"verb\":\"capabilities\",\"tag\":$i}"; done; }
noise() { local i; for ((i = 0; i < 50; i++)); do printf x; head -c 2000 /dev/urandom | tr '\n\r' '  '; echo; done; }
zeros() { printf '{"verb":"capabilities"}\0\n\0\n\0{"verb":"capabilities"}\n{"verb":"\0capabilities"}\n\0\r\n'; }
not_utf8() { printf '{"verb":"\377\376"}\n{"verb":"\xed\xa0\x80"}\n'; }
deep() { head -c 3000000 /dev/zero | tr '\0' '['; echo; }
endless() { head -c 70000000 /dev/zero | tr '\0' x; printf '\n{"verb":"no"}\n'; }
lines() { # WHOSE
	holds "$1: carriage returns and empty lines" accepted 2 breaks
	holds "$1: an octet at a time" accepted 1 portions
	holds "$1: five thousand commands at once" accepted 5000 pipelined
	holds "$1: are answered in order" jq -es 'map(.tag) == [range(5000)]' "$WORK/replies"
	holds "$1: fifty lines of noise" refused 50 noise
	holds "$1: zero octets are no end of a line" refused 5 zeros
	holds "$1: what is no UTF-8" refused 2 not_utf8
	holds "$1: three million brackets" refused 1 deep
	holds "$1: a line above 64 MiB, and the line behind it" refused 2 endless
	holds "$1: it is said to be too long" grep -q 'too long' "$WORK/replies"
}
lines "iwarp-peer"
long() { printf '{"verb":"reg_mr","length":8,"stag":9,"data":"'; head -c 33000000 /dev/zero | tr '\0' 0; echo '"}'; }
holds "a line below 64 MiB is heard, and what it asks for refused" refused 1 long
holds "none of that changed anything" unchanged

# --- Clients that go, or do not listen ----------------------------------------------------------------------------------
vanish() { # COMMAND...
	local extra
	exec {extra}<>"/dev/tcp/127.0.0.1/${control[responder]}"
	"$@" 1>&"$extra" 2>/dev/null || true
	exec {extra}<&-
}
half() { printf '{"verb":"reset"'; }
holds "gone within a line" vanish half
holds "gone within a line above 64 MiB" vanish head -c 68000000 /dev/zero
holds "gone without hearing five thousand replies" vanish pipelined
holds "none of that changed anything" unchanged

# 40 replies of 8 MiB that nobody hears at first: they are not all made and kept.
most_resident() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/${pid[responder]}/status"; } # MiB
deaf() {
	local extra before peak i status=0
	ask responder '{"verb":"reg_mr","length":4194304,"stag":12}' || return 1
	echo 5 >"/proc/${pid[responder]}/clear_refs" # VmHWM begins anew (proc(5))
	before=$(most_resident)
	exec {extra}<>"/dev/tcp/127.0.0.1/${control[responder]}"
	for ((i = 0; i < 40; i++)); do echo "{\"verb\":\"mem_read\",\"stag\":12,\"tag\":$i}"; done >&"$extra"
	ask responder '{"verb":"capabilities"}' || status=1
	timeout 200 head -n 40 <&"$extra" | sed 's/.*"tag":/{"tag":/' | jq -es 'map(.tag) == [range(40)]' || status=1
	exec {extra}<&-
	peak=$(most_resident)
	[ "$peak" -lt $((before + 200)) ] || { echo "      $before MiB, then $peak MiB"; status=1; }
	ask responder '{"verb":"dereg","stag":12}' && return "$status"
}
holds "a client that does not read its replies is waited for" deaf
# Those who have said all that they have to say get their replies all the same.
half_closed() {
	pipelined | timeout 60 "$WORK/say" "${control[responder]}" | jq -es 'length == 5000 and all(.[]; .ok)'
}
cat >"$WORK/say.c" <<'C'
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(argc > 1 ? argv[1] : "0"))};
    static char octets[65536];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ssize_t got;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) != 0)
        return 1;
    while ((got = read(0, octets, sizeof(octets))) > 0)
        for (ssize_t at = 0, sent; at < got; at += sent)
            if ((sent = write(fd, octets + at, (size_t)(got - at))) <= 0)
                return 1;
    shutdown(fd, SHUT_WR);
    while ((got = read(fd, octets, sizeof(octets))) > 0)
        if (write(1, octets, (size_t)got) != got)
            return 1;
    return 0;
}
C
holds "a client that half-closes its connection" "${cc[@]}" -o "$WORK/say" "$WORK/say.c"
holds "hears five thousand replies" half_closed

crowd() { # two hundred at once, each with a command; then all are answered
	local fds=() extra i status=0 line
	for ((i = 0; i < 200; i++)); do
		exec {extra}<>"/dev/tcp/127.0.0.1/${control[responder]}" || return 1
		fds+=("$extra")
		echo "{\"verb\":\"status\",\"stream\":$other,\"tag\":$i}" >&"$extra"
	done
	for ((i = 199; i >= 0; i--)); do
		IFS= read -r -t 20 line <&"${fds[i]}" && [[ $line == *'"ok":true'*"\"tag\":$i}"* ]] || status=1
		extra=${fds[i]}
		exec {extra}<&-
	done
	return "$status"
}
holds "two hundred control connections at once" crowd
holds "none of that changed anything" unchanged

# The agent for devices with verbs hears lines alike: its part for that, with answers of its own.
cat >"$WORK/agent.c" <<'C'
#include <arpa/inet.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "conformance/labs/linux/agent/agent_control.h"
static char *answer(void *context, const char *line, size_t octets)
{
    json_t *command = json_loadb(line, octets, JSON_REJECT_DUPLICATES, NULL), *reply = json_object();
    const char *verb = json_string_value(json_object_get(command, "verb"));
    int known = verb != NULL && strcmp(verb, "capabilities") == 0;
    char *text;
    (void)context;
    json_object_set_new(reply, "ok", json_boolean(known));
    if (!known)
        json_object_set_new(reply, "error", json_string("no such verb"));
    if (json_object_get(command, "tag") != NULL)
        json_object_set(reply, "tag", json_object_get(command, "tag"));
    text = json_dumps(reply, JSON_COMPACT);
    json_decref(command);
    json_decref(reply);
    return text;
}
int main(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(name);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&name, size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &size) != 0)
        return 1;
    printf("READY control=%u\n", ntohs(name.sin_port));
    fflush(stdout);
    for (;;) {
        struct agent_control control = {.fd = accept(listener, NULL, NULL)};
        while (control.fd >= 0)
            agent_control_handle(&control, answer, NULL);
    }
}
C
agent_part() {
	"${cc[@]}" -std=gnu17 -Wall -Wextra -Werror -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -I. -o "$WORK/agent" \
		"$WORK/agent.c" conformance/labs/linux/agent/agent_control.c upper-tester/token.c -ljansson || return 1
	rm -f "$WORK/agent.out"
	"$WORK/agent" >"$WORK/agent.out" 2>"$WORK/agent.err" </dev/null &
	pid[agent]=$!
	prints "${pid[agent]}" "$WORK/agent.out" '^READY control=.+$' || return 1
	door=$(sed -n 's/^READY control=//p' "$WORK/agent.out")
}
holds "the agent's part that hears lines" agent_part
lines "agent"
holds "agent: nothing was wrong with it" test ! -s "$WORK/agent.err"

# --- The skeletons, for devices that have no upper tester -----------------------------------------------------------------
# Each answers for a device that listens on port 9999 by itself: all else is "unsupported", which skips a check and fails none.
cannot() {
	printf '{"verb":%s}\n' '"listen"' '"listen","port":9998' '"listen","port":9999,"rev":1' '"connect","address":"127.0.0.1","port":9' \
		'"unlisten","port":9999' '"accept","stream":1' '"reject","stream":1' '"reg_mr","length":8,"base":-8' '"dereg","stag":"0x9"' \
		'"invalidate","stag":9' '"mem_read","stag":9' '"mem_write","stag":9,"data":"00"' '"post_recv","stream":1,"id":[1]' \
		'"send","stream":1,"data":"00ff"' '"write","stream":1,"stag":9,"length":4' '"read","stream":1,"source_stag":9' \
		'"disconnect","stream":1' '"abort","stream":1' '"status","stream":1' '"terminate","stream":1' \
		'"reg_mr","length":8,"mapping":"read_only"' '"reg_mr","length":8,"local_write":false' \
		'"atomic","stream":1,"operation":"swap","stag":1' '"immediate","stream":1,"data":"0011223344556677"' '"mpa","stream":1' \
		'"regions"' '"placements","stream":1' '"no such verb"'
}
can() {
	printf '{"verb":%s}\n' '"capabilities"' '"poll"' '"reset"' '"listen","port":9999' '"listen","port":"0x270f","tag":[1]'
}
misspelt() {
	printf '{"verb":%s}\n' '"poll","tags":1' '"listen","prot":9999' '"listen","port":9999.5' '"listen","port":-1' '"listen","port":65536' \
		'"listen","port":true' '"listen","port":"9999 "' '"capabilities","":1' '7'
	printf '%s\n' '[]' '7' '{}' '{"verb":"poll","verb":"poll"}' '{"verb":"poll"} x' '{"verb":"poll","tag":NaN}'
}
skeleton() { # NAME COMMAND...
	local name="skeleton in $1"
	shift
	rm -f "$WORK/skeleton.out"
	"$@" >"$WORK/skeleton.out" 2>"$WORK/skeleton.err" </dev/null &
	pid[skeleton]=$!
	holds "$name: it starts" prints "${pid[skeleton]}" "$WORK/skeleton.out" '^READY control=.+$'
	door=$(sed -n 's/^READY control=//p' "$WORK/skeleton.out")
	holds "$name: what a device that listens by itself can do" accepted 5 can
	# shellcheck disable=SC2016 # jq's variables
	holds "$name: the protocol's version is that of the document" \
		jq -es --arg version "$(sed -n '1s/.*version //p' docs/upper-tester.md)" '.[0].protocol == ($version | tonumber)' "$WORK/replies"
	holds "$name: no events, and that none is known" jq -es '.[0].events == [] and .[1].events == [] and .[1].lost == 0' "$WORK/replies"
	holds "$name: the listener that is there, and the tag" jq -es '.[3].port == 9999 and .[4].port == 9999 and .[4].tag == [1]' "$WORK/replies"
	holds "$name: all else" refused "$(cannot | wc -l)" cannot
	holds "$name: is unsupported, which is no error of the device" jq -es 'all(.[]; .unsupported == true)' "$WORK/replies"
	holds "$name: what is no command" refused "$(misspelt | wc -l)" misspelt
	holds "$name: is an error, and not unsupported" jq -es 'all(.[]; has("unsupported") | not)' "$WORK/replies"
	lines "$name"
	holds "$name: nothing was wrong with it" test ! -s "$WORK/skeleton.err"
	kill "${pid[skeleton]}"
	wait "${pid[skeleton]}" 2>/dev/null || true
	unset 'pid[skeleton]'
}
holds "the skeleton in C" "${cc[@]}" -std=c17 -Wall -Wextra -Wpedantic -Werror -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-o "$WORK/skeleton" upper-tester/skeleton/skeleton_main.c -ljansson
skeleton C "$WORK/skeleton" 0 9999
skeleton Python python3 upper-tester/skeleton/skeleton.py --port 0 --listen 9999

# Verbs that were filled in fail: a device that refuses, and a mistake. Each ends its command alone, with a sentence.
sed -e 's/raise Unsupported("the device cannot be asked to connect")/raise ConnectionRefusedError("nobody is there")/' \
	-e 's/raise Unsupported("the device exposes no memory")  # VENDOR: return {"stag"/return {"stag": int("x")}  # {"stag"/' \
	upper-tester/skeleton/skeleton.py >"$WORK/filled.py"
fails() { printf '{"verb":%s}\n' '"connect","address":"127.0.0.1","port":9' '"reg_mr","length":8'; }
rm -f "$WORK/filled.out"
python3 "$WORK/filled.py" --port 0 >"$WORK/filled.out" 2>"$WORK/filled.err" </dev/null &
pid[filled]=$!
holds "a skeleton that was filled in: it starts" prints "${pid[filled]}" "$WORK/filled.out" '^READY control=.+$'
door=$(sed -n 's/^READY control=//p' "$WORK/filled.out")
holds "its verbs that fail are answered" refused 2 fails
holds "by the device's reason, and by the name of the mistake" jq -es '(.[0].error == "the device refused it: nobody is there") and
	(.[1].error | startswith("the upper tester failed: ValueError")) and all(.[]; has("unsupported") | not)' "$WORK/replies"
holds "the mistake is shown where it was made" grep -q 'in reg_mr' "$WORK/filled.err"
kill "${pid[filled]}"
wait "${pid[filled]}" 2>/dev/null || true
unset 'pid[filled]'

# --- The other doors ----------------------------------------------------------------------------------------------------
at_path() {
	local status=0
	"$program" --control "$WORK/path" >"$WORK/path.out" 2>"$WORK/path.err" </dev/null &
	pid[path]=$!
	prints "${pid[path]}" "$WORK/path.out" READY || return 1
	printf '{"verb":"capabilities","tag":7}\n' | timeout 120 "$WORK/unix" "$WORK/path" >"$WORK/path.reply" || status=1
	grep -q '"ok":true.*"tag":7' "$WORK/path.reply" || status=1
	peer_stop path || status=1
	return "$status"
}
sed -e 's/struct sockaddr_in name.*/struct sockaddr_un name = {.sun_family = AF_UNIX};/' -e '/sin_addr/d' -e 's/AF_INET/AF_UNIX/' \
	-e 's/int fd = /strncpy(name.sun_path, argv[argc - 1], sizeof(name.sun_path) - 1);\n    int fd = /' \
	-e '1i #include <string.h>\n#include <sys/un.h>' "$WORK/say.c" >"$WORK/unix.c"
holds "a client for Unix sockets" "${cc[@]}" -o "$WORK/unix" "$WORK/unix.c"
holds "a control socket at a path" at_path

holds "the initiator ends cleanly" peer_stop initiator
holds "the responder ends cleanly" peer_stop responder
finish
