#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What kernel CI needs of the lab, without a guest: exit statuses in kselftest's numbers, the kselftest folder (against iwarp-peer in place of
# siw, over a veth pair), the program of lkp-tests' form, and bisect.sh, with which `git bisect run` finds the commit in a tree of four.
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash
labs=$PWD/conformance/labs/linux
# shellcheck disable=SC2034 # expect.bash looks at both
lines=any passes=any

echo "== kselftest's numbers"
run=("$WARPCHECK" run --simulate --exit-code)
expect 0 "what passes" "${run[@]}" kselftest DDP-7.2-01
expect 1 "what fails" "${run[@]}" kselftest DDP-7.2-01 --defect ddp-qn-wrong-code
expect 4 "nothing selected is a skip" "${run[@]}" kselftest 'NOPE-1*'
expect 1 "a wrong option fails" "${run[@]}" kselftest --no-such-option
expect 3 "ours, as ever" "${run[@]}" warpcheck 'NOPE-1*'
expect 2 "another harness" "${run[@]}" tap DDP-7.2-01
complains '^warpcheck run: --exit-code "tap": warpcheck or kselftest was expected$'
echo "== before the guest"
expect 3 "a lab's selection without checks is refused before its guest boots" env QEMU=/nowhere/qemu LAB="$WORK/lab" "$WARPCHECK" run --dut linux-siw 'NOPE-1*'
complains 'NOPE-1\*'
holds "and before an image is built" test ! -e "$WORK/lab"

echo "== the lab's name"
mkdir -p "$WORK/labs/linux"
# shellcheck disable=SC2016 # the script's own parameters
printf '#!/bin/sh\necho "lab: $*"\n' >"$WORK/labs/linux/run.sh"
chmod +x "$WORK/labs/linux/run.sh"
for named in '--dut linux-siw-6.12' --dut=linux-siw-6.12; do
	# shellcheck disable=SC2086 # one word or two
	expect 0 "$named" env WARPCHECK_LABS="$WORK/labs" "$WARPCHECK" run $named DDP-7.2-01 -j 1
	says '^lab: --series 6\.12 DDP-7\.2-01 -j 1$'
done

echo "== the kselftest folder"
test_script=$labs/kselftest/warpcheck_siw.sh
skips() { # WHAT COMMAND...: exit status 4, with a reason in KTAP and nothing else
	local status=0
	"${@:2}" >"$WORK/stdout" 2>"$WORK/stderr" || status=$?
	holds "$1: a skip" test "$status" -eq 4
	holds "$1: with a reason" grep -qE '^1\.\.0 # SKIP .' "$WORK/stdout"
}
skips "without warpcheck" env WARPCHECK=/nowhere/warpcheck "$test_script"
skips "without a profile" env WARPCHECK="$WARPCHECK" WARPCHECK_AGENT=true WARPCHECK_PROFILE=/nowhere/x "$test_script"
holds "the Makefile names it" grep -qx 'TEST_PROGS := warpcheck_siw.sh' "$labs/kselftest/Makefile"
holds "config has options alone" test -z "$(grep -vE '^CONFIG_[A-Z0-9_]+=[ym]$' "$labs/kselftest/config")"
cat >"$WORK/agent" <<E2
#!/usr/bin/env bash
exec "$IWARP_PEER" --listen 9999 --control "\$2:\$4" --control-token "\$6" \$DEFECT
E2
chmod +x "$WORK/agent"
cat >"$WORK/profile" <<'E2'
{"name": "@NAME@", "address": "@ADDRESS@", "port": 9999, "interface": "tap0", "own_address": "@OWN@", "control": "@ADDRESS@:7471",
"control_token_file": "@TOKEN@", "capabilities": {}}
E2
as_peer=(env WARPCHECK="$WARPCHECK" WARPCHECK_AGENT="$WORK/agent" WARPCHECK_PROFILE="$WORK/profile" WARPCHECK_LINK=none WARPCHECK_IDS='DDP-7.2-01 MPA-7.1.1-02')
apart=(unshare --net --mount)
[ "$(id -u)" -eq 0 ] || apart=(unshare --user --map-root-user --net --mount)
# shellcheck disable=SC2016 # the inner shell expands it
inside=("${apart[@]}" bash -c 'mount -t tmpfs none /run && ip link set lo up && "$@"' inside)
if "${inside[@]}" ip link add one type veth peer name other 2>/dev/null; then
	expect 0 "a device that conforms" "${inside[@]}" "${as_peer[@]}" "$test_script"
	says '^TAP version 13$'
	says '^ok [0-9]+ - DDP-7\.2-01 '
	cp "$WORK/stdout" "$WORK/ktap"
	expect 1 "one that does not" "${inside[@]}" "${as_peer[@]}" DEFECT='--defect ddp-qn-wrong-code' "$test_script"
	says '^not ok [0-9]+ - DDP-7\.2-01 '
	cat "$WORK/stdout" >>"$WORK/ktap"
	expect 1 "the program of lkp-tests' form" "${inside[@]}" "${as_peer[@]}" DEFECT='--defect ddp-qn-wrong-code' ids=DDP-7.2-01 WARPCHECK_TEST="$test_script" "$labs/lkp/run"
	expect 0 "what it makes of it" bash -c "'$labs/lkp/parse' <'$WORK/ktap'"
	says '^warpcheck\.MPA-7\.1\.1-02\.pass: 1$'
	says '^warpcheck\.DDP-7\.2-01\.fail: 1$'
