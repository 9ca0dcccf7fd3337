#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# chaos.sh [--calls CLASS,...] [SUBJECT...]: stops commands at moments that are counted and not timed, and makes their
# calls fail, one after another; then resumes them (--resume) or repeats them (--force), and compares with what an
# undisturbed command gave: the same verdicts, nothing lost, no report that is half of one, no process or lock left.
# Subjects: run, workers (run -j 2: which call is the N-th is chance there), live, audit, prove, report, merge, gen, new
# (new-check), course, monitor, bridge, peer, disk; all of them when none is named.
#
#   --calls   the classes of calls that fail: open, write, sync, rename, close, remove, make and memory; all of them
#   MOMENTS   how many moments of each command SIGKILL and SIGTERM come at (100)
#   FAULTS    how many calls of each class fail in turn: a number, or all (all). Of allocations all means each that is
#             reached in a way of its own (the functions that call one another), and each at all where there are few
#             Of failures in other ways (a device that is full, EINTR, EIO, a short write), and of a live run, whose
#             code is the simulated run's but for the link, at most MOMENTS
#   JOBS      how many subjects at once (as many as there are processors)
#   SEED      moments follow from it (1)
#   WORK      folder to work in (build/chaos)
#
# What is preloaded is tests/support/chaos.c, built by make: a failing case is repeated by hand with the variables that
# stand at the top of that file. The last line is "N checked, N wrong"; the exit status is 0 only if something was
# checked and nothing was wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${B:=$PWD/build}" "${CC:=gcc}" "${JOBS:=$(nproc)}" "${MOMENTS:=100}" "${FAULTS:=all}" "${SEED:=1}" "${CASE_SECONDS:=300}"
: "${WARPCHECK:=$B/warpcheck}" "${IWARP_PEER:=$B/iwarp-peer}" "${CHAOS:=$B/chaos.so}" "${WORK:=$B}"
export LC_ALL=C.UTF-8 TZ=UTC
CLASSES='open write sync rename close remove make memory'
if [ "${1:-}" = --calls ]; then
	CLASSES=${2//,/ }
	shift 2
fi
most=all
WORK=$WORK/chaos
rm -rf "${WORK:?}"
mkdir -p "$WORK"
export WORK
# shellcheck source=tests/e2e/wrong.bash
source tests/e2e/wrong.bash
kept_output=$WORK/held
echo "seed $SEED, $MOMENTS moments, $FAULTS faults of each class"

# ---- one command ----------------------------------------------------------------------------------------------------

# attempt COMMAND...: its status in $status, its output in $WORK/stdout and $WORK/stderr. Every process that it starts
# holds the pipe: the pipe's end comes when none is left.
attempt() {
	local left=0
	rm -f "$WORK/status"
	{
		timeout -k 5 "$CASE_SECONDS" "$@" 9>&1 >"$WORK/stdout" 2>"$WORK/stderr" </dev/null && echo 0 >"$WORK/status" || echo $? >"$WORK/status"
	} 2>/dev/null | timeout 60 cat >/dev/null || left=$?
	status=$(cat "$WORK/status")
	checked=$((checked + 1))
	[ "$left" -eq 0 ] || wrong "a process is left: $*"
}

# chaotic CLASS AT DEED COMMAND...: the command alone, not what is in $around
around=()
chaotic() {
	attempt "${around[@]}" env LD_PRELOAD="$CHAOS" CHAOS_CLASS="$1" CHAOS_AT="$2" CHAOS_DO="$3" CHAOS_COUNT="$WORK/count" \
		CHAOS_ERRNO="${error:-28}" CHAOS_STEP="${step:-0}" CHAOS_WHO="${who:-main}" CHAOS_SITES="${sites:-}" \
		MALLOC_PERTURB_=165 "${@:4}"
}

# moments MANY OF: so many numbers from 1 to OF, of this case's own series. The number of the case stands in a file:
# what calls moments reads its output, and so runs it in a shell of its own.
moments() {
	local case_number=$(($(cat "$WORK/case" 2>/dev/null || echo 0) + 1))
	echo "$case_number" >"$WORK/case"
	awk -v seed="$((SEED * 1000 + case_number))" -v many="$1" -v of="$2" 'BEGIN {
		srand(seed)
		for (i = 0; i < many; i++)
			print 1 + int(rand() * of)
	}'
}

