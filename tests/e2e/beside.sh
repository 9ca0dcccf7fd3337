#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run -j on a device: one machine with an upper tester for each place of the profile is judged by as many checks at a time. The verdicts are
# those of checks one after another, in the same order, each place judges something, and no evidence holds another place's frames.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
defects=(ddp-rsvdulp-zero mpa-reply-reserved ddp-qn-wrong-code rdmap-terminate-bit-fields)
places=3

cat >"$WORK/device.json" <<'JSON'
{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7471",
  "beside": [ { "own_address": "10.99.0.4", "port": 9904, "control": "127.0.0.1:7474" },
              { "own_address": "10.99.0.5", "own_mac": "02:77:63:00:00:05", "port": 9905, "control": "127.0.0.1:7475" },
              { "own_address": "10.99.0.6", "own_mac": "02:77:63:00:00:06", "port": 9906, "control": "127.0.0.1:7476" } ],
  "known_deviations": [
    { "requirement": "RDMAP-4.8-01", "message": "control word of the Terminate", "actual": "10000700", "review_by": "@LATER@" },
    { "requirement": "RDMAP-4.8-02", "by": "check", "message": "control word for a Write to an unknown STag", "actual": "11000300", "review_by": "@LATER@" },
    { "requirement": "RDMAP-4.8-02", "by": "rule", "actual": "<hex> <hex> <hex> 00", "review_by": "@LATER@", "sometimes": true } ] }
JSON
sed -i "s/@LATER@/$(date -u -d '+300 days' +%F)/" "$WORK/device.json"
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
peers=()
for port in 7471 7474 7475 7476; do
	"$IWARP_PEER" --control "$port" "$@" >"$WORK/$port.peer" 2>&1 &
	peers+=($!)
	prints $! "$WORK/$port.peer" READY || exit 99
done
run() { # FOLDER OPTION...
	local folder=$1
	shift
	"$WARPCHECK" run --dut "$WORK/device.json" 'MPA-7.1.1-*' 'DDP-7.1-*' 'DDP-7.2-*' 'RDMAP-4.8-0*' --all --evidence all -o "$WORK/$folder" "$@" >"$WORK/$folder.txt" 2>&1
	echo "$folder $?"
}
run alone
run side -j 3
kill "${peers[@]}"
INSIDE
export WORK WARPCHECK IWARP_PEER
options=()
for defect in "${defects[@]}"; do options+=(--defect "$defect"); done
expect 0 "both runs end" unshare -rn bash "$WORK/inside.sh" "${options[@]}"
says '^alone 1$'
says '^side 1$'

# On a busy machine a live check may find no answer in time: INCONCLUSIVE in one of the two says nothing.
verdicts() { jq -c 'select(.type == "result") | [.id, .role, .by, .verdict]' "$WORK/$1/results.jsonl"; }
jq -r 'select(.type == "result" and .verdict == "INCONCLUSIVE") | .id' "$WORK"/{alone,side}/results.jsonl | sort -u >"$WORK/late"
echo "no check" >>"$WORK/late"
holds "few were late: $(wc -l <"$WORK/late")" test "$(wc -l <"$WORK/late")" -le 5
holds "the same verdicts in the same order" diff <(verdicts alone | grep -vFf "$WORK/late") <(verdicts side | grep -vFf "$WORK/late")
holds "known deviations are, side by side, too" test "$(verdicts side | grep -c '"RDMAP-4.8-0[12]".*"KNOWN"')" -ge 3
holds "the defects are found" test "$(verdicts side | grep -c '"check","FAIL"')" -ge 2

# Whose frames each capture has: of one place's tester alone, and of each place something.
for file in "$WORK"/side/evidence/*.pcapng; do
	"$TSHARK" -r "$file" -T fields -e ip.src -e ip.dst 2>/dev/null | tr '\t' '\n' | grep -v '^10\.99\.0\.2$\|^$' | sort -u | paste -sd ' '
done | sort | uniq -c >"$WORK/testers"
holds "each capture is of one tester: $(xargs <"$WORK/testers")" test -z "$(awk 'NF > 2' "$WORK/testers")"
for ((i = 1; i <= places; i++)); do
	holds "place $i judged something" grep -q " 10\.99\.0\.$((3 + i))\$" "$WORK/testers"
done
# Places share one device: two checks that choose the same port of it cannot both have it.
holds "no script chooses a port of the device" test -z "$(grep -rnE '(listen|connect).*\bport = [0-9]' conformance/scripts)"
finish
