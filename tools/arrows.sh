#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arrows.sh [--print] [TREE]: checks that no room includes what stands above it. `rooms` below lists every room, the lowest
# first, and the rooms that it may include; those must stand in the list before it, so that no two rooms can include one another in
# a circle. Rooms in one line, joined by +, include one another: they are one room in several folders.
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
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

rooms='
wire
tools/embedded.h
tools/standard_streams.h
tools/memory_reserve.h
upper-tester                                  wire
upper-tester/skeleton
reference-stack/include/iwarp                 wire
reference-stack/base                          wire
reference-stack/defects/hooks_sctp.h
reference-stack/defects/hooks.h               reference-stack/defects/hooks_sctp.h
reference-stack/validation/validation.h       wire
reference-stack/core                          wire reference-stack/include/iwarp reference-stack/base reference-stack/defects/hooks.h reference-stack/validation/validation.h
reference-stack/validation                    wire reference-stack/include/iwarp reference-stack/defects/hooks.h reference-stack/validation/validation.h reference-stack/core
reference-stack/mpa                           wire reference-stack/defects/hooks.h reference-stack/validation/validation.h reference-stack/core
reference-stack/cm                            wire reference-stack/base reference-stack/defects/hooks.h
reference-stack/sctp                          wire reference-stack/include/iwarp reference-stack/base reference-stack/defects/hooks.h reference-stack/validation/validation.h reference-stack/core
reference-stack/defects                       wire reference-stack/include/iwarp reference-stack/base reference-stack/defects/hooks.h reference-stack/validation/validation.h reference-stack/core reference-stack/validation reference-stack/mpa reference-stack/sctp reference-stack/cm tools/embedded.h
reference-stack/transport                     wire reference-stack/include/iwarp reference-stack/base
reference-stack/verbs                         wire reference-stack/include/iwarp reference-stack/base reference-stack/core reference-stack/mpa reference-stack/transport
reference-stack/program                       wire tools/standard_streams.h
reference-stack/peer                          wire upper-tester reference-stack/include/iwarp reference-stack/base reference-stack/core reference-stack/cm reference-stack/defects/hooks.h reference-stack/defects reference-stack/transport reference-stack/program tools/standard_streams.h tools/memory_reserve.h
reference-stack/examples                      wire reference-stack/include/iwarp
generator/packet                              wire
generator/link                                wire generator/packet
generator/tcp                                 wire generator/packet generator/link
generator/sctp                                wire generator/packet
generator/cm                                  wire generator/packet generator/sctp
conformance/requirements                      wire tools/embedded.h
conformance/flow                              wire
conformance/flow/link                         conformance/flow
conformance/flow/tcp                          wire conformance/flow
conformance/flow/mpa                          wire conformance/flow
conformance/flow/sctp                         wire conformance/flow
conformance/flow/cm                           wire conformance/flow
conformance/flow/notation                     conformance/flow conformance/flow/sctp conformance/flow/cm
conformance/rules                             wire conformance/flow conformance/flow/sctp conformance/flow/cm conformance/requirements
reports                                       wire conformance/requirements conformance/flow tools/embedded.h
conformance/engine/option                     wire reference-stack/program reports
conformance/engine/rig                        wire generator/packet generator/link generator/tcp generator/sctp generator/cm reference-stack/include/iwarp reference-stack/transport reference-stack/cm reference-stack/peer conformance/requirements reports conformance/engine/option
conformance/engine/evidence                   wire generator/packet conformance/flow conformance/flow/sctp conformance/flow/cm conformance/flow/notation conformance/rules reports conformance/engine/rig
conformance/engine/script                     wire generator/packet generator/link generator/tcp generator/sctp generator/cm reference-stack/defects conformance/requirements conformance/rules reports conformance/engine/option conformance/engine/rig conformance/engine/evidence tools/embedded.h
conformance/engine/report                     wire reference-stack/program conformance/requirements reports conformance/engine/option conformance/engine/script tools/embedded.h
conformance/engine/audit                      wire reference-stack/program conformance/requirements conformance/flow conformance/flow/notation conformance/rules reports conformance/engine/option conformance/engine/evidence conformance/engine/report
conformance/engine/run                        wire reference-stack/program reference-stack/defects conformance/requirements conformance/flow conformance/rules reports conformance/engine/option conformance/engine/rig conformance/engine/evidence conformance/engine/script conformance/engine/report
conformance/engine/prove                      wire reference-stack/program reference-stack/defects conformance/requirements conformance/flow conformance/rules reports conformance/engine/option conformance/engine/rig conformance/engine/script conformance/engine/run tools/embedded.h
conformance/engine/gen                        wire generator/packet reference-stack/program reference-stack/defects conformance/flow reports conformance/engine/option conformance/engine/rig conformance/engine/script tools/embedded.h
conformance/engine/show                       wire reference-stack/program conformance/requirements conformance/flow conformance/flow/sctp conformance/flow/cm conformance/flow/notation reports conformance/engine/option conformance/engine/rig conformance/engine/evidence conformance/engine/script
conformance/engine/probe                      wire generator/packet reference-stack/program reference-stack/defects conformance/requirements conformance/rules reports conformance/engine/option conformance/engine/rig conformance/engine/evidence conformance/engine/script conformance/engine/show
conformance/engine/new-check                  wire reference-stack/program conformance/requirements reports conformance/engine/option conformance/engine/script
conformance/engine/course                     wire reference-stack/peer reference-stack/program reference-stack/defects conformance/requirements reports conformance/engine/option conformance/engine/audit conformance/engine/run conformance/engine/gen tools/embedded.h
conformance/engine/complete                   wire reference-stack/program reference-stack/defects conformance/requirements reports conformance/engine/option conformance/engine/script conformance/engine/run
conformance/engine                            wire reference-stack/peer reference-stack/program reports conformance/engine/option conformance/engine/run conformance/engine/audit conformance/engine/prove conformance/engine/gen conformance/engine/report conformance/engine/show conformance/engine/probe conformance/engine/new-check conformance/engine/course conformance/engine/complete tools/standard_streams.h tools/memory_reserve.h
conformance/labs                              wire upper-tester tools/standard_streams.h
dissector                                     wire conformance/flow conformance/flow/sctp conformance/flow/cm conformance/flow/notation conformance/rules
'

