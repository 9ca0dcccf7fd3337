#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# defect-tests.sh [TREE [BUILD]]: the stack's deliberate faults stand in reference-stack/defects/ alone.
#
#   - No symbol of BUILD/libdefects.a stands in libiwarp.a or libiwarp.so, the library for programs of others.
#   - All other code of the stack calls the operations of core/faults.h, mpa/mpa_faults.h, sctp/sctp_faults.h and cm/cm_faults.h: these are the
#     seams, at most 45, and their number only falls. Each is called by one of the macros of these headers, so that a clean stack pays one branch.
#   - peer/ stands above defects/, and calls the functions of defects/peer_faults.h.
#
# The script lists each seam with its places, and each name of a number or decision with its own. It counts the tests for a defect that
# it finds elsewhere, names each, and exits with 1 when there is one; also when something is called that is not declared, or the
# other way round.
#
# A test for a defect is a line, comments and strings aside, that names a defect (DEFECT_...), asks a set for one
# (..._behaves()), compares the pointer to an object's faults, calls a function of defects/ that neither peer_faults.h nor defect.h
# declares, or includes a header of defects/; peer/ alone includes these two.
set -euo pipefail
tree=${1:-$(dirname "${BASH_SOURCE[0]}")/..}
build=$(realpath -m "${2:-${B:-$tree/build}}")
cd "$tree"
seams_most=45

for library in libdefects.a libiwarp.a libiwarp.so; do
	[ -e "$build/$library" ] || { echo "defect-tests.sh: $build/$library: not there: 'make programs' builds it" >&2; exit 2; }
done
names() { awk 'NF >= 2 && $NF ~ /^[A-Za-z_]/ && $(NF - 1) ~ /^[A-Za-z]$/ { print $NF }' | sed 's/@.*//' | LC_ALL=C sort -u; }
found=$(LC_ALL=C comm -12 <(nm -g --defined-only "$build/libdefects.a" 2>/dev/null | names) \
	<({ nm -g "$build/libiwarp.a"; nm -D "$build/libiwarp.so"; nm "$build/libiwarp.so"; } 2>/dev/null | names))
if [ -n "$found" ]; then
	sed 's/^/libiwarp has the symbol of a defect: /' <<<"$found"
	exit 1
fi

