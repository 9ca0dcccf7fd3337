#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/outcomes.sh accepts this tree; it rejects a table of outcomes without a row that has a choice, with a name that does not exist,
# without a reason, and a variant that shows no outcome.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

expect 0 "this tree" tools/outcomes.sh
says '^0 wrong; [0-9]{3} rows with a choice, [0-9]{3,} outcomes$'

tree=$WORK/tree
mkdir "$tree"
cp --parents -t "$tree" conformance/requirements/*.tsv reference-stack/defects/*.tsv reference-stack/peer/*.[ch]
expect 0 "a copy of it" tools/outcomes.sh "$tree"

# rejects FILE SED PATTERN: the copy whose FILE the sed script changed is rejected for this reason; the file then comes back.
rejects() {
	cp "$tree/$1" "$WORK/kept"
	sed -E "$2" "$WORK/kept" >"$tree/$1"
	if cmp -s "$tree/$1" "$WORK/kept"; then
		echo "$2 changes nothing in $1" >&2
		exit 1
	fi
	expect 1 "$1 after $2" tools/outcomes.sh "$tree"
	says "$3"
	cp "$WORK/kept" "$tree/$1"
}
table=reference-stack/defects/outcomes.tsv
rejects "$table" '/^MPA-4.3-22\t/d' '^MPA-4.3-22 allows several outcomes, and outcomes.tsv has no line of it$'
rejects "$table" 's/\tmarker-at-once$/\tmarker-never/' "^$table:[0-9]+: there is no variant marker-never$"
rejects "$table" 's/\tmarker-at-once$/\t/' "^$table:[0-9]+: no name follows \"variant\"$"
rejects "$table" 's/\tmarker-at-once$/\tsegments-512/' "^$table:[0-9]+: the variant segments-512 names none of MPA-4.3-22$"
rejects "$table" '/\tsegments-cut$/d' '^the variant segments-cut is shown for no outcome$'
rejects "$table" 's/\t--streaming$/\t--no-streaming/' "^$table:[0-9]+: there is no option --no-streaming$"
rejects "$table" 's/^(MPA-6-07\t.*\tunseen\t).*/\1/' "^$table:[0-9]+: a reason is wanted, in a sentence$"
rejects "$table" 's/^(MPA-6-07\t.*\tunseen\t).*/\1later/' "^$table:[0-9]+: a reason is wanted, in a sentence$"
rejects "$table" 's/^(MPA-6-07\t.*\t)default\t/\1somehow\t/' "^$table:[0-9]+: \"somehow\" is no way to show an outcome$"
rejects "$table" 's/^MPA-6-07\t/MPA-6-99\t/' "^$table:[0-9]+: there is no requirement MPA-6-99$"
rejects "$table" 's/^MPA-5.1-05\t.*/&\n&/' "^$table:[0-9]+: MPA-5.1-05 has this outcome a second time$"
rejects "$table" 's/^(MPA-5.1-05\t[^\t]*)\t.*/\1/' "^$table:[0-9]+: four fields are wanted, not 2$"
# What becomes free, or a new variant, needs a line.
rejects conformance/requirements/mpa.tsv 's/^(MPA-3-01\t[^\t]*\t[^\t]*\t)[^\t]*/\1MAY/' '^MPA-3-01 allows several outcomes'
# shellcheck disable=SC2016 # the $ is sed's
rejects reference-stack/defects/variants.tsv '$s/$/\nnew-one\tMPA-4.3-22\t-\tbehaviour\tmarker-at-once\ton/' '^the variant new-one is shown for no outcome$'
