#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# terse_upper.pl PORT BEHIND: stands between warpcheck and the upper tester on port BEHIND of the loopback, for modest-device.sh, and
# leaves out what an upper tester need not tell (docs/upper-tester.md, "How to say that something is unknown"): the event "half_closed",
# and all members of events but those that name the stream, the listener and the work, and the octets that were delivered. It takes no work
# for a stream of which it has not told "established". Its device copies what it sends, so that a Write is done even where the stream is lost.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my ($port, $behind) = @ARGV;
my %kept = map { $_ => 1 } qw(stream event port id work data text);
my %posts = map { $_ => 1 } qw(send write read atomic immediate);
my %up;
my $json = JSON::PP->new->canonical->allow_bignum;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8, ReuseAddr => 1) or die "$port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "READY\n";

sub terse {
	my ($reply) = @_;
	return $reply unless ref $reply->{events} eq 'ARRAY';
	if (!ref($reply->{events}[0] // {})) { # of capabilities
		$reply->{events} = [grep { $_ ne 'half_closed' } @{$reply->{events}}];
		$reply->{atomics} = $reply->{immediate} = JSON::PP::false;
		return $reply;
	}
	my @events;
	for my $event (@{$reply->{events}}) {
		next if $event->{event} eq 'half_closed';
		$up{$event->{stream}} = 1 if $event->{event} eq 'established';
		$event->{event} = 'write_done' if $event->{event} eq 'flushed' && ($event->{work} // '') eq 'write';
		delete $event->{data} if $event->{event} ne 'receive';
		delete @$event{grep { !$kept{$_} } keys %$event};
		push @events, $event;
	}
	$reply->{events} = \@events;
	return $reply;
}

while (my $client = $listener->accept) {
	if (fork) { close $client; next }
	my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $behind) or die "$behind: $!\n";
	$_->autoflush(1) for $client, $server;
	while (my $line = <$client>) {
		my $command = eval { $json->decode($line) };
		if (ref $command eq 'HASH' && $posts{$command->{verb} // ''} && !$up{$command->{stream} // 0}) {
			print $client '{"ok":false,"error":"the stream is not up"}', "\n";
			next;
		}
		print $server $line;
		my $answer = <$server> // last;
		print $client $json->encode(terse($json->decode($answer))), "\n";
	}
	exit 0;
}
