#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Who commands a device shows a token, where one is demanded (docs/upper-tester.md): iwarp-peer and the agent obey nobody before, are not
# kept busy by strangers, and the tester shows what its profile names. The agent does not listen for everybody without a word.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
trap 'kill $(jobs -p) 2>/dev/null' EXIT

echo 0123456789abcdef0123456789abcdef >"$WORK/token"
echo 0123456789abcdef0123456789abcdeg >"$WORK/other"
echo short >"$WORK/short"

# The agent's part that hears lines; what obeys them is the other part's affair.
cat >"$WORK/agent.c" <<'C'
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "conformance/labs/linux/agent/agent_control.h"
static char *answer(void *context, const char *line, size_t octets)
{
    (void)context, (void)line, (void)octets;
    return strdup("{\"ok\":true,\"protocol\":1}");
}
int main(int argc, char **argv)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(name);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct upper_token token;
    struct iwarp_sentence sentence;
    if (argc != 2 || upper_token_read(&token, argv[1], &sentence) != 0)
        return fprintf(stderr, "%s\n", sentence.text), 2;
    if (bind(listener, (struct sockaddr *)&name, size) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&name, &size) != 0)
        return 1;
    printf("READY control=%u\n", ntohs(name.sin_port));
    fflush(stdout);
    for (;;) {
        struct agent_control control = {.fd = accept(listener, NULL, NULL), .token = &token};
        while (control.fd >= 0)
            agent_control_handle(&control, answer, NULL);
    }
}
C
read -ra cc <<<"$CC"
holds "the agent's part that hears lines" "${cc[@]}" -std=gnu17 -Wall -Wextra -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all \
	-I. -o "$WORK/agent" "$WORK/agent.c" conformance/labs/linux/agent/agent_control.c upper-tester/token.c -ljansson
expect 2 "a token that can be guessed" "$WORK/agent" "$WORK/short"
complains 'short: a token was expected as the first line: 16 to 256'
expect 2 "no such file" "$IWARP_PEER" --control 0 --control-token "$WORK/none"
complains 'none: No such file'
expect 2 "a token that can be guessed" "$IWARP_PEER" --control 0 --control-token "$WORK/short"
complains '16 to 256 printable characters'

