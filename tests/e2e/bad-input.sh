#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Bad captures for audit and dump: one clear line on stderr, the right exit status (2: not a capture, 3: nothing in it,
# 4: what could not be finished), never a crash, a hang, or success. Hostile captures go to the sanitised
# program too, when it is built.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
mkdir -p "$WORK/in"
in=$WORK/in
generator gen
"$WORK/gen" "$in/good.pcap" 1

# le32 NUMBER...: as a pcap has them.
le32() {
	local n
	for n; do
		# shellcheck disable=SC2059
		printf "$(printf '\\x%02x\\x%02x\\x%02x\\x%02x' $((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) $((n >> 24 & 255)))"
	done
}
# pcap LINKTYPE: a file header.
pcap() { le32 0xA1B2C3D4 $((2 | 4 << 16)) 0 0 262144 "$1"; }

: >"$in/empty.pcap"
head -c 10 "$in/good.pcap" >"$in/cut-in-header.pcap"
pcap 1 >"$in/no-frames.pcap"
printf 'Dear reader,\nthis is no capture.\n' >"$in/letter.pcap"
cp "$(command -v bash)" "$in/elf.pcap"
head -c 500001 "$in/good.pcap" >"$in/cut-in-frame.pcap"
head -c $(($(stat -c %s "$in/good.pcap") - 1)) "$in/good.pcap" >"$in/cut-at-the-end.pcap"
{ pcap 147; tail -c +25 "$in/good.pcap"; } >"$in/unknown-link.pcap"
{ pcap 1; le32 1 0 0xFFFFFFFF 0xFFFFFFFF; head -c 100 /dev/zero; } >"$in/endless-frame.pcap"
{ pcap 1; le32 1 0 0 0 1 0 1 1; printf x; le32 1 0 13 1514; head -c 13 /dev/zero; } >"$in/tiny-frames.pcap"
{ pcap 1; le32 1 0 60 60; head -c 60 /dev/zero; } >"$in/zeros.pcap"
printf '\x0a\x0d\x0d\x0a\xff\xff\xff\xff\x4d\x3c\x2b\x1a\x01\x00\x00\x00' >"$in/endless-block.pcapng"
mkdir -p "$in/empty-folder" "$in/folder-of-others" "$in/noise"
cp "$in/letter.pcap" "$in/folder-of-others/notes.txt"

for command in audit dump; do
	echo "== $command: no capture"
	expect 2 "$command: missing file" "$WARPCHECK" "$command" "$in/nowhere.pcap"
	complains 'nowhere\.pcap'
	expect 2 "$command: empty file" "$WARPCHECK" "$command" "$in/empty.pcap"
	complains 'empty\.pcap'
	expect 2 "$command: file header cut" "$WARPCHECK" "$command" "$in/cut-in-header.pcap"
	expect 2 "$command: text" "$WARPCHECK" "$command" "$in/letter.pcap"
	complains 'letter\.pcap'
	expect 2 "$command: ELF" "$WARPCHECK" "$command" "$in/elf.pcap"
	expect 2 "$command: unknown link type" "$WARPCHECK" "$command" "$in/unknown-link.pcap"
	complains '147|link'
	expect "2 4" "$command: a pcapng block without end" "$WARPCHECK" "$command" "$in/endless-block.pcapng"
	expect 2 "$command: no file named" "$WARPCHECK" "$command"

	echo "== $command: nothing in it"
	expect 3 "$command: no frames" "$WARPCHECK" "$command" "$in/no-frames.pcap"
	too_short=3
	[ "$command" = dump ] || too_short=4 # they may have been iWARP
	expect "$too_short" "$command: frames of zeros, too short for the LLC header that their length promises" "$WARPCHECK" "$command" "$in/zeros.pcap"
	expect "$too_short" "$command: frames too short for anything" "$WARPCHECK" "$command" "$in/tiny-frames.pcap"

	echo "== $command: cut short"
	expect 4 "$command: cut in a frame" "$WARPCHECK" "$command" "$in/cut-in-frame.pcap"
	complains 'cut-in-frame'
	expect 4 "$command: one octet missing at the end" "$WARPCHECK" "$command" "$in/cut-at-the-end.pcap"
	expect "2 4" "$command: a frame of 4 GiB" "$WARPCHECK" "$command" "$in/endless-frame.pcap"
	# shellcheck disable=SC2016
	expect 4 "$command: output into a full disk" bash -c '"$0" "$1" --format jsonl "$2" >/dev/full' "$WARPCHECK" "$command" \
		"$in/good.pcap"
