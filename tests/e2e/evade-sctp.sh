#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Over SCTP, too, a device cannot evade judgement by packets and chunks that its peer does not take (RFC 9260 3.2, 6.2,
# 6.8, 8.5): a Send with a wrong MSN is found behind a good copy with its TSN that the receiver drops. Of two copies
# that the receiver may have taken nobody knows which one counts. One direction alone, whose SACKs tell of the other, is
# not all.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
lines=any passes=any

cat >"$WORK/evade.lua" <<'LUA'
corpus { folder = "evade", start = 1000000000, step = 0.0001 }
local function body(a, decoy)
  local i, r = a.initiator, a.responder
  a:open()
  i:control "Initiate"
  r:sack()
  r:control "Accept"
  i:sack()
  i:send(rdmap.send { data = ("a"):rep(20) })
  r:sack()
  local tsn, stream = i.tsn, i:stream(0)
  local function chunk(msn, user)
    local ssn, kept = stream.ssn, stream.msn[0]
    local ulpdu = stream.ulpdu
    stream.msn[0] = msn
    local octets = string.pack(">I2", ssn) .. stream:ulpdu(rdmap.send { data = ("b"):rep(20) })
    stream.msn[0] = kept
    return { data = { unordered = true, first = true, last = true, tsn = tsn, sid = 0, ppid = net.payload_protocols.segment, user = user or octets } }
  end
  if decoy then decoy(i, function(user) return chunk(2, user) end) end
  i:packet { chunk(9) }
  i.tsn, stream.ssn = tsn + 1, stream.ssn + 1
  r:sack()
  i:control "Terminate"
  r:sack()
  r:control "Terminate"
  i:sack()
  a:close()
end
local decoys = {
  none = false,
  tag = function(i, chunk) i:packet({ chunk() }, { tag = 0x12345678 }) end,
  sum = function(i, chunk) i:packet({ chunk() }, { checksum = 0 }) end,
  badsum = function(i, chunk) i:packet({ chunk() }, { checksum = 0x12345678 }) end,
  unknown = function(i, chunk) i:packet { { type = 0x35, value = "1234" }, chunk() } end,
  source = function(i, chunk) local kept = i.address; i.address = "192.0.2.77"; i:packet { chunk() }; i.address = kept end,
  empty = function(i, chunk) i:packet { chunk "" } end,
  copy = function(i, chunk) i:packet { chunk() } end,
}
for name, decoy in pairs(decoys) do
  capture { name = name, about = name, run = function() body(association {}, decoy) end }
end
LUA
expect 0 "the captures" "$WARPCHECK" gen --corpus "$WORK/made" "$WORK/evade.lua"
fails() { jq -r 'select(.verdict == "FAIL") | .id' "$WORK/stdout" | LC_ALL=C sort -u; }
expect 1 "without a decoy" "$WARPCHECK" audit --format jsonl "$WORK/made/evade/none.pcapng"
fails >"$WORK/fails"
holds "the MSN is wrong" grep -qx 'DDP-4.3-11' "$WORK/fails"

while read -r decoy row; do
	expect 1 "$decoy" "$WARPCHECK" audit --format jsonl "$WORK/made/evade/$decoy.pcapng"
	holds "$decoy: the same faults" cmp "$WORK/fails" <(fails)
	[ "$row" = - ] || holds "$decoy: its octets are unjudged" jq -es --arg row "$row" \
		'map(select(.type == "summary"))[0].account.unjudged[$row].octets > 0' "$WORK/stdout"
done <<-'LIST'
	tag sctp-stranger
	source sctp-stranger
	sum sctp-checksum
	badsum sctp-checksum
	unknown sctp-stopped
	empty -
LIST
expect "1 4" "two copies that differ: never exit status 0" "$WARPCHECK" audit --format jsonl "$WORK/made/evade/copy.pcapng"
holds "the second one is unjudged" jq -es 'map(select(.type == "summary"))[0].account.unjudged.conflict.octets > 0' "$WORK/stdout"

echo "== one direction"
for side in 1 2; do
	"$TSHARK" -r "$WORK/made/evade/none.pcapng" -Y "ip.src == 192.0.2.$side" -w "$WORK/side-$side.pcapng" 2>/dev/null
	expect "1 4" "what 192.0.2.$side sent" "$WARPCHECK" audit --format jsonl "$WORK/side-$side.pcapng"
	holds "what it acknowledges is missing" jq -es 'map(select(.type == "summary"))[0].account.missing.gap.items > 0' "$WORK/stdout"
done

echo "== SCTP in UDP, between any ports"
cat >"$WORK/udp.py" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
out, at = bytearray(data[:24]), 24
while at < len(data):
    head, count = data[at:at + 8], struct.unpack("<I", data[at + 8:at + 12])[0]
    frame = data[at + 16:at + 16 + count]
    ip, sctp = bytearray(frame[14:34]), frame[34:]
    ip[2:4] = struct.pack(">H", 28 + len(sctp))
    ip[9] = 17
    ip[10:12] = b"\0\0"
    frame = frame[:14] + bytes(ip) + struct.pack(">HHHH", 40001, 40002, 8 + len(sctp), 0) + sctp
    out += head + struct.pack("<II", len(frame), len(frame)) + frame
    at += 16 + count
open(sys.argv[2], "wb").write(out)
PY
editcap -F pcap "$WORK/made/evade/none.pcapng" "$WORK/none.pcap"
python3 "$WORK/udp.py" "$WORK/none.pcap" "$WORK/udp.pcap"
expect 1 "the same in UDP" "$WARPCHECK" audit --format jsonl "$WORK/udp.pcap"
holds "the same faults" cmp "$WORK/fails" <(fails)
finish
