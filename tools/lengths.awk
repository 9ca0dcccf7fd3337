# SPDX-License-Identifier: BSD-2-Clause
#
# lengths.awk FILE...: names each function of more than `most` (60) lines, from the first line of its head to its closing brace or
# `end`, and exits with 1 then. C as clang-format leaves it: a body begins and ends with a brace alone at the margin. Lua:
# a function ends with the `end` that stands as far from the margin as the line that begins it. Shell: NAME() { ... }.
BEGIN { if (!most) most = 60 }
function report(name, first, last) {
	if (last - first + 1 > most) {
		printf "%s:%d: %s has %d lines; expected at most %d: split it\n", FILENAME, first, name, last - first + 1, most
		bad = 1
	}
}
FNR == 1 { head = 0; inside = 0; depth = 0 }
FILENAME ~ /\.[ch]$/ {
	if (inside) {
		if ($0 ~ /^}/) {
			report(name, head, FNR)
			inside = head = 0
		}
	} else if ($0 == "{" && head) {
		inside = 1
	} else if ($0 ~ /^[A-Za-z_]/ && $0 !~ /;[ \t]*$/) {
		if (!head) {
			head = FNR
			name = $0
			sub(/\(.*/, "", name)
			if (name ~ /^(START_TEST|__attribute__)$/) { name = $0; sub(/^[^(]*\(/, "", name); sub(/\).*/, "", name) }
			sub(/.*[ *]/, "", name)
		}
	} else if ($0 !~ /^[ \t]+[^ \t]/)
		head = 0
	next
}
FILENAME ~ /\.lua$/ {
	match($0, /^[ \t]*/)
	indent = RLENGTH
	while (depth > 0 && $0 ~ /^[ \t]*end/ && indent <= indents[depth]) {
		if (indent == indents[depth])
			report(names[depth], firsts[depth], FNR)
		depth--
	}
	if ($0 ~ /function[^()]*\([^()]*\)[ \t]*(--.*)?$/) {
		depth++
		indents[depth] = indent
		firsts[depth] = FNR
		names[depth] = $0
		sub(/^[ \t]*/, "", names[depth])
	}
	next
}
FILENAME ~ /\.(sh|bash)$/ {
	if (inside && $0 ~ /^[})]/) {
		report(name, head, FNR)
		inside = 0
	} else if (!inside && $0 ~ /^[A-Za-z_][A-Za-z0-9_]*\(\) *[{(]/ && $0 !~ /[})] *(#.*)?$/) {
		inside = 1
		head = FNR
		name = $0
		sub(/\(.*/, "", name)
	}
}
END { exit bad }
