#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# exchange.sh [DIR]: libiwarp over libusrsctp, on this side of a tap device, and over the kernel's SCTP, in the lab's guest
# (conformance/labs/linux/run-sctp.sh), exchange data by RFC 5043 and by the draft: each side begins once, over a good wire and over
# one that loses, delays and reorders packets in both directions. Contents are compared octet by octet. With DIR, DIR/kernel-PROFILE.pcap
# are captures of both sessions over the good wire: what pcaps/libiwarp-sctp has of the kernel was made so. PROFILES and WIRES choose some.
# It needs what the lab needs, jq and xxd; with DIR also dumpcap.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${IWARP_PEER:=${B:-$root/build}/iwarp-peer}" "${PROFILES:=rfc5043 draft02}" "${WIRES:=good bad}"
export IWARP_PEER PROFILES WIRES
guest=10.78.0.2 own=10.78.0.1

if [ "${1:-}" != inside ]; then
	out=${1:+$(realpath "$1")}
	peer='iwarp-peer --llp sctp --sctp-stack kernel --bind 10.78.0.2'
	export LAB_GUEST="sysctl -w net.sctp.udp_port=9899
nc -ll -p 7472 -e /bin/sh &
$peer --sctp-profile draft02 --listen 5044 --control 10.78.0.2:7473 >/dev/ttyS0 2>&1 &
$peer --listen 5043 --control 10.78.0.2:7471 >/dev/ttyS0 2>&1"
	export LAB_RUN="bash ${BASH_SOURCE[0]@Q} inside ${out@Q}" WARPCHECK=${WARPCHECK:-$root/build/warpcheck}
	exec "$here/../linux/run-sctp.sh"
fi
out=${2:-}
work=$(mktemp -d)
pids=()
finish() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT
declare -A fd=()

fail() {
	echo "WRONG $1" >&2
	exit 1
}

prints() { # FILE TEXT: waits until the file says so
	local tries=0
	until grep -q "$2" "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "no '$2' from: $(cat "$1")"
		sleep 0.1
	done
}

join() { # NAME ADDRESS PORT: its upper tester is at descriptor ${fd[NAME]}
	local handle
	exec {handle}<>"/dev/tcp/$2/$3"
	fd[$1]=$handle
	: >"$work/events.$1"
}

leave() { # NAME
	local handle=${fd[$1]}
	exec {handle}>&-
}

ask() { # NAME COMMAND: the answer
	local answer
	printf '%s\n' "$2" >&"${fd[$1]}"
	IFS= read -r -t 60 answer <&"${fd[$1]}" || fail "$1: no answer to $2"
	jq -e '.ok' <<<"$answer" >/dev/null || fail "$1: ${2:0:200}: $answer"
	printf '%s\n' "$answer"
}

await() { # NAME FILTER: until an event is so; prints it
	local tries=0
	for ((tries = 0; tries < 600; tries++)); do
		ask "$1" '{"verb":"poll"}' | jq -c '.events[]' >>"$work/events.$1"
		jq -c "select($2)" "$work/events.$1" >"$work/found"
		if [ -s "$work/found" ]; then
			sed -n 1p "$work/found"
			return
		fi
		sleep 0.1
	done
	fail "$1: no event with $2 among: $(tail -n 5 "$work/events.$1")"
}

tell_guest() { # COMMANDS: in its shell
	local shell
	exec {shell}<>/dev/tcp/$guest/7472
	printf 'exec 2>&1\n%s\necho "exit=$?"\nexit\n' "$1" >&"$shell"
	timeout 60 cat <&"$shell" >"$work/shell" || true
	exec {shell}>&-
	grep -q '^exit=0' "$work/shell" || fail "the guest: $(cat "$work/shell")"
}

