# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # console, work, output, jobs, dut, series: variables of run.sh
#
# The device's host stays healthy: what run.sh makes of a guest whose kernel complains, hangs or ends. To be sourced by it.
#
#   host_watch       beside the run: when the first complaint comes, how many lines the results had is noted
#   host_hangs       is the guest there, and answers nothing any more?
#   host_leaks       of a kernel with kmemleak: what it finds after the run is on the console then
#   host_fails WHAT  the row of this failure in the results, in all reports, and as the last line of output
#   host_reruns      outside, when the guest is gone: each check that ran at that moment alone, in a guest of its own; names the one that does it again
host_id=LAB-HOST-01
host_tried=6 # so many checks are run again at most for a leak

# Warnings name their processor up to 6.18, and a file or "at" from 6.19 on; lockdep, RCU, UBSAN, KASAN, KCSAN and kmemleak have words of their own.
complaints='Kernel panic|BUG:|Oops:|general protection|WARNING: (CPU|at |[a-z_/0-9.-]+\.[ch]:|possible|suspicious|inconsistent|bad unlock|lock held)'
complaints+='|suspicious RCU usage|UBSAN: |blocked for more than [0-9]+ seconds|self-detected stall|detected stalls|kmemleak: [0-9]+ new|unreferenced object 0x|refcount_t: '

host_watch() {
	while sleep 0.5; do
		if grep -qaE "$complaints" "$console" 2>/dev/null; then
			{ [ -n "$output" ] && [ -e "$output/results.jsonl" ] && wc -l <"$output/results.jsonl" || echo 0; } >"$work/moment"
			return
		fi
	done
}

# kmemleak looks for objects of 5 s and older alone, and believes what it sees twice. The guest's shell listens where nobody else can reach it.
host_leaks() {
	local status=0
	exec 4<>/dev/tcp/10.78.0.2/7472 || return 0
	cat >&4 <<-'GUEST'
		mount -t debugfs none /sys/kernel/debug
		sleep 6
		echo scan >/sys/kernel/debug/kmemleak
		echo scan >/sys/kernel/debug/kmemleak
		head -c 20000 /sys/kernel/debug/kmemleak >/dev/ttyS0
		echo "leaks: looked"
		exit
	GUEST
	grep -q '^leaks: looked' < <(timeout 120 cat <&4) || status=1
	exec 4>&-
	return "$status"
}

# A port at which nobody listens is refused at once by a kernel that works.
host_hangs() {
	local status=0
	timeout 10 bash -c 'exec 3<>/dev/tcp/10.78.0.2/1' 2>/dev/null || status=$?
	[ "$status" -eq 124 ]
}

# "ID ROLE" of the checks that ran when the first complaint came: the next ones that ended, as many as ran side by side. A leak is found after the run, and
# may be of any check that ran: all of them, where they are few enough to be tried.
host_moment() {
	local before=0 most=$jobs ran
	[ -n "$output" ] && [ -s "$output/results.jsonl" ] || return 0
	if [ -s "$work/moment" ]; then before=$(<"$work/moment"); else most=$host_tried; fi
	ran=$(tail -n +$((before + 1)) "$output/results.jsonl" | jq -r 'select(.type == "journal") | "\(.id) \(.role)"' 2>/dev/null)
	if [ -s "$work/moment" ]; then sed -n "1,${most}p" <<<"$ran"; elif [ "$(wc -l <<<"$ran")" -le "$most" ]; then echo "$ran"; fi
}

# The first complaint, without the folder in which the module was built. Where it names neither a function nor a file (a leak, a cycle of locks) the first
# function of a module in the trace that follows it.
host_first() {
	local first function
	first=$(grep -aEm 1 "$complaints" "$console" 2>/dev/null | tr -cd '\40-\176' | sed -E 's/^\[ *[0-9.]*\] *//; s, /[^ ]*/([^/ ]+/[^/ ]+\.[ch]:), \1,' | cut -c 1-200) || true
	if [[ -n $first && $first != *[/]* && $first != *+0x* ]]; then
		function=$(grep -aE -m 1 -A 60 "$complaints" "$console" | sed -nE 's/.*[ (?]([A-Za-z_][A-Za-z0-9_.]*)\+0x[0-9a-f]+\/0x[0-9a-f]+ \[([a-z0-9_]+)\].*/\1 [\2]/p' | sed -n 1p)
		[ -z "$function" ] || first="${first%:}: $function"
	fi
	echo "${first:-nothing on the console}"
}

