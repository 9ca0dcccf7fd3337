#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arch-exchange.sh: ONE and OTHER, two iwarp-peer programs, perhaps of different processors, over loopback: Writes, a Read and Sends, with
# Markers and CRC, in Rev 1 and Rev 2; then what lies in the memory of both is compared. For tools/arch-inside.sh.
# shellcheck disable=SC2154 # upper.bash
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
mkdir -p "$WORK"
source tests/e2e/expect.bash
unset IWARP_PEER_ASAN
source tests/e2e/upper.bash
program=$ONE
peer_start one
program=$OTHER
peer_start other

talk() { # OPTIONS: members of listen and connect
	local there source sink port stream
	ask one '{"verb":"reg_mr","length":200000,"fill":"count"}' && source=$(value .stag) || return 1
	ask one '{"verb":"reg_mr","length":200000}' && there=$(value .stag) || return 1
	ask other '{"verb":"reg_mr","length":200000}' && sink=$(value .stag) || return 1
	ask one "{\"verb\":\"listen\"$1}" && port=$(value .port) || return 1
	forget one && forget other || return 1
	ask other "{\"verb\":\"connect\",\"address\":\"127.0.0.1\",\"port\":$port$1}" && stream=$(value .stream) || return 1
	await other '.event == "established"' && await one '.event == "established"' || return 1
	ask other "{\"verb\":\"write\",\"stream\":$stream,\"stag\":$there,\"length\":200000}" || return 1
	ask other "{\"verb\":\"read\",\"stream\":$stream,\"source_stag\":$source,\"sink_stag\":$sink,\"length\":200000}" || return 1
	ask other "{\"verb\":\"send\",\"stream\":$stream,\"length\":4000}" || return 1
	await other '.event == "read_done"' && await one '.event == "receive"' || return 1
	ask one "{\"verb\":\"mem_read\",\"stag\":$source}" && value .data >"$WORK/source" || return 1
	ask other "{\"verb\":\"mem_read\",\"stag\":$sink}" && value .data >"$WORK/sink" || return 1
	ask one "{\"verb\":\"mem_read\",\"stag\":$there}" && value .data >"$WORK/there" || return 1
	events one 'select(.event == "receive").data' | tr -d '"' >"$WORK/received"
	[ "$(wc -c <"$WORK/source")" -eq 400001 ] && cmp "$WORK/source" "$WORK/sink" && cmp "$WORK/source" "$WORK/there" &&
		[ "$(cat "$WORK/received")" = "$(head -c 8000 "$WORK/source")" ]
}
holds "Rev 1, CRC" talk ',"rev":1'
holds "Rev 1, Markers and CRC" talk ',"rev":1,"markers":true'
holds "Rev 2, Markers and CRC" talk ',"rev":2,"markers":true'
peer_stop one
peer_stop other
finish
