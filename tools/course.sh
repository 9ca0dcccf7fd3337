#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# course.sh [DIR]: renews what commands print in docs/course (or in a copy of it, DIR): the outputs below lines "$ COMMAND" in blocks of
# code, the teacher's table, and the figures for slides. A block's commands run with bash in a folder that the documents share. The end-to-end test
# `course-docs` runs this on a copy and compares. WARPCHECK: the program (build/warpcheck).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
docs=$(realpath "${1:-$root/docs/course}")
warpcheck=$(realpath "${WARPCHECK:-$root/build/warpcheck}")
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir "$room/bin" "$room/work"
ln -s "$warpcheck" "$room/bin/warpcheck"
cp "$root/conformance/engine/course/situations.lua" "$room/work"
cp "$root/conformance/templates/responder.lua" "$room/work"
export PATH="$room/bin:$PATH" XDG_STATE_HOME="$room/state" LC_ALL=C.UTF-8 NO_COLOR=1 COLUMNS=100
cd "$room/work"

# Blocks with commands: each command, and what it prints in place of what stands below it. A block without one stays.
outputs() {
	local line inside=0 commands=0
	while IFS= read -r line; do
		case $line in
		'```'*) inside=$((1 - inside)) commands=0 ;;
		'$ '*)
			if [ "$inside" -eq 1 ]; then
				commands=1
				printf '%s\n' "$line"
				bash -c "${line#\$ }" </dev/null 2>&1 || true
				continue
			fi ;;
		esac
		[ "$inside" -eq 1 ] && [ "$commands" -eq 1 ] || printf '%s\n' "$line"
	done
}

# The teacher's table stands between two lines of comment.
solutions() {
	warpcheck course --solutions >"$room/table"
	awk -v table="$room/table" '
		/^<!-- table -->$/ { print; while ((getline row < table) > 0) print row; skip = 1; next }
		/^<!-- end -->$/ { skip = 0 }
		!skip' "$1"
}

# Text as a drawing that slides can show at any size: figure FILE TITLE
figure() {
	awk -v title="$2" '
		function clean(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }
		{ line[NR] = $0; if (length($0) > wide) wide = length($0) }
		END {
			printf "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %d %d\">\n", wide * 9 + 32, NR * 20 + 28
			printf "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", clean(title)
			print "<g font-family=\"DejaVu Sans Mono, monospace\" font-size=\"15\" fill=\"#111\">"
			for (i = 1; i <= NR; i++)
				printf "<text xml:space=\"preserve\" x=\"16\" y=\"%d\" textLength=\"%d\" lengthAdjust=\"spacingAndGlyphs\">%s</text>\n", i * 20 + 10, length(line[i]) * 9, clean(line[i])
			print "</g>\n</svg>"
		}' >"$docs/$1"
}

# What explain draws below the line "header": the bits, and no table.
drawing() {
	warpcheck explain "$1" | awk '/\+-[-+]*\+/ { on = 1; gap = 0 } on && /[|+]/ { print }'
}

for document in "$docs"/[1-9]-*.md; do
	outputs <"$document" >"$room/new"
	cat "$room/new" >"$document"
done
solutions "$docs/solutions.md" >"$room/new"
cat "$room/new" >"$docs/solutions.md"
for pair in MPA-7.1.1-01:start-up-frame MPA-4.1-01:fpdu DDP-4.2-11:ddp-tagged DDP-4.3-12:ddp-untagged RDMAP-4.8-03:terminate; do
	drawing "${pair%%:*}" >"$room/drawing"
	[ ! -s "$room/drawing" ] || figure "${pair#*:}.svg" "${pair#*:}" <"$room/drawing"
done
warpcheck gen --only rping situations.lua -o rping.pcapng
warpcheck dump rping.pcapng | figure rping.svg "one round of rping"
