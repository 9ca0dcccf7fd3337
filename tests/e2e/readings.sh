#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What is wrong is named by the reading that fits it, and where it is: octets of a field in reverse order, a CRC field
# or pad octets that are missing, a length off by a header. The failures of a run say so in both roles, and an audit of
# frames alone does.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

run() { # DEFECT SELECT...
	expect 1 "a run with $1" "$WARPCHECK" run --simulate --defect "$1" "${@:2}" -o "$WORK/$1"
}
results() { jq -c 'select(.type == "result" and (.verdict == "FAIL" or .verdict == "WARN"))' "$WORK/$1/results.jsonl"; }

echo "== a field with its octets in reverse order"
while read -r defect hint selection; do
	read -ra selection <<<"$selection"
	run "$defect" "${selection[@]}"
	results "$defect" >"$WORK/failures"
	for role in initiator responder; do
		# shellcheck disable=SC2016 # variables of jq
		holds "$defect: the hint of a failure as $role says $hint" jq -es --arg hint "${hint//\~/ }" --arg role "$role" \
			'any(.[]; .role == $role and (.cause | IN("field-octets-reversed", "ulpdu-length-reversed")) and (.hint | startswith($hint)))' "$WORK/failures"
	done
	holds "$defect: at most two other entries" jq -es '[.[] | .cause // .id] | unique - ["field-octets-reversed", "ulpdu-length-reversed"] | length <= 2' "$WORK/failures"
done <<'DEFECTS'
reversed-ulpdu-length     ULPDU_Length MPA-4.1-0*
reversed-stag             STag RDMAP-4.3-01 DDP-4.2-01
reversed-to               TO RDMAP-4.3-01 DDP-4.2-01
reversed-msn              MSN DDP-4.3-11 RDMAP-2.4-02 RDMAP-5.2.1-09
reversed-sink-stag        SinkSTag RDMAP-4.4-* RDMAP-5.2.1-0* RDMAP-5.2.2-0* RDMAP-3.2-01
reversed-sink-to          SinkTO RDMAP-4.4-* RDMAP-5.2.1-0* RDMAP-5.2.2-0* RDMAP-3.2-01
reversed-size             RDMARDSZ RDMAP-4.4-* RDMAP-5.2.1-0* RDMAP-5.2.2-0* RDMAP-3.2-01
reversed-source-stag      SrcSTag RDMAP-4.4-* RDMAP-3.2-01
reversed-source-to        SrcTO RDMAP-4.4-* RDMAP-3.2-01
reversed-terminate-length Length~of~Terminates RDMAP-4.8-* RDMAP-7.1-0*
reversed-request-id       RequestId ATOM-5.2.2-* ATOM-5.1.1-*
reversed-value            Value ATOM-5.1.1-04 ATOM-5.2.1-24
DEFECTS
# Whose fault it is: the Request that came reversed, and not the Response that answered it.
for defect in reversed-sink-stag reversed-sink-to reversed-size; do
	holds "$defect: no cause is a Read Response's" bash -c "! grep -q '\"cause\":\"[^\"]*read-response' '$WORK/$defect/results.jsonl'"
done
expect 1 "an audit of a reversed MSN" "$WARPCHECK" audit "$WORK/reversed-msn/evidence" --allow-gaps -o "$WORK/audit-msn"
says '^one cause of [0-9]+ results: a number has its octets in reverse order \(field-octets-reversed\)$'

echo "== pad octets that are missing"
run length-send-3 'MPA-4.1-*' 'DDP-4.1-*'
results length-send-3 >"$WORK/failures"
holds "so many octets of so many came" jq -es 'any(.[]; .actual | test("26 of 28 octets of an FPDU, then nothing within the time limit"))' "$WORK/failures"
holds "nobody says that nothing came" jq -es 'all(.[] | select(.cause == "pad-length"); .actual | startswith("nothing") | not)' "$WORK/failures"
holds "the pad is named" jq -es '[.[] | select(.by == "check") | .hint // ""] | any(.[]; test("1 pad octet in place of 3"))' "$WORK/failures"

