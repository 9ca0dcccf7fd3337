#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# monitor.sh [MINUTES, 3 or more]: `warpcheck monitor` on a veth pair in a namespace of its own, beside tcpdump, while generated traffic with known faults comes (20
# minutes). Half way it is killed and started again with the same log, while the sender is stopped, perhaps within a connection. Prints figures, and
# those of tcpdump; the exit status is 1 when a fault was not found, or found or counted twice, something else was found, memory of either process grew,
# or frames were lost.
#
#   MONITOR_MBIT=1000    how fast the traffic comes
#   MONITOR_EVERY=10     one of so many connections has one FPDU with a wrong CRC
#   MONITOR_BUFFER=256M  the ring of monitor, and of tcpdump
#   WORK                 where logs stay (a temporary folder, removed)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${B:=$PWD/build}" "${WARPCHECK:=$B/warpcheck}" "${MONITOR_MBIT:=1000}" "${MONITOR_EVERY:=10}" "${MONITOR_BUFFER:=256M}"
minutes=${1:-20}
if [ "${MONITOR_INSIDE:-}" != 1 ]; then
	for program in tcpdump jq; do
		command -v "$program" >/dev/null || { echo "monitor.sh: $program is not there (tools/deps.sh bench)" >&2; exit 2; }
	done
	export MONITOR_INSIDE=1
	user=()
	[ "$(id -u)" -eq 0 ] || user=(--user --map-root-user)
	exec unshare "${user[@]}" --net "${BASH_SOURCE[0]}" "$minutes"
fi
if [ -z "${WORK:-}" ]; then
	WORK=$(mktemp -d)
	trap 'rm -rf "$WORK"' EXIT
fi
processes=()
trap 'kill -KILL "${processes[@]}" 2>/dev/null || true; '"$(trap -p EXIT | sed "s/^trap -- '//; s/' EXIT$//")" EXIT
ip link add name tap0 type veth peer name mirror0
for interface in tap0 mirror0; do
	echo 1 >"/proc/sys/net/ipv6/conf/$interface/disable_ipv6"
	ip link set "$interface" mtu 9500 up
done
"$B/bench/bench_gen_capture" "$WORK/one.pcap" 1 1

monitor() {
	"$WARPCHECK" monitor -i mirror0 --buffer "$MONITOR_BUFFER" --log "$WORK/log.jsonl" --quiet --rate 1 --metrics "$WORK/metrics.prom" --metrics-every 1 \
		>>"$WORK/monitor.out" 2>>"$WORK/monitor.err" &
	monitor=$!
	processes+=("$monitor")
	until grep -qs '^warpcheck_interface_up{interface="mirror0"} 1$' "$WORK/metrics.prom"; do
		kill -0 "$monitor"
		sleep 0.1
	done
}
cpu_of() { awk '{ print ($14 + $15) / 100 }' "/proc/$1/stat"; }
metric() { awk -v name="$1" 'index($1, name) == 1 { print $2; exit }' "$WORK/metrics.prom"; }
megabytes() { awk '$1 == "VmRSS:" { printf "%d", $2 / 1000 }' "/proc/${1:-$monitor}/status"; }