done

echo "== audit: folders"
expect 3 "an empty folder" "$WARPCHECK" audit "$in/empty-folder"
complains 'empty-folder'
expect 3 "a folder of other files" "$WARPCHECK" audit "$in/folder-of-others"
complains 'folder-of-others'
expect 3 "an empty folder beside a good capture" "$WARPCHECK" audit "$in/good.pcap" "$in/empty-folder"
expect 2 "no such folder" "$WARPCHECK" audit "$in/no-such-folder/"

echo "== audit: patterns as in list"
expect 3 "a glob that fits no id" "$WARPCHECK" audit 'XMPA-*' "$in/good.pcap"
complains 'XMPA-\*'
expect 3 "an id that is none" "$WARPCHECK" audit MPA-99.9-99 "$in/good.pcap"
complains 'MPA-99\.9-99'
expect 3 "options that fit nothing together" "$WARPCHECK" audit 'MPA-*' --layer cm "$in/good.pcap"
expect 2 "a glob of files that the shell left alone" "$WARPCHECK" audit "$in/"'nothing-here-*.pcap'
complains 'nothing-here'
expect 2 "neither a file nor like an id" "$WARPCHECK" audit nowhere "$in/good.pcap"
complains 'nowhere'

echo "== audit: a good capture is judged, and not by nobody"
expect 0 "the generated capture" "$WARPCHECK" audit --format jsonl "$in/good.pcap"
says '"type":"summary"'
holds "it has passes and no failure" jq -es 'map(select(.type == "summary"))[0] | .pass > 20 and .fail == 0' "$WORK/stdout"
# Standard output is a pipe: the limit is meant for the results.
expect 4 "results into a full disk" bash -c 'set -o pipefail; (ulimit -f 1; exec "$0" "$@") | cat' "$WARPCHECK" audit -o "$WORK/full" "$in/good.pcap"
expect 4 "an output folder that cannot be made" "$WARPCHECK" audit -o /proc/nowhere/out "$in/good.pcap"

echo "== audit: a capture that cannot be read twice"
expect 1 "findings of a pipe" bash -c 'cat "$1" | "$0" audit --format jsonl /dev/stdin' "$WARPCHECK" \
	pcaps/linux-siw/siw-rping-terminate.pcap
says '"verdict":"FAIL"'
expect 1 "the same from the file, with a ladder" "$WARPCHECK" audit --format jsonl \
	pcaps/linux-siw/siw-rping-terminate.pcap
holds "the offending message is marked, with the messages before it" jq -es \
	'map(select(.verdict == "FAIL"))[0] | [.frame as $f | .steps[] | select(.note and .frame == $f)] as $bad |
	($bad | length) == 1 and $bad[0].from == "dut" and (.steps | length) > 8' "$WORK/stdout"

echo "== snap lengths: headers are there, CRCs are not to be judged"
for snap in 20 54 60 74 80 100 128 200; do
	editcap -s "$snap" "$in/good.pcap" "$in/snap.pcap"
	passes=any
	expect 4 "audit: frames cut to $snap octets" "$WARPCHECK" audit --format jsonl "$in/snap.pcap"
	passes=none
	complains 'not judged|no MPA traffic|exercises no selected rule'
	holds "no CRC error is made up of octets that are missing" \
		test "$(grep -o '"crc_errors":[1-9]' "$WORK/stdout" | wc -l)" -eq 0
	expect "0 3" "dump: frames cut to $snap octets" "$WARPCHECK" dump "$in/snap.pcap"
