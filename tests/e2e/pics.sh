#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The PICS questionnaire: the same questions in each form as in pics.tsv, counts that the tables bear out, a skeleton that
# becomes a profile by its addresses and is judged by, and what a live upper tester reports.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
tables=(conformance/requirements/{mpa,empa,ddp,rdmap,atom,sctp,a11,smbd,rpcrdma,iser,nvmeof}.tsv)
grep -vE '^(#|item[[:blank:]])' conformance/requirements/pics.tsv | cut -f1 >"$WORK/items"

echo "== the questions"
expect 0 "pics" "$WARPCHECK" pics
holds "each item of pics.tsv, in its order" cmp <(grep -oE '^[a-z][a-z0-9._]*  ' "$WORK/stdout" | tr -d ' ') "$WORK/items"
expect 0 "pics --format jsonl" "$WARPCHECK" pics --format jsonl
holds "as JSON the same" cmp <(jq -r .item "$WORK/stdout") "$WORK/items"
holds "with the texts of the table" cmp \
	<(jq -r '[.item, .question, .default, .meaning] | @tsv' "$WORK/stdout") \
	<(grep -vE '^(#|item[[:blank:]])' conformance/requirements/pics.tsv | cut -f1-4)
cp "$WORK/stdout" "$WORK/all.jsonl"
wrong_lists=0
while IFS= read -r item; do
	cmp -s <(jq -r "select(.item == \"$item\").requirements[]" "$WORK/all.jsonl") \
		<(awk -F'\t' -v item="$item" '!/^(#|id\t)/ { n = split($11, word, /[&|!() ]+/)
			for (i = 1; i <= n; i++) if (word[i] == item) { print $1; next } }' "${tables[@]}") || wrong_lists=$((wrong_lists + 1))
done <"$WORK/items"
holds "each with the requirements whose capability column names it" test "$wrong_lists" -eq 0
expect 0 "pics --format markdown" "$WARPCHECK" pics --format markdown
# shellcheck disable=SC2016
holds "a row with boxes for each" cmp <(sed -nE 's/^\| `([^`]+)` .*(\[ \] yes \[ \] no|_{4,}) \| [0-9]+ \|$/\1/p' "$WORK/stdout") "$WORK/items"
expect 0 "pics by glob" "$WARPCHECK" pics 'rtr.*' ird --requirements
holds "only those" test "$(grep -cE '^[a-z]' "$WORK/stdout")" -eq 4
says 'EMPA-9\.2-02'
expect 3 "a glob that takes nothing" "$WARPCHECK" pics ird 'nope.*'
complains 'nope'
expect 2 "an unknown option" "$WARPCHECK" pics --frobnicate
expect 2 "an unknown format" "$WARPCHECK" pics --format=xml
complains 'xml'
expect 2 "--format without a value" "$WARPCHECK" pics --format
expect 2 "--ask without a device" "$WARPCHECK" pics --ask
expect 2 "a profile that is not there" "$WARPCHECK" pics --dut "$WORK/nowhere.json"
complains 'nowhere'
# shellcheck disable=SC2016
expect 4 "pics into a full disk" bash -c '"$0" pics >/dev/full' "$WARPCHECK"

echo "== the skeleton"
expect 0 "pics --format profile" "$WARPCHECK" pics --format profile
cp "$WORK/stdout" "$WORK/skeleton.json"
expect 2 "it is refused while the address is missing" "$WARPCHECK" run --dut "$WORK/skeleton.json" --dry-run
complains '"address"'
jq '.address = "10.99.0.2" | .own_address = "10.99.0.3" | .interface = "tester0"' "$WORK/skeleton.json" >"$WORK/device.json"
expect 0 "it is a profile when the addresses are there" "$WARPCHECK" run --dut "$WORK/device.json" --dry-run
says '^MPA-7'
expect 0 "the statement of that device" "$WARPCHECK" pics --dut "$WORK/device.json" --format jsonl
holds "says of each capability but the upper tester what the skeleton says" \
	jq -es 'all(.[]; .said) and all(.[] | select(.item != "upper_tester"); .value != null)' "$WORK/stdout"
