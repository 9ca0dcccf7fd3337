#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# run.sh [--series 6.1|6.12] [--ipsec] [kernel.bash's options] [warpcheck run's options]: judges Linux siw. Builds the image where it is not there, boots it
# under QEMU on a tap device in a namespace of its own, waits for READY, runs `warpcheck run` against it, and powers off.
# `warpcheck run --dut linux-siw` comes here. Works as root, and as an ordinary user where user namespaces may be made. The exit
# status is that of `warpcheck run` (README.md).
#
# With -o DIR the console is kept as DIR/console.txt. A kernel that complains (a splat), hangs or panics while it is judged is a FAIL of its
# own, LAB-HOST-01, with the first complaint and the checks that ran then; each of these is run again, alone in a fresh guest (LAB_RERUN=no:
# not), and the one that does it again is named (host.bash). A guest that does not boot, or is gone without a word, or in which rping does
# not work any more afterwards, is INCONCLUSIVE: exit status 4, with the console's tail; what failed before has failed: 1.
# --ipsec: the guest's streams are inside ESP, by its kernel and a strongSwan (ipsec.bash, docs/ipsec.md); one check at a time.
# LAB_SHELL=1 gives a shell in the namespace in place of the run; LAB_RUN='command' another command. SIW_PATCH: see build-image.sh.
# Others than usual: QEMU, QEMU_ACCEL (tcg), LAB_KERNEL, LAB_GUEST (what the guest runs, $AGENT among it; LAB_BESIDE=yes: for $jobs checks side by
# side, else for one), LAB_JOBS (6, or 8 over SCTP, or 3 where the kernel's options make it slow: so many checks side by side, each with an agent, an
# address and a MAC of its own, unless the options have -j or --destructive), LAB_READY (what it says then), LAB_FIXED (what the agent says of siw), LAB_DEVICE (whose profile
# is taken; run-rxe.sh, run-sctp.sh), LAB_LLP (its "llp"), LAB_AFTER=none (no rping afterwards).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${WARPCHECK:=$root/build/warpcheck}" "${QEMU:=qemu-system-x86_64}" "${QEMU_ACCEL:=tcg}"
: "${LAB_DEVICE:=linux-siw}"

# shellcheck source=conformance/labs/linux/apart.bash
source "$here/apart.bash"
# shellcheck source=conformance/labs/linux/host.bash
source "$here/host.bash"
# shellcheck source=conformance/labs/linux/ipsec.bash
source "$here/ipsec.bash"
# shellcheck source=conformance/labs/linux/kernel.bash
source "$here/kernel.bash"

# The folder of results, if any: what follows -o.
output='' previous=''
for option in "$@"; do
	[ "$previous" != -o ] || output=$option
	previous=$option
done

complain() {
	echo "$LAB_DEVICE: $1" >&2
	exit 4
}

# exit_with STATUS: a run's exit status, in the numbers that --exit-code asks for (conformance/engine/run/exit_code.h).
exit_with() {
	local status=$1
	if [ "$code" = kselftest ]; then
		case $status in 0) ;; 5) status=2 ;; 3 | 4) status=4 ;; *) status=1 ;; esac
	fi
	exit "$status"
}

