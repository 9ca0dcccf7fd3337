#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# warpcheck monitor on a cable in a namespace: what audit finds in captures it finds on the wire, each once; SIGHUP and rotation keep
# every line; killed and started again it counts nothing twice; what the ring lost is said, and never a fault; an interface that
# vanishes, a full disk and a flood of findings are said in a line, and what was found stays.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# ---- bad input, without an interface
refuses monitor "no interface is named: -i IF"
refuses monitor "nowhere0: no such interface" -i nowhere0
refuses monitor "-i lo: this interface is named twice" -i lo -i lo
refuses monitor '--buffer "1G1": octets from 1M to 2047M were expected' -i lo --buffer 1G1
refuses monitor '--idle "1 day": a time from 1s' -i lo --idle '1 day'
refuses monitor "--rotate-size and --rotate-every are for --log FILE" -i lo --rotate-size 1M
refuses monitor '--system-log "kmsg": journal or syslog was expected' -i lo --system-log kmsg
expect 3 "an id that is none" "$WARPCHECK" monitor -i lo MPA-99

# ---- on a cable
generator many
"$WORK/many" "$WORK/long.pcap" 1 1 # one connection with CRCs, about a thousand frames
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
process=''
trap '[ -z "$process" ] || kill -KILL "$process" 2>/dev/null' EXIT
source tests/e2e/wait.bash
cable() {
	ip link add tap0 type veth peer name mirror0 mtu 9500 && ip link set tap0 mtu 9500 &&
		ip link set tap0 up && ip link set mirror0 up
}
# start NAME OPTION...: in the background; its output is NAME.out and NAME.err.
start() {
	local name=$1
	shift
	rm -f "$WORK/$name.out" "$WORK/$name.err"
	"$WARPCHECK" monitor -i mirror0 --metrics "$WORK/metrics.prom" "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" &
	process=$!
	eventually "$process" grep -qs '^warpcheck_interface_up{interface="mirror0"} 1$' "$WORK/metrics.prom" || exit 99
}
# stop SIGNAL NAME: and its exit status. What was sent before stands in the ring and is read first.
stop() {
	local status=0
	kill "-$1" "$process"
	wait "$process" || status=$?
	rm -f "$WORK/metrics.prom"
	echo "$2 $status"
}
send() { python3 tests/e2e/replay.py tap0 "$@"; }
cable || exit 99

mkdir "$WORK/evidence"
start faults --log "$WORK/faults.jsonl" --evidence "$WORK/evidence" --metrics-every 1
grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' "/proc/$process/status" >"$WORK/confined"
for file in $FAULTY; do
	send "$file"
done
prints "$process" "$WORK/faults.jsonl" "$LAST_FAULT"
prints "$process" "$WORK/metrics.prom" '^warpcheck_findings_total.id="RDMAP-4.8-02"'
cp "$WORK/metrics.prom" "$WORK/kept.prom"
mv "$WORK/faults.jsonl" "$WORK/faults.jsonl.1"
kill -HUP "$process"
prints "$process" "$WORK/faults.jsonl" '"type":"known"'
send pcaps/generated/wrong-rtr.pcap
prints "$process" "$WORK/faults.jsonl" '"type":"finding".*EMPA-9.2-20'
stop TERM faults

# Faults of one connection that go on, and the process is killed between them: the second one begins in mid-stream.
start killed --log "$WORK/again.jsonl"
send pcaps/generated/atomics.pcap 1-14
prints "$process" "$WORK/again.jsonl" '"type":"finding".*ATOM-5.2.1-13'
stop KILL killed
printf '{"type":"torn' >>"$WORK/again.jsonl"
start restarted --log "$WORK/again.jsonl"
send pcaps/generated/atomics.pcap 5-
stop TERM restarted

