#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Checks and rules go by the same capabilities: a device without the peer-to-peer model, whose profile says so, fails in no
# requirement that is conditional on it. The same device without that line of its profile fails in them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

device='{ "address": "10.99.0.2", "own_address": "10.99.0.3", "interface": "tester0", "port": 9999 }'
jq . <<<"$device" >"$WORK/silent.json"
jq '.capabilities["mpa.peer_to_peer"] = "no"' <<<"$device" >"$WORK/denied.json"
cat >"$WORK/inside.sh" <<'INSIDE'
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
cable device0 tester0 10.99.0.2/24 || exit 99
rm -f "$WORK"/*.peer
"$IWARP_PEER" --listen 9999 --defect empa-reply-a-zero >"$WORK/device.peer" 2>&1 &
peer=$!
prints $peer "$WORK/device.peer" READY || exit 99
for profile in silent denied; do
	"$WARPCHECK" run --dut "$WORK/$profile.json" 'EMPA-*' --role responder -o "$WORK/$profile" >"$WORK/$profile.txt" 2>&1
	echo "$profile $?"
done
kill $peer
INSIDE
export WORK WARPCHECK IWARP_PEER
expect 0 "both runs end" unshare -rn bash "$WORK/inside.sh"
failed() { jq -r 'select(.type == "result" and .verdict == "FAIL") | .id' "$WORK/$1/results.jsonl" | sort -u; }
conditional=$("$WARPCHECK" list --format jsonl | jq -r 'select(.capability | test("mpa\\.peer_to_peer")) | .id')
failed silent >"$WORK/silent.ids"
failed denied >"$WORK/denied.ids"
holds "a profile that says nothing of it: EMPA-9.2-13 fails" grep -qx EMPA-9.2-13 "$WORK/silent.ids"
holds "a profile that denies it: nothing that is conditional on it fails" \
	bash -c '! grep -Fx -f <(echo "$1") "$2"' - "$conditional" "$WORK/denied.ids"
# Flags beside A = 0 are a fault with or without that model.
holds "what is not conditional is judged still" grep -qx EMPA-9.2-28 "$WORK/denied.ids"
finish
