#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device whose messages end within their header, or have the header of the other model, is judged: a check that reads a field of that
# header fails by it and says what came. It is no error of the check's script, whichever check reads whichever field.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any

echo "== no check stops at a field that did not come"
mapfile -t defects < <(awk -F '\t' '/^cut-/ { print $1 }' reference-stack/defects/defects.tsv)
holds "defects cut the header of every kind of message" test "${#defects[@]}" -ge 10
for defect in "${defects[@]}"; do
	expect 1 "a run with $defect" "$WARPCHECK" run --simulate --defect "$defect" -j 2 --format jsonl
	holds "no check ends with a script error" jq -se 'all(.[]; (.message // "") | contains("script error") | not)' "$WORK/stdout"
	holds "a header that is cut is a cause" jq -se 'any(.[]; .type == "result" and .verdict == "FAIL" and
		(.cause == "ddp-header-cut" or .cause == "rdmap-header-cut"))' "$WORK/stdout"
done

echo "== what is said of it"
# DEFECT ID VERDICT EXPECTED ACTUAL
said() {
	expect "$([ "$3" = FAIL ] && echo 1 || echo 0)" "$2 with $1" "$WARPCHECK" run --simulate --defect "$1" "$2" --role responder --format jsonl
	holds "it fails at a line of its own, by the header" jq -se --arg verdict "$3" --arg expected "$4" --arg actual "$5" 'any(.[]; .type == "result" and .by == "check" and
		.verdict == $verdict and .message == "a message has its whole header" and .expected == $expected and (.actual | contains($actual)) and
		(.script | test("lib/") | not))' "$WORK/stdout"
}
said cut-read-request RDMAP-5.5-21 FAIL 'the RDMA Read Request header: 28 octets, with SinkTO' 'with a cut header: 20 of 28 octets came'
said cut-send-later DDP-5.2-14 FAIL 'the DDP header: 18 octets' 'DDP segment with a cut header: 10 of 18 octets came'
said cut-atomic-request ATOM-5.2.2-09 FAIL 'the Atomic Request header: 52 octets, with RequestId' 'with a cut header: 42 of 52 octets came'
said cut-write-later DDP-4.2-07 FAIL 'the DDP header: 14 octets' 'DDP segment with a cut header: 5 of 14 octets came'
said rdmap-send-tagged-later RDMAP-4.6-01 FAIL 'an untagged DDP header, with MO' 'Send T 1 L 0'
said rdmap-send-tagged-later DDP-5.3-03 WARN 'an untagged DDP header' 'Send T 1 L 0'
said rdmap-write-untagged-last DDP-5.3-04 WARN 'a tagged DDP header' 'RDMA Write T 0 L 1'
said rdmap-read-request-tagged RDMAP-5.5-21 FAIL 'an untagged DDP header, with SinkTO' 'RDMA Read Request T 1 L 1'
said atom-request-tagged ATOM-5.2.2-09 FAIL 'an untagged DDP header, with RequestId' 'Atomic Request T 1 L 1'

# A check that waits for FPDUs to fall on a place ends although each is longer than was posted.
expect 1 "Sends longer than posted" "$WARPCHECK" run --simulate --defect mpa-ulpdu-twice MPA-4.3-19 --role initiator --format jsonl
holds "it is a FAIL of the Send, no script error" jq -se 'any(.[]; .type == "result" and .by == "check" and .verdict == "FAIL" and (.expected | startswith("a Send of ")))' "$WORK/stdout"

echo "== an error of the script stays one"
cat >"$WORK/nil.lua" <<'END'
check { id = "cut-nil", purpose = "a field that no header has", run = function(t) t:open():probe(); return nil + 1 end }
END
expect 2 "a script that reads nothing, on a device whose messages are whole" "$WARPCHECK" run --simulate --script "$WORK/nil.lua" cut-nil --format jsonl
holds "it is INCONCLUSIVE" jq -se 'any(.[]; .id == "cut-nil" and .verdict == "INCONCLUSIVE" and (.message | contains("script error")))' "$WORK/stdout"
# prove takes it for an alarm, also with a defect.
mkdir "$WORK/breaks"
cat >"$WORK/breaks/breaks.lua" <<'END'
check { id = "DDP-7.2-01", purpose = "breaks where another Terminate comes than its author had in mind", run = function(t)
  local c = t:open()
  c:send(rdmap.send { QN = 4, MSN = 1, data = "1" })
  if not is_terminate(c:receive(), "DDP_INVALID_QN") then error("not thought of") end
end }
END
expect 1 "prove, a check that breaks with a defect" "$WARPCHECK" prove --scripts "$WORK/breaks" --seeds 0 ddp-qn-wrong-code --format jsonl
holds "it is an alarm of that defect" jq -se 'any(.[]; .type == "alarm" and .defect == "ddp-qn-wrong-code" and (.text | contains("not thought of"))) and .[-1].false_alarms >= 1' "$WORK/stdout"
cp "$WORK/stdout" "$WORK/part"
expect 1 "and stays one where parts are joined" "$WARPCHECK" prove --merge "$WORK/part" --format jsonl
holds "it is no INCONCLUSIVE of the correct stack" jq -se '.[-1] | .false_alarms >= 1 and .inconclusive == 0' "$WORK/stdout"
finish
