#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# iwarp-peer --cm: a server and a client of the RDMA IP CM Service over UDP on the loopback interface, without privileges. What a
# client receives for each thing that a server can refuse; defects that show; what the command line does not take. Then in a network
# namespace, where the traffic is captured: the ICRC of each packet is right, warpcheck finds nothing wrong, and tshark's own
# decoding of each MAD is ours, field by field.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# serve ADDRESS OPTION...: a server in the background on any port: $server, $port
serve() {
	local address=$1
	shift
	rm -f "$WORK/server"
	"$IWARP_PEER" --cm --bind "$address" --cm-port "${PORT:-0}" --cm-service 3260 "$@" >"$WORK/server" 2>"$WORK/server-err" </dev/null &
	server=$!
	prints "$server" "$WORK/server" '^READY' || { wrong "no server: $*" "$(cat "$WORK/server-err")"; return 1; }
	port=$(sed -n 's/^READY udp=//p' "$WORK/server")
}
served() { # STATUS: the server ends by itself or is asked to
	local status=0
	[ "$1" = itself ] || kill "$server"
	wait "$server" || status=$?
	holds "the server ends in order" test "$status" -eq 0
}
# asks STATUS WHAT OPTION...: a client that connects once
asks() {
	local status=$1 what=$2
	shift 2
	expect "$status" "$what" "$IWARP_PEER" --cm --bind "${CLIENT:-127.0.0.1}" --cm-port "${PORT:-0}" --connect "${SERVER:-127.0.0.1}:$port" --once "$@"
}
is() { # EVENT FILTER: of the client
	holds "$last: $1 $2" jq -es --arg event "$1" "map(select(.event == \$event)) | length == 1 and (.[0] | $2)" <(grep '^{' "$WORK/stdout")
}
saw() { # EVENT FILTER: the server, sooner or later
	seen() { grep '^{' "$WORK/server" | jq -es --arg event "$1" "map(select(.event == \$event)) | length > 0 and (.[-1] | $2)" >/dev/null; }
	holds "the server: $1 $2" eventually "$server" seen "$1" "$2"
}

echo "== made and ended"
serve 127.0.0.1 --private-data 77656c636f6d65 --cm-mra
field() { awk -v name="$1:" '$1 == name { print $2 }' "/proc/$server/status"; }
holds "the server has no capabilities and gets none" test "$(field CapEff)$(field CapPrm)$(field NoNewPrivs)" = 000000000000000000000000000000001
asks 0 "tcp/3260" --cm-service tcp/3260 --private-data 68656c6c6f
is established '.data == "77656c636f6d65" and .protocol == 6 and .destination_port == 3260 and .version == "0.0"'
is disconnected '.peer == "127.0.0.1:'"$port"'"'
saw request '.data == "68656c6c6f" and .source == "127.0.0.1" and .source_port == 49152 and .destination == "127.0.0.1"'
saw disconnected '.service_id == "0x0000000001060cbc"'
asks 1 "another protocol" --cm-service udp/3260
is rejected '.reason == 8 and .reason_name == "Invalid Service ID" and (.service_proven | not)'
saw refused '.requirement == "CA11-6-02"'
asks 1 "protocol 63" --cm-service 63/3260
is rejected '.reason == 8'
served asked

echo "== refused"
serve 127.0.0.1 --cm-version 1.2 --cm-families 4 --cm-suggest
asks 1 "major version" --cm-service 3260
is rejected '.reason == 28 and .layer == 0 and .code == 1 and .info == "01" and .service_proven'
asks 1 "minor version" --cm-service 3260 --cm-version 1.3
is rejected '.code == 2 and .info == "02"'
asks 0 "minor version below" --cm-service 3260 --cm-version 1.1
is established '.version == "1.2" or .version == "1.1"'
asks 1 "IP version" --cm-service 3260 --cm-version 1.0 --defect cm-ipv-0
is rejected '.code == 3 and .info == "04"'
asks 1 "source address" --cm-service 3260 --cm-version 1.0 --defect cm-ipv4-dirty
is rejected '.code == 4'
served asked
for how in used/4 short/2 whole/72 none/0; do
	serve 127.0.0.1 --once --cm-info-length "${how%/*}"
	asks 1 "Reject Info Length ${how%/*}" --cm-service 3260 --cm-version 1.0
	is rejected ".has_ari // (if ${how#*/} == 0 then (has(\"code\") | not) else .code == 1 end)"
	served itself