# calls CLASS OF: each number from 1 to OF, or FAULTS of them, at most $most; of many allocations those in $WORK/sites.
calls() {
	local all=$WORK/calls
	if [ "$1" = memory ] && [ "$2" -gt 1000 ]; then cp "$WORK/sites" "$all"; else seq "$2" >"$all"; fi
	local few=$FAULTS
	[ "$few" != all ] || few=$most
	[ "$most" = all ] || [ "$few" -le "$most" ] || few=$most
	if [ "$few" = all ] || [ "$few" -ge "$(wc -l <"$all")" ]; then
		cat "$all"
	else
		moments "$few" "$(wc -l <"$all")" | sort -nu | while read -r line; do sed -n "${line}p" "$all"; done
	fi
}

# ---- what a command leaves ------------------------------------------------------------------------------------------

# Everything but the times, which are the run's own, and the ladders and places of frames, which a finding may do
# without.
lines() { jq -cS 'del(.started, .ended, .command_line, .chain, .duration_ns, .offset, .octets, .steps) | del(.findings[]?.offset, .findings[]?.octets)' "$1/results.jsonl"; }
# What was decided: of a live run the frames and counts are never the same twice.
verdicts() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$1/results.jsonl" | sort -u; }

# Every file, to the octet. A lock file that could not be removed does no harm.
contents() { (cd "$1" && find . -type f ! -name .lock -exec cksum {} + | sort); }

# No file is half of one; of results.jsonl the last line may be.
is_whole() {
	local dir=$1
	[ ! -e "$dir/warpcheck/course.json" ] || jq -e '.exercises["2"]' "$dir/warpcheck/course.json" >/dev/null || { echo "what was passed is lost"; return 1; }
	[ ! -e "$dir/index.html" ] || grep -q '</html>' < <(tail -c 20 "$dir/index.html") || { echo "index.html is torn"; return 1; }
	[ ! -e "$dir/junit.xml" ] || grep -q '^</testsuites>' < <(tail -n 1 "$dir/junit.xml") || { echo "junit.xml is torn"; return 1; }
	[ ! -e "$dir/results.sarif" ] || jq -e . "$dir/results.sarif" >/dev/null || { echo "results.sarif is torn"; return 1; }
	local lines
	for lines in "$dir/results.jsonl" "$dir/log.jsonl"; do
		[ ! -s "$lines" ] || [ "$(wc -l <"$lines")" -eq 0 ] || head -n "$(wc -l <"$lines")" "$lines" | jq -e . >/dev/null ||
			{ echo "${lines##*/} is torn within"; return 1; }
	done
	! declare -F "${subject}_whole" >/dev/null || "${subject}_whole" "$dir"
}

# A command that was stopped never leaves something that says that all is well.
claims_nothing() {
	local got=0
	[ -s "$1/results.jsonl" ] || return 0
	# It was at its end.
	! jq -es 'any(.[]; .type == "summary" and (.stopped | not))' "$1/results.jsonl" >/dev/null 2>&1 || return 0
	"$WARPCHECK" report "$1" --format tap -o - >"$WORK/tap" 2>/dev/null || got=$?
	[ "$got" -ne 0 ] || grep -q '^Bail out!' "$WORK/tap" || { echo "the report of a stopped run does not say so"; return 1; }
}

# ---- subjects -------------------------------------------------------------------------------------------------------

# A subject is: name_start DIR (the command), name_again DIR (what resumes or repeats it), name_state DIR (what
# is compared), the exit status when it is undisturbed in $undisturbed, and whether SIGTERM ends it in order in
# $graceful.

# check_state WHAT DIR: after it was resumed.
check_state() {
	holds "$1: ends as when undisturbed (status $status, not $undisturbed)" test "$status" -eq "$undisturbed"
	"${subject}_state" "$2" >"$WORK/state" 2>&1 || true
	holds "$1: the same as when undisturbed" diff -q "$WORK/state" "$WORK/$subject.state"
	holds "$1: no lock and no part is left" test -z "$(find "$2" -name .lock -o -name '*.part' 2>/dev/null)"
}

