#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Two iwarp-peer processes on the kernel's TCP, driven through their upper testers: start-up in both revisions,
# with Markers, peer-to-peer and over IPv6; a Write and Reads of 1 MiB, echoed Sends, the Terminate for a bad STag, all
# with exact contents. Then a hostile control socket: nothing that comes over it harms a stream or the process.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tests/e2e/upper.bash
source tests/e2e/upper.bash

MIB=1048576
# What `"length": n` sends and `"fill":"count"` holds: 0, 1, ... 250, 0, 1, ...
pattern() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%02x", i % 251 }'; }
pattern "$MIB" >"$WORK/mib.hex"

same() { [ "$1" = "$2" ] || { echo "      got $1, expected $2" | cut -c 1-400; return 1; }; }

# memory NAME STAG: the region holds the pattern.
memory() {
	ask "$1" "{\"verb\":\"mem_read\",\"stag\":$2}" || return 1
	value .data | tr -d '\n' | cmp - "$WORK/mib.hex"
}

# is NAME EVENT FILTER: the jq filter holds for the first such event.
is() { jq -es "map(select(.event == \"$2\"))[0] | $3" <"$WORK/$1.events" >/dev/null; }

connect() { # LISTEN_OPTIONS CONNECT_OPTIONS ADDRESS: sets `stream` (initiator's) and `other` (responder's)
	ask responder "{\"verb\":\"listen\",\"echo\":true$1}" || return 1
	port=$(value .port)
	ask initiator "{\"verb\":\"connect\",\"address\":\"$3\",\"port\":$port$2}" || return 1
	stream=$(value .stream)
	await initiator ".stream == $stream and .event == \"established\"" || return 1
	await responder '.event == "established"' || return 1
	other=$(events responder 'select(.event == "accepted").stream' | tail -n 1)
}

write_mib() {
	ask initiator "{\"verb\":\"write\",\"stream\":$stream,\"stag\":$stag,\"length\":$MIB,\"id\":1}" || return 1
	await initiator '.event == "write_done" and .id == 1 and .octets == 1048576'
}

read_mib() { # in four Reads, of which the last quarter comes first
	local i
	for i in 3 1 0 2; do
		ask initiator "{\"verb\":\"read\",\"stream\":$stream,\"source_stag\":$stag,\"source_to\":$((i * MIB / 4)),\"sink_stag\":$sink,\"sink_to\":$((i * MIB / 4)),\"length\":$((MIB / 4)),\"id\":$((10 + i))}" || return 1
	done
	await initiator '.event == "read_done" and .id == 12' || return 1
	same "$(events initiator 'select(.event == "read_done").id' | paste -sd' ')" '13 11 10 12'
}

echoes() { # N: that many Sends of 1 to some thousand octets; each comes back, in order
	local i sent=''
	for ((i = 1; i <= $1; i++)); do
		ask initiator "{\"verb\":\"send\",\"stream\":$stream,\"length\":$((i * 199)),\"id\":$((100 + i))}" || return 1
		sent+="$((i * 199)) "
	done
	all_came() { poll initiator && [ "$(events initiator 'select(.event == "receive").octets' | wc -l)" -ge "$1" ]; }
	eventually "${pid[initiator]}" all_came "$1" || return 1
	same "$(events initiator 'select(.event == "receive").octets' | paste -sd' ') " "$sent" || return 1
	for ((i = 1; i <= $1; i++)); do
		same "$(events initiator 'select(.event == "receive").data' | sed -n "${i}p")" "\"$(head -c $((i * 199 * 2)) "$WORK/mib.hex")\"" || return 1
	done
	same "$(events initiator 'select(.event == "send_done").id' | paste -sd' ')" "$(seq -s' ' 101 $((100 + $1)))"
}

