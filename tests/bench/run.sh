#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The benchmarks of `make bench`: ratios in one run on one machine, never times alone.
#
#   BENCH_MB=1000         size of the generated capture
#   BENCH_TSHARK_MB=100   size of the one that tshark reads (it is slow; the ratio is one of octets a second)
#   BENCH_PLUGIN_MB=100   size of the one that tshark reads with the plugin and with the built-in dissectors
#   BENCH_MANY=100000     short connections of each layer (a million of TCP is a capture of 1.2 GB)
#   BENCH_ROUNDS=3        the best of so many runs counts, for every program alike (of the stack: see bench_stack.c)
#   BENCH_JOBS=16         checks side by side on the embedded device (run -j); without it as many as a run has by itself
#   BENCH_LAB_JOBS=6      the same on Linux siw in a virtual machine, where the lab's packages are installed; 0: no run in the lab
#   BENCH_LAB='DDP-7*'    the checks of both runs there; without it all of them, which takes minutes
#   BENCH_PAIRS=7         of the plugin: runs in pairs, with and without it by turns, each first in every other pair; the
#                         median of the pairs' ratios counts. Both programs are mostly Wireshark itself and differ by a few
#                         per cent, less than the machine's speed may from one minute to the next: best times of runs
#                         apart would say which of the two met the better minute.
#
# Everything but `audit -j 2`, runs of all cores and the stack on two cores is pinned to one core; the captures lie in the page cache for all programs.
# What is aimed at and missed has its reason in a line, with what was measured of it. Exit status 1 when a program fails or an aim is missed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${B:=$PWD/build}" "${TSHARK:=tshark}" "${BENCH_MB:=1000}" "${BENCH_TSHARK_MB:=100}" "${BENCH_ROUNDS:=3}"
: "${BENCH_MANY:=100000}" "${BENCH_PLUGIN_MB:=100}" "${BENCH_PAIRS:=7}" "${BENCH_JOBS:=}" "${BENCH_LAB_JOBS:=6}" "${BENCH_LAB:=}"
: "${WARPCHECK:=$B/warpcheck}" "${WORK:=$B/bench/work}"
mkdir -p "$WORK"
measure=$B/bench/bench_measure
pin=()
if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then pin=(taskset -c 0); fi
missed=0

# measured COMMAND...: runs a command; sets `seconds` (wall), `user`, `system`, `cpu` (both) and `kib` (resident).
measured() {
	local status
	"$measure" "$WORK/measured" "${pin[@]}" "$@" >"$WORK/out" 2>"$WORK/err"
	read -r seconds user system kib status <"$WORK/measured"
	if [ "$status" -ne 0 ]; then
		echo "bench: $* ended with status $status:" >&2
		tail -n 5 "$WORK/err" >&2
		exit 1
	fi
	cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
}

# less A B: the smaller one; B may be empty.
less() { awk -v a="$1" -v b="$2" 'BEGIN { print b == "" || a < b ? a : b }'; }

# best ROUNDS COMMAND...: runs a command several times; sets `wall` to the best time, `rss` to the largest resident set.
best() {
	local rounds=$1 round seconds cpu kib
	shift
	wall='' rss=0
	for ((round = 0; round < rounds; round++)); do
		measured "$@"
		wall=$(less "$seconds" "$wall")
		if [ "$kib" -gt "$rss" ]; then rss=$kib; fi
	done
}

