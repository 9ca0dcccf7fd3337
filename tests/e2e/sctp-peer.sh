#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Two iwarp-peer processes over SCTP in UDP datagrams, without privileges, in both profiles: several streams in one association, all
# kinds of messages, an error that ends one stream and nothing else, a SID that is used again, refusals, and the end in order.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

refused() { # WHAT COMPLAINT OPTION...
	local what=$1 complaint=$2
	shift 2
	expect 2 "$what" "$program" "$@"
	complains "$complaint"
}
refused "--llp udp" 'tcp or sctp was expected' --llp udp --listen 0
refused "an option of SCTP's with TCP" '--queue-pairs is for --llp sctp' --listen 0 --queue-pairs 2
refused "--sctp-streams 0" 'from 1 to 65535' --llp sctp --listen 0 --sctp-streams 0
refused "--sctp-mtu 65001" 'from 600 to 65000' --llp sctp --listen 0 --sctp-mtu 65001
refused "--sctp-indication 2 with rfc5043" 'draft02' --llp sctp --listen 0 --sctp-indication 2
refused "--sctp-profile rfc9999" 'rfc5043 or draft02' --llp sctp --listen 0 --sctp-profile rfc9999

status=0
# Not below timeout(1), which may still be in fork() when its child is ready, and then ends itself.
"$program" --llp sctp --listen 0 --udp-port 0 --bind 127.0.0.1 --once >"$WORK/try.out" 2>"$WORK/try" </dev/null &
try=$!
if ! prints "$try" "$WORK/try.out" '^READY' 2>/dev/null && grep -q 'libusrsctp is not part of this build' "$WORK/try"; then
	echo "$(cat "$WORK/try")"
	exit 77
fi
kill "$try" && wait "$try" || status=$?
holds "a peer that waits ends with SIGTERM" [ "$status" -eq 0 ]

start() { # OPTION...: `server` and `client` with three streams in one association
	peer_start server --llp sctp --listen 5043 --udp-port 0 --bind 127.0.0.1 "$@"
	udp=$(sed -n 's/^READY.* udp=\([0-9]*\) .*/\1/p' "$WORK/server.out")
	peer_start client --llp sctp --connect 127.0.0.1:5043 --peer-udp-port "$udp" --udp-port 0 --bind 127.0.0.1 --queue-pairs 3 "$@"
	holds "$*: three streams are established" await client 'select(.event == "established" and .stream == 3)'
}

region() { # NAME OPTION...: its STag in `stag`
	ask "$1" "{\"verb\":\"reg_mr\",\"length\":100000$2}" && stag=$(value .stag)
}

same() { # FIRST SECOND: 70,000 octets of the server's region and the client's
	local one two
	ask server "{\"verb\":\"mem_read\",\"stag\":$1,\"length\":70000}" && one=$(value .data) || return 1
	ask client "{\"verb\":\"mem_read\",\"stag\":$2,\"length\":70000}" && two=$(value .data) || return 1
	[ "${#one}" -eq 140000 ] && [ "$one" = "$two" ]
}

all_refused() { # NAME ASSOCIATION: each wrong command about it
	jq -cn --argjson stream 1 --argjson stag 1 --argjson port 1 --argjson association "$2" -f tests/e2e/upper-tester.jq >"$WORK/wrong"
	[ "$(wc -l <"$WORK/wrong")" -gt 80 ] || return 1
	local line
	while IFS= read -r line <&9; do
		! ask "$1" "$line" || { echo "      taken: $line"; return 1; }
	done 9<"$WORK/wrong"
}

session() { # OPTION...
	start "$@"
	holds "$*: wrong commands about an association are refused" all_refused client 1
	ask client '{"verb":"association","association":1}' && holds "$*: and have changed nothing" [ "$(value .ok)" = true ]
	region server '' && sink=$stag
	region client ',"fill":0' && copy=$stag
	# In the draft a stream is there for the other side with its first segment.
	for stream in 1 2 3; do ask client "{\"verb\":\"send\",\"stream\":$stream,\"data\":\"0$stream\"}"; done
	holds "$*: a Send on each stream" await server 'select(.event == "receive" and .stream == 3 and .data == "03")'
	ask client "{\"verb\":\"write\",\"stream\":1,\"stag\":$sink,\"to\":0,\"length\":70000}"
	ask client '{"verb":"send","stream":1,"data":"aa"}'
	holds "$*: a Write and a Send behind it" await server 'select(.event == "receive" and .data == "aa")'
	ask client "{\"verb\":\"read\",\"stream\":2,\"sink_stag\":$copy,\"source_stag\":$sink,\"length\":70000,\"id\":7}"
	holds "$*: a Read" await client 'select(.event == "read_done" and .id == 7)'
	holds "$*: what was written and read is the same" same "$sink" "$copy"
	ask client "{\"verb\":\"atomic\",\"stream\":3,\"operation\":\"fetch_add\",\"stag\":$sink,\"to\":80000,\"data\":5}"
	ask client "{\"verb\":\"atomic\",\"stream\":3,\"operation\":\"fetch_add\",\"stag\":$sink,\"to\":80000,\"data\":1}"
	holds "$*: two atomics" await client 'select(.event == "atomic_done" and (.value | test("5$")))'
	ask client '{"verb":"immediate","stream":3,"data":"0102030405060708"}'
	holds "$*: Immediate Data" await server 'select(.event == "receive" and .data == "0102030405060708")'

	ask client '{"verb":"write","stream":1,"stag":77,"to":0,"length":10}'
	holds "$*: a Write to no STag is answered by a Terminate" await client 'select(.event == "terminate_received" and .stream == 1)'
	holds "$*: and ends that stream" await client 'select(.event == "closed" and .stream == 1)'
	ask client '{"verb":"send","stream":2,"data":"bb"}'
	holds "$*: the others live on" await server 'select(.event == "receive" and .data == "bb")'
	ask client '{"verb":"association","association":1}'
	holds "$*: the association has two streams" [ "$(value '.up and .streams == 2')" = true ]
	ask client '{"verb":"connect","association":1,"sid":0}'
	holds "$*: the SID is used again" await server 'select(.event == "accepted" and .stream == 4 and .sid == 0) or select(.event == "control")'
	ask client '{"verb":"send","stream":4,"data":"cc"}'
	holds "$*: by a new stream" await server 'select(.event == "receive" and .stream == 4 and .data == "cc")'
	ask client '{"verb":"shutdown","association":1}'
	holds "$*: the association ends" await client 'select(.event == "association_down")'
	holds "$*: on both sides" await server 'select(.event == "association_down")'
	holds "$*: no stream is left" await server 'select(.event == "closed" and .stream == 4)'
	peer_stop client && peer_stop server || wrong "$*: a peer did not end in order"
}
session
session --sctp-profile draft02

