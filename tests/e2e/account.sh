#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# "Conforms" means seen: what audit did not judge is in its account, and is never behind exit status 0, whether it is a file,
# a frame or an octet. The account's sums are compared with what Wireshark's tools count in the same captures.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
generator gen
in=$WORK/in
mkdir -p "$in"
"$WORK/gen" "$in/good.pcap" 1
passes=any

# account JQ-EXPRESSION: of the summary line of the last output.
account() { jq -s "map(select(.type == \"summary\"))[0].account | $1" "$WORK/stdout"; }
# counts WHAT JQ-CONDITION
counts() { holds "$1" test "$(account "$2")" = true; }
# audit STATUS WHAT ARGUMENT...
audit() {
	local status=$1 what=$2
	shift 2
	expect "$status" "$what" "$WARPCHECK" audit --format jsonl "$@"
}

echo "== healthy: all of it is judged"
audit 0 "the generated capture" "$in/good.pcap"
counts "nothing is unjudged or missing" 'has("unjudged") or has("missing") | not'

echo "== octets"
editcap "$in/good.pcap" "$in/gap.pcap" 100-101
audit 4 "two frames are missing" "$in/gap.pcap"
complains 'missing: [0-9]+ octets'
counts "their octets are missing" '.missing.gap.octets > 0'
audit 0 "accepted" --allow-gaps "$in/gap.pcap"
counts "and counted all the same" '.missing.gap.octets > 0'
editcap -s 90 "$in/good.pcap" "$in/snap.pcap"
audit 4 "frames cut to 90 octets" "$in/snap.pcap"
counts "the rest is missing, and what it was part of is unjudged" '.missing.snapped.octets > 0 and .unjudged.part.octets > 0'
head -c $(($(stat -c %s "$in/good.pcap") / 2)) "$in/good.pcap" >"$in/half.pcap"
audit 4 "a capture that breaks off" --allow-gaps "$in/half.pcap"
frames=$(capinfos -Trcm "$in/good.pcap" | cut -d, -f2)
editcap -r "$in/good.pcap" "$in/late.pcap" "$((frames / 2))-$frames"
audit "0 4" "a capture that begins in the middle" "$in/late.pcap"
counts "FPDUs are found all the same" '.judged.iwarp.octets > 1000'

echo "== connections"
"$WORK/gen" "$in/many.pcap" 8 5000
audit 0 "5,000 connections that stay open" "$in/many.pcap"
counts "none is evicted" '.unjudged | not'
holds "each was followed from its start" test "$(jq -s 'map(select(.type == "result" and .id == "MPA-7.1.1-04") | .results // 1) | add' \
	"$WORK/stdout")" -ge 5000
holds "what all of them pass is one line beyond the first ones" test "$(grep -c '"verdict":"PASS"' "$WORK/stdout")" -lt 10000

echo "== folders"
ring=$in/ring
mkdir -p "$ring/sub"
cp "$in/good.pcap" "$ring/dump.pcap"
cp pcaps/linux-siw/siw-rping-terminate.pcap "$ring/dump.pcap1"
audit 1 "a ring of tcpdump -C: the second file counts" "$ring"
holds "it was judged" test "$(jq -r 'select(.verdict == "FAIL") | .file' "$WORK/stdout" | sort -u)" = "$ring/dump.pcap1"
mv "$ring/dump.pcap1" "$in/apart.pcap"
cp "$in/good.pcap" "$ring/renamed"
cp README.md "$ring/sub/"
audit 0 "a capture by its first octets, and a file that is none" "$ring"
counts "the file is counted" '.foreign.file.items == 1'
holds "both captures are judged" test "$(jq -s 'map(select(.type == "capture" and .status == "whole")) | length' \
	"$WORK/stdout")" -eq 2
xz -k -c "$in/good.pcap" >"$ring/sub/old.pcap.xz"
audit 4 "a file compressed by xz is not read" "$ring"
complains 'old\.pcap\.xz: a file compressed in a way that is not read'
holds "it is named in the results" jq -es 'any(.[]; .type == "capture" and .status == "skipped" and .reason == "compressed")' \
	"$WORK/stdout"
audit 0 "accepted" --allow-gaps "$ring"
rm "$ring/sub/old.pcap.xz"
gzip -k -c "$in/good.pcap" >"$ring/sub/old.gz"
gzip -k -c README.md >"$ring/sub/README.md.gz"
audit 0 "a compressed capture is read, whatever its name, and a compressed text is none" "$ring"
holds "three captures are judged" test "$(jq -s 'map(select(.type == "capture" and .status == "whole")) | length' \
	"$WORK/stdout")" -eq 3
