#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device as verbs of user space have it: memory belongs to a Protection Domain and never to one stream. Such a device may count memory of a
# domain as shared, which no peer invalidates, or it may let a peer invalidate it (RFC 5040 8.1.1 leaves that open). Nothing fails on
# either; what can be asked of such memory is asked, and only what is about memory of one stream is skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
read -r -a peer_options <<<"$1"
stands peer "$IWARP_PEER" --control 7470 "${peer_options[@]}"
stands verbs perl tests/e2e/verbs_upper.pl 7471 7470
judged --dut "$WORK/verbs.json" -o "$WORK/$2" "${@:3}"
INSIDE
export WORK WARPCHECK IWARP_PEER
cat >"$WORK/verbs.json" <<'PROFILE'
{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7471",
  "capabilities": { "instrumented": "yes" } }
PROFILE
verdicts() { jq -r 'select(.type == "result" and .by == "check") | [.id, .verdict, .message // .pics // ""] | @tsv' "$WORK/$1/results.jsonl" >"$WORK/$1.txt"; }

# They name memory of one stream where the device has any, in a Send with Invalidate or otherwise.
named=(DDP-4.3-07 DDP-7.2-03 RDMAP-1.2-04 RDMAP-3.2-08 RDMAP-4.8-21 RDMAP-4.8-23 RDMAP-4.8-45 RDMAP-4.8-46 RDMAP-4.8-47 RDMAP-4.8-48
	RDMAP-4.8-49 RDMAP-5.3-18 RDMAP-7.2-04 RDMAP-7.2-05 RDMAP-7.2-06 RDMAP-7.2-12 ATOM-4.1-07 ATOM-5.2.1-06 ATOM-5.2.1-20)
# They send other messages, too, or nothing at all that matters to memory.
mixed=(RDMAP-4.2-06 RDMAP-5.3-03 RDMAP-5.3-07 RDMAP-5.3-13)
invalidating=(DDP-4.3-04 RDMAP-1.2-02 RDMAP-3.2-02 RDMAP-5.3-08 RDMAP-5.3-19 DDP-5.4-07)
# One of their several stimuli needs Markers, which such a device never asks for.
some_marked=(DDP-7.1-15 MPA-5.1-06)
one_stream=(DDP-8.2-02 DDP-8.2-05 DDP-8.3-03 DDP-8.3.1-04 RDMAP-8.1.1-03)

decided() { # NAME ID...: each was decided, and none of them failed
	local name=$1 id
	for id in "${@:2}"; do
		holds "$id is decided: $(grep -P "^$id\\t" "$WORK/$name.txt")" \
			bash -c "grep -qP '^$id\\t(PASS|AMBIGUOUS)' '$WORK/$name.txt' && ! grep -qP '^$id\\t(FAIL|WARN|INCONCLUSIVE)' '$WORK/$name.txt'"
	done
}

echo "== memory of a domain is shared: no peer invalidates it"
expect 0 "such a device conforms" unshare -rn bash "$WORK/inside.sh" "" shared "${named[@]}" "${mixed[@]}" "${invalidating[@]}" "${some_marked[@]}" "${one_stream[@]}"
verdicts shared
decided shared "${named[@]}" "${mixed[@]}" "${some_marked[@]}"
for id in "${invalidating[@]}"; do
	holds "$id needs such memory" grep -qP "^$id\\tSKIP\\tthe device lets no peer invalidate memory of a Protection Domain" "$WORK/shared.txt"
done
for id in "${one_stream[@]}"; do
	holds "$id is about memory of one stream" grep -qP "^$id\\tSKIP\\tthe device cannot be asked to reg_mr so" "$WORK/shared.txt"
done

echo "== memory of a domain can be invalidated by a peer"
expect 0 "such a device conforms" unshare -rn bash "$WORK/inside.sh" "--defect rdmap-invalidate-shared" open "${mixed[@]}" "${invalidating[@]}" \
	DDP-4.3-07 RDMAP-7.2-04 RDMAP-7.2-05 RDMAP-8.1.1-10
verdicts open
decided open "${mixed[@]}" "${invalidating[@]}" DDP-4.3-07 RDMAP-7.2-04 RDMAP-7.2-05 RDMAP-8.1.1-10
holds "the reading is named" jq -es 'any(.[]; .id == "RDMAP-8.1.1-10" and (.reading // "" | startswith("B")))' "$WORK/open/results.jsonl"

echo "== what such memory shows of faults"
catches() { # DEFECT... ID...: each check fails on a device with these defects
	local options='' ids=()
	for word in "$@"; do
		if [[ $word == *[a-z]* ]]; then options+="--defect $word "; else ids+=("$word"); fi
	done
	expect 1 "a device with $options" unshare -rn bash "$WORK/inside.sh" "$options" faulty "${ids[@]}" --force
	verdicts faulty
	for id in "${ids[@]}"; do holds "fails $id" grep -qP "^$id\\tFAIL" "$WORK/faulty.txt"; done
}
catches rdmap-invalidate-association-unchecked rdmap-invalidate-shared RDMAP-5.3-18 RDMAP-4.8-23 RDMAP-7.2-06
catches ddp-association-unchecked DDP-7.2-03
catches rdmap-late-sink-to RDMAP-4.8-46
catches rdmap-version-unchecked rdmap-invalidate-shared RDMAP-7.2-04
catches ddp-invalidated-by-word rdmap-invalidate-shared RDMAP-1.2-02 RDMAP-5.3-19
finish