echo "== a CRC field that is missing"
run mpa-crc-omitted-when-off 'MPA-4.1-*' 'MPA-4.4-*'
results mpa-crc-omitted-when-off >"$WORK/failures"
holds "it is no pad" jq -es 'length > 4 and all(.[]; .id != "MPA-4.1-03" and (.cause | IN("fpdu-without-crc", "octets-missing")))' "$WORK/failures"
expect 1 "an audit of it" "$WARPCHECK" audit "$WORK/mpa-crc-omitted-when-off/evidence" --allow-gaps -o "$WORK/audit-crc"
says '^one cause of [0-9]+ results: FPDUs have no CRC field \(fpdu-without-crc\)$'
holds "no pad is found" jq -es 'all(.[]; .type != "result" or .id != "MPA-4.1-03" or .verdict == "PASS")' "$WORK/audit-crc/results.jsonl"

echo "== captures"
# audited NAME STATUS: of $WORK/NAME.lua, with every result.
audited() {
	"$WARPCHECK" gen "$WORK/$1.lua" -o "$WORK/$1.pcapng"
	expect "$2" "an audit of $1" "$WARPCHECK" audit "$WORK/$1.pcapng" --all --allow-gaps
}
not_said() { holds "$last: does not say '$1'" bash -c "! grep -qE -- '$1' '$WORK/stdout'"; }

for side in initiator responder; do
	other=$([ $side = initiator ] && echo responder || echo initiator)
	cat >"$WORK/swallows-$side.lua" <<-LUA
		local f = flow {}
		f:handshake()
		f:start({ C = false }, { C = false })
		f.initiator:send(rdmap.send { data = "1234" })
		f.$side:send(fpdu(rdmap.send { data = "1" }, { pad = "\\0" }))
		f.$side:send(rdmap.send { data = "the rest, which the FPDU before takes" })
		f.$side:send(rdmap.send { data = "and more" })
		f.$other:ack()
		f:close()
	LUA
	audited "swallows-$side" 1
	says "^FAIL  MPA-4.1-06  $side"
	says ' 1 FAIL,'
	says 'hint      the pad of FPDUs has another length'
	sed 's/{ pad = "[^"]*" }/{}/' "$WORK/swallows-$side.lua" >"$WORK/padded-$side.lua"
	audited "padded-$side" 0
	says '^PASS  MPA-4.1-01  '
	says '^PASS  MPA-4.1-03  '
	# ULPDU_Length of 26 octets without the DDP header, and of fewer and more.
	for length in 8 14 30; do
		cat >"$WORK/length-$side.lua" <<-LUA
			local f = flow {}
			f:open()
			f.initiator:send(rdmap.send { data = "1234" })
			f.$side:send(fpdu(rdmap.send { data = "12345678" }, { length = $length }))
			f.$side:send(rdmap.send { data = "more of it" })
			f:close()
		LUA
		audited "length-$side" 1
		says "^      hint      ULPDU_Length "
		says "FAIL  MPA-4.1-01  $side"
	done
done
printf '%s\n' 'local f = flow {}' 'f:handshake()' 'f:start({ Rev = 0, M = false, C = false }, { Rev = 0, M = true, C = true })' \
	'f:close()' >"$WORK/revision-0.lua"
audited revision-0 1
says '^FAIL  MPA-7.1.1-21  initiator'

echo "== a Request of Rev 0 without M and C, of a device that does not work with Rev 0"
cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/device.bash
stands peer "$IWARP_PEER" --control 7470 --defect mpa-request-revision-0 --defect mpa-crc-not-asked
judged --dut "$WORK/dut.json" -o "$WORK/dut" MPA-7.1.1-21 --role initiator
INSIDE
export WORK WARPCHECK IWARP_PEER
printf '{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999, "control": "127.0.0.1:7470", %s }\n' \
	'"capabilities": { "mpa.rev0": "no" }' >"$WORK/dut.json"
expect 1 "it is reported" unshare -rn bash "$WORK/inside.sh"
says '^FAIL  MPA-7.1.1-21  initiator'
finish