# More findings than may be said.
start flood --rate 1 --format jsonl --log "$WORK/flood.jsonl" --rotate-every 1s --rotate-keep 2
for file in $FAULTY; do send "$file"; done
prints "$process" "$WORK/flood.out" "$LAST_FAULT"
eventually "$process" test -e "$WORK/flood.jsonl.2"
prints "$process" "$WORK/flood.jsonl" '"type":"known".*RDMAP-4.8-02'
stop INT flood

# The ring is full before the process reads it.
start lost --buffer 1M --log "$WORK/lost.jsonl"
send "$WORK/long.pcap" 1-100
kill -STOP "$process"
for _ in 1 2 3 4 5; do send "$WORK/long.pcap" 101-900; done
kill -CONT "$process"
send "$WORK/long.pcap" 901-
prints "$process" "$WORK/lost.err" 'frames were lost before they were read'
stop TERM lost

start full --log /dev/full
send pcaps/generated/bad-crc.pcap
prints "$process" "$WORK/full.err" 'cannot write: No space left'
prints "$process" "$WORK/full.out" 'FAIL  MPA-4.4-14'
stop TERM full

"$WARPCHECK" monitor -i mirror0 --count 1 --format jsonl >/dev/full 2>"$WORK/nowhere.err" &
process=$!
eventually "$process" sh -c 'python3 tests/e2e/replay.py tap0 pcaps/generated/bad-crc.pcap; kill -0 "$1" 2>/dev/null || exit 0; exit 1' sh "$process"
status=0
wait "$process" || status=$?
echo "nowhere $status"
start locked --log "$WORK/locked.jsonl"
"$WARPCHECK" monitor -i mirror0 --log "$WORK/locked.jsonl" >"$WORK/second.out" 2>"$WORK/second.err"
echo "second $?"
stop TERM locked

start short --count 100
send "$WORK/long.pcap"
status=0
wait "$process" || status=$?
echo "counted $status"
rm -f "$WORK/metrics.prom"

start gone --log "$WORK/gone.jsonl"
send pcaps/generated/bad-crc.pcap
prints "$process" "$WORK/gone.jsonl" '"type":"finding".*MPA-4.4-14'
ip link del mirror0
status=0
wait "$process" || status=$?
echo "gone $status"
INSIDE
faulty=(bad-crc atomics sctp-faults)
export WORK WARPCHECK FAULTY='' LAST_FAULT='"type":"finding".*RDMAP-4.8-02.*responder'
for name in "${faulty[@]}"; do FAULTY+="pcaps/generated/$name.pcap "; done
FAULTY+=pcaps/linux-siw/siw-rping-terminate.pcap
read -ra faults <<<"$FAULTY"
expect 0 "all of it" unshare -rn bash "$WORK/inside.sh"
cp "$WORK/stdout" "$WORK/statuses"

