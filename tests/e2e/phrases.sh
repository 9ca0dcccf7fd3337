#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/phrases.sh accepts this tree; it rejects a phrase of the list in a comment of each language and in a page, also where a line
# ends in it, with its file and line. It does not look at strings, code and code blocks. A line of the list without its form is an error.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/phrases.sh
says '^0 wrong; [0-9]+ phrases, [0-9]+ words of names$'

tree=$WORK/tree
mkdir -p "$tree"/{base,conformance,docs,tools}
cp tools/phrases.list tools/names.list "$tree/tools"
echo 'int x; /* NULL: not called */' >"$tree/base/right.c"
expect 0 "a tree without any" tools/phrases.sh "$tree"

# planted FILE LINE TEXT: a tree with this file is rejected because of that line of it, and of no other.
planted() {
	printf '%b' "$3" >"$tree/$1"
	expect 1 "$3" tools/phrases.sh "$tree"
	says "^$1:$2: no wish: write \"not set\""
	says '^1 wrong; '
	rm "$tree/$1"
}
planted base/planted.c 1 'int x; /* NULL: no wish */\n'
planted base/planted.h 3 '/*\n * First.\n * Once: no wish.\n */\n'
planted base/planted.c 2 '/*\n * Where it has no\n * wish, nothing comes.\n */\n'
planted base/planted.c 2 'char quote = \x27"\x27;\n// no wish "\n'
planted conformance/planted.lua 2 'local a = 1\nlocal b = 2 -- no wish\n'
planted conformance/planted.lua 1 '-- where a check has no\n-- wish\n'
planted tools/planted.sh 2 'set -e\n# no wish\n'
planted docs/planted.md 3 '# Title\n\nThere is no wish.\n'
planted README.md 1 'Who has no\nwish.\n'
planted Makefile 2 'all:\n\ttrue # no wish\n'

# named FILE LINE TEXT: a tree with this file is rejected because of a name in that line of it, and of nothing else.
named() {
	printf '%b' "$3" >"$tree/$1"
	expect 1 "$3" tools/phrases.sh "$tree"
	says "^$1:$2: wish: write \"settings\""
	says '^1 wrong; '
	rm "$tree/$1"
}
named base/planted.c 2 '/* A wish. */\nstruct link_wish;\n'
named base/planted.h 3 '/*\n * A wish.\n */ int wish(void);\n'
named conformance/planted.lua 1 'local function t:wish_for() end -- a wish\n'

# passes FILE TEXT: a tree with this file is accepted.
passes() {
	printf '%b' "$2" >"$tree/$1"
	expect 0 "$2" tools/phrases.sh "$tree"
	rm "$tree/$1"
}
passes base/planted.c 'const char *s = "/* no wish */ // no wish"; /* no */ int want;\n'
passes base/planted.c 'const char *s = "\\"/* no wish */";\n'
passes conformance/planted.lua 'local s = "a -- no wish"\n'
passes tools/planted.sh 'echo \x22a # no wish\x22\nno wish\n'
passes base/planted.c 'int wishbone; const char *s = "wish \\" wish", c = \x27"\x27; /* wish\n * wish */ // wish\n'
passes conformance/planted.lua 'local s = "a wish" -- wish\n'
passes docs/planted.md 'A page.\n\n```\nno wish\n```\n'

echo '/* no wish, no wish */' >"$tree/base/planted.c"
expect 0 "the numbers" tools/phrases.sh --count "$tree"
says '^2	.bno wish.b$'
rm "$tree/base/planted.c"

# malformed WHAT TEXT: a list with this line is an error.
malformed() {
	printf '%b' "# A list.\n$2\n" >"$tree/tools/phrases.list"
	expect 2 "$1" tools/phrases.sh "$tree"
	complains '^tools/phrases.list:2: a regular expression, a tab and what to write were expected$'
}
malformed "a line without a tab" 'no wish'
malformed "a line without words" 'no wish\t'
malformed "a line without an expression" '\tnot set'
malformed "a line with a second tab" 'no wish\tnot set\tnot called'
malformed "an expression that is none" 'no (wish\tnot set'
finish
