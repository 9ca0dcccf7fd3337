#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a person sees while a run goes: on a terminal a line of progress, elsewhere none, and with --quiet the closing lines alone.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

failing=(run --simulate --defect ddp-qn-wrong-code DDP-7.2-01)
echo "== --quiet"
expect 1 "a run that fails" "$WARPCHECK" "${failing[@]}"
says '^FAIL  DDP-7.2-01'
says 'does not conform'
expect 1 "the same with --quiet" "$WARPCHECK" "${failing[@]}" --quiet -o "$WORK/quiet"
says 'does not conform'
says '[0-9]+ PASS, [1-9][0-9]* FAIL'
holds "says nothing of a result" test -z "$(grep -E '^(PASS|FAIL|WARN)  |expected|replay' "$WORK/stdout")"
holds "but results.jsonl does" grep -q '"id":"DDP-7.2-01".*"verdict":"FAIL"' "$WORK/quiet/results.jsonl"
holds "and so does the page" grep -q 'DDP-7.2-01' "$WORK/quiet/index.html"
expect 0 "a run that conforms, with --quiet" "$WARPCHECK" run --simulate DDP-7.2-01 --quiet
says '^conforms in everything that was exercised'
expect 1 "an audit that fails" "$WARPCHECK" audit pcaps/generated/bad-crc.pcap
says '^FAIL  '
expect 1 "the same with --quiet" "$WARPCHECK" audit pcaps/generated/bad-crc.pcap --quiet
says 'does not conform'
holds "says nothing of a result" test -z "$(grep -E '^(PASS|FAIL|WARN)  ' "$WORK/stdout")"
expect 2 "--quiet and --all" "$WARPCHECK" run --simulate --quiet --all
expect 2 "--quiet and --ladders" "$WARPCHECK" run --simulate --quiet --ladders
expect 2 "--quiet and --all of audit" "$WARPCHECK" audit pcaps/generated/bad-crc.pcap --quiet --all

echo "== progress"
# on_terminal ARGUMENT...: what it shows on a terminal of its own
on_terminal() {
	TERM=xterm timeout -k 5 120 script -qec "'$WARPCHECK' $*" /dev/null </dev/null >"$WORK/terminal"
}
on_terminal run --simulate "'DDP-7.*'"
holds "a terminal gets the line, with what runs and how much is done" grep -qE '\[1/[0-9]+[^]]*\] DDP-7' "$WORK/terminal"
on_terminal run --simulate "'DDP-7.*'" --quiet
holds "with --quiet it does not" test -z "$(grep -E '\[[0-9]+/[0-9]+' "$WORK/terminal")"
holds "it gets the closing lines" grep -q 'conforms in everything' "$WORK/terminal"
captures=(pcaps/generated/bad-crc.pcap pcaps/generated/atomics.pcap)
on_terminal audit "${captures[@]}" || test $? -eq 1
holds "an audit's line has the capture, and how many are done" grep -qE '\[1/2[^]]*\] pcaps/generated/atomics.pcap' "$WORK/terminal"
on_terminal audit -j 2 "${captures[@]}" || test $? -eq 1
holds "also with several processes" grep -qE '\[1/2[^]]*\] pcaps/generated/atomics.pcap' "$WORK/terminal"
on_terminal audit "${captures[@]}" --format jsonl || test $? -eq 1
holds "but not among lines for programs" test -z "$(grep -E '\[[0-9]+/[0-9]+' "$WORK/terminal")"
on_terminal audit "${captures[@]}" --quiet || test $? -eq 1
holds "nor with --quiet" test -z "$(grep -E '\[[0-9]+/[0-9]+' "$WORK/terminal")"
expect 0 "not on a terminal" "$WARPCHECK" run --simulate 'DDP-7.*'
holds "no progress" test -z "$(grep -E '\[[0-9]+/[0-9]+' "$WORK/stdout")"
finish
