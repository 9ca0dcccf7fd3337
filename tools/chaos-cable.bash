# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# For tools/chaos.sh: monitor and bridge, between interfaces of a network of their own (tests/support/cable.bash).

# shellcheck disable=SC2154,SC2034 # variables are those of chaos.sh, which sets or reads them
# Frames come by a cable in a network of their own. What was in the log before a monitor was stopped stays there, as it was.
frames=pcaps/generated/atomics.pcap
frame_count=$(perl -ne 'BEGIN { binmode STDIN; $/ = undef } for ($at = 24, $n = 0; $at < length; $n++) { $at += 16 + unpack "x$at x8 V", $_ } print $n' <"$frames")
monitor_run() { "${@:2}" "$WARPCHECK" monitor -i a0 --count "$frame_count" --log "$1/log.jsonl" --evidence "$1/evidence" --metrics "$1/metrics.prom"; }
monitor_prepare() { mkdir -p "$1/evidence"; }
monitor_start() { around=("${cable[@]}") && monitor_run "$1" chaotic "$class" "$at" "$deed"; }
monitor_again() {
	cp "$1/log.jsonl" "$WORK/before" 2>/dev/null || : >"$WORK/before"
	monitor_run "$1" attempt "${cable[@]}"
	holds "monitor: what the log had stays" cmp -n "$(head -n "$(wc -l <"$WORK/before")" "$WORK/before" | wc -c)" "$WORK/before" "$1/log.jsonl"
}
monitor_state() { jq -cR 'fromjson? | select(.type == "finding" or .type == "known") | [.id, .verdict, .flow]' "$1/log.jsonl" | sort -u; }
monitor_whole() {
	[ ! -s "$1/metrics.prom" ] || [ -z "$(tail -c 1 "$1/metrics.prom")" ] || { echo "the metrics are torn"; return 1; }
}

bridge_run() { "${@:2}" "$WARPCHECK" bridge a0 b0 --count "$frame_count" -o "$1" --force --capture "$1.links"; }
bridge_prepare() { rm -rf "$1.links"; }
bridge_start() { around=("${cable[@]}") && bridge_run "$1" chaotic "$class" "$at" "$deed"; }
bridge_again() { bridge_run "$1" attempt "${cable[@]}"; }
bridge_state() {
	verdicts "$1"
	local link
	for link in a b; do "$WARPCHECK" dump --format jsonl "$1.links/$link.pcapng" | jq -cS 'del(.time, .time_ns, .file)'; done
}
chaos_monitor() { on_a_cable monitor; }
chaos_bridge() { on_a_cable bridge; }
on_a_cable() {
	unshare -rn true 2>/dev/null || { echo "SKIP  $1: no network namespace can be made here"; return 0; }
	cable=(unshare -rn bash tests/support/cable.bash "$frames")
	waits=yes
	subject "$1" 1 yes "$MOMENTS"
	waits=no around=()
}

