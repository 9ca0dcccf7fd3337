# SPDX-License-Identifier: BSD-2-Clause
#
# What tests/e2e/expect.bash and tools/chaos.sh share; to be sourced. $checked and $broken count what was held, and what was wrong.
#
#   wrong WHAT [LINE...]    notes what is wrong, with lines that explain it
#   holds WHAT COMMAND...   a condition; the command's stdout is not shown. With $kept_output, a file: its output is kept there, and shown only where
#                           the condition does not hold
checked=0 broken=0 kept_output=''

wrong() {
	broken=$((broken + 1))
	echo "WRONG $1"
	shift
	[ $# -eq 0 ] || printf '      %s\n' "$@"
}

holds() {
	local what=$1
	shift
	checked=$((checked + 1))
	if [ -n "$kept_output" ]; then
		"$@" >"$kept_output" 2>&1 || wrong "$what" "$(head -c 600 "$kept_output")" "stderr: $(head -c 400 "$WORK/stderr" 2>/dev/null)"
	elif "$@" >/dev/null; then
		echo "ok    $what"
	else
		wrong "$what" "command: $*"
	fi
}