# pairs COUNT: runs the commands in the arrays `first` and `second` by turns; sets `median` to the median of first's CPU
# time by second's, `spread` to the least and the greatest, and `walls` and `sizes` to the best times and the largest
# resident sets of both.
pairs() {
	local count=$1 pair which seconds cpu kib times=() turns
	walls=('' '') sizes=(0 0)
	: >"$WORK/ratios"
	for ((pair = 0; pair < count; pair++)); do
		turns=(0 1)
		if ((pair % 2)); then turns=(1 0); fi
		for which in "${turns[@]}"; do
			if [ "$which" -eq 0 ]; then measured "${first[@]}"; else measured "${second[@]}"; fi
			times[which]=$cpu
			walls[which]=$(less "$seconds" "${walls[which]}")
			if [ "$kib" -gt "${sizes[which]}" ]; then sizes[which]=$kib; fi
		done
		ratio "${times[0]}" "${times[1]}" >>"$WORK/ratios"
		echo >>"$WORK/ratios"
	done
	read -r median spread < <(sort -n "$WORK/ratios" | awk '{ r[NR] = $1 }
		END { printf "%.2f %.2f to %.2f\n", (r[int((NR + 1) / 2)] + r[int(NR / 2) + 1]) / 2, r[1], r[NR] }')
}

# line NAME FILE: what was measured of a program that read FILE; sets `speed` to MB a second.
line() {
	local octets
	octets=$(stat -c %s "$2")
	speed=$(awk -v o="$octets" -v s="$wall" 'BEGIN { printf "%.1f", o / 1e6 / (s > 0 ? s : 0.001) }')
	printf '  %-28s %8.0f MB  %9.3f s  %9.1f MB/s  %8.1f MiB resident\n' "$1" "$((octets / 1000000))" "$wall" "$speed" \
		"$(awk -v k="$rss" 'BEGIN { print k / 1024 }')"
}

# aim WHAT RATIO AIM [REASON]: prints a ratio and notes whether it is reached; what a miss is due to.
aim() {
	local verdict=reached
	if awk -v r="$2" -v a="$3" 'BEGIN { exit !(r < a) }'; then
		verdict=MISSED
		missed=$((missed + 1))
	fi
	printf '  %-62s %8s   aim %s: %s\n' "$1" "$2" "$3" "$verdict"
	[ "$verdict" = reached ] || [ -z "${4:-}" ] || printf '    because: %s\n' "$4"
}

# The load that others make: one busy program beside a benchmark spoils it.
load() { echo "   (load $(cut -d ' ' -f 1-2 /proc/loadavg), $(nproc) cores)"; }

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b > 0 ? b : 0.001) }'; }

# generate FILE MB FLOWS: unless it is there from a run before, of the same generator and size.
generate() {
	local stamp
	stamp="$2 $3 $(cksum <"$B/bench/bench_gen_capture")"
	if [ ! -e "$1" ] || [ "$(cat "$1.stamp" 2>/dev/null)" != "$stamp" ]; then
		"$B/bench/bench_gen_capture" "$1" "$2" "$3"
		echo "$stamp" >"$1.stamp"
	fi
	cat "$1" >/dev/null # into the page cache
}

echo "== audit: one core, CRC verified, all rules"
load
generate "$WORK/large.pcap" "$BENCH_MB" 8
generate "$WORK/share.pcap" "$BENCH_TSHARK_MB" 8
ln -f "$WORK/large.pcap" "$WORK/again.pcap"
generate "$WORK/thousand.pcap" "$BENCH_TSHARK_MB" 1000

# against_yardstick NAME FILE: both by turns, each pair one right after the other; sets `median`, and `why` to where audit's processor time goes.
against_yardstick() {
	local frames
	first=("$B/bench/bench_read_crc" "$2")
	second=("$WARPCHECK" audit "$2")
	pairs "$BENCH_ROUNDS"
	wall=${walls[0]} rss=${sizes[0]}
	line "read and CRC32C, $1" "$2"
	wall=${walls[1]} rss=${sizes[1]}
	line "warpcheck audit, $1" "$2"
	measured "$B/bench/bench_read_crc" "$2"
	local crc=$user reading=$system
	frames=$(cut -d ' ' -f 1 "$WORK/out")
	measured "$WARPCHECK" audit "$2"
	why=$(awk -v u="$user" -v s="$system" -v c="$crc" -v r="$reading" -v n="$frames" 'BEGIN {
		printf "reading takes %.0f %%, CRC %.0f %% of its processor time; the kernel beside that (memory) %.0f %%; decoding and rules %.0f ns a frame",
			100 * r / (u + s), 100 * c / (u + s), 100 * (s > r ? s - r : 0) / (u + s), 1e9 * (u - c) / n }')
}
against_yardstick "8 flows" "$WORK/large.pcap"
audit_ratio=$median audit_rss=$rss audit_why=$why
against_yardstick "1000 flows" "$WORK/thousand.pcap"
thousand_ratio=$median thousand_rss=$rss thousand_speed=$speed thousand_why=$why
best "$BENCH_ROUNDS" "$WARPCHECK" audit "$WORK/share.pcap"
line "warpcheck audit" "$WORK/share.pcap"
share_speed=$speed
best "$BENCH_ROUNDS" "$WARPCHECK" audit -j 1 "$WORK/large.pcap" "$WORK/again.pcap"
line "warpcheck audit, 2 files" "$WORK/large.pcap"
one_wall=$wall
# Many captures of a flow or two each: what a file costs beside its frames.
if [ ! -e "$WORK/small/5000.pcap" ]; then
	mkdir -p "$WORK/small"
	"$B/bench/bench_many" tcp 1 row >"$WORK/small.pcap"
	for i in {1..5000}; do cp "$WORK/small.pcap" "$WORK/small/$i.pcap"; done
