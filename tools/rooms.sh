#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# rooms.sh [--print] [BUILD]: checks by nm that no room calls what stands above it. tools/rooms.list has every room, the lowest first,
# and the rooms that it may use. Each symbol that an object of BUILD (build) takes from another room has to come from one of these.
# The script names each one that does not, and exits with 1 then. It looks at the objects of the tree's own sources, built by
# `make programs plugin`; one that is not there is an error, so that nothing is left out.
#
# There are no exceptions. --print lists the rooms, and after each the rooms that it uses.
set -euo pipefail
print=0
if [ "${1:-}" = --print ]; then
	print=1
	shift
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${1:-$here/../build}
cd "$build"
build=$PWD
cd "$here/.."
# shellcheck source=tools/folders.bash
source tools/folders.bash

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# OBJECT ROOM: of each source in a room; tables of embedded files are data, and are used by whoever carries them.
{
	room_names | while IFS= read -r room; do
		case $room in
		conformance/labs | reference-stack/examples | upper-tester/skeleton) continue ;; # programs, no part of warpcheck's
		dissector) objects=dissector/obj ;;
		*) objects=obj ;;
		esac
		for source in "$room"/*.c; do
			[ ! -e "$source" ] || printf '%s/%s.o %s\n' "$objects" "${source%.c}" "$room"
		done
	done
	for object in "$build"/gen/embedded_*.o; do printf 'gen/%s tools/embedded.h\n' "${object##*/}"; done
} >"$work/objects"
if ! (cd "$build" && cut -d' ' -f1 "$work/objects" | xargs nm -A -P -g) >"$work/symbols" 2>"$work/nm"; then
	echo "rooms.sh: $(head -n 1 "$work/nm"): 'make programs plugin' builds the objects of $build" >&2
	exit 2
fi

awk -v print_them="$print" '
	function complain(text) { print text; bad = 1 }
	FILENAME == ARGV[1] {
		if ($0 ~ /^(#|$)/)
			next
		gsub(/[()]/, " ") # a room that may be called, and not included
		for (i = 2; i <= NF; i++) {
			if (!($i in known))
				complain("rooms.sh: " $1 " may use " $i ", which does not stand before it in the list of rooms")
			may[$1, $i] = 1
		}
		known[$1] = ++count
		name_of[count] = $1
		next
	}
	FILENAME == ARGV[2] {
		room_of[$1] = $2
		if (!($2 in known))
			complain($1 ": " $2 " is in no line of the list of rooms")
		next
	}
	# "OBJECT: SYMBOL TYPE ..."
	{
		object = substr($1, 1, length($1) - 1)
		if ($3 == "U" || $3 == "w" || $3 == "v") {
			users[$2] = users[$2] " " object
		} else {
			home[$2] = room_of[object]
			symbols++
		}
	}
	END {
		for (symbol in users) {
			to = home[symbol]
			if (to == "")
				continue # of a library
			many = split(users[symbol], list, " ")
			for (i = 1; i <= many; i++) {
				from = room_of[list[i]]
				if (from == to)
					continue
				arrows[from, to]++
				if (!((from, to) in may))
					complain(list[i] ": " from " uses " symbol " of " to ", which it may not")
			}
		}
		for (i = count; print_them && i > 0; i--) {
			if (name_of[i] ~ /^tools\//)
				continue
			out = ""
			for (o = count; o > 0; o--)
				if ((name_of[i], name_of[o]) in arrows)
					out = out " " name_of[o]
			print name_of[i] (out == "" ? "" : " ->" out)
		}
		for (pair in arrows)
			total++
		printf "%d rooms, %d arrows, %s\n", count, total, bad ? "and what is named above points up" : "none points up"
		exit bad || symbols == 0
	}
' "$here/rooms.list" "$work/objects" "$work/symbols"