# fresh DIR: what the command finds when it begins.
fresh() {
	rm -rf "${1:?}"
	! declare -F "${subject}_prepare" >/dev/null || "${subject}_prepare" "$1"
}

go_on() {
	holds "$1: nothing is torn" is_whole "$2"
	holds "$1: it does not claim to be whole" claims_nothing "$2"
	"${subject}_again" "$2"
	check_state "$1, then gone on with" "$2"
}

# stops DEED: SIGKILL or SIGTERM at MOMENTS calls.
stops() {
	local deed=$1 dir=$WORK/$subject at
	fresh "$dir"
	class=files at=0 deed='' "${subject}_start" "$dir"
	for at in $(moments "$MOMENTS" "$all_calls"); do
		fresh "$dir"
		class=files at=$at deed=$deed "${subject}_start" "$dir"
		case $deed:$status in
		kill:137 | term:143 | *:"$undisturbed") ;;
		term:3) [ "${waits:-no}" = yes ] || wrong "$subject: SIGTERM at call $at: status $status" ;; # before the first frame
		term:[14]) [ "$graceful" = yes ] || wrong "$subject: SIGTERM at call $at: status $status" ;;
		*) wrong "$subject: SIG${deed^^} at call $at: status $status" "$(head -c 300 "$WORK/stderr")" ;;
		esac
		checked=$((checked + 1))
		go_on "$subject, SIG${deed^^} at call $at" "$dir"
	done
}

# fails CLASS DEED: each call of the class fails.
fails() {
	local class=$1 deed=$2 dir=$WORK/$subject at
	rm -f "$WORK/sites" "$WORK/count"
	fresh "$dir"
	sites=$([ "$class" != memory ] || echo "$WORK/sites") at=0 deed='' "${subject}_start" "$dir"
	for at in $(calls "$class" "$(tail -n 1 "$WORK/count" | cut -d' ' -f1)"); do
		fresh "$dir"
		at=$at "${subject}_start" "$dir"
		checked=$((checked + 1))
		if [ "$class" = memory ]; then
			without_memory "$subject, allocation $at fails ($deed)" "$dir"
			continue
		fi
		if [ "$status" -eq "$undisturbed" ] && { [ "$status" -eq 0 ] || [ ! -s "$WORK/stderr" ]; }; then
			"${subject}_state" "$dir" >"$WORK/state" 2>&1 || true
			holds "$subject, $class $at fails ($deed) and is no matter: the same as when undisturbed" diff -q "$WORK/state" "$WORK/$subject.state"
		elif [ "$status" -eq "$undisturbed" ]; then
			: # what fails has failed, and the rest is reported
		elif [ "$status" -ne 4 ] && [ "$status" -ne 2 ]; then
			wrong "$subject, $class $at fails ($deed): status $status" "$(head -c 300 "$WORK/stderr")"
		elif [ ! -s "$WORK/stderr" ]; then
			wrong "$subject, $class $at fails ($deed): status $status without a word"
		fi
		go_on "$subject, $class $at failed ($deed)" "$dir"
	done
}

# without_memory WHAT DIR: status 4 and one sentence; or the memory was not needed, and all is as when undisturbed.
without_memory() {
	if [ "$status" -eq "$undisturbed" ] && [ "$status" -ne 4 ]; then
		"${subject}_state" "$2" >"$WORK/state" 2>&1 || true
		holds "$1 and is no matter: the same as when undisturbed" diff -q "$WORK/state" "$WORK/$subject.state"
	elif [ "$status" -ne 4 ]; then
		wrong "$1: status $status" "$(head -c 300 "$WORK/stderr")"
	elif ! grep -q '^[a-z-]*\( [a-z-]*\)\?: ' "$WORK/stderr"; then
		wrong "$1: status 4 without a sentence" "$(head -c 300 "$WORK/stderr")"
	elif grep -q 'conforms in everything' "$WORK/stdout"; then
		wrong "$1: status 4, and it says that the device conforms"
	fi
	holds "$1: nothing is torn" is_whole "$2"
}

