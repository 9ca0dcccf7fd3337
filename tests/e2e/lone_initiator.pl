#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# lone_initiator.pl IWARP_PEER ADDRESS PORT [enhanced]: an initiator that nobody can ask for anything, for device-lost.sh. It opens one
# connection, by a Request of Rev 1 or an enhanced one, sends one message when that is established, and serves what comes until the connection ends. WARPCHECK_ADDRESS and
# WARPCHECK_PORT have to say the same as its arguments.
use strict;
use warnings;
use IO::Socket::INET;

my ($program, $address, $port, $enhanced) = @ARGV;
die "the environment says $ENV{WARPCHECK_ADDRESS}:$ENV{WARPCHECK_PORT}\n" if "$address:$port" ne "$ENV{WARPCHECK_ADDRESS}:$ENV{WARPCHECK_PORT}";
my $stack = open(my $out, '-|', $program, '--control', '0', $enhanced ? () : ('--plain', '--rev', '1')) or die "$program: $!\n";
my ($control) = (<$out> // '') =~ /control=(\d+)/ or die "no READY\n";
my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $control) or die "control: $!\n";
$| = 1;

sub ask {
	my ($request) = @_;
	print $socket "$request\n";
	my $answer = <$socket> // '';
	print $answer;
	return $answer;
}

my ($stream) = ask("{\"verb\":\"connect\",\"address\":\"$address\",\"port\":$port,\"rev\":" . ($enhanced ? 2 : 1) . "}") =~ /"stream":\s*(\d+)/ or die "no stream\n";
my $sent = 0;
for (1 .. 3000) {
	my $events = ask('{"verb":"poll"}');
	if (!$sent && $events =~ /"established"/) { $sent = 1; ask("{\"verb\":\"send\",\"stream\":$stream,\"data\":\"66697273\"}"); }
	last if $events =~ /"(closed|error)"/;
	select undef, undef, undef, 0.01;
}
kill 'TERM', $stack;
