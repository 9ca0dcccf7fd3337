#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The manual pages: no word against them from mandoc and groff, all that --help says is in them, the functions that they
# name exist and the example compiles.
# shellcheck disable=SC2154 # set by the files that are sourced
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
pages=("$B"/man/*.[1-8])
holds "warpcheck.1, iwarp-peer.1 and libiwarp.3 are there" \
	test "$(basename -a "${pages[@]}" | paste -sd' ')" = 'iwarp-peer.1 libiwarp.3 warpcheck.1'

# A page as one line of words: how it was broken, indented and drawn out is no difference.
words() { sed -e 's/.\x08//g' | tr -s '[:space:]' ' '; }
for page in "${pages[@]}"; do
	name=$(basename "$page")
	# Pages that are not installed here may be named.
	mandoc -T lint -W style "$page" >"$WORK/lint" 2>&1 || true
	holds "$name: mandoc has nothing to say" \
		test -z "$(grep -F "$page:" "$WORK/lint" | grep -v 'referenced manual not found')"
	LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" >"$WORK/drawn" 2>"$WORK/complaints" || true
	holds "$name: neither has groff" test -s "$WORK/drawn" -a ! -s "$WORK/complaints"
	mandoc -T ascii -O width=400 "$page" | words >"$WORK/$name.words"
done

# said PAGE TEXT...: each text, word for word
said() {
	local page=$1 text missing=
	shift
	for text in "$@"; do grep -qF -- "$text" "$WORK/$page.words" || missing="$text"; done
	holds "${page%.*}${command:+ $command}: all of its help${missing:+, but not: $missing}" test -z "$missing"
}
# What a help says, in another way than tools/manual.c reads it: each line's column of names, and each line's meaning.
pieces() {
	sed -E '/^usage: /d; /^       warpcheck /d; s/^ +//; /^$/d; s/  +/\n/' | grep -v '^$'
}
command=''
for command in $("$WARPCHECK" --help | sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p'); do
	mapfile -t texts < <("$WARPCHECK" "$command" --help | pieces)
	said warpcheck.1 "${texts[@]}"
	mapfile -t texts < <("$WARPCHECK" "$command" --help | sed -nE 's/^(usage: |       warpcheck )[^ ]+ //p')
	said warpcheck.1 "${texts[@]}"
	holds "it has a section" grep -qx ".Ss $command" "$B/man/warpcheck.1"
done
command=''
mapfile -t texts < <("$WARPCHECK" --help | sed -nE 's/^  ([a-z][a-z-]*) +/\1 /p')
said warpcheck.1 "${texts[@]}"
mapfile -t texts < <("$IWARP_PEER" --help | pieces)
holds "iwarp-peer's help is of 30 pieces or more" test "${#texts[@]}" -ge 30
said iwarp-peer.1 "${texts[@]}"

# And the other way round: a page names no option that no help names.
{
	for command in $("$WARPCHECK" --help | sed -nE 's/^  ([a-z][a-z-]*) +.*/\1/p'); do "$WARPCHECK" "$command" --help; done
	"$WARPCHECK" --help
} >"$WORK/helps"
unknown=
for option in $(grep -oE -- '--[a-z][a-z0-9-]+' "$WORK/warpcheck.1.words" "$WORK/iwarp-peer.1.words" | cut -d: -f2 | sort -u); do
	grep -qE -- "(^|[^a-z-])$option\b" "$WORK/helps" || unknown+=" $option"
done
holds "no page has an option of its own${unknown:+:$unknown}" test -z "$unknown"
for name in $(sed -nE 's/^ *warpcheck ([a-z][a-z-]*).*/\1/p' docs/man/warpcheck.1.in | sort -u); do
	holds "the example's command $name exists" grep -qE "^  $name  " "$WORK/helps"
done
for status in 0 1 2 3 4 5; do
	holds "exit status $status is told" grep -qx ".It $status" "$B/man/warpcheck.1"
done

# The library's page.
missing=
for function in $(grep -oE '\bFn [a-z_]+' docs/man/libiwarp.3 | cut -d' ' -f2 | sort -u); do
	grep -qE "\b$function\(" reference-stack/include/iwarp/*.h || missing+=" $function"
done
holds "each function that libiwarp(3) names exists${missing:+, but not$missing}" test -z "$missing"
missing=
for function in $(grep -oE '^[a-z].*\biwarp_[a-z_]+\(' reference-stack/include/iwarp/verbs.h | grep -oE 'iwarp_[a-z_]+\($' | tr -d '(' | sort -u); do
	grep -qw "$function" docs/man/libiwarp.3 || missing+=" $function"
done
holds "and it names each of verbs.h${missing:+, but not$missing}" test -z "$missing"
sed -n '/^\.Bd/,/^\.Ed/p' docs/man/libiwarp.3 | sed -e '/^\.[BE]d/d' -e 's/\\e/\\/g' >"$WORK/example.c"
holds "its example compiles" "${cc[@]}" -std=gnu17 -Wall -Wextra -Werror -Ireference-stack/include -I. -c -o "$WORK/example.o" "$WORK/example.c"

# Whatever a help says stays what it is: examples, quotes, backslashes, what looks like markup.
cat >"$WORK/fake" <<'FAKE'
#!/bin/sh
[ "$1" = --help ] && echo 'usage: fake COMMAND' && echo && exec echo '  gen  makes'
cat <<'HELP'
usage: fake gen SCRIPT
  Makes frames. A \fBbackslash stays.
    fake gen --hex -e 'rdmap.send { data = "hello" }' | tshark -r -
  --hex, --c   --format hex, --format c
               .Pp is no macro
  .Sh neither  'nor this' "one"
HELP
FAKE
chmod +x "$WORK/fake"
printf '.Dd November 22, 2026\n.Dt FAKE 1\n.Os\n.Sh NAME\n.Nm fake\n.Nd test\n.Sh COMMANDS\n@details@\n' >"$WORK/template"
expect 0 "a page of a strange help" "$B/tools/manual" "$WORK/template" "$WORK/fake"
mandoc -T ascii -O width=400 "$WORK/stdout" | words >"$WORK/fake.1.words"
mapfile -t texts < <("$WORK/fake" gen --help | pieces)
said fake.1 "${texts[@]}"

# The generator refuses what it would otherwise put into a page wrongly.
printf '@nonsense@\n' >"$WORK/template"
expect 1 "a template with an unknown line" "$B/tools/manual" "$WORK/template" "$WARPCHECK"
complains 'nonsense|none of @commands@'
expect 1 "a program that has no help" "$B/tools/manual" docs/man/warpcheck.1.in /bin/false
complains '/bin/false --help'
finish
