#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# iwarp-peer's command line: what it refuses and how, its options seen from the other side, --once, a defect, signals.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

expect 0 "--help" "$program" --help
says '^usage: .*iwarp-peer'
for option in listen connect control bind ipv6 once defect list-defects rev plain markers no-crc ird ord p2p rtr private-data \
	accept echo receives receive-octets emss; do
	holds "--help tells of --$option" grep -q -- "--$option" "$WORK/stdout"
done
expect 0 "--list-defects" "$program" --list-defects
holds "lists each row of defects.tsv and defects-cm.tsv as it is there" \
	cmp <(grep -hvE '^(#|$)' reference-stack/defects/defects.tsv reference-stack/defects/defects-cm.tsv) <(sed 's/\t$//' "$WORK/stdout")
expect 0 "--list-variants" "$program" --list-variants
holds "lists each row of variants.tsv as it is there" \
	cmp <(grep -vE '^(#|$)' reference-stack/defects/variants.tsv) <(sed 's/\t$//' "$WORK/stdout")

refused() { # WHAT COMPLAINT OPTION...
	local what=$1 complaint=$2
	shift 2
	expect 2 "$what" "$program" "$@"
	complains "$complaint"
}
refused "no option" 'was expected'
lines=any refused "an unknown option" 'unknown option --frobnicate \(--help lists them\)' --frobnicate
refused "what is no option" "'there' is no option" --listen 0 there
refused "--listen 65536" 'from 0 to 65535' --listen 65536
refused "--listen x" 'a number' --listen x
refused "--ird -1" 'a number' --listen 0 --ird -1
refused "--receives 99999999" 'from 0 to 16777216' --listen 0 --receives 99999999
refused "an unknown defect" 'no-such-defect' --listen 0 --defect no-such-defect
refused "an unknown variant" 'no-such-variant' --listen 0 --variant no-such-variant
many=()
for ((i = 0; i < 65; i++)); do many+=(--defect mpa-stray-octet); done
refused "65 defects" 'more than 64' --listen 0 "${many[@]}"

refused "--rev 3" "'rev' is 3" --listen 0 --rev 3
refused "--rev 3, without a listener" "'rev' is 3" --control 0 --rev 3
refused "--ird 20000" "'ird' is 20000" --listen 0 --ird 20000
refused "--streaming zz" "hex" --listen 0 --streaming zz
refused "--streaming-octets 65" "64" --listen 0 --streaming-octets 65
refused "--private-data zz" "hex" --listen 0 --private-data zz
refused "--accept perhaps" "'accept' is 'perhaps'" --listen 0 --accept perhaps
refused "--rtr all" "'rtr'" --listen 0 --rtr all
refused "509 octets of Private Data" 'at most 508 fit' --listen 0 --private-data "$(printf '%01018d' 0)"
refused "--connect without a port" 'ADDRESS:PORT' --connect 127.0.0.1
refused "--connect :1" 'ADDRESS:PORT' --connect :1
refused "--connect []:1" 'ADDRESS:PORT' --connect '[]:1'
refused "--connect to port x" 'ADDRESS:PORT' --connect 127.0.0.1:x
refused "--connect to port 65536" 'ADDRESS:PORT' --connect 127.0.0.1:65536
refused "--connect to a name" 'no name' --connect localhost:1
refused "--control nonsense" 'ADDRESS:PORT or a path' --control nonsense
refused "--control at no address" 'ADDRESS:PORT or a path' --control '[]:0'
refused "--control at an endless address" 'ADDRESS:PORT or a path' --control "$(printf '%099d' 1):0"
refused "--bind nonsense" '--bind nonsense: an IPv4 or IPv6 address' --listen 0 --bind nonsense

# The command line is right, and what it asks for cannot be had: another status (iwarp-peer(1)).
fails() { # WHAT COMPLAINT OPTION...
	local what=$1 complaint=$2
	shift 2
	expect 1 "$what" "$program" "$@"
	complains "$complaint"
}
fails "--control elsewhere" 'cannot be opened' --control 192.0.2.1:0
fails "--control in a folder that is not there" 'cannot be opened' --control "$WORK/none/control"
fails "--bind elsewhere" 'cannot be opened: address not available' --listen 0 --bind 192.0.2.1

