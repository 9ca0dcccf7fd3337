#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# tables.pl [--check] PAGE.md...: renders the tables of Markdown pages from files of tab-separated values, so that each fact
# stands in one place and tests read the values, not the prose. The first line of such a file names its columns; lines that
# begin with # are comments. In a page, what stands between two comments is rendered again:
#
#   <!-- table FILE: HEAD=CELL | HEAD=CELL ... -->   a table: a row for each row of FILE
#   <!-- rows FILE: TEXT -->                         TEXT for each row, each in a paragraph of its own
#   <!-- end -->
#
# FILE is a path from the page's folder. {column} in CELL and TEXT is the row's value. FILE may be followed by conditions
# column=value; only rows that fit all of them are rendered.
#
# --check changes nothing, and names each page that is not what it would be; the exit status is 1 then. Otherwise pages
# are written where they differ. Status 2: a page, a file, a column or an end is missing.
use strict;
use warnings;
use File::Basename qw(dirname);

my $check = @ARGV && $ARGV[0] eq '--check' ? shift : 0;
@ARGV or fail("expected: tables.pl [--check] PAGE.md...");
my $differ = 0;

sub fail { print STDERR "tables.pl: $_[0]\n"; exit 2 }

sub slurp {
    my ($path) = @_;
    open(my $in, '<', $path) or fail("$path: $!");
    local $/;
    my $text = <$in>;
    close $in;
    return $text // '';
}

# The rows of a file, as references to hashes.
sub rows {
    my ($path, @conditions) = @_;
    my @lines = grep { !/^#/ && length } split /\n/, slurp($path);
    @lines or fail("$path: no line with the names of its columns");
    my @columns = split /\t/, shift @lines, -1;
    my @rows;
    for my $line (@lines) {
        my @cells = split /\t/, $line, -1;
        @cells == @columns or fail("$path: " . @cells . " cells instead of " . @columns . " in: $line");
        my %row;
        @row{@columns} = @cells;
        push @rows, \%row if !grep { my ($name, $value) = split /=/, $_, 2; exists $row{$name} or fail("$path: no column $name"); $row{$name} ne $value } @conditions;
    }
    @rows or fail("$path: no row fits " . join(' ', @conditions)) if @conditions;
    return @rows;
}

sub fill {
    my ($path, $text, $row) = @_;
    $text =~ s/\{(\w+)\}/exists $row->{$1} ? $row->{$1} : fail("$path: no column $1")/ge;
    return $text;
}

sub table {
    my ($path, $columns, @rows) = @_;
    my @columns = map { [/^\s*([^=]+)=(.*?)\s*$/] } split /\|/, $columns;
    grep({ @$_ != 2 } @columns) and fail("$path: expected HEAD=CELL | HEAD=CELL, not: $columns");
    return join '', "| " . join(' | ', map { $_->[0] } @columns) . " |\n", '|' . '---|' x @columns . "\n",
        map { my $row = $_; "| " . join(' | ', map { fill($path, $_->[1], $row) } @columns) . " |\n" } @rows;
}

for my $page (@ARGV) {
    my $old = slurp($page);
    my $text = $old;
    my $begun = () = $old =~ /^<!-- (?:table|rows) /mg;
    my $done = 0;
    $text =~ s{^(<!-- (table|rows) (\S+?)((?: [\w]+=\S+?)*): (.*?) -->\n).*?^(<!-- end -->)$}{
        my ($head, $kind, $path, $conditions, $what, $end) = ($1, $2, dirname($page) . "/$3", $4, $5, $6);
        my @rows = rows($path, split ' ', $conditions);
        $done++;
        $head . "\n" . ($kind eq 'table' ? table($path, $what, @rows) : join("\n", map { fill($path, $what, $_) . "\n" } @rows)) . "\n" . $end
    }gmse;
    $done == $begun or fail("$page: $begun tables begin, $done of them have an end");
    next if $text eq $old;
    $differ = 1;
    if ($check) {
        print "$page: its tables are not those of their files; tools/tables.pl $page renders them\n";
        next;
    }
    open(my $out, '>', $page) or fail("$page: $!");
    print $out $text and close $out or fail("$page: $!");
}
exit($check && $differ ? 1 : 0);
