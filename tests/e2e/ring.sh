#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A ring is one capture: a capture that is cut into files, as tcpdump -C and -W and dumpcap do it, gives what the whole one gives, and
# each finding names the file and the frame in it. A file that is missing is said and is never behind exit status 0. A pcapng file
# whose interfaces differ in their link types gives the same, too.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
in=$WORK/in passes=any
mkdir -p "$in"/{tcpdump,wrapped,dumpcap,packed,gap,two,links}
terminate=pcaps/linux-siw/siw-rping-terminate.pcap # 15 frames, a FAIL at frame 13
nvme=pcaps/linux-siw/siw-nvme.pcap                 # 367 frames

# cut FRAMES CAPTURE FOLDER: as editcap names them, name_00000_TIME.pcap.
cut() { editcap -F pcap -c "$1" "$2" "$3/name.pcap"; }
# findings: of results.jsonl on stdout, without where they are.
findings() { jq -c 'select(.type == "result") | [.id, .verdict, .role, .flow, .count, .expected, .actual, .message]' "$@" | sort; }
# whole CAPTURE: what the capture in one piece gives.
whole() {
	"$WARPCHECK" audit --format jsonl "$1" >"$WORK/one" || true
	findings "$WORK/one" >"$WORK/whole"
}
# same WHAT: the last output has the findings and the account of the whole.
same() {
	findings "$WORK/stdout" >"$WORK/found"
	holds "$1: the findings of the whole capture" cmp "$WORK/whole" "$WORK/found"
	holds "$1: its account" test "$(jq -c 'select(.type == "summary") | .account' "$WORK/one")" = "$(jq -c 'select(.type == "summary") | .account' "$WORK/stdout")"
}
audit() {
	local status=$1 what=$2
	shift 2
	expect "$status" "$what" "$WARPCHECK" audit --format jsonl "$@"
}

echo "== tcpdump -C: dump.pcap, dump.pcap1, ..."
whole "$terminate"
cut 5 "$terminate" "$in/dumpcap"
n=
for file in "$in"/dumpcap/*; do
	cp "$file" "$in/tcpdump/dump.pcap$n"
	n=$((n + 1))
done
audit 1 "a ring in a folder" "$in/tcpdump"
same "a ring in a folder"
holds "the finding names the file and the frame in it" jq -es --arg file "$in/tcpdump/dump.pcap2" \
	'map(select(.verdict == "FAIL"))[0] | .file == $file and .frame == 3 and .offset > 0' "$WORK/stdout"
holds "the ladder names the files of the other frames" jq -es --arg file "$in/tcpdump/dump.pcap" \
	'map(select(.verdict == "FAIL"))[0].steps | [.[] | select(.kind != "note") | .file // "" | ltrimstr($file) | if . == "" then "0" else . end] | unique | length > 1' "$WORK/stdout"
holds "a line for the ring, with its files" jq -es \
	'map(select(.type == "capture")) | length == 1 and (.[0].ring | map(split("/")[-1])) == ["dump.pcap", "dump.pcap1", "dump.pcap2"]' "$WORK/stdout"
audit 1 "the same files by name, in any order" "$in"/tcpdump/dump.pcap{2,,1}
same "files by name"
expect 0 "two captures that are no ring" "$WARPCHECK" dump pcaps/linux-siw/siw-rping{,-terminate}.pcap
says '^pcaps/linux-siw/siw-rping-terminate.pcap:13  .* Terminate '
expect 0 "the same as JSON" "$WARPCHECK" dump pcaps/linux-siw/siw-rping{,-terminate}.pcap --format jsonl
holds "each object names its file" jq -es 'map(.file) | unique == ["pcaps/linux-siw/siw-rping-terminate.pcap", "pcaps/linux-siw/siw-rping.pcap"]' "$WORK/stdout"
audit 1 "two processes" -j 2 "$in/tcpdump" pcaps/linux-siw/siw-rping.pcap
holds "the ring is one capture there, too" jq -es 'map(select(.type == "capture")) | length == 2' "$WORK/stdout"
audit 4 "--no-rings" --no-rings "$in/tcpdump"
holds "each file is a capture" jq -es 'map(select(.type == "capture")) | length == 3 and all(has("ring") | not)' "$WORK/stdout"
expect 1 "as text" "$WARPCHECK" audit "$in/tcpdump"
says 'dump.pcap to dump.pcap2: a ring of 3 files, read as one capture'
says 'frame 3 of .*/dump.pcap2'