fi
best 1 "$WARPCHECK" audit -j 1 --quiet "$WORK/small"
printf '  %-28s %11s  %9.3f s\n' "warpcheck audit, 5000 files" "" "$wall"
small_wall=$wall
if [ "$(nproc)" -gt 1 ]; then
	pinned=("${pin[@]}") pin=()
	best "$BENCH_ROUNDS" "$WARPCHECK" audit -j 2 "$WORK/large.pcap" "$WORK/again.pcap"
	line "warpcheck audit -j 2, 2 files" "$WORK/large.pcap"
	two_wall=$wall
	best 1 "$WARPCHECK" audit -j 2 --quiet "$WORK/small"
	printf '  %-28s %11s  %9.3f s\n' "the same with -j 2" "" "$wall"
	small_two_wall=$wall
	best "$BENCH_ROUNDS" "$WARPCHECK" audit -j 2 "$WORK/thousand.pcap"
	line "audit -j 2, 1000 flows" "$WORK/thousand.pcap"
	divided_speed=$speed
	pin=("${pinned[@]}")
fi
best "$BENCH_ROUNDS" "$TSHARK" -r "$WORK/share.pcap" -T fields -e iwarp_mpa.crc_check -e iwarp_rdma.opcode
line "tshark" "$WORK/share.pcap"
tshark_speed=$speed
best "$BENCH_ROUNDS" "$TSHARK" -r "$WORK/thousand.pcap" -T fields -e iwarp_mpa.crc_check -e iwarp_rdma.opcode
line "tshark, 1000 flows" "$WORK/thousand.pcap"
tshark_thousand_speed=$speed

aim "audit against tshark, same file, times as fast" "$(ratio "$share_speed" "$tshark_speed")" 60 "$audit_why"
aim "audit against tshark, 1000 short flows" "$(ratio "$thousand_speed" "$tshark_thousand_speed")" 20 "$thousand_why"
aim "audit against read and CRC32C in place, of its speed" "$audit_ratio" 0.75 "$audit_why"
aim "audit against read and CRC32C in place, 1000 short flows" "$thousand_ratio" 0.5 \
	"$thousand_why; each flow has state of its own, and a result for each requirement"
if [ "$(nproc)" -gt 1 ]; then
	aim "audit of two files on two cores against one, times as fast" "$(ratio "$one_wall" "$two_wall")" 1.9
	aim "audit of 5,000 small files on two cores, times as fast" "$(ratio "$small_wall" "$small_two_wall")" 1.5
	aim "audit of one file of 1000 flows with -j 2, times as fast" "$(ratio "$divided_speed" "$thousand_speed")" 1.7 \
		"one capture is judged by one process"
fi
aim "audit's memory: 64 MiB against what $BENCH_MB MB took" "$(ratio 65536 "$audit_rss")" 1
aim "audit's memory: 64 MiB against what 1000 flows took" "$(ratio 65536 "$thousand_rss")" 1
echo "== audit: $BENCH_MANY short connections of each layer"
# many LAYER COUNT once|row [OPTION...]: audits such a capture; sets `wall` and `rss`.
many() {
	local capture=$WORK/many.pcap
	"$B/bench/bench_many" "$1" "$2" "$3" >"$capture"
	best "$BENCH_ROUNDS" "$WARPCHECK" audit --quiet "${@:4}" "$capture"
	printf '  %-28s %8d     %9.3f s  %31.1f MiB resident\n' "$1, $3" "$2" "$wall" "$(awk -v k="$rss" 'BEGIN { print k / 1024 }')"
	rm -f "$capture"
}
for layer in tcp sctp cm; do
	many "$layer" $((BENCH_MANY / 10)) row
	few_wall=$wall
	many "$layer" "$BENCH_MANY" row
	aim "$layer, in a row: 64 MiB against what $BENCH_MANY took" "$(ratio 65536 "$rss")" 1
	aim "$layer, in a row: twice a frame's time against 10 times as many" "$(awk -v few="$few_wall" -v all="$wall" \
		'BEGIN { printf "%.2f", 20 * few / all }')" 1
	many "$layer" 1000 once --memory 8G
	few_rss=$rss
	many "$layer" $((BENCH_MANY / 5)) once --memory 8G
	aim "$layer, open at once: 4 KiB against what each took" "$(awk -v few="$few_rss" -v all="$rss" -v count=$((BENCH_MANY / 5 - 1000)) \
		'BEGIN { printf "%.2f", 4 * count / (all - few) }')" 1
