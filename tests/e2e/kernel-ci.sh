#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What kernel CI needs of the lab, without a guest: exit statuses in kselftest's numbers, other kernels (docs/lab-kernels.md), a guest that runs already and
# the kselftest folder (both against iwarp-peer in place of siw, over a veth pair), the program of lkp-tests' form, and bisect.sh, with which `git bisect run` finds the commit in a tree of four.
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

echo "== other kernels"
expect 2 "a tree is for a lab" "$WARPCHECK" run --simulate --kernel-tree "$WORK"
complains '^warpcheck run: --kernel-tree is for --dut linux-siw, linux-rxe and linux-sctp \(docs/lab-kernels\.md\)$'
expect 4 "no such tree for SCTP" env IWARP_PEER="$IWARP_PEER" "$WARPCHECK" run --dut linux-sctp --kernel-tree "$WORK/none" DDP-7.2-01
complains '^linux-sctp: --kernel-tree .*/none: no such folder$'
expect 4 "no such tree" "$WARPCHECK" run --dut linux-siw --kernel-tree "$WORK/none" DDP-7.2-01
complains '^linux-siw: --kernel-tree .*/none: no such folder$'
# An image of nothing, and trees whose modules are objects that name what they depend on.
image=$WORK/image tree=$WORK/kernel version=9.9.9
mkdir -p "$image/nothing" "$tree/lib/modules/$version/kernel" "$tree/boot"
(cd "$image/nothing" && find . | cpio -o -H newc --quiet | gzip -1) >"$image/initrd.gz"
module() { # NAME DEPENDS FOLDER
	printf '__attribute__((section(".modinfo"), used)) static const char depends[] = "depends=%s";\n' "$2" | gcc -c -x c -o "$3/$1.ko" -
}
modules=$tree/lib/modules/$version/kernel
echo kernel >"$tree/boot/vmlinuz-$version"
echo 6.1 >"$image/version"
build_tree=("$labs/build-tree.sh" "$image" "$tree")
if command -v cpio >/dev/null && command -v modinfo >/dev/null; then
	module virtio_net '' "$modules"
	module ib_core '' "$modules"
	module ib_uverbs ib_core "$modules"
	module rdma_ucm ib_uverbs "$modules"
	echo kernel/drivers/virtio/virtio_pci.ko >"$tree/lib/modules/$version/modules.builtin"
	expect 1 "a kernel without siw" "${build_tree[@]}"
	complains "no siw is there: the kernel needs CONFIG_RDMA_SIW, or --siw-source \\(docs/lab-kernels\\.md\\)"
	module siw ib_core "$modules"
	xz "$modules/siw.ko"
	mv "$modules/ib_core.ko" "$WORK/"
	expect 1 "a module that lacks another" "${build_tree[@]}"
	complains 'siw needs ib_core, which is not there'
	mv "$WORK/ib_core.ko" "$modules/"
	module virtio_pci '' "$modules" # of an earlier configuration: it is built in now
	printf 'CONFIG_KASAN=y\n# CONFIG_KCSAN is not set\n' >"$tree/boot/config-$version"
	expect 0 "a kernel with siw, packed" "${build_tree[@]}"
	made=$(tail -n 1 "$WORK/stdout")
	holds "its own kernel is what boots" cmp -s "$made/vmlinuz" "$tree/boot/vmlinuz-$version"
	holds "KASAN has memory" grep -qx 'memory=2048 processors=1 slow=yes leaks=no' "$made/machine"
	tail -c +$(($(stat -c %s "$image/initrd.gz") + 1)) "$made/initrd.gz" | zcat | cpio -it --quiet | sort | sed -n 's|^tree/[0-9]*-||p' >"$WORK/order"
	holds "modules come after what they need, and none that is built in" test "$(paste -sd ' ' "$WORK/order")" = 'virtio_net.ko ib_core.ko siw.ko ib_uverbs.ko rdma_ucm.ko'
	expect 0 "the same again" "${build_tree[@]}"
	touch "$tree/boot/vmlinuz-8.8.8"
	expect 1 "which of two kernels" "${build_tree[@]}"
	complains 'several kernels are in boot/, one was expected'
	rm -rf "${tree:?}/boot"
	expect 1 "no kernel at all" "${build_tree[@]}"
	complains 'neither arch/x86/boot/bzImage nor boot/vmlinuz-VERSION is there'
else
	echo "SKIPPED: cpio and modinfo are missing (tools/deps.sh lab)"
