#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# slow_device.pl ADDRESS PORT BEHIND SECONDS: a device that takes its time, for modest-device.sh. It relays each connection to the iWARP
# stack that listens on port BEHIND of the loopback, and passes on each answer of it SECONDS later.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my ($address, $port, $behind, $seconds) = @ARGV;
my $listener = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port, Listen => 64, ReuseAddr => 1) or die "$port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "READY\n";

while (1) {
	my $device = $listener->accept or next; # a child's end interrupts it
	if (fork) { close $device; next }
	my $stack = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $behind) or die "$behind: $!\n";
	my $both = IO::Select->new($device, $stack);
	while (my ($from) = $both->can_read) {
		my $got = sysread $from, my $octets, 65536;
		select undef, undef, undef, $seconds if $from == $stack;
		last unless $got;
		syswrite $from == $stack ? $device : $stack, $octets;
	}
	exit 0;
}