# --- Options, seen from the other side ----------------------------------------------------------------------------------
# Started by hand, so that READY's listen= is at hand: sets `listen_port`.
listener() { # NAME OPTION...
	local name=$1
	shift
	rm -f "$WORK/$name.out"
	"$program" --listen 0 "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	pid[$name]=$!
	prints "${pid[$name]}" "$WORK/$name.out" '^READY.*listen=[0-9]+' || return 1
	listen_port=$(sed -n 's/^READY.*listen=\([0-9]*\).*/\1/p' "$WORK/$name.out")
}
ends() { # NAME: by itself, with status 0
	local status=0
	gone() { ! kill -0 "$1" 2>/dev/null; }
	eventually $$ gone "${pid[$1]}" || true
	! kill -0 "${pid[$1]}" 2>/dev/null || { echo "      $1 does not end"; return 1; }
	wait "${pid[$1]}" || status=$?
	unset "pid[$1]"
	[ "$status" -eq 0 ] || { echo "      $1: exit status $status: $(head -c 2000 "$WORK/$1.err")"; return 1; }
}
is() { jq -es "map(select(.event == \"$2\"))[0] | $3" <"$WORK/$1.events" >/dev/null; }

peer_start initiator
opened() { # ADDRESS MORE
	forget initiator
	ask initiator "{\"verb\":\"connect\",\"address\":\"$1\",\"port\":$listen_port$2}" && stream=$(value .stream)
}
holds "a responder with all options" listener responder --ipv6 --plain --markers --no-crc --ird 1 --ord 2 --private-data 00ff \
	--echo --receives 3 --receive-octets 100 --emss 1000 --rev 1 --rtr read,write
holds "is connected to" opened ::1 ',"rev":1,"crc":false'
holds "over IPv6" await initiator '.event == "established"'
holds "and is as its options say" is initiator established '.rev == 1 and .m and (.c or .s or .crc | not) and .private_data == "00ff"'
holds "and of whom it is" is initiator established ".peer_address == \"::1\" and .peer_port == $listen_port and .own_address == \"::1\" and .own_port > 0"
holds "a Send of 100 octets" ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"length\":100}"
holds "comes back" await initiator '.event == "receive" and .octets == 100'
holds "one of 101 octets" ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"length\":101}"
holds "is too long for its receives" await initiator '.event == "terminate_received" and .layer == 1 and .etype == 2 and .code == 5'
holds "it ends at SIGTERM" peer_stop responder

holds "a responder with a streaming message and depths of SMB Direct" listener responder --rev0 --smbd --ird 7 \
	--streaming 6c617374 --streaming-octets 5
holds "is connected to" opened 127.0.0.1 ',"rev":1,"smbd":true,"ord":9,"streaming":"68656c6c6f","streaming_octets":4'
holds "is heard" await initiator '.event == "streaming" and .data == "6c617374"'
holds "starts MPA behind it" await initiator '.event == "established" and .rev == 1 and .ord == 9'
holds "it ends at SIGTERM, too" peer_stop responder

holds "a responder that rejects, once, on one address" listener responder --accept reject --once --bind 127.0.0.1
holds "is connected to" opened 127.0.0.1 ''
holds "rejects" await initiator '.event == "rejected"'
holds "and ends when that is over" ends responder

holds "another, once" listener responder --once
peer_start once --connect "127.0.0.1:$listen_port" --once --p2p --rtr send
holds "is connected to, once, peer-to-peer" await once '.event == "established"'
holds "a stream keeps both of them" kill -0 "${pid[once]}" "${pid[responder]}"
kill -INT "${pid[once]}"
holds "the initiator ends at SIGINT" ends once
holds "then the responder by itself" ends responder
expect 0 "nobody there, once" "$program" --connect "127.0.0.1:$listen_port" --once
says '^READY$'

holds "a responder with two defects" listener responder --defect mpa-reply-revision-3 --defect mpa-stray-octet
holds "is connected to" opened 127.0.0.1 ''
holds "its Reply is refused" await initiator '.event == "error"'
holds "for the revision" is initiator error '.requirement | startswith("MPA-")'
holds "it ends at SIGTERM" peer_stop responder
fails "--listen on a port that is taken" 'cannot be opened' --listen "${control[initiator]}" --bind 127.0.0.1
holds "the initiator ends at SIGTERM" peer_stop initiator
finish
