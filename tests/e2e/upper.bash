# SPDX-License-Identifier: BSD-2-Clause
#
# Upper testers of iwarp-peer processes (docs/upper-tester.md), for end-to-end scripts; to be sourced after expect.bash.
#
#   peer_start NAME OPTION...   starts iwarp-peer with a control socket and connects to it; sets control[NAME]
#   ask NAME COMMAND            one command; the reply is in `reply`, its last line of error in `complaint`; fails if not ok
#   value FILTER                jq on the reply
#   await NAME FILTER           polls until the jq filter is true for one of the events so far, at most 20 s
#   events NAME FILTER          jq on every event so far, one line each
#   forget NAME                 drops the events so far
#   echoes NAME PORT            seventy Sends to an echo server at that port come back on one connection, which then closes
#   peer_stop NAME              SIGTERM; its exit status must be 0
#
# The sanitised program is taken where the run has built it (IWARP_PEER_ASAN): another one that is there may be out of date.
# Everything that was started is stopped at the end.
declare -A control=() pid=() fd=()
reply='' program=${IWARP_PEER_ASAN:-$IWARP_PEER}

peers_end() {
	local name
	for name in "${!pid[@]}"; do kill "${pid[$name]}" 2>/dev/null || true; done
}
trap peers_end EXIT

peer_start() {
	local name=$1 ready='' handle
	shift
	rm -f "$WORK/$name.out"
	"$program" --control 0 "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	pid[$name]=$!
	! prints "${pid[$name]}" "$WORK/$name.out" '^READY.* control=.+$' || ready=$(sed -n 's/^READY.* control=//p' "$WORK/$name.out")
	[ -n "$ready" ] || { echo "iwarp-peer $* does not start: $(head -c 500 "$WORK/$name.err")"; exit 1; }
	# shellcheck disable=SC2034 # for the script that sources this
	control[$name]=$ready
	exec {handle}<>"/dev/tcp/127.0.0.1/$ready"
	fd[$name]=$handle
	: >"$WORK/$name.events"
}

# `head` takes more than a line at a time, but after a reply there is nothing before the next command.
ask() {
	printf '%s\n' "$2" >&"${fd[$1]}"
	reply=$(timeout 60 head -n 1 <&"${fd[$1]}") || reply=''
	[[ $reply == *'"ok":true'* ]] && return 0
	echo "      $1: $2 -> ${reply:-no reply}" | head -c 1000
	return 1
}

value() { jq -r "$1" <<<"$reply"; }

poll() {
	ask "$1" '{"verb":"poll"}' || return 1
	jq -c '.events[]' <<<"$reply" >>"$WORK/$1.events"
}

await() {
	arrived() { poll "$1" && jq -es "any(.[]; $2)" <"$WORK/$1.events" >/dev/null; }
	eventually "${pid[$1]}" arrived "$1" "$2" && return 0
	echo "      $1: no event with $2 among: $(cut -c 1-160 "$WORK/$1.events" | tail -n 5)"
	return 1
}

events() { jq -c "$2" <"$WORK/$1.events"; }

forget() { poll "$1" && : >"$WORK/$1.events"; }

echoes() {
	local i of
	ask "$1" "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$2}" && of=$(value .stream) || return 1
	await "$1" ".stream == $of and .event == \"established\"" || return 1
	for ((i = 0; i < 70; i++)); do ask "$1" "{\"verb\":\"send\",\"stream\":$of,\"data\":\"$(printf '%04x' "$i")\"}" || return 1; done
	await "$1" ".stream == $of and .event == \"receive\" and .data == \"0045\"" || return 1
	ask "$1" "{\"verb\":\"disconnect\",\"stream\":$of}" && await "$1" ".stream == $of and .event == \"closed\""
}

peer_stop() {
	local status=0
	kill "${pid[$1]}"
	wait "${pid[$1]}" || status=$?
	unset "pid[$1]"
	[ "$status" -eq 0 ] || { echo "      $1: exit status $status: $(head -c 2000 "$WORK/$1.err")"; return 1; }
}
