#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# iwarp-peer's limits under floods: of connections, of upper testers, of replies that nobody reads, of commands that ask for memory. What
# is too much is refused with a clear word, memory stays below its limit, and whoever was there before is served all the time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

"$IWARP_PEER" --listen 0 --control 0 --echo --no-crc --receives 100 --max-connections 20 --max-controls 4 --max-unread 65536 --max-memory 48 \
	>"$WORK/peer.out" 2>"$WORK/peer.err" </dev/null &
peer=$!
trap 'kill "$peer" 2>/dev/null || true' EXIT
prints "$peer" "$WORK/peer.out" READY
listen=$(sed 's/.*listen=\([0-9]*\).*/\1/' "$WORK/peer.out")
control=$(sed 's/.*control=\([0-9]*\).*/\1/' "$WORK/peer.out")

cat >"$WORK/flood.pl" <<'PERL'
use strict;
use warnings;
use Errno;
use IO::Socket::INET;
my ($what, $listen, $control, $peer) = @ARGV;
$SIG{PIPE} = "IGNORE";
alarm 250;

# A connection that is reset may be so before connect() has returned; undef then.
sub try { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or $!{ECONNRESET} or die "connect: $!"; ref $s ? ($s->autoflush(1), $s)[1] : undef }
sub to { try(shift) // die "connect: reset" }
sub line { my $s = shift; my $l = <$s>; defined $l ? $l : "" }
sub ask { my ($s, $command) = @_; print $s "$command\n"; line($s) }
sub octets { my ($s, $n) = @_; my $got = ""; while (length($got) < $n) { my $r = sysread($s, $got, $n - length($got), length($got)); last unless $r } $got }
# An iWARP stream in operation: MPA start-up, Rev 1, without CRC.
my $request = "MPA ID Req Frame" . pack("CCn", 0, 1, 0);
sub start { my $s = try($listen) // return undef; print $s $request; my $reply = octets($s, 20); (length($reply) == 20 && substr($reply, 0, 16) eq "MPA ID Rep Frame") ? $s : undef }
my $msn = 1;
sub send_fpdu { my ($s, $text) = @_; my $ddp = pack("CCNNNN", 0x41, 0x43, 0, 0, $msn, 0) . $text; my $fpdu = pack("n", length $ddp) . $ddp;
	$fpdu .= "\0" x (-length($fpdu) % 4); print $s $fpdu . "\0\0\0\0" }
# Echoed: the stack's answer has the text in it.
sub served { my ($s, $text) = @_; send_fpdu($s, $text); $msn++; my $got = ""; until ($got =~ /\Q$text\E/) { my $r = sysread($s, $got, 4096, length $got); return 0 unless $r } 1 }
sub resident { open my $f, "<", "/proc/$peer/status" or die; my ($kib) = grep { s/^VmRSS:\s+(\d+).*\n/$1/ } <$f>; $kib }
sub check { my ($good, $text) = @_; print $good ? "ok $text\n" : "WRONG $text\n" }

my $first = start() or die "no stream";
my $tester = to($control);
my $before = resident();
check(served($first, "one"), "the first stream is served");

if ($what eq "connections") {
	my @others = grep { $_ } map { start() } 1 .. 200;
	check(@others == 19, "19 more are accepted (" . @others . ")");
	check(served($first, "two"), "the first stream is still served");
	close shift @others;
	close shift @others;
	my $again;
	for (1 .. 200) { last if $again = start(); select undef, undef, undef, 0.05 }
	check(defined $again, "when some have gone, others are accepted");
} elsif ($what eq "controls") {
	my @others = map { to($control) } 1 .. 60;
	my $answered = grep { my $l = line($_); $l =~ /too many control clients/ } splice @others, 3;
	check($answered == 57, "57 of 60 are refused with a word ($answered)");
	check((grep { ask($_, '{"verb":"capabilities"}') =~ /"ok":true/ } @others) == 3, "three are served");
	check(ask($tester, '{"verb":"capabilities"}') =~ /"ok":true/, "the first is still served");
} elsif ($what eq "unread") {
	# Commands whose replies are long, and nobody reads them.
	my $deaf = to($control);
	my ($stag) = ask($tester, '{"verb":"reg_mr","length":1048576}') =~ /"stag":(\d+)/;
	$deaf->blocking(0);
	my $command = "{\"verb\":\"mem_read\",\"stag\":$stag}\n" x 400;
	my $sent = 0;
	for (1 .. 200) { my $n = syswrite($deaf, $command, length($command) - $sent, $sent); $sent += $n if $n; last if $sent == length $command; select undef, undef, undef, 0.01 }
	check(ask($tester, '{"verb":"capabilities"}') =~ /"ok":true/, "another upper tester is served") for 1 .. 20;
	check(served($first, "two"), "the stream is still served");
	check(resident() - $before < 48 * 1024, "memory grew by less than 48 MiB (" . (resident() - $before) . " KiB)");
	# When they are read, every command has its reply.
	$deaf->blocking(1);
	my $replies = 0;
	$replies++ while $replies < 400 && line($deaf) =~ /"ok":(true|false)/;
	check($replies == 400, "every command has its reply in the end ($replies)");
} elsif ($what eq "memory") {
	my $refused = 0;
	check(scalar(ask($tester, "[" . "1," x 1_000_000 . "1]") =~ /more than \d+ values/), "a command of too many values is refused");
	for (1 .. 200) { $refused++ if ask($tester, '{"verb":"reg_mr","length":1000000,"fill":7}') =~ /exceed the limit of memory/ }
	check($refused > 100 && $refused < 200, "some regions are registered, the others refused ($refused)");
	check(ask($tester, '{"verb":"poll"}') =~ /"ok":true/, "other commands are obeyed");
	check(scalar(ask($tester, '{"verb":"mem_write","stag":1,"data":"' . "0" x 40_000_000 . '"}') =~ /the line is too long/), "a long line is refused");
	check(served($first, "two"), "the stream is still served");
	my @more = map { start() } 1 .. 10;
	check(scalar(grep { !defined $_ } @more), "new streams are refused");
	@more = ();
	check(resident() - $before < 60 * 1024, "memory grew by less than its limit (" . (resident() - $before) . " KiB)");
	check(ask($tester, '{"verb":"reset"}') =~ /"ok":true/, "a reset gives it back");
	check(ask($tester, '{"verb":"reg_mr","length":1000000}') =~ /"ok":true/, "and a region is registered again");
} elsif ($what eq "echo") {
	# A stream that sends and never reads: its echoes wait.
	my $deaf = start() or die "no stream";
	$deaf->blocking(0);
	my ($n, $ended, $most) = (0, 0, 0);
	BURST: for (1 .. 2000) {
		my $burst = "";
		for (1 .. 20) {
			my $payload = pack("CCNNNN", 0x41, 0x43, 0, 0, ++$n, 0) . "x" x 4000;
			my $fpdu = pack("n", length $payload) . $payload;
			$burst .= $fpdu . "\0" x (-length($fpdu) % 4) . "\0\0\0\0";
		}
		my $at = 0;
		while ($at < length $burst) {
			my $w = syswrite($deaf, $burst, length($burst) - $at, $at);
			if (defined $w) { $at += $w; next }
			$ended = !$!{EAGAIN};
			last BURST if $ended;
			my $set = "";
			vec($set, fileno $deaf, 1) = 1;
			last BURST unless select(undef, $set, undef, 1) > 0;
		}
		# The peer has obeyed this when it has read all of the burst: it is one loop.
		ask($tester, '{"verb":"status","stream":1}');
		$most = resident() if resident() > $most;
	}
	check($ended, "it is cut off in the end, behind $n Sends");
	check(served($first, "two"), "the other stream is still served");
	check($most - $before < 60 * 1024, "memory grew by less than its limit (" . ($most - $before) . " KiB)");
}
PERL
flood() {
	local said
	said=$(perl "$WORK/flood.pl" "$1" "$listen" "$control" "$peer" 2>&1) || wrong "$1: $said"
	while IFS= read -r text; do
		checked=$((checked + 1))
		if [[ $text == ok* ]]; then echo "ok    $1: ${text#ok }"; else wrong "$1: ${text#WRONG }"; fi
	done <<<"$said"
	# What it held is gone: the next flood finds the peer as this one did.
	perl -MIO::Socket::INET -e 'for (1 .. 200) { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1:'"$control"'"); print $s "{\"verb\":\"reset\"}\n"; $s->flush; my $l = <$s>; if ($l && $l =~ /"ok":true/) { print $s "{\"verb\":\"listen\",\"port\":'"$listen"',\"echo\":true,\"crc\":false,\"receives\":100}\n"; $s->flush; $l = <$s>; exit 0 if $l =~ /"ok":true/ } select undef, undef, undef, 0.05 } exit 1' || wrong "$1: the peer cannot be reset"
}
for what in connections controls unread memory echo; do flood "$what"; done
holds "it is still there" kill -0 "$peer"
for option in max-connections max-controls max-memory; do
	holds "it has said what was refused: --$option" grep -q -- "--$option" "$WORK/peer.err"
done
holds "once each" test "$(wc -l <"$WORK/peer.err")" -eq 3
kill "$peer"
status=0
wait "$peer" || status=$?
holds "it ends at SIGTERM" test "$status" = 0

# Connections that take all the memory there is for peers leave the operator his part, and what they held goes back to the system.
"$IWARP_PEER" --listen 0 --control 0 --receives 100 --max-memory 200 >"$WORK/crowd.out" 2>"$WORK/crowd.err" </dev/null &
peer=$!
prints "$peer" "$WORK/crowd.out" READY
cat >"$WORK/crowd.pl" <<'PERL'
use strict;
use warnings;
use Errno;
use IO::Socket::INET;
my ($listen, $control, $peer) = @ARGV;
$SIG{PIPE} = "IGNORE";
alarm 250;
sub try { my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => shift) or $!{ECONNRESET} or die "connect: $!"; ref $s ? ($s->autoflush(1), $s)[1] : undef }
sub capable { my $s = try($control); return 0 unless $s && print $s "{\"verb\":\"capabilities\"}\n"; my $l = <$s>; defined $l && $l =~ /"ok":true/ }
sub resident { open my $f, "<", "/proc/$peer/status" or die; my ($kib) = grep { s/^VmRSS:\s+(\d+).*\n/$1/ } <$f>; $kib }
sub start { my $s = try($listen) // return undef; print $s "MPA ID Req Frame" . pack("CCn", 0, 1, 0); my $got = ""; while (length $got < 20) { sysread($s, $got, 20 - length $got, length $got) or return undef } $s }
my @crowd;
while (@crowd < 5000) { my $s = start() // last; push @crowd, $s }
my $full = resident();
print @crowd < 5000 && @crowd > 100 ? "ok" : "WRONG", " so many connections are all that fit: " . @crowd . "\n";
print capable() ? "ok" : "WRONG", " a control client that comes now is served\n";
close $_ for @crowd;
my $again;
for (1 .. 200) { last if capable() && ($again = start()) && resident() < $full / 2; select undef, undef, undef, 0.05 }
print defined $again ? "ok" : "WRONG", " when they have gone, others are accepted\n";
print resident() < $full / 2 ? "ok" : "WRONG", " and the memory goes back: $full KiB, then " . resident() . " KiB\n";
PERL
said=$(perl "$WORK/crowd.pl" "$(sed 's/.*listen=\([0-9]*\).*/\1/' "$WORK/crowd.out")" "$(sed 's/.*control=\([0-9]*\).*/\1/' "$WORK/crowd.out")" "$peer" 2>&1) || wrong "crowd: $said"
holds "what a crowd takes" test "$(grep -c ^ok <<<"$said")" -eq 4
echo "$said"
kill "$peer"
wait "$peer" || true

expect 2 "no connections at all" "$IWARP_PEER" --listen 0 --max-connections 0
complains 'a number from 1 to'
expect 2 "no number" "$IWARP_PEER" --listen 0 --max-memory much
complains 'max-memory "much": a number from 1'
finish
