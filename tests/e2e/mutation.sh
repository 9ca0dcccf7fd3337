#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A few faults that a seed puts into judges and into the stack (tools/mutation.pl): what tries their room sees each, or
# tests/mutation/survivors.tsv has a sentence. `make mutation` tries as many as one likes.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
for part in unit-tests mutation.commands tools/lua-syntax; do
	[ -e "$B/$part" ] || { echo "$B/$part is not built: make check and make mutation build it"; exit 77; }
done
export B
mutation() { expect "$1" "$2" tools/mutation.pl -j "${JOBS:-1}" -o "$WORK/mutation" "${@:3}"; }

echo "== the tables"
mutation 0 "each room has its suites, each sentence its mutant" -t
mutation 0 "each row of survivors, and no more" -l -n 0 -w 'return one < other ? one : other;' rules-sctp
says 'return one <= other [?] one : other;$'

echo "== a sample"
mutation 0 "of rules" -n 2 rules-sctp rules-cm
says '^rules-sctp 100.0 of 100 '
mutation 0 "of the stack and of checks" -n 2 stack-cm scripts-cm
says '^stack-cm 100.0 of 100 '
holds "the page has a row for each room" grep -q '^| stack-cm | 2 | 0 |' "$WORK/mutation/mutation.md"

echo "== a survivor"
mutation 0 "one that has a sentence" -n 0 -w 'return one < other ? one : other;' conformance/rules/sctp_rules.c
says '^survived \(equivalent\) +conformance/rules/sctp_rules.c:'
grep -v 'return one < other' tests/mutation/survivors.tsv >"$WORK/less.tsv"
mutation 1 "one that has none" -k "$WORK/less.tsv" -n 0 -w 'return one < other ? one : other;' conformance/rules/sctp_rules.c
says '^survived \(new\) '
says ' 1 of them without a sentence'
printf 'conformance/rules/sctp_rules.c\tgone\tgoing\tequivalent\tIt is not there any more.\n' >>"$WORK/less.tsv"
mutation 1 "a sentence without a mutant" -t -k "$WORK/less.tsv"
says 'no such mutant: conformance/rules/sctp_rules.c'

echo "== wrong arguments"
mutation 2 "a room that does not exist" rules-stcp
complains "'rules-stcp' is neither a file nor a room; the rooms are: .*rules-sctp"
mutation 2 "a file of no room" wire/mpa.c
complains 'wire/mpa.c belongs to no room'
finish