done
serve 127.0.0.1 --cm-without
asks 1 "a server without the service" --cm-service 3260
is rejected '.reason == 8'
saw refused '.requirement == "CA11-8"'
served asked
serve 127.0.0.1 --cm-reject 28/1/9 --private-data 6e6f
asks 1 "the ULP says no" --cm-service 3260
is rejected '.layer == 1 and .info == "09" and (.service_proven | not)'
served asked
serve 127.0.0.1 --cm-reject 28/0/0
asks 1 "unspecified" --cm-service 3260
is rejected '.layer == 0 and .code == 0 and (.service_proven | not)'
asks 1 "unspecified, to a client that takes it for proof" --cm-service 3260 --defect cm-reject-proves
is rejected '.service_proven'
served asked
serve 127.0.0.1 --cm-answer silent
asks 1 "silence" --cm-service 3260 --cm-retries 2 --cm-timeout 12
is timeout true
served asked
serve 127.0.0.1 --defect cm-major-unchecked
asks 0 "a server with a defect" --cm-service 3260 --cm-version 1.0
is established true
served asked
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	serve ::1
	CLIENT=::1 SERVER='[::1]' asks 0 "over IPv6" --cm-service 3260 --private-data 36
	is established '.source == "::1" and .destination == "::1"'
	saw request '.data == "36"'
	served asked
fi

echo "== hostile datagrams"
serve 127.0.0.1
for octets in 0 1 19 20 279 280 281 2000; do head -c "$octets" /dev/urandom >/dev/udp/127.0.0.1/"$port"; done
asks 0 "afterwards" --cm-service 3260
served asked

