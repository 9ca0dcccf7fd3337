#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause
#
# tap.pl FILE: what Perl's TAP::Parser makes of a TAP document, a line for each test point: "ok|not ok", directive or -,
# description, and of its YAML block verdict, frame and message (- where there is none), parted by tabs. Exit status 1 when
# the parser complains of anything, 3 when the document bails out.
use strict;
use warnings;
use TAP::Parser;
use TAP::Parser::YAMLish::Reader;
binmode STDOUT, ':utf8';

open my $file, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
my $parser = TAP::Parser->new({ source => $file, ignore_exit => 1 });
my (@points, $bailed, @errors);
while (my $token = $parser->next) {
    if ($token->is_test) {
        (my $description = $token->description) =~ s/^- //;
        $description =~ s/\\([#\\])/$1/g; # TAP 14; the parser knows 13
        push @points, [$token->is_actual_ok ? 'ok' : 'not ok', $token->directive || '-', $description, '-', '-', '-'];
    } elsif ($token->is_yaml) {
        my $data = $token->data;
        @{ $points[-1] }[3 .. 5] = map { defined $data->{$_} ? $data->{$_} : '-' } qw(verdict frame message);
    } elsif ($token->is_bailout) {
        $bailed = $token->explanation;
    } elsif ($token->is_unknown) {
        push @errors, 'unknown line: ' . $token->as_string;
    }
}
print join("\t", @$_), "\n" for @points;
if (defined $bailed) {
    print STDERR "bailed out: $bailed\n";
    exit 3;
}
push @errors, $parser->parse_errors;
print STDERR "$_\n" for @errors;
exit(@errors ? 1 : 0);
