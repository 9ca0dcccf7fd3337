#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# queue.pl EXPECTED MEASURED: runs the parts that stand on its standard input, as many at once as the processors have room for,
# the longest first, and measures them.
#
#   a part, one a line, fields separated by tabs: NAME, ALONE, COMMAND. COMMAND is given to bash. ALONE is "-", or the name
#       of something that only one part at a time may use, or "all": then nothing runs beside it
#   EXPECTED (tests/times.tsv): NAME, seconds by the clock, seconds of processors: what the parts took before. A part that
#       is not in it is expected to last 20 seconds. Order and room follow from it and nothing else, so a wrong number costs
#       time and no more
#   MEASURED: NAME, exit status, begin and end in seconds since the queue began, seconds of processors; one line for each
#       part as it ends
#   standard output: NAME, exit status, seconds by the clock; one line for each part as it ends
#
# A part that mostly waits leaves room for others in proportion. JOBS in the environment is the number of processors (all);
# each part finds in JOBS how many processes it should compute with. SIGINT and SIGTERM end all parts.
use strict;
use warnings;
use POSIX qw(:sys_wait_h setpgid _exit);
use Time::HiRes qw(time);

my ($expected_file, $measured_file) = @ARGV;
sub fail { print STDERR "queue.pl: @_\n"; exit 2 }
fail("usage: queue.pl EXPECTED MEASURED <PARTS") unless @ARGV == 2;

# A part needs some of a processor even if it waits, and what it needs at times is more than on average.
my ($LEAST_LOAD, $SLACK, $UNKNOWN_SECONDS) = (0.1, 0.25, 20);

my $processors = $ENV{JOBS} || qx(nproc) + 0 || 1;
my %expected;
open my $file, '<', $expected_file or fail("$expected_file: $!");
while (<$file>) {
	next if /^#/ || !/\S/;
	my ($name, $wall, $cpu) = split /[\t\n]/;
	fail("$expected_file: line $.: NAME, SECONDS and SECONDS were expected")
		unless defined $cpu && $wall =~ /^\d+(\.\d+)?$/ && $cpu =~ /^\d+(\.\d+)?$/;
	$expected{$name} = [$wall, $cpu];
}
close $file;

my @waiting;
while (<STDIN>) {
	chomp;
	my ($name, $alone, $command) = split /\t/, $_, 3;
	fail("line $.: NAME, ALONE and COMMAND were expected") unless defined $command;
	my ($wall, $cpu) = @{$expected{$name} || [$UNKNOWN_SECONDS, $UNKNOWN_SECONDS]};
	my $load = $wall > 0 ? $cpu / $wall : 1;
	$load = $load < $LEAST_LOAD ? $LEAST_LOAD : $load > 1 ? 1 : $load;
	push @waiting, {name => $name, alone => $alone, command => $command, wall => $wall, load => $load};
}
@waiting = sort { $b->{wall} <=> $a->{wall} || $a->{name} cmp $b->{name} } @waiting;

open my $measured, '>', $measured_file or fail("$measured_file: $!");
$measured->autoflush(1);
STDOUT->autoflush(1);
my $share = int($processors / 2) || 1;
my ($begin, $load) = (time, 0);
my %running; # by process

# A wait for children goes on after a signal: what makes them end stands in the handler.
my $stopped;
sub end_all { kill 'TERM', map { -$_ } keys %running }
$SIG{INT} = $SIG{TERM} = sub { $stopped = shift; end_all() };

# May it run beside what runs?
sub fits {
	my $part = shift;
	return 1 unless %running;
	return 0 if $part->{alone} eq 'all' || grep { $_->{alone} eq 'all' } values %running;
	return 0 if $part->{alone} ne '-' && grep { $_->{alone} eq $part->{alone} } values %running;
	return $load + $part->{load} <= $processors + $SLACK;
}

sub start {
	my $part = shift;
	$part->{began} = time;
	my $pid = fork;
	fail("fork: $!") unless defined $pid;
	if ($pid == 0) {
		# A group of its own, so that all of it can be ended.
		setpgid(0, 0);
		$SIG{INT} = $SIG{TERM} = 'DEFAULT';
		$ENV{JOBS} = $share;
		open STDIN, '<', '/dev/null';
		exec 'bash', '-c', $part->{command} or _exit(127);
	}
	setpgid($pid, $pid); # whoever comes first
	$load += $part->{load};
	$running{$pid} = $part;
}

# What ended children have used, and their own ended children.
sub used { my (undef, undef, $user, $system) = times; return $user + $system }

sub await {
	my $before = used;
	my $pid = waitpid -1, 0;
	return if $pid <= 0 || !$running{$pid};
	kill 'KILL', -$pid; # what a part has left: it would compute beside all that come
	my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
	my ($part, $now, $cpu) = (delete $running{$pid}, time, used() - $before);
	$load -= $part->{load};
	printf $measured "%s\t%d\t%.2f\t%.2f\t%.2f\n", $part->{name}, $status, $part->{began} - $begin, $now - $begin, $cpu;
	printf "%s\t%d\t%.0f\n", $part->{name}, $status, $now - $part->{began};
}

while (!$stopped && (@waiting || %running)) {
	for (my $i = 0; $i < @waiting;) {
		if (fits($waiting[$i])) { start(splice @waiting, $i, 1) } else { $i++ }
		last if $stopped;
	}
	await() if %running && !$stopped;
}
if ($stopped) {
	end_all();
	while (%running) { await() }
	exit 1;
}
