#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What the lessons show is what the commands print, the teacher's table is the program's, and the figures are drawn from its tables:
# tools/course.sh on a copy changes nothing. Each exercise stands in a lesson, each link leads somewhere, and each document is made of plain text.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
cp -r docs/course "$WORK/course"
expect 0 "the outputs are renewed" tools/course.sh "$WORK/course"
checked=$((checked + 1))
diff -r docs/course "$WORK/course" >"$WORK/diff" || wrong "docs/course is not what the commands print: run tools/course.sh" "$(sed -n 1,40p "$WORK/diff")"
for lesson in 1 2 3 4 5 6; do
	holds "lesson $lesson shows outputs of commands" test "$(grep -c '^\$ ' docs/course/"$lesson"-*.md)" -ge 1
	holds "lesson $lesson has exercises" grep -q '^## Exercises' docs/course/"$lesson"-*.md
done
links() { grep -oE '\]\([^)#:]+\)' docs/course/*.md | sed -E 's/.*\]\(([^)]+)\)/\1/' | sort -u; }
while read -r link; do holds "docs/course: $link is there" test -e "docs/course/$link"; done < <(links)
for figure in docs/course/*.svg; do holds "$figure is well formed" xmllint --noout "$figure"; done
holds "there are figures for each header" test "$(find docs/course -name '*.svg' | wc -l)" -eq 6
finish
