#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# arrows.sh: no folder includes what stands above it. Every #include "..." must name a file by its path from the root
# of the tree (or by "iwarp/...", the stack's public headers), and one that its folder may know; flow and rules know
# neither libpcap, nor Lua, nor Wireshark. Names each line that breaks this and exits with 1 then.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
{
	for folder in wire reference-stack generator conformance reports dissector; do
		[ ! -d "$folder" ] || grep -rnE --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' "$folder" || true
	done
} | LC_ALL=C sort -t: -k1,1 -k2,2n | awk -F: '
	BEGIN {
		# The first prefix that fits the including file rules; each word is a prefix that may be included.
		n = 0
		rule("wire/", "wire/")
		rule("reference-stack/peer/iwarp_peer_main.c", "wire/ reference-stack/ tools/memory_reserve.h tools/standard_streams.h")
		rule("reference-stack/", "wire/ reference-stack/ iwarp/ tools/embedded.h")
		rule("generator/", "wire/ generator/")
		rule("conformance/requirements/", "wire/ conformance/requirements/ tools/embedded.h")
		rule("conformance/flow/", "wire/ conformance/flow/")
		rule("conformance/rules/", "wire/ conformance/flow/ conformance/requirements/ conformance/rules/")
		rule("conformance/peers/", "wire/ generator/ reference-stack/ iwarp/ conformance/peers/ tools/embedded.h tools/memory_reserve.h tools/standard_streams.h")
		rule("conformance/engine/", "wire/ generator/ reference-stack/ iwarp/ conformance/ reports/ tools/embedded.h tools/memory_reserve.h tools/standard_streams.h")
		rule("reports/", "wire/ conformance/requirements/ conformance/flow/flow_account.h reports/ tools/embedded.h")
		rule("dissector/", "wire/ conformance/flow/ conformance/rules/ conformance/requirements/ dissector/")
		bad = 0
	}
	function rule(from, to) { n++; source[n] = from; allowed[n] = to }
	function complain(why) { printf "%s:%s: %s: %s\n", $1, $2, text, why; bad = 1 }
	{
		text = $0
		sub(/^[^:]*:[^:]*:[ \t]*/, "", text)
		name = text
		if (match(name, /"[^"]*"/)) {
			name = substr(name, RSTART + 1, RLENGTH - 2)
			for (i = 1; i <= n && index($1, source[i]) != 1; i++)
				;
			if (i > n) { complain("arrows.sh knows no rule for this folder"); next }
			if (name !~ /\// || name ~ /(^|\/)\.\.?\//) { complain("expected a path from the root of the tree"); next }
			count = split(allowed[i], words, " ")
			for (w = 1; w <= count && index(name, words[w]) != 1; w++)
				;
			if (w > count) complain("may include only " allowed[i])
		} else if ($1 ~ /^(wire|conformance\/(flow|rules))\// && name ~ /<(pcap|libnet|lua|lauxlib|lualib|epan|wireshark|wsutil|uv)[.\/\/]/)
			complain("wire, flow and rules know neither devices, nor files, nor scripts, nor Wireshark")
	}
	END { exit bad }
'