bad_stag() { # the Terminate of DDP for an STag that nobody has, with the headers of what offended
	local wrong=$(((stag + 256) & 4294967295))
	ask initiator "{\"verb\":\"write\",\"stream\":$stream,\"stag\":$wrong,\"data\":\"0102\"}" || return 1
	await initiator ".stream == $stream and .event == \"closed\"" || return 1
	await responder ".stream == $other and .event == \"closed\"" || return 1
	is responder terminate_sent '.layer == 1 and .etype == 1 and .code == 0' &&
		is initiator terminate_received '.layer == 1 and .etype == 1 and .code == 0 and (.headers | length) > 8' &&
		is responder error '.requirement == "DDP-7.1-10"'
}

# exchange NAME LISTEN_OPTIONS CONNECT_OPTIONS ADDRESS FILTER: all of that; the filter is for the initiator's `established`.
exchange() {
	forget initiator && forget responder
	holds "$1: start-up" connect "$2" "$3" "$4"
	holds "$1: what is agreed" is initiator established "$5"
	ask responder "{\"verb\":\"reg_mr\",\"length\":$MIB,\"access\":[\"remote_read\",\"remote_write\"]}"
	stag=$(value .stag)
	ask initiator "{\"verb\":\"reg_mr\",\"length\":$MIB}"
	sink=$(value .stag)
	holds "$1: a Write of 1 MiB" write_mib
	holds "$1: four Reads of 256 KiB, in order" read_mib
	# The Read came after the Write on the same stream: so the Write has been placed.
	holds "$1: what was written" memory responder "$stag"
	holds "$1: what was read" memory initiator "$sink"
	holds "$1: twenty Sends come back" echoes 20
	holds "$1: a bad STag is answered with a Terminate" bad_stag
	ask responder "{\"verb\":\"dereg\",\"stag\":$stag}"
	ask initiator "{\"verb\":\"dereg\",\"stag\":$sink}"
}

peer_start responder --ipv6
peer_start initiator
exchange "Rev 2" '' '' 127.0.0.1 '.rev == 2 and .s and .crc and .ird == 4 and .ord == 4 and (.send_markers or .receive_markers | not)'
exchange "Rev 1" ',"rev":1' ',"rev":1' 127.0.0.1 '.rev == 1 and (.s | not) and .crc'
exchange "Markers both ways" ',"markers":true' ',"markers":true' 127.0.0.1 '.send_markers and .receive_markers'
exchange "Markers one way, no CRC" ',"markers":true,"crc":false' ',"crc":false' 127.0.0.1 '.send_markers and (.receive_markers or .crc | not)'
exchange "peer-to-peer, Read as RTR, EMSS 512" ',"emss":512' ',"p2p":true,"rtr":["read"],"emss":512' 127.0.0.1 '.a and .rtr_read and (.rtr_send or .rtr_write | not)'
exchange "streaming messages first" ',"streaming":"6c617374","streaming_octets":5' ',"streaming":"68656c6c6f","streaming_octets":4' 127.0.0.1 '.rev == 2'
exchange "depths of SMB Direct" ',"smbd":true,"ord":3' ',"smbd":true,"rev":1,"ird":2,"private_data":"00ff"' 127.0.0.1 '.rev == 1 and .pd_length == 0 and .ord == 4'
exchange "IPv6, ORD 1" '' ',"ord":1' ::1 '.ord == 1'

# --- A hostile control socket -------------------------------------------------------------------------------------------
forget initiator && forget responder
holds "a stream to be left alone" connect '' '' 127.0.0.1