# Packets below SCTP alone: the upper tester's connection is not what is tried.
worsen() { # with iproute2's tc: the one of busybox, which the guest's shell prefers, does not know netem
	# shellcheck disable=SC2016 # the guest expands it
	tell_guest 'set -e
ip link show ifb0 >/dev/null 2>&1 || ip link add ifb0 type ifb
ip link set ifb0 up
/bin/tc qdisc add dev eth0 root handle 1: prio bands 4
/bin/tc qdisc add dev eth0 parent 1:4 handle 40: netem limit 10000 loss 3% delay 6ms 5ms duplicate 1%
/bin/tc filter add dev eth0 parent 1: protocol ip u32 match ip protocol 17 0xff flowid 1:4
/bin/tc qdisc add dev eth0 handle ffff: ingress
/bin/tc filter add dev eth0 parent ffff: protocol ip u32 match ip protocol 17 0xff action mirred egress redirect dev ifb0
/bin/tc qdisc add dev ifb0 root netem limit 10000 loss 3% delay 6ms 5ms duplicate 1%'
}
mend() {
	tell_guest '/bin/tc qdisc del dev eth0 root; /bin/tc qdisc del dev eth0 ingress; /bin/tc qdisc del dev ifb0 root'
}
# What netem has dropped, of both directions.
dropped() {
	tell_guest '/bin/tc -s qdisc show'
	sed -n '/netem/,/dropped/s/.*dropped \([0-9]*\).*/\1/p' "$work/shell" | awk '{ all += $1 } END { print all + 0 }'
}

octets() { head -c "$1" /dev/urandom | xxd -p | tr -d '\n'; }

holds_data() { # NAME STAG DATA
	local data
	data=$(ask "$1" "{\"verb\":\"mem_read\",\"stag\":$2,\"length\":$((${#3} / 2))}" | jq -r .data)
	[ "$data" = "$3" ] || fail "$1: the region has other contents than were sent"
}

# session BEGINNER OTHER COMMAND SIZE MESSAGES: everything that a stream carries, both ways, on two streams of an association.
session() {
	local a=$1 b=$2 size=$4 messages=$5 association first second a_stag b_stag one two copy i answer
	answer=$(ask "$a" "$3")
	first=$(jq .stream <<<"$answer") association=$(jq .association <<<"$answer")
	second=$(ask "$a" "{\"verb\":\"connect\",\"association\":$association,\"repost\":true}" | jq .stream)
	await "$a" ".event == \"established\" and .stream == $second" >/dev/null
	a_stag=$(ask "$a" "{\"verb\":\"reg_mr\",\"length\":$size,\"fill\":0}" | jq .stag)
	copy=$(ask "$a" "{\"verb\":\"reg_mr\",\"length\":$size,\"fill\":0}" | jq .stag)
	b_stag=$(ask "$b" "{\"verb\":\"reg_mr\",\"length\":$((size + 8)),\"fill\":0}" | jq .stag)
	one=$(octets "$size") two=$(octets "$size")

	ask "$a" "{\"verb\":\"write\",\"stream\":$first,\"stag\":$b_stag,\"to\":0,\"data\":\"$one\"}" >/dev/null
	for ((i = 0; i < messages; i++)); do
		ask "$a" "{\"verb\":\"send\",\"stream\":$second,\"data\":\"$(printf %08x "$i")\"}" >/dev/null
	done
	await "$b" ".event == \"receive\" and .data == \"$(printf %08x $((messages - 1)))\"" >"$work/last"
	jq -r 'select(.event == "receive" and (.data | length) == 8) | .data' "$work/events.$b" >"$work/order"
	[ "$(cat "$work/order")" = "$(for ((i = 0; i < messages; i++)); do printf '%08x\n' "$i"; done)" ] ||
		fail "$b: Sends are missing, or in another order"
	ask "$a" "{\"verb\":\"read\",\"stream\":$first,\"sink_stag\":$copy,\"source_stag\":$b_stag,\"length\":$size,\"id\":7}" >/dev/null
	await "$a" '.event == "read_done" and .id == 7' >/dev/null
	holds_data "$b" "$b_stag" "$one"
	holds_data "$a" "$copy" "$one"

	# The other way, on the stream that brought the Sends.
	i=$(jq .stream "$work/last")
	ask "$b" "{\"verb\":\"write\",\"stream\":$i,\"stag\":$a_stag,\"to\":0,\"data\":\"$two\"}" >/dev/null
	ask "$b" "{\"verb\":\"send\",\"stream\":$i,\"data\":\"eeee\"}" >/dev/null
	await "$a" '.event == "receive" and .data == "eeee"' >/dev/null
	holds_data "$a" "$a_stag" "$two"
	ask "$a" "{\"verb\":\"atomic\",\"stream\":$second,\"operation\":\"fetch_add\",\"stag\":$b_stag,\"to\":$((size / 8 * 8)),\"data\":5}" >/dev/null
	await "$a" '.event == "atomic_done"' >/dev/null

	# A Write to no STag ends one stream; the other continues, and the association ends in order.
	ask "$a" "{\"verb\":\"write\",\"stream\":$first,\"stag\":77,\"to\":0,\"length\":10}" >/dev/null
	await "$a" ".event == \"terminate_received\" and .stream == $first" >/dev/null
	ask "$a" "{\"verb\":\"send\",\"stream\":$second,\"data\":\"dddd\"}" >/dev/null
	await "$b" '.event == "receive" and .data == "dddd"' >/dev/null
	ask "$a" "{\"verb\":\"shutdown\",\"association\":$association}" >/dev/null
	await "$a" ".event == \"association_down\" and .association == $association" >/dev/null
	await "$b" '.event == "association_down"' >/dev/null
	: >"$work/events.$a"
	: >"$work/events.$b"
}

