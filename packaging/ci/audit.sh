#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A CI job that audits a corpus of captures. Copy it, or call it where it is. Exit status: warpcheck audit's.
#
#   CORPUS      folder of captures (captures)
#   EXPECT      file of expected findings (expected.tsv of the corpus, where it is there; docs/audit-regression.md)
#   OUT         folder for results.jsonl, index.html, junit.xml, results.tap and results.sarif (warpcheck-out)
#   WARPCHECK   the program (warpcheck)
#
# In GitHub Actions it also prints annotations and writes the summary of the step.
set -u
: "${CORPUS:=captures}" "${OUT:=warpcheck-out}" "${WARPCHECK:=warpcheck}"
: "${EXPECT:=$CORPUS/expected.tsv}"
said=$(mktemp) || exit 4
trap 'rm -f "$said"' EXIT

status=0
set -- "$CORPUS" -o "$OUT" --force --quiet
[ ! -e "$EXPECT" ] || set -- "$@" --expect "$EXPECT"
"$WARPCHECK" audit "$@" 2>"$said" || status=$?
cat "$said" >&2

if [ "${GITHUB_ACTIONS:-}" = true ] && [ -s "$OUT/results.jsonl" ]; then
	if [ -e "$EXPECT" ]; then
		sed -n 's/%/%25/g; s/^warpcheck audit: \(new\|missing\|changed\|due\): \(.*\)/::error title=warpcheck, \1::\2/p' "$said"
	else
		"$WARPCHECK" report "$OUT" --format github -o - || status=4
	fi
	if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
		"$WARPCHECK" report "$OUT" --format md -o - >>"$GITHUB_STEP_SUMMARY" || status=4
	fi
fi
exit "$status"