{
	for folder in wire upper-tester reference-stack generator conformance reports dissector; do
		[ ! -d "$folder" ] || grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$folder" || true
	done
} | LC_ALL=C sort -t: -k1,1 -k2,2n | awk -F: -v table="$rooms" -v print_them="$print" '
	BEGIN {
		lines = split(table, line, "\n")
		for (i = 1; i <= lines; i++) {
			words = split(line[i], word, " ")
			if (words == 0)
				continue
			count = split(word[1], together, "+")
			for (t = 1; t <= count; t++)
				for (o = 1; o <= count; o++)
					may[together[t], together[o]] = 1
			for (t = 1; t <= count; t++) {
				for (w = 2; w <= words; w++) {
					if (!(word[w] in known)) {
						printf "arrows.sh: %s may include %s, which does not stand before it in the list of rooms\n", together[t], word[w]
						bad = 1
					}
					may[together[t], word[w]] = 1
				}
			}
			for (t = 1; t <= count; t++) {
				known[together[t]] = ++order
				name_of[order] = together[t]
			}
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
		if (from == "" || ($1 != from && $1 !~ ("^" from "/[^/]*$") && from != "reference-stack/include/iwarp" && from !~ /^(conformance\/labs|reports|reference-stack\/examples)$/)) {
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
		} else if ($1 ~ /^(wire|conformance\/(flow|rules))\// && name ~ /<(pcap|libnet|lua|lauxlib|lualib|epan|wireshark|wsutil|uv)[.\/]/)
			complain("wire, flow and rules know neither devices, nor files, nor scripts, nor Wireshark")
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