fi
expect 2 "a configuration that is none" "$labs/build-kernel.sh" --kernel-config kasam "$WORK"
complains 'kasam: neither a file nor one of kasan, kcsan, kmemleak, lockdep, plain, sctp, ubsan$'
expect 2 "no source" "$labs/build-kernel.sh" --kernel-config kasan "$WORK"
complains 'no kernel.s source is there'
# A source whose make does what it is asked, and knows no KCSAN.
mkdir -p "$WORK/source/scripts/kconfig"
echo >"$WORK/source/Kconfig"
cat >"$WORK/source/scripts/kconfig/merge_config.sh" <<'E2'
#!/bin/sh
out=$3
shift 4
cat "$@" >"$out/.config"
E2
chmod +x "$WORK/source/scripts/kconfig/merge_config.sh"
# shellcheck disable=SC2016 # make expands it
printf 'tinyconfig olddefconfig:\n\ttouch $(O)/.config && sed -i /KCSAN=/d $(O)/.config\nbzImage modules:\n\techo $@ >>$(O)/made\n' >"$WORK/source/Makefile"
expect 0 "a kernel is built with the options of a name" "$labs/build-kernel.sh" --kernel-config=kasan --out "$WORK/built" "$WORK/source"
says "^$WORK/built$"
holds "kernel and modules" test "$(sort "$WORK/built/made" | paste -sd ' ')" = 'bzImage modules'
holds "KASAN is in" grep -qx CONFIG_KASAN=y "$WORK/built/.config"
expect 1 "an option that the source does not take" "$labs/build-kernel.sh" --kernel-config kcsan --out "$WORK/built" "$WORK/source"
complains 'does not take: CONFIG_KCSAN=y'
prepared() ( # DEVICE: the kernel that is built for its run with --kernel-config plain
	# shellcheck disable=SC2034,SC2317 # kernel.bash reads and calls them
	here=$labs LAB_DEVICE=$1
	complain() { echo "$1" >&2 && exit 1; }
	export LAB=$WORK/lab
	source conformance/labs/linux/kernel.bash
	kernel_option --kernel-tree "$WORK/source"
	kernel_option --kernel-config plain
	kernel_prepare
	echo "$LAB_TREE"
)
holds "the kernel of linux-sctp has SCTP" grep -qx CONFIG_IP_SCTP=y "$(prepared linux-sctp)/.config"
holds "that of linux-siw has none" test -z "$(grep SCTP "$(prepared linux-siw)/.config")"
for config in "$labs"/config/*.config; do
	holds "$config has options alone" test -z "$(grep -vE '^(#.*|CONFIG_[A-Z0-9_]+=([ym]|[0-9]+))$' "$config")"
done

machine() ( # SERIES SLOW [DEVICE]: seconds that the guest may take to react, checks side by side, seconds to boot
	# shellcheck disable=SC2034 # kernel.bash reads them
	LAB_SERIES=$1 LAB_DEVICE=${3:-linux-siw} LAB_IMAGE=$WORK/machine
	mkdir -p "$WORK/machine"
	echo "memory=2048 processors=1 slow=$2 leaks=no" >"$WORK/machine/machine"
	source conformance/labs/linux/kernel.bash
	kernel_machine
	# shellcheck disable=SC2154 # set by kernel_machine
	echo "$reaction/$jobs/$BOOT_SECONDS"
)
for device in siw rxe sctp; do
	holds "a kernel with KASAN below $device may take longer for all" test "$(machine 6.1 yes "linux-$device") $(machine 6.12 yes "linux-$device")" = '30/3/600 30/3/600'
	holds "the profile of $device has how long" grep -q '"reaction_seconds": 2,' "$labs/linux-$device.json.in"
done
holds "siw of 6.12 has moments in which nothing happens" test "$(machine 6.12 no)" = 12/6/180
holds "that of Debian 12 reacts at once" test "$(machine 6.1 no)" = 2/6/180
holds "so does SCTP" test "$(machine 6.12 no linux-sctp)" = 2/8/180
holds "unless somebody knows better" test "$(LAB_REACTION=60 LAB_JOBS=1 BOOT_SECONDS=9 machine 6.12 yes)" = 60/1/9

echo "== a kernel that complains"
# Two shards, each with a complaint of its guest's kernel, as run.sh makes of it.
complained() ( # SHARD CONSOLE-LINE
	"$WARPCHECK" run --simulate 'DDP-7.1-0*' --shard "$1/2" -o "$WORK/shard$1" --quiet || exit 1
	mkdir -p "$WORK/work"
	echo "$2" >"$WORK/work/console"
	# shellcheck disable=SC2034 # host.bash reads them
	work=$WORK/work LAB_WORK=$WORK/work console=$WORK/work/console output=$WORK/shard$1 dut=linux-siw jobs=1
	source conformance/labs/linux/host.bash
	host_fails "the guest's kernel complains"
)
holds "the first shard" complained 1 'WARNING: first.c:1'
holds "the second" complained 2 'WARNING: second.c:2'
holds "the summary has its lines counted" jq -es '(map(.type == "summary") | index(true)) as $n | .[$n].chain.lines == $n and $n > 2' "$WORK/shard1/results.jsonl"
expect 1 "both merged" "$WARPCHECK" report --merge "$WORK/shard1" "$WORK/shard2" -o "$WORK/merged"
holds "the host's failure is in, once as any other id" jq -es 'map(select(.id == "LAB-HOST-01")) | length == 1 and .[0].verdict == "FAIL"' "$WORK/merged/results.jsonl"
sed -i 's/first\.c/other.c/' "$WORK/shard1/results.jsonl"
expect "2 4" "a row that was changed since" "$WARPCHECK" report --merge "$WORK/shard1" "$WORK/shard2" -o "$WORK/merged2"
complains 'shard1'

# What kernels of the lab have said of the faults of seeded-host.sh, shortened: the first complaint names a function of the module, where the trace does.
first_of() ( # what LAB-HOST-01 shows of the console on stdin
	# shellcheck disable=SC2034 # host.bash reads it
	console=$WORK/said
	cat >"$console"
	source conformance/labs/linux/host.bash
	host_first
)
holds "a leak is named by who asked for the memory" test "$(first_of <<'SAID'
READY device=siw0 control=7471
unreferenced object 0xffff888003922500 (size 16):
  comm "kworker/u4:2", pid 34, jiffies 4294911794
  hex dump (first 16 bytes):
    61 63 63 65 70 74 61 62 6c 65 92 03 80 88 ff ff  acceptable......
  backtrace (crc f4966308):
    __kmalloc_noprof+0x16c/0x190
    siw_recv_mpa_rr+0x122/0x158 [siw]
    siw_proc_mpareq+0x11/0x32f [siw]
SAID
)" = 'unreferenced object 0xffff888003922500 (size 16): siw_recv_mpa_rr [siw]'
holds "a cycle of locks by who closes it" test "$(first_of <<'SAID'
======================================================
WARNING: possible circular locking dependency detected
6.12.117 #1 Tainted: G           O
------------------------------------------------------
ksoftirqd/0/13 is trying to acquire lock:
ffff888004187cb0 (&qp->sq_lock){..-.}-{2:2}, at: siw_rdmap_complete+0x209/0x572 [siw]
SAID
)" = 'WARNING: possible circular locking dependency detected: siw_rdmap_complete [siw]'
holds "what UBSAN says" test "$(first_of <<'SAID'
link siw0/1 state ACTIVE physical_state LINK_UP netdev eth0
UBSAN: shift-out-of-bounds in /home/us/build/lab/6.1/tree-9d6fce40/siw/siw_qp_rx.c:707:26
shift exponent 16384 is too large for 32-bit type 'int'
SAID
)" = 'UBSAN: shift-out-of-bounds in siw/siw_qp_rx.c:707:26'
few() ( # the checks that a leak may be of
	"$WARPCHECK" run --simulate "$@" --role responder -o "$WORK/few" --force --quiet >/dev/null || exit 1
	# shellcheck disable=SC2034 # host.bash reads them
	work=$WORK/nothing output=$WORK/few jobs=1
	source conformance/labs/linux/host.bash
	host_moment
)
holds "a leak may be of the one check that ran" test "$(few DDP-7.1-01)" = 'DDP-7.1-01 responder'
holds "and is of none where many did" test -z "$(few 'DDP-7.1-*')"
holds "a file without the folder in which it was compiled" test "$(first_of <<'SAID'
BUG: sleeping function called from invalid context at /home/us/build/lab/6.1/tree-9d6fce40/siw/siw_qp_rx.c:683
in_atomic(): 1, irqs_disabled(): 1, non_block: 0, pid: 13, name: ksoftirqd/0
SAID
)" = 'BUG: sleeping function called from invalid context at siw/siw_qp_rx.c:683'

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
	# In place of the guest: a namespace in which iwarp-peer is device and agent.
	cat >"$WORK/guest" <<E2
set -e
ip netns add guest
ip link add tester type veth peer name eth0 netns guest
ip addr add 10.78.0.1/24 dev tester && ip link set tester up && ethtool -K tester tx off tso off gso off gro off >/dev/null 2>&1
ip -n guest addr add 10.78.0.2/24 dev eth0 && ip -n guest link set eth0 up && ip netns exec guest ethtool -K eth0 tx off tso off gso off gro off >/dev/null 2>&1
ip netns exec guest env LAB_LINK=none WARPCHECK_AGENT="$WORK/agent" "$labs/guest.sh" eth0 "$WORK/token" >"$WORK/guest.said" 2>&1 &
agent=\$!
trap 'kill \$agent 2>/dev/null' EXIT
for ((tries = 0; tries < 200; tries++)); do grep -qs READY "$WORK/guest.said" && break; sleep 0.1; done
"$WARPCHECK" run --dut linux-siw --guest 10.78.0.2 --guest-token "$WORK/token" DDP-7.1-01 MPA-7.1.1-02 --all "\$@"
E2
	echo of-the-guest-alone >"$WORK/token"
	expect 0 "a guest that runs already" "${inside[@]}" bash "$WORK/guest"
	says '^PASS  DDP-7\.1-01 '
	expect 1 "one that does not conform" env DEFECT='--defect ddp-qn-unchecked' "${inside[@]}" bash "$WORK/guest"
	says '^FAIL  DDP-7\.1-01 '
	says '^      replay    warpcheck run .* --dut linux-siw --guest 10\.78\.0\.2 --guest-token '
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
