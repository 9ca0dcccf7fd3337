#!/usr/bin/env perl
# SPDX-License-Identifier: BSD-2-Clause
#
# mutation.pl [-n COUNT] [-s SEED] [-j N] [-o FOLDER] [-k TABLE] [-w TEXT] [-l | -t] [ROOM|FILE...]: puts one fault at a time into a source
# file, and asks the tests whether they see it. `make mutation` builds what it needs and calls it; B is the build folder.
#
# A fault (a mutant) is one changed token: a comparison, && or ||, an arithmetic or bit operator, a number, true or false, a condition
# turned over, a statement left out. It is compiled by itself, and linked in front of the libraries, whose own object then stays out.
# A check is a file of conformance/scripts; it is read as it is.
#
# tests/mutation/rooms.tsv has the rooms and what tries each: its unit tests, the captures of pcaps/, `run --simulate`, `prove`. The first
# that ends otherwise than without the fault has killed it; what killed others of that file is asked first. A program that crashes, or
# does not end within several times its usual seconds of processor, is killed as well.
#
# tests/mutation/survivors.tsv (TABLE) has a sentence for each survivor. One without a sentence, or one that a test was written for, makes
# the exit status 1. FOLDER (B/mutation) then has mutation.md, the page, and mutants.tsv, a line for each.
#
# -n COUNT (20) of each room, or of all named files together; 0: all. Which ones depends on SEED (1) and on the changed line alone, so
# that a change elsewhere changes no sample. -w TEXT: only mutants of lines that have TEXT. -j N at once (as many as there are processors).
# -l lists them and does no more. -t looks through the two tables instead: each row has to name what there is.
use strict;
use warnings;
use Cwd qw(abs_path);
use Digest::MD5 qw(md5_hex);
use File::Basename qw(dirname basename);
use File::Path qw(make_path);
use Getopt::Std;
use POSIX qw(_exit);

chdir dirname(abs_path($0)) . '/..' or die;
sub fail { print STDERR "mutation.pl: @_\n"; exit 2 }
my %option;
getopts('n:s:j:o:k:w:lt', \%option) or
	fail('[-n COUNT] [-s SEED] [-j N] [-o FOLDER] [-k TABLE] [-w TEXT] [-l | -t] [ROOM|FILE...] were expected');