done
echo "== prove: every defect against the checks that it names, the correct stack over 8 seeds, all cores"
pinned=("${pin[@]}") pin=()
best 1 "$WARPCHECK" prove --seeds 8
pin=("${pinned[@]}")
printf '  %-28s %11s  %9.3f s\n' "warpcheck prove" "" "$wall"
aim "a minute against prove's time" "$(ratio 60 "$wall")" 1
# judged STATUS NAME ARGUMENT...: a run of all cores with its results in $WORK/NAME; ends with 0, STATUS, or 4: late on a busy machine.
judged() {
	local status=$1 name=$2 pinned=("${pin[@]}")
	shift 2
	pin=()
	# shellcheck disable=SC2016 # of the inner shell
	best 1 bash -c 'status=$1 && shift && { "$@" || { ended=$?; [ "$ended" -eq 4 ] || [ "$ended" -eq "$status" ]; }; }' judged "$status" \
		"$WARPCHECK" run "$@" --quiet --force -o "$WORK/$name"
	pin=("${pinned[@]}")
	printf '  %-28s %11s  %9.3f s\n' "run, $name" "" "$wall"
}
verdicts() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$WORK/$1/results.jsonl"; }
differing() { diff <(verdicts "$1") <(verdicts "$2") | grep -c '^[<>]' || true; }

echo "== run: the embedded device live, ${BENCH_JOBS:-several} checks side by side, against its own time in simulation, one at a time"
judged 0 simulated --simulate -j 1
simulated=$wall
aim "4 s against the simulated run's time on one core" "$(ratio 4 "$simulated")" 1
judged 0 embedded ${BENCH_JOBS:+-j "$BENCH_JOBS"}
aim "2 times the simulated run's time against the live one's" "$(awk -v s="$simulated" -v l="$wall" 'BEGIN { printf "%.2f", 2 * s / l }')" 1
printf '  %-58s %8s\n' "results that differ from the simulated run's" "$(differing simulated embedded)"
# Can a virtual machine be made here? If not, its last line says why.
lab_here() (
	# shellcheck source=tests/e2e/lab.bash
	source tests/e2e/lab.bash
	lab_or_skip
)
echo "== run: Linux siw in a virtual machine, one check at a time and $BENCH_LAB_JOBS side by side"
if [ "$BENCH_LAB_JOBS" -eq 0 ]; then
	echo "  SKIP: BENCH_LAB_JOBS is 0"
elif lab_here >"$WORK/lab"; then
	read -ra lab <<<"$BENCH_LAB"
	export WARPCHECK_LABS=$PWD/conformance/labs
	judged 5 lab-alone --dut linux-siw "${lab[@]}" -j 1
	alone=$wall
	judged 5 lab-side --dut linux-siw "${lab[@]}" -j "$BENCH_LAB_JOBS"
	aim "siw: $BENCH_LAB_JOBS side by side against one at a time, times as fast" "$(ratio "$alone" "$wall")" 4.5 # 60 s of 270
	printf '  %-58s %8s\n' "siw: results that differ" "$(differing lab-alone lab-side)"
else
	echo "  SKIP: $(tail -n 1 "$WORK/lab")"