# Everything lives in namespaces that end with this process, however it ends: --kill-child takes the guest along, and
# the tap device goes with its namespace.
if [ "${LAB_INSIDE:-}" != 1 ]; then
	series=6.1
	options=() code=warpcheck # --exit-code: in whose numbers the exit status is, at the end of all
	if [ "${1:-}" = --series ]; then
		series=${2:?--series needs 6.1 or 6.12}
		shift 2
	fi
	while [ $# -gt 0 ]; do
		case $1 in
		--exit-code) code=${2:?--exit-code needs warpcheck or kselftest} && shift ;;
		--exit-code=*) code=${1#*=} ;;
		--ipsec) export LAB_IPSEC=1 LAB_JOBS=1 ;;
		*)
			kernel_option "$@" || { options+=("$1") && shift && continue; }
			[[ $1 = *=* || $1 = --panic-on-warn ]] || shift
			;;
		esac
		shift
	done
	kernel_prepare
	set -- "${options[@]}"
	LAB_WORK=$(mktemp -d) # goes with this process, also where what is inside was killed
	trap 'rm -rf "$LAB_WORK"' EXIT
	# What selects nothing is refused before a guest is booted for it.
	sed -e 's/@ADDRESS@/10.78.0.2/; s/@OWN@/10.78.0.3/; s/@NAME@/siw/; s/@DUT@/siw/; s/"@BESIDE@"//; s/@LLP@/tcp/; s,@TOKEN@,'"$LAB_WORK"'/token,' \
		"$here/$LAB_DEVICE.json.in" >"$LAB_WORK/dry.json"
	echo only-to-look-at-the-selection >"$LAB_WORK/token"
	chosen=0
	[ -n "${LAB_SHELL:-}${LAB_RUN:-}${LAB_LLP:-}" ] || "$WARPCHECK" run --dut "$LAB_WORK/dry.json" --dry-run --quiet "$@" >"$LAB_WORK/dry" 2>&1 || chosen=$?
	if [ "$chosen" -eq 3 ]; then
		grep -a '^warpcheck' "$LAB_WORK/dry" >&2
		if [ "$code" = kselftest ]; then exit 4; else exit 3; fi
	fi
	[ -z "$guest_address" ] || guest_run "$@"
	image=$("$here/build-image.sh" "$series") || complain "the image could not be built (see above)"
	export LAB_INSIDE=1 LAB_IMAGE=${image##*$'\n'} LAB_SERIES=$series WARPCHECK LAB_APPEND LAB_NAMED
	export LAB_WORK
	status=0
	apart "${BASH_SOURCE[0]}" "$@" || status=$?
	host_reruns
	exit_with "$status"
fi

work=$LAB_WORK
console=$work/console.txt
[ -w /dev/net/tun ] || complain "/dev/net/tun cannot be opened: no tap device for the guest"
{
	ip link set lo up
	ip tuntap add dev tap0 mode tap
	echo 1 >/proc/sys/net/ipv6/conf/tap0/disable_ipv6 # no solicitations of ours on the wire
	ethtool -K tap0 tso off gso off gro off # the ring of the capture then has room for frames of the MTU, and for so many more
	ip link set tap0 up
	ip addr add 10.78.0.1/24 dev tap0
} 2>"$work/error" || complain "the tap device could not be made: $(tail -n 1 "$work/error")"

# How many checks side by side. A check that may end the guest runs alone, or nobody could say which one it was.
kernel_machine
asked='' previous=''
for option in "$@"; do
	case $previous$option in -j[0-9]*) jobs=${option#-j} asked=yes ;; esac
	[ "$option" != --destructive ] || [ -n "$asked" ] || jobs=1
	previous=''
	[ "$option" != -j ] || previous=-j
done
[[ $jobs =~ ^[1-9][0-9]?$ ]] || jobs=1 # warpcheck says what is wrong with it
[ -z "${LAB_GUEST:-}" ] || [ "${LAB_BESIDE:-}" = yes ] || jobs=1

# What is obeyed by an agent has shown this.
head -c 24 /dev/urandom | base64 -w0 >"$work/token"

initrd=$LAB_IMAGE/initrd.gz
address=10.78.0.2 own=10.78.0.3 name=$LAB_DEVICE-$LAB_SERIES
if [ -n "${LAB_IPSEC:-}" ]; then
	[ "$LAB_DEVICE" = linux-siw ] || complain "--ipsec is for siw"
	jobs=1 asked=yes
	ipsec_files "$initrd" || complain "the keys of the guest's IPsec could not be made: $(tail -n 1 "$work/pki.error")"
	initrd=$work/initrd.gz
fi

command -v "$QEMU" >/dev/null || complain "$QEMU cannot be run (tools/deps.sh lab)"
: "${LAB_FIXED:=$siw_fixed}"
# The agents of checks side by side come first: when the last one is ready, all are.
guest=${LAB_GUEST:-"nc -ll -p 7472 -e /bin/sh & for i in \$(seq 1 \$jobs); do \$AGENT --port \$((7472 + i)) --fixed $LAB_FIXED & done >/dev/null 2>&1
\$AGENT --fixed $LAB_FIXED >/dev/ttyS0 2>&1; echo \"init: the agent ended with \$?\""}
[ -z "${LAB_IPSEC:-}" ] || guest="$(ipsec_start)
$guest"
# cx16=off: after CMPXCHG16B, with which the guest's kernel allocates memory, QEMU 7.2 may have half of an address in EFLAGS, and the guest
# dies of a double fault; without it the kernel takes a lock.
# event_idx=off: with one processor QEMU's emulation orders no store before a later load, so that a notification between guest and QEMU
# can be lost. With an event index none would follow, and the guest would send nothing more; without it the next frame brings one.
# rcu_cpu_stall_timeout: on a loaded machine the emulated processor may stand still for longer than the 21 s after which a kernel calls that a stall.
setsid "$QEMU" -accel "$QEMU_ACCEL" -cpu qemu64,cx16=off -m "$memory" -smp "$processors" -display none -monitor none -serial file:"$console" -no-reboot \
	-kernel "${LAB_KERNEL:-$LAB_IMAGE/vmlinuz}" -initrd "$initrd" \
	-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic no_timer_check rcupdate.rcu_cpu_stall_timeout=120${LAB_APPEND:+ $LAB_APPEND} ip4=10.78.0.2 ip6=fd78::2 run=$(printf 'jobs=%d; echo %s >/token; AGENT="warpcheck-agent --address :: --token /token"; %s' "$jobs" "$(cat "$work/token")" "$guest" | base64 -w0)" \
	-netdev tap,id=n0,ifname=tap0,script=no,downscript=no \
	-device virtio-net-pci,netdev=n0,mac=52:54:00:78:00:02,guest_tso4=off,guest_tso6=off,host_tso4=off,host_tso6=off,gso=off,csum=off,guest_csum=off,mrg_rxbuf=off,event_idx=off \
	</dev/null >"$work/qemu.txt" 2>&1 &
machine=$!

# The console beside the results, if there are any; never through a link that somebody has put there.
keep_console() {
	[ -n "$output" ] && [ -s "$output/results.jsonl" ] || return 0
	tr -d '\r' <"$console" >"$work/kept.txt"
	cp --remove-destination "$work/kept.txt" "$output/console.txt"
}

# console_end LINES: the last of what the guest said; where its kernel complains, from the first complaint on however long
# the trace after it, with the little that led to it.
console_end() {
	local first total
	first=$(grep -anEm 1 "$complaints" "$console" | cut -d: -f1) || true
	total=$(wc -l <"$console")
	if [ -n "$first" ] && [ "$first" -le $((total - $1)) ]; then
		tr -d '\r' <"$console" | sed -n "$((first > 5 ? first - 5 : 1)),$((first + 200))p"
	else
		tr -d '\r' <"$console" | tail -n "$1"
	fi
}

# The same in the report: results.jsonl gets a line, index.html shows it.
report_console() {
	[ -n "$output" ] && [ -s "$output/results.jsonl" ] && [ ! -L "$output/results.jsonl" ] || return 0
	console_end 40 | tr -cd '\11\12\40-\176' |
		sed -z 's/\\/\\\\/g; s/"/\\"/g; s/\t/ /g; s/\n/\\n/g; s/.*/{"type":"console","text":"&"}\n/' | tr -d '\0' >>"$output/results.jsonl"
	host_sums
	"$WARPCHECK" report "$output" >/dev/null || true
}

# What happened to the guest, and the last of what it said.
show_console() {
	{
		echo "$LAB_DEVICE: $1"
		tail -n 5 "$work/qemu.txt"
		[ ! -f "$console" ] || console_end "${2:-20}" | sed 's/^/console: /'
	} >&2
}

# The guest is not what it was: no success, and known deviations are not all that there is.
undecided() { case $status in 0 | 5) status=4 ;; esac; }

