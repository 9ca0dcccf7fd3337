#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# fragile_device.pl ADDRESS PORT BEHIND HOW [CONTROL UPPER]: a device that does not live long, for device-lost.sh. It relays each
# connection to the iWARP stack that listens on port BEHIND of the loopback. Its upper tester, at port CONTROL of the loopback, lives and
# dies with it: UPPER is the port of that stack's.
#
#   once    it serves one connection, then it exits with status 0
#   failing as once, but with status 1: some servers call each end of a connection an error
#   crash   it serves any number; a connection whose first octets are no MPA Request makes it die of SIGSEGV
#   unplug  it serves any number; such a connection makes its end of the cable, device0, go down
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my ($address, $port, $behind, $how, $control, $upper) = @ARGV;
my $listener = IO::Socket::INET->new(LocalAddr => $address, LocalPort => $port, Listen => 8, ReuseAddr => 1) or die "$port: $!\n";
my $select = IO::Select->new($listener);
my $tester = $control && (IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $control, Listen => 8, ReuseAddr => 1) or die "$control: $!\n");
$select->add($tester) if $tester;
my (%other, %said, $served);
$| = 1;
print "listens on $address port $port, $how\n";

sub end_of {
	my ($socket) = @_;
	my $peer = delete $other{$socket};
	delete $said{$socket};
	$select->remove($socket);
	close $socket;
	return unless $peer && $other{$peer};
	delete $other{$peer};
	delete $said{$peer};
	$select->remove($peer);
	close $peer;
}

while (my @ready = $select->can_read) {
	for my $socket (@ready) {
		if ($socket == $listener || ($tester && $socket == $tester)) {
			my $device = $socket->accept or next;
			my $to = $socket == $listener ? $behind : $upper;
			my $stack = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $to) or die "behind: $!\n";
			($other{$device}, $other{$stack}) = ($stack, $device);
			$said{$device} = '' if $socket == $listener;
			$select->add($device, $stack);
			# Like many servers that serve one: no second connection is even queued.
			if ($how =~ /^(once|failing)$/) { $select->remove($listener); close $listener; $served = 1; }
			next;
		}
		next unless $other{$socket};
		my $got = sysread $socket, my $octets, 65536;
		if (!$got) { end_of($socket); next; }
		if ($how =~ /^(crash|unplug)$/ && defined $said{$socket}) {
			$said{$socket} .= $octets;
			my $wanted = substr 'MPA ID Req Frame', 0, length $said{$socket};
			if (substr($said{$socket}, 0, length $wanted) ne $wanted) {
				if ($how eq 'unplug') { system 'ip', 'link', 'set', 'device0', 'down'; sleep 100; }
				print "crashes\n";
				$SIG{SEGV} = 'DEFAULT';
				kill 'SEGV', $$;
				sleep 10;
			}
			$said{$socket} = undef if length $said{$socket} >= 16;
		}
		my $to = $other{$socket};
		syswrite $to, $octets;
	}
	last if $served && !%other;
}
print "served one connection\n";
exit($how eq 'failing' ? 1 : 0);
