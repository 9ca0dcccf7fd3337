#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The failures that documents show are what the command in their last line prints, but for the line of the script, which moves; and the
# numbers of requirements, by document, are those of the catalogue.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

unnumbered() {
	sed -E 's/(\.lua):[0-9]+$/\1/'
}

echo "== failures shown"
for document in README.md reports/README.md; do
	awk -v to="$WORK/block" '
		/^```/ { inside = !inside; first = inside; next }
		inside && first { shown = /^FAIL  /; first = 0; if (shown) blocks++ }
		inside && shown { print > (to blocks) }
		END { print blocks + 0 }' "$document" >"$WORK/blocks"
	blocks=$(cat "$WORK/blocks")
	holds "$document shows a failure" test "$blocks" -ge 1
	for ((i = 1; i <= blocks; i++)); do
		replay=$(sed -nE 's/^ +replay +warpcheck //p' "$WORK/block$i")
		holds "$document, failure $i names its command" test -n "$replay"
		eval "arguments=($replay)" # quoted for a shell, as a reader would type it
		# shellcheck disable=SC2154 # the line above sets it
		expect 1 "$document, failure $i" "$WARPCHECK" "${arguments[@]}"
		sed -n "1,$(wc -l <"$WORK/block$i")p" "$WORK/stdout" | unnumbered >"$WORK/printed"
		unnumbered <"$WORK/block$i" >"$WORK/documented"
		checked=$((checked + 1))
		diff "$WORK/documented" "$WORK/printed" >"$WORK/diff" ||
			wrong "$document, failure $i is not what the command prints" "$(cat "$WORK/diff")"
	done
done

echo "== the first screen"
holds "leads a vendor to the page for devices" grep -q 'docs/testing-your-device.md' <(sed -n 1,40p README.md)
holds "and to the first command" grep -q 'warpcheck probe .*--interface .*--own-address' <(sed -n 1,40p README.md)

echo "== numbers of requirements"
"$WARPCHECK" list --format jsonl | jq -r .source >"$WORK/sources"
# documented ROWS DOCUMENT: the table of README.md says so
documented() {
	holds "README.md: $1 requirements of $2" grep -qF "| $2 | $1 |" README.md
}
LC_ALL=C sort "$WORK/sources" | uniq -c >"$WORK/counts"
while read -r count source; do
	case $source in
	RFC*) documented "$count" "RFC ${source#RFC}" ;;
	IBTA-A11) documented "$count" "IBTA Annex A11" ;;
	NVMEOF) documented "$count" "NVMe over Fabrics" ;;
	MS-*) documented "$count" "[$source]" ;;
	*) documented "$count" "$source" ;;
	esac
done <"$WORK/counts"
holds "README.md names no other document" \
	test "$(grep -cE '^\| (RFC [0-9]+|IBTA Annex A11|NVMe over Fabrics|\[MS-[A-Z]+\]|draft-[a-z0-9-]+) \| [0-9]+ \|' README.md)" -eq "$(wc -l <"$WORK/counts")"
total=$(wc -l <"$WORK/sources" | sed -E 's/([0-9]{3})$/,\1/')
holds "README.md: $total in all" grep -q "$total requirements" README.md
holds "conformance/requirements/README.md: $total in all" grep -q "$total rows" conformance/requirements/README.md
finish
