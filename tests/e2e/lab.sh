#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The lab (conformance/labs/linux): where QEMU is installed, Linux siw boots, is judged on a few requirements, and leaves
# nothing behind; without QEMU, with a guest that cannot boot, panics, or loses its agent, and without a tap device the run is
# INCONCLUSIVE. Where there is no QEMU at all: a SKIP that says so.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

# shellcheck source=tests/e2e/lab.bash
source tests/e2e/lab.bash
lab_or_skip

export WARPCHECK_LABS=$PWD/conformance/labs
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
	rm -rf "$WORK/bad"
}
bad "a guest that does not come up" "INCONCLUSIVE: the guest did not come up within 1 s" LAB_READY=never BOOT_SECONDS=1
bad "no QEMU" "/nowhere/qemu cannot be run" QEMU=/nowhere/qemu
bad "a kernel that QEMU cannot boot" "INCONCLUSIVE: the guest did not come up" LAB_KERNEL=/bin/true BOOT_SECONDS=20
# In the midst: the guest has accepted connections, that of the tester and four of checks.
# shellcheck disable=SC2016 # the guest's shell expands it
midst='accepted() { while read -r name _ _ _ _ _ passive _; do [ "$name $passive" = "Tcp: PassiveOpens" ] || [ "$name" != Tcp: ] || [ "$passive" -lt 5 ] || return 0; done </proc/net/snmp; return 1; }; until accepted; do sleep 0.1; done'
# A splat and a panic are FAILs of their own, with the first complaint, in all reports; a rerun alone in a fresh guest names the check.
host() { # WHAT PATTERN VARIABLE=VALUE...
	expect 1 "$1" env "${@:3}" "$WARPCHECK" run --dut linux-siw 'DDP-7.1-0*' --accept-known -o "$WORK/host"
	says "^FAIL  LAB-HOST-01  the guest's kernel (complains|ended during the run): $2"
	complains "^console: .*$2"
	holds "$1: nothing is left" clean
	holds "$1: a row in the results" jq -es --arg what "$2" 'map(select(.id == "LAB-HOST-01" and .verdict == "FAIL" and (.actual | test($what)))) | length == 1' "$WORK/host/results.jsonl"
	holds "$1: which the summary counts" jq -es '(map(select(.type == "result" and .verdict == "FAIL")) | length) == (map(select(.type == "summary"))[0].fail)' "$WORK/host/results.jsonl"
	for report in junit.xml results.tap index.html; do holds "$1: $report has it" grep -q 'LAB-HOST-01' "$WORK/host/$report"; done
	holds "$1: results.jsonl is as SHA256SUMS says" env -C "$WORK/host" sha256sum --quiet --ignore-missing -c SHA256SUMS
}
host "a guest that panics in the midst" 'Kernel panic' LAB_RERUN=no LAB_GUEST="\$AGENT >/dev/ttyS0 2>&1 & $midst; echo c >/proc/sysrq-trigger"
holds "the report has the console's end" grep -q 'Kernel panic' "$WORK/host/index.html"
rm -rf "$WORK/host"
host "a guest whose kernel warns in the midst" 'WARNING: made/up.c:1' LAB_JOBS=1 LAB_AFTER=none \
	LAB_GUEST="($midst; echo '<3>WARNING: made/up.c:1 at nothing' >/dev/kmsg) & \$AGENT >/dev/ttyS0 2>&1"
says '^FAIL  LAB-HOST-01  DDP-7\.1-0[0-9] as (responder|initiator) does it again, alone in a fresh guest'
holds "the row names it" jq -es 'map(select(.id == "LAB-HOST-01"))[0].message | test("does it again")' "$WORK/host/results.jsonl"
rm -rf "$WORK/host"
bad "an agent that dies" "console: init: the agent is gone" \
	LAB_GUEST="\$AGENT >/dev/ttyS0 2>&1 & agent=\$!; $midst; kill -9 \$agent; echo init: the agent is gone; sleep 600"
# Ended from outside while the guest boots.
ended() {
	local status=0 run
	env LAB_READY=never BOOT_SECONDS=600 "$WARPCHECK" run --dut linux-siw 'DDP-7.1-0*' >"$WORK/ended.txt" 2>&1 </dev/null &
	run=$!
	boots() { [ -n "$(find "$TMPDIR" -name console.txt -size +0)" ]; }
	eventually "$run" boots || return 1
	kill -TERM "$run"
	wait "$run" || status=$?
	[ "$status" -eq 143 ] && eventually $$ clean
}
holds "a run that is ended while the guest boots: nothing is left" ended
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