# siw to itself, when all is over. The guest's shell listens on the tap device, which nobody else can reach. rping itself may lose a
# race at its end, and its server says nothing when it listens: the client asks again, and each pair has a port of its own. Only what
# fails each time does not work any more.
rping_works() {
	exec 3<>/dev/tcp/10.78.0.2/7472 || return 1
	cat >&3 <<-GUEST
		for port in 9990 9991 9992 9993; do
			rping -s -a $address -p \$port -C 10 >/dev/null 2>&1 &
			for try in 1 2 3 4 5; do
				timeout 5 rping -c -a $address -p \$port -C 10 -V && { echo "rping: 0"; exit; }
				sleep 0.2
			done
			kill \$! 2>/dev/null
		done
		echo "rping: 1"
		exit
	GUEST
	grep -q '^rping: 0' < <(timeout 60 cat <&3)
}

for ((tries = 0; ; tries++)); do
	grep -q "${LAB_READY:-READY device=}" "$console" 2>/dev/null && break
	if ! kill -0 "$machine" 2>/dev/null || [ "$tries" -ge $((BOOT_SECONDS * 5)) ]; then
		show_console "INCONCLUSIVE: the guest did not come up $(kill -0 "$machine" 2>/dev/null && echo "within $BOOT_SECONDS s" || echo "and ended")"
		exit 4
	fi
	sleep 0.2
