#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# literals.sh [TREE]: numbers in the checks that should come from what was negotiated, or measured of the device. Each place in
# conformance/scripts where a stream id, a number of streams, a depth (IRD, ORD), a segment size, an STag, a number or size of receives,
# octets of memory or of one operation, or the rounds of a loop are written as a number has a line in tools/literals.tsv that says why it
# may be one: kind, an extended regular expression over "file:text", reason.
#
# Legal devices hold the reasons: some that take no Read, or one at a time (tests/e2e/modest-device.sh), that have one stream (variant
# sctp-streams-1), or little memory, short messages and queues (tests/e2e/rnic.sh), and whose depths, receives and windows a seed draws
# (`prove --devices`).
#
# Exit status 1: a place without a line, or a line without a place.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
mapfile -t scripts < <(find conformance/scripts -name '*.lua' | LC_ALL=C sort)

awk -F'\t' '
	BEGIN {
		number = "(0x)?[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*"
		of["sid"] = "(^|[^A-Za-z_.])(a[.])?sid *=+ *" number "|:(control|segment|probe|chunk|receive|abort_stream|outcome|expect_control|" \
			"expect_segment|expect_nothing|expect_ended|reopen|further|another)[(][0-9]+[,)]|sids *= *[{] *[0-9]"
		of["streams"] = "(^|[^A-Za-z_])(outbound|inbound) *= *" number
		of["depth"] = "(^|[^A-Za-z_])(ird|ord|IRD|ORD) *= *" number
		of["size"] = "(^|[^A-Za-z_])(mss|emss|mtu) *= *" number
		of["receives"] = "(^|[^A-Za-z_])(receives|receive_octets) *= *" number
		of["count"] = "for [a-z_]+ = [01], *(1[7-9]|[2-9][0-9]|[0-9][0-9][0-9]+)"
		of["octets"] = "(^|[^A-Za-z_])(octets|length) *= *" number
		of["round"] = "for [a-z_]+ = [0-9]+, *([2-9]|1[0-6])([^0-9]|$)"
		of["stag"] = "(^|[^A-Za-z_])(stag|STag) *= *" number
	}
	FNR == 1 { table = FILENAME ~ /literals[.]tsv$/ }
	table && !/^(#|$)/ { rows++; kind[rows] = $1; place[rows] = $2; at[rows] = FNR
		if (!($1 in of) || $3 == "") { printf "tools/literals.tsv:%d: kind, expression and reason were expected\n", FNR; wrong++ } }
	table { next }
	{
		text = $0
		sub(/[ ]*-- .*/, "", text)
		for (k in of) {
			if (text !~ of[k]) continue
			found++
			known = 0
			for (i = 1; i <= rows; i++)
				if (kind[i] == k && (FILENAME ":" text) ~ place[i]) { used[i] = known = 1; break }
			if (!known) { printf "%s:%d: %s as a number: %s\n", FILENAME, FNR, k, text; wrong++ }
		}
	}
	END {
		for (i = 1; i <= rows; i++)
			if (!used[i]) { printf "tools/literals.tsv:%d: no place in the scripts is this: %s\n", at[i], place[i]; wrong++ }
		printf "%d wrong; %d numbers in checks, each with its reason\n", wrong, found
		exit wrong > 0
	}' tools/literals.tsv "${scripts[@]}"