# SHA256SUMS of the results as they are now.
host_sums() {
	[ ! -f "$output/SHA256SUMS" ] ||
		sed -i "s/^[0-9a-f]* \( results\.jsonl\)$/$(sha256sum <"$output/results.jsonl" | cut -d ' ' -f 1) \1/" "$output/SHA256SUMS"
}

# The summary's "chain" anew: how many lines are before it, and their CRC32C (reports/results/results_chain.h). perl is in each Debian.
host_chain() {
	perl -ne 'BEGIN { ($crc, @table) = (0xFFFFFFFF, map { my $c = $_; $c = $c >> 1 ^ ($c & 1 ? 0x82F63B78 : 0) for 1 .. 8; $c } 0 .. 255) }
		s/"chain":\{[^}]*\}/sprintf q("chain":{"lines":%d,"crc32c":"%08x"}), $. - 1, $crc ^ 0xFFFFFFFF/e if /^\{"type":"summary"/;
		print; $crc = $table[($crc ^ $_) & 255] ^ $crc >> 8 for unpack "C*", $_'
}

# host_edit JQ-ARGUMENTS...: the results with another row in front of the summary, which knows of it; then the reports again.
host_edit() {
	[ -n "$output" ] && [ -s "$output/results.jsonl" ] && [ ! -L "$output/results.jsonl" ] || return 0
	jq -c "$@" "$output/results.jsonl" | host_chain >"$LAB_WORK/edited" || return 0
	cp --remove-destination "$LAB_WORK/edited" "$output/results.jsonl"
	host_sums
	"$WARPCHECK" report "$output" >/dev/null 2>&1 || true
}

host_fails() {
	local first moment
	first=$(host_first)
	moment=$(host_moment)
	echo "$moment" | sed '/^$/d' >"$LAB_WORK/suspects"
	host_edit --arg id "$host_id" --arg what "$1" --arg first "$first" --arg moment "$(paste -s -d , <<<"$moment" | sed 's/,/, /g')" \
		--arg dut "$dut" --arg ids "$(cut -d ' ' -f 1 <<<"$moment" | sort -u | paste -s -d ' ')" '
		if .type == "summary" then
			{type: "result", id: $id, verdict: "FAIL", by: "check", expected: "the kernel of the device\u0027s host neither complains nor stops", actual: $first,
				message: ($what + if $moment == "" then "" else "; the checks that ran then: " + $moment end), count: 1, purpose: "the device\u0027s host stays healthy",
				replay: ("warpcheck run " + $ids + " --dut " + $dut + " -j 1")},
			.fail += 1
		else . end'
	echo "FAIL  $host_id  $1: $first"
	status=1
}

host_reruns() {
	local id role said named=''
	[ -s "$LAB_WORK/suspects" ] && [ "${LAB_RERUN:-yes}" = yes ] || return 0
	while read -r id role; do
		said=$(LAB_RERUN=no LAB_INSIDE='' "${BASH_SOURCE[1]}" --series "$series" ${kernel_options[@]+"${kernel_options[@]}"} "$id" --role "$role" -j 1 --all -o "$LAB_WORK/rerun" --force 2>&1 </dev/null) || true
		if grep -q "^FAIL  $host_id" <<<"$said"; then
			named="$id as $role"
			break
		fi
	done <"$LAB_WORK/suspects"
	if [ -n "$named" ]; then named="$named does it again, alone in a fresh guest"; else named="none of the checks that ran then does it alone"; fi
	echo "FAIL  $host_id  $named"
	host_edit --arg id "$host_id" --arg named "$named" 'if .type == "result" and .id == $id then .message += "; " + $named else . end'
}
