#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/rooms.sh accepts the objects of this tree, prints rooms and arrows, and rejects a call that points up, in each part of the
# house and from each floor of the decoder, an object that is not built, and a list that has a circle.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/rooms.sh --print "$B"
says '^reference-stack/mpa -> .*reference-stack/core'
says '^base$'
says '^[0-9]+ rooms, [0-9]+ arrows, none points up$'
says '^conformance/flow/tcp -> conformance/flow/mpa conformance/flow/ddp conformance/flow/event'

# Links to the objects, of which one is exchanged at a time.
mkdir -p "$WORK/build/dissector/obj" "$WORK/tools"
cp -rs "$B/obj" "$B/gen" "$WORK/build"
cp -rs "$B/dissector/obj/dissector" "$WORK/build/dissector/obj"
expect 0 "links to its objects" tools/rooms.sh "$WORK/build"

# calls FILE FUNCTION: the object of that source with a call of this function more.
calls() {
	local object=$WORK/build/obj/${1%.c}.o
	printf 'void %s(void);\nvoid points_up(void);\nvoid points_up(void)\n{\n\t%s();\n}\n' "$2" "$2" >"$WORK/up.c"
	"${cc[@]}" -c -o "$WORK/up.o" "$WORK/up.c"
	rm "$object"
	ld -r -o "$object" "$B/obj/${1%.c}.o" "$WORK/up.o"
}
rejects() { # FILE FUNCTION FROM TO
	calls "$1" "$2"
	expect 1 "$1 calls $2" tools/rooms.sh "$WORK/build"
	says "^obj/${1%.c}[.]o: $3 uses $2 of $4, which it may not$"
	ln -sf "$B/obj/${1%.c}.o" "$WORK/build/obj/${1%.c}.o"
}
rejects wire/ddp.c iwarp_stream_new wire reference-stack/mpa
rejects reference-stack/base/ring.c stream_fail reference-stack/base reference-stack/core
rejects reference-stack/core/transmit.c peer_new reference-stack/core reference-stack/peer
rejects reference-stack/mpa/frame.c iwarp_association_new reference-stack/mpa reference-stack/sctp
rejects generator/packet/packet.c tcp_stack_new generator/packet generator/tcp
rejects conformance/flow/event/flow.c flow_rdmap_gap conformance/flow/event conformance/flow/ddp
rejects conformance/flow/ddp/flow_rdmap.c flow_mpa_octets conformance/flow/ddp conformance/flow/mpa
rejects conformance/flow/mpa/flow_mpa.c flow_connection_segment conformance/flow/mpa conformance/flow/tcp
rejects conformance/flow/sctp/flow_sctp.c flow_mpa_octets conformance/flow/sctp conformance/flow/mpa
rejects conformance/flow/tcp/flow_tcp.c flow_link_frame conformance/flow/tcp conformance/flow/link
rejects conformance/flow/link/flow_link.c flow_decoder_frame conformance/flow/link conformance/flow
rejects conformance/rules/track.c rig_pump conformance/rules conformance/engine/rig
expect 0 "the links are whole again" tools/rooms.sh "$WORK/build"

rm "$WORK/build/obj/wire/ddp.o"
expect 2 "an object that is not built" tools/rooms.sh "$WORK/build"

# Two rooms that may call one another would be a circle: the list itself is refused.
cp tools/rooms.sh tools/folders.bash "$WORK/tools"
sed 's|^conformance/flow/event  *base|& conformance/flow/tcp|' tools/rooms.list >"$WORK/tools/rooms.list"
ln -s "$PWD"/* "$WORK" 2>/dev/null || true
expect 1 "a list with a circle" "$WORK/tools/rooms.sh" "$B"
says 'conformance/flow/event may use conformance/flow/tcp, which does not stand before it'
finish
