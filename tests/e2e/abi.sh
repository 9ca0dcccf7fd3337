#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# packaging/abi.sh: libiwarp.so has the binary interface of packaging/libiwarp.abi. A function that is gone and a structure of another
# size are found, a new function is not judged. Without abidiff: a SKIP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash
command -v abidiff >"$WORK/program" || { echo "no abidiff: tools/deps.sh abi"; exit 77; }
export B
# shellcheck disable=SC2034 # expect.bash looks at it: abidiff says more
lines=any
expect 0 "the library has the interface that is kept" packaging/abi.sh

symbol() { # symbol NAME: the line of a function in a list of symbols
	printf "    <elf-symbol name='%s' version='LIBIWARP_0' is-default-version='yes' type='func-type' binding='global-binding' " "$1"
	printf "visibility='default-visibility' is-defined='yes'/>\n"
}
awk -v line="$(symbol iwarp_gone)" '{ print } /<elf-function-symbols>/ { print line }' packaging/libiwarp.abi >"$WORK/gone.abi"
expect 1 "a function that is gone" packaging/abi.sh "$WORK/gone.abi"
says 'iwarp_gone'
complains 'it needs another soname'

awk "/<function-decl name='iwarp_accept'/ { gone = 1 } !gone { print } /<.function-decl>/ { gone = 0 }" packaging/libiwarp.abi |
	grep -v "<elf-symbol name='iwarp_accept'" >"$WORK/new.abi"
holds "a function was taken out" test "$(wc -l <"$WORK/new.abi")" -lt "$(wc -l <packaging/libiwarp.abi)"
expect 0 "a function that is new" packaging/abi.sh "$WORK/new.abi"
says 'iwarp_accept'

sed "/<class-decl name='iwarp_stream_config'/,/<.class-decl>/{s/size-in-bits='[0-9]*'/size-in-bits='64'/;s/bits='40'/bits='4840'/}" \
	packaging/libiwarp.abi >"$WORK/member.abi"
expect 1 "a member at another place" packaging/abi.sh "$WORK/member.abi"
says 'iwarp_stream_config'
says 'enhanced'

echo '<abi' >"$WORK/broken.abi"
expect 4 "an interface that cannot be read" packaging/abi.sh "$WORK/broken.abi"
expect 4 "none" packaging/abi.sh "$WORK/absent.abi"
finish