# The agent itself, by its control socket: what is wrong has an answer, and what is behind it is obeyed.
cat >"$WORK/agent" <<'A'
set -euo pipefail
exec 3<>/dev/tcp/10.78.0.2/7471
{
	jq -nc --rawfile token "$LAB_TOKEN" '{verb: "token", $token}'
	head -c 70000000 /dev/zero | tr '\0' x
	printf '\n{"verb":"no"}\n\0{"verb":"capabilities"}\n'
	echo '{"verb":"listen","port":9998,"receives":3}'
	echo '{"verb":"connect","address":"10.78.0.2","port":9998,"receives":500}'
} >&3
timeout 60 head -n 6 <&3
for ((i = 0; i < 100; i++)); do
	echo '{"verb":"poll"}' >&3
	timeout 120 head -n 1 <&3 >"$WORK/event" || true
	cat "$WORK/event" >>"$WORK/events"
	grep -q '"established"' "$WORK/event" && break
	sleep 0.1
done
echo '{"verb":"post_recv","stream":1,"count":13}' >&3
echo '{"verb":"post_recv","stream":1,"count":12,"length":10,"id":7}' >&3
echo '{"verb":"post_recv","stream":1}' >&3
echo '{"verb":"capabilities"}' >&3
timeout 60 head -n 4 <&3
A
agent_hears() {
	env WORK="$WORK" LAB_RUN="bash $WORK/agent" conformance/labs/linux/run.sh >"$WORK/heard" 2>"$WORK/heard.err"
}
holds "the agent, and a line above 64 MiB" agent_hears
holds "it is shown its token" jq -es '.[0].ok' "$WORK/heard"
sed -i 1d "$WORK/heard"
holds "it answers that one, and those behind it" jq -es 'map(.ok) == [false, false, false, true, true, false, true, false, true]' "$WORK/heard"
holds "the line is said to be too long" jq -es '.[0].error == "the line is too long"' "$WORK/heard"
holds "a zero octet is no end of a line" jq -es '.[2].error | test("JSON")' "$WORK/heard"
holds "receives are posted all or none" jq -es '.[5].error | test("13 receives more do not fit")' "$WORK/heard"

expect 5 "Linux siw: a good answer, and a known deviation" "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-02' 'MPA-7.1.1-17' --all -o "$WORK/siw"
says "^PASS  MPA-7.1.1-02"
says "^KNOWN  MPA-7.1.1-17"
says "^does not conform; it deviates as known: 1 result of 1 finding, nothing new"
holds "which is a TODO in TAP" grep -qE '^not ok 2 - MPA-7\.1\.1-17 .* # TODO 3: bits of the Request in the Reply' "$WORK/siw/results.tap"
holds "and suppressed in SARIF" jq -e '.runs[0].results | length == 1 and .[0].suppressions[0].status == "accepted"' "$WORK/siw/results.sarif"
expect 0 "the same, accepted" "$WARPCHECK" run --dut linux-siw 'MPA-7.1.1-02' 'MPA-7.1.1-17' --accept-known
# The same kernel as a tree that packages left, and a guest that runs already: the run within the run is one against the guest of the other.
image=${LAB:-${B:-build}/lab}/6.1
version=$(cat "$image/version")
mkdir -p "$WORK/tree/boot" "$WORK/tree/lib/modules/$version"
cp "$image/vmlinuz" "$WORK/tree/boot/vmlinuz-$version"
cp "$image/kernel/boot/config-$version" "$WORK/tree/boot/"
cp "$image/kernel/lib/modules/$version/modules.builtin" "$image/siw/siw.ko" "$WORK/tree/lib/modules/$version/"
ln -s "$(realpath "$image")/kernel/lib/modules/$version/kernel" "$WORK/tree/lib/modules/$version/kernel"
xz -0 "$WORK/tree/lib/modules/$version/siw.ko"
cat >"$WORK/within" <<'E2'
exec 3<>/dev/tcp/10.78.0.2/7472
echo 'echo "warn: $(cat /proc/sys/kernel/panic_on_warn) tree: $(ls /tree | grep -c siw)"; exit' >&3
timeout 60 head -n 1 <&3
env -u LAB_INSIDE -u LAB_RUN "$WARPCHECK" run --dut linux-siw --guest 10.78.0.2 --guest-token "$LAB_TOKEN" MPA-7.1.1-02 MPA-7.1.1-17 --all
E2
expect 5 "a kernel's tree, and its guest" env LAB_RUN="bash $WORK/within" conformance/labs/linux/run.sh --kernel-tree "$WORK/tree" --panic-on-warn
says '^warn: 1 tree: 1$'
says "^PASS  MPA-7.1.1-02"
says "^KNOWN  MPA-7.1.1-17"
holds "the console is kept" grep -q READY "$WORK/siw/console.txt"
holds "nothing is left" clean
finish
