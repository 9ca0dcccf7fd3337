#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# libiwarp against Linux siw (conformance/labs/linux): rdma-core's own rping in the virtual machine, the rping of
# reference-stack/examples over kernel TCP and a tap device outside of it. siw responds to Rev 2 and Rev 1, over IPv4 and
# IPv6, and begins with Rev 2; a siw that is built to begin with Rev 1 does so. Contents are compared on both sides, CRC
# is on, and tshark's own dissectors find in the capture what was meant. A Rev 1 Request carries no depths; siw reports to its ULP
# 0, which rping takes for its ORD and then cannot read: there the guest's part is played through warpcheck-agent, which
# names depths itself. Without QEMU or a tap device: a SKIP.
# shellcheck disable=SC2034,SC2154 # shared with the files that are sourced
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
rounds=${ROUNDS:-50} few=10 size=3000

# Within the namespace, beside the guest. guest COMMAND: its output and "exit=N".
guest() {
	exec 3<>/dev/tcp/10.78.0.2/7470
	printf '%s\necho exit=$?\nexit\n' "$1" >&3
	timeout 60 cat <&3
	exec 3>&-
}

guest_says() {
	guest "$2" >"$WORK/guest.txt" || true
	if ! grep -q '^exit=0$' "$WORK/guest.txt"; then
		wrong "$1: the guest's rping does not succeed" "$(tail -n 4 "$WORK/guest.txt")"
		return 1
	fi
}

# Our server on PORT, in the background; waits until it listens.
serve() { # ADDRESS PORT
	rm -f "$WORK/serve.txt"
	"$WORK/rping" serve "$1" "$2" $size >"$WORK/serve.txt" 2>&1 </dev/null &
	server=$!
	prints "$server" "$WORK/serve.txt" '^port '
}

served() { # WHAT REV
	local status=0
	wait "$server" || status=$?
	holds "$1: libiwarp's server ends in order" test "$status" -eq 0
	holds "$1: Rev $2, CRC on, as agreed" grep -q "^established: MPA Rev $2, CRC on" "$WORK/serve.txt"
	holds "$1: $rounds rounds" grep -q "^$rounds rounds\$" "$WORK/serve.txt"
	[ "$status" -eq 0 ] || sed 's/^/      /' "$WORK/serve.txt"
}

capture() {
	dumpcap -q -i tap0 -f 'tcp and not port 7470 and not port 7471' -w "$WORK/$1.pcapng" 2>"$WORK/dumpcap.txt" &
	capturing=$! captured_in=$WORK/$1.pcapng
	eventually "$capturing" test -s "$captured_in" || wrong "no capture" "$(cat "$WORK/dumpcap.txt")"
}

# The capture is whole when it has a connection to a port of its own, which the guest refuses.
captured() {
	last_seen() { [ -n "$("$TSHARK" -r "$captured_in" -Y 'tcp.dstport == 9' 2>/dev/null)" ]; }
	(: </dev/tcp/10.78.0.2/9) 2>/dev/null || true
	holds "the capture has the last connection" eventually "$capturing" last_seen
	kill -INT "$capturing"
	wait "$capturing" || true
}

# tshark's own dissectors. MPA is known by its octets alone, and a port that another protocol owns comes before them (44818, say, which a
# connection can be given for its own): the octets first.
stock() { "$TSHARK" -o tcp.try_heuristic_first:TRUE -r "$WORK/$1.pcapng" "${@:2}" 2>/dev/null; }

# What tshark makes of a capture: so many messages of each kind for each round of each exchange, in as many connections.
decoded() { # NAME CONNECTIONS ROUNDS
	local all=$(($2 * $3)) kind count want
	local before=$broken
	stock "$1" -T fields -e iwarp_rdma.opcode -Y iwarp_rdma | tr ',' '\n' |
		sort | uniq -c >"$WORK/opcodes"
	while read -r kind want; do
		count=$(awk -v kind="$kind" '$2 == kind { print $1 }' "$WORK/opcodes")
		holds "$1: tshark sees $want messages or segments of opcode $kind (${count:-0})" test "${count:-0}" -ge "$want"
	done <<<"0x01 $all
0x03 $((4 * all))"
	count=$(awk '$2 == "0x00"' "$WORK/opcodes" | awk '{ print $1 }')
	holds "$1: Writes, in segments (${count:-0})" test "${count:-0}" -ge "$all"
	holds "$1: no Terminate" test -z "$(awk '$2 == "0x07"' "$WORK/opcodes")"
	holds "$1: $2 Requests" test "$(stock "$1" -Y iwarp_mpa.req | wc -l)" -eq "$2"
	holds "$1: $2 Replies" test "$(stock "$1" -Y iwarp_mpa.rep | wc -l)" -eq "$2"
	holds "$1: no bad CRC" test -z "$(stock "$1" -V -Y iwarp_mpa.fpdu | grep -i 'bad crc' || true)"
	[ "$broken" -eq "$before" ] || stock "$1" -c 12 | sed 's/^/      /'
	cp "$WORK/$1.pcapng" "${KEEP:-$WORK}/" 2>/dev/null || true
}

# A Send right after the Reply may be overlooked by siw for ever (docs/findings/linux-siw.md, 10): the pause.
as_responder() { # WHAT ADDRESS PORT REV
	expect 0 "$1" "$WORK/rping" "$2" "$3" "$rounds" $size "rev$4" 100
	local rev=$4
	says "^established: MPA Rev $rev, CRC on"
	says "^$rounds rounds\$"
}

