#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/wireshark-check.sh, without the network: what it refuses, and that a suite which could not be had is never one that holds.
# (The run with fresh Debians is `make wireshark-check`.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

expect 2 "a suite's name is no option" tools/wireshark-check.sh --trixie
complains "'--trixie' is no suite's name"
expect 2 "nor a path" tools/wireshark-check.sh ../trixie
expect 2 "a test that is not there" env TESTS='dissector nowhere' tools/wireshark-check.sh
complains 'there is no tests/e2e/nowhere.sh'
expect 2 "no test at all" env TESTS=' ' tools/wireshark-check.sh
complains 'TESTS names no test'
if [ "$(id -u)" -ne 0 ]; then
	expect 77 "an ordinary user" tools/wireshark-check.sh trixie
	complains 'root'
	finish
	exit
fi
# What is in its place fails as debootstrap does, after it has begun to write.
mkdir -p "$WORK/bin" "$WORK/chroots"
cat >"$WORK/bin/debootstrap" <<'END'
#!/bin/sh
mkdir -p "$3/etc" && echo "E: no archive in reach" >&2
exit 1
END
chmod +x "$WORK/bin/debootstrap"
expect 77 "no archive in reach" env PATH="$WORK/bin:$PATH" CHROOTS="$WORK/chroots" tools/wireshark-check.sh trixie other-suite
says '^SKIP  trixie: E: no archive in reach$'
says '^SKIP  other-suite: E: no archive in reach$'
complains 'nothing is known of these suites: trixie other-suite$'
holds "nothing is called ok" test "$(grep -c '^ok' "$WORK/stdout")" = 0
holds "nothing is left behind" test -z "$(ls -A "$WORK/chroots")"
finish
