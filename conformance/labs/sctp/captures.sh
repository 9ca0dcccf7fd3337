#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# captures.sh DIR: two iwarp-peer programs over SCTP in UDP datagrams (RFC 6951), captured on the loopback of a network namespace that
# this script makes: DIR/rfc5043.pcap and DIR/draft02.pcap. What pcaps/libiwarp-sctp holds was made so. It needs dumpcap, tshark and jq.
set -euo pipefail
if [ "${1:-}" != inside ]; then
	out=$(realpath "${1:?the folder for the captures}")
	exec unshare -rn bash "${BASH_SOURCE[0]}" inside "$out" "${IWARP_PEER:-${B:-build}/iwarp-peer}"
fi
out=$2 peer=$3
work=$(mktemp -d)
pids=()
finish() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap finish EXIT
ip link set lo up

prints() { # FILE TEXT: waits until the file says so
	local tries=0
	until grep -q "$2" "$1" 2>/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || { echo "no '$2' from: $(cat "$1")" >&2; exit 1; }
		sleep 0.05
	done
}

start() { # NAME OPTION...: a peer, with its upper tester at descriptor ${fd[NAME]}
	local name=$1 handle
	shift
	"$peer" --llp sctp --bind 127.0.0.1 --control 0 "$@" >"$work/$name" 2>&1 </dev/null &
	pids+=($!)
	prints "$work/$name" '^READY.* control='
	exec {handle}<>"/dev/tcp/127.0.0.1/$(sed -n 's/^READY.* control=//p' "$work/$name")"
	fd[$name]=$handle
}

ask() { # NAME COMMAND: the answer
	local answer
	printf '%s\n' "$2" >&"${fd[$1]}"
	IFS= read -r -t 20 answer <&"${fd[$1]}"
	jq -e '.ok' <<<"$answer" >/dev/null || { echo "$1: $2: $answer" >&2; exit 1; }
	printf '%s\n' "$answer"
}

await() { # NAME FILTER: until an event is so
	local tries=0
	until ask "$1" '{"verb":"poll"}' | jq -e "any(.events[]; $2)" >/dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt 200 ] || { echo "$1: no event with $2" >&2; exit 1; }
		sleep 0.05
	done
}

capture() { # NAME PROFILE
	local dumpcap sink copy
	declare -A fd=()
	dumpcap -P -q -i lo -f 'udp port 9899' -w "$work/$1.pcap" 2>"$work/dumpcap" &
	dumpcap=$!
	prints "$work/dumpcap" 'File:'
	start server --listen 5043 --sctp-profile "$2"
	start client --connect 127.0.0.1:5043 --udp-port 0 --queue-pairs 3 --sctp-profile "$2"
	await client '.event == "established" and .stream == 3'
	sink=$(ask server '{"verb":"reg_mr","length":8192}' | jq .stag)
	copy=$(ask client '{"verb":"reg_mr","length":8192,"fill":0}' | jq .stag)
	for stream in 1 2 3; do ask client "{\"verb\":\"send\",\"stream\":$stream,\"data\":\"0$stream\"}" >/dev/null; done
	await server '.event == "receive" and .stream == 3'
	ask client "{\"verb\":\"write\",\"stream\":1,\"stag\":$sink,\"to\":0,\"length\":4000}" >/dev/null
	ask client "{\"verb\":\"read\",\"stream\":2,\"sink_stag\":$copy,\"source_stag\":$sink,\"length\":4000,\"id\":7}" >/dev/null
	await client '.event == "read_done"'
	ask client "{\"verb\":\"atomic\",\"stream\":3,\"operation\":\"fetch_add\",\"stag\":$sink,\"to\":4096,\"data\":5}" >/dev/null
	await client '.event == "atomic_done"'
	ask client '{"verb":"immediate","stream":3,"data":"0102030405060708"}' >/dev/null
	await server '.event == "receive" and .data == "0102030405060708"'
	ask client '{"verb":"write","stream":1,"stag":77,"to":0,"length":10}' >/dev/null
	await client '.event == "terminate_received"'
	ask client '{"verb":"send","stream":2,"data":"bb"}' >/dev/null
	await server '.event == "receive" and .data == "bb"'
	for pid in "${pids[@]}"; do
		kill "$pid"
		wait "$pid" || true
	done
	pids=()
	# The end of the association is the last that there is to capture.
	for _ in {1..100}; do
		[ -z "$(tshark -r "$work/$1.pcap" -Y 'sctp.chunk_type == 6' 2>/dev/null)" ] || break
		sleep 0.1
	done
	kill -INT "$dumpcap"
	wait "$dumpcap" || true
	cp "$work/$1.pcap" "$out/$1.pcap"
}

capture rfc5043 rfc5043
capture draft02 draft02
