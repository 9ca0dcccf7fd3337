#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipes of CONTRIBUTING.md hold: each is followed in a copy of the tree, and the files that this touches, as `git diff --stat`
# has them, stand below the paths that the recipe names. All are followed first; then the tree is built, once; then what each
# recipe promises is there.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tools/folders.bash
source tools/folders.bash
command -v git >"$WORK/program" || { echo "no git"; exit 77; }
read -ra folders < <(room_folders)

tree=$WORK/tree
mkdir -p "$tree/build"
cp -pr "${folders[@]}" tests tools mk packaging docs pcaps Makefile ./*.md LICENSE .clang-format "$tree"
# What is built is built: only what a recipe changes is made again. For that the flags have to be those of this tree, one of which
# names its folder (the other ones, and the compiler, come from the environment in both).
root=$PWD
for part in obj gen tools lists flags.stamp libwarpcheck.a libpeer.a libdefects.a libiwarp.a warpcheck iwarp-peer unit-tests; do
	[ ! -e "$B/$part" ] || cp -a "$B/$part" "$tree/build"
done
cd "$tree" || exit
printf 'build\n' >.gitignore
git=(git -c init.defaultBranch=main -c user.name=recipes -c user.email=recipes@localhost)
"${git[@]}" init -q .
"${git[@]}" add -A
"${git[@]}" commit -qm "the tree"
built() {
	env -u MAKEFLAGS -u MAKELEVEL -u B make -s -j"${JOBS:-$(nproc)}" place_flags="-ffile-prefix-map=$root=." "${@/#/build/}" >"$WORK/said" 2>&1 ||
		{ tail -n 5 "$WORK/said"; return 1; }
}

# touched NAME: what has changed since the last recipe stands below the paths that the recipe **NAME** of CONTRIBUTING.md names, up to the next one.
touched() {
	local changed paths path file fits
	changed=$("${git[@]}" add -AN && "${git[@]}" diff --stat=500 --stat-name-width=400 | sed -n 's/^ \([^|]*[^ |]\) *|.*/\1/p')
	# shellcheck disable=SC2016 # backticks of Markdown
	paths=$(awk -v name="**$1**" 'on && /^(\*\*|## )/ { exit } index($0, name) == 1 { on = 1 } on' CONTRIBUTING.md | grep -oE '`[A-Za-z_-]+/[^`]*`' | tr -d '`')
	checked=$((checked + 1))
	if [ -z "$changed" ] || [ -z "$paths" ]; then wrong "$1: no file is changed, or no path is named"; fi
	while IFS= read -r file; do
		fits=
		while IFS= read -r path; do
			path=${path%%<*}
			[[ $file != "${path%/}" && $file != "${path%/}"/* && ($path != *[a-z_-] || $file != "$path"*) ]] || fits=1
		done <<<"$paths"
		[ -n "$fits" ] || wrong "$1: $file is changed, and the recipe does not name it" "it names: ${paths//$'\n'/ }"
	done <<<"$changed"
	echo "ok    $1: $(paste -sd' ' <<<"$changed")"
	"${git[@]}" add -A
}

echo "== followed"

# A requirement: one row, and the reason why no defect breaks it. Ids are never used again: this one is beyond all that are.
row=$(grep -P '^MPA-7\.1-01\t' conformance/requirements/mpa.tsv)
sed -i "/^MPA-7\.1-01\t/i MPA-7.1-99\t${row#*$'\t'}" conformance/requirements/mpa.tsv
sed -i '/^# mpa$/a MPA-7.1-99\ttolerance: this row is of a test' reference-stack/defects/defects-none.tsv
touched "a requirement"

expect 0 "warpcheck new-check" "$WARPCHECK" new-check MPA-7.1-01 --anyway -o conformance/scripts/mpa/7.1-recipe.lua
touched "a check"

printf 'recipe-key-unchecked\tMPA-7.1.1-02,MPA-7.1.2-04,MPA-8-04\tvalidate\trequest-key\toff\n' >>reference-stack/defects/defects.tsv
touched "a defect"

sed -i '/^reply-crc-always\t/{p;s/^reply-crc-always/recipe-crc/}' reference-stack/defects/variants.tsv
sed -i '/^reply-crc-always\t/s/$/,recipe-crc/' reference-stack/defects/choices.tsv
touched "a legal variant"

sed -i 's|^    {"  --quiet  .*|    {"  --recipe           tries a recipe\\n", OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},\n&|' \
	conformance/engine/run/run_options.c
touched "an option"

cat >tests/unit/wire/test_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include <check.h>

Suite *recipe_suite(void);

START_TEST(one_is_one)
{
    ck_assert_int_eq(1, 1);
}
END_TEST

Suite *recipe_suite(void)
{
    Suite *suite = suite_create("recipe");
    TCase *tcase = tcase_create("core");

    tcase_add_test(tcase, one_is_one);
    suite_add_tcase(suite, tcase);
    return suite;
}
END
touched "a unit test"

cat >>conformance/scripts/lib/9-lengths.lua <<'END'

function Test:recipe()
  return "recipe"
end
END
sed -i 's/^| `t:over_sctp()`/| `t:recipe()` | the word "recipe" |\n&/' docs/script-library.md
touched "a function of the script library"

# A rule for a row that has none: it judges what it is given.
id=$("$WARPCHECK" list --format jsonl 'DDP-4.*' | jq -r 'select(.rule == null and .observability == "passive").id' | sed -n 1p)
sed -i "s/^#define RULE_LIST_DDP(R) .*/&\n    R(ddp,          \"$id\",    recipe_rule,                   ON_DDP,               OP_ANY, ANY,       FAIL) \\\\/" conformance/rules/rule_list.h
printf '\n/* A recipe. */\nvoid recipe_rule(struct rule_context *ctx)\n{\n    rule_pass(ctx);\n}\n' >>conformance/rules/ddp_rules.c
touched "a rule"

mkdir -p tests/fuzz/corpus/recipe
printf 'seed' >tests/fuzz/corpus/recipe/seed
cat >tests/fuzz/fuzz_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FUZZ_HOLDS(size == 0 || data != NULL);
    return 0;
}
END
touched "a fuzz target"

cat >tests/bench/bench_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include <stdio.h>

int main(void)
{
    return puts("1.0") < 0;
}
END
touched "a benchmark"

cat >tests/e2e/recipe.sh <<'END'
#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A recipe.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
expect 0 "the version" "$WARPCHECK" --version
finish
END
chmod +x tests/e2e/recipe.sh
touched "an end-to-end test"

# A layer below DDP: its room uses core/, and nothing of core/ changes.
mkdir reference-stack/recipe
cat >reference-stack/recipe/recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include "reference-stack/core/llp.h"

extern const struct llp_ops recipe_ops;

const struct llp_ops recipe_ops = {.state_octets = 8};
END
sed -i -E 's#^reference-stack/mpa( .*)#&\nreference-stack/recipe\1#' tools/rooms.list
touched "a layer below DDP"

# A command; its message on stderr shows a word of the caller's, and it forgets that an allocation may fail.
mkdir conformance/engine/recipe
cat >conformance/engine/recipe/cmd_recipe.h <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#ifndef CONFORMANCE_ENGINE_CMD_RECIPE_H
#define CONFORMANCE_ENGINE_CMD_RECIPE_H

int cmd_recipe(int argc, char **argv);

#endif
END
cat >conformance/engine/recipe/cmd_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include "conformance/engine/recipe/cmd_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exit_status.h"
#include "reference-stack/program/complaint.h"

int cmd_recipe(int argc, char **argv)
{
    char *text;

    if (argc > 1)
        return complain(EXIT_USAGE, "no argument was expected; %.60s is one", argv[1]);
    text = strdup("a recipe");
    if (text != NULL)
        puts(text);
    free(text);
    return EXIT_DONE;
}
END
sed -i 's|^    {"complete", cmd_complete,.*|    {"recipe", cmd_recipe, "tries a recipe"},\n&|; s|^#include "conformance/engine/run/cmd_run.h"|#include "conformance/engine/recipe/cmd_recipe.h"\n&|' conformance/engine/main.c
sed -i -E 's#^conformance/engine  +(.*)#conformance/engine/recipe base reference-stack/program\n& conformance/engine/recipe#' tools/rooms.list
touched "a command"

sed -i 's|^    {CONFINE_ALLOWED, 0, "random numbers|    {CONFINE_ALLOWED, 0, "a recipe", "vmsplice"},\n&|' reference-stack/program/confine_calls.c
touched "a system call"

sed -i "s/^bench='/&no-such-package-recipe /" tools/deps.sh
touched "a package"

cat >>generator/corpus/2-more.lua <<'END'

capture {
  name = "recipe", about = "a recipe",
  run = function()
    local t = talk {}
    t:handshake()
    t.i:put(mpa.request {})
    t.r:put(mpa.reply {})
    t.i:flush()
    t.r:flush()
    t.i:send(send(31))
    t:finish()
  end,
}
END

echo "== built"
holds "all of it is built" built warpcheck unit-tests replay/recipe bench/bench_recipe obj/reference-stack/recipe/recipe.o
expect 0 "a capture: it is made, and the others as before" build/warpcheck gen --corpus pcaps --only 'generated/*' --force
touched "a capture"

echo "== what they promise"
expect 0 "no test counts rows by a number of its own" build/unit-tests catalogue select defect_rows
expect 0 "a requirement: warpcheck explain" build/warpcheck explain MPA-7.1-99
says 'none yet'
expect 4 "a check is inconclusive until it is filled in" build/warpcheck run --simulate --script conformance/scripts/mpa/7.1-recipe.lua
says '^INCONCLUSIVE +MPA-7\.1-01'
expect 0 "a defect: the checks kill it" build/warpcheck prove recipe-key-unchecked
says '^killed +recipe-key-unchecked'
expect 0 "a legal variant: the checks leave it alone" build/warpcheck prove --variants recipe-crc
says '^legal +recipe-crc'
expect 0 "an option: the help has it" build/warpcheck run --help
says '^  --recipe +tries a recipe$'
expect 0 "it is read" build/warpcheck run --simulate --recipe --dry-run MPA-7.1-02
expect 0 "completion offers it" build/warpcheck complete -- warpcheck run --reci
says '^--recipe'
expect 0 "a unit test is found" build/unit-tests recipe
says '^100%: Checks: 1, '
cat >"$WORK/own.lua" <<'END'
check {
  id = "own-recipe", purpose = "the function is there", role = "responder",
  run = function(t)
    assert(t:recipe() == "recipe")
    t:open():probe()
  end,
}
END
expect 0 "a function of the script library: a check reaches it" build/warpcheck run --simulate --script "$WORK/own.lua"
holds "the page's definitions for editors have it" grep -q '^function test:recipe()' <(tools/script-meta.pl <docs/script-library.md)
expect 0 "a rule for $id is listed" build/warpcheck list --rules "$id"
says recipe_rule
expect 0 "it judges captures" build/warpcheck audit "$id" pcaps/generated/long-sends.pcap --all
says "^PASS +$id"
expect 0 "a fuzz target: its seeds are replayed" build/replay/recipe tests/fuzz/corpus/recipe
expect 0 "a capture has the findings that it declares: none" build/warpcheck audit pcaps/generated/recipe.pcap
expect 0 "a benchmark runs" build/bench/bench_recipe
expect 0 "an end-to-end test runs" env -u WORK B="$tree/build" WARPCHECK="$tree/build/warpcheck" tests/e2e/recipe.sh
says '^1 checked, 0 wrong$'
expect 0 "the rooms of a layer and of a command are rooms" tools/arrows.sh
expect 0 "a command is listed" build/warpcheck --help
says '^  recipe +tries a recipe$'
expect 0 "it runs" build/warpcheck recipe
says '^a recipe$'
expect 2 "a misspelt one is recognised" build/warpcheck recipy
complains 'recipe'
expect 2 "a message on stderr is cleaned" build/warpcheck recipe $'\e[31mred'
holds "no escape is left in it" test -z "$(tr -dc '\033' <"$WORK/stderr")"
# chaos.so makes the N-th allocation fail; the command alone would not notice.
failed=0
for at in 1 2 3 4 5 6 7 8; do
	expect "0 4" "an allocation that fails, number $at" env LD_PRELOAD="$B/chaos.so" CHAOS_CLASS=memory CHAOS_AT=$at CHAOS_DO=fail \
		CHAOS_COUNT="$WORK/count" build/warpcheck recipe
	holds "without its output it is no success" test -s "$WORK/stderr" -o "$(cat "$WORK/stdout")" = "a recipe"
	[ ! -s "$WORK/stderr" ] || failed=1
done
holds "one that is needed has failed" test "$failed" -eq 1
expect 0 "a system call: each has one row" build/unit-tests confine_calls

# What apt-get would be asked for.
mkdir "$WORK/stubs"
for stub in apt-get sudo; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\n' "$stub" "$WORK" >"$WORK/stubs/$stub"
	chmod +x "$WORK/stubs/$stub"
done
expect 0 "a package: its group is asked for" env PATH="$WORK/stubs:$PATH" tools/deps.sh bench
holds "apt-get would install it" grep -q 'install.* no-such-package-recipe' "$WORK/asked"

# A tester of another lower layer: its member changes struct rig, which many files include, so that these alone are built.
mkdir generator/recipe
printf '/* SPDX-License-Identifier: BSD-2-Clause */\n/* A recipe. */\nstruct recipe_endpoint {\n    int sent;\n};\n' >generator/recipe/recipe.h
cat >conformance/engine/rig/tester_recipe.h <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#ifndef CONFORMANCE_ENGINE_TESTER_RECIPE_H
#define CONFORMANCE_ENGINE_TESTER_RECIPE_H

#include "conformance/engine/rig/tester.h"
#include "generator/recipe/recipe.h"

struct tester_recipe {
    struct tester tester;
    struct recipe_endpoint endpoint;
};

extern const struct tester_ops tester_recipe_ops;

#endif
END
cat >conformance/engine/rig/tester_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include "conformance/engine/rig/rig.h"

static void input(struct tester *tester, const uint8_t *frame, size_t octets, uint64_t now)
{
    (void)tester, (void)frame, (void)octets, (void)now;
}

static uint64_t deadline(const struct tester *tester)
{
    (void)tester;
    return UINT64_MAX;
}

static void tick(struct tester *tester, uint64_t now)
{
    (void)tester, (void)now;
}

static int measure(struct tester *tester, struct rig *rig, struct tester_exchange *exchange, struct iwarp_sentence *error)
{
    (void)tester, (void)error;
    exchange->round_trip_ns = (uint64_t)rig->recipe.endpoint.sent;
    return 0;
}

const struct tester_ops tester_recipe_ops = {.input = input, .deadline = deadline, .tick = tick, .measure = measure};
END
cat >conformance/engine/script/lua_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include "conformance/engine/script/lua_rig_internal.h"

static int sent(lua_State *lua)
{
    lua_pushinteger(lua, lua_rig_running(lua)->recipe.endpoint.sent);
    return 1;
}

static const luaL_Reg functions[] = {{"recipe_sent", sent}, {NULL, NULL}};

const struct lua_binding lua_recipe = {.functions = functions, .what = "recipe", .several = "recipes"};
END
sed -i 's|^    struct tester_cm cm;|&\n    struct tester_recipe recipe;|; s|^#include "conformance/engine/rig/tester_cm.h"|&\n#include "conformance/engine/rig/tester_recipe.h"|' conformance/engine/rig/rig.h
sed -i 's/&lua_cm}/\&lua_cm, \&lua_recipe}/' conformance/engine/script/lua_rig.c
sed -i 's/^extern const struct lua_binding lua_cm;/&\nextern const struct lua_binding lua_recipe;/' conformance/engine/script/lua_rig_internal.h
touched "a tester of another lower layer"
holds "a tester of another lower layer: it is built" built obj/conformance/engine/rig/tester_recipe.o obj/conformance/engine/script/lua_recipe.o \
	obj/conformance/engine/script/lua_rig.o
finish
