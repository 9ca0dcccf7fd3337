#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# public-names.pl HEADER...: what the headers declare - types, functions, variables, enumerators, macros - one "name file" a line, in order.
# Names of what they include are not among them, unless that header is named, too. With --without PREFIX: only names that do not
# begin with it, in small or in capital letters; exit status 1 if there are any.
use strict;
use warnings;
use Cwd qw(abs_path);

my $prefix = @ARGV > 1 && $ARGV[0] eq '--without' ? (splice @ARGV, 0, 2)[1] : undef;
die "usage: public-names.pl [--without PREFIX] HEADER...\n" unless @ARGV;
-f or do { print STDERR "public-names.pl: there is no file '$_'\n"; exit 2 } for @ARGV;
my %own = map { (abs_path($_) => $_) } @ARGV;
my @compiler = split ' ', $ENV{CC} // 'cc';
open my $preprocessed, '-|', @compiler, qw(-std=gnu17 -E -dD -x c -I. -Ireference-stack/include), (map { ('-include', abs_path($_)) } @ARGV), '/dev/null'
	or die "public-names.pl: $compiler[0] cannot be run\n";

my (%names, %foreign, $file, @tokens);
while (<$preprocessed>) {
	if (/^# \d+ "([^"]*)"/) { $file = -e $1 ? $own{abs_path($1)} : undef }
	elsif (/^#define (\w+)/) { $names{$1} = $file if defined $file }
	elsif (/^#undef (\w+)/) { delete $names{$1} }
	elsif (!defined $file) { $foreign{$1} = 1 while /\b(?:struct|union|enum)\s+(\w+)/g }
	elsif (!/^#/) {
		s/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/0/g;
		push @tokens, [$_, $file] for /\w+|[^\s\w]/g;
	}
}
close $preprocessed or do { print STDERR "public-names.pl: the headers cannot be preprocessed\n"; exit 2 };

# Everything in parentheses or in a body goes, but for what it declares: enumerators, tags, and the name of a pointer to a function.
sub declared {
	my ($name, $where) = @_;
	$names{$name} = $where if $name =~ /^[A-Za-z_]/ && $name !~ /^(?:void|char|int|short|long|unsigned|signed|bool|_Bool|const|static|inline|extern|struct|union|enum)$/;
}
my ($depth, @bodies, @statement, $attribute) = (0);
for my $i (0 .. $#tokens) {
	my ($token, $where) = @{ $tokens[$i] };
	if ($token eq '{') {
		my $head = join ' ', map { $_->[0] } @statement;
		push @bodies, $head =~ /\benum(?: \w+)?$/ ? 'enum' : $head =~ /\b(?:struct|union)(?: \w+)?$/ ? 'members' : 'function';
		next;
	}
	if ($token eq '}') {
		my $body = pop @bodies;
		next unless !@bodies && $body eq 'function';
		$token = ';';
	}
	declared($tokens[ $i + 1 ][0], $where) if $token =~ /^(?:struct|union|enum)$/ && $tokens[ $i + 1 ][0] =~ /^[A-Za-z_]/ && !$foreign{ $tokens[ $i + 1 ][0] };
	if (@bodies) {
		declared($token, $where) if $bodies[-1] eq 'enum' && $tokens[ $i - 1 ][0] =~ /^[{,]$/ && $token =~ /^[A-Za-z_]/;
		@statement = ([';', $where], [$token, $where]) if $bodies[-1] eq 'members' && $token =~ /^(?:struct|union|enum)$/;
		push @statement, [$token, $where] if $tokens[ $i - 1 ][0] =~ /^(?:struct|union|enum)$/;
		next;
	}
	if ($token ne ';') { push @statement, [$token, $where]; next }
	my $text = join ' ', map { $_->[0] } @statement;
	@statement = ();
	1 while $text =~ s/\b__attribute__ (\((?:[^()]++|(?1))*\))//;
	$text =~ s/\b(?:struct|union|enum) \w+//g;
	$text =~ s/\[.*?\]//g;
	if    ($text =~ /^[^(]*?(\w+) \(/ && $1 !~ /^(?:void|char|int|bool|_Bool)$/) { declared($1, $where) }
	elsif ($text =~ /\( \* (?:const )?(\w+)/) { declared($1, $where) }
	elsif ($text =~ /(\w+) *(?:=.*)?$/) { declared($1, $where) }
}

my @found = grep { !defined $prefix || !/^(?:\Q$prefix\E|\U\Q$prefix\E)/ } sort keys %names;
print "$_ $names{$_}\n" for @found;
exit(defined $prefix && @found ? 1 : 0);
