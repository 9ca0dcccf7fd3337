#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Each requirement about SCTP has what decides it, and a defect or a reason why none can break it. The defects that have a meaning over SCTP are
# killed there, by what they name, the correct stack draws no alarm, and the legal variants draw nothing. By both texts, this is one part of
# PROVE_SCTP_PARTS (16), whose number is PROVE_SCTP_PART (10), and the same of the variants (PROVE_SCTP_VARIANTS: 30/150), with
# PROVE_SCTP_OWN (1) of those whose rows are of the text, by seed PROVE_SCTP_SEED (1). `make soak` proves all of them, with 50 seeds.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

echo "== rows"
expect 0 "the rows of RFC 5043 and of the draft" "$WARPCHECK" list 'SCTP*' --format jsonl
cp "$WORK/stdout" "$WORK/rows"
expect 0 "the rows of RFC 6581 that name SCTP" "$WARPCHECK" list 'EMPA-*' --format jsonl
jq -c 'select(.capability | contains("sctp"))' "$WORK/stdout" >>"$WORK/rows"
jq -c 'select(.observability != "spec")' "$WORK/rows" >"$WORK/bound"
holds "200 or more bind a device" test "$(wc -l <"$WORK/bound")" -ge 200
holds "22 or more of them are RFC 6581's" test "$(grep -c '"id":"EMPA' "$WORK/bound")" -ge 22
jq -r 'select(.check == null and .rule == null) | .id' "$WORK/bound" >"$WORK/undecided"
holds "each has a check or a rule: $(tr '\n' ' ' <"$WORK/undecided")" test ! -s "$WORK/undecided"
jq -r 'select((.defects | length == 0) == (.no_defect == null)) | .id' "$WORK/bound" >"$WORK/unbroken"
holds "each has a defect, or a reason why it has none: $(tr '\n' ' ' <"$WORK/unbroken")" test ! -s "$WORK/unbroken"
expect 0 "a reader sees it" "$WARPCHECK" list --checks --rules --defects --no-defect SCTP-1-02 SCTP5043-2-01
says '^    rule    draft_checksum_crc32c$'
says '^    none    tolerance: RFC 2960 as printed'
says '^    defect  sctp-segment-elsewhere$'
expect 0 "those without a defect" "$WARPCHECK" list --no-defect 'SCTP*'
reasons=$(jq -r 'select(.no_defect != null and (.id | startswith("SCTP"))) | .id' "$WORK/rows" | sort -u | wc -l)
holds "there are some: $reasons" test "$reasons" -gt 0
holds "and each has its reason in the list" test "$(grep -c '^    none    ' "$WORK/stdout")" -eq "$reasons"

echo "== a part of the defects and variants"
parts=${PROVE_SCTP_PARTS:-16}
part=${PROVE_SCTP_PART:-10}
of_variants=${PROVE_SCTP_VARIANTS:-30/150}
legal() { # NAME PROVE-OPTIONS: those variants draw nothing
	expect 0 "$1" nice "$WARPCHECK" prove --variants --llp "$llp" --format jsonl "${@:2}"
	holds "each is legal" jq -se '.[-1] | .variants > 0 and .legal == .variants' "$WORK/stdout"
	# A device with one Read open does not serve what a few checks rest on: they are INCONCLUSIVE, and say so.
	holds "and leaves nothing open" jq -se 'all(.[]; .type != "variant" or .inconclusive == 0 or .variant == "reads-one-by-one")' "$WORK/stdout"
}
for llp in sctp sctp-draft02; do
	expect 0 "part $part of $parts over $llp" nice "$WARPCHECK" prove --llp "$llp" --seeds "${PROVE_SCTP_SEEDS:-$parts}" --shard "$part/$parts" --format jsonl
	holds "all killed, by what they name, and no alarm" jq -se '.[-1] | .defects > 20 and .killed == .defects and .false_alarms == 0 and .inconclusive == 0' "$WORK/stdout"
	tail -n 1 "$WORK/stdout"
	legal "part $of_variants of the variants" --shard "$of_variants"
	text=SCTP5043
	[ "$llp" = sctp ] || text=SCTP
	mapfile -t own < <(awk -F'\t' -v text="$text" '!/^#/ && $2 ~ "(^|,)" text "-" {print $1}' reference-stack/defects/variants.tsv |
		shuf -n "${PROVE_SCTP_OWN:-1}" --random-source=<(yes "${PROVE_SCTP_SEED:-1}"))
	legal "variants by the text's own rows: ${own[*]}" "${own[@]}"
done

echo "== legal devices that all checks meet, or whose segments are cut again"
llp=sctp-draft02
# SCTP-2.2-08, reading B: checks of DDP and RDMAP speak version 0, too.
legal "version 0 of DDP and RDMAP" sctp-version-0
# SCTP-7.2-15, reading A: no RDMAP Terminate. The tester learns the version without one, too.
expect 0 "no Terminate on aborted streams, with version 0" "$WARPCHECK" prove --llp "$llp" --choices sctp-aborted-silent,sctp-version-0 --format jsonl
holds "it is legal, and nothing is left open" jq -se '.[-1] | .legal == .devices and .inconclusive == 0' "$WORK/stdout"
expect 1 "such a device with a defect" "$WARPCHECK" run --simulate --llp "$llp" --choices sctp-aborted-silent --defect ddp-stream-unchecked DDP-7.1-10 DDP-8.2-02
says '^FAIL  DDP-8.2-02 '
holds "and without one" test "$(grep -c '^FAIL  DDP-7.1-10 ' "$WORK/stdout")" -eq 0
expect 0 "segments in falling order on a path that becomes narrower" "$WARPCHECK" run --simulate --llp "$llp" --variant segments-backwards SCTP-5-02
says '^2 PASS, 0 FAIL'
finish
