#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# outcomes.sh [TREE]: each row of the catalogue that allows several outcomes says in
# reference-stack/defects/outcomes.tsv what shows them. The script names each row with a choice that has no line, each
# line that names what is not there (a row, a variant, an option) or that gives no reason, and each variant that no line
# names together with a row of its own. It exits with 1 when there is one.
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"

rows=conformance/requirements
options=$(cat reference-stack/peer/*.[ch] | sed -nE 's/.*"  --([a-z0-9-]+) .*/\1/p' | LC_ALL=C sort -u)
catalogue=("$rows/mpa.tsv" "$rows/empa.tsv" "$rows/ddp.tsv" "$rows/rdmap.tsv" "$rows/atom.tsv" "$rows/sctp.tsv" "$rows/a11.tsv"
	"$rows/smbd.tsv" "$rows/rpcrdma.tsv" "$rows/iser.tsv" "$rows/nvmeof.tsv")

OPTIONS=$options awk -F '\t' '
	function report(what) { printf "%s\n", what; wrong++ }
	function line(what) { report(FILENAME ":" FNR ": " what) }
	function is_free(level, outcomes, ambiguity) {
		return level ~ /^(MAY|SHOULD|SHOULD NOT)$/ || ambiguity ~ /[^ ]/ || (" " tolower(outcomes) " ") ~ /[^a-z]or[^a-z]/
	}
	# Each column of the catalogue by its name, as the header line has it.
	function read_header(   i) {
		for (i = 1; i <= NF; i++)
			column[$i] = i
		headed = 1
	}
	function read_row() {
		known[$column["id"]] = 1
		if ($column["observability"] != "spec" &&
		    is_free($column["level"], $column["outcomes"], $column["ambiguity"])) {
			free[$column["id"]] = 1
			rows++
		}
	}
	function allows(variant, ids, count,   i) {
		for (i = 1; i <= count; i++)
			if (index("," allowed[variant] ",", "," ids[i] ","))
				return 1
		return 0
	}
	function read_names(ids, count,   names, many, i) {
		many = split($4, names, ",")
		if (many == 0)
			line("no name follows \"" $3 "\"")
		for (i = 1; i <= many; i++) {
			if ($3 == "option") {
				if (!(names[i] in option))
					line("there is no option " names[i])
			} else if (!(names[i] in allowed))
				line("there is no variant " names[i])
			else if (!allows(names[i], ids, count))
				line("the variant " names[i] " names none of " $1)
			else
				shown[names[i]] = 1
		}
	}
	function read_outcome(   ids, count, i) {
		lines++
		count = split($1, ids, ",")
		for (i = 1; i <= count; i++) {
			if (!(ids[i] in known))
				line("there is no requirement " ids[i])
			if ((ids[i], $2) in told)
				line(ids[i] " has this outcome a second time")
			told[ids[i], $2] = 1
			named[ids[i]] = 1
		}
		if (NF != 4)
			line("four fields are wanted, not " NF)
		else if ($2 !~ /[^ -]/)
			line("the outcome is missing")
		else if ($3 == "variant" || $3 == "option")
			read_names(ids, count)
		else if ($3 == "elsewhere" || $3 == "unseen" || $3 == "beyond") {
			if ($4 !~ /^[A-Z].* .*[.]$/ || length($4) < 20)
				line("a reason is wanted, in a sentence")
		} else if ($3 != "default")
			line("\"" $3 "\" is no way to show an outcome")
		else if ($4 != "-")
			line("nothing but - follows \"default\"")
	}
	BEGIN {
		for (many = split(ENVIRON["OPTIONS"], list, "\n"); many > 0; many--)
			option["--" list[many]] = 1
	}
	FNR == 1 { headed = 0 }
	/^#/ || $0 == "" { next }
	part == "catalogue" {
		if (!headed) read_header()
		else read_row()
		next
	}
	part == "profile" { option[$1] = 1; next }
	part == "variants" { allowed[$1] = $2; next }
	part == "outcomes" { read_outcome() }
	END {
		for (id in free)
			if (!(id in named))
				report(id " allows several outcomes, and outcomes.tsv has no line of it")
		for (variant in allowed)
			if (!(variant in shown))
				report("the variant " variant " is shown for no outcome")
		printf "%d wrong; %d rows with a choice, %d outcomes\n", wrong, rows, lines
		exit wrong != 0 || rows == 0 || lines == 0
	}
' part=catalogue "${catalogue[@]}" part=profile "$rows/pics.tsv" \
	part=variants reference-stack/defects/variants.tsv part=outcomes reference-stack/defects/outcomes.tsv
