# SPDX-License-Identifier: BSD-2-Clause
#
# For programs that stand between warpcheck and an upper tester, and make of it one that can or tells less.
package UpperRelay;
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

# relay(PORT, BEHIND, REFUSE, CHANGE): passes lines between clients of PORT of the loopback and the upper tester on port BEHIND. REFUSE
# gets a command, and returns the answer to one that does not go on, or nothing. CHANGE gets a command and its answer, which it may change.
sub relay {
	my ($port, $behind, $refuse, $change) = @_;
	my $json = JSON::PP->new->canonical->allow_bignum;
	my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 8, ReuseAddr => 1) or die "$port: $!\n";
	$SIG{CHLD} = 'IGNORE';
	$| = 1;
	print "READY\n";
	while (my $client = $listener->accept) {
		if (fork) { close $client; next }
		my $server = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $behind) or die "$behind: $!\n";
		$_->autoflush(1) for $client, $server;
		while (my $line = <$client>) {
			my $command = eval { $json->decode($line) };
			$command = {} unless ref $command eq 'HASH';
			my $answer = $refuse->($command);
			if (!$answer) {
				print $server $line;
				$answer = $json->decode(<$server> // last);
				$change->($command, $answer);
			}
			$answer->{tag} = $command->{tag} if exists $command->{tag};
			print $client $json->encode($answer), "\n";
		}
		exit 0;
	}
}

1;