counts "the text is counted" '.foreign.file.items == 2'
rm "$ring/sub/old.gz" "$ring/sub/README.md.gz"
ln -s .. "$ring/sub/up"
audit 0 "a link to the folder itself" "$ring"
counts "counted once more" '.foreign."file-again".items == 1'
mkdir -p "$in/elsewhere"
cp "$in/good.pcap" "$in/elsewhere/"
ln -s ../elsewhere "$ring/other"
audit 4 "a link to another folder is not followed" "$ring"
complains 'other: a link to a folder elsewhere'
rm "$ring/other"
ln -s nowhere.pcap "$ring/dangling.pcap"
audit 4 "a link that leads nowhere" "$ring"
rm "$ring/dangling.pcap"
mkdir -p "$in/packed"
audit 0 "a capture as it is" "$in/good.pcap"
judged() { jq -c 'select(.type == "result" or .type == "capture") | del(.file)' "$WORK/stdout"; }
judged >"$WORK/plain"
for pair in gzip/gz zstd/zst lz4/lz4; do
	file=$in/packed/a.pcap.${pair#*/}
	"${pair%/*}" -q -c "$in/good.pcap" >"$file"
	audit 0 "compressed by ${pair%/*}" "$file"
	holds "${pair%/*}: the same results" diff "$WORK/plain" <(judged)
	expect 0 "${pair%/*} by standard input" bash -c "'$WARPCHECK' audit --format jsonl - <'$file'"
	holds "${pair%/*} by standard input: the same results" diff "$WORK/plain" <(judged)
	head -c $(($(stat -c %s "$file") * 2 / 3)) "$file" >"$in/cut.${pair#*/}"
	audit "2 4" "cut: ${pair%/*}" "$in/cut.${pair#*/}"
	complains "cut\.${pair#*/}: cannot be read after frame [0-9]+: ${pair%/*}: the compressed data ends too early: the file was cut$"
done

echo "== folders: what a file is called a capture for, and what not"
odd=$in/odd
mkdir -p "$odd"
# odd ROW WHAT: the folder has one file, which is unjudged in that row, beside a good capture.
odd() {
	cp "$in/good.pcap" "$odd/good.pcap"
	audit 4 "$2" "$odd"
	counts "$2: it is counted" ".unjudged.\"$1\".items == 1"
	rm -rf "$odd"
	mkdir "$odd"
}
tar -C "$in" -cf "$odd/a.tar" good.pcap
odd archive "a tar archive"
tar -C "$in" -czf "$odd/a.tgz" good.pcap
odd archive "a compressed tar archive"
gzip -c "$in/good.pcap" | gzip -c >"$odd/a.gz.gz"
odd compressed "a capture compressed twice"
lz4 -q -l -c "$in/good.pcap" >"$odd/a"
odd compressed "lz4 of the legacy format"
printf 'btsnoop\0\0\0\0\1\0\0\3\352' >"$odd/a.log"
odd other-format "btsnoop"
for magic in '\x1c\x00\x01\xac' '\xac\x01\x00\x1c' '\x1c\x00\x01\xab'; do
	{ printf '%b' "$magic"; tail -c +5 "$in/good.pcap"; } >"$odd/a"
	odd other-format "Ixia's pcap, $magic"
done
{ printf '\x00\x00\x12\x34'; tail -c +5 "$in/good.pcap"; } >"$odd/a"
odd file-unknown "octets that begin like nothing known"
cp README.md docs/dissector.png Makefile "$odd/"
cp "$in/good.pcap" "$odd/"
audit 0 "text and a picture are no captures" "$odd"
counts "they are counted" '.foreign.file.items == 3'
rm "$odd"/*
{ printf '\x5a\x2a\x4d\x18\x05\x00\x00\x00hello'; zstd -q -c "$in/good.pcap"; } >"$odd/a.pcap.zst"
audit 0 "zstd after a skippable frame" "$odd"
holds "the same results" diff "$WORK/plain" <(judged)
{ printf '\x50\x2a\x4d\x18\x00\x00\x00\x00\x5f\x2a\x4d\x18\x01\x00\x00\x00x'; lz4 -q -c "$in/good.pcap"; } >"$odd/a.pcap.lz4"
rm "$odd/a.pcap.zst"
audit 0 "lz4 after two" "$odd"
holds "the same results" diff "$WORK/plain" <(judged)
passes=none
printf '\x50\x2a\x4d\x18\xff\x00\x00\x00cut' >"$odd/a.pcap.lz4"
audit "2 4" "a skippable frame that is cut" "$odd"
complains 'the compressed data ends too early'
passes=any

expect 2 "standard input without an octet" "$WARPCHECK" audit - </dev/null
complains '^warpcheck audit: -: is empty, a capture was expected \(pcap or pcapng\)$'
echo hi >"$in/hi.pcap"
audit 2 "a file shorter than a capture's header" "$in/hi.pcap"
complains 'hi\.pcap: is too short for a capture \(pcap or pcapng was expected\)$'
mkdir -p "$in/stump"
printf '\x1f\x8b' >"$in/stump/e.gz"
audit 4 "a folder with two octets of gzip" "$in/stump"
complains 'e\.gz: the file or folder cannot be opened or decompressed$'
passes=none
xz -q -c "$in/good.pcap" >"$in/packed/a.xz"
rm "$in"/packed/a.pcap.*
audit 4 "nothing but a capture that cannot be decompressed" "$in/packed"
audit 2 "the same by its name" "$in/packed/a.xz"
complains 'a\.xz: a file compressed in a way that is not read \(gzip, zstd and lz4 are\): decompress it first$'
passes=any

echo "== pcapng: interfaces of different link types"
editcap -F pcapng -C 14 -T rawip4 "$in/good.pcap" "$in/raw.pcapng"
mergecap -a -w "$in/both.pcapng" "$in/good.pcap" "$in/raw.pcapng"
audit 0 "Ethernet and raw IP in one file" "$in/both.pcapng"
counts "all of it is judged" "(.frames == $((2 * frames))) and (.unjudged | not)"
editcap -F pcapng -T ieee-802-11 "$in/raw.pcapng" "$in/wlan.pcapng"
mergecap -a -w "$in/strange.pcapng" "$in/good.pcap" "$in/wlan.pcapng"
audit 4 "frames of a link type that is not known" "$in/strange.pcapng"
counts "they are counted" ".unjudged.\"link-type\".frames == $frames"

echo "== every capture of pcaps/: the sums are what others count"
captures=0 wrong=0
for file in pcaps/*/*.pcap*; do
	case $(capinfos -TrEm "$file") in *erf*) continue ;; esac # Wireshark takes the ERF header off
	status=0
	"$WARPCHECK" audit --format jsonl --allow-gaps "$file" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	rows='[.judged, .foreign, .unjudged] | map(select(. != null) | to_entries[].value)'
	ours="$(account "[$rows | (map(.frames // 0) | add), (map(.octets // 0) | add)] | join(\" \")")"
	captures=$((captures + 1))
	if [ $((captures % 4)) -eq 1 ]; then
		theirs="$("$TSHARK" -n -r "$file" -T fields -e frame.cap_len 2>/dev/null |
			awk '{ n++; sum += $1 } END { print n " " sum }')"
	else # the frames alone: tshark is slow
		theirs=$(capinfos -Trcm "$file" | cut -d, -f2)
		ours="${ours%% *}\""
	fi
	if [ "$status" -gt 3 ] || [ "$ours" != "\"$theirs\"" ]; then
		wrong=$((wrong + 1))
		echo "$file: exit status $status, accounted for $ours, Wireshark counts \"$theirs\""
	fi
done
holds "$captures captures" test "$captures" -gt 50 -a "$wrong" -eq 0

echo "== processes and shards"
cp "$in/gap.pcap" "$in/snap.pcap" "$in/apart.pcap" "$ring/"
xz -k -c "$in/good.pcap" >"$ring/old.xz"
audit 1 "in one process" "$ring"
account . >"$WORK/one"
audit 1 "in two" -j 2 "$ring"
holds "the same account" diff "$WORK/one" <(account .)
lines=any # what is not read, and what is not judged
for shard in 1 2 3; do
	expect "0 1 4" "shard $shard" "$WARPCHECK" audit --shard "$shard/3" -o "$WORK/shard$shard" "$ring"
done
lines=one
expect 1 "merged" "$WARPCHECK" report --merge "$WORK"/shard? -o "$WORK/merged"
cp "$WORK/merged/results.jsonl" "$WORK/stdout"
holds "the same account" diff "$WORK/one" <(account .)

echo "== reports"
expect 4 "an audit with gaps" "$WARPCHECK" audit -o "$WORK/gaps" "$in/gap.pcap"
says '^  missing +[0-9]+ octets'
says '^inconclusive: nothing failed, but a part'
holds "JUnit has an error" grep -q '<error message="[0-9]* octets: octets of iWARP that no frame' "$WORK/gaps/junit.xml"
holds "TAP has a point that fails" grep -q '^not ok .* - account: all iWARP of the input is judged' "$WORK/gaps/results.tap"
holds "SARIF has a notification" jq -e '.runs[0].invocations[0] | .exitCode == 4 and
	any(.toolExecutionNotifications[]; .message.text | test("Not judged .gap."))' "$WORK/gaps/results.sarif"
holds "the page says so" grep -q 'Account of the input' "$WORK/gaps/index.html"
finish
