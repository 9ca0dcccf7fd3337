# SPDX-License-Identifier: BSD-2-Clause
#
# A fresh Debian of any suite as a root of its own; to be sourced. Its processes have namespaces of mounts and processes, and their root is
# a file system of its own (pivot_root), so that they may make user namespaces: in a chroot the kernel refuses those.
#
#   suite_possible                  0, or 1 with a sentence on stdout: what is missing here
#   suite_name SUITE                0 if that may be the name of a suite
#   suite_fresh SUITE ROOT [PACKAGE...]
#                                   debootstrap, and these packages more; what it says goes to stdout and stderr
#   suite_inside ROOT COMMAND...    runs it there, with nothing of this environment but what SUITE_ENV (an array) has, and without input;
#                                   with SUITE_NET=own in a network namespace of its own that has loopback alone
#                                   with SUITE_EMULATED=1 programs of other processors are executed by qemu-user-static, which must be
#                                   there: in a user namespace of its own, whose handlers are nobody else's (Linux 6.7)
#   suite_tree ROOT FOLDER          the project as it stands in the working tree, a clone with its last commit, into that folder there
#
# ARCH: another architecture than this machine's, where its programs can be executed. MIRROR: where Debian comes from.
: "${MIRROR:=http://deb.debian.org/debian}" "${ARCH:=}" "${SUITE_NET:=}" "${SUITE_EMULATED:=}"
SUITE_ENV=()

suite_possible() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "root is needed to make a fresh Debian"
	elif ! command -v debootstrap >/dev/null; then
		echo "no debootstrap (tools/deps.sh suites)"
	elif ! unshare --mount --pid --fork true 2>/dev/null; then
		echo "no namespaces of mounts and processes can be made here"
	else
		return 0
	fi
	return 1
}

suite_name() { [[ $1 =~ ^[a-z][a-z-]*$ ]]; }

suite_fresh() {
	local suite=$1 root=$2 recipe=() foreign=()
	shift 2
	# A suite that is younger than this debootstrap is made as sid is.
	[ -e "/usr/share/debootstrap/scripts/$suite" ] || recipe=(/usr/share/debootstrap/scripts/sid)
	[ -z "$ARCH" ] || foreign=("--arch=$ARCH")
	debootstrap --variant=minbase "${foreign[@]}" "$suite" "$root" "$MIRROR" "${recipe[@]}" || return
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	# A mirror that stands still is good enough here: the signatures are checked all the same.
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'Acquire::Retries "3";' >"$root/etc/apt/apt.conf.d/50fresh"
	suite_inside "$root" apt-get -q update || return
	[ $# -eq 0 ] || suite_inside "$root" apt-get -q -y --no-install-recommends install "$@"
}

# The shell within the namespaces: $0 is the new root. What is mounted there is gone with its last process.
# shellcheck disable=SC2016 # of the inner shell
suite_enter='set -e
mount --make-rprivate /
mount --rbind "$0" "$0"
cd "$0"
mount -t proc proc proc
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs sys 2>/dev/null || true
mount -t tmpfs -o mode=755 devices dev
for device in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0"; do
	read -r name number <<<"$device"
	# In a user namespace no device is made.
	mknod -m 666 "dev/$name" c $number 2>/dev/null || { touch "dev/$name" && mount --bind "/dev/$name" "dev/$name"; }
done
mkdir -m 755 dev/pts
mkdir -m 1777 dev/shm
mount -t devpts -o newinstance,ptmxmode=666,mode=620 terminals dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
for n in "0 stdin" "1 stdout" "2 stderr"; do ln -s "/proc/self/fd/${n% *}" "dev/${n#* }"; done
if [ -n "$SUITE_EMULATED" ]; then
	mount -t binfmt_misc binfmt_misc proc/sys/fs/binfmt_misc
fi
mkdir -p .outside
pivot_root . .outside
cd /
umount -l /.outside
register() { [ ! -x "/usr/bin/qemu-$1-static" ] || printf "%s" ":qemu-$1:M::$2:$3:/usr/bin/qemu-$1-static:F" >/proc/sys/fs/binfmt_misc/register; }
little_mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff"
big_mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff"
zeros="\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
if [ -n "$SUITE_EMULATED" ]; then
	register aarch64 "\\x7fELF\\x02\\x01\\x01\\x00$zeros\\x02\\x00\\xb7\\x00" "$little_mask"
	register riscv64 "\\x7fELF\\x02\\x01\\x01\\x00$zeros\\x02\\x00\\xf3\\x00" "$little_mask"
	register ppc64le "\\x7fELF\\x02\\x01\\x01\\x00$zeros\\x02\\x00\\x15\\x00" "$little_mask"
	register s390x "\\x7fELF\\x02\\x02\\x01\\x00$zeros\\x00\\x02\\x00\\x16" "$big_mask"
	register arm "\\x7fELF\\x01\\x01\\x01\\x00$zeros\\x02\\x00\\x28\\x00" "$little_mask"
fi
"$@" # this shell stays, and waits for what nobody else waits for
exit $?'

# With all users and groups mapped, which takes a process outside.
suite_user() { # COMMAND...
	local process status=0 talk
	talk=$(mktemp -d)
	mkfifo "$talk/made" "$talk/mapped"
	# shellcheck disable=SC2016 # of the inner shell
	unshare --user bash -c 'echo $$ >"$0/made"; read -r _ <"$0/mapped"; exec "$@"' "$talk" "$@" &
	read -r process <"$talk/made"
	echo "0 0 4294967295" >"/proc/$process/uid_map" && echo "0 0 4294967295" >"/proc/$process/gid_map" || status=1
	echo >"$talk/mapped"
	wait "$process" || status=$?
	rm -rf "$talk"
	return "$status"
}

suite_inside() {
	local root=$1 user=() own=()
	shift
	[ -z "$SUITE_EMULATED" ] || user=(suite_user)
	# shellcheck disable=SC2016 # of the inner shell
	[ "$SUITE_NET" != own ] || own=(unshare --net bash -c 'ip link set lo up && exec "$@"' bash)
	SUITE_EMULATED=$SUITE_EMULATED "${user[@]}" "${own[@]}" unshare --mount --pid --fork --ipc --uts --kill-child bash -c "$suite_enter" "$root" \
		/usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "${SUITE_ENV[@]}" "$@" </dev/null
}

suite_tree() {
	local root=$1 folder=$2 name
	git clone -q --no-local --no-checkout . "$root$folder" || return
	git -C "$root$folder" remote remove origin
	git -C "$root$folder" reset -q
	# What is deleted, but not yet in a commit, is still in the index.
	git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
		[ ! -e "$name" ] && [ ! -L "$name" ] || printf '%s\0' "$name"
	done | tar --null -T - -c | tar -x --no-same-owner -C "$root$folder"
}