rm -f "$WORK"/{log.jsonl,metrics.prom,monitor.out,monitor.err}
tcpdump -i mirror0 -B "$((${MONITOR_BUFFER%M} * 1024))" -w /dev/null 2>"$WORK/tcpdump.err" &
tcpdump=$!
processes+=("$tcpdump")
monitor
"$B/bench/bench_mirror" tap0 "$WORK/one.pcap" "$((minutes * 60))" "$MONITOR_MBIT" "$MONITOR_EVERY" >"$WORK/faults" 2>"$WORK/sent" &
sender=$!
processes+=("$sender")
SECONDS=0 restarted=no
printf '%8s %14s %10s %10s\n' seconds frames findings 'MB resident'
first_early=0 early=0 next=60
while kill -0 "$sender" 2>/dev/null; do
	sleep 5
	[ "$first_early" -ne 0 ] || [ "$SECONDS" -lt 60 ] || first_early=$(megabytes) # its ring has been touched by then
	if [ "$restarted" = no ] && [ "$SECONDS" -ge $((minutes * 30)) ]; then
		kill -STOP "$sender"
		for ((seen = -1; seen != $(metric warpcheck_frames_total); )); do # what is in the ring is read
			seen=$(metric warpcheck_frames_total)
			sleep 3
		done
		cpu=$(cpu_of "$monitor") first_late=$(megabytes)
		lost=$(metric warpcheck_ring_lost_frames_total)
		kill -KILL "$monitor"
		wait "$monitor" 2>/dev/null || true
		rm -f "$WORK/metrics.prom"
		monitor
		kill -CONT "$sender"
		restarted=yes
		echo "killed and started again, after $cpu s of processor time and with $lost frames lost"
	fi
	[ "$early" -ne 0 ] || [ "$SECONDS" -lt $((minutes * 30 + 60)) ] || early=$(megabytes)
	[ "$SECONDS" -lt "$next" ] && continue
	next=$((next + 60))
	printf '%8d %14s %10s %10s\n' "$SECONDS" "$(metric warpcheck_frames_total)" "$(grep -c '"type":"finding"' "$WORK/log.jsonl" || true)" "$(megabytes)"
done
sleep 5
late=$(megabytes)
cpu=$(awk -v a="$cpu" -v b="$(cpu_of "$monitor")" 'BEGIN { print a + b }')
tcpdump_figures="$(cpu_of "$tcpdump") s of processor time, $(megabytes "$tcpdump") MB"
kill -INT "$monitor" "$tcpdump"
status=0
wait "$monitor" || status=$?
wait "$tcpdump" || true
read -r connections frames octets <"$WORK/sent"
jq -r 'select(.type == "finding" and .verdict == "FAIL") | .flow' "$WORK/log.jsonl" | sed 's/:.*//; s/>.*//' | sort >"$WORK/found"
sort "$WORK/faults" >"$WORK/sought"
missing=$(comm -23 "$WORK/sought" "$WORK/found" | wc -l)
more=$(comm -13 "$WORK/sought" "$WORK/found" | wc -l) # found twice, or no fault
# Each finding has a key; its last line says how often it was seen.
counted=$(jq -s '[.[] | select(.key and .verdict == "FAIL")] | group_by(.key) | map(last.count) | add // 0' "$WORK/log.jsonl")
lost=$((lost + $(jq -s 'map(select(.type == "summary" or .type == "counts") | .lost_frames // 0) | last // 0' "$WORK/log.jsonl")))
tcpdump_lost=$(awk '/dropped by kernel/ { print $1 }' "$WORK/tcpdump.err")
echo "$connections connections, $frames frames, $octets octets in $((minutes * 60)) s: $((octets * 8 / minutes / 60000000)) Mb/s"
echo "$(wc -l <"$WORK/sought") faults sent, $(wc -l <"$WORK/found") findings: $missing missing, $more too many; $counted times counted (exit status $status)"
echo "frames lost: monitor $lost, tcpdump ${tcpdump_lost:-unknown}"
echo "resident: $first_early MB after a minute, $first_late MB when it was killed; $early MB a minute after the second start, $late MB at the end"
echo "monitor, both processes: $cpu s of processor time; tcpdump: $tcpdump_figures"
flat() { [ "$1" -ne 0 ] && [ "$2" -le $(($1 + $1 / 10)) ]; }
[ "$missing" -eq 0 ] && [ "$more" -eq 0 ] && [ "$lost" -eq 0 ] && [ "$status" -eq 1 ] && [ "$counted" -eq "$(wc -l <"$WORK/sought")" ] &&
	flat "$first_early" "$first_late" && flat "$early" "$late"