# subject NAME STATUS GRACEFUL [MOST]
subject() {
	local limit=${4:-all}
	subject=$1 graceful=$3
	echo "== $subject"
	fresh "$WORK/$subject"
	class=files at=0 deed='' "${subject}_start" "$WORK/$subject"
	undisturbed=$status
	all_calls=$(tail -n 1 "$WORK/count" | cut -d' ' -f1)
	holds "$subject: undisturbed it ends with $2, here $status" test "$status" -eq "$2"
	"${subject}_state" "$WORK/$subject" >"$WORK/$subject.state"
	holds "$subject: there is something to compare" test -s "$WORK/$subject.state"
	stops kill
	stops term
	for kind in $CLASSES; do
		most=$limit
		fails "$kind" fail
		most=$MOMENTS
		case $kind in write | memory) fails "$kind" full ;; esac
		[ "$kind" != write ] || { error=4 fails write fail && error=5 fails write fail && fails write short; }
	done
}

run_options=(run --simulate --defect atom-request-reserved 'ATOM-5.2*' 'ATOM-4.1-0*')
run_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" "${run_options[@]}" -j 1 -o "$1"; }
run_again() { attempt "$WARPCHECK" "${run_options[@]}" -j 1 -o "$1" --resume; }
run_state() { lines "$1"; }

workers_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" "${run_options[@]}" -j 2 -o "$1"; }
workers_again() { attempt "$WARPCHECK" "${run_options[@]}" -j 2 -o "$1" --resume; }
workers_state() { lines "$1"; }

live_options=(run --defect ddp-qn-wrong-code 'DDP-7.2-0*' 'MPA-7.1-0*' -j 1)
live_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" "${live_options[@]}" -o "$1"; }
live_again() { attempt "$WARPCHECK" "${live_options[@]}" -o "$1" --resume; }
live_state() { verdicts "$1"; }

audit_input=(pcaps/generated/sctp-faults.pcap pcaps/generated/bad-crc.pcap pcaps/linux-siw/siw-rping-terminate.pcap)
audit_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" audit -j "${jobs:-1}" "${audit_input[@]}" -o "$1"; }
audit_again() { attempt "$WARPCHECK" audit "${audit_input[@]}" -o "$1" --force; }
audit_state() { lines "$1"; }

prove_options=(prove --scripts conformance/scripts/ddp/7-errors.lua --seeds 3 -j 2 --format jsonl ddp-qn-unchecked ddp-qn-wrong-code)
keep_output() { mkdir -p "$1" && cp "$WORK/stdout" "$1/proved"; }
prove_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" "${prove_options[@]}" && keep_output "$1"; }
prove_again() { attempt "$WARPCHECK" "${prove_options[@]}" && keep_output "$1"; }
prove_state() { cat "$1/proved"; }

report_prepare() { mkdir "$1" && cp "$WORK/run-whole/results.jsonl" "$1"; }
report_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" report "$1"; }
report_again() { attempt "$WARPCHECK" report "$1"; }
report_state() { contents "$1"; }

merge_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" report --merge "$WORK/shard1" "$WORK/shard2" -o "$1"; }
merge_again() { attempt "$WARPCHECK" report --merge "$WORK/shard1" "$WORK/shard2" -o "$1" --force; }
merge_state() { contents "$1"; }

gen_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" gen --corpus "$1" generator/examples/faults.lua; }
gen_again() { attempt "$WARPCHECK" gen --corpus "$1" generator/examples/faults.lua --force; }
gen_state() { contents "$1"; }

# Progress is kept in a file that others' exercises are in, too: one of them is passed before. How often it was tried is
# no matter.
course_prepare() { attempt env XDG_STATE_HOME="$1" "$WARPCHECK" course answer 2 11 initiator; }
course_start() { XDG_STATE_HOME=$1 chaotic "$class" "$at" "$deed" "$WARPCHECK" course answer 1 17 initiator; }
course_again() { XDG_STATE_HOME=$1 attempt "$WARPCHECK" course answer 1 17 initiator; }
course_state() { jq -S '.exercises | map_values(del(.tries))' "$1/warpcheck/course.json"; }

new_prepare() { mkdir "$1"; }
new_start() { chaotic "$class" "$at" "$deed" "$WARPCHECK" new-check RDMAP-4.8-50 --anyway -o "$1/skeleton.lua"; }
new_again() { attempt "$WARPCHECK" new-check RDMAP-4.8-50 --anyway -o "$1/skeleton.lua" --force; }
new_state() { contents "$1"; }

