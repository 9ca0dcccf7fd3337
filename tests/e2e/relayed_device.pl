#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# relayed_device.pl ADDRESS PORT BEHIND SECONDS [second]: a device that takes its time, or that loses connections, for modest-device.sh and
# dummies.sh. It relays each connection to the iWARP stack that listens on port BEHIND of the loopback, and passes on each answer of it SECONDS
# later. With "second" it resets each second connection as soon as the first octets of it have come.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
use Socket qw(SOL_SOCKET SO_LINGER);

my ($address, $port, $behind, $seconds, $second) = @ARGV;
my $served = 0;
my $listener = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port, Listen => 64, ReuseAddr => 1) or die "$port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "READY\n";

while (1) {
	my $device = $listener->accept or next; # a child's end interrupts it
	$served++;
	if (fork) { close $device; next }
	if ($second && $served % 2 == 0) {
		sysread $device, my $octets, 65536;
		setsockopt $device, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0;
		close $device;
		exit 0;
	}
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
