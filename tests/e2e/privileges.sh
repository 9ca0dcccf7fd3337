#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the kernel says of the programs while they work (/proc/PID/status): no capability, no way to get one, and a filter of system
# calls, for the tester, the embedded device, iwarp-peer, and audit with its processes; as root and as an ordinary user. And what
# needs more still works: results and evidence in folders of root's and of others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

expect 0 "--version" "$WARPCHECK" --version
says '^confinement: '
seccomp=0
! grep -q 'confinement:.*seccomp' "$WORK/stdout" || seccomp=2
landlock=$(grep -c 'confinement:.*Landlock' "$WORK/stdout" || true)

field() { awk -v name="$2:" '$1 == name { print $2 }' "/proc/$1/status"; } # PROCESS NAME
# confined WHAT PROCESS CAPABILITIES [root]: has those capabilities and no others, also in its bounding set when it is root's
confined() {
	holds "$1: capabilities $3" test "$(field "$2" CapEff)$(field "$2" CapPrm)$(field "$2" CapInh)$(field "$2" CapAmb)" = "$3${3}00000000000000000000000000000000"
	holds "$1: no new privileges" test "$(field "$2" NoNewPrivs)" = 1
	holds "$1: filter of system calls" test "$(field "$2" Seccomp)" = "$seccomp"
	[ "${4:-}" != root ] || holds "$1: bounding set" test "$(field "$2" CapBnd)" = "$3"
}
none=0000000000000000 reads=0000000000000004 ports=0000000000000400
wait_for() { # PROCESS CONDITION...
	eventually "$@" || { wrong "$last: it ended too early" "$(cat "$WORK/err")"; return 1; }
}
has() { [ -e "$1" ] && grep -q -- "$2" "$1"; }

# run AS FOLDER WHAT [root]: the embedded run, looked at in its midst
run() {
	local folder=$2 process tester device status=0
	last=$3
	"${@:5}" "$PWD/run/warpcheck" run 'MPA-7.1-0*' --role responder -j "$jobs" -o "$folder" >"$WORK/out" 2>"$WORK/err" &
	process=$!
	wait_for "$process" has "$folder/results.jsonl" '"type":"result"' || return 0
	tester=$process
	[ "$jobs" -eq 1 ] || tester=$(pgrep -o -P "$process") # a process that runs checks, with a device of its own
	device=$(pgrep -o -P "$tester")
	confined "$3: the tester" "$tester" "$none" "$4"
	confined "$3: the device" "$device" "$none" "$4"
	holds "$3: both are the same user" test "$(field "$tester" Uid)" = "$(field "$device" Uid)"
	holds "$3: user $1" test "$(field "$tester" Uid)" = "$1"
	wait "$process" || status=$?
	holds "$3: it conforms" test "$status" = 0
	holds "$3: the page is there" test -s "$folder/index.html"
	holds "$3: there is evidence" test -n "$(find "$folder/evidence" -name '*.pcapng' -size +0)"
	holds "$3: all of it is user $1's" test -z "$(find "$folder" -not -uid "$1")"
	holds "$3: the device is gone" test ! -e "/proc/$device"
}
base=$(mktemp -d /tmp/warpcheck-privileges.XXXXXX)
trap 'rm -rf "$base"' EXIT
chmod 755 "$base"
mkdir "$base/run" "$base/theirs"
cp "$WARPCHECK" "$base/run/warpcheck"
audit_pcap=$(find pcaps/generated -name '*.pcap' | sort | sed -n 1p)
cp "$audit_pcap" "$base/one.pcap"
cd "$base"
if [ "$(id -u)" -eq 0 ]; then
	chown 65534:65534 theirs
	jobs=1
	run 0 "$base/own" "root" root
	jobs=2
	run 0 "$base/beside" "root, checks side by side" root
	run 65534 "$base/theirs" "root, in a folder of nobody's" root
	run 65534 "$base/theirs/new/below" "root, in a new folder of nobody's" root
	as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups env "HOME=$base/theirs")
	if "${as_user[@]}" unshare --user --map-root-user --net true 2>/dev/null; then
		run 65534 "$base/theirs/rootless" "nobody" "" "${as_user[@]}"
	fi
	bound=$ports