echo "== 100,000 requests that nobody follows up"
"${cc[@]}" -std=gnu17 -O1 -I. -o "$WORK/flood" tests/e2e/cm_flood.c base/*.c wire/*.c "${isal[@]}"
serve 127.0.0.1 --cm-requests 512
before=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$server/status")
expect 0 "the flood" "$WORK/flood" "$port" 100000
says '^100000 requests, [0-9]{5} answers'
after=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$server/status")
holds "the server holds at most 8 MiB more ($before and $after KiB)" test "$after" -lt $((before + 8192))
saw timeout '.service_id == "0x0000000001060cbc"'
# Half-open exchanges go by their timers: then there is room for others.
room() { asks_quietly --cm-service 3260; }
asks_quietly() { "$IWARP_PEER" --cm --cm-port 0 --connect 127.0.0.1:"$port" --once "$@" >/dev/null 2>&1; }
holds "a client is served afterwards" eventually "$server" room
served asked

echo "== the command line"
cm() { expect 2 "$@"; }
cm "no service" "$IWARP_PEER" --cm
complains 'iwarp-peer: --cm-service was expected'
for wrong in '--cm-service tcp/65536' '--cm-service 256/1' '--cm-service scpt/1' '--cm-reject 28/2/0' '--cm-reject x' '--cm-version 16.0' \
	'--cm-version 1' '--cm-families 5' '--cm-answer maybe' '--cm-info-length long' '--cm-retries 16' '--cm-timeout 32' \
	'--cm-requests 0' '--cm-port 65536' '--private-data 0' '--private-data 0g' '--bind localhost' '--connect here' \
	'--listen 5' '--markers' '--defect cm-major-uncheckt'; do
	# shellcheck disable=SC2086
	cm "$wrong" "$IWARP_PEER" --cm --cm-service 1 --cm-port 0 $wrong
done
complains "there is no defect 'cm-major-uncheckt'.*cm-major-unchecked"
expect 2 "without --cm" "$IWARP_PEER" --cm-service 1
expect 4 "any address" "$IWARP_PEER" --cm --bind 0.0.0.0 --cm-service 1
complains 'the address of an interface was expected'
expect 0 "defects" "$IWARP_PEER" --cm --list-defects
holds "as in the table" cmp <(grep -vE '^(#|$)' reference-stack/defects/defects-cm.tsv | cut -f1 | sort) <(cut -f1 "$WORK/stdout" | sort)

echo "== octets"
"${cc[@]}" -std=gnu17 -O1 -I. -o "$WORK/fields" tests/e2e/cm_fields.c base/*.c wire/*.c "${isal[@]}" -lpcap
agree() { # CAPTURE LEAST: that many fields or more
	# shellcheck disable=SC2046
	"$TSHARK" -n -r "$1" -T fields -E occurrence=f $("$WORK/fields" --names) 2>/dev/null >"$WORK/tshark"
	expect 0 "tshark agrees: $(basename "$1")" bash -c '"$1" "$2" <"$3"' - "$WORK/fields" "$1" "$WORK/tshark"
	says '^[0-9]+ messages, [0-9]+ fields compared, 0 different'
	holds "$last: $2 fields or more" awk -v least="$2" '{ exit $3 < least }' <(tail -n 1 "$WORK/stdout")
}
agree pcaps/generated/cm-roce-v2.pcap 300
agree pcaps/generated/cm-roce-v2-ipv6.pcap 300
agree pcaps/generated/cm-faults.pcap 150
agree pcaps/linux-rxe/rxe-cm.pcap 250
# A decoding that differs is seen.
printf '%0.s\n' {1..17} >"$WORK/nothing"
expect 1 "a decoder that says nothing" bash -c '"$1" "$2" <"$3"' - "$WORK/fields" pcaps/generated/cm-roce-v2.pcap "$WORK/nothing"

if unshare --user --map-root-user --net true 2>/dev/null; then
	cat >"$WORK/inside" <<'INSIDE'
source tests/e2e/expect.bash
ip link set lo up
ip addr add fd00::1/128 dev lo nodad
ip addr add fd00::2/128 dev lo nodad
dumpcap -q -i lo -f 'udp port 4791' -w "$WORK/live.pcapng" 2>"$WORK/dumpcap" &
capturing=$!
eventually "$capturing" test -s "$WORK/live.pcapng" || { cat "$WORK/dumpcap"; exit 1; }
export PORT=4791
exchanges() { # SERVER CLIENT
	CLIENT=$2 SERVER=$1
	[[ $1 != *:* ]] || SERVER="[$1]"
	serve "$1" --cm-mra --private-data 0102 --cm-check-icrc
	asks 0 "made" --cm-service 3260 --private-data "$(printf 'c5%.0s' {1..56})" --cm-check-icrc
	asks 1 "no listener" --cm-service sctp/2049
	served asked
	serve "$1" --cm-version 1.0 --cm-suggest
	asks 1 "major" --cm-service 3260
	served asked
	serve "$1" --cm-reject 28/1/7
	asks 1 "by the ULP" --cm-service 3260
	served asked
}
exchanges 127.0.0.1 127.0.0.2
exchanges fd00::1 fd00::2
whole() { [ "$("$TSHARK" -r "$WORK/live.pcapng" 2>/dev/null | wc -l)" -ge 24 ]; } # 12 of each family
holds "the capture has all of it" eventually "$capturing" whole
kill "$capturing"
wait "$capturing"
finish
INSIDE
	mkdir "$WORK/inner"
	expect 0 "in a namespace" unshare --user --map-root-user --net env WORK="$WORK/inner" B="$B" IWARP_PEER="$IWARP_PEER" bash -c '
		source tests/e2e/expect.bash
		'"$(declare -f serve served asks is saw)"'
		source "$WORK/../inside"'
	grep -E '^WRONG|^   ' "$WORK/stdout" || true
	agree "$WORK/inner/live.pcapng" 400
	expect 0 "audit" "$WARPCHECK" audit "$WORK/inner/live.pcapng"
	expect 0 "dump" "$WARPCHECK" dump "$WORK/inner/live.pcapng"
	holds "each ICRC is right" test "$(grep -c 'ICRC' "$WORK/stdout")" = 0
	holds "and they were checked" test "$(grep -c 'CM REQ' "$WORK/stdout")" = 8
else
	echo "an ordinary user may not make namespaces here: nothing is captured"
fi
finish
