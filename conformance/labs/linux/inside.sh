#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# inside.sh [--series 6.1|6.12] COMMAND [ARGUMENT...]: runs a command in the lab's kernel, for what this machine's own kernel has not: ESP, siw, network
# devices. The guest's files are this machine's, read only, but /tmp, /run and /root, which are its own and empty; it begins in the folder
# that this is called in, as root, without a network but loopback, and with PATH and HOME alone of the environment (`inside.sh env NAME=VALUE ...`).
# Output and exit status are the command's; 125 and the console's end: the guest did not come so far. QEMU, QEMU_ACCEL: as for run.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${QEMU:=qemu-system-x86_64}" "${QEMU_ACCEL:=tcg}"
series=6.1
if [ "${1:-}" = --series ]; then
	series=${2:?--series needs 6.1 or 6.12}
	shift 2
fi
[ $# -gt 0 ] || { echo "inside.sh: a command was expected" >&2; exit 2; }
complain() {
	echo "inside.sh: $1" >&2
	exit 125
}
command -v "$QEMU" >/dev/null || complain "$QEMU cannot be run (tools/deps.sh lab)"
image=$(LAB_INSIDE_IMAGE=1 "$here/build-image.sh" "$series") || complain "the image could not be built (see above)"
image=${image##*$'\n'}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$work/console"

# In the guest, from its own files on; a user namespace cannot be made by who is in a chroot that is no mount.
cat >"$work/begin" <<'GUEST'
cd /host
for part in proc sys dev; do mount --bind /$part $part; done
ln -sf /proc/self/fd /dev/fd
mkdir -p /dev/shm
mount -t tmpfs tmpfs dev/shm
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs root
mount -t tmpfs tmpfs tmp
mount --move . /
GUEST
printf 'cd %q && exec' "$PWD" >"$work/command"
printf ' %q' "$@" >>"$work/command"
run="mkdir /host && mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 host /host &&
cp /host$work/command / && command=\$(cat /command) && . /host$work/begin &&
chroot . /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 bash -c \"\$command\" </dev/null >/dev/ttyS1 2>&1
echo \"inside: status \$?\""

# cx16=off: as in run.sh.
setpriv --pdeathsig KILL "$QEMU" -accel "$QEMU_ACCEL" -cpu qemu64,cx16=off -m 1024 -smp 1 -display none -monitor none -no-reboot \
	-serial file:"$work/console" -serial stdio -kernel "$image/vmlinuz" -initrd "$image/initrd.gz" \
	-append "console=ttyS0 quiet loglevel=4 panic=-1 oops=panic no_timer_check ip4=10.78.0.2 ip6=fd78::2 run=$(base64 -w0 <<<"$run")" \
	-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
	-netdev hubport,id=n0,hubid=0 -device virtio-net-pci,netdev=n0 </dev/null 2>"$work/qemu" | tr -d '\r' || true
status=$(tr -d '\r' <"$work/console" | sed -n 's/^inside: status \([0-9]*\)$/\1/p' | tail -n 1) || true
if [ -z "$status" ]; then
	tail -n 5 "$work/qemu" >&2
	tr -d '\r' <"$work/console" | tail -n 20 | sed 's/^/console: /' >&2 || true
	complain "the guest ended before the command did"
fi
exit "$status"