else
	jobs=1
	run "$(id -u)" "$base/own" "an ordinary user" ""
	jobs=2
	run "$(id -u)" "$base/beside" "an ordinary user, checks side by side" ""
	bound=$none
fi
kept=$none # its own files, and what everybody may read

# iwarp-peer, and with a Unix socket that it takes away again
"$IWARP_PEER" --listen 0 --control "$base/control" >"$WORK/out" 2>"$WORK/err" &
process=$! last=iwarp-peer
wait_for "$process" has "$WORK/out" READY
confined iwarp-peer "$process" "$bound" "$([ "$(id -u)" -ne 0 ] || echo root)"
holds "its socket is there" test -S "$base/control"
kill "$process"
wait "$process" || true
holds "its socket is gone" test ! -e "$base/control"

# audit: one process, and several
mkfifo "$base/never"
"$WARPCHECK" audit -o "$base/audit" "$base/one.pcap" "$base/never" >"$WORK/out" 2>"$WORK/err" &
process=$! last=audit
exec {hold}<>"$base/never"
wait_for "$process" has "$base/audit/results.jsonl" 'one.pcap'
confined audit "$process" "$kept" "$([ "$(id -u)" -ne 0 ] || echo root)"
kill -TERM "$process"
kill -INT "$process"
wait "$process" || true
mkfifo "$base/neither"
exec {other}<>"$base/neither"
"$WARPCHECK" audit -j 2 -o "$base/audit2" "$base/never" "$base/neither" >"$WORK/out" 2>"$WORK/err" &
process=$! last="audit -j"
two() { [ "$(pgrep -P "$process" | wc -l)" -eq 2 ] && [ "$(field "$(pgrep -P "$process" | tail -n 1)" NoNewPrivs)" = 1 ]; }
wait_for "$process" two
confined "audit -j" "$process" "$kept"
for worker in $(pgrep -P "$process"); do confined "a process of audit -j" "$worker" "$kept"; done
kill -TERM "$process"
kill -INT "$process"
wait "$process" || true
exec {hold}>&- {other}>&-
expect "0 1" "audit -j writes its reports" "$WARPCHECK" audit -j 2 -o "$base/audit3" "$base/one.pcap" "$base/one.pcap"
holds "there they are" test -s "$base/audit3/index.html"

# What root can read of others only with a capability: that one, and no other, also where it writes into a folder of its own.
if [ "$(id -u)" -eq 0 ]; then
	mkfifo -m 600 "$base/theirs/secret" "$base/theirs/second"
	chown 65534:65534 "$base/theirs/secret" "$base/theirs/second"
	exec {hold}<>"$base/theirs/secret" {other}<>"$base/theirs/second"
	"$WARPCHECK" audit -j 2 -o "$base/audit4" "$base/theirs/secret" "$base/theirs/second" >"$WORK/out" 2>"$WORK/err" &
	process=$! last="audit -j of another's files"
	wait_for "$process" two
	for worker in $(pgrep -P "$process"); do confined "a process of $last" "$worker" "$reads"; done
	kill -TERM "$process"
	kill -INT "$process"
	wait "$process" || true
	exec {hold}>&- {other}>&-
fi

# gen writes to the given place, and a script's capture nowhere else.
expect 0 "gen" "$WARPCHECK" gen --hex -e 'rdmap.send { data = "x" }' -o "$base/theirs/frame.hex"
holds "the frame is there" test -s "$base/theirs/frame.hex"
expect 0 "gen, into a device" "$WARPCHECK" gen --hex -e 'rdmap.send { data = "x" }' -o /dev/null
[ "$landlock" -eq 0 ] || holds "and /dev/null is still a device" test -c /dev/null
finish
