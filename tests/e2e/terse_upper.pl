#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# terse_upper.pl PORT BEHIND: stands between warpcheck and the upper tester on port BEHIND of the loopback, for modest-device.sh, and
# leaves out what an upper tester need not tell (docs/upper-tester.md, "How to say that something is unknown"): the event "half_closed",
# that it is the device's own program, and all members of events but those that name the stream, the listener and the work, and the octets that were delivered. It takes no work
# for a stream of which it has not reported "established". Its device copies what it sends, so that a Write is done even where the stream is lost.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use UpperRelay;

my %kept = map { $_ => 1 } qw(stream event port id work data text);
my %posts = map { $_ => 1 } qw(send write read atomic immediate);
my %up;

sub refuse {
	my ($command) = @_;
	return unless $posts{$command->{verb} // ''} && !$up{$command->{stream} // 0};
	return { ok => JSON::PP::false, error => 'the stream is not up' };
}

sub terse {
	my (undef, $reply) = @_;
	return unless ref $reply->{events} eq 'ARRAY';
	if (!ref($reply->{events}[0] // {})) { # of capabilities
		$reply->{events} = [grep { $_ ne 'half_closed' } @{$reply->{events}}];
		delete $reply->{one_program};
		$reply->{atomics} = $reply->{immediate} = JSON::PP::false;
		return;
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
}

UpperRelay::relay(@ARGV, \&refuse, \&terse);
