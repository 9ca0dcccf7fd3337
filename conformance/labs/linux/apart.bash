# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# apart COMMAND...: runs it in a network and in processes of its own, which all end with it; returns its status. Needs root, or user namespaces.
# LAB_WORK is a folder for it, removed at the end of the script; one that is set already stays.
# SIGTERM and SIGHUP end it and the script, with 143: unshare itself would ignore them. SIGINT goes to the whole group: the command ends in order.
apart() {
	local status=0 user=()
	[ "$(id -u)" -eq 0 ] || user=(--user --map-root-user)
	if [ -z "${LAB_WORK:-}" ]; then
		LAB_WORK=$(mktemp -d)
		export LAB_WORK
		trap 'rm -rf "$LAB_WORK"' EXIT
	fi
	setpriv --pdeathsig KILL unshare "${user[@]}" --net --pid --fork --kill-child --mount-proc "$@" &
	apart_child=$!
	trap 'kill -KILL "$apart_child" 2>/dev/null; wait "$apart_child" 2>/dev/null || true; exit 143' TERM HUP
	trap : INT
	wait "$apart_child" || status=$?
	while kill -0 "$apart_child" 2>/dev/null; do
		status=0
		wait "$apart_child" || status=$?
	done
	return "$status"
}