# shellcheck source=tools/chaos-cable.bash
source tools/chaos-cable.bash

chaos_run() {
	subject run 1 yes
	steps run
	disturb_twice
}

chaos_workers() { subject workers 1 yes; }

# steps SUBJECT: the wall clock goes an hour or a day, forwards or backwards.
steps() {
	local at few=$(((MOMENTS + 9) / 10))
	for step in 3600 -3600 86400 -86400; do
		fresh "$WORK/$subject"
		class=clock at=0 deed='' "${subject}_start" "$WORK/$subject"
		for at in $(moments "$few" "$(tail -n 1 "$WORK/count" | cut -d' ' -f1)"); do
			fresh "$WORK/$subject"
			class=clock at=$at deed=step "${subject}_start" "$WORK/$subject"
			check_state "$subject, the clock steps by $step s at its reading $at" "$WORK/$subject"
		done
	done
	step=0
}

# A run that is stopped again and again, until it is at its end.
disturb_twice() {
	local dir=$WORK/$subject at stopped=0
	fresh "$dir"
	class=files at=$((all_calls / 3)) deed=kill "${subject}_start" "$dir"
	for at in $(moments "$((MOMENTS / 4 + 2))" "$((all_calls / 3))"); do
		chaotic files "$at" kill "$WARPCHECK" "${run_options[@]}" -j 1 -o "$dir" --resume
		[ "$status" -ne 137 ] || stopped=$((stopped + 1))
	done
	go_on "$subject, stopped $stopped times more" "$dir"
}

chaos_live() {
	unshare -rn true 2>/dev/null || { echo "SKIP  live: no network namespace can be made here"; return 0; }
	subject live 1 yes "$MOMENTS"
	steps live
	local at
	for at in $(moments "$MOMENTS" "$all_calls"); do
		fresh "$WORK/live"
		class=files at=$at deed=orphan live_start "$WORK/live"
		checked=$((checked + 1))
		case $status in 1 | 4) ;; *) wrong "live, the device is killed at call $at: status $status" "$(head -c 300 "$WORK/stderr")" ;; esac
		go_on "live, the device killed at call $at" "$WORK/live"
	done
}

chaos_audit() {
	subject audit 1 yes
	steps audit
	# What the workers of -j do; their failure is the audit's.
	jobs=2 who=forks
	fails_in_workers write
	jobs=1 who=main
}

# A worker's call fails, or the worker is killed: the audit notices.
fails_in_workers() {
	local class=$1 deed at dir=$WORK/$subject
	for deed in fail kill; do
		fresh "$dir"
		at=0 deed='' "${subject}_start" "$dir"
		for at in $(moments "$(((MOMENTS + 4) / 5))" "$(sort -n "$WORK/count" | tail -n 1 | cut -d' ' -f1)"); do
			fresh "$dir"
			"${subject}_start" "$dir"
			checked=$((checked + 1))
			if [ "$status" -eq "$undisturbed" ]; then
				"${subject}_state" "$dir" | sort >"$WORK/state" 2>&1 || true
				holds "$subject, a worker's $class $at: $deed, and no matter" diff -q "$WORK/state" <(sort "$WORK/$subject.state")
			elif [ "$status" -ne 4 ]; then
				wrong "$subject, a worker's $class $at: $deed: status $status" "$(head -c 300 "$WORK/stderr")"
			fi
		done
	done
}

chaos_prove() {
	subject prove 0 yes
	prove_again "$WORK/prove"
	holds "prove: what was proved merges" "$WARPCHECK" prove --merge "$WORK/prove/proved"
	who=forks
	for kind in write fork; do fails_in_workers "$kind"; done
	who=main
}

chaos_report() {
	rm -rf "$WORK/run-whole"
	attempt "$WARPCHECK" "${run_options[@]}" -o "$WORK/run-whole"
	subject report 0 no
}

chaos_merge() {
	rm -rf "$WORK/shard1" "$WORK/shard2"
	attempt "$WARPCHECK" "${run_options[@]}" --shard 1/2 -o "$WORK/shard1"
	attempt "$WARPCHECK" "${run_options[@]}" --shard 2/2 -o "$WORK/shard2"
	subject merge 1 no
}

