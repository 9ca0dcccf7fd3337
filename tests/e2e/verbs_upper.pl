#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# verbs_upper.pl PORT BEHIND: stands between warpcheck and the upper tester on port BEHIND of the loopback, for verbs-device.sh, and makes
# of it what user-space verbs are: memory belongs to a Protection Domain and never to one stream ("stream_memory": false).
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my ($port, $behind) = @ARGV;
my $json = JSON::PP->new->canonical->allow_bignum;
my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8, ReuseAddr => 1) or die "$port: $!\n";
$SIG{CHLD} = 'IGNORE';
$| = 1;
print "READY\n";

my %refused = (ok => JSON::PP::false, unsupported => JSON::PP::true, error => 'memory regions belong to a protection domain');

while (my $client = $listener->accept) {
	if (fork) { close $client; next }
	my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $behind) or die "$behind: $!\n";
	$_->autoflush(1) for $client, $server;
	while (my $line = <$client>) {
		my $command = $json->decode($line);
		if (($command->{verb} // '') eq 'reg_mr' && exists $command->{stream}) {
			print $client $json->encode({%refused, tag => $command->{tag}}), "\n";
			next;
		}
		print $server $line;
		my $answer = $json->decode(<$server> // last);
		$answer->{stream_memory} = JSON::PP::false if ($command->{verb} // '') eq 'capabilities';
		print $client $json->encode($answer), "\n";
	}
	exit 0;
}
