#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The walks of docs/design-notes.md (of a frame to a finding, of a frame to a verdict, of a message to the ULP) are those of the code:
# each room of their tables is one of tools/rooms.list, and stands there at most twice; each function is defined in its room, or in a
# room below it that its row names.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck source=tools/folders.bash
source tools/folders.bash
room_names >"$WORK/rooms"

# rows PAGE: "HEADING: TABLE <tab> room <tab> functions" for each row of a table with the head "room", functions separated by blanks.
rows() {
	perl -ne '
		if (/^## From (.*)/) { $walk = $1; $table = 0 }
		elsif (/^## /) { undef $walk }
		elsif (defined $walk && /^\| room \|/) { $table++; $room = "" }
		elsif (defined $walk && $table && /^\| *(?:`([^`]*)`)? *\| (.*?) \|/ && !/^\|-/) {
			my ($named, $cell) = ($1, $2);
			$room = $named if defined $named;
			my @functions = $cell =~ /`(\w+)\(\)`/g;
			print join("\t", "$walk: $table", $room, defined $named ? 1 : 0, "@functions"), "\n";
		}' "$1"
}

# whole SHORT: the room of the list that ends so.
whole() { awk -v short="$1" '$0 == short || substr($0, length($0) - length(short)) == "/" short' "$WORK/rooms" | sed -n 1p; }

# judge PAGE: what is wrong with its walks, a line each; "N functions" at the end.
judge() {
	local walk room begins functions whole name count=0
	declare -A entered=()
	while IFS=$'\t' read -r walk room begins functions; do
		whole=$(whole "$room")
		[ -n "$whole" ] || { echo "$walk: $room is no room"; continue; }
		[ "$begins" = 0 ] || entered["$walk $whole"]=$((${entered["$walk $whole"]:-0} + 1))
		[ "${entered["$walk $whole"]}" -le 2 ] || echo "$walk: $whole is entered ${entered["$walk $whole"]} times"
		for name in $functions; do
			count=$((count + 1))
			grep -qE "^[a-z][^;=]*\b$name\(" "$whole"/*.c "$whole"/*.h 2>"$WORK/none" || echo "$walk: $whole has no $name()"
		done
	done < <(rows "$1")
	echo "$count functions"
}

judge docs/design-notes.md >"$WORK/found"
holds "each room stands in a walk at most twice, and has its functions" test "$(wc -l <"$WORK/found")" -eq 1
sed '$d' "$WORK/found"
holds "walks were found: $(tail -n 1 "$WORK/found")" test "$(cut -d' ' -f1 < <(tail -n 1 "$WORK/found"))" -gt 50
holds "of three things" test "$(rows docs/design-notes.md | sed 's/:.*//' | sort -u | wc -l)" -eq 3

# A function that is gone, and a third time in a room, are noticed.
# shellcheck disable=SC2016 # backticks of Markdown
sed 's/`flow_mpa_octets()`/`flow_mpa_gone()`/' docs/design-notes.md >"$WORK/gone.md"
judge "$WORK/gone.md" >"$WORK/found"
holds "a function that is gone is noticed" grep -q 'mpa has no flow_mpa_gone()' "$WORK/found"
# shellcheck disable=SC2016 # backticks of Markdown
sed 's/^| `flow\/tcp` | `flow_connection_segment()`.*/&\n| `flow\/mpa` | | |\n| `flow\/tcp` | | |/' docs/design-notes.md >"$WORK/third.md"
judge "$WORK/third.md" >"$WORK/found"
holds "a third time in a room is noticed" grep -q 'mpa is entered 3 times' "$WORK/found"
finish
