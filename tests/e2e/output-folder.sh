#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The folder of -o: one command owns it, it starts empty, --force removes what an earlier command left and nothing else, --resume
# removes stale reports; links in it are followed nowhere; a second command is refused while the first writes.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

capture=pcaps/generated/sctp-faults.pcap
run=(run --simulate 'DDP-7.2-0*')
faulty=(run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*')
files() { (cd "$1" && find . -mindepth 1 | LC_ALL=C sort); }
verdicts() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$1/results.jsonl"; }

echo "== a folder that was used"
expect 0 "run" "$WARPCHECK" "${run[@]}" -o "$WORK/run"
holds "no lock is left" test ! -e "$WORK/run/.lock"
expect 1 "audit" "$WARPCHECK" audit "$capture" -o "$WORK/audit"
expect 0 "merge" "$WARPCHECK" report --merge "$WORK/run" -o "$WORK/merge"
for folder in run audit merge; do
	cp -r "$WORK/$folder" "$WORK/kept"
	expect 2 "run into the $folder's" "$WARPCHECK" "${faulty[@]}" -o "$WORK/$folder"
	complains 'the folder is not empty \(.* is there\): --force removes what an earlier run left, --resume continues that run$'
	expect 2 "audit into the $folder's" "$WARPCHECK" audit "$capture" -o "$WORK/$folder"
	complains 'the folder is not empty \(.* is there\): --force removes what an earlier command left$'
	expect 2 "merge into the $folder's" "$WARPCHECK" report --merge "$WORK/kept" -o "$WORK/$folder"
	holds "nothing was touched" diff -r "$WORK/$folder" "$WORK/kept"
	rm -r "$WORK/kept"
done
expect 2 "- is no folder" "$WARPCHECK" audit "$capture" --format junit -o -
complains '-o -: a folder was expected \(\./- is one\); a report goes to standard output by --format without -o$'
mkdir "$WORK/mine"
echo mine >"$WORK/mine/notes.txt"
expect 2 "a folder with something else" "$WARPCHECK" "${run[@]}" -o "$WORK/mine"
expect 2 "--force without a folder" "$WARPCHECK" "${run[@]}" --force
expect 2 "--force with --resume" "$WARPCHECK" "${run[@]}" -o "$WORK/run" --force --resume
expect 2 "--force where nothing is removed" "$WARPCHECK" report "$WORK/run" --force

echo "== --force"
echo old >"$WORK/run/summary.md"
echo old >"$WORK/run/junit.xml.part"
echo old >"$WORK/run/evidence/MPA-7.1-02-responder.pcapng"
echo mine >"$WORK/run/notes.txt"
echo mine >"$WORK/run/evidence/mine.pcapng"
expect 1 "run" "$WARPCHECK" "${faulty[@]}" -o "$WORK/run" --force
expect 1 "the same into a new one" "$WARPCHECK" "${faulty[@]}" -o "$WORK/fresh"
holds "nothing of the earlier run is left, and what is not ours is" diff <(files "$WORK/run") \
	<( (files "$WORK/fresh" && printf '%s\n' ./notes.txt ./evidence/mine.pcapng) | LC_ALL=C sort)
holds "nor touched" test "$(cat "$WORK/run/notes.txt" "$WORK/run/evidence/mine.pcapng")" = $'mine\nmine'
expect 1 "audit" "$WARPCHECK" audit "$capture" -o "$WORK/fresh" --force
holds "the run's evidence is gone" test ! -e "$WORK/fresh/evidence"
cp -r "$WORK/run" "$WORK/judged"
expect 2 "audit of what would be removed" "$WARPCHECK" audit "$WORK/judged/evidence" -o "$WORK/judged" --force
complains 'this folder contains'
holds "it is there still" diff -r "$WORK/run" "$WORK/judged"
expect 0 "merge" "$WARPCHECK" report --merge "$WORK/merge" -o "$WORK/fresh" --force

echo "== a run that stops before it begins leaves nothing"
jq -n '{name: "d", address: "192.0.2.1", port: 9, interface: "none", own_address: "192.0.2.9"}' >"$WORK/profile.json"
for ((i = 0; i < 2; i++)); do
	expect 4 "a device that cannot be reached" "$WARPCHECK" run --dut "$WORK/profile.json" 'MPA-7.1-02' -o "$WORK/nobody"
done

echo "== stale reports"
cp -r "$WORK/run" "$WORK/stale"
rm "$WORK/stale/notes.txt" "$WORK/stale/evidence/mine.pcapng"
head -n 4 "$WORK/stale/results.jsonl" >"$WORK/some"
mv "$WORK/some" "$WORK/stale/results.jsonl"
echo '<testsuites/>' >"$WORK/stale/junit.xml"
# no file may be longer than half of what the whole run's results are
expect 1 "the whole run" "$WARPCHECK" "${faulty[@]}" -o "$WORK/whole"
status=0
bash -c "ulimit -f $(($(stat -c %s "$WORK/whole/results.jsonl") / 2048)); exec \"\$0\" \"\$@\"" "$WARPCHECK" "${faulty[@]}" -o "$WORK/stale" --resume >/dev/null 2>&1 || status=$?
holds "a run that is resumed and stops again: status $status" test "$status" -eq 4
holds "has no report of the earlier one" test ! -e "$WORK/stale/junit.xml" -a ! -e "$WORK/stale/index.html"

echo "== links"
victim=$WORK/victim
echo precious >"$victim"
mkdir "$WORK/elsewhere"
for name in results.jsonl junit.xml index.html results.jsonl.part .lock evidence; do
	rm -rf "$WORK/linked"
	mkdir "$WORK/linked"
	ln -s "$([ $name = evidence ] && echo "$WORK/elsewhere" || echo "$victim")" "$WORK/linked/$name"
	for how in --force --resume; do
		[ "$name $how" != 'results.jsonl.part --resume' ] || continue # there is nothing to resume: that name is not used
		status=0
		"$WARPCHECK" "${faulty[@]}" -o "$WORK/linked" $how >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
		holds "$name is a link, $how: status $status" test "$status" -eq 4 -a "$(wc -l <"$WORK/stderr")" -eq 1
	done
	holds "$name: what it points to is as it was" test "$(cat "$victim")" = precious -a -z "$(ls "$WORK/elsewhere")"
	holds "$name: the link is, too" test -L "$WORK/linked/$name"
done
cp -r "$WORK/merge" "$WORK/linked2"
rm "$WORK/linked2/index.html"
ln -s "$victim" "$WORK/linked2/index.html"
expect 0 "a report in place of a link" "$WARPCHECK" report "$WORK/linked2"
holds "replaces the link" test ! -L "$WORK/linked2/index.html" -a "$(cat "$victim")" = precious
mkdir "$WORK/source"
cp "$WORK/run/results.jsonl" "$WORK/source"
ln -s "$WORK/run/evidence" "$WORK/source/evidence"
expect 1 "a merge of evidence that is a link" "$WARPCHECK" report --merge "$WORK/source" -o "$WORK/merged2"
holds "does not take it" test ! -e "$WORK/merged2/evidence" -o -z "$(ls "$WORK/merged2/evidence" 2>/dev/null)"
ln -s "$victim" "$WORK/link.pcapng"
expect 0 "gen -o into a link" "$WARPCHECK" gen -e 'do packet(("x"):rep(100)) end' -o "$WORK/link.pcapng"
holds "takes its place" test ! -L "$WORK/link.pcapng" -a "$(cat "$victim")" = precious

echo "== two at once"
# The first waits in the middle of its work, for a script that it reads from a pipe.
mkfifo "$WORK/wait.lua" "$WORK/wait.pcap"
second() {
	expect 4 "a second run" "$WARPCHECK" "${run[@]}" -o "$1"
	complains ": another warpcheck \(process $2\) writes into this folder$"
	expect 4 "--force" "$WARPCHECK" "${run[@]}" -o "$1" --force
	expect 4 "--resume" "$WARPCHECK" "${run[@]}" -o "$1" --resume
	expect 4 "an audit" "$WARPCHECK" audit "$capture" -o "$1" --force
	expect 4 "a merge" "$WARPCHECK" report --merge "$WORK/merge" -o "$1" --force
	expect 4 "a report" "$WARPCHECK" report "$1"
}
"$WARPCHECK" audit "$WORK/wait.pcap" -o "$WORK/shared" >"$WORK/first" 2>&1 </dev/null &
first=$!
exec 3>"$WORK/wait.pcap" # the first has opened its end: it has its folder, and waits for octets
second "$WORK/shared" "$first"
cat "$capture" >&3
exec 3>&-
status=0
wait "$first" || status=$?
holds "the first is not disturbed: status $status" test "$status" -eq 1
holds "its results are whole" jq -es 'first.type == "run" and last.type == "summary"' "$WORK/shared/results.jsonl"
"$WARPCHECK" audit "$WORK/wait.pcap" -o "$WORK/killed" >"$WORK/first" 2>&1 </dev/null &
first=$!
exec 3>"$WORK/wait.pcap"
kill -KILL "$first"
wait "$first" 2>/dev/null || true
exec 3>&-
expect 2 "after one that was killed" "$WARPCHECK" "${run[@]}" -o "$WORK/killed"
expect 0 "no lock is in the way" "$WARPCHECK" "${run[@]}" -o "$WORK/killed" --force

echo "== gen --corpus"
faults=generator/examples/faults.lua
expect_gen() { # the count of captures is printed on stderr
	local status=0
	"$WARPCHECK" gen "${@:2}" 2>"$WORK/stderr" || status=$?
	holds "gen ${*:2}: status $status" test "$status" -eq "$1"
}
expect_gen 0 --corpus "$WORK/corpus" "$faults"
cp -r "$WORK/corpus" "$WORK/corpus-kept"
expect_gen 2 --corpus "$WORK/corpus" --only crc "$faults"
complains 'the folder is not empty'
holds "nothing was touched" diff -r "$WORK/corpus" "$WORK/corpus-kept"
echo mine >"$WORK/corpus/mine.pcapng"
expect_gen 0 --corpus "$WORK/corpus" --only crc "$faults" --force
holds "what was made before is gone, and what is not ours is not" diff <(files "$WORK/corpus") \
	<(printf './%s\n' README.md crc.pcapng findings.tsv mine.pcapng)
expect_gen 2 --force "$faults"
ln -sf "$victim" "$WORK/corpus/README.md"
expect_gen 0 --corpus "$WORK/corpus" --only crc "$faults" --force
holds "no link is followed" test "$(cat "$victim")" = precious
finish
