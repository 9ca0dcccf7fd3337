#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# check-times.pl MEASURED TIMES [BUILD]: makes the file TIMES of what queue.pl measured, and prints the slowest parts and the critical
# path on two processors. BUILD is a line of the same form for what was built before the queue began.
#
#   TIMES: NAME, seconds by the clock, seconds of processors, begin, end, and what ran beside it ("NAME SECONDS, ..."), the
#       longest by the clock first
#
# check-times.pl --expect TIMES EXPECTED: brings the file EXPECTED (tests/times.tsv) up to date. Parts that have not run keep their line.
use strict;
use warnings;

my ($SHOWN, $BESIDE_SHOWN, $PROCESSORS) = (25, 3, 2);

sub rows_of {
	my ($name, @rows) = @_;
	open my $file, '<', $name or die "check-times.pl: $name: $!\n";
	while (<$file>) {
		chomp;
		push @rows, [split /\t/] unless /^#/;
	}
	return @rows;
}

if (@ARGV == 3 && $ARGV[0] eq '--expect') {
	my (undef, $times, $expected) = @ARGV;
	open my $old, '<', $expected or die "check-times.pl: $expected: $!\n";
	my @head = grep { /^#/ } <$old>;
	my %rows = map { ($_->[0] => [@$_[1, 2]]) } rows_of($expected), grep { $_->[0] ne 'build' } rows_of($times);
	open my $new, '>', $expected or die "check-times.pl: $expected: $!\n";
	print $new @head;
	printf $new "%s\t%.1f\t%.1f\n", $_, @{$rows{$_}} for sort { $rows{$b}[0] <=> $rows{$a}[0] || $a cmp $b } keys %rows;
	exit(close($new) ? 0 : 1);
}
die "usage: check-times.pl MEASURED TIMES [BUILD] | --expect TIMES EXPECTED\n" unless @ARGV >= 2;

my ($measured, $times, $build) = @ARGV;
my @parts = map { {name => $_->[0], began => $_->[2], ended => $_->[3], cpu => $_->[4], wall => $_->[3] - $_->[2]} } rows_of($measured);
my ($built) = map { {name => 'build', wall => $_->[3] - $_->[2], cpu => $_->[4], began => 0, ended => 0, beside => ''} }
	$build ? rows_of($build) : ();

# What ran at the same time, and how long.
for my $part (@parts) {
	my %seconds;
	for my $other (@parts) {
		my $from = $part->{began} > $other->{began} ? $part->{began} : $other->{began};
		my $to = $part->{ended} < $other->{ended} ? $part->{ended} : $other->{ended};
		$seconds{$other->{name}} = $to - $from if $other != $part && $to - $from >= 0.5;
	}
	my @names = sort { $seconds{$b} <=> $seconds{$a} || $a cmp $b } keys %seconds;
	$part->{beside} = join ', ', map { sprintf '%s %.0f', $_, $seconds{$_} } @names;
	$part->{shown} = join ', ', map { sprintf '%s %.0f', $_, $seconds{$_} } @names[0 .. (@names < $BESIDE_SHOWN ? $#names : $BESIDE_SHOWN - 1)];
	$part->{shown} .= sprintf ' and %d more', @names - $BESIDE_SHOWN if @names > $BESIDE_SHOWN;
}

my @slowest = sort { $b->{wall} <=> $a->{wall} || $a->{name} cmp $b->{name} } @parts, $built ? $built : ();
open my $file, '>', $times or die "check-times.pl: $times: $!\n";
print $file "# part\tseconds\tprocessors\tbegan\tended\tbeside\n";
printf $file "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%s\n", @$_{qw(name wall cpu began ended beside)} for @slowest;
close $file or die "check-times.pl: $times: $!\n";

my $longest = 0;
for (@slowest) { $longest = length $_->{name} if length $_->{name} > $longest }
printf "\n%-${longest}s  %8s  %8s  %s\n", 'the slowest parts', 'clock, s', 'cpu, s', 'beside, s';
for my $part (@slowest[0 .. ($SHOWN < @slowest ? $SHOWN : @slowest) - 1]) {
	printf "%-${longest}s  %8.1f  %8.1f  %s\n", $part->{name}, $part->{wall}, $part->{cpu}, $part->{shown} // '';
}

# The queue once more, on two processors, with the times that were measured: which part waited for which.
my ($clock, $load, @running, $last) = (0, 0);
my @waiting = grep { $_ != ($built // 0) } @slowest;
my $cause; # what ended and made room
while (@waiting || @running) {
	for (my $i = 0; $i < @waiting;) {
		my $need = $waiting[$i]{wall} > 0 ? $waiting[$i]{cpu} / $waiting[$i]{wall} : 1;
		$need = $need > 1 ? 1 : $need < 0.1 ? 0.1 : $need;
		if (@running && $load + $need > $PROCESSORS + 0.25) { $i++; next }
		my $part = splice @waiting, $i, 1;
		@$part{qw(load ends after)} = ($need, $clock + $part->{wall}, $cause);
		$load += $need;
		push @running, $part;
	}
	@running = sort { $a->{ends} <=> $b->{ends} } @running;
	$cause = $last = shift @running;
	($clock, $load) = ($last->{ends}, $load - $last->{load});
}
my @path;
for (my $part = $last; $part; $part = $part->{after}) { unshift @path, $part }
unshift @path, $built if $built;
my ($all, $computed) = (0, 0);
$all += $_->{wall} for @path;
$computed += $_->{cpu} for @slowest;
printf "\nthe critical path on two processors, %.0f s: %s\n", $all, join ', ', map { sprintf '%s %.0f', $_->{name}, $_->{wall} } @path;
printf "processors computed %.0f s, so that two cannot take less than %.0f s\n\n", $computed, $computed / $PROCESSORS;
