#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The frame that a failure names: for every failure of runs with several defects, simulated and live, it is a frame of the evidence
# file and of the failure's own ladder, and no empty acknowledgment. It is the device's where octets, FIN or RST of the device are
# what failed, and the same in the text, in the page and in JUnit. Octets that a check compares are in it, also where the check read
# many FPDUs before it compared one. What a rule found is a frame of the device, and the one marked step of the result's ladder.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

checks=('DDP-5*' 'DDP-7*' 'RDMAP-4.8-*' 'ATOM-5.2*' 'MPA-7.1.1-1*')

# judge OUT DEVICE: one line for each failure and warning that does not hold.
judge() {
	perl -MJSON::PP -e '
		my ($out, $tshark, $device) = @ARGV;
		my (%frames, $checks, $rules, $devices, $carried);
		open my $lines, "<", "$out/results.jsonl" or die;
		while (<$lines>) {
			my $r = decode_json($_);
			next unless ($r->{type} // "") eq "result" && $r->{verdict} =~ /^(FAIL|WARN)$/;
			my $what = "$r->{id} $r->{role} $r->{by}";
			my $file = $r->{evidence} // $r->{file};
			my $frame = $r->{frame} or do { print "$what: no frame\n"; next };
			$frames{$file} //= { map { my @f = split /\t/; $f[0] => \@f }
				map { chomp; $_ } qx($tshark -r $out/$file -T fields -e frame.number -e ip.src -e tcp.len -e tcp.flags -e tcp.payload 2>/dev/null) };
			my $seen = $frames{$file}{$frame} or do { print "$what: frame $frame is not in $file\n"; next };
			my $empty = $seen->[2] == 0 && !(hex($seen->[3]) & 7);
			print "$what: frame $frame is an empty acknowledgment\n" if $empty;
			if ($r->{by} eq "rule") {
				$rules++;
				print "$what: frame $frame is not the device\x27s\n" if $seen->[1] ne $device;
				my @marked = grep { $_->{mark} } @{$r->{steps} // []};
				print "$what: ", scalar @marked, " steps are marked, expected one\n" if @marked != 1;
				print "$what: the mark is at frame $_->{frame}, not at $frame\n" for grep { ($_->{frame} // 0) != $frame } @marked;
				next;
			}
			$checks++;
			my ($step) = grep { ($_->{frame} // 0) == $frame } @{$r->{steps}};
			my ($mark) = grep { $_->{mark} } @{$r->{steps}};
			print "$what: frame $frame is in no step of the ladder\n" unless $step;
			print "$what: the mark is at frame $mark->{frame}, not at $frame\n" if $mark && ($mark->{frame} // 0) != $frame;
			$devices += $seen->[1] eq $device;
			my $of_device = ($r->{actual} // "nothing") =~ /^(Terminate|FIN|RST|a? ?Send|RDMA|Atomic|MPA|Immediate)/;
			my $octets = ($r->{actual} // "") =~ /^((?:[0-9a-f]{2}){3,})$/ ? $1 : undef;
			$carried += defined $octets && ($r->{cause} // "") ne "" && index($seen->[4] // "", $octets) >= 0;
			print "$what: frame $frame does not carry $octets\n"
				if defined $octets && $r->{message} =~ /FPDU of|header|last 4 octets|of segment/ && index($seen->[4] // "", $octets) < 0;
			print "$what: frame $frame is the tester\x27s, and not: $r->{actual}\n" if $of_device && $seen->[1] ne $device;
		}
		printf STDERR "%d %d %d %d\n", $checks, $rules, $devices, $carried;' "$1" "$TSHARK" "$2"
}

# compare OUT: the text and JUnit name the same frames.
compare() {
	jq -r 'select(.type == "result" and .verdict == "FAIL" and .by == "check") | "\(.id) \(.role) \(.frame)"' "$1/results.jsonl" | sort -u >"$WORK/named"
	awk '/^[A-Z]+  / { id = $1 == "FAIL" ? $2 : ""; role = $3 } id != "" && / frame [0-9]+ of evidence/ && match($0, /frame [0-9]+ of evidence/) {
		split(substr($0, RSTART), word, " "); print id, role, word[2] }' "$1.txt" | sort -u >"$WORK/text"
	holds "$2: the text names the same frames" bash -c "[ -s '$WORK/text' ] && ! comm -23 '$WORK/text' <(sort -u '$WORK/named' '$WORK/rules') | grep ."
	holds "$2: JUnit names as many" [ "$(grep -c 'frame     [0-9]' "$1/junit.xml")" -ge "$(wc -l <"$WORK/named")" ]
}

run() { # NAME DEVICE LEAST OPTIONS...
	local name=$1 device=$2 least=$3 out=$WORK/$1
	expect 1 "$name: a run with several defects" "$WARPCHECK" run "${@:4}" --defect ddp-rsvdulp-zero --defect rdmap-terminate-operation-zeroed \
		--defect atom-mask-zero-nothing --defect mpa-deliveries-swapped --defect mpa-reply-reserved -o "$out"
	cp "$WORK/stdout" "$out.txt"
	jq -r 'select(.type == "result" and .verdict == "FAIL" and .by == "rule") | "\(.id) \(.role) \(.frame)"' "$out/results.jsonl" | sort -u >"$WORK/rules"
	judge "$out" "$device" >"$WORK/wrong" 2>"$WORK/counts"
	holds "$name: each frame named is the right one: $(head -n 10 "$WORK/wrong")" [ ! -s "$WORK/wrong" ]
	read -r checks rules devices carried <"$WORK/counts"
	holds "$name: $checks checks failed" [ "$checks" -ge "$least" ]
	holds "$name: $rules rules found something" [ "$rules" -ge 1 ]
	holds "$name: $devices failures name a frame of the device" [ "$devices" -ge $((least / 2)) ]
	compare "$out" "$name"
}

echo "== octets that a check compares, one FPDU after many were read"
for defect in bound-send-not-last-third ddp-msn-from-0 bound-send-as-se-second reversed-to; do
	expect 1 "a run with $defect" "$WARPCHECK" run --simulate --defect "$defect" 'MPA-4.1-0*' 'MPA-4.4-1*' 'DDP-4.2-0*' 'DDP-4.3-0*' -o "$WORK/$defect"
	judge "$WORK/$defect" 10.77.0.2 >"$WORK/wrong" 2>"$WORK/counts"
	holds "$defect: each frame named is the right one: $(head -n 10 "$WORK/wrong")" [ ! -s "$WORK/wrong" ]
	read -r checks rules devices carried <"$WORK/counts"
	holds "$defect: $carried of $checks failures name the frame that carries their octets" [ "$carried" -ge 1 ]
done

run simulated 10.77.0.2 8 --simulate "${checks[@]}"
run live 10.77.0.2 8 "${checks[@]}"
finish
