#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# verbs_upper.pl PORT BEHIND: stands between warpcheck and the upper tester on port BEHIND of the loopback, for verbs-device.sh, and makes
# of it what user-space verbs are: memory belongs to a Protection Domain and never to one stream ("stream_memory": false), nobody
# asks for Markers, and nobody says which of the Sends has come.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use JSON::PP;
use UpperRelay;

sub refuse {
	my ($command) = @_;
	return { ok => JSON::PP::false, unsupported => JSON::PP::true, error => 'there are no Markers' } if $command->{markers};
	return unless ($command->{verb} // '') eq 'reg_mr' && exists $command->{stream};
	return { ok => JSON::PP::false, unsupported => JSON::PP::true, error => 'memory regions belong to a protection domain' };
}

sub change {
	my ($command, $answer) = @_;
	$answer->{stream_memory} = JSON::PP::false if ($command->{verb} // '') eq 'capabilities';
	for my $event (grep { ref eq 'HASH' && ($_->{event} // '') eq 'receive' } @{ $answer->{events} // [] }) {
		delete $event->{opcode};
		$event->{invalidated} //= JSON::PP::false;
	}
}

UpperRelay::relay(@ARGV, \&refuse, \&change);