# found FILE...: findings of lines of results or of a log: what, who, where.
found() { jq -cR 'fromjson? | select((.type == "finding" or .type == "result") and .verdict != "PASS") | [.id, .verdict, .flow, .expected, .actual]' "$@" | sort; }
"$WARPCHECK" audit --format jsonl "${faults[@]}" pcaps/generated/wrong-rtr.pcap >"$WORK/audited" || true
found "$WORK/audited" >"$WORK/wanted"
found "$WORK/faults.jsonl.1" "$WORK/faults.jsonl" >"$WORK/seen"
holds "what audit finds, each once, over both files of the log" diff "$WORK/wanted" "$WORK/seen"
holds "it fails" grep -qx 'faults 1' "$WORK/statuses"
holds "each finding has a capture with its frame" test "$(jq -rs 'map(select(.type == "finding" and .verdict != "AMBIGUOUS")) | length' "$WORK/faults.jsonl.1" "$WORK/faults.jsonl")" -eq "$(find "$WORK/evidence" -name '*.pcapng' | wc -l)"
for file in "$WORK"/evidence/*.pcapng; do
	id=${file##*Z-} id=${id%-*}
	"$WARPCHECK" audit --format jsonl "$file" "$id" >"$WORK/cut" 2>/dev/null || true
	holds "audit finds $id in its capture, too" jq -es --arg id "$id" 'map(select(.id == $id and .verdict != "PASS")) | length >= 1' "$WORK/cut"
done
holds "no privileges are left: $(xargs <"$WORK/confined")" grep -qx 'CapEff: 0\+ CapBnd: 0\+ NoNewPrivs: 1 Seccomp: 2' <(xargs <"$WORK/confined")
if command -v systemd-analyze >/dev/null; then
	sed "s,/usr/bin/warpcheck,$(readlink -f "$WARPCHECK")," packaging/systemd/warpcheck-monitor@.service >"$WORK/warpcheck-monitor@.service"
	expect 0 "systemd takes the unit" systemd-analyze verify --man=no "$WORK/warpcheck-monitor@.service"
	holds "without a word" test ! -s "$WORK/stderr"
fi
holds "a block for each on the terminal" test "$(grep -cE '^(FAIL|WARN)  ' "$WORK/faults.out")" -ge 5
holds "and when, where and its key" grep -qE '^      when      20[0-9T:Z-]+ on mirror0, key [0-9a-f]{16}$' "$WORK/faults.out"
bad=$(grep -cvE '^(# (HELP|TYPE) warpcheck_[a-z_]+ .+|warpcheck_[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*\})? [0-9]+)$' "$WORK/kept.prom" || true)
holds "each line of the metrics is a comment or a sample" test "$bad" -eq 0
holds "the metrics count findings" grep -qx 'warpcheck_findings_total{id="MPA-4.4-14",verdict="FAIL"} 1' "$WORK/kept.prom"

findings=$(grep -c '"type":"finding".*"verdict":"\(FAIL\|WARN\)"' "$WORK/again.jsonl")
holds "killed and started again: no finding twice" test "$findings" -eq "$(found "$WORK/again.jsonl" | grep -vc AMBIGUOUS)"
holds "they go on" grep -q '"type":"again".*ATOM-5.2.1-02.*"count":2' "$WORK/again.jsonl"
holds "none is new" grep -qx "0 findings, and $findings known before" "$WORK/restarted.out"
holds "the torn line went" test "$(grep -c '"type":"torn' "$WORK/again.jsonl")" -eq 0

holds "a flood is said by its count" grep -qE '"type":"note".*more findings, not said one by one' "$WORK/flood.out"
holds "standard output has the lines of the log" jq -es 'map(select(.type == "finding")) | length > 5' "$WORK/flood.out"
holds "no more files than are kept" test "$(find "$WORK" -name 'flood.jsonl*' | wc -l)" -eq 3
holds "what is known is in the newest file" grep -q '"type":"known".*MPA-4.4-14' "$WORK/flood.jsonl"

holds "lost frames: not judged" grep -qx 'lost 4' "$WORK/statuses"
holds "and no fault of anybody" test "$(found "$WORK/lost.jsonl" | wc -l)" -eq 0
holds "they are counted" grep -qE '"dropped":\{"items":[1-9]' "$WORK/lost.jsonl"

holds "a full disk: the finding is a FAIL all the same" grep -qx 'full 1' "$WORK/statuses"
holds "lines that standard output does not take are lost, and that is no success" grep -qx 'nowhere 4' "$WORK/statuses"
holds "one monitor a log" grep -qx 'second 4' "$WORK/statuses"
holds "it says why" grep -q 'another process writes this log' "$WORK/second.err"
holds "--count ends it" grep -qE '^counted [04]$' "$WORK/statuses"
holds "after so many frames" grep -qE '^100 frames,' "$WORK/short.out"
holds "an interface that vanishes is one line" test "$(grep -c 'mirror0: the interface cannot be read any more' "$WORK/gone.err")" -eq 1
holds "what was found stays, and fails" grep -qx 'gone 1' "$WORK/statuses"
holds "the log has its end" grep -q '"stopped":"an interface went away"' "$WORK/gone.jsonl"
finish
