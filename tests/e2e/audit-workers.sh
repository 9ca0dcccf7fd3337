#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# audit -j: processes that live for the whole audit leave what a single one leaves, octet for octet but for the times; they hold nothing
# open that is the command's; one that dies, is stopped or cannot be heard is reported with status 4, and nothing stalls.
# shellcheck disable=SC2016 # the inner shell's variables
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

lines() { jq -cS 'del(.started, .ended, .chain, .command_line)' "$1/results.jsonl"; }
mkdir "$WORK/corpus"
for copy in 1 2 3 4; do cp -r pcaps/generated "$WORK/corpus/$copy"; done
rm -f "$WORK"/corpus/*/*.md "$WORK"/corpus/*/*.tsv

echo "== the same results"
lines=any expect 1 "one process" "$WARPCHECK" audit "$WORK/corpus" -o "$WORK/one"
cp "$WORK/stdout" "$WORK/one.txt"
for jobs in 2 3 16; do
	lines=any expect 1 "$jobs processes" "$WARPCHECK" audit "$WORK/corpus" -j "$jobs" -o "$WORK/jobs$jobs"
	holds "the same lines" cmp <(lines "$WORK/one") <(lines "$WORK/jobs$jobs")
	holds "the same standard output" cmp <(sed 's,report: .*,,' "$WORK/one.txt") <(sed 's,report: .*,,' "$WORK/stdout")
done
lines=any expect 1 "lines of JSON" "$WARPCHECK" audit "$WORK/corpus" -j 2 --format jsonl
holds "are the same" cmp <(jq -cS 'del(.started, .ended, .chain, .command_line)' "$WORK/stdout") <(lines "$WORK/one")

echo "== what passed, as one line for each requirement and role"
counts() { jq -c 'select(.type == "summary") | [.pass, .fail, .warn, .ambiguous, .not_exercised]' "$1/results.jsonl"; }
for jobs in 1 3; do
	lines=any expect 1 "$jobs processes" "$WARPCHECK" audit "$WORK/corpus" -j "$jobs" --findings-only -o "$WORK/few$jobs"
	holds "the same counts" test "$(counts "$WORK/few$jobs")" = "$(counts "$WORK/one")"
	holds "the same findings" cmp <(lines "$WORK/one" | jq -c 'select(.type == "result" and .verdict != "PASS")') \
		<(lines "$WORK/few$jobs" | jq -c 'select(.type == "result" and .verdict != "PASS")')
	holds "one PASS a requirement and role" test -z "$(jq -r 'select(.verdict == "PASS") | .id + " " + (.role // "")' "$WORK/few$jobs/results.jsonl" | sort | uniq -d)"
done
holds "the files are smaller" test "$(stat -c %s "$WORK/few1/junit.xml")" -lt "$(($(stat -c %s "$WORK/one/junit.xml") / 2))"
for part in 1 2; do
	lines=any expect 1 "part $part" "$WARPCHECK" audit "$WORK/corpus" --findings-only --shard $part/2 -o "$WORK/fewpart$part"
done
lines=any expect 1 "merged" "$WARPCHECK" report --merge "$WORK/fewpart2" "$WORK/fewpart1" -o "$WORK/fewmerged"
holds "the same counts" test "$(counts "$WORK/fewmerged")" = "$(counts "$WORK/one")"
expect 2 "and all of it" "$WARPCHECK" audit "$WORK/corpus" --findings-only --all

# A capture that does not end as long as somebody writes to it: its worker waits, and the others go on.
echo "== while they work"
mkfifo "$WORK/corpus/5.pcap"
audit=("$WARPCHECK" audit "$WORK/corpus" "$WORK/corpus/5.pcap" -j 2 -o)
begin() { # FOLDER: $audit_process, $workers
	rm -rf "$1"
	"${audit[@]}" "$1" >"$WORK/stdout" 2>"$WORK/stderr" &
	audit_process=$!
	exec 9>"$WORK/corpus/5.pcap"
	head -c 24 pcaps/generated/atomics.pcap >&9
	eventually "$audit_process" test -s "$1/results.jsonl"
	mapfile -t workers < <(pgrep -P "$audit_process")
	holds "two workers" test "${#workers[@]}" -eq 2
}
ends() { # STATUS WHAT
	local status=0
	last=$2
	wait "$audit_process" || status=$?
	holds "$2: status $1, not $status" test "$status" -eq "$1"
}
waits_in() { grep -qs pipe "/proc/$1/wchan" || [ "$(awk '{ print $3 }' "/proc/$1/stat" 2>/dev/null)" = S ]; }
begin "$WORK/out"
for worker in "${workers[@]}"; do
	holds "a worker holds neither results nor lock" test -z "$(find /proc/"$worker"/fd -lname "$WORK/out*")"
	holds "and no capability" grep -qE '^CapEff:\s0+$' "/proc/$worker/status"
done
exec 9>&-
ends 1 "the end of the pipe"

echo "== one that dies"
begin "$WORK/out"
eventually "$audit_process" grep -qs '"file":".*/4/' "$WORK/out/results.jsonl"
kill -KILL "${workers[@]}"
exec 9>&-
ends 4 "both were killed"
complains ': the process that judged it died \(signal 9\)$'
holds "what they had judged before is there" test "$(grep -c '"type":"capture"' "$WORK/out/results.jsonl")" -ge 40
holds "and the results are whole" jq -es '.[-1].type == "summary"' "$WORK/out/results.jsonl"

echo "== one that somebody stops"
begin "$WORK/out"
eventually "$audit_process" grep -qs '"file":".*/4/' "$WORK/out/results.jsonl"
kill -STOP "${workers[@]}"
ends 4 "they are ended"
complains ': the process that judged it died \(it was stopped for [0-9]+ s\)$'
exec 9>&-
begin "$WORK/out"
kill -STOP "${workers[@]}"
kill -TERM "$audit_process"
ends 4 "one SIGTERM ends an audit whose workers are stopped"
exec 9>&-
rm "$WORK/corpus/5.pcap"

echo "== output that is lost"
for jobs in 1 2; do
	expect 4 "-j $jobs, a full disk" bash -c 'exec "$@" >/dev/full' sh "$WARPCHECK" audit "$WORK/corpus" -j $jobs --format jsonl
	lines=any expect 4 "-j $jobs, no room in the output folder" unshare -rm bash -c 'mount -t tmpfs -o size=64k none "$0" && exec "$@"' "$WORK/one" \
		"$WARPCHECK" audit "$WORK/corpus" -j $jobs -o "$WORK/one/out"
done
finish
