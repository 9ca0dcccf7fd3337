#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# test-names.sh [TREE]: the names of unit tests are short sentences, each of at least three words, and no two tests have the same one; a name
# in docs/what-is-judged.md ("`suite` name, name") is one of that suite. Names what breaks this and exits with 1 then.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
find tests/unit -name '*.c' | LC_ALL=C sort | perl -e '
	use strict; use warnings;
	my (%place, %has, @wrong);
	while (my $file = <STDIN>) {
		chomp $file;
		my ($suite) = $file =~ m{([^/]+)[.]c$};
		$suite =~ s/^test_//;
		open(my $in, "<", $file) or die "$file: $!\n";
		while (<$in>) {
			my ($name) = /^START_TEST\(\s*(\w+)/ or next;
			my $words = () = $name =~ /[^_]+/g;
			push @wrong, "$file:$.: $name: a sentence of at least three words was expected" if $words < 3;
			push @wrong, "$file:$.: $name: so is $place{$name} called" if exists $place{$name};
			$place{$name} //= "$file:$.";
			$has{$suite}{$name} = 1;
		}
	}
	my $page = "docs/what-is-judged.md";
	if (open(my $in, "<", $page)) {
		while (<$in>) {
			while (/`(flow_\w+)` (\w+(?:, \w+)*)/g) {
				my ($suite, $names) = ($1, $2);
				push @wrong, map { "$page:$.: $suite has no test $_" } grep { !$has{$suite}{$_} } split /, /, $names;
			}
		}
	}
	print "$_\n" for @wrong;
	printf "%d wrong; %d tests\n", scalar @wrong, scalar keys %place;
	exit(@wrong > 0 || !%place);
'
