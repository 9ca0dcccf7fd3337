# SPDX-License-Identifier: BSD-2-Clause
#
# Where a script under `set -e` ends without a word: tools/check-part.sh has bash read this before the script (BASH_ENV). Each
# command that fails, and ends the script or a subshell, is noted in the file $TRACE with its line and the variables that it
# names; tools/first-wrong.sh shows the last one.
unset BASH_ENV # of the script alone, and not of what it starts
trace_failure() { # STATUS LINE COMMAND
	local rest=$3 name
	[[ $- == *e* ]] || return 0
	{
		echo "$BASH_SUBSHELL ${BASH_SOURCE[1]}:$2: exit status $1: ${rest:0:1000}" | tr '\n' ' '
		echo
		while [[ $rest =~ \$\{?([A-Za-z_][A-Za-z0-9_]*)(.*) ]]; do
			name=${BASH_REMATCH[1]} rest=${BASH_REMATCH[2]}
			[ -z "${!name+set}" ] || printf '%s   %s=%q\n' "$BASH_SUBSHELL" "$name" "${!name:0:300}"
		done
	} >>"$TRACE" 2>/dev/null || true
}
if [ -n "${TRACE:-}" ]; then
	set -o errtrace
	trap 'trace_failure "$?" "$LINENO" "$BASH_COMMAND"' ERR
fi