# ask COMMAND: one of the agent in the guest; the answer is in `reply`.
ask() {
	if [ -z "${agent:-}" ]; then
		exec {agent}<>/dev/tcp/10.78.0.2/7471
		ask "$(jq -nc --rawfile token "$LAB_TOKEN" '{verb: "token", $token}')" || return 1
	fi
	printf '%s\n' "$1" >&"$agent"
	reply=$(timeout 60 head -n 1 <&"$agent") || reply=''
	[[ $reply == *'"ok":true'* ]] || { echo "      $1 -> $reply"; return 1; }
}

# event NAME FILTER: waits for the event, prints the filter's value.
event() {
	local end=$((SECONDS + 240))
	while [ "$SECONDS" -lt "$end" ]; do
		ask '{"verb":"poll"}' || return 1
		jq -c '.events[]' <<<"$reply" >>"$WORK/events"
		jq -r "select(.event == \"$1\") | $2" "$WORK/events" >"$WORK/value"
		if [ -s "$WORK/value" ]; then
			jq -c "select(.event != \"$1\")" "$WORK/events" >"$WORK/others"
			mv "$WORK/others" "$WORK/events"
			head -n 1 "$WORK/value"
			return 0
		fi
		sleep 0.05
	done
	echo "      no event $1" >&2
	return 1
}

# rping's server, its verbs called one by one.
agent_serves() { # PORT
	local round stream stag base info data
	: >"$WORK/events"
	ask "{\"verb\":\"listen\",\"port\":$1,\"ird\":4,\"ord\":4,\"receives\":4,\"repost\":true}" &&
		ask "{\"verb\":\"reg_mr\",\"length\":$size}" || return 1
	stag=$(jq .stag <<<"$reply") base=$(jq -r .base <<<"$reply")
	: >"$WORK/listening"
	stream=$(event accepted .stream) || return 1
	for ((round = 0; round < few; round++)); do
		info=$(event receive .data) || return 1
		ask "{\"verb\":\"read\",\"stream\":$stream,\"source_stag\":$((16#${info:16:8})),\"source_to\":\"0x${info:0:16}\",\"sink_stag\":$stag,\"sink_to\":\"$base\",\"length\":$size}" || return 1
		event read_done .octets >/dev/null && ask "{\"verb\":\"mem_read\",\"stag\":$stag}" || return 1
		data=$(jq -r .data <<<"$reply")
		[[ $(xxd -r -p <<<"$data" | head -c 14) == "rdma-ping-$round: "* ]] || return 1
		ask "{\"verb\":\"send\",\"stream\":$stream,\"length\":16}" && info=$(event receive .data) || return 1
		ask "{\"verb\":\"write\",\"stream\":$stream,\"stag\":$((16#${info:16:8})),\"to\":\"0x${info:0:16}\",\"data\":\"$data\"}" &&
			ask "{\"verb\":\"send\",\"stream\":$stream,\"length\":16}" || return 1
	done
}

case ${SIW_EXCHANGE:-} in
rev2)
	guest "rping -s -P -p 9990 -S $size -a 0.0.0.0 >/dev/null 2>&1 & rping -s -P -p 9991 -S $size -a ::0 >/dev/null 2>&1 &
		listens() { grep -q \":\$1 .* 0A \" /proc/net/tcp /proc/net/tcp6; }
		until listens 2706 && listens 2707; do usleep 20000; done" >/dev/null
	capture rev2
	as_responder "siw responds, Rev 2" 10.78.0.2 9990 2
	as_responder "siw responds over IPv6, Rev 2" fd78::2 9991 2
	serve 10.78.0.1 9992
	guest_says "siw begins, Rev 2" "rping -c -a 10.78.0.1 -p 9992 -C $rounds -S $size -V" && echo "ok    siw begins, Rev 2"
	served "siw begins, Rev 2" 2
	captured
	decoded rev2 3 "$rounds"
	finish
	exit
	;;
rev1)
	capture rev1
	serve 10.78.0.1 9993
	guest_says "siw begins, Rev 1" "rping -c -a 10.78.0.1 -p 9993 -C $rounds -S $size -V" && echo "ok    siw begins, Rev 1"
	served "siw begins, Rev 1" 1
	captured
	decoded rev1 1 "$rounds"
	agent_serves 9994 &
	agent_serving=$!
	eventually "$agent_serving" test -e "$WORK/listening"
	capture responder1
	# From a port that is another protocol's (EtherNet/IP), as the kernel gives one now and then: what is seen must not depend on it.
	ports=$(</proc/sys/net/ipv4/ip_local_port_range)
	echo '44818 44818' >/proc/sys/net/ipv4/ip_local_port_range
	rounds=$few as_responder "siw responds, Rev 1" 10.78.0.2 9994 1
	echo "$ports" >/proc/sys/net/ipv4/ip_local_port_range
	holds "siw responds, Rev 1: the guest's part" wait "$agent_serving"
	captured
	decoded responder1 1 "$few"
	finish
	exit
	;;
esac

# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip
"${cc[@]}" -std=gnu17 -Wall -Wextra -Werror -O1 -g -I. -Ireference-stack/include -o "$WORK/rping" reference-stack/examples/rping.c \
	"${libiwarp[@]}"
# shellcheck disable=SC2016 # the guest's shell expands it
export WORK LAB_GUEST='nc -ll -p 7470 -e /bin/sh & $AGENT >/dev/ttyS0 2>&1'
export LAB_RUN="echo 0 >/proc/sys/net/ipv6/conf/tap0/disable_ipv6; ip -6 addr add fd78::1/64 dev tap0 nodad; exec bash $PWD/tests/e2e/siw-exchange.sh"
status=0
SIW_EXCHANGE=rev2 conformance/labs/linux/run.sh || status=$?
SIW_PATCH=$PWD/conformance/labs/linux/patches/rev1.patch SIW_EXCHANGE=rev1 conformance/labs/linux/run.sh || status=$?
exit "$status"
