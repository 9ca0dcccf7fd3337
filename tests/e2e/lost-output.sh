#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Output that is lost is no success: every command with standard output full or closed ends with exit status 4 and one line on
# stderr. Programs started with descriptors closed put nothing of theirs there: no file gets text that is not its own.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

capture=pcaps/generated/sctp-faults.pcap
expect 1 "a run" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*' -o "$WORK/run"
"$WARPCHECK" prove --seeds 1 --format jsonl ddp-qn-unchecked >"$WORK/proved"
"$WARPCHECK" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p' >"$WORK/commands"
holds "the help names the commands" grep -qx audit "$WORK/commands"

# with NAME REDIRECTION COMMAND...: the command with descriptors as the redirection says.
with() {
	local what=$1 redirection=$2
	shift 2
	expect 4 "$what: $*" bash -c "exec \"\$0\" \"\$@\" $redirection" "$@"
}

# lost COMMAND...: its standard output is full, or closed.
lost() {
	with "full" '>/dev/full' "$@"
	with "closed" '>&-' "$@"
	with "all but stderr closed" '<&- >&-' "$@"
}

echo "== every command"
lost "$WARPCHECK" --help
lost "$WARPCHECK" --version
while read -r command; do
	lost "$WARPCHECK" "$command" --help
done <"$WORK/commands"
lost "$WARPCHECK" list
lost "$WARPCHECK" list --checks
lost "$WARPCHECK" list --format jsonl 'DDP-7*'
lost "$WARPCHECK" explain DDP-7.1-01
lost "$WARPCHECK" new-check ATOM7306-5.2.2-01 --anyway -o -
lost "$WARPCHECK" course hint 1
lost "$WARPCHECK" course start 1 -o "$WORK/exercise"
lost "$WARPCHECK" dump "$capture"
lost "$WARPCHECK" dump --format jsonl "$capture"
lost "$WARPCHECK" complete -- warpcheck run -
for format in text markdown profile jsonl; do lost "$WARPCHECK" pics --format "$format"; done
for format in pcapng pcap hex c raw; do
	lost "$WARPCHECK" gen --format "$format" -e 'do packet(("x"):rep(100)) end' -o -
done
lost "$WARPCHECK" gen --list generator/examples/faults.lua
for format in text jsonl html junit tap sarif md; do
	lost "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*' --format "$format"
	lost "$WARPCHECK" audit "$capture" --format "$format"
	[ "$format" = jsonl ] || lost "$WARPCHECK" report "$WORK/run" --format "$format" -o -
done
lost "$WARPCHECK" run --simulate 'DDP-7*' --dry-run
lost "$WARPCHECK" report "$WORK/run"
lost "$WARPCHECK" report --matrix "$WORK/run" -o -
for format in text jsonl; do
	lost "$WARPCHECK" prove --seeds 0 --format "$format" ddp-qn-unchecked
	lost "$WARPCHECK" prove --merge --format "$format" "$WORK/proved"
done
# Between interfaces of their own; that there was no iWARP is a line, too.
cat >"$WORK/cables" <<'SHELL'
for side in a0 b0; do
	ip link add name "$side" type veth peer name "$side-end" && ip link set dev "$side" up && ip link set dev "$side-end" up || exit 99
done
exec "$@"
SHELL
if unshare -rn true 2>/dev/null; then
	for format in text jsonl; do
		lines=any lost unshare -rn bash "$WORK/cables" "$WARPCHECK" monitor -i a0 --duration 1s --format "$format"
		lines=any lost unshare -rn bash "$WORK/cables" "$WARPCHECK" bridge a0 b0 --duration 1s --format "$format"
	done
	expect 3 "undisturbed they end with 3" unshare -rn bash "$WORK/cables" "$WARPCHECK" monitor -i a0 --duration 1s
else
	echo "SKIP  monitor and bridge: no network namespace can be made here"
fi
lost "$IWARP_PEER" --help
lost "$IWARP_PEER" --listen 0
lost "$WARPCHECK" peer --listen 0

