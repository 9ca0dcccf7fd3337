#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Two runs at once against one address, over one interface and with one MAC: a stack without a fault on one port, one with defects on
# another port. Each run sees the other's frames. No verdict of one may rest on them, none of its evidence holds them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
defects=(ddp-rsvdulp-zero rdmap-terminate-operation-zeroed mpa-reply-reserved)

for i in good bad; do
	port=9999 own=10.99.0.3
	[ $i = good ] || port=9998 own=10.99.0.4
	cat >"$WORK/$i.json" <<-JSON
		{ "address": "10.99.0.2", "own_address": "$own", "interface": "tester0", "port": $port }
	JSON
done
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
rm -f "$WORK"/*.peer
"$IWARP_PEER" --listen 9999 >"$WORK/good.peer" 2>&1 &
good=$!
"$IWARP_PEER" --listen 9998 "$@" >"$WORK/bad.peer" 2>&1 &
bad=$!
prints $good "$WORK/good.peer" READY && prints $bad "$WORK/bad.peer" READY || exit 99
checks=('MPA-7.1*' 'DDP-7*' --role responder)
"$WARPCHECK" run --dut "$WORK/bad.json" "${checks[@]}" -o "$WORK/bad" --evidence all >"$WORK/bad.txt" 2>&1 &
other=$!
prints $other "$WORK/bad.txt" '^[A-Z]+  ' || exit 99
sed 's/10\.99\.0\.3/10.99.0.4/' "$WORK/good.json" >"$WORK/same.json"
"$WARPCHECK" run --dut "$WORK/same.json" "${checks[@]}" -o "$WORK/same" --evidence all >"$WORK/same.txt" 2>&1
echo "same $?"
"$WARPCHECK" run --dut "$WORK/good.json" "${checks[@]}" -o "$WORK/good" --evidence all >"$WORK/good.txt" 2>&1
echo "good $?"
wait $other
echo "bad $?"
kill $good $bad
INSIDE
export WORK WARPCHECK IWARP_PEER
options=()
for defect in "${defects[@]}"; do options+=(--defect "$defect"); done
expect 0 "both runs end" unshare -rn bash "$WORK/inside.sh" "${options[@]}"
says '^bad 1$'
says '^good (0|4)$'
says '^same 4$'
holds "a run with the other one's own_address is refused" \
	grep -qx "warpcheck run: tester0: another run of warpcheck answers for 10.99.0.4; expected an address that is this run's alone" "$WORK/same.txt"
verdicts() { jq -r 'select(.type == "result") | "\(.verdict) \(.by)"' "$WORK/$1/results.jsonl" | sort | uniq -c; }
holds "the stack without a fault fails in nothing: $(verdicts good | xargs)" bash -c "! grep -E 'FAIL|WARN' <<<'$(verdicts good)'"
holds "the other one does, in rules: $(verdicts bad | xargs)" grep -q 'FAIL rule' <(verdicts bad)
# They ran at one time on one link. The filter in the kernel leaves the frames of the other run out: they take no room in the ring, and
# stand neither in the account nor in evidence.
times() { jq -r 'select(.type == "run").started, select(.type == "summary").ended' "$WORK/$1/results.jsonl" | xargs; }
read -r good_began good_ended <<<"$(times good)"
read -r bad_began bad_ended <<<"$(times bad)"
holds "they ran at one time" test "$good_began" \< "$bad_ended" -a "$bad_began" \< "$good_ended"
for i in good bad; do
	holds "$i: the other run's frames are not captured" jq -s -e '[.. | objects | select(has("other-hosts"))] | length == 0' "$WORK/$i/results.jsonl"
	own=10.99.0.3
	[ $i = good ] || own=10.99.0.4
	mapfile -t files < <(find "$WORK/$i/evidence" -name '*.pcapng' -size +4k | sort | sed -n '1,5p')
	for file in "${files[@]}"; do
		[ -z "$("$TSHARK" -r "$file" -Y "tcp && !(ip.addr == $own)" 2>/dev/null | sed -n 1p)" ] || wrong "$i: $file has frames of the other run"
	done
done
holds "evidence was looked at" test -s "$WORK/good/evidence/MPA-7.1.2-04.pcapng"
finish
