#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# report --reproducer c ID RUN: one file of C with plain sockets. It is compiled without a warning, exits with 1 against an iwarp-peer that
# has the defect, and with 0 against a correct one: of each layer, for devices as responder and as initiator, with and without an upper
# tester, and for the failure at the top of the README; and of a CM, over RoCEv2 in a network namespace. What cannot be replayed so is
# refused in one line.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# peer NAME OPTION...: an iwarp-peer on ports of its own, which $port and $control become.
peers=()
trap 'kill "${peers[@]}" 2>/dev/null; rm -rf "$WORK"' EXIT
peer() {
	local out=$WORK/peer-$1
	shift
	"$IWARP_PEER" --listen 0 --control 0 "$@" >"$out" 2>&1 &
	peers+=($!)
	prints $! "$out" '^READY '
	port=$(sed -nE 's/^READY listen=([0-9]+) control=.*/\1/p' "$out")
	control=$(sed -nE 's/^READY .* control=([0-9]+)$/\1/p' "$out")
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
strict() { "${cc[@]}" -Wall -Wextra -Werror -o "$2" "$1"; }

peer correct
correct=$port correct_control=$control
echo "== the README's failure"
passes=any
expect 1 "a run with it" "$WARPCHECK" run DDP-7.2-01 --role responder --simulate --defect ddp-qn-wrong-code --seed 1 -o "$WORK/readme"
passes=none
# The check tries other errors after the one that fails: its verdict is about the Terminate of that one, the first.
holds "the failure names its own frame" jq -es '[.[] | select(.type == "result" and .verdict == "FAIL")][0] | .frame == [.steps[] | select(.kind == "terminate")][0].frame' \
	"$WORK/readme/results.jsonl"
expect 0 "its reproducer" "$WARPCHECK" report --reproducer c DDP-7.2-01 "$WORK/readme"
cp "$WORK/stdout" "$WORK/readme.c"
holds "is compiled without a warning" strict "$WORK/readme.c" "$WORK/readme.bin"
peer readme --defect ddp-qn-wrong-code
expect 1 "it shows the defect" "$WORK/readme.bin" 127.0.0.1 "$port"
says '^FAIL: '
says '^0 came 002a41470+0*2'
expect 0 "and that a correct peer has none" "$WORK/readme.bin" 127.0.0.1 "$correct"
says '^ok: '
status=0
"$WORK/readme.bin" 127.0.0.1 "$(free_port)" >"$WORK/stdout" || status=$?
holds "where nobody listens it was not tried" test "$status" = 2
expect 1 "the same with the upper tester" "$WORK/readme.bin" 127.0.0.1 "$port" 127.0.0.1 "$control"

echo "== of each layer, in both roles"
while read -r defect id role; do
	name=$defect-$role
	"$WARPCHECK" run "$id" --role "$role" --simulate --defect "$defect" --seed 1 -o "$WORK/$name" --quiet >/dev/null 2>&1 || true
	expect 0 "$id $role, $defect" "$WARPCHECK" report --reproducer c "$id-$role" "$WORK/$name" -o "$WORK/$name.c"
	holds "at most 150 lines" test "$(wc -l <"$WORK/$name.c")" -le 150
	holds "compiled without a warning" strict "$WORK/$name.c" "$WORK/$name.bin"
	peer "$name" --defect "$defect"
	if [ "$role" = responder ]; then
		expect 1 "fails with the defect" "$WORK/$name.bin" 127.0.0.1 "$port" 127.0.0.1 "$control"
		expect 0 "passes without" "$WORK/$name.bin" 127.0.0.1 "$correct" 127.0.0.1 "$correct_control"
	else
		expect 1 "fails with the defect" "$WORK/$name.bin" 127.0.0.1 "$(free_port)" 127.0.0.1 "$control"
		expect 0 "passes without" "$WORK/$name.bin" 127.0.0.1 "$(free_port)" 127.0.0.1 "$correct_control"
	fi
done <<'E2'
mpa-reject-without-r MPA-7.1.1-18 responder
framing-crc-in-one-segment MPA-6-06 responder
mpa-key-enough MPA-7.1.2-13 initiator
mpa-first-fpdu-discarded MPA-7.1-06 initiator
empa-request-host-order EMPA-9-02 initiator
empa-reply-ord-more EMPA-9.1-12 responder
ddp-mo-dropped DDP-7.1-19 responder
ddp-mo-dropped DDP-7.1-19 initiator
ddp-untagged-version-unchecked DDP-7.2-05 initiator
rdmap-read-as-send RDMAP-4.1-08 responder
rdmap-read-as-send RDMAP-4.1-08 initiator
rdmap-terminate-bit-fields RDMAP-4.8-02 responder
left-error DDP-7.2-01 initiator
E2

echo "== of a CM"
# cm_once FILE OPTION...: an iwarp-peer --cm at 127.0.0.2, which is a client of 127.0.0.3 where it connects, and what FILE says of it; in a namespace.
cat >"$WORK/cm-once" <<'CM'
source tests/e2e/wait.bash
rm -f "$WORK/said" "$WORK/cm-peer"
ip link set lo up
[[ "$*" != *--connect* ]] || { stdbuf -oL "$1" 127.0.0.3 127.0.0.2 >"$WORK/said" & tried=$! && prints $tried "$WORK/said" '^the device: '; }
"$IWARP_PEER" --cm --bind 127.0.0.2 --cm-service tcp/9999 "${@:2}" >"$WORK/cm-peer" 2>&1 &
peer=$!
prints $peer "$WORK/cm-peer" '^READY ' || exit 99
status=0
if [ -n "${tried:-}" ]; then wait $tried || status=$?; else "$1" 127.0.0.3 127.0.0.2 >"$WORK/said" || status=$?; fi
cat "$WORK/said"
kill $peer
exit $status
CM
cm_once=(unshare -rn env WORK="$WORK" IWARP_PEER="$IWARP_PEER" bash "$WORK/cm-once")
while read -r defect id role; do
	name=$defect-$role
	"$WARPCHECK" run "$id" --role "$role" --simulate --llp cm --defect "$defect" --seed 1 -o "$WORK/$name" --quiet >/dev/null 2>&1 || true
	expect 0 "$id $role, $defect" "$WARPCHECK" report --reproducer c "$id-$role" "$WORK/$name" -o "$WORK/$name.c"
	holds "at most 150 lines" test "$(wc -l <"$WORK/$name.c")" -le 150
	holds "compiled without a warning" strict "$WORK/$name.c" "$WORK/$name.bin"
	client=()
	[ "$role" = responder ] || client=(--connect 127.0.0.3:4791 --once)
	expect 1 "fails with the defect" "${cm_once[@]}" "$WORK/$name.bin" "${client[@]}" --defect "$defect"
	says '^FAIL: as it was when the check failed$'
	expect 0 "passes without" "${cm_once[@]}" "$WORK/$name.bin" "${client[@]}"
	says '^ok: '
done <<'CM'
cm-major-unchecked CA11-2 responder
cm-major-silent CA11-2 responder
cm-major-reason oA11-1 responder
cm-info-length-1 CA11-9 responder
cm-consumer-judged A11-TXT-06 responder
cm-ipv-octet A11-TXT-11 responder
cm-port-alone CA11-6-02 responder
cm-source-port-0 A11-TXT-12 initiator
cm-service-id-oui A11-TXT-15 initiator
cm-destination-gid A11-TXT-13 initiator
CM
passes=any
expect 1 "over IPv6" "$WARPCHECK" run CA11-2 --role responder --simulate --llp cm --ipv6 --seed 1 --defect cm-major-unchecked -o "$WORK/cm6" --quiet
passes=none
expect 0 "over IPv6" "$WARPCHECK" report --reproducer c CA11-2 "$WORK/cm6" -o "$WORK/cm6.c"
holds "compiled without a warning" strict "$WORK/cm6.c" "$WORK/cm6.bin"
cat >"$WORK/cm6-once" <<'CM6'
source tests/e2e/wait.bash
rm -f "$WORK/cm-peer"
ip link set lo up
ip addr add fd00::2/128 dev lo nodad
ip addr add fd00::3/128 dev lo nodad
"$IWARP_PEER" --cm --bind fd00::2 --cm-service tcp/9999 --cm-check-icrc "${@:2}" >"$WORK/cm-peer" 2>&1 &
peer=$!
prints $peer "$WORK/cm-peer" '^READY ' || exit 99
status=0
"$1" fd00::3 fd00::2 || status=$?
kill $peer
exit $status
CM6
cm6_once=(unshare -rn env WORK="$WORK" IWARP_PEER="$IWARP_PEER" bash "$WORK/cm6-once")
expect 1 "fails with the defect, at a device that checks the ICRC" "${cm6_once[@]}" "$WORK/cm6.bin" --defect cm-major-unchecked
expect 0 "passes without" "${cm6_once[@]}" "$WORK/cm6.bin"
# A CM that listens nowhere until its upper tester is asked, as one that was just started: the program asks, and shows its token.
cat >"$WORK/cm-asked.py" <<'ASKED'
import json, socket, subprocess, sys
work, peer = sys.argv[1], None
server = socket.create_server(("127.0.0.2", 0))
open(work + "/cm-upper", "w").write("%d\n" % server.getsockname()[1])
with server.accept()[0] as connection:
    lines = connection.makefile("rw")
    for line in lines:
        asked, good = json.loads(line), True
        if peer is None and asked["verb"] == "token":
            good = asked["token"] == "sesame"
        elif asked["verb"] == "cm_configure":
            where = ["--cm-service", "tcp/%d" % asked["listen"][0]["port"]] if asked["listen"][0]["protocol"] == 6 else []
            peer = subprocess.Popen([sys.argv[2], "--cm", "--bind", "127.0.0.2", *where, *sys.argv[3:]], stdout=subprocess.PIPE, text=True)
            good = peer.stdout.readline().startswith("READY ")
        lines.write(json.dumps({"ok": good}) + "\n")
        lines.flush()
if peer is not None:
    peer.kill()
ASKED
cat >"$WORK/cm-asked" <<'ASKED'
source tests/e2e/wait.bash
ip link set lo up
rm -f "$WORK/cm-upper"
python3 "$WORK/cm-asked.py" "$WORK" "$IWARP_PEER" "${@:2}" &
upper=$!
prints $upper "$WORK/cm-upper" . || exit 99
status=0
"$1" 127.0.0.3 127.0.0.2 127.0.0.2 "$(cat "$WORK/cm-upper")" sesame || status=$?
wait $upper
exit $status
ASKED
cm_asked=(unshare -rn env WORK="$WORK" IWARP_PEER="$IWARP_PEER" bash "$WORK/cm-asked")
expect 1 "a CM that listens when it is asked to fails with the defect" "${cm_asked[@]}" "$WORK/cm-major-reason-responder.bin" --defect cm-major-reason
says '^FAIL: as it was when the check failed$'
expect 0 "and passes without" "${cm_asked[@]}" "$WORK/cm-major-reason-responder.bin"
says '^ok: '
# The ICRC covers the identification, which a socket does not show: the wire says whether it is right.
cat >"$WORK/cm-wire" <<'WIRE'
source tests/e2e/wait.bash
ip link set lo up
rm -f "$WORK/wire.pcapng"
dumpcap -q -i lo -f 'udp port 4791' -w "$WORK/wire.pcapng" 2>/dev/null &
capturing=$!
eventually $capturing test -s "$WORK/wire.pcapng" || exit 99
bash "$WORK/cm-once" "$@"
dumped() { grep -q 'CM REJ' < <("$WARPCHECK" dump "$WORK/wire.pcapng"); }
eventually $capturing dumped
kill $capturing
wait $capturing
"$WARPCHECK" dump "$WORK/wire.pcapng"
WIRE
expect 0 "on the wire" unshare -rn env WORK="$WORK" IWARP_PEER="$IWARP_PEER" WARPCHECK="$WARPCHECK" bash "$WORK/cm-wire" "$WORK/cm-major-unchecked-responder.bin"
says 'CM REQ'
holds "each ICRC is right" test "$(grep -c 'ICRC' "$WORK/stdout")" = 0
status=0
unshare -rn bash -c 'ip link set lo up; exec "$1" 127.0.0.3 fd00::2' - "$WORK/cm-major-unchecked-responder.bin" >"$WORK/stdout" || status=$?
holds "addresses of two families: it was not tried" test "$status" = 2
passes=any
"$WARPCHECK" run A11-TXT-18 --role initiator --simulate --llp cm --defect cm-reject-proves --seed 1 -o "$WORK/cm-told" --quiet >/dev/null 2>&1 || true
passes=none
expect 3 "what the CM's ULP is told" "$WARPCHECK" report --reproducer c A11-TXT-18 "$WORK/cm-told"
complains 'A11-TXT-18: no reproducer: what failed \("the ULP is told that the device has it"\) is what the upper tester said$'

echo "== what cannot be replayed so"
passes=any
"$WARPCHECK" run RDMAP-5.5-17 --role responder --simulate --defect rdmap-completions-at-once --seed 1 -o "$WORK/events" --quiet >/dev/null 2>&1 || true
"$WARPCHECK" gen -e 'fpdu(rdmap.send { data = "hello" }, { crc_flip = 1 })' -o "$WORK/bad-crc.pcapng"
"$WARPCHECK" audit "$WORK/bad-crc.pcapng" -o "$WORK/audit" >/dev/null 2>&1 || true
expect 3 "an event of the ULP" "$WARPCHECK" report --reproducer c RDMAP-5.5-17 "$WORK/events"
complains '^warpcheck report: RDMAP-5.5-17: no reproducer: what failed \("write_done 2"\) is what the upper tester said to "poll"$'
expect 3 "an audit, where no tester sent anything" "$WARPCHECK" report --reproducer c MPA-4.4-14 "$WORK/audit"
complains 'kept no evidence of it'
expect 2 "what did not fail" "$WARPCHECK" report --reproducer c DDP-7.1-01 "$WORK/readme"
complains 'no result of DDP-7.1-01 is here'
expect 2 "another language" "$WARPCHECK" report --reproducer python DDP-7.2-01 "$WORK/readme"
complains '^warpcheck report: --reproducer is followed by c'
expect 2 "beside another report" "$WARPCHECK" report --reproducer c --known DDP-7.2-01 "$WORK/readme"

echo "== results of a stranger"
mkdir "$WORK/theirs" && cp -r "$WORK/readme/evidence" "$WORK/theirs"
jq -c 'if .type == "summary" then del(.chain) else . end | if .type == "result" then .actual = "*/ int evil; /* \\" | .expected = "\u001b[31m" |
	.steps |= map(.summary = "*/ int evil; /*") else . end' "$WORK/readme/results.jsonl" >"$WORK/theirs/results.jsonl"
expect 0 "are comments and nothing else" "$WARPCHECK" report --reproducer c DDP-7.2-01 "$WORK/theirs" -o "$WORK/theirs.c"
holds "compiled without a warning" strict "$WORK/theirs.c" "$WORK/theirs.bin"
holds "no control character" test -z "$(tr -d '\n\40-\176' <"$WORK/theirs.c")"
head -c 700 "$WORK/readme/evidence/DDP-7.2-01-responder.pcapng" >"$WORK/theirs/evidence/DDP-7.2-01-responder.pcapng"
expect "3" "evidence that is cut" "$WARPCHECK" report --reproducer c DDP-7.2-01 "$WORK/theirs"
finish