echo "== the files get what is theirs"
number=0
# whole DIR: nothing stands in its files that does not belong there.
whole() {
	holds "results.jsonl is JSON alone" jq -e . "$1/results.jsonl"
	holds "and whole" jq -es 'first.type == "run" and last.type == "summary"' "$1/results.jsonl"
	holds "JUnit is XML alone" test "$(head -c 5 "$1/junit.xml")" = '<?xml' -a "$(tail -n 1 "$1/junit.xml")" = '</testsuites>'
	holds "SARIF is JSON alone" jq -e . "$1/results.sarif"
	holds "the page is a page alone" grep -qiE '^<!doctype html>' <(head -n 1 "$1/index.html")
}
for redirection in '>&-' '>/dev/full' '<&- >&-' '<&- >&- 2>&-' '2>&- >&-'; do
	for format in text jsonl; do
		for command in 'run --simulate --defect ddp-qn-wrong-code DDP-7.2-0*' "audit $capture"; do
			number=$((number + 1)) status=0
			read -ra words <<<"$command"
			bash -c "exec \"\$0\" \"\$@\" $redirection" "$WARPCHECK" "${words[@]}" --format "$format" -o "$WORK/out$number" 2>"$WORK/stderr" || status=$?
			holds "$redirection: $command --format $format: status $status" test "$status" -eq 4
			whole "$WORK/out$number"
		done
	done
done
for redirection in '<&-' '2>&-' '<&- 2>&-'; do
	number=$((number + 1)) status=0
	bash -c "exec \"\$0\" \"\$@\" $redirection" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*' -o "$WORK/out$number" >"$WORK/stdout" || status=$?
	holds "$redirection: nothing is lost, status $status" test "$status" -eq 1
	says '^FAIL  DDP-7.2-01'
	whole "$WORK/out$number"
done
for redirection in '>&-' '<&- >&-' '<&- >&- 2>&-'; do
	number=$((number + 1)) status=0
	bash -c "exec \"\$0\" \"\$@\" $redirection" "$WARPCHECK" gen -e 'do packet(("x"):rep(100)) end' -o "$WORK/gen$number.pcapng" 2>"$WORK/stderr" || status=$?
	holds "$redirection: a capture without a word on it, status $status" test "$status" -eq 0
	expect 0 "is one" "$TSHARK" -r "$WORK/gen$number.pcapng"
done
status=0
bash -c 'exec "$0" list --nonsense 2>/dev/full' "$WARPCHECK" || status=$?
holds "a complaint that is lost: status $status" test "$status" -eq 4

echo "== a file that may not grow"
number=0
for command in 'run --simulate DDP-7*' "audit $capture" "report --merge $WORK/run"; do
	number=$((number + 1))
	read -ra words <<<"$command"
	expect 4 "$command, files of 4 KiB at most" bash -c 'ulimit -f 4; exec "$0" "$@"' "$WARPCHECK" "${words[@]}" -o "$WORK/small$number"
done

echo "== the examples"
for example in echo kv rping; do
	"${cc[@]}" -std=gnu17 -O1 -I. -Ireference-stack/include -o "$WORK/$example" "reference-stack/examples/$example.c" "${libiwarp[@]}"
done
# An example has its own exit statuses: not 0 is what counts.
served() {
	local status=0
	timeout 120 bash -c "exec \"\$0\" \"\$@\" $1" "${@:2}" 2>"$WORK/stderr" || status=$?
	holds "$1: ${*:2}: status $status" test "$status" -ne 0 -a "$status" -lt 124
	[ "$(wc -l <"$WORK/stderr")" -eq 1 ] || wrong "$1: ${*:2}: one line on stderr was expected" "$(head -n 3 "$WORK/stderr")"
}
for redirection in '>/dev/full' '>&-' '<&- >&-'; do
	served "$redirection" "$WORK/echo" 0
	served "$redirection" "$WORK/kv" serve 0
	served "$redirection" "$WORK/rping" serve 127.0.0.1 0
done
finish
