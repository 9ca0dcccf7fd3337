#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/defect-tests.sh accepts this tree and lists its seams; it rejects a test for a defect in the protocol code, however
# it is written, a seam that is not declared, or called nowhere, more seams than there were, and a library with a fault in it.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/defect-tests.sh . "$B"
says '^stream.place reference-stack/core/deliver.c:[0-9]+'
says '^cm.judge reference-stack/cm/cm_validation.c:[0-9]+'
says '^SCTP_MODE reference-stack/sctp/association.c:[0-9]+'
says '^0 tests for a defect outside of reference-stack/defects/; [0-9]+ seams, called at [0-9]+ places; [0-9]+ numbers and decisions$'

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
rejects reference-stack/mpa/mpa.c 'SEAM(stream, unheard_of(stream));' '^stream.unheard_of is called at .*, and nothing declares it$'

# declares FILE AFTER LINE PATTERN: the copy with one more declaration after this line of a table.
declares() {
	local file=$WORK/tree/$1
	awk -v after="$2" -v more="$3" '{ print } $0 == after { print more }' "$1" >"$file"
	expect 1 "$1 with $3" tools/defect-tests.sh "$WORK/tree" "$B"
	says "$4"
	cp "$1" "$file"
}
table=reference-stack/core/faults.h
declares "$table" 'struct fault_ops {' '    void (*forgotten)(struct iwarp_stream *stream);' 'faults.h:[0-9]+: stream.forgotten is called nowhere$'
declares "$table" 'enum stream_decision {' '    DECIDE_FORGOTTEN,' 'faults.h:[0-9]+: DECIDE_FORGOTTEN is called nowhere$'
declares "$table" 'struct fault_ops {' '    void (*one_more)(struct iwarp_stream *stream);' '^[0-9]+ seams, [0-9]+ at most were expected'

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