cat >"$WORK/talk.pl" <<'PERL'
use strict;
use warnings;
use IO::Socket::INET;
my ($port, $token) = @ARGV;
$SIG{PIPE} = "IGNORE";
alarm 100;
sub to { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port) or die "connect: $!"; $s->autoflush(1); $s }
sub all { my ($text) = @_; my $s = to(); print $s $text; shutdown $s, 1; join "", <$s> }
# The prototype: a match that fails is a false scalar, no empty list.
sub check($$) { my ($good, $text) = @_; print $good ? "ok" : "WRONG", " $text\n" }
my $capabilities = "{\"verb\":\"capabilities\"}\n";
my $show = sub { "{\"verb\":\"token\",\"token\":\"$_[0]\"}\n" };
my $refused = qr/^\{"ok":false,"error":".*token.*"\}\n$/;
check(all($capabilities) =~ $refused, "nothing is obeyed before the token");
check(all("\r\n\n$capabilities$capabilities") =~ $refused, "one answer, then the end");
check(all($show->(substr $token, 0, -1)) =~ $refused, "a token that is too short");
check(all($show->($token . "x") . $capabilities) =~ $refused, "and one that is too long");
check(all($show->("x" x 5000) . $capabilities) =~ $refused, "and a very long one");
check(all("{\"verb\":\"token\"}\n") =~ $refused && all("{\"verb\":\"token\",\"token\":7}\n") =~ $refused, "and none");
check(all("[" x 100000 . "\n") =~ $refused, "no JSON");
check(all("x" x 300000) =~ /^\{"ok":false,"error":"the line is too long"\}\n/, "a line without an end is not kept");
my $good = all($show->($token) . $capabilities . $show->($token) . $capabilities);
check($good =~ /^\{"ok":true\}\n\{.*"protocol":1.*\}\n\{.*"ok":true.*\}\n\{.*"protocol":1.*\}\n$/, "with it all is obeyed");
check(all("{\"verb\":\"token\",\"token\":\"$token\",\"tag\":[1]}\n") =~ /"tag":\[1\]/, "the tag comes back");
# More strangers than there are places. The one who knows the token is served.
my @strangers = map { to() } 1 .. ($ARGV[2] // 1);
check(all($show->($token) . $capabilities) =~ /"protocol":1/, "strangers keep nobody out") if $ARGV[2];
PERL
talk() { # WHAT PORT PLACES
	local said
	said=$(perl "$WORK/talk.pl" "$2" "$(cat "$WORK/token")" "${@:3}" 2>&1) || wrong "$1: $said"
	while IFS= read -r text; do
		checked=$((checked + 1))
		if [[ $text == ok* ]]; then echo "ok    $1: ${text#ok }"; else wrong "$1: ${text#WRONG }"; fi
	done <<<"$said"
}

"$WORK/agent" "$WORK/token" >"$WORK/agent.out" 2>"$WORK/agent.err" </dev/null &
prints $! "$WORK/agent.out" READY
talk "the agent" "$(sed -n 's/^READY control=//p' "$WORK/agent.out")"
holds "nothing was wrong with it" test ! -s "$WORK/agent.err"

"$IWARP_PEER" --control 0 --control-token "$WORK/token" --max-controls 5 >"$WORK/peer.out" 2>"$WORK/peer.err" </dev/null &
prints $! "$WORK/peer.out" READY
control=$(sed -n 's/^READY control=//p' "$WORK/peer.out")
talk "iwarp-peer" "$control" 20

# The tester's side.
profile() { # FILE TOKEN
	printf '{ "address": "127.0.0.1", "port": 9, "interface": "lo", "own_address": "127.0.0.9", "control": "127.0.0.1:%s"%s }' \
		"$control" "${2:+, \"control_token_file\": \"$2\"}" >"$WORK/$1.json"
}
profile good "$WORK/token"
profile wrong "$WORK/other"
profile without ''
profile lost "$WORK/none"
expect 0 "the profile names the token" "$WARPCHECK" pics --dut "$WORK/good.json" --ask ird
says 'upper tester'
expect 4 "another token" "$WARPCHECK" pics --dut "$WORK/wrong.json" --ask ird
complains 'the upper tester refuses the token: .*this is not the token'
expect 4 "no token" "$WARPCHECK" pics --dut "$WORK/without.json" --ask ird
complains 'a token was expected'
expect 2 "a file that is not there" "$WARPCHECK" pics --dut "$WORK/lost.json" --ask ird
complains 'control_token_file.*none: No such file'
expect 2 "a token without a control connection" "$WARPCHECK" probe 127.0.0.1:9 --interface lo --own-address 127.0.0.9 --control-token "$WORK/token"
complains 'control-token needs --control'

# An upper tester that knows no token demands none.
python3 upper-tester/skeleton/skeleton.py --port 0 --listen 9999 >"$WORK/skeleton.out" 2>"$WORK/skeleton.err" </dev/null &
prints $! "$WORK/skeleton.out" READY
control=$(sed -n 's/^READY control=//p' "$WORK/skeleton.out")
profile skeleton "$WORK/token"
expect 0 "an upper tester without tokens" "$WARPCHECK" pics --dut "$WORK/skeleton.json" --ask ird

# The agent itself, where its libraries are.
if [ -x "$B/warpcheck-agent" ] || make -s agent B="$B" >"$WORK/make.log" 2>&1; then
	expect 2 "no address but loopback without a token" "$B/warpcheck-agent" --address ::
	complains 'address other than loopback: --token FILE was expected, or --token none'
	expect 2 "the same of IPv4" "$B/warpcheck-agent" --address 192.0.2.7
	expect 2 "a token that can be guessed" "$B/warpcheck-agent" --address :: --token "$WORK/short"
	for address in 127.0.0.1 127.0.0.2 ::1; do
		expect 4 "on $address none is needed: then it looks for a device" "$B/warpcheck-agent" --address "$address" --device none
		complains 'no such RDMA device'
	done
	expect 4 "with a token" "$B/warpcheck-agent" --address :: --token "$WORK/token" --device none
	expect 4 "with none, said so" "$B/warpcheck-agent" --address :: --token none --device none
else
	echo "the agent is not built: no libibverbs-dev or librdmacm-dev"
fi
finish
