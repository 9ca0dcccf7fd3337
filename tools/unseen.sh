#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# unseen.sh LOG: of the log of a script that held, the first sign that one of its own commands could not do its work (jq, the shell): what it was to
# look at was empty then, nothing was found in it, and no assertion saw that. Exit status 1 with such a line, else 0.
set -euo pipefail
line=$(grep -aEm 1 '^jq: (error|[0-9]+ compile error)|: (line [0-9]+: )?[^ ]+: command not found$|: syntax error near ' "$1") || exit 0
echo "WRONG a command of this script failed, and no assertion saw it: $line"
exit 1
