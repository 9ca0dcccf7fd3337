#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs on a kernel's TCP that are no iWARP devices: nothing passes and nothing fails, the exit status is 4, and one sentence says
# what is wrong. And a device without an upper tester: --dry-run counts what the run then does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

cat >"$WORK/device.json" <<'JSON'
{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999 }
JSON

cat >"$WORK/dummy.pl" <<'PERL'
use strict;
use Socket;
my ($kind) = @ARGV;
socket(my $listener, AF_INET, SOCK_STREAM, 0) or die "$!\n";
setsockopt($listener, SOL_SOCKET, SO_REUSEADDR, 1);
bind($listener, sockaddr_in(9999, INADDR_ANY)) or die "$!\n";
listen($listener, 64) or die "$!\n";
$| = 1;
print "READY\n";
while (accept(my $stream, $listener)) {
	if ($kind eq 'fin') { close($stream); next }
	if ($kind eq 'reset') {
		setsockopt($stream, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
		close($stream);
		next;
	}
	while (sysread($stream, my $octets, 4096)) {
		syswrite($stream, $kind eq 'echo' ? $octets : "garbage, and no MPA frame at all\n" x 4);
	}
	close($stream);
}
PERL

cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
other=
if [ "$1" = stack ]; then
	"$IWARP_PEER" --listen 9999 >"$WORK/peer.out" 2>&1 &
elif [ "$1" = second ]; then
	"$IWARP_PEER" --listen 9998 --bind 127.0.0.1 >"$WORK/behind.out" 2>&1 &
	other=$!
	prints "$other" "$WORK/behind.out" READY || exit 99
	perl tests/e2e/relayed_device.pl 10.99.0.2 9999 9998 0 second >"$WORK/peer.out" 2>&1 &
else
	perl "$WORK/dummy.pl" "$1" >"$WORK/peer.out" 2>&1 &
fi
peer=$!
prints "$peer" "$WORK/peer.out" READY || exit 99
"$WARPCHECK" run --dut "$WORK/device.json" "${@:2}"
status=$?
{
	kill -KILL $peer $other
	wait $peer $other
} 2>/dev/null
exit $status
INSIDE
export WORK WARPCHECK IWARP_PEER

# dummy KIND SENTENCE: the whole selection against it.
dummy() {
	expect 4 "$1: inconclusive" unshare -rn bash "$WORK/inside.sh" "$1" --format jsonl
	mv "$WORK/stdout" "$WORK/$1.jsonl"
	jq -r 'select(.type == "result") | .verdict' "$WORK/$1.jsonl" | sort | uniq -c >"$WORK/$1.counts"
	holds "$1: nothing passes and nothing fails" sh -c "! grep -qE 'PASS|FAIL|WARN|AMBIGUOUS' '$WORK/$1.counts'"
	holds "$1: each check has a verdict" grep -qE '[0-9]{2,} INCONCLUSIVE' "$WORK/$1.counts"
	holds "$1: a sentence says what is wrong: $(cat "$WORK/stderr")" \
		grep -qE "does not serve, as responder: a start-up \(($2)" "$WORK/stderr"
}
# A device that is slow to accept ends the connection when the Request is there: its FIN is an RST then.
late='it does not speak MPA: RST came in place of an MPA Reply'
dummy reset "the device ended the connection \(RST\) before|$late"
dummy fin "the device ended the connection \(FIN\) before|$late"
dummy echo 'it is an echo'
dummy garbage 'it does not speak MPA'

# In words, too: what cannot be decided for one cause is a screen at most, with the line that helps.
screen() { [ "$(wc -l <"$WORK/stdout")" -le 24 ] && grep -qE "$1" "$WORK/stdout"; }
for kind in garbage second; do
	passes=any lines=any expect 4 "$kind: in words" unshare -rn bash "$WORK/inside.sh" "$kind"
	holds "$kind: is a screen, and says what is wrong" screen \
		'one cause of [0-9]{3,} results: (the octets are no start-up frame of MPA|the device ends some connections in place of its Reply, and serves others) '
done

# Each second connection is lost when its Request is there: what is not about start-ups does not fail because of that.
passes=any expect 4 "second: inconclusive" unshare -rn bash "$WORK/inside.sh" second --format jsonl 'DDP-7.1-1*' 'DDP-7.2-*' 'RDMAP-7*'
holds "second: nothing fails" jq -es '[.[] | select(.type == "result" and .by == "check")] |
	all(.verdict != "FAIL" and .verdict != "WARN") and any(.message // "" | test("in place of its Reply, and served the next start-up"))' "$WORK/stdout"

select=('MPA-7.1.1-*' 'DDP-3-*' 'EMPA-9.1-*')
skips() { jq -r 'select(.type == "result" and .by == "check" and .verdict == "SKIP") | [.id, .role] | @tsv' "$1" | LC_ALL=C sort; }
lines=any expect 0 "a stack without an upper tester" unshare -rn bash "$WORK/inside.sh" stack --format jsonl "${select[@]}"
mv "$WORK/stdout" "$WORK/stack.jsonl"
skips "$WORK/stack.jsonl" >"$WORK/skipped"
"$WARPCHECK" run --dut "$WORK/device.json" --dry-run "${select[@]}" 2>"$WORK/said" |
	awk '/  SKIP: / { print $1 "\t" $2 }' | LC_ALL=C sort >"$WORK/foreseen"
holds "--dry-run foresees each check that is skipped" diff -u "$WORK/skipped" "$WORK/foreseen"
holds "--dry-run counts them" grep -q " $(wc -l <"$WORK/skipped") to skip" "$WORK/said"
finish
