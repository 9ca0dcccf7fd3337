# SPDX-License-Identifier: BSD-2-Clause
#
# How end-to-end scripts wait for a program in the background: for what it does, and never for a time. To be sourced; expect.bash
# and the scripts that run inside a namespace do.
#
#   eventually PROCESS COMMAND...       repeats the command until it succeeds. False when the process has ended and the command
#                                       still fails, or after EVENTUALLY_SECONDS (900). What was waited for so long is noted
#                                       in $WORK/not-in-time: it fails the script, also where the answer is not asked
#   prints PROCESS FILE PATTERN         until a line of the file matches (grep -E); the file need not be there yet
#
# Remove the file before the program starts: `program >FILE &` truncates FILE in the program's own process, perhaps after the
# first look at it, and what an earlier program wrote would be read.
eventually() {
	local process=$1 end=$((SECONDS + ${EVENTUALLY_SECONDS:-900})) alive=yes
	shift
	while :; do
		kill -0 "$process" 2>/dev/null || alive=no
		if "$@"; then return 0; fi
		[ "$alive" = yes ] || { echo "      it ended before: $*" >&2; return 1; }
		[ "$SECONDS" -lt "$end" ] || {
			echo "not within ${EVENTUALLY_SECONDS:-900} s: $*" | tee -a "${WORK:-/nowhere}/not-in-time" 2>/dev/null | sed 's/^/      /' >&2
			return 1
		}
		sleep 0.02
	done
}

prints() { eventually "$1" grep -qsE -- "$3" "$2"; }
