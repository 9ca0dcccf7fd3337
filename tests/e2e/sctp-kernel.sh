#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# iwarp-peer over SCTP of the kernel. Where the kernel has none: one line and exit status 4, by both texts and over IPv6, and nothing
# is opened. Where it has SCTP, a peer waits, and ends with SIGTERM. tests/e2e/sctp-lab.sh has a guest with it.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 2 "--sctp-stack other" "$IWARP_PEER" --llp sctp --listen 0 --sctp-stack other
complains '--sctp-stack "other": user or kernel was expected'
expect 2 "the kernel's SCTP with TCP" "$IWARP_PEER" --listen 0 --sctp-stack kernel
complains '--sctp-stack is for --llp sctp'
expect 2 "an own UDP port of the kernel's SCTP" "$IWARP_PEER" --llp sctp --listen 0 --sctp-stack kernel --udp-port 9899
complains 'net.sctp.udp_port'

try() { # OPTION...: the kernel's SCTP, or the line that says that there is none
	local status=0 peer
	rm -f "$WORK/out"
	"$IWARP_PEER" --llp sctp --sctp-stack kernel --listen 0 --control 0 --once "$@" >"$WORK/out" 2>"$WORK/err" </dev/null &
	peer=$!
	if prints "$peer" "$WORK/out" '^READY' 2>/dev/null; then
		holds "$*: READY names the port, and no UDP port" grep -Eq '^READY listen=[1-9][0-9]* control=[1-9][0-9]*$' "$WORK/out"
		kill "$peer"
		wait "$peer" || status=$?
		holds "$*: a peer that waits ends with SIGTERM" [ "$status" -eq 0 ]
		return
	fi
	wait "$peer" || status=$?
	holds "$*: without SCTP the exit status is 4" [ "$status" -eq 4 ]
	holds "$*: nothing is ready" [ ! -s "$WORK/out" ]
	holds "$*: there is one line" [ "$(wc -l <"$WORK/err")" -eq 1 ]
	holds "$*: it says what is missing" grep -q 'iwarp-peer: SCTP of the kernel: this kernel has none (Linux: modprobe sctp)$' "$WORK/err"
}
try --bind 127.0.0.1
try --bind ::1
try --bind 127.0.0.1 --sctp-profile draft02
finish