find reference-stack -name '*.[ch]' | LC_ALL=C sort | awk -v most="$seams_most" '
	function report(why) { printf "%s:%d: %s: %s\n", file, line, text, why; wrong++ }
	# The line without what stands in comments, strings and character constants.
	function plain(s,   out, i, c, two, quote) {
		out = ""
		for (i = 1; i <= length(s); i++) {
			c = substr(s, i, 1)
			two = substr(s, i, 2)
			if (inside) {
				if (two == "*/") { inside = 0; i++ }
			} else if (quote != "") {
				if (c == "\\") i++
				else if (c == quote) { quote = ""; out = out c }
			} else if (two == "/*") { inside = 1; i++ }
			else if (two == "//") break
			else { out = out c; if (c == "\"" || c == "\047") quote = c }
		}
		return out
	}
	# Functions that may be called by anybody: the list and the sets of defect.h, and handing a set on.
	function is_public(name) { return name ~ /^defect_(list|set|breaks)/ }
	function tests(s,   rest, name) {
		if (s ~ /(^|[^A-Za-z_])DEFECT_[A-Z]/) return "names a defect"
		if (s ~ /behaves *\(/) return "asks a set for a defect"
		if (s ~ /(->|[.])(faults|defects) *(==|!=|[?]|&&|[|][|])/ && s !~ /config(->|[.])faults/ && s !~ /(association|agent|device)->faults [!=]= NULL/ ||
		    s ~ /![A-Za-z_>().-]*(->|[.])(faults|defects)([^A-Za-z_]|$)/ ||
		    s ~ /(if|while) *\([A-Za-z_>().-]*(->|[.])(faults|defects) *\)/) return "compares the pointer to an object\047s faults"
		for (rest = s; match(rest, /(^|[^A-Za-z_])defect_[a-z_]+ *\(/); rest = substr(rest, RSTART + RLENGTH)) {
			name = substr(rest, RSTART, RLENGTH)
			gsub(/^[^A-Za-z_]| *\($/, "", name)
			if (!is_public(name)) return "calls " name "()"
		}
		return ""
	}
	function place(name) { places[name] = places[name] " " file ":" line }
	# Each hook_...() of peer/ stands after a PEER_HOOK of its own in the same statement.
	function peer_hooks(s,   rest, name, before, free) {
		free = 0
		for (rest = s; match(rest, /hook_[a-z_0-9]+ *\(/); rest = substr(rest, RSTART + RLENGTH)) {
			before = substr(rest, 1, RSTART - 1)
			name = substr(rest, RSTART, RLENGTH)
			sub(/ *\($/, "", name)
			free += gsub(/PEER_HOOK(_IF|_VALUE)?\(/, "", before)
			if (free-- <= 0)
				report(name "() is called without PEER_HOOK")
			place(name)
		}
	}
	# The seams of a statement: operations after a macro, or by the table itself; names of numbers and decisions.
	function seams(s,   rest, table, name, at) {
		for (rest = s; match(rest, /(^|[^A-Z_])(CM_|MPA_|SCTP_)?SEAM(_IF|_VALUE)?\(/); ) {
			name = substr(rest, RSTART, RLENGTH)
			table = name ~ /CM_/ ? "cm." : name ~ /MPA_/ ? "mpa." : name ~ /SCTP_/ ? "sctp." : "stream."
			rest = substr(rest, RSTART + RLENGTH)
			name = ""
			for (at = rest; match(at, /, *[a-z_0-9]+\(/); at = substr(at, RSTART + RLENGTH)) {
				name = substr(at, RSTART, RLENGTH)
				gsub(/^, *|\($/, "", name)
				if ((table name) in declared)
					break
			}
			place(table name)
			calls++
		}
		for (rest = s; match(rest, /faults->ops->[a-z_]+\(/); rest = substr(rest, RSTART + RLENGTH)) {
			name = (file ~ /\/cm\// ? "cm." : "stream.") substr(rest, RSTART + 13, RLENGTH - 14)
			if (name in declared) { place(name); calls++ }
		}
		for (rest = s; match(rest, /(SEAM_NUMBER|SEAM_DECIDE|MPA_DECIDE|SCTP_NUMBER|SCTP_DECIDE|SCTP_ASSOCIATION_DECIDE)\(/); rest = substr(rest, RSTART + RLENGTH)) {
			name = substr(rest, RSTART, RLENGTH)
			table = name ~ /^MPA/ ? "mpa." : name ~ /^SCTP/ ? "sctp." : "stream."
			place(table (name ~ /NUMBER/ ? "number" : "decide"))
			calls++
		}
		for (rest = s; match(rest, /(^|[^A-Za-z_0-9])[A-Z][A-Z_0-9]+([^A-Za-z_0-9(]|$)/); rest = substr(rest, RSTART + RLENGTH - 1)) {
			name = substr(rest, RSTART, RLENGTH)
			gsub(/[^A-Z_0-9]/, "", name)
			if (name in choices)
				place(name)
		}
	}
	{
		file = $0
		outside = file !~ /^reference-stack\/defects\//
		line = inside = 0
		statement = table = choice = ""
		while ((getline text < file) > 0) {
			line++
			code = plain(text)
			sub(/^[ \t]+/, "", text)
			if (file ~ /faults[.]h$/ && match(code, /^struct [a-z_]*fault_ops \{/))
				table = code ~ /mpa_/ ? "mpa." : code ~ /sctp_/ ? "sctp." : code ~ /cm_/ ? "cm." : "stream."
			if (file ~ /_?faults[.]h$/ && code ~ /^enum [a-z]+_(number|decision) \{/)
				choice = 1
			if (table != "" && match(code, /\(\*[a-z_0-9]+\)\(/)) {
				name = table substr(code, RSTART + 2, RLENGTH - 4)
				declared[name] = line
				declared_in[name] = file
				seam[name] = 1
				count++
			}
			if (choice && match(code, /^[ \t]*[A-Z][A-Z_0-9]+,/)) {
				name = code
				gsub(/[^A-Z_0-9]/, "", name)
				declared[name] = line
				declared_in[name] = file
				choices[name] = 1
				named++
			}
			if (code ~ /^\};/)
				table = choice = ""
			if (file ~ /^reference-stack\/defects\/peer_faults[.]h$/ && match(code, /^[a-z].*[ *]hook_[a-z_0-9]+\(/)) {
				sub(/\(.*/, "", code)
				sub(/.*[ *]/, "", code)
				declared[code] = line
				declared_in[code] = file
			}
			if (!outside || file ~ /[a-z]_faults[.]h$/)
				continue
			if (file ~ /\/faults[.]h$/) {
				if (code ~ /ops->release\(/)
					place("stream.release")
				continue
			}
			if (text ~ /^#[ \t]*include "reference-stack\/defects\//) {
				if (file !~ /^reference-stack\/peer\// || text !~ /\/(peer_faults|defect)[.]h"/)
					report("this header is for the files of defects/")
			}
			why = tests(code)
			if (why != "")
				report(why)
			statement = statement " " code
			if (code ~ /[;{}:][ \t]*$/) {
				all[++statements] = statement
				where[statements] = file ":" line
				statement = ""
			}
		}
		close(file)
	}
	END {
		for (i = 1; i <= statements; i++) {
			split(where[i], at, ":")
			file = at[1]
			line = at[2]
			text = all[i]
			sub(/^[ \t]+/, "", text)
			peer_hooks(all[i])
			seams(all[i])
		}
		for (name in declared) {
			if (!(name in places)) {
				printf "%s:%d: %s is called nowhere\n", declared_in[name], declared[name], name
				unknown = 1
			}
		}
		for (name in places) {
			if (!(name in declared)) {
				printf "%s is called at%s, and nothing declares it\n", name, places[name]
				unknown = 1
			}
			print name places[name] | "LC_ALL=C sort"
		}
		close("LC_ALL=C sort")
		if (count > most) {
			printf "%d seams, %d at most were expected: use one that is there, and a name of its numbers or decisions\n", count, most
			unknown = 1
		}
		printf "%d tests for a defect outside of reference-stack/defects/; %d seams, called at %d places; %d numbers and decisions\n", wrong, count, calls, named
		exit wrong != 0 || unknown || count == 0
	}
'
