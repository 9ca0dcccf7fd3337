#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# files.sh: what holds for every source file: a licence line at its head, no more than 500 lines, no function of more than 60
# (tools/lengths.awk), no trailing blanks, no main() where libraries live, no header without a guard, and no pipe into a reader
# that stops early. Names what breaks this and exits with 1 then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/folders.bash
source tools/folders.bash
read -ra folders < <(room_folders)
status=0
found=$(mktemp)
trap 'rm -f "$found"' EXIT
sources=$(find "${folders[@]}" tests tools packaging .ci Makefile mk -type f -not -path "tests/fuzz/corpus/*" \
	\( -name '*.[ch]' -o -name '*.lua' -o -name '*.sh' -o -name '*.bash' -o -name '*.awk' -o -name '*.mk' -o -name Makefile \) | LC_ALL=C sort)
complain() {
	echo "$1"
	status=1
}
while IFS= read -r file; do
	length=$(wc -l <"$file")
	[ "$length" -le 500 ] || complain "$file: $length lines; expected at most 500: split it by concept"
	grep -q 'SPDX-License-Identifier:' < <(head -n 3 "$file") || complain "$file: no SPDX-License-Identifier in the first 3 lines"
	if grep -nE '[[:blank:]]+$' "$file" >/dev/null; then
		complain "$file:$(grep -nE '[[:blank:]]+$' "$file" | sed -n 1p | cut -d: -f1): blanks at the end of the line"
	fi
	# A reader that stops early kills its writer with SIGPIPE, now and then, and pipefail then blames the whole.
	case $file in *.sh | *.bash)
		if grep -nE '[^|][|] *(grep -[A-Za-z]*q|head (-n )?[-"$0-9][^c])' "$file" >"$found"; then
			complain "$file:$(sed -n '1s/:.*//p' "$found"): a pipe into grep -q or head; expected < <(...), or sed -n, which reads to the end"
		fi ;;
	esac
	case $file in
	*.h)
		grep -qE '^#(ifndef|pragma once)' "$file" || complain "$file: no include guard"
		;;
	tools/* | tests/* | */examples/* | */main.c | *_main.c) ;;
	*.c)
		if grep -qE '^(int )?main\(' "$file"; then
			complain "$file: main() in a library; mains live in */main.c, *_main.c, examples/, tests/ and tools/"
		fi
		;;
	esac
done <<<"$sources"
xargs awk -f tools/lengths.awk <<<"$sources" || status=1
exit "$status"
