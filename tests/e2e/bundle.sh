#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A failure that is sent to somebody: report --bundle makes one archive, and the archive alone shows the failure and repeats it. report --verify names
# the files that were changed after the run. Results may come from a stranger: neither command runs a program that they name, or packs a file
# that is no evidence.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

unpack() { # ARCHIVE FOLDER
	rm -rf "$2"
	python3 -m zipfile -e "$1" "$2"
}
repeat=(env -C / WARPCHECK="$WARPCHECK" sh) # a replay.sh, from elsewhere

echo "== a run"
passes=any
expect 1 "with failures" "$WARPCHECK" run --simulate --defect ddp-qn-wrong-code 'DDP-7.2-0*' 'MPA-7.1.1-0*' -o "$WORK/run"
passes=none
holds "sha256sum reads its list" env -C "$WORK/run" sha256sum --quiet -c SHA256SUMS
expect 0 "nothing was changed" "$WARPCHECK" report --verify "$WORK/run"
says ': [0-9]+ files are as written$'
failed=$(jq -r 'select(.type == "result" and .verdict == "FAIL" and .by == "check") | .id' "$WORK/run/results.jsonl" | sed -n 1p)
expect 0 "a bundle" "$WARPCHECK" report --bundle "$failed" "$WORK/run" -o "$WORK/a.zip"
says 'a\.zip$'
unpack "$WORK/a.zip" "$WORK/a"
a=$WORK/a/warpcheck-bundle
for file in index.html results.jsonl replay.sh README.txt SHA256SUMS scripts/*.lua evidence/*.pcapng; do
	# shellcheck disable=SC2086 # a pattern
	holds "holds $file" test -s "$(printf "%s\n" $a/$file | sed -n 1p)"
done
holds "of that requirement alone" test "$(jq -r 'select(.type == "result") | .id' "$a/results.jsonl" | sort -u)" = "$failed"
expect 0 "whose files are as written" "$WARPCHECK" report --verify "$a"
expect 0 "whose page can be made again" "$WARPCHECK" report "$a"
expect "1 5" "it is repeated from elsewhere" "${repeat[@]}" "$a/replay.sh"
says "^FAIL  $failed"
expect 0 "the same again" "$WARPCHECK" report --bundle "$failed" "$WORK/run" -o "$WORK/again.zip"
holds "is the same archive" cmp -s "$WORK/a.zip" "$WORK/again.zip"

echo "== a check of one's own, and a profile"
"$WARPCHECK" new-check "$failed" >"$WORK/own check.lua" 2>/dev/null || cp "$a"/scripts/*.lua "$WORK/own check.lua"
jq -n '{address: "192.0.2.7", port: 9999, interface: "lo", own_address: "192.0.2.9", vendor: "ACME",
	known_deviations: [{requirement: "DDP-7.2-01"}, {requirement: "MPA-7.1-01"}]}' >"$WORK/rnic.json"
jq -c --arg own "$WORK/own check.lua" --arg dut "$WORK/rnic.json" --arg id "$failed" 'if .type == "summary" then del(.chain) else . end |
	if .id == $id and .replay then .script = $own + ":1" | .replay = "warpcheck run \($id) --dut \($dut) --script \u0027\($own)\u0027 --seed 1" else . end' \
	"$WORK/run/results.jsonl" >"$WORK/own.jsonl"
mkdir "$WORK/own" && cp "$WORK/own.jsonl" "$WORK/own/results.jsonl" && cp -r "$WORK/run/evidence" "$WORK/own"
expect 0 "are in it" "$WARPCHECK" report --bundle 'DDP-7.2-*' "$WORK/own" -o "$WORK/own.zip"
unpack "$WORK/own.zip" "$WORK/b"
holds "the check" cmp -s "$WORK/own check.lua" "$WORK/b/warpcheck-bundle/scripts/own check.lua"
holds "the profile, with what is known of these requirements alone" test "$(jq -c '[.vendor, [.known_deviations[].requirement]]' "$WORK/b/warpcheck-bundle/profile.json")" = '["ACME",["DDP-7.2-01"]]'
holds "and replay.sh takes both from there" grep -qF -- "--dut profile.json --script 'scripts/own check.lua' --seed 1" "$WORK/b/warpcheck-bundle/replay.sh"

echo "== an audit"
"$WARPCHECK" gen -e 'fpdu(rdmap.send { data = "hello" }, { crc_flip = 1 })' -o "$WORK/bad crc.pcapng"
expect 1 "of a capture" "$WARPCHECK" audit "$WORK/bad crc.pcapng" -o "$WORK/audit"
failed=$(jq -r 'select(.type == "result" and .verdict == "FAIL") | .id' "$WORK/audit/results.jsonl" | sed -n 1p)
expect 0 "takes the capture along" "$WARPCHECK" report --bundle "$failed" "$WORK/audit" -o "$WORK/audit.zip"
unpack "$WORK/audit.zip" "$WORK/c"
holds "as it was" cmp -s "$WORK/bad crc.pcapng" "$WORK/c/warpcheck-bundle/captures/bad crc.pcapng"
mv "$WORK/bad crc.pcapng" "$WORK/elsewhere"
expect 1 "and judges it again" "${repeat[@]}" "$WORK/c/warpcheck-bundle/replay.sh"
says "^FAIL  $failed"

echo "== results of a stranger"
mkdir "$WORK/theirs"
jq -c --arg victim "$WORK/theirs/../private" 'if .type == "summary" then del(.chain) else . end |
	if .type == "result" then .file = $victim | .evidence = "../private" | .script = $victim + ":1" |
	.replay = "warpcheck run X; touch \($victim).gone" else . end' "$WORK/audit/results.jsonl" >"$WORK/theirs/results.jsonl"
echo "nobody's business" >"$WORK/private"
expect 0 "make an archive" "$WARPCHECK" report --bundle '*' "$WORK/theirs" -o "$WORK/theirs.zip"
unpack "$WORK/theirs.zip" "$WORK/d"
holds "without a file that is no capture" test -z "$(grep -rl "nobody's business" "$WORK/d")"
holds "and without a command that is none" test -z "$(grep -F touch "$WORK/d/warpcheck-bundle/replay.sh")"
holds "what is not there is told" grep -q '^not here.*private' "$WORK/d/warpcheck-bundle/README.txt"

echo "== what is changed"
evidence=$(printf '%s\n' "$WORK"/run/evidence/*.pcapng | sed -n 1p)
printf x >>"$evidence"
expect 1 "a capture" "$WARPCHECK" report --verify "$WORK/run"
says "evidence/$(basename "$evidence"): differs\$"
rm "$evidence"
expect 1 "one that is gone" "$WARPCHECK" report --verify "$WORK/run"
says "evidence/$(basename "$evidence"): is missing\$"
rm "$WORK/run/SHA256SUMS"
expect 2 "without a list" "$WARPCHECK" report --verify "$WORK/run"
complains 'there is no SHA256SUMS here'

echo "== arguments"
expect 2 "no such result" "$WARPCHECK" report --bundle DDP-9-99 "$WORK/run" -o "$WORK/x.zip"
complains 'no result of DDP-9-99 is here'
holds "and no archive" test ! -e "$WORK/x.zip"
expect 2 "no archive's name" "$WARPCHECK" report --bundle DDP-7.2-01 "$WORK/run"
complains '-o OUT\.zip'
expect 4 "a folder that is not there" "$WARPCHECK" report --bundle '*' "$WORK/run" -o "$WORK/none/x.zip"
complains 'none/x\.zip: cannot write'
expect 2 "two kinds" "$WARPCHECK" report --verify --known "$WORK/run"
finish
