#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# script-meta.pl <docs/script-library.md >checks.lua: the script library as definitions for the Lua language server, so that an editor completes
# and explains what a check can call. Of each row of the page: `name(arguments)`, ..., and what is said of it. A method's first letter says whose
# it is: t the test, c a connection, m memory of the device, target what atomics aim at, a an association, e an exchange of the CM.
use strict;
use warnings;

my %classes = (
    t => 'test', c => 'connection', m => 'memory', target => 'target', a => 'association', e => 'exchange',
    'c.tcp' => 'tcp_connection', 't.dut' => 'device'
);
my (%methods, %tables, @plain);

# "body, {before, after}" and "{fields}" are arguments: a list is one of them.
sub arguments {
    my ($text) = @_;
    my @names;
    while ($text =~ /\G\s*(?:(\{[^}]*\})|([^,{]+))\s*,?/gc) {
        my ($table, $name) = ($1, $2);
        if (defined $table) {
            push @names, ['options', $table];
        } elsif ($name =~ /\.\.\./) {
            push @names, ['...', undef];
        } elsif ($name =~ /(\w+)/) {
            push @names, [$1, undef];
        }
    }
    my (%seen, @distinct);
    push @distinct, $_->[0] eq '...' || !$seen{ $_->[0] }++ ? $_ : [$_->[0] . $seen{ $_->[0] }, $_->[1]] for @names;
    return @distinct;
}

while (<STDIN>) {
    next unless /^\| (`[^|]*`) \| (.*) \|$/;
    my ($names, $text) = ($1, $2);
    while ($names =~ /`([^`]+)`/g) {
        my ($name, $rest) = $1 =~ /^([\w.:]+)\s*(.*)$/ or next;
        my ($inside) = $rest =~ /^\((.*)\)$/;
        $inside = $rest if !defined $inside && $rest =~ /^\{/;
        my @arguments = defined $inside ? arguments($inside) : ();
        my $entry = { text => $text, arguments => \@arguments, called => $rest ne '' };
        if ($name =~ /^(.+):(\w+)$/ && $classes{$1}) {
            $methods{$1}{$2} = $entry;
        } elsif ($name =~ /^(\w+)\.(\w+)$/) {
            $tables{$1}{$2} = $entry;
        } elsif ($name =~ /^\w+$/) {
            push @plain, [$name, $entry];
        }
    }
}

sub definition {
    my ($name, $entry) = @_;
    print "---$entry->{text}\n";
    for my $argument (@{ $entry->{arguments} }) {
        my ($what, $table) = @$argument;
        print "---\@param $what ", defined $table ? "table? $table" : 'any', "\n";
    }
    print "---\@return any ...\n" if $entry->{called};
    if ($entry->{called}) {
        print "function $name(", join(', ', map { $_->[0] } @{ $entry->{arguments} }), ") end\n\n";
    } else {
        print "$name = nil\n\n";
    }
}

print "---\@meta\n\n";
for my $receiver (sort keys %classes) {
    print "---\@class warpcheck.$classes{$receiver}\n";
    print "---\@field tcp warpcheck.tcp_connection\n" if $receiver eq 'c';
    print "---\@field dut warpcheck.device the device, by its verbs\n---\@field role string of the device\n---\@field id string\n" if $receiver eq 't';
    print "local $classes{$receiver} = {}\n\n";
    definition("$classes{$receiver}:$_", $methods{$receiver}{$_}) for sort keys %{ $methods{$receiver} || {} };
}
for my $table (sort keys %tables) {
    next if $classes{$table};
    print "$table = {}\n\n";
    definition("$table.$_", $tables{$table}{$_}) for sort keys %{ $tables{$table} };
}
definition(@$_) for grep { $_->[0] ne 'check' } @plain;
print <<'LUA';
---@class warpcheck.check
---@field id string a requirement, or an id of your own
---@field purpose string what the check shows, in one sentence
---@field run fun(t: warpcheck.test)
---@field role? "initiator"|"responder" of the device
---@field requires? string|string[] capabilities of the device
---@field llp? "tcp"|"sctp"|"any"
---@field sandwich? boolean
---@field judges? table
---@field lasts? number
---@field rules? table

---Declares one check.
---@param check warpcheck.check
function check(check) end
LUA
