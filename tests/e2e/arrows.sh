#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/arrows.sh accepts this tree, prints its rooms and arrows, and rejects an include that points up, in each part of
# the house, a folder that is in no room, and a header of Wireshark in the decoder.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/arrows.sh --print
says '^conformance/engine/run -> .*conformance/engine/script'
says '^base$'
says '^wire -> base$'

mkdir "$WORK/tree"
# shellcheck source=tools/folders.bash
source tools/folders.bash
read -ra folders < <(room_folders)
find "${folders[@]}" -name '*.[ch]' -exec cp --parents -t "$WORK/tree" {} +
expect 0 "a copy of it" tools/arrows.sh "$WORK/tree"

# rejects FILE INCLUDE PATTERN: the copy with this line at the end of this file; the file's own text comes back.
rejects() {
	local file=$WORK/tree/$1
	mkdir -p "$(dirname "$file")"
	rm -f "$WORK/kept"
	[ ! -e "$file" ] || cp "$file" "$WORK/kept"
	echo "#include $2" >>"$file"
	expect 1 "$1 includes $2" tools/arrows.sh "$WORK/tree"
	says "^$1:[0-9]+: #include $2: $3"
	holds "nothing else is complained about" test "$(wc -l <"$WORK/stdout")" -eq 1
	if [ -e "$WORK/kept" ]; then cp "$WORK/kept" "$file"; else rm "$file"; fi
}
rejects base/cells.c '"wire/ddp.h"' 'base does not include wire'
rejects wire/ddp.c '"conformance/flow/event/flow.h"' 'wire does not include conformance/flow'
rejects reference-stack/base/ring.c '"reference-stack/core/stream_internal.h"' 'reference-stack/base does not include'
rejects reference-stack/core/transmit.c '"reference-stack/mpa/mpa.h"' 'reference-stack/core does not include reference-stack/mpa'
rejects reference-stack/core/transmit.c '"reference-stack/defects/defect.h"' 'reference-stack/core does not include reference-stack/defects'
rejects reference-stack/transport/output_batch.c '"reference-stack/peer/peer.h"' 'reference-stack/transport does not include'
rejects reference-stack/peer/peer.c '"generator/tcp/tcp.h"' 'reference-stack/peer does not include'
rejects generator/packet/packet.c '"generator/tcp/tcp.h"' 'generator/packet does not include'
rejects conformance/flow/tcp/flow_tcp.c '"conformance/rules/rule.h"' 'conformance/flow/tcp does not include'
rejects conformance/flow/event/flow.c '"conformance/flow/ddp/flow_ddp.h"' 'conformance/flow/event does not include'
rejects conformance/flow/mpa/flow_mpa.c '"conformance/flow/tcp/flow_tcp.h"' 'conformance/flow/mpa does not include'
rejects conformance/flow/tcp/flow_tcp.c '"conformance/flow/decoder.h"' 'conformance/flow/tcp does not include'
rejects conformance/flow/mpa/flow_mpa.c '<pcap.h>' 'base, wire, flow and rules know neither'
rejects conformance/rules/track.c '"conformance/engine/rig/rig.h"' 'conformance/rules does not include'
rejects conformance/engine/rig/rig.c '"conformance/engine/run/runner.h"' 'conformance/engine/rig does not include'
rejects conformance/engine/script/script.c '"conformance/engine/prove/prove.h"' 'conformance/engine/script does not include'
rejects conformance/engine/audit/audit_judge.c '"conformance/engine/run/runner.h"' 'conformance/engine/audit does not include'
rejects conformance/engine/attic/box.c '"wire/ddp.h"' 'this folder is in no room'
rejects conformance/engine/run/runner.c '"runner.h"' 'expected a path from the root of the tree'
holds "the copy is whole again" tools/arrows.sh "$WORK/tree"

# DDP and RDMAP know the layer below them by core/llp.h alone: core/ names neither MPA nor its frames, but for the one
# member of the public `struct iwarp_output`, and but for the seams. (The letter before "mpa" is the o of "compare".)
names_layer() { grep -rniE --exclude=faults.h '(^|[^o])mpa|fpdu' "$1" | grep -vF 'output->fpdu = piece->segment;' >&2; }
names_none() { ! names_layer "$1"; }
holds "core names no layer below DDP" names_none reference-stack/core
echo '/* an FPDU */' >>"$WORK/tree/reference-stack/core/piece.c"
holds "a name in it is found" names_layer "$WORK/tree/reference-stack/core"

# Two rooms that may include one another would be a circle: the list itself is refused.
mkdir "$WORK/circle"
cp tools/arrows.sh tools/folders.bash "$WORK/circle"
sed 's|^reference-stack/base  *base wire$|reference-stack/base base wire reference-stack/core|' tools/rooms.list >"$WORK/circle/rooms.list"
expect 1 "a list with a circle" bash "$WORK/circle/arrows.sh" "$WORK/tree"
says 'reference-stack/base may include reference-stack/core, which does not stand before it'
finish
