#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The Wireshark plugin on captures of the corpus that capture_chop.c and editcap made worse: frames dropped, out of
# order, twice, cut, damaged; CHOP_RUNS (20) of them from SEED (1) on. Nothing crashes or is called malformed; one pass
# shows what two show; and what is decoded is what the whole capture has, no FPDU is made up. Where frames only changed
# places or came twice, every FPDU is still there.
# shellcheck disable=SC2154 # as_user, fields, one_pass: dissector.bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${CHOP_RUNS:=20}" "${SEED:=1}" "${KEEP:=}" "${CAPTURES:=*}"
source tests/e2e/expect.bash
source tests/e2e/dissector.bash
corpus
$CC -std=gnu17 -O1 -o "$WORK/chop" tests/e2e/capture_chop.c

# Each RDMAP header with what is of its own octets: no frame numbers, positions or links.
# shellcheck disable=SC2016
segments='.[].warp[] | select(has("warp.ddp") and .["warp.fpdu"]["warp.fpdu.crc.status"] != "0") |
	[.["warp.fpdu"]["warp.fpdu.ulpdu_length"], (.["warp.ddp"] | del(.["warp.ddp.rsvd"])), .["warp.rdmap"]["warp.rdmap.opcode"],
	.["warp.read"], .["warp.terminate.error"]] | tostring'
shown() { # shown OUTPUT ARGUMENT...: the frames of a capture with the plugin's fields, as the golden files have them
	local output=$1
	shift
	units "$@" 2>"$WORK/stderr" >"$WORK/json"
	jq -c "$fields" "$WORK/json" >"$output"
}

# shellcheck disable=SC2206 # a pattern is meant
captures=("$WORK"/corpus/$CAPTURES.pcap) ways=(d r 2 s dd rd r2 ds drs dr2s x dx rr sx)
for ((seed = SEED; seed < SEED + CHOP_RUNS; seed++)); do
	capture=${captures[seed * 7 % ${#captures[@]}]} how=${ways[seed * 5 % ${#ways[@]}]}
	name=$(basename "$capture" .pcap)
	what="seed $seed: $name, $how"
	if [ $((seed % 4)) -eq 0 ]; then # editcap's own ways
		how=editcap/$((seed % 3))
		what="seed $seed: $name, $how"
		frames=$(capinfos -rcTm "$capture" | cut -d, -f2)
		case $((seed % 3)) in
		0) editcap -F pcap "$capture" "$WORK/chopped.pcap" "$((1 + seed % frames))-$((1 + seed % frames + seed % 5))" ;;
		1) editcap -F pcap -s $((54 + seed * 13 % 400)) "$capture" "$WORK/chopped.pcap" ;;
		2) editcap -F pcap -r "$capture" "$WORK/chopped.pcap" "$((1 + seed % (frames / 2 + 1)))-$frames" ;;
		esac
	else
		"$WORK/chop" "$seed" "$how" "$capture" "$WORK/chopped.pcap"
	fi
	chmod a+r "$WORK/chopped.pcap"
	before=$broken
	shown "$WORK/two" -2 -r "$WORK/chopped.pcap"
	holds "$what: nothing on stderr" test ! -s "$WORK/stderr"
	# A ULP's dissector may rightly say so of octets that were damaged; and those of IUA and M2UA, who own the draft's PPIDs, where INIT was lost.
	[[ $how = *x* ]] || holds "$what: nothing is malformed" \
		test -z "$(ours -2 -r "$WORK/chopped.pcap" -Y '(_ws.malformed || _ws.unreassembled) && !(iua || m2ua)' 2>/dev/null)"
	shown "$WORK/one" -r "$WORK/chopped.pcap"
	holds "$what: one pass shows what two do" diff <(jq -sc "$one_pass" "$WORK/two") <(jq -sc "$one_pass" "$WORK/one")
	if [[ $how != *x* ]]; then
		[ -e "$WORK/$name.whole" ] || { shown "$WORK/whole" -2 -r "$capture" && jq -sr "$segments" "$WORK/whole" | sort >"$WORK/$name.whole"; }
		jq -sr "$segments" "$WORK/two" | sort >"$WORK/segments"
		holds "$what: no FPDU is made up" test -z "$(comm -13 "$WORK/$name.whole" "$WORK/segments")"
		if [[ $how =~ ^[r2]+$ ]]; then
			holds "$what: no FPDU is lost" test -z "$(comm -23 "$WORK/$name.whole" "$WORK/segments")"
		fi
	fi
	[ "$broken" -eq "$before" ] || [ -z "$KEEP" ] || cp "$WORK/chopped.pcap" "$KEEP/seed-$seed-$name.pcap"
done
finish