# One that does not indicate DDP is aborted (RFC 5043 7.1); a ULP that says no; a listener that is not there.
peer_start server --llp sctp --listen 5043 --udp-port 0 --bind 127.0.0.1 --accept reject --private-data 6e6f
udp=$(sed -n 's/^READY.* udp=\([0-9]*\) .*/\1/p' "$WORK/server.out")
peer_start client --llp sctp --sctp-indication none --sctp-any --udp-port 0 --peer-udp-port "$udp" --bind 127.0.0.1 --connect 127.0.0.1:5043
holds "without an indication there is no association" await client 'select(.event == "association_down")'
peer_stop client || wrong "the client did not end in order"
peer_start client --llp sctp --udp-port 0 --peer-udp-port "$udp" --bind 127.0.0.1
ask client '{"verb":"connect","address":"127.0.0.1","port":5043,"private_data":"68656c6c6f"}'
holds "a session is rejected, with Private Data" await client 'select(.event == "rejected" and (.private_data | test("6e6f")))'
holds "and the association lives on" ask client '{"verb":"association","association":1}'
ask client '{"verb":"abort_association","association":1}'
holds "until it is aborted" await server 'select(.event == "association_down") | select(.association == 2)'
ask client '{"verb":"connect","association":9}' >/dev/null && wrong "a connect in an association that is none"
# Nobody answers there.
ask client '{"verb":"connect","address":"127.0.0.1","port":5043,"udp_port":1}' && stream=$(value .stream) association=$(value .association)
ask client "{\"verb\":\"abort\",\"stream\":$stream}"
holds "a stream that waits for its association is given up" await client "select(.event == \"connect_failed\" and .stream == $stream and .reason == \"it was given up\")"
ask client "{\"verb\":\"abort_association\",\"association\":$association}"
ask client '{"verb":"listen","port":5044,"indication":2}' >/dev/null && wrong "an indication that RFC 5043 does not have"
peer_stop client && peer_stop server || wrong "a peer did not end in order"

# An indication of the listener's own: of a device of both modes, one for DDP alone (draft 7.1).
peer_start server --llp sctp --sctp-profile draft02 --listen 5043 --udp-port 0 --bind 127.0.0.1
udp=$(sed -n 's/^READY.* udp=\([0-9]*\) .*/\1/p' "$WORK/server.out")
ask server '{"verb":"listen","port":5043,"indication":1}'
peer_start client --llp sctp --sctp-profile draft02 --udp-port 0 --peer-udp-port "$udp" --bind 127.0.0.1
ask client '{"verb":"connect","address":"127.0.0.1","port":5043}'
holds "the association is for DDP alone" await client 'select(.event == "association_up" and .mode == "ddp")'
holds "and has a stream, of DDP alone" await client 'select(.event == "established")'
peer_stop client && peer_stop server || wrong "a peer did not end in order"

# libusrsctp exports what it is made of: a function of ours of the same name would be called in the place of its own.
library=$(ldd "$IWARP_PEER" | sed -n 's/.*libusrsctp[^ ]* => \([^ ]*\) .*/\1/p')
names() { nm "$@" | awk '{ print $3 }' | sort -u; }
holds "no function has the name of one of libusrsctp's" \
	[ -z "$(comm -12 <(names -g --defined-only "$B"/lib*.a "$IWARP_PEER" 2>/dev/null) <(names -D --defined-only "$library"))" ]

# --once: both go by themselves.
"$program" --llp sctp --listen 5043 --udp-port 0 --bind 127.0.0.1 --once >"$WORK/once.out" 2>&1 </dev/null &
once=$!
holds "a listener with --once" prints "$once" "$WORK/once.out" '^READY listen=5043 udp=[0-9]+$'
udp=$(sed -n 's/^READY.* udp=//p' "$WORK/once.out")
peer_start client --llp sctp --once --connect "127.0.0.1:5043" --peer-udp-port "$udp" --udp-port 0 --bind 127.0.0.1
holds "a stream of it" await client 'select(.event == "established")'
ask client '{"verb":"disconnect","stream":1}'
status=0
wait "$once" || status=$?
holds "the listener ends" [ "$status" -eq 0 ]
wait "${pid[client]}" || status=$?
unset "pid[client]"
holds "and so does the other side" [ "$status" -eq 0 ]
finish
