#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the programs call while they are confined, as strace sees it, compared with the table of confine_calls.c: each call is one that a
# row allows; what is refused is what libraries have another way for; and each program does the same as without strace. A newer suite,
# whose libraries call something else, is found here (tools/systems.sh runs this on each).
#
# UPDATE=FILE appends what was called, by program, to FILE.
# shellcheck disable=SC2154 # control, pid: upper.bash
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
: "${UPDATE:=}"
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
unset IWARP_PEER_ASAN # a sanitised program has no filter
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash
command -v strace >"$WORK/strace" || { echo "no strace: tools/deps.sh test"; exit 77; }
strace -qq -f -o "$WORK/try" true 2>"$WORK/why" || { echo "strace may not trace here: $(sed -n 1p "$WORK/why")"; exit 77; }
"$WARPCHECK" --version >"$WORK/version"
grep -q 'confinement:.*seccomp' "$WORK/version" || { echo "this kernel filters no system calls: $(tail -n 1 "$WORK/version")"; exit 77; }

# The table: ANSWER NAME a line.
perl -0777 -ne 'while (/\{CONFINE_(\w+), [^,]+, "[^"]*",\s*((?:"[^"]*"\s*)+)\}/g) { my ($answer, $names) = ($1, $2);
	print "$answer $_\n" for grep { /\w/ } split /[" \n]+/, $names; }' reference-stack/program/confine_calls.c >"$WORK/table"
for answer in ALLOWED ABSENT FORBIDDEN; do
	holds "the table has calls that are $answer" grep -q "^$answer " "$WORK/table"
done

# confined_calls LOG: "NAME RESULT" of each call in a confined process: RESULT is the error's name, or "-". A process is confined from its
# longest filter on, and so are those that it makes then.
confined_calls() {
	awk '
		{ process = $1; text = substr($0, length(process) + 2); sub(/^ +/, "", text) }
		match(text, /^<\.\.\. [a-z0-9_]+ resumed>/) { name = substr(text, 6, RLENGTH - 14) }
		!/<\.\.\. / && match(text, /^[a-z0-9_]+\(/) { name = substr(text, 1, RLENGTH - 1) }
		text !~ /^(<\.\.\. )?[a-z0-9_]+[( ]/ { next } # signals, the end
		{
			if (name ~ /^(clone|fork|vfork)$/ && match(text, /= [0-9]+$/) && confined[process])
				confined[substr(text, RSTART + 2)] = 1
			error = "-"
			if (match(text, /= -1 E[A-Z0-9]+/))
				error = substr(text, RSTART + 5, RLENGTH - 5)
			if (confined[process] && text !~ /<unfinished \.\.\.>$/)
				print name, error
			if (name ~ /^(seccomp|prctl)$/ && match(text, /\{len=[0-9]+/) && substr(text, RSTART + 5, RLENGTH - 5) + 0 > 150 && error == "-")
				confined[process] = 1
		}' "$1" | LC_ALL=C sort -u
}

# judged WHAT LOG [CALL]: what was called there; CALL may be refused, too
judged() {
	local name=$1 strange may=${3:-}
	confined_calls "$2" >"$WORK/called"
	holds "$name: it is confined, and calls $(cut -d' ' -f1 "$WORK/called" | LC_ALL=C sort -u | wc -l) different things" test "$(wc -l <"$WORK/called")" -ge 3
	[ -z "$UPDATE" ] || sed "s/^/$name: /" "$WORK/called" >>"$UPDATE"
	strange=$(LC_ALL=C join -v 1 <(cut -d' ' -f1 "$WORK/called" | LC_ALL=C sort -u) \
		<(sed -n 's/^\(ALLOWED\|ABSENT\) //p' "$WORK/table" | LC_ALL=C sort -u) | paste -sd' ')
	holds "$name: all of it is in the table${strange:+, but not: $strange}" test -z "$strange"
	# The kernel has EPERM of its own, for what is asked of it: dropping a capability that is gone. That is none of the filter's.
	strange=$(awk -v may="$may" 'NR == FNR { answer[$2] = $1; next }
		$2 == "ENOSYS" && answer[$1] != "ABSENT" || $2 == "EPERM" && (answer[$1] == "FORBIDDEN" || $1 ~ /^(socket|socketpair|connect|bind|listen|accept4?)$/) {
			if ($1 != may) print $1 }' "$WORK/table" "$WORK/called" | paste -sd' ')
	holds "$name: nothing is refused but what libraries have another way for${strange:+: $strange}" test -z "$strange"
}

# traced STATUS WHAT COMMAND...
# libusrsctp looks for interfaces as it starts, and does without: here packets come and go by other ways.
traced() {
	local status=$1 name=$2
	shift 2
	rm -f "$WORK/log"
	expect "$status" "$name" strace -qq -f -o "$WORK/log" "$@"
	judged "$name" "$WORK/log" "$([[ $name != *SCTP* ]] || echo socket)"
}

cp pcaps/generated/bad-crc.pcap "$WORK/one.pcap"
zstd -q "$WORK/one.pcap" -o "$WORK/packed.pcap.zst"
lz4 -q "$WORK/one.pcap" "$WORK/packed.pcap.lz4" 2>/dev/null
gzip -k "$WORK/one.pcap"
traced 1 "audit" "$WARPCHECK" audit "$WORK/one.pcap" "$WORK"/packed.* "$WORK/one.pcap.gz" -o "$WORK/audit"
traced 1 "audit -j 2" "$WARPCHECK" audit -j 2 pcaps/generated -o "$WORK/audit-j"
traced 1 "audit of standard input" bash -c '"$1" audit - --format sarif <"$2"' bash "$WARPCHECK" "$WORK/one.pcap"
traced 0 "run --simulate" "$WARPCHECK" run --simulate 'MPA-7.1.2-0*' -j 1 -o "$WORK/simulated"
traced 1 "run --simulate -j 2" "$WARPCHECK" run --simulate 'DDP-7.2*' -j 2 --defect ddp-qn-wrong-code --ladders -o "$WORK/simulated-j"
traced 0 "run --simulate over SCTP" "$WARPCHECK" run --simulate --llp sctp 'DDP-7.*' -o "$WORK/simulated-sctp"
traced 0 "prove" "$WARPCHECK" prove ddp-qn-wrong-code -j 2
traced 0 "gen" "$WARPCHECK" gen -e 'fpdu(rdmap.send { data = "hello" })' -o "$WORK/made.pcapng"
traced 0 "gen --corpus" "$WARPCHECK" gen --corpus "$WORK/corpus"
traced 0 "dump" "$WARPCHECK" dump "$WORK/one.pcap"
traced 0 "report" "$WARPCHECK" report "$WORK/simulated-j" --format html -o "$WORK/page.html"
if unshare --user --map-root-user --net true 2>"$WORK/why"; then
	traced 0 "run, live" "$WARPCHECK" run 'MPA-7.1.2-0*' -j 1 -o "$WORK/live"
	traced 0 "run, live, side by side" "$WARPCHECK" run 'MPA-7.1.2-0*' -j 2 -o "$WORK/live-j"
	traced 0 "run, live, over SCTP" "$WARPCHECK" run --llp sctp 'DDP-7.*' -j 1 -o "$WORK/live-sctp"
else
	echo "no live run is traced: $(sed -n 1p "$WORK/why")"
fi

# Peers: each of two that talk, and their upper testers.
program_of() { # NAME: strace in front of the program
	printf '#!/bin/sh\nexec strace -qq -f -o %q %q "$@"\n' "$WORK/$1.log" "$IWARP_PEER" >"$WORK/$1.sh"
	chmod +x "$WORK/$1.sh"
	program=$WORK/$1.sh
}
over() { # WHAT OPTION...: two peers
	local what=$1 one=$1-responder two=$1-initiator port
	shift
	program_of "$one"
	peer_start "$one" "$@" --bind 127.0.0.1
	program_of "$two"
	peer_start "$two" "$@" --bind 127.0.0.1
	ask "$one" '{"verb":"reg_mr","length":200000,"fill":"count"}'
	local stag sink
	stag=$(value .stag)
	ask "$two" '{"verb":"reg_mr","length":200000}'
	sink=$(value .stag)
	ask "$one" '{"verb":"listen"}'
	port=$(value .port)
	ask "$two" "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port}"
	holds "$what: a stream" await "$two" '.event == "established"'
	ask "$two" "{\"verb\":\"write\",\"stream\":1,\"stag\":$stag,\"length\":150000}"
	ask "$two" "{\"verb\":\"read\",\"stream\":1,\"source_stag\":$stag,\"sink_stag\":$sink,\"length\":150000}"
	holds "$what: a Read is done" await "$two" '.event == "read_done"'
	ask "$two" '{"verb":"disconnect","stream":1}'
	for name in "$one" "$two"; do
		kill -TERM "$(pgrep -P "${pid[$name]}" -o)"
		holds "$what: $name ends in order" wait "${pid[$name]}"
		unset "pid[$name]"
		judged "$name" "$WORK/$name.log"
	done
}
over tcp
program_of cm-server
rm -f "$WORK/cm-server.out"
"$program" --cm --bind 127.0.0.1 --cm-port 0 --cm-service 3260 >"$WORK/cm-server.out" 2>"$WORK/cm-server.err" </dev/null &
server=$!
pid[cm-server]=$server
holds "a CM server" prints "$server" "$WORK/cm-server.out" '^READY'
traced 0 "cm-client" "$IWARP_PEER" --cm --bind 127.0.0.1 --cm-port 0 --cm-service tcp/3260 --once \
	--connect "127.0.0.1:$(sed -n 's/^READY udp=//p' "$WORK/cm-server.out")"
kill -TERM "$(pgrep -P "$server" -o)"
wait "$server" || true
judged "cm-server" "$WORK/cm-server.log"
finish
