#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# lint-memory.pl: which files a linter has found clean before, as they are now.
#
#   lint-memory.pl due FOLDER SALT            of the files named on standard input, one a line, prints those that are not remembered
#   lint-memory.pl keep FOLDER SALT BEGAN     remembers those named; but for those that were changed since BEGAN (seconds since 1970)
#
# What is remembered of a file is a digest of SALT (the linter's version and options), of its octets, and of the path and octets
# of each header of the tree that it includes. The names of the headers come from the compiler's file OBJECTS/FILE.d, where
# there is one that is newer than the file, else from DEPENDENCIES (a command; it prints a rule for make), both from the
# environment; a file that is no C includes nothing.
use strict;
use warnings;
use Digest::SHA;
use File::Basename qw(dirname);
use File::Path qw(make_path);

my ($what, $folder, $salt, $began) = @ARGV;
die "usage: lint-memory.pl due FOLDER SALT | keep FOLDER SALT BEGAN\n"
	unless defined $what && ($what eq 'due' && @ARGV == 3 || $what eq 'keep' && @ARGV == 4);
my ($objects, $dependencies) = map { $ENV{$_} // '' } qw(OBJECTS DEPENDENCIES);

my %digest; # by path; "" of what is not there
sub digest_of {
	my $path = shift;
	return $digest{$path} //= -f $path ? Digest::SHA->new(256)->addfile($path, 'b')->hexdigest : '';
}

sub digest_with {
	my ($path, @headers) = @_;
	return Digest::SHA::sha256_hex(join "\n", $salt, map { ($_, digest_of($_)) } $path, @headers);
}

# The first rule of make's text: what its target depends on, without the file itself and what is not of the tree.
sub headers_in {
	my ($rule, $path) = @_;
	$rule =~ s/\\\n/ /g;
	$rule =~ s/\n.*//s;
	$rule =~ s/^[^:]*://;
	return grep { $_ ne $path && !m{^/} } split ' ', $rule;
}

# undef: the compiler does not say.
sub headers_of {
	my $path = shift;
	return [] if $objects eq '';
	my ($rule, $noted) = ('', "$objects/" . ($path =~ s/c$/d/r));
	if (-f $noted && (stat $noted)[9] > (stat $path)[9] && open my $file, '<', $noted) {
		local $/;
		$rule = <$file>;
	} elsif ($dependencies ne '') {
		$rule = qx($dependencies '$path' 2>/dev/null);
	}
	return $rule =~ /:/ ? [headers_in($rule, $path)] : undef;
}

sub is_remembered {
	my $path = shift;
	open my $file, '<', "$folder/$path" or return 0;
	chomp(my ($digest, @headers) = <$file>);
	return defined $digest && $digest eq digest_with($path, @headers);
}

sub remember {
	my $path = shift;
	my $headers = headers_of($path) or return;
	return if grep { !-f $_ || (stat _)[9] >= $began } $path, @$headers;
	make_path(dirname("$folder/$path"));
	open my $file, '>', "$folder/$path.new" or die "lint-memory.pl: $folder/$path.new: $!\n";
	print $file join("\n", digest_with($path, @$headers), @$headers), "\n";
	close $file or die "lint-memory.pl: $folder/$path.new: $!\n";
	rename "$folder/$path.new", "$folder/$path" or die "lint-memory.pl: $folder/$path: $!\n";
}

while (my $path = <STDIN>) {
	chomp $path;
	if ($what eq 'due') { print "$path\n" unless is_remembered($path) } else { remember($path) }
}