my ($count, $seed) = ($option{n} // 20, $option{s} // 1);
my $build = $ENV{B} || 'build';
my $folder = $option{o} || "$build/mutation";
my $table = $option{k} || 'tests/mutation/survivors.tsv';
my $jobs = $option{j} || qx(nproc) + 0 || 1;
fail('-n, -s and -j take numbers') if grep { !/^\d+$/ } $count, $seed, $jobs;

# A test gets several times its seconds of processor, and waits at most so long by the clock.
my ($TIMES, $SECONDS_MORE, $WALL_SECONDS) = (5, 3, 300);
# `prove` meets so many defects at most: others would not fit into these seconds, and rarely see more.
my $DEFECTS_MOST = 16;
my %command; # what a mutant is compiled and linked with, by name
my %word_of_kind = (equivalent => 1, permitted => 1, tested => 1, open => 1);

# ---- the tables -----------------------------------------------------------------------------------------------------------

sub rows { # FILE, COLUMNS: rows of fields separated by tabs
	my ($path, $columns) = @_;
	my @rows;
	open my $file, '<', $path or fail("$path: $!");
	while (<$file>) {
		chomp;
		next if /^#/ || !/\S/;
		my @fields = split /\t/, $_, -1;
		@fields == $columns or fail("$path:$.: $columns fields, separated by tabs, were expected");
		push @rows, [@fields, $.];
	}
	return @rows;
}

my (@rooms, %room_of_file);
for my $row (rows('tests/mutation/rooms.tsv', 7)) {
	my ($name, $aim, $files, $suites, $captures, $run, $prove) = @$row;
	my $words = sub { $_[0] eq '-' ? undef : [split ' ', $_[0]] };
	my $room = {name => $name, aim => $aim, files => [], suites => $words->($suites) || [], captures => $captures eq 'captures',
		run => $words->($run), prove => $words->($prove)};
	for my $path (sort map { glob } split ' ', $files) {
		next if $room_of_file{$path};
		$room_of_file{$path} = $room;
		push @{$room->{files}}, $path;
	}
	@{$room->{files}} or fail("tests/mutation/rooms.tsv: $name: no file is $files");
	push @rooms, $room;
}

my %sentence; # by file, line and changed line
for my $row (rows($table, 5)) {
	my ($path, $before, $after, $kind, $text, $line) = @$row;
	$word_of_kind{$kind} && $text =~ /^\S.{14,}\.$/ or
		fail("$table:$line: equivalent, permitted, tested or open, and a sentence were expected");
	$sentence{"$path\t$before\t$after"} = {kind => $kind, text => $text};
}

# ---- the mutants ----------------------------------------------------------------------------------------------------------

my %swap;
@swap{qw(<= < >= > == != && || += -= ++ -- << >> + - & |)} = qw(< <= > >= != == || && -= += -- ++ >> << - + | &);
my %swap_lua;
@swap_lua{qw(<= < >= > == ~= + - & | << >> and or true false)} = qw(< <= > >= ~= == - + | & >> << or and false true);

# The line with spaces in place of comments and of what stands in quotes.
sub masked {
	my ($line, $lua) = @_;
	$line =~ s/("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')/'"' x length $1/ge;
	my $comment = $lua ? qr/--.*/ : qr{/[*/].*};
	$line =~ s/($comment)/' ' x length $1/e;
	return $line;
}

sub c_faults { # LINE: [column from 0, octets, replacement]...
	my ($line) = @_;
	my @faults;
	if ($line =~ /^( *if )(\(.*\))\s*(\{\s*)?$/) { push @faults, [length $1, length $2, "(!$2)"] }
	if ($line =~ /^( +)[a-z_>.*-]+(\[[^\]]*\])?( [-+|&]?= |\(|\+\+|--).*;\s*$/ && $line !~ /^ +(return|static|const)\b/) {
		my $at = length $1;
		push @faults, [$at, length($line =~ s/\s+$//r) - $at, ';'];
	}
	my $declares = $line =~ /^\s+[\w\s*]+\b\w+\[\w+\];/;
	my $operator = qr/<=|>=|==|!=|&&|\|\||\+=|-=|\+\+|--|<<|>>/;
	while ($line =~ /\G(?:(0x[0-9A-Fa-f]+|\d+)\b|([A-Za-z_]\w*)|(->)|($operator)|(?<= )([-+&|<>])(?= )|(.))/gs) {
		my ($number, $name, $token) = ($1, $2, $4 // $5);
		my $at = $-[0];
		push @faults, [$at, length $number, "($number + 1)"] if defined $number && !$declares;
		push @faults, [$at, length $name, $name eq 'true' ? 'false' : 'true'] if defined $name && $name =~ /^(true|false)$/;
		push @faults, [$at, length $token, $swap{$token}] if defined $token && $swap{$token};
	}
	return @faults;
}

sub lua_faults {
	my ($line) = @_;
	my @faults;
	if ($line =~ /^(\s*(?:else)?if )(.*)( then\s*)$/) { push @faults, [length $1, length $2, "not ($2)"] }
	if ($line =~ /^(\s+)[\w.:]+\(.*\)\s*$/ && ($line =~ tr/(/(/) == ($line =~ tr/)/)/)) {
		my $at = length $1;
		push @faults, [$at, length($line =~ s/\s+$//r) - $at, 'do end'];
	}
	while ($line =~ /\G(?:(0x[0-9A-Fa-f]+|\d+)\b|([A-Za-z_]\w*)|(<=|>=|==|~=|<<|>>)|(?<= )([-+&|<>])(?= )|(.))/gs) {
		my ($number, $name, $token) = ($1, $2, $3 // $4);
		my $at = $-[0];
		push @faults, [$at, length $number, "($number + 1)"] if defined $number;
		push @faults, [$at, length $name, $swap_lua{$name}] if defined $name && $name =~ /^(and|or|true|false)$/;
		push @faults, [$at, length $token, $swap_lua{$token}] if defined $token && $swap_lua{$token};
	}
	return @faults;
}

my %text_of; # a file's lines
sub mutants { # FILE: each of its mutants
	my ($path) = @_;
	my $lua = $path =~ /\.lua$/;
	open my $file, '<', $path or fail("$path: $!");
	my @lines = <$file>;
	$text_of{$path} = \@lines;
	my (@mutants, %times, $in_comment);
	for my $n (0 .. $#lines) {
		my $line = $lines[$n] =~ s/\n$//r;
		$in_comment = 1 if $line =~ m{^\s*/\*};
		my $skip = $in_comment || $line =~ /^\s*(\*|#)/ || (!$lua && $line =~ /^\S/) || ($lua && $line =~ /^\s*(check|defaults)\b/);
		$in_comment = 0 if $line =~ m{\*/};
		next if $skip;
		my $masked = masked($line, $lua);
		for my $fault ($lua ? lua_faults($masked) : c_faults($masked)) {
			my ($at, $length, $new) = @$fault;
			# A condition turned over keeps what was masked in it.
			my $old = substr $line, $at, $length;
			$new = $new =~ /^\(!/ ? "(!$old)" : $new =~ /^not \(/ ? "not ($old)" : $new;
			my $after = $line;
			substr($after, $at, $length) = $new;
			my $key = join "\t", $path, map { s/^\s+//r } $line, $after;
			my $rank = md5_hex("$seed\t$key\t" . $times{$key}++);
			push @mutants, {path => $path, line => $n, before => $line, after => $after, key => $key, rank => $rank};
		}
	}
	return @mutants;
}

sub chosen { # of these files
	my @all = sort { $a->{rank} cmp $b->{rank} } map { mutants($_) } @_;
	@all = grep { index($_->{before}, $option{w}) >= 0 } @all if defined $option{w};
	return $count && @all > $count ? @all[0 .. $count - 1] : @all;
}

# ---- what tries them ------------------------------------------------------------------------------------------------------

# A shell's arguments: seconds by the clock as $0, a file, seconds of processor, and the command.
my $LIMITED = 'ulimit -c 0; ulimit -t "$2"; shift 2; exec timeout -s KILL "$0" "$@"';

# Runs a command with limits, its output into LOG: how it ended, as a shell says it.
sub bounded {
	my ($seconds, $log, @command) = @_;
	my $status = system 'bash', '-c', 'exec >"$1" 2>&1 </dev/null; ' . $LIMITED, $WALL_SECONDS, $log, $seconds, @command;
	return $status & 127 ? 128 + ($status & 127) : $status >> 8;
}

my %limit; # seconds of processor of each test
sub limit { return int(($limit{$_[0]} // 60) * $TIMES) + $SECONDS_MORE }

sub word_of { # STATUS, LOG, what is said of a test that failed
	my ($status, $failed) = @_;
	return 'hung' if $status == 137 || $status == 152 || $status == 124;
	return 'crashed' if $status > 128;
	return "killed\t$failed";
}

# Each test of a room is a name, and a function of the mutant's place (a folder with its programs): '' or what killed it.
sub suite_test {
	my ($suite) = @_;
	return ["unit $suite", sub {
		my ($place) = @_;
		my $program = program($place, 'unit');
		my $status = bounded(limit("unit $suite"), "$place/log", $program, $suite);
		return '' if $status == 0;
		open my $log, '<', "$place/log" or return 'crashed';
		my ($first) = map { /^[^:]*:\d+:[FE]:[^:]*:([^:]*):/ ? $1 : () } <$log>;
		return word_of($status, "unit $suite" . (defined $first ? " $first" : ''));
	}];
}

# What audit says of the captures, without what the clock has put in.
sub findings {
	my ($place, $out) = @_;
	my $status = bounded(limit('captures'), "$place/audit", program($place, 'main'), qw(audit --format jsonl pcaps));
	open my $in, '<', "$place/audit" or return $status;
	open my $kept, '>', $out or fail("$out: $!");
	while (my $line = <$in>) {
		print $kept $line =~ s/,"(ended|chain)":("[^"]*"|\{[^}]*\})//gr unless $line =~ /^\{"type":"run"/;
	}
	return $status;
}

sub captures_test {
	return ['captures', sub {
		my ($place) = @_;
		my $status = findings($place, "$place/findings");
		return word_of($status, '') if $status > 123;
		return system('cmp', '-s', "$place/findings", "$folder/findings") ? "killed\tcaptures" : '';
	}];
}

# `run --simulate` is left at the first id that fails.
sub run_test {
	my ($options, $ids) = @_;
	return ['run', sub {
		my ($place, $mutant) = @_;
		my @scripts = $place && -d "$place/scripts" ? ('--script', "$place/scripts") : ();
		my @ids = $ids && $mutant ? ids_of($mutant->{path}) : ();
		my $pid = open my $out, '-|', 'bash', '-c', 'exec 2>"$1" </dev/null; ' . $LIMITED, $WALL_SECONDS, "$place/log", limit('run'),
			program($place, 'main'), qw(run --simulate -j 1 --format jsonl), @$options, @scripts, @ids;
		my $id;
		while (my $line = <$out>) {
			next unless $line =~ /"verdict":"(FAIL|WARN)"/ && $line =~ /"id":"([^"]+)"/;
			$id = $1;
			kill 'TERM', $pid;
			last;
		}
		close $out;
		return "killed\trun $id" if defined $id;
		my $status = $? & 127 ? 128 + ($? & 127) : $? >> 8;
		return $status == 0 || $status == 3 ? '' : word_of($status, "run: exit status $status");
	}];
}

# The requirements that a file names, and the defects that name these.
my (%ids_of, %known_id);
for my $path (glob 'conformance/requirements/*.tsv') {
	open my $file, '<', $path or fail("$path: $!");
	while (<$file>) { $known_id{$1} = 1 if /^([A-Z][A-Z0-9]+-\S+)\t/ }
}
sub ids_of {
	my ($path) = @_;
	my %seen;
	$ids_of{$path} ||= [grep { $known_id{$_} && !$seen{$_}++ } join('', @{$text_of{$path}}) =~ /\b([A-Z][A-Z0-9]+-[A-Za-z0-9.-]*\w)/g];
	return @{$ids_of{$path}};
}

my @defects; # [id, requirements]
for my $table (qw(defects defects-cm)) {
	open my $file, '<', "reference-stack/defects/$table.tsv" or fail("$table.tsv: $!");
	while (<$file>) { push @defects, [$1, $2] if /^([a-z0-9-]+)\t([^\t]+)\t/ }
}

sub prove_test {
	my ($llp, @patterns) = @_;
	return ['prove', sub {
		my ($place, $mutant) = @_;
		my @ids = map { $_ eq 'named' ? ids_of($mutant->{path}) : $_ } @patterns;
		my $any = join '|', map { quotemeta =~ s/\\\*/.*/gr } @ids or return '';
		my @names = map { $_->[0] } grep { grep { /^(?:$any)$/ } split /,/, $_->[1] } @defects;
		@names or return '';
		@names = (sort { md5_hex("$seed\t$a") cmp md5_hex("$seed\t$b") } @names)[0 .. $DEFECTS_MOST - 1] if @names > $DEFECTS_MOST;
		my @scripts = -d "$place/scripts" ? ('--scripts', "$place/scripts") : ();
		my @llp = $llp eq 'cm' ? () : ('--llp', $llp);
		my $status = bounded(limit('prove'), "$place/log", program($place, 'main'), qw(prove -j 1), @llp, @scripts, @names);
		return $status == 0 || $status == 3 ? '' : word_of($status, "prove");
	}];
}

sub tests_of {
	my ($room) = @_;
	return $room->{tests} ||= [(map { suite_test($_) } @{$room->{suites}}), $room->{captures} ? captures_test() : (),
		$room->{run} ? run_test($room->{run}, $room->{name} =~ /^scripts/) : (), $room->{prove} ? prove_test(@{$room->{prove}}) : ()];
}

# ---- one mutant -----------------------------------------------------------------------------------------------------------

# The program of a place: linked when it is asked for first. A place without an object has that of the build.
sub program {
	my ($place, $kind) = @_;
	my $program = $kind eq 'unit' ? 'unit-tests' : 'warpcheck';
	return "$build/$program" unless -e "$place/mutant.o";
	return "$place/$program" if -e "$place/$program";
	my $rest = $kind eq 'unit' ? $command{LINK_UNIT} : $command{LINK_MAIN};
	# One object in front of the archives: theirs with the same names is not taken.
	my ($own, $libraries) = split / -- /, $rest, 2;
	system('bash', '-c', "$command{LINK} -o '$place/$program' $own '$place/mutant.o' $libraries >'$place/link' 2>&1") == 0 or
		fail("$place/$program does not link: " . join ' ', qx(head -n 3 '$place/link'));
	return "$place/$program";
}

sub compile { # whether it compiles; the file of the same mutant always has the same name, so that ccache knows it
	my ($place, $mutant) = @_;
	my @lines = @{$text_of{$mutant->{path}}};
	$lines[$mutant->{line}] = "$mutant->{after}\n";
	if ($mutant->{path} =~ /\.lua$/) {
		system('rm', '-rf', "$place/scripts") == 0 && system('cp', '-r', 'conformance/scripts', "$place/scripts") == 0 or return 0;
		my $copy = $mutant->{path} =~ s{^conformance/}{$place/}r;
		open my $file, '>', $copy or fail("$copy: $!");
		print $file @lines;
		close $file;
		return system("'$build/tools/lua-syntax' '$copy' >'$place/compiler' 2>&1") == 0;
	}
	my $source = "$folder/work/" . md5_hex($mutant->{path} . join '', @lines) . '.c';
	open my $file, '>', $source or fail("$source: $!");
	print $file @lines;
	close $file;
	my $compiled = system('bash', '-c', "ulimit -t 60; $command{COMPILE} -c -o '$place/mutant.o' '$source' >'$place/compiler' 2>&1") == 0;
	unlink $source;
	return $compiled;
}

# What becomes of one: a word, and what killed it.
sub judge {
	my ($place, $mutant, $room, $favourites) = @_;
	system('rm', '-rf', $place);
	make_path($place);
	return 'not compiled' unless compile($place, $mutant);
	my @tests = @{tests_of($room)};
	my @first = sort { $favourites->{$b->[0]} <=> $favourites->{$a->[0]} } grep { $favourites->{$_->[0]} } @tests;
	for my $test (@first, grep { !$favourites->{$_->[0]} } @tests) {
		my $end = $test->[1]->($place, $mutant) or next;
		return $end =~ /\t/ ? $end : "$end\t$test->[0]";
	}
	return 'survived';
}

# ---- the whole ------------------------------------------------------------------------------------------------------------

# Without a fault nothing may be killed, and this is how long each test takes.
sub measure {
	my ($room) = @_;
	my $place = "$folder/work/none";
	make_path($place);
	for my $test (@{tests_of($room)}) {
		next if $test->[0] =~ /^(run|prove)$/ || defined $limit{$test->[0]};
		findings($place, "$folder/findings") if $test->[0] eq 'captures';
		my @before = times;
		my $end = $test->[1]->($place, undef);
		my @after = times;
		$end and fail("without a fault, $room->{name}: $end");
		$limit{$test->[0]} = $after[2] + $after[3] - $before[2] - $before[3];
	}
}

sub texts { return map { s/^\s+//r } $_[0]{before}, $_[0]{after} } # its line, as it is and as it was changed

sub state_of { # of a survivor
	my ($mutant) = @_;
	return $sentence{$mutant->{key}} || {kind => 'new', text => 'It has no sentence yet.'};
}

my (@done, %favourites);
sub ended {
	my ($mutant, $line) = @_;
	($mutant->{word}, $mutant->{by}) = (split(/\t/, $line), '');
	push @done, $mutant;
	$favourites{$mutant->{path}}{$1}++ if $mutant->{by} =~ /^(unit \S+|captures|run|prove)/;
	my $said = $mutant->{word};
	$said .= $said eq 'survived' ? ' (' . state_of($mutant)->{kind} . ')' : $mutant->{by} ne '' ? " $mutant->{by}" : '';
	printf "%-50s %s:%d: %s -> %s\n", $said, $mutant->{path}, $mutant->{line} + 1, texts($mutant);
}

sub try_all {
	my @waiting = @_;
	my %running; # mutant and slot by process
	my @free = map { "$folder/work/$_" } 1 .. $jobs;
	while (@waiting || %running) {
		while (@waiting && @free) {
			my ($mutant, $place) = (shift @waiting, shift @free);
			my $pid = fork // fail("fork: $!");
			if ($pid == 0) {
				my $line = judge($place, $mutant, $mutant->{room}, $favourites{$mutant->{path}} || {});
				open my $result, '>', "$place/result" or _exit(2);
				print $result $line;
				close $result;
				_exit(0);
			}
			$running{$pid} = [$mutant, $place];
		}
		my $pid = waitpid -1, 0;
		my ($mutant, $place) = @{delete $running{$pid} || next};
		$? == 0 && open my $result, '<', "$place/result" or fail("$mutant->{path}: a process of its own ended");
		ended($mutant, scalar <$result>);
		push @free, $place;
	}
}

sub escaped { return $_[0] =~ s/\|/\\|/gr =~ s/`/'/gr }

# The page: counts of each room beside its aim, and each survivor with its sentence.
sub page {
	open my $out, '>', "$folder/mutation.md" or fail("$folder/mutation.md: $!");
	print $out "# Mutants\n\nSeed $seed. The aim is for those that are neither equivalent nor permitted.\n\n";
	my @columns = ('room', 'mutants', 'not compiled', 'by unit tests', 'by captures', 'by run or prove', 'crashed or hung',
		'equivalent or permitted', 'others that survived', 'killed, of 100', 'aim');
	print $out '| ', join(' | ', @columns), " |\n", '|---' x @columns, "|\n";
	my @counts;
	for my $room (@rooms) {
		my @of = grep { $_->{room}{name} eq $room->{name} } @done;
		next unless @of;
		my $with = sub { my ($test) = @_; scalar grep { $test->() } @of };
		my $excused = $with->(sub { $_->{word} eq 'survived' && state_of($_)->{kind} =~ /^(equivalent|permitted)$/ });
		my $lost = $with->(sub { $_->{word} eq 'survived' }) - $excused;
		my $broken = $with->(sub { $_->{word} eq 'not compiled' });
		my $due = @of - $broken - $excused;
		my $killed = $due ? sprintf '%.1f', 100 * ($due - $lost) / $due : '-';
		my $by = sub { my ($test) = @_; $with->(sub { $_->{word} eq 'killed' && $_->{by} =~ $test }) };
		my @row = ($room->{name}, scalar @of, $broken, $by->(qr/^unit/), $by->(qr/^captures/), $by->(qr/^(run|prove)/),
			$with->(sub { $_->{word} =~ /^(crashed|hung)$/ }), $excused, $lost, $killed, $room->{aim});
		print $out '| ', join(' | ', @row), " |\n";
		push @counts, "$room->{name} $killed of 100 (aim $room->{aim}, " . scalar(@of) . ' mutants)';
	}
	print $out "\n## Survivors\n\n| where | line | changed | what it is |\n|---|---|---|---|\n";
	for my $mutant (grep { $_->{word} eq 'survived' } sort { $a->{key} cmp $b->{key} } @done) {
		my $state = state_of($mutant);
		printf $out "| %s:%d | `%s` | `%s` | %s: %s |\n", $mutant->{path}, $mutant->{line} + 1, (map { escaped($_) } texts($mutant)),
			$state->{kind}, escaped($state->{text});
	}
	open my $lines, '>', "$folder/mutants.tsv" or fail("$folder/mutants.tsv: $!");
	print $lines join("\t", $_->{word}, $_->{by}, $_->{key}), "\n" for sort { $a->{key} cmp $b->{key} } @done;
	return @counts;
}

# Each row of the table has to be a mutant that there is.
if ($option{t}) {
	my %known = map { $_->{key} => 1 } map { mutants($_) } grep { -e } sort keys %room_of_file;
	my @gone = grep { !$known{$_} } sort keys %sentence;
	print "$table: no such mutant: $_\n" for @gone;
	for my $suite (map { @{$_->{suites}} } @rooms) {
		my @tests = glob "tests/unit/*/test_$suite.c";
		@tests == 1 or push(@gone, $suite), print "tests/mutation/rooms.tsv: no suite is called $suite\n";
	}
	print scalar(@gone), " wrong\n";
	exit(@gone ? 1 : 0);
}

my @todo;
my @files = grep { -f } @ARGV;
my %wanted = map { $_ => 1 } grep { !-f } @ARGV;
my %is_room = map { $_->{name} => 1 } @rooms;
for my $name (sort keys %wanted) {
	$is_room{$name} or fail("'$name' is neither a file nor a room; the rooms are: " . join ' ', sort keys %is_room);
}
for my $path (@files) { $room_of_file{$path} or fail("$path belongs to no room of tests/mutation/rooms.tsv") }
if (@files) { push @todo, chosen(@files) }
for my $room (@rooms) { push @todo, chosen(@{$room->{files}}) if $wanted{$room->{name}} || !@ARGV }
$_->{room} = $room_of_file{$_->{path}} for @todo;
if ($option{l}) {
	print $_->{key}, "\n" for @todo;
	exit 0;
}
-e "$build/$_" or fail("$build/$_ is not there: make mutation builds it") for qw(mutation.commands unit-tests warpcheck tools/lua-syntax);
open my $commands, '<', "$build/mutation.commands" or fail("$build/mutation.commands: $!");
while (my $line = <$commands>) { $command{$1} = $2 if $line =~ /^(\w+) (.*)$/ }
# A case that waits for what does not come ends sooner than usual; the tests' own seed and limits hold.
$ENV{CK_DEFAULT_TIMEOUT} = 20;
$ENV{CK_VERBOSITY} = 'normal';
STDOUT->autoflush(1);
make_path("$folder/work");
$folder = abs_path($folder);
$build = abs_path($build);
my %met = map { $_->{room}{name} => 1 } @todo;
for my $room (@rooms) { measure($room) if $met{$room->{name}} }
try_all(sort { $a->{rank} cmp $b->{rank} } @todo);
my @counts = page();
system 'rm', '-rf', "$folder/work", "$folder/findings";
print "$_\n" for @counts;
my @wrong = grep { $_->{word} eq 'survived' && state_of($_)->{kind} =~ /^(new|tested)$/ } @done;
my $survived = grep { $_->{word} eq 'survived' } @done;
my $wrong = @wrong . ' of them without a sentence or in spite of a test';
print scalar(@done), " mutants, $survived survived, $wrong; $folder/mutation.md\n";
exit(@wrong ? 1 : 0);
