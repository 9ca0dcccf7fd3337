#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/test-names.sh accepts this tree; it rejects a unit test whose name is shorter than three words, one whose name another test has, and a
# page that cites a test which is not there.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/test-names.sh
says '^0 wrong; [0-9]+ tests$'

tree=$WORK/tree
mkdir -p "$tree"/{docs,tests/unit/wire}
expect 1 "no test at all" tools/test-names.sh "$tree"
says '^0 wrong; 0 tests$'
echo 'START_TEST(cut_header_asks_for_more)' >"$tree/tests/unit/wire/test_flow_one.c"
# shellcheck disable=SC2016 # a page's marks
echo 'Held by `flow_one` cut_header_asks_for_more.' >"$tree/docs/what-is-judged.md"
expect 0 "one test, and a page that cites it" tools/test-names.sh "$tree"
for name in headers cut_headers; do
	printf '\nSTART_TEST(%s)\n' "$name" >"$tree/tests/unit/wire/test_two.c"
	expect 1 "$name" tools/test-names.sh "$tree"
	says "^tests/unit/wire/test_two.c:2: $name: a sentence of at least three words was expected$"
	says '^1 wrong; 2 tests$'
done
echo 'START_TEST(cut_header_asks_for_more)' >"$tree/tests/unit/wire/test_two.c"
expect 1 "a name that occurs twice" tools/test-names.sh "$tree"
says '^tests/unit/wire/test_two.c:1: cut_header_asks_for_more: so is tests/unit/wire/test_flow_one.c:1 called$'
rm "$tree/tests/unit/wire/test_two.c"
sed -i 's/more/less/' "$tree/docs/what-is-judged.md"
expect 1 "a cited test that is not there" tools/test-names.sh "$tree"
says '^docs/what-is-judged.md:1: flow_one has no test cut_header_asks_for_less$'
finish