both() { # PROFILE PORT WIRE SIZE MESSAGES
	echo "   $1, $3 wire: libusrsctp begins"
	session user kernel "{\"verb\":\"connect\",\"address\":\"$guest\",\"port\":$2}" "$4" "$5"
	echo "   $1, $3 wire: the kernel begins"
	session kernel user "{\"verb\":\"connect\",\"address\":\"$own\",\"port\":$2,\"udp_port\":9899,\"repost\":true}" "$4" "$5"
}

profile() { # PROFILE PORT CONTROL
	local peer dumpcap=
	echo "== $1"
	"$IWARP_PEER" --llp sctp --sctp-profile "$1" --bind "$own" --listen "$2" --control 0 >"$work/peer" 2>&1 </dev/null &
	peer=$!
	pids+=("$peer")
	prints "$work/peer" '^READY.* control='
	join user 127.0.0.1 "$(sed -n 's/^READY.* control=//p' "$work/peer")"
	join kernel "$guest" "$3"
	ask user "{\"verb\":\"listen\",\"port\":$2,\"repost\":true}" >/dev/null
	ask kernel "{\"verb\":\"listen\",\"port\":$2,\"repost\":true}" >/dev/null
	if [[ " $WIRES " == *' good '* ]]; then
		if [ -n "$out" ]; then
			dumpcap -P -q -i tap0 -f 'udp port 9899' -w "$work/$1.pcap" 2>"$work/dumpcap" &
			dumpcap=$!
			prints "$work/dumpcap" 'File:'
		fi
		both "$1" "$2" good 4000 3
		if [ -n "$dumpcap" ]; then
			for _ in {1..100}; do # the end of the second association is the last that there is to capture
				[ "$(tshark -r "$work/$1.pcap" -Y 'sctp.chunk_type == 14' 2>/dev/null | wc -l)" -lt 2 ] || break
				sleep 0.1
			done
			kill -INT "$dumpcap"
			wait "$dumpcap" || true
			cp "$work/$1.pcap" "$out/kernel-$1.pcap"
		fi
	fi
	if [[ " $WIRES " == *' bad '* ]]; then
		worsen
		both "$1" "$2" bad 120000 40
		echo "   $(dropped) packets were lost"
		[ "$(dropped)" -gt 0 ] || fail "netem has lost nothing"
		mend
	fi
	kill "$peer"
	wait "$peer" || fail "the peer over libusrsctp did not end in order"
	leave user
	leave kernel
}

for name in $PROFILES; do
	case $name in
	rfc5043) profile rfc5043 5043 7471 ;;
	draft02) profile draft02 5044 7473 ;;
	*) fail "PROFILES: rfc5043 or draft02 was expected, not $name" ;;
	esac
done
echo "contents and order are the same on both sides"