fi
echo "== plugin: tshark with it, and with the built-in dissectors alone"
plugin=$B/dissector/warpcheck.so
make -s plugin B="$B" >/dev/null
generate "$WORK/plugin.pcap" "$BENCH_PLUGIN_MB" 8
plugins=$(mktemp -d)
version=$(pkg-config --modversion wireshark | cut -d. -f1-2)
mkdir -p "$plugins/with/$version/epan" "$plugins/without"
cp "$plugin" "$plugins/with/$version/epan/"
chmod -R a+rX "$plugins"
as_user=() # root's Wireshark ignores WIRESHARK_PLUGIN_DIR
[ "$(id -u)" -ne 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
plugin_ratio() { # plugin_ratio WHAT FIELDS-OF-THE-PLUGIN FIELDS-OF-THE-BUILT-IN OPTION...
	local what=$1 ours=() theirs=() first second
	IFS=, read -ra ours <<<"$2"
	IFS=, read -ra theirs <<<"$3"
	shift 3
	first=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins/without" "$TSHARK" "$@" "${theirs[@]/#/-e}" -r "$WORK/plugin.pcap")
	second=("${as_user[@]}" env HOME=/nonexistent WIRESHARK_PLUGIN_DIR="$plugins/with" "$TSHARK" "$@" "${ours[@]/#/-e}" -r "$WORK/plugin.pcap")
	pairs "$BENCH_PAIRS"
	wall=${walls[0]} rss=${sizes[0]}
	line "built-in, $what" "$WORK/plugin.pcap"
	wall=${walls[1]} rss=${sizes[1]}
	line "plugin, $what" "$WORK/plugin.pcap"
	printf '  %-58s %s\n' "plugin against built-in, $what: $BENCH_PAIRS pairs" "$spread"
	aim "plugin against built-in, $what: times as fast (CPU)" "$median" 1.2
	aim "1.5 times the built-in's memory against the plugin's" "$(awk -v a="${sizes[0]}" -v b="${sizes[1]}" 'BEGIN { printf "%.2f", 1.5 * a / b }')" 1
}
plugin_ratio "packet list" "" ""
plugin_ratio "fields" warp.fpdu.crc.status,warp.rdmap.opcode iwarp_mpa.crc_check,iwarp_rdma.opcode -T fields
plugin_ratio "details" "" "" -V
rm -rf "$plugins"
# stack WHERE PROCESSORS AIM-64K AIM-1M LATENCY: both processes on these; the aims of messages of 64 KiB, of 1 MiB, and of a round trip.
stack() {
	local of=("Writes of 64 KiB" "Writes of 1 MiB" "Reads of 64 KiB" "Reads of 1 MiB" "Sends of 64 KiB" "Sends of 1 MiB") aims ratios whys i
	aims=("$3" "$4" "$3" "$4" "$3" "$4")
	echo "== stack, $1: against one plain kernel TCP stream on loopback, CRC on, two processes each"
	load
	taskset -c "$2" "$B/bench/bench_stack" 0.3 "$BENCH_ROUNDS" | tee "$WORK/stack"
	read -ra ratios < <(tail -n 1 "$WORK/stack" | awk '{ print $2, $5, $3, $6, $4, $7, $8 }')
	# In the order of the table: where the time of a MB, or of a round, goes.
	mapfile -t whys < <(awk '/CRC32C of a MB:/ { crc = $5 }
		/^    a (MB|round):/ { lines[n++] = $0 }
		END { for (i = 0; i < n; i++) { sub(/^ */, "", lines[i]); print lines[i] (lines[i] ~ /^a MB/ ? "; in user space two CRCs of " crc " us, and the copy to its place" : "") } }' "$WORK/stack")
	for i in "${!of[@]}"; do aim "stack, $1: ${of[i]}, of plain TCP's speed" "${ratios[i]}" "${aims[i]}" "${whys[i]:-}"; done
	aim "stack, $1: $5 of plain TCP's ping-pong against its own" "$(ratio "$5" "${ratios[6]}")" 1 "${whys[6]:-}"
}
# What an octet costs, and what two cores make of it.
if [ ${#pin[@]} -gt 0 ]; then
	stack "one core" 0 0.8 0.75 1.15
	[ "$(nproc)" -lt 2 ] || stack "two cores" 0,1 1.0 1.0 0.5
else
	echo "== stack: SKIP: no process can be pinned here (taskset)"
fi
echo "== stack: 10,000 streams at once"
"$B/bench/bench_streams" 10000 | tee "$WORK/streams"
aim "stack: 4 KiB against the memory of an idle stream" "$(ratio 4096 "$(sed -n 's/.*memory per idle stream: \([0-9]*\) octets$/\1/p' "$WORK/streams")")" 1 \
	"struct iwarp_stream and struct iwarp_qp are half of it; the rest is the loop's handle of the socket, and queues of work"
if pkg-config --exists usrsctp; then
	echo "== stack over SCTP: against plain messages over libusrsctp, in UDP on loopback, two processes each"
	for size in 65536 64; do
		"$B/bench/bench_stack" sctp 0.3 "$BENCH_ROUNDS" '' "$size" | tee "$WORK/stack-sctp"
		read -ra ratios < <(sed -n '/^ratios /{s///p;q;}' "$WORK/stack-sctp")
		of=(Writes Reads Sends)
		for i in 0 1 2; do
			aim "stack over SCTP: ${of[i]} of $size octets, of plain usrsctp's speed" "${ratios[i]}" 0.8 \
				"a Read is a Request and a Response: two messages, and two wake-ups, for one of the other side"
		done
	done
	echo "== stack: 1,000 streams in one association over libusrsctp"
	"$B/bench/bench_streams" 1000 3 sctp
else
	echo "== stack: SKIP 1,000 streams over SCTP: this build has no libusrsctp"
fi

[ "$missed" -eq 0 ] || { echo "bench: $missed missed"; exit 1; }
