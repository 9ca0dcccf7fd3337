#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arrows.sh [--print] [TREE]: checks that no room includes what stands above it. tools/rooms.list has every room, the lowest
# first, and the rooms that it may use; those must stand in the list before it, so that no two rooms can include one another in
# a circle.
#
# Every #include "..." must name a file by its path from the root of the tree (or by "iwarp/...", the stack's public
# headers). flow and rules include no header of libpcap, Lua or Wireshark. The script names each line that breaks a rule,
# and exits with 1 then. --print lists the rooms and the arrows between them that the tree has.
set -euo pipefail
print=0
if [ "${1:-}" = --print ]; then
	print=1
	shift
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/folders.bash
source "$here/folders.bash"
cd "${1:-$here/..}"

# What stands in brackets may be called, but not included.
rooms=$(grep -vE '^(#|$)' "$here/rooms.list" | sed -E 's/\([^)]*\)//g')

{
	for folder in $(room_folders); do
		[ ! -d "$folder" ] || grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$folder" || true
	done
} | LC_ALL=C sort -t: -k1,1 -k2,2n | awk -F: -v table="$rooms" -v print_them="$print" '
	BEGIN {
		lines = split(table, line, "\n")
		for (i = 1; i <= lines; i++) {
			words = split(line[i], word, " ")
			if (words == 0)
				continue
			for (w = 2; w <= words; w++) {
				if (!(word[w] in known)) {
					printf "arrows.sh: %s may include %s, which does not stand before it in the list of rooms\n", word[1], word[w]
					bad = 1
				}
				may[word[1], word[w]] = 1
			}
			known[word[1]] = ++order
			name_of[order] = word[1]
		}
	}
	# The room of a file: the file itself, or the nearest folder above it that is one.
	function room(path) {
		if (path ~ /^iwarp\//)
			path = "reference-stack/include/" path
		for (; path != ""; sub(/\/?[^\/]*$/, "", path))
			if (path in known)
				return path
		return ""
	}
	function complain(why) { printf "%s:%s: %s: %s\n", $1, $2, text, why; bad = 1 }
	{
		text = $0
		sub(/^[^:]*:[^:]*:[ \t]*/, "", text)
		name = text
		from = room($1)
		# The folder (or the file) itself is a room, and not what may come below it.
		if (from == "" || ($1 != from && $1 !~ ("^" from "/[^/]*$") && from != "reference-stack/include/iwarp" && from !~ /^(conformance\/labs|reference-stack\/examples)$/)) {
			complain("this folder is in no room")
			next
		}
		if (match(name, /"[^"]*"/)) {
			name = substr(name, RSTART + 1, RLENGTH - 2)
			if (name !~ /\// || name ~ /(^|\/)\.\.?\//) { complain("expected a path from the root of the tree"); next }
			to = room(name)
			if (to == from)
				next
			if (to == "" || !((from, to) in may)) { complain(from " does not include " (to == "" ? "what is in no room" : to)); next }
			arrows[from, to]++
		} else if ($1 ~ /^(base|wire|conformance\/(flow|rules))\// && name ~ /<(pcap|libnet|lua|lauxlib|lualib|epan|wireshark|wsutil|uv)[.\/]/)
			complain("base, wire, flow and rules know neither devices, nor files, nor scripts, nor Wireshark")
	}
	END {
		for (i = order; print_them && i > 0; i--) {
			if (name_of[i] ~ /^tools\//)
				continue
			out = ""
			for (o = order; o > 0; o--)
				if ((name_of[i], name_of[o]) in arrows)
					out = out " " name_of[o]
			print name_of[i] (out == "" ? "" : " ->" out)
		}
		exit bad
	}
'