done

dut=$name # as it is named to warpcheck again
[ "$LAB_SERIES" != 6.1 ] || dut=$LAB_DEVICE
for option in "$@"; do
	[ "$option" != --ipv6 ] || { address=fd78::2 own=fd78::3 dut+=' --ipv6'; }
done
beside='' # own address and MAC, the agent's port, and one at which it listens, for each check side by side
for ((i = 1; i <= jobs && jobs > 1; i++)); do
	beside+=${beside:+, }$(printf '{ "own_address": "%s%d", "own_mac": "02:77:63:00:00:%02x", "port": %d, "control": "10.78.0.2:%d" }' \
		"${own%3}" $((16 + i)) $((16 + i)) $((9900 + i)) $((7472 + i)))
done
dut+=${LAB_NAMED:-}
sed -e "s/@ADDRESS@/$address/; s/@OWN@/$own/; s/@NAME@/$name/; s,@DUT@,$dut,; s/\"@BESIDE@\"/$beside/; s/@LLP@/${LAB_LLP:-tcp}/; s,@TOKEN@,$work/token,
	s/\"reaction_seconds\": 2,/\"reaction_seconds\": $reaction,/" \
	"$here/$LAB_DEVICE.json.in" >"$work/profile.json"
[ -z "${LAB_IPSEC:-}" ] || { ipsec_profile "$work/profile.json" && dut+=' --ipsec'; }
options=()
for option in "$@"; do [ "$option" = --ipv6 ] || options+=("$option"); done
[ "$jobs" -eq 1 ] || [ -n "$asked" ] || options+=(-j "$jobs")

status=0
export LAB_PROFILE=$work/profile.json LAB_TOKEN=$work/token
if [ "${LAB_SHELL:-}" = 1 ]; then
	bash -i || status=$?
elif [ -n "${LAB_RUN:-}" ]; then
	bash -c "$LAB_RUN" || status=$?
else
	host_watch &
	watch=$!
	"$WARPCHECK" run --dut "$LAB_PROFILE" "${options[@]}" || status=$?
	kill "$watch" 2>/dev/null || true
fi
[ "$leaks" = no ] || [ -n "${LAB_SHELL:-}${LAB_RUN:-}" ] || host_leaks
keep_console
complains() { grep -qaE "$complaints" "$console"; }
if ! kill -0 "$machine" 2>/dev/null; then
	if complains; then
		show_console "the guest died during the run" 40
		host_fails "the guest's kernel ended during the run"
	else
		show_console "INCONCLUSIVE: the guest died during the run" 40
		undecided
	fi
	report_console
	exit "$status"
fi
if complains; then
	show_console "the guest's kernel complains" 40
	host_fails "the guest's kernel complains"
	report_console
elif [ -z "${LAB_SHELL:-}${LAB_RUN:-}" ] && host_hangs; then
	show_console "the guest hangs" 40
	host_fails "the guest answers nothing any more"
	report_console
elif [ -z "${LAB_SHELL:-}${LAB_RUN:-}${LAB_AFTER:-}" ] && ! rping_works; then
	show_console "INCONCLUSIVE: rping does not work any more after the run" 40
	undecided
fi
kill "$machine" 2>/dev/null || true
exit "$status"
