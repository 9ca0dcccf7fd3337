# SPDX-License-Identifier: BSD-2-Clause
#
# peer_load.pl PROGRAM HEALTHY AT DEED...: for each allocation AT ("all": each; "sites": each that is reached in a
# way of its own; or numbers with commas between them) PROGRAM (iwarp-peer) is started with
# tests/support/chaos.c (CHAOS), which makes that allocation fail: DEED fail: this one; full: it and all later ones. Then it
# is put to work: commands, start-up in both roles with HEALTHY, the same program without a fault, Sends, a Write, a Read,
# the end of the streams. Whatever is refused or lost must end in exit status 4 with a sentence; no signal may end it.
# The last line is "N cases, N with something lost, N wrong".
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;
use Time::HiRes qw(sleep time);

my ($program, $healthy_program, $which, @deeds) = @ARGV;
my $work = $ENV{WORK} or die "WORK is not set";
my $pattern = join "", map { sprintf "%02x", $_ % 251 } 0 .. 4095;
my ($cases, $losses, $wrong) = (0, 0, 0);
$SIG{PIPE} = "IGNORE";
$SIG{ALRM} = sub { die "no answer\n" };

# Starts a program; undef: it has ended before it was ready.
sub start {
	my ($path, $errors, %environment) = @_;
	pipe my $out, my $in or die "pipe: $!";
	my $pid = fork // die "fork: $!";
	if ($pid == 0) {
		@ENV{keys %environment} = values %environment;
		open STDIN, "<", "/dev/null" or die;
		open STDOUT, ">&", $in or die;
		open STDERR, ">", $errors or die;
		close $out;
		exec $path, "--listen", "0", "--bind", "127.0.0.1", "--control", "0", "--echo" or die "exec: $!";
	}
	close $in;
	my $ready = <$out> // "";
	my ($listen, $control) = $ready =~ /listen=(\d+) control=(\d+)/;
	return {pid => $pid, out => $out, listen => $listen, control => $control};
}

# One command; dies when it is refused or not answered.
sub ask {
	my ($peer, %command) = @_;
	print {$peer->{socket}} encode_json(\%command), "\n" or die "$command{verb}: $!\n";
	my $line = readline($peer->{socket}) // die "$command{verb}: no reply\n";
	my $reply = decode_json($line);
	die "$command{verb}: $reply->{error}\n" unless $reply->{ok};
	return $reply;
}

# The event for which the test is true; dies when the stream ends before it, or it does not come.
sub await {
	my ($peer, $what, $test) = @_;
	my $until = time + 3;
	while (time < $until) {
		my $reply = ask($peer, verb => "poll");
		push @{$peer->{events}}, @{$reply->{events}};
		for my $event (@{$peer->{events}}) {
			return $event if $test->($event);
		}
		die "$what: the stream ended\n" if $what ne "closed" && grep { $_->{event} =~ /^(closed|error|connect_failed|rejected)$/ } @{$peer->{events}};
		sleep 0.001;
	}
	die "$what: no such event\n";
}

sub control {
	my $peer = shift;
	$peer->{socket} = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $peer->{control}) or die "control: $!\n";
	$peer->{socket}->autoflush(1);
	$peer->{events} = [];
}

my $healthy = start($healthy_program, "$work/healthy.err");
control($healthy);

