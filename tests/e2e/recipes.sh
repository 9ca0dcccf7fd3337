#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipes of CONTRIBUTING.md hold: each is followed in a copy of the tree, and the files that this touches, as `git diff --stat`
# has them, stand below the paths that the recipe names. What it promises then is there.
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
# What is built is built: only what a recipe changes is made again.
for part in obj gen tools lists flags.stamp libwarpcheck.a libpeer.a libdefects.a libiwarp.a warpcheck iwarp-peer unit-tests; do
	[ ! -e "$B/$part" ] || cp -a "$B/$part" "$tree/build"
done
cd "$tree" || exit
printf 'build\n' >.gitignore
git=(git -c init.defaultBranch=main -c user.name=recipes -c user.email=recipes@localhost)
"${git[@]}" init -q .
"${git[@]}" add -A
"${git[@]}" commit -qm "the tree"
built() { env -u MAKEFLAGS -u MAKELEVEL -u B make -s -j"$(nproc)" build/"$1" >"$WORK/said" 2>&1 || { tail -n 5 "$WORK/said"; return 1; }; }

# touched NAME: the changed files stand below the paths that the recipe **NAME** of CONTRIBUTING.md names, up to the next one; then all is as it was.
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
	"${git[@]}" reset -q --hard
	"${git[@]}" clean -qfd
}

# A requirement: one row, and the reason why no defect breaks it. Ids are never used again: this one is beyond all that are.
row=$(grep -P '^MPA-7\.1-01\t' conformance/requirements/mpa.tsv)
sed -i "/^MPA-7\.1-01\t/i MPA-7.1-99\t${row#*$'\t'}" conformance/requirements/mpa.tsv
sed -i '/^# mpa$/a MPA-7.1-99\ttolerance: this row is of a test' reference-stack/defects/defects-none.tsv
holds "a requirement: it is built" built warpcheck
holds "its tests are built" built unit-tests
expect 0 "no test counts rows by a number of its own" build/unit-tests catalogue select defect_rows
expect 0 "warpcheck explain" build/warpcheck explain MPA-7.1-99
says 'none yet'
touched "a requirement"

expect 0 "warpcheck new-check" build/warpcheck new-check MPA-7.1-99 -o conformance/scripts/mpa/7.1-recipe.lua
holds "a check: it is built" built warpcheck
expect 4 "it is inconclusive until it is filled in" build/warpcheck run --simulate MPA-7.1-99
says '^INCONCLUSIVE +MPA-7\.1-99'
touched "a check"

printf 'recipe-key-unchecked\tMPA-7.1.1-02,MPA-7.1.2-04,MPA-8-04\tvalidate\trequest-key\toff\n' >>reference-stack/defects/defects.tsv
holds "a defect: it is built" built warpcheck
expect 0 "the checks kill it" build/warpcheck prove recipe-key-unchecked
says '^killed +recipe-key-unchecked'
touched "a defect"

sed -i '/^reply-crc-always\t/{p;s/^reply-crc-always/recipe-crc/}' reference-stack/defects/variants.tsv
holds "a legal variant: it is built" built warpcheck
expect 0 "the checks leave it alone" build/warpcheck prove --variants recipe-crc
says '^legal +recipe-crc'
touched "a legal variant"

sed -i 's|^    {"  --quiet  .*|    {"  --recipe           tries a recipe\\n", OPTION_SHOWS, OPTION_FLAG, .member = MEMBER(quiet)},\n&|' \
	conformance/engine/run/run_options.c
holds "an option: it is built" built warpcheck
expect 0 "the help has it" build/warpcheck run --help
says '^  --recipe +tries a recipe$'
expect 0 "it is read" build/warpcheck run --simulate --recipe --dry-run MPA-7.1-01
expect 0 "completion offers it" build/warpcheck complete -- warpcheck run --reci
says '^--recipe'
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
holds "a unit test: it is built" built unit-tests
expect 0 "it is found" build/unit-tests recipe
says '^100%: Checks: 1, '
touched "a unit test"

cat >>conformance/scripts/lib/9-lengths.lua <<'END'

function Test:recipe()
  return "recipe"
end
END
sed -i 's/^| `t:over_sctp()`/| `t:recipe()` | the word "recipe" |\n&/' docs/script-library.md
holds "a function of the script library: it is built" built warpcheck
cat >"$WORK/own.lua" <<'END'
check {
  id = "own-recipe", purpose = "the function is there", role = "responder",
  run = function(t)
    assert(t:recipe() == "recipe")
    t:open():probe()
  end,
}
END
expect 0 "a check reaches it" build/warpcheck run --simulate --script "$WORK/own.lua"
holds "the page's definitions for editors have it" grep -q '^function test:recipe()' <(tools/script-meta.pl <docs/script-library.md)
touched "a function of the script library"

# A rule for a row that has none: it judges what it is given.
id=$(build/warpcheck list --format jsonl 'DDP-4.*' | jq -r 'select(.rule == null and .observability == "passive").id' | sed -n 1p)
sed -i "s/^#define RULE_LIST_DDP(R) .*/&\n    R(ddp,          \"$id\",    recipe_rule,                   ON_DDP,               OP_ANY, ANY,       FAIL) \\\\/" conformance/rules/rule_list.h
printf '\n/* A recipe. */\nvoid recipe_rule(struct rule_context *ctx)\n{\n    rule_pass(ctx);\n}\n' >>conformance/rules/ddp_rules.c
holds "a rule for $id: it is built" built warpcheck
expect 0 "it is listed" build/warpcheck list --rules "$id"
says recipe_rule
expect 0 "it judges captures" build/warpcheck audit "$id" pcaps/generated/long-sends.pcap --all
says "^PASS +$id"
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
holds "a fuzz target: it is built" built replay/recipe
expect 0 "its seeds are replayed" build/replay/recipe tests/fuzz/corpus/recipe
touched "a fuzz target"

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
holds "a capture: it is built" built warpcheck
expect 0 "it is made, and the others as before" build/warpcheck gen --corpus pcaps --only 'generated/*' --force
expect 0 "it has the findings that it declares: none" build/warpcheck audit pcaps/generated/recipe.pcap
touched "a capture"

cat >tests/bench/bench_recipe.c <<'END'
/* SPDX-License-Identifier: BSD-2-Clause */
/* A recipe. */
#include <stdio.h>

int main(void)
{
    return puts("1.0") < 0;
}
END
holds "a benchmark: it is built" built bench/bench_recipe
expect 0 "it runs" build/bench/bench_recipe
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
expect 0 "an end-to-end test runs" env -u WORK B="$tree/build" WARPCHECK="$tree/build/warpcheck" tests/e2e/recipe.sh
says '^1 checked, 0 wrong$'
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
expect 0 "a layer below DDP: its room is one" tools/arrows.sh
holds "it is built" built obj/reference-stack/recipe/recipe.o
touched "a layer below DDP"
finish
