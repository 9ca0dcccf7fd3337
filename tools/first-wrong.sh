#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# first-wrong.sh LOG [TRACE]: of the log of a script that has failed, what was wrong first, with what was expected and what came
# (tests/e2e/expect.bash), in less than 20 lines. A script without such lines: the command that ended it, from TRACE
# (tests/e2e/trace.bash), after the last words of the log.
set -euo pipefail
log=$1 trace=${2:-}

# The line, and those below it that belong to it.
first() {
	awk -v of="$1" '$0 ~ of && !n { n = 1; print; next }
		n && /^(      |#)/ && ++n <= 14 { print; next }
		n { exit }' "$log"
}
shown=$(first '^(WRONG|not ok) ')
if [ -z "$shown" ] && [ -s "$trace" ]; then
	shown=$(tail -n 6 "$log"; grep '^0 ' "$trace" | tail -n 10 | sed 's/^0 //')
fi
[ -n "$shown" ] || shown=$(tail -n 14 "$log")
echo "== what was wrong first:"
# shellcheck disable=SC2001 # one line of many
cut -c 1-500 <<<"$shown" | sed 's/^/   /'
