#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A CI job that audits a corpus of captures. Copy it, or call it where it is. Exit status: warpcheck audit's.
#
#   CORPUS      folder of captures (captures)
#   EXPECT      file of expected findings (expected.tsv of the corpus, where it is there; docs/audit-regression.md)
#   OUT         folder for results.jsonl, index.html, junit.xml, results.tap and results.sarif (warpcheck-out)
#   OPTIONS     further options of warpcheck audit, such as "-j 2 --findings-only" (none)
#   WARPCHECK   the program (warpcheck)
#
# What differs from the expectations is printed on standard error, with everything that the log's reader needs. In GitHub Actions it also
# prints annotations and writes the summary of the step.
set -u
: "${CORPUS:=captures}" "${OUT:=warpcheck-out}" "${WARPCHECK:=warpcheck}" "${OPTIONS:=}"
: "${EXPECT:=$CORPUS/expected.tsv}"

status=0
set -- "$CORPUS" -o "$OUT" --force --quiet
[ ! -e "$EXPECT" ] || set -- "$@" --expect "$EXPECT"
# shellcheck disable=SC2086 # words
"$WARPCHECK" audit "$@" $OPTIONS || status=$?

if [ "${GITHUB_ACTIONS:-}" = true ] && [ -s "$OUT/results.jsonl" ]; then
	"$WARPCHECK" report "$OUT" --format github -o - || status=4
	if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
		"$WARPCHECK" report "$OUT" --format md -o - >>"$GITHUB_STEP_SUMMARY" || status=4
	fi
fi
exit "$status"
