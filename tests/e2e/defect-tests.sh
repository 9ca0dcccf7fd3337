#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/defect-tests.sh accepts this tree and lists its seams; it rejects a test for a defect in the protocol code, however
# it is written, and an operation that is called without HOOK, not declared, or called nowhere.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/defect-tests.sh . "$B"
says '^stream.place reference-stack/core/deliver.c:[0-9]+'
says '^cm.judge reference-stack/cm/cm_validation.c:[0-9]+'
says '^0 tests for a defect outside of reference-stack/defects/; [0-9]+ hooks, called at [0-9]+ places$'

mkdir "$WORK/tree"
find reference-stack -name '*.[ch]' -exec cp --parents -t "$WORK/tree" {} +

# rejects FILE LINE PATTERN: the copy with this line at the end of this file; the file's own text comes back.
rejects() {
	local file=$WORK/tree/$1
	cp "$file" "$WORK/kept"
	printf '%s\n' "$2" >>"$file"
	expect 1 "$1 with $2" tools/defect-tests.sh "$WORK/tree" "$B"
	says "$3"
	cp "$WORK/kept" "$file"
}
deliver=reference-stack/core/deliver.c
rejects "$deliver" 'if (stream_behaves(stream, DEFECT_LAST_IGNORED))' "^$deliver:[0-9]+: if .*: names a defect$"
rejects "$deliver" 'if (behaves(stream, which))' "^$deliver:[0-9]+: .*: asks a set for a defect$"
rejects "$deliver" 'if (stream->faults != NULL)' "^$deliver:[0-9]+: .*: compares the pointer to an object's faults$"
rejects "$deliver" 'if (!stream->faults)' "^$deliver:[0-9]+: .*: compares the pointer to an object's faults$"
rejects "$deliver" 'if (stream->faults)' "^$deliver:[0-9]+: .*: compares the pointer to an object's faults$"
rejects "$deliver" 'defect_fragment(stream);' "^$deliver:[0-9]+: .*: calls defect_fragment\(\)$"
rejects "$deliver" '#include "reference-stack/defects/defect.h"' "^$deliver:[0-9]+: .*: this header is for"
rejects reference-stack/peer/peer.c '#include "reference-stack/defects/defect_internal.h"' '^reference-stack/peer/peer.c:[0-9]+: .*: this header is for'
rejects reference-stack/mpa/mpa.c 'hook_ulpdu(stream);' '^reference-stack/mpa/mpa.c:[0-9]+: .*: hook_ulpdu\(\) is called without PEER_HOOK$'
rejects reference-stack/mpa/mpa.c 'HOOK(stream, unheard_of(stream));' '^stream.unheard_of\(\) is called at .*, and no table of operations has it$'

table=$WORK/tree/reference-stack/core/faults.h
sed -i 's/^struct fault_ops {$/&\n    void (*forgotten)(struct iwarp_stream *stream);/' "$table"
expect 1 "an operation that nobody calls" tools/defect-tests.sh "$WORK/tree" "$B"
says 'faults.h:[0-9]+: stream.forgotten\(\) is called nowhere$'
cp reference-stack/core/faults.h "$table"

# The library for programs of others with the table of faults in it.
mkdir "$WORK/build"
cp "$B"/lib{defects,iwarp}.a "$B/libiwarp.so" "$WORK/build"
(cd "$WORK/build" && ar x libdefects.a defect_table.o && ar r libiwarp.a defect_table.o)
expect 1 "a library with faults" tools/defect-tests.sh . "$WORK/build"
says '^libiwarp has the symbol of a defect: defect_fault_ops$'
expect 2 "a library that is not built" tools/defect-tests.sh . "$WORK/nowhere"

# Comments and strings may speak of defects, and a set may be handed on.
cat >>"$WORK/tree/$deliver" <<'END'
/* DEFECT_LAST_IGNORED acts here: if (stream->faults != NULL). */
static const char text[] = "stream_behaves(DEFECT_LAST_IGNORED)";
config->faults = stream->config.faults;
END
expect 0 "comments, strings and a set that is handed on" tools/defect-tests.sh "$WORK/tree" "$B"
finish