echo "== dumpcap -b"
audit 1 "dumpcap's names" "$in/dumpcap"
same "dumpcap's names"

echo "== -W: numbers are used again; compressed files"
whole "$nvme"
cut 100 "$nvme" "$in/packed"
i=2
for file in "$in"/packed/*; do
	cp "$file" "$in/wrapped/dump.pcap0$((i % 4))"
	i=$((i + 1))
done
audit 0 "a ring that begins with number 2" "$in/wrapped"
same "a ring that begins with number 2"
gzip "$in"/packed/*_00000_*
zstd -q --rm "$in"/packed/*_00001_*
for file in "$in"/packed/*_00002_*; do
	lz4 -q --rm "$file" "$file.lz4"
done
audit 0 "compressed files" "$in/packed"
same "compressed files"

echo "== a file is missing, a file is cut"
cp "$in"/wrapped/* "$in/gap"
rm "$in/gap/dump.pcap00"
lines=any
audit 4 "the third of four files is missing" "$in/gap"
complains 'the file with the number 0 is missing in this ring'
holds "the account has it" jq -es 'map(select(.type == "summary"))[0].account.missing | ."ring-file".items == 1 and .gap.octets > 0' "$WORK/stdout"
cp "$in"/wrapped/* "$in/two"
truncate -s -9 "$in/two/dump.pcap03"
audit 4 "the second of four files is cut" "$in/two"
complains 'dump.pcap03: ends abruptly after frame 99'
holds "what follows it is judged" jq -es 'map(select(.type == "summary"))[0].frames == 366' "$WORK/stdout"
lines=one

echo "== dump"
"$WARPCHECK" dump "$nvme" | sed 's/^ *[0-9]*  //' >"$WORK/messages"
expect 0 "dump of a folder with a ring" "$WARPCHECK" dump "$in/wrapped"
holds "all messages" cmp "$WORK/messages" <(sed 's/^[^ ]*  //' "$WORK/stdout")
says '^dump.pcap03:1  '
expect 0 "dump --format jsonl" "$WARPCHECK" dump --format jsonl "$in/wrapped"
holds "file and frame" jq -es 'map(.file | split("/")[-1]) | unique == ["dump.pcap00", "dump.pcap01", "dump.pcap02", "dump.pcap03"]' "$WORK/stdout"
holds "no number of more than a file has" jq -es 'all(.frame >= 1 and .frame <= 100)' "$WORK/stdout"
expect 0 "dump --no-rings" "$WARPCHECK" dump --no-rings "$in/wrapped/dump.pcap02"
says '^ +[0-9]+  '

echo "== pcapng with interfaces of two link types"
# Every other frame as raw IP, without its Ethernet header.
editcap -r -F pcap "$nvme" "$in/links/even.pcap" $(seq 2 2 367)
editcap -F pcap "$nvme" "$in/links/odd.pcap" $(seq 2 2 367)
editcap -F pcap -C 14 -L -T rawip "$in/links/even.pcap" "$in/links/raw.pcap"
mergecap -F pcapng -w "$WORK/links.pcapng" "$in/links/odd.pcap" "$in/links/raw.pcap"
holds "the file has two link types" test "$(capinfos "$WORK/links.pcapng" | grep -cE 'Encapsulation = (Ethernet|Raw IP)')" -eq 2
audit 0 "two link types" "$WORK/links.pcapng"
findings "$WORK/stdout" >"$WORK/found"
holds "two link types: the findings of the whole capture" cmp "$WORK/whole" "$WORK/found"
holds "and all frames" jq -es 'map(select(.type == "summary"))[0].frames == 367' "$WORK/stdout"
expect 0 "dump of two link types" "$WARPCHECK" dump "$WORK/links.pcapng"
holds "all messages" cmp "$WORK/messages" <(sed 's/^ *[0-9]*  //' "$WORK/stdout")
finish