# other_control COMMAND...: runs the command with its stdout on a control connection of its own; what came back is in
# $WORK/answers, up to the answer to a last, good command: so the connection is still usable.
other_control() {
	local status=0 extra
	# shellcheck disable=SC2154 # upper.bash fills it
	exec {extra}<>"/dev/tcp/127.0.0.1/${control[responder]}"
	"$@" 1>&"$extra" || status=$?
	echo '{"verb":"capabilities","tag":"last"}' >&"$extra"
	timeout 120 sed '/"tag":"last"/q' <&"$extra" >"$WORK/answers" || status=$?
	exec {extra}<&-
	[ "$status" -eq 0 ] && grep -q '"ok":true.*"tag":"last"' "$WORK/answers" && sed -i '$d' "$WORK/answers"
}
# refused COMMAND...: what the command says is answered with an error.
refused() {
	other_control "$@" || return 1
	jq -es 'length >= 1 and all(.[]; .ok == false and (.error | length) > 0)' <"$WORK/answers"
}
vanish() { # COMMAND...: says that, and goes without listening
	local extra
	exec {extra}<>"/dev/tcp/127.0.0.1/${control[responder]}"
	"$@" 1>&"$extra" || true
	exec {extra}<&-
}
unharmed() {
	: >"$WORK/initiator.events"
	# shellcheck disable=SC2154 # upper.bash fills it
	echoes 2 && ask responder '{"verb":"capabilities"}' && kill -0 "${pid[responder]}"
}
garbage() { head -c 3000 /dev/urandom | tr '\n' x; echo; }
mebibyte() { head -c $MIB /dev/zero | tr '\0' "$1"; echo; }
long_string() { printf '{"verb":"'; head -c $MIB /dev/zero | tr '\0' a; echo '"}'; }
half_a_line() { printf '{"verb":"reset"'; }
zeros() { printf '{"verb":"re\0set"}\n\0\0\0\n'; }
many() { local i; for ((i = 0; i < 3000; i++)); do echo '{"verb":"capabilities"}'; done; }
odd_commands() {
	cat <<-'LINES'
		[]
		7
		null
		"reset"
		{}
		{"verb":7}
		{"verb":"no such"}
		{"verb":"reset","now":1}
		{"verb":"reset","verb":"reset"}
		{"verb":"abort","stream":99999}
		{"verb":"abort","stream":-1}
		{"verb":"abort","stream":"one"}
		{"verb":"abort","stream":1.5}
		{"verb":"abort","stream":99999999999999999999999}
		{"verb":"abort"}
		{"verb":"listen","port":65536}
		{"verb":"listen","ird":20000}
		{"verb":"listen","rtr":"all"}
		{"verb":"listen","private_data":"zz"}
		{"verb":"reg_mr","length":1e300}
		{"verb":"reg_mr","length":99999999999}
		{"verb":"reg_mr","length":4096,"base":"0xFFFFFFFFFFFFFFFF"}
		{"verb":"mem_read","stag":0}
		{"verb":"connect","address":"no.such.name","port":1}
		{"verb":"connect","address":{},"port":1}
		{"verb":"post_recv","stream":1,"length":16777216,"count":65536}
	LINES
}

holds "3000 octets of noise" refused garbage
holds "a line of 1 MiB" refused mebibyte x
holds "brackets 1 MiB deep" refused mebibyte '['
holds "a verb of 1 MiB" refused long_string
holds "zero octets" refused zeros
holds "odd commands" refused odd_commands
holds "one error for each of them" test "$(wc -l <"$WORK/answers")" -eq "$(odd_commands | wc -l)"
holds "half a line, then gone" vanish half_a_line
holds "gone in the middle of a line of 1 MiB" vanish head -c $MIB /dev/zero
holds "gone without hearing 3000 replies" vanish many
holds "the stream beside it is unharmed" unharmed
holds "the responder is still itself" ask responder "{\"verb\":\"status\",\"stream\":$other}"
holds "and that stream is in operation" test "$(value .state)" = operation

# --- The end ------------------------------------------------------------------------------------------------------------
holds "an orderly end" ask initiator "{\"verb\":\"disconnect\",\"stream\":$stream}"
holds "told to the initiator" await initiator ".stream == $stream and .event == \"closed\""
holds "told to the responder" await responder ".stream == $other and .event == \"closed\""
holds "no event was lost" test "$(value .lost)" -eq 0
holds "the initiator ends cleanly" peer_stop initiator
holds "the responder ends cleanly" peer_stop responder
finish
