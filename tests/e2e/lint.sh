#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/lint.sh remembers by content what is clean: a file is looked at again when it, a header of it, or the options have changed,
# and never forgotten while it has a finding. Linters that note their files stand in for the real ones.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
command -v clang >/dev/null || { echo "clang is not installed"; exit 77; }

unset T FAST SHALLOW STEPS PART LINT_WHOLE CLANG_FLAGS # the test's own

tree=$WORK/tree
mkdir -p "$tree/tools" "$WORK/bin"
# shellcheck source=tools/folders.bash
source tools/folders.bash
read -ra folders < <(room_folders)
cp tools/{lint.sh,lint-memory.pl,cppcheck.cfg,folders.bash,rooms.list} "$tree/tools"
cp .clang-tidy .clang-format "$tree"
(cd "$tree" && mkdir "${folders[@]}" tests)
printf '#include "wire/inner.h"\n' >"$tree/wire/outer.h"
printf '#define INNER 1\n' >"$tree/wire/inner.h"
printf '#include "wire/outer.h"\nint a(void);\nint a(void) { return INNER; }\n' >"$tree/wire/a.c"
printf 'int b(void);\nint b(void) { return 1; }\n' >"$tree/wire/b.c"
for linter in clang-tidy cppcheck clang-format shellcheck; do
	cat >"$WORK/bin/$linter" <<'SH'
#!/usr/bin/env bash
[ "$1" != --version ] || { echo "version ${VERSION:-14}"; exit 0; }
status=0
for file in "$@"; do
	[ "$file" != -- ] || break
	[ -f "$file" ] || continue
	echo "$file" >>"$SEEN"
	! grep -n BAD "$file" || status=1
done
exit "$status"
SH
	chmod +x "$WORK/bin/$linter"
done

# lint STATUS WHAT FILES [VARIABLE=VALUE...]: runs it, and these files are looked at, each by so many of the linters.
lint() {
	local files=$3
	: >"$WORK/seen"
	touch -d '1 minute ago' "$tree"/*/*.[ch] # what was changed while it was looked at is not remembered
	expect "$1" "$2" env PATH="$WORK/bin:$PATH" SEEN="$WORK/seen" B="$WORK/build" STEPS="clang-format cppcheck clang-tidy" JOBS=2 "${@:4}" "$tree/tools/lint.sh"
	holds "looks at: $files" test "$(sort "$WORK/seen" | uniq -c | awk '{ print $1 " " $2 }' | paste -sd' ')" = "$files"
}

lint 0 "nothing is remembered" "3 wire/a.c 3 wire/b.c 1 wire/inner.h 1 wire/outer.h"
lint 0 "all is" ""
lint 0 "but it is told to look at all" "3 wire/a.c 3 wire/b.c 1 wire/inner.h 1 wire/outer.h" LINT_WHOLE=1
printf '#define INNER 2\n' >"$tree/wire/inner.h"
lint 0 "a header was changed, which another includes" "2 wire/a.c 1 wire/inner.h"
lint 0 "all is remembered again" ""
printf '#include "wire/inner.h"\nint b(void);\nint b(void) { return INNER; }\n' >"$tree/wire/b.c"
lint 0 "a file was changed, and includes a header now" "3 wire/b.c"
printf '#define INNER 3\n' >"$tree/wire/inner.h"
lint 0 "that header was changed" "2 wire/a.c 2 wire/b.c 1 wire/inner.h"
lint 0 "another option of the compiler" "1 wire/a.c 1 wire/b.c" CLANG_FLAGS='-std=gnu17 -I. -DOTHER'
lint 0 "and back" "1 wire/a.c 1 wire/b.c"
lint 0 "another version of the linters" "3 wire/a.c 3 wire/b.c 1 wire/inner.h 1 wire/outer.h" VERSION=14.1
lint 0 "a version that does not judge the tree" "1 wire/a.c 1 wire/b.c" VERSION=19
says 'clang-tidy 19: the tree is judged by version 14'
lint 0 "unless it is asked to" "2 wire/a.c 2 wire/b.c 1 wire/inner.h 1 wire/outer.h" VERSION=19 LINT_ANY=1
lint 0 "and back" "3 wire/a.c 3 wire/b.c 1 wire/inner.h 1 wire/outer.h" LINT_WHOLE=1 VERSION=14.1
printf 'int b(void); /* BAD */\nint b(void) { return 1; }\n' >"$tree/wire/b.c"
lint 1 "a finding" "3 wire/b.c" VERSION=14.1
says '^lint: found something: \[clang-format\] \[cppcheck\] \[clang-tidy\]$'
says 'BAD'
lint 1 "is one as long as it is there" "3 wire/b.c" VERSION=14.1
rm "$tree/wire/outer.h"
sed -i 1d "$tree/wire/a.c" && sed -i 's/INNER/1/' "$tree/wire/a.c"
lint 1 "a header is gone" "3 wire/a.c 3 wire/b.c" VERSION=14.1

echo "== parts"
printf 'int b(void);\nint b(void) { return 1; }\n' >"$tree/wire/b.c"
for part in 1/2 2/2; do
	expect 0 "part $part" env PATH="$WORK/bin:$PATH" SEEN="$WORK/seen.${part%/*}" B="$WORK/other" STEPS=clang-tidy PART="$part" "$tree/tools/lint.sh"
done
holds "have no file in common" test -z "$(comm -12 <(sort "$WORK/seen.1") <(sort "$WORK/seen.2"))"
holds "and are all of them" test "$(sort "$WORK/seen.1" "$WORK/seen.2" | paste -sd' ')" = "wire/a.c wire/b.c"

echo "== wrong words"
expect 2 "a part that is none" env PART=3/2 tools/lint.sh
complains "PART='3/2': I/N was expected"
expect 2 "a step that is none" env STEPS=clang tools/lint.sh
complains "there is no step 'clang'"
expect 2 "a folder that is none" env T=wires tools/lint.sh
complains "'wires' is no folder"
finish