else
	echo "SKIPPED: namespaces with a veth pair cannot be made here"
fi

echo "== git bisect run"
tree=$WORK/tree git=(git -C "$WORK/tree" -c user.name=bisect -c user.email=bisect@localhost)
mkdir -p "$tree/drivers/infiniband/sw/siw"
"${git[@]}" init -q .
commit() {
	printf '%s\n' "$2" >"$tree/drivers/infiniband/sw/siw/siw_main.c"
	"${git[@]}" add -A
	"${git[@]}" commit -qm "$1"
}
commit first 'good 1' && first=$("${git[@]}" rev-parse HEAD)
commit second 'good 2'
commit "does not build" 'no C'
commit "does not boot" 'hangs'
commit "the culprit" 'fails 1' && culprit=$("${git[@]}" rev-parse HEAD)
commit last 'fails 2'
# What run.sh would do with such a tree: its results are in the folder after -o.
cat >"$WORK/run.sh" <<'E2'
#!/usr/bin/env bash
while [ $# -gt 0 ]; do [ "$1" != -o ] || out=$2; shift; done
case $(cat "$SIW_SOURCE/drivers/infiniband/sw/siw/siw_main.c") in
good*) verdict=PASS status=0 ;;
fails*) verdict=KNOWN status=5 ;;
hangs) echo "linux-siw: INCONCLUSIVE: the guest did not come up within 180 s" >&2; exit 4 ;;
*) echo "linux-siw: the image could not be built (see above)" >&2; exit 4 ;;
esac
mkdir -p "$out"
echo "{\"type\":\"journal\",\"id\":\"MPA-7.1.1-20\",\"found\":\"${verdict/KNOWN/FAIL}\"}" >"$out/results.jsonl"
[ "$verdict" = KNOWN ] || verdict=FAIL # a known deviation that does not occur
echo "{\"type\":\"result\",\"id\":\"MPA-7.1.1-20\",\"verdict\":\"$verdict\"}" >>"$out/results.jsonl"
exit "$status"
E2
chmod +x "$WORK/run.sh"
bisect=(env -C "$tree" BISECT_RUN="$WORK/run.sh" WARPCHECK="$WARPCHECK")
one() { # STATUS COMMIT-MESSAGE WHAT
	"${git[@]}" checkout -q ":/$2"
	expect "$1" "$3" "${bisect[@]}" "$labs/bisect.sh" MPA-7.1.1-20 responder
}
one 1 "the culprit" "a commit with the fault"
one 0 "second" "one without"
one 125 "does not build" "one that does not build"
one 125 "does not boot" "one that does not boot"
expect 128 "no such requirement" "${bisect[@]}" "$labs/bisect.sh" MPA-9.9-99
expect 128 "no requirement" "${bisect[@]}" "$labs/bisect.sh"
"${git[@]}" checkout -q ":/last"
"${git[@]}" bisect start HEAD "$first" >"$WORK/bisect" 2>&1
"${bisect[@]}" git bisect run "$labs/bisect.sh" MPA-7.1.1-20 responder >>"$WORK/bisect" 2>&1 || true
# Two commits before it cannot be tried: git names them beside the culprit.
holds "git bisect finds the commit, or it and those that cannot be tried" grep -q "$culprit" "$WORK/bisect"
holds "and not those that are good" test -z "$(sed -n '/could be any of/,$p' "$WORK/bisect" | grep "$("${git[@]}" rev-parse ':/second')")"
finish