done

echo "== hostile captures: octets changed, frames lost, doubled, exchanged"
$CC -std=gnu17 -O1 -x c -o "$WORK/spoil" - <<'C'
#include <stdio.h>
#include <stdlib.h>
/* spoil SEED <pcap >pcap: changes about one frame in 16, drops, doubles or delays about one in 32 each. */
static unsigned long long state;
static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}
static unsigned char held[16 + 65536];
static size_t held_octets;
int main(int argc, char **argv)
{
    static unsigned char h[24], r[16 + 65536];
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    if (fread(h, 1, 24, stdin) != 24 || fwrite(h, 1, 24, stdout) != 24)
        return 1;
    while (fread(r, 1, 16, stdin) == 16) {
        size_t c = r[8] | r[9] << 8 | (size_t)r[10] << 16;
        if (c > 65536 || fread(r + 16, 1, c, stdin) != c)
            return 1;
        unsigned fate = draw(32);
        if (fate < 2)
            for (unsigned i = draw(6) + 1; i > 0; i--)
                r[16 + draw(2) * (c > 54 ? 54 : 0) + draw(c > 108 ? 54 : 14)] = (unsigned char)draw(256);
        if (fate == 2)
            continue;
        if (fate == 3 && held_octets == 0) {
            for (held_octets = 0; held_octets < 16 + c; held_octets++)
                held[held_octets] = r[held_octets];
            continue;
        }
        fwrite(r, 1, 16 + c, stdout);
        if (fate == 4)
            fwrite(r, 1, 16 + c, stdout);
        if (held_octets != 0 && draw(4) == 0) {
            fwrite(held, 1, held_octets, stdout);
            held_octets = 0;
        }
    }
    return fflush(stdout) != 0;
}
C
programs=("$WARPCHECK")
if [ -x "$WARPCHECK_ASAN" ]; then programs+=("$WARPCHECK_ASAN"); else echo "no sanitised program at $WARPCHECK_ASAN"; fi
passes=any # of what is not spoilt
for seed in $(seq 1 20); do
	"$WORK/spoil" "$seed" <"$in/good.pcap" >"$in/noise/$seed.pcap"
	for program in "${programs[@]}"; do
		expect "0 1 4" "audit of spoilt capture $seed by $(basename "$(dirname "$program")")/warpcheck" \
			"$program" audit --format jsonl "$in/noise/$seed.pcap"
		expect 0 "dump of it" "$program" dump --format jsonl "$in/noise/$seed.pcap"
	done
done
expect "0 1 4" "all of them in one run" "$WARPCHECK" audit --format jsonl "$in/noise"
says '"type":"summary"'
# The chain counts the line of the run, too, which says when it began.
untimed() { sed -E '/"type":"run"/d; s/,"ended":"[^"]*"//; s/("crc32c":)"[^"]*"/\1"of these"/' "$WORK/stdout"; }
untimed >"$WORK/one"
expect "0 1 4" "all of them, three at a time" "$WARPCHECK" audit -j 3 --format jsonl "$in/noise"
holds "with the same results in the same order" cmp "$WORK/one" <(untimed)
expect "0 1 4" "the same for people, with all that passed" "$WARPCHECK" audit -j 2 --all "$in/noise"
cp "$WORK/stdout" "$WORK/two"
expect "0 1 4" "and by one process" "$WARPCHECK" audit -j1 --all "$in/noise"
holds "reads the same" cmp "$WORK/two" "$WORK/stdout"
passes=none
expect 2 "a file of several that is no capture" "$WARPCHECK" audit -j 2 "$in/good.pcap" "$in/letter.pcap"
complains 'letter'
expect 4 "a file of several that breaks off" "$WARPCHECK" audit -j 2 "$in/good.pcap" "$in/cut-in-frame.pcap"
says 'inconclusive: nothing failed so far'
expect 2 "no process at all" "$WARPCHECK" audit -j 0 "$in/good.pcap"
finish