chaos_gen() { subject gen 0 yes; }
chaos_new() { subject new 0 no; }
chaos_course() { subject course 0 no; }

# iwarp-peer at work (tests/support/peer_load.pl) without memory; FAULTS=all: each allocation that is reached in a way
# of its own.
chaos_peer() {
	local which=sites counts
	echo "== peer"
	[ "$FAULTS" = all ] || which=$(moments "$FAULTS" 400 | paste -sd,)
	CHAOS=$CHAOS perl tests/support/peer_load.pl "$IWARP_PEER" "$IWARP_PEER" "$which" fail full >"$WORK/load" 2>&1 || true
	grep '^WRONG' "$WORK/load" || true
	counts=$(tail -n 1 "$WORK/load")
	if [[ $counts =~ ^([0-9]+)\ cases,.*\ ([0-9]+)\ wrong$ ]]; then
		checked=$((checked + BASH_REMATCH[1]))
		broken=$((broken + BASH_REMATCH[2]))
	else
		wrong "peer: $(head -c 300 "$WORK/load")"
	fi
}

# A disk of so many KiB that fills, and then has room again.
chaos_disk() {
	local size
	unshare -rm true 2>/dev/null || { echo "SKIP  disk: no mount namespace can be made here"; return 0; }
	echo "== disk"
	subject=run
	attempt "$WARPCHECK" "${run_options[@]}" -o "$WORK/disk-whole"
	undisturbed=$status
	run_state "$WORK/disk-whole" >"$WORK/run.state"
	cat >"$WORK/disk.bash" <<'SHELL'
size=$1 disk=$2
shift 2
mount -t tmpfs -o size="${size}k" none "$disk" || exit 99
status=0
"$@" -o "$disk/out" || status=$?
[ "$status" -eq 4 ] || { echo "status $status on a disk of $size KiB" >&2; [ "$status" -eq 0 ] || [ "$status" -eq 1 ] || exit 98; }
mount -o remount,size=64m "$disk" || exit 97
again=0
"$@" -o "$disk/out" --resume || again=$?
cp -r "$disk/out" "$disk.out"
exit "$again"
SHELL
	for size in $(moments "$(((MOMENTS + 1) / 2))" "$(du -sk "$WORK/disk-whole" | cut -f1)"); do
		rm -rf "$WORK/disk" "$WORK/disk.out"
		mkdir "$WORK/disk"
		attempt unshare -rm bash "$WORK/disk.bash" "$size" "$WORK/disk" "$WARPCHECK" "${run_options[@]}"
		check_state "a disk of $size KiB that gets room again" "$WORK/disk.out"
	done
}

# JOBS subjects at once, each by a chaos.sh of its own.
apart() {
	local name counts log=$WORK/log
	mkdir "$log"
	printf '%s\n' "${subjects[@]}" | xargs -P "$JOBS" -I{} bash -c \
		'JOBS=1 WORK="$1/$2" tools/chaos.sh --calls "$3" "$2" >"$1/log/$2" 2>&1' - "$WORK" {} "${CLASSES// /,}" || true
	for name in "${subjects[@]}"; do
		counts=$(tail -n 1 "$log/$name" 2>/dev/null || true)
		sed '1d;$d' "$log/$name" 2>/dev/null || true
		if [[ $counts =~ ^([0-9]+)\ checked,\ ([0-9]+)\ wrong$ ]]; then
			echo "   $name: $counts"
			checked=$((checked + BASH_REMATCH[1])) broken=$((broken + BASH_REMATCH[2]))
		else
			wrong "$name: no end" "$counts"
		fi
	done
}

subjects=("$@")
[ $# -gt 0 ] || subjects=(run workers live audit prove report merge gen new course monitor bridge peer disk)
for name in "${subjects[@]}"; do
	declare -F "chaos_$name" >/dev/null || { echo "chaos.sh: there is no subject '$name'" >&2; exit 2; }
done
if [ "$JOBS" -gt 1 ] && [ "${#subjects[@]}" -gt 1 ]; then
	apart
else
	for name in "${subjects[@]}"; do "chaos_$name"; done
fi
rm -rf "$WORK"
echo "$checked checked, $broken wrong"
[ "$checked" -gt 0 ] && [ "$broken" -eq 0 ]