holds "what applies and what is left out is all that depends on it" \
	jq -es 'all(.[]; .applicable + .left_out == (.requirements | length) and .left_out_alone <= .left_out)' "$WORK/stdout"
holds "without an upper tester its requirements are left out" \
	jq -es 'any(.[]; .item == "upper_tester" and .value == "no" and .left_out_alone > 30)' "$WORK/stdout"
jq '.capabilities["mpa.rev2"] = "no"' "$WORK/device.json" >"$WORK/rev1.json"
expect 0 "a device without RFC 6581" "$WARPCHECK" pics --dut "$WORK/rev1.json" mpa.rev2
says '^mpa\.rev2  no  \(the profile'
says '[0-9]{3} requirements: [0-9]+ appl(y|ies), [0-9]+ left out'
expect 2 "a capability that is none" "$WARPCHECK" pics --dut <(jq '.capabilities.frob = "no"' "$WORK/device.json")
complains 'frob'

echo "== a live device"
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
rm -f "$WORK/peer.out"
"$IWARP_PEER" --listen 9999 --control 7471 --ird 7 >"$WORK/peer.out" 2>&1 &
peer=$!
trap 'kill $peer 2>/dev/null' EXIT
prints $peer "$WORK/peer.out" READY || exit 99
"$WARPCHECK" pics --dut "$WORK/asked.json" --ask >"$WORK/told.txt" || exit
"$WARPCHECK" pics --dut "$WORK/unsaid.json" --ask --format profile >"$WORK/completed.json" || exit
"$WARPCHECK" run --dut "$WORK/completed.json" 'MPA-7.1.1-*' DDP-7.2-01 --role responder
INSIDE
jq '.control = "127.0.0.1:7471" | .capabilities["mpa.markers"] = "no"' "$WORK/device.json" >"$WORK/asked.json"
jq 'del(.capabilities)' "$WORK/asked.json" >"$WORK/unsaid.json"
export WORK WARPCHECK IWARP_PEER
expect 0 "it is asked, and judged by the profile that comes of it" unshare -rn bash "$WORK/inside.sh"
says 'PASS|passed|conforms'
holds "an answer that is not the profile's is told" \
	grep -qE '^mpa\.markers  no .*the upper tester says yes$' "$WORK/told.txt"
holds "one that is, too" grep -qE '^rtr\.read  yes .*says so, too$' "$WORK/told.txt"
holds "what it says completes a profile that says nothing" \
	jq -e '.capabilities["mpa.markers"] == "yes" and (.capabilities.ird | type) == "number" and .control == "127.0.0.1:7471"' \
	"$WORK/completed.json"
expect 2 "a profile without an upper tester to ask" "$WARPCHECK" pics --dut "$WORK/device.json" --ask
complains 'control'
expect 4 "an upper tester that is not there" unshare -rn "$WARPCHECK" pics --dut "$WORK/asked.json" --ask
echo "== what an upper tester is needed for"
expect 0 "the checks that need each verb and event" "$WARPCHECK" pics --needs --format markdown
[ -z "${UPDATE:-}" ] || cp "$WORK/stdout" docs/upper-tester-needs.md
holds "are those of docs/upper-tester-needs.md (UPDATE=1 writes it again)" cmp "$WORK/stdout" docs/upper-tester-needs.md
# shellcheck disable=SC2016 # the document's backquotes
says '^### `half_closed`: [0-9]+ checks?$'
# shellcheck disable=SC2016 # the document's backquotes
says '^### `reg_mr`: [0-9]{3} checks$'
# shellcheck disable=SC2016 # the document's backquotes
sed -n '/^## Verbs/,/^## Example/s/^|\([^|]*\)|.*/\1/p' docs/upper-tester.md | grep -oE '`[a-z_]+`' | tr -d '`' | sort -u >"$WORK/documented"
# shellcheck disable=SC2016 # the document's backquotes
sed -nE 's/^### `([a-z_]+)`.*/\1/p' "$WORK/stdout" | sort >"$WORK/needed"
holds "each of them is documented: $(comm -13 "$WORK/documented" "$WORK/needed" | paste -sd' ')" \
	test -z "$(comm -13 "$WORK/documented" "$WORK/needed")"
expect 2 "of one device" "$WARPCHECK" pics --needs --dut "$WORK/none.json"

finish
