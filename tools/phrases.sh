#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# phrases.sh [--count] [TREE]: phrases of comments and documents that have to be read twice. tools/phrases.list has them, one a line: a
# regular expression, a tab, and what to write instead. A space of the expression also matches the end of a line; case does not matter.
# Looked at: comments of C, Lua, shell, perl, awk and make files, and the text of docs/, README.md and CONTRIBUTING.md outside code blocks.
# tools/names.list has words that names do without, in the same form: each part of an identifier of C and Lua is looked at.
# Each match is printed as "file:line: phrase: write ...", and the exit status is 1 then. --count prints the number of matches of each
# expression alone. Exit status 2: a line of the list has not this form.
set -euo pipefail
count=0
if [ "${1:-}" = --count ]; then
	count=1
	shift
fi
# shellcheck source=tools/folders.bash
source "$(dirname "${BASH_SOURCE[0]}")/folders.bash"
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

{
	for folder in $(room_folders) packaging tests tools; do
		[ ! -d "$folder" ] || find "$folder" -type f -regextype posix-extended -regex '.*[.](c|h|lua|sh|bash|pl|awk|mk)'
	done
	[ ! -d docs ] || find docs -type f -name '*.md'
	find . -maxdepth 1 -type f \( -name README.md -o -name CONTRIBUTING.md -o -name Makefile -o -name '*.mk' \) -printf '%P\n'
} | LC_ALL=C sort | COUNT=$count perl -e '
	use strict; use warnings;
	sub list {
		my ($list, $flags, $before, $behind) = @_;
		my @rows;
		open(my $in, "<", $list) or do { print STDERR "$list: $!\n"; exit 2 };
		while (my $line = <$in>) {
			chomp $line;
			next if $line =~ /^(#|$)/;
			my ($expression, $instead, $more) = split /\t/, $line, -1;
			my $good = defined $instead && !defined $more && $expression =~ /\S/ && $instead =~ /\S/;
			my $spaced = $expression =~ s/ /\\s+/gr;
			my $compiled = $good ? eval { qr/$flags$before(?:$spaced)$behind/ } : undef;
			if (!defined $compiled) { print STDERR "$list:$.: a regular expression, a tab and what to write were expected\n"; exit 2 }
			push @rows, { written => $expression, expression => $compiled, instead => $instead, count => 0 };
		}
		return @rows;
	}
	my @phrases = list("tools/phrases.list", "(?i)", "", "");
	my @names = list("tools/names.list", "", "(?<![a-z0-9])", "(?![a-z0-9])");
	# Each of these gives the text with the same lines, in which \x01 stands for what is no comment.
	sub blank { $_[0] =~ s/[^\n]+/\x01/gr }
	sub of_c {
		my ($text, $out) = ($_[0], "");
		while ($text =~ m{\G(?:/[*](.*?)[*]/|//([^\n]*)|("(?:[^"\\\n]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)*\x27)|([^/"\x27\n]+|.))}gs) {
			my $comment = $1 // $2;
			if (defined $comment) { $out .= $comment =~ s/\n[ \t]*[*]/\n/gr }
			else { my $code = $3 // $4; $out .= $code =~ /\S/ ? blank($code) : $code }
		}
		return $out;
	}
	sub of_lines {
		my ($text, $mark) = @_;
		my $out = "";
		for my $line (split /\n/, $text, -1) {
			my ($code, $comment) = $line =~ /^(|.*?\s)$mark(?:\s(.*)|)$/ ? ($1, $2 // "") : ($line, undef);
			my $quotes = () = $code =~ /["\x27]/g;
			($code, $comment) = ($line, undef) if $quotes % 2;
			$out .= ($code =~ /\S/ ? "\x01" : "") . ($comment // ($line =~ /\S/ ? "" : "\x01")) . "\n";
		}
		return $out;
	}
	# The code alone: what is a comment or stands in quotes is blank.
	sub code_of {
		my ($text, $lua) = @_;
		my $quoted = qr{"(?:[^"\\\n]|\\.)*"|\x27(?:[^\x27\\\n]|\\.)*\x27};
		my $comment = $lua ? qr{--[^\n]*} : qr{(?s:/[*].*?[*]/)|//[^\n]*};
		return $text =~ s/$comment|$quoted/blank($&)/gser;
	}
	sub of_page { $_[0] =~ s/^[ \t]*```.*?^[ \t]*```/blank($&)/gmesr }
	my $found = 0;
	sub search {
		my ($name, $text, @rows) = @_;
		for my $row (@rows) {
			while ($text =~ /$row->{expression}/g) {
				my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
				my $words = substr($text, $-[0], $+[0] - $-[0]) =~ s/\s+/ /gr;
				$row->{count}++;
				$found++;
				print "$name:$line: $words: write $row->{instead}\n" if !$ENV{COUNT};
			}
		}
	}
	while (my $name = <STDIN>) {
		chomp $name;
		open(my $file, "<", $name) or do { print STDERR "$name: $!\n"; exit 2 };
		my $source = do { local $/; <$file> } // "";
		my $kind = $name =~ /[.](\w+)$/ ? $1 : "";
		search($name, $kind =~ /^[ch]$/ ? of_c($source) : $kind eq "md" ? of_page($source) : of_lines($source, $kind eq "lua" ? "--" : "#+"), @phrases);
		search($name, code_of($source, $kind eq "lua"), @names) if $kind =~ /^([ch]|lua)$/;
	}
	if ($ENV{COUNT}) { print "$_->{count}\t$_->{written}\n" for @phrases, @names; exit 0 }
	printf "%d wrong; %d phrases, %d words of names\n", $found, scalar @phrases, scalar @names;
	exit($found > 0 || @phrases == 0 || @names == 0);
'
