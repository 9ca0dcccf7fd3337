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
export PATH="$room/bin:$PATH" XDG_STATE_HOME="$room/state" LC_ALL=C.UTF-8 NO_COLOR=1
unset COLUMNS # as in a student's pipe
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

# Figures for slides. Shapes and not characters, so that they are the same with any font.
# shellcheck disable=SC2016 # awk's
svg='
	function clean(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/>/, "\\&gt;", text); return text }
	function write(x, y, size, anchor, text) {
		out = out sprintf("<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, size, anchor, clean(text))
	}
	function image(wide, high, title) {
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %d %d\">\n<title>%s</title>\n", wide, high, clean(title)
		print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<g font-family=\"sans-serif\" fill=\"#111\" stroke-width=\"1.5\">"
		print out "</g>\n</svg>"
	}'

# headers FILE: what explain prints of headers, as boxes of bits, 32 a row: each line "octet O bit B N bits NAME  about", from the column where the
# drawing above it begins.
headers() {
	awk "$svg"'
		function box(from, bits, row, rows) {
			out = out sprintf("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#fff\" stroke=\"#111\"/>\n", 16 + from * 24, top + row * 32, bits * 24, rows * 32)
		}
		function field(at, bits, name,    row, from, part, rows, best, x, y) {
			for (best = 0; bits > 0; bits -= part) {
				row = int(at / 32); from = at % 32; rows = 1
				part = from + bits > 32 ? 32 - from : bits
				if (from == 0 && bits >= 64) { rows = int(bits / 32); part = rows * 32 }
				box(from, rows > 1 ? 32 : part, row, rows)
				if (part > best) { best = part; x = 16 + (from + (rows > 1 ? 32 : part) / 2) * 24; y = top + (row + rows / 2) * 32 + 5 }
				if (row + rows > high) high = row + rows
				at += part
			}
			write(x, y, 14, "middle", name)
		}
		function end() { if (high) top += high * 32 + 24; high = 0 }
		BEGIN { top = 8 }
		/^  [^ ].*\(RFC/ {
			end(); drawn = 0
			if (title == "") title = substr($0, 3)
			write(16, top + 16, 16, "start", substr($0, 3)); top += 40
			for (i = 0; i < 32; i++) write(28 + i * 24, top - 4, 10, "middle", i)
		}
		/^ +\+-/ && !drawn { start = (index($0, "+") - 5) / 2; drawn = 1 }
		/^    octet +[0-9]+ bit/ {
			name = $0; sub(/^    octet +[0-9]+ bit [0-9] +[0-9]+ [a-z]+ +/, "", name); sub(/  .*/, "", name)
			field(start + $2 * 8 + $4, $5 * ($6 ~ /^octet/ ? 8 : 1), name); fields++
		}
		END { end(); if (!fields) exit 1; image(800, top, title) }' >"$docs/$1"
}

# ladder FILE TITLE: what dump prints of one connection, an arrow for each line. A line that names no flow is a note.
ladder() {
	awk -v title="$2" "$svg"'
		{
			if ($2 !~ />/) { y = NR * 40 + 24; write(400, y - 2, 13, "middle", $0); next }
			split($2, end, ">"); if (left == "") { left = end[1]; right = end[2] }
			text = $0; sub(/^ *[0-9]+ +[^ ]+ +/, "", text)
			y = NR * 40 + 24; from = end[1] == left ? 70 : 730; to = 800 - from; tip = to + (to > from ? -9 : 9)
			write(400, y - 6, 13, "middle", text); write(16, y + 4, 12, "start", $1)
			out = out sprintf("<path d=\"M%d %d H%d M%d %d L%d %d L%d %d\" fill=\"none\" stroke=\"#111\"/>\n", from, y, to, tip, y - 5, to, y, tip, y + 5)
		}
		END {
			if (!NR) exit 1
			write(70, 24, 13, "middle", left); write(730, 24, 13, "middle", right)
			out = out sprintf("<path d=\"M70 34 V%d M730 34 V%d\" stroke=\"#111\"/>\n", y + 16, y + 16)
			image(800, y + 28, title)
		}' >"$docs/$1"
}

# one_header ID NAME: the one of that name, of those that explain draws.
one_header() { warpcheck explain "$1" | awk -v name="  $2 (" '/^  [^ ].*\(/ { on = index($0, name) == 1 } on'; }

one_header MPA-7.1.1-01 'MPA Request/Reply Frame' | headers start-up-frame.svg
one_header MPA-4.1-01 'MPA Marker' | headers marker.svg
one_header DDP-4.2-11 'DDP Tagged Buffer Model header' | headers ddp-tagged.svg
one_header DDP-4.3-12 'DDP Untagged Buffer Model header' | headers ddp-untagged.svg
warpcheck explain RDMAP-4.8-03 | headers terminate.svg
# An FPDU has no table of its own beyond its length: the parts of one, as the decoder found them.
warpcheck gen -e 'fpdu(rdmap.send { MSN = 1, data = "hello" })' -o fpdu.pcapng
warpcheck dump fpdu.pcapng --format jsonl | jq -r 'select(.type == "fpdu").fpdu | .ULPDU_Length as $n | (.octets - $n - 6) as $pad |
	"  FPDU (RFC 5044 4.1): a Send of \"hello\"", "    octet 0 bit 0 2 octets ULPDU_Length: \($n)",
	"    octet 2 bit 0 \($n) octets ULPDU: DDP header and data, \($n) octets",
	(if $pad > 0 then "    octet \($n + 2) bit 0 \($pad) octets pad" else empty end), "    octet \($n + 2 + $pad) bit 0 4 octets CRC: \(.crc)"' | headers fpdu.svg
warpcheck gen --only rping situations.lua -o rping.pcapng
warpcheck dump rping.pcapng | ladder rping.svg "one round of rping"
# The check of lesson 6, with the stream on which it decides; the two good exchanges are notes.
warpcheck run --simulate --script responder.lua --evidence all --seed 1 -o check >"$room/check" 2>&1
{
	echo 'first the good exchange: does the device serve what the check rests on?'
	warpcheck dump check/evidence/template-responder.pcapng | awk '/TCP SYN$/ { streams++ } streams == 2' |
		sed -E 's/10\.77\.0\.3:[0-9]+/tester/; s/10\.77\.0\.2:[0-9]+/device/'
	echo 'then the good exchange again: does the device still serve it?'
} | ladder check.svg 'a check between two good exchanges'
for document in "$docs"/[1-9]-*.md; do
	outputs <"$document" >"$room/new"
	cat "$room/new" >"$document"
done
solutions "$docs/solutions.md" >"$room/new"
cat "$room/new" >"$docs/solutions.md"