sub exchange {
	my $peer = shift;
	alarm 20;
	ask($healthy, verb => "reset");
	$healthy->{events} = [];
	control($peer);
	ask($peer, verb => "capabilities");
	my $port = ask($healthy, verb => "listen", echo => JSON::PP::true)->{port};
	my $source = ask($healthy, verb => "reg_mr", length => 4096)->{stag};
	my $sink = ask($peer, verb => "reg_mr", length => 4096, access => ["remote_write"])->{stag};
	my $stream = ask($peer, verb => "connect", address => "127.0.0.1", port => $port)->{stream};
	await($peer, "established", sub { $_[0]{event} eq "established" });
	ask($peer, verb => "send", stream => $stream, data => "00c0ffee", id => 1);
	await($peer, "the echo", sub { $_[0]{event} eq "receive" && $_[0]{data} eq "00c0ffee" });
	ask($peer, verb => "write", stream => $stream, stag => $source, length => 4096, id => 2);
	ask($peer, verb => "read", stream => $stream, source_stag => $source, sink_stag => $sink, length => 4096, id => 3);
	await($peer, "the Read", sub { $_[0]{event} eq "read_done" && $_[0]{id} == 3 });
	die "what was read is something else\n" if ask($peer, verb => "mem_read", stag => $sink)->{data} ne $pattern;
	ask($peer, verb => "status", stream => $stream);
	my $back = ask($healthy, verb => "connect", address => "127.0.0.1", port => $peer->{listen})->{stream};
	await($healthy, "established, the other way round", sub { $_[0]{event} eq "established" && $_[0]{stream} == $back });
	ask($healthy, verb => "send", stream => $back, length => 3000);
	await($healthy, "the other echo", sub { $_[0]{event} eq "receive" && length $_[0]{data} == 6000 });
	ask($peer, verb => "disconnect", stream => $stream);
	await($peer, "closed", sub { $_[0]{event} eq "closed" && $_[0]{stream} == $stream });
	ask($peer, verb => "dereg", stag => $sink);
	die "events are lost\n" if ask($peer, verb => "poll")->{lost};
}

# Returns what was lost ("": nothing), how it ended ("status 4") and what it wrote on standard error.
sub run_case {
	my %environment = @_;
	my $peer = start($program, "$work/case.err", LD_PRELOAD => $ENV{CHAOS}, CHAOS_CLASS => "memory", MALLOC_PERTURB_ => 165, %environment);
	my $lost = "";
	if (defined $peer->{control}) {
		eval { exchange($peer); 1 } or chomp($lost = $@);
	} else {
		$lost = "it is not ready";
	}
	close $peer->{socket} if $peer->{socket};
	kill "TERM", $peer->{pid} if defined $peer->{control};
	alarm 20;
	eval { waitpid $peer->{pid}, 0; 1 } or do { kill "KILL", $peer->{pid}; waitpid $peer->{pid}, 0 };
	my $ended = $? & 127 ? "signal " . ($? & 127) : "status " . ($? >> 8);
	alarm 0;
	open my $file, "<", "$work/case.err" or die;
	local $/;
	return ($lost, $ended, <$file> // "");
}

unlink "$work/count", "$work/sites";
my ($lost, $ended, $words) = run_case(CHAOS_COUNT => "$work/count", CHAOS_SITES => "$work/sites");
open my $file, "<", "$work/count" or die "no count: $!";
my ($count) = <$file> =~ /^(\d+)/;
close $file;
open $file, "<", "$work/sites" or die "no sites: $!";
chomp(my @sites = <$file>);
close $file;
print "$count allocations, ", scalar @sites, " ways to them\n";
if ($lost ne "" || $ended ne "status 0" || $words ne "" || $count < 100) {
	print "WRONG undisturbed: $ended, lost: '$lost', $words\n";
	$wrong++;
}
for my $deed (@deeds) {
	for my $at ($which eq "all" ? 1 .. $count : $which eq "sites" ? @sites : split /,/, $which) {
		($lost, $ended, $words) = run_case(CHAOS_AT => $at, CHAOS_DO => $deed);
		$cases++;
		$losses++ if $lost ne "";
		my $whole = $lost eq "" && $ended eq "status 0";
		next if $whole && $words eq "";
		next if $ended eq "status 4" && $words =~ m{^(\S*iwarp-peer: [^\n]+\n)+\z};
		print "WRONG allocation $at ($deed): $ended, lost: '$lost', stderr: ", substr($words, 0, 300), "\n";
		$wrong++;
	}
}
kill "TERM", $healthy->{pid};
waitpid $healthy->{pid}, 0;
if ($? != 0) {
	print "WRONG the healthy peer ended with $?\n";
	$wrong++;
}
print "$cases cases, $losses with something lost, $wrong wrong\n";
exit($wrong != 0 || $cases == 0);
