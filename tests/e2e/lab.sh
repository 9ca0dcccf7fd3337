#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The lab (conformance/peers/linux): where QEMU is installed, Linux siw boots, is judged on a few requirements, and leaves
# nothing behind; without QEMU, with a guest that cannot boot, panics, or loses its agent, and without a tap device the run is
# INCONCLUSIVE. Where there is no QEMU at all: a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip

export WARPCHECK_PEERS=$PWD/conformance/peers
# shellcheck disable=SC2034 # expect.bash looks at it
lines=any
# The parts of a run live in TMPDIR and name it on their command lines.
export TMPDIR=$WORK/tmp
mkdir -p "$TMPDIR"
clean() { [ -z "$(ls -A "$TMPDIR")" ] && ! pgrep -f "$TMPDIR" >/dev/null; }

# bad WHAT REASON VARIABLE=VALUE...: INCONCLUSIVE, and nothing is left of it.
bad() {
	local what=$1 reason=$2
	shift 2
	expect 4 "$what" env "$@" "$WARPCHECK" run --dut linux-siw 'DDP-7.1-0*' -o "$WORK/bad"
	complains "$reason"
	holds "$what: nothing is left" clean
	[ ! -d "$WORK/bad" ] || holds "$what: a console is kept" test -s "$WORK/bad/console.txt"
	[ "$reason" != "INCONCLUSIVE: the guest died during the run" ] ||
		holds "$what: the report has the console's end" grep -q 'Kernel panic' "$WORK/bad/index.html"
	rm -rf "$WORK/bad"
}
bad "a guest that does not come up" "INCONCLUSIVE: the guest did not come up within 1 s" LAB_READY=never BOOT_SECONDS=1
bad "no QEMU" "/nowhere/qemu cannot be run" QEMU=/nowhere/qemu
bad "a kernel that QEMU cannot boot" "INCONCLUSIVE: the guest did not come up" LAB_KERNEL=/bin/true BOOT_SECONDS=20
bad "a guest that panics in the midst" "INCONCLUSIVE: the guest died during the run" \
	LAB_GUEST='warpcheck-agent >/dev/ttyS0 2>&1 & sleep 2; echo c >/proc/sysrq-trigger'
# shellcheck disable=SC2016 # the guest's shell expands it
bad "an agent that dies" "console: init: the agent is gone" \
	LAB_GUEST='warpcheck-agent >/dev/ttyS0 2>&1 & agent=$!; sleep 2; kill -9 $agent; echo init: the agent is gone; sleep 600'
cat >"$WORK/no-tap" <<'E2'
#!/usr/bin/env bash
exec unshare --mount bash -c 'mount --bind /dev/null /dev/net/tun && exec "$@"' no-tap "$@"
E2
chmod +x "$WORK/no-tap"
if "$WORK/no-tap" true 2>/dev/null; then
	expect 4 "a tap device that cannot be made" "$WORK/no-tap" "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-17'
	complains "the tap device could not be made"
	holds "a tap device that cannot be made: nothing is left" clean
fi

expect 0 "Linux siw: a good answer, and a known deviation" "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-02' 'MPA-7.1.1-17' --all -o "$WORK/siw"
says "^PASS  MPA-7.1.1-02"
says "^WARN  MPA-7.1.1-17"
holds "the console is kept" grep -q READY "$WORK/siw/console.txt"
holds "nothing is left" clean
finish
