#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tools/systems.sh and tools/arch.sh, without the network: what they refuse, and that a suite which could not be had is never one that
# holds. Then tools/suite.bash itself, as root: what runs in another root may make user namespaces, which a chroot refuses, and has devices,
# terminals and its own processes. (The runs with fresh Debians are fresh-debian.sh, `make suites` and `make arch`.)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source tests/e2e/expect.bash

for tool in systems arch; do
	expect 2 "$tool.sh: an option as a name" "tools/$tool.sh" --trixie
	complains "'--trixie'"
done
expect 2 "a path is no suite" tools/systems.sh ../trixie
complains "'../trixie' is no suite's name"
expect 2 "an unknown step" env STEPS='demo dance' tools/systems.sh trixie
complains "unknown step 'dance'"
expect 2 "an unknown architecture" tools/arch.sh arm64 pdp11
complains "unknown architecture 'pdp11'"
expect 2 "make ARCH of the same" make ARCH=pdp11 help
complains 'ARCH=pdp11: expected amd64 arm64'
expect 2 "and tools/deps.sh" tools/deps.sh cross-pdp11
complains "unknown architecture 'pdp11'"
if [ "$(id -u)" -ne 0 ]; then
	expect 77 "an ordinary user" tools/systems.sh trixie
	complains 'root'
	finish
	exit
fi

# What is in its place fails as debootstrap does, after it has begun to write.
mkdir -p "$WORK/bin" "$WORK/roots"
cat >"$WORK/bin/debootstrap" <<'END'
#!/bin/sh
mkdir -p "$3/etc" && echo "E: no archive in reach" >&2
exit 1
END
chmod +x "$WORK/bin/debootstrap"
expect 77 "no archive in reach" env PATH="$WORK/bin:$PATH" ROOTS="$WORK/roots" OUT="$WORK/out" tools/systems.sh trixie other-suite
says '^SKIP  trixie: E: no archive in reach$'
says '^SKIP  other-suite: E: no archive in reach$'
complains 'nothing is known of these suites: trixie other-suite$'
holds "nothing is called ok" test "$(grep -c '^ok' "$WORK/stdout")" = 0
holds "nothing is left behind" test -z "$(ls -A "$WORK/roots")"
expect 77 "no archive in reach for other processors" env PATH="$WORK/bin:$PATH" ROOTS="$WORK/roots" OUT="$WORK/out" tools/arch.sh
says '^SKIP  no bookworm here: E: no archive in reach$'
holds "nothing is left behind either" test -z "$(ls -A "$WORK/roots")"

# A root of busybox's kind: this system's own programs and libraries, read-only, in another folder.
source tools/suite.bash
root=$WORK/root
mkdir -p "$root"/{usr,proc,sys,dev,tmp,etc,root}
for link in bin sbin lib lib64 lib32; do [ ! -L "/$link" ] || ln -s "usr/$link" "$root/$link"; done
cp /etc/passwd /etc/group "$root/etc/"
cat >"$WORK/there" <<END # COMMAND...: with /usr mounted there
#!/bin/bash
exec unshare --mount bash -c 'mount --make-rprivate / && mount --bind /usr "\$0/usr" && source tools/suite.bash && suite_inside "\$0" "\$@"' '$root' "\$@"
END
chmod +x "$WORK/there"
there=$WORK/there
if [ ! -L /bin ] || ! "$there" true 2>"$WORK/why"; then
	echo "no root of this system's own programs: $(sed -n 1p "$WORK/why" 2>/dev/null)"
else
	holds "in it, an ordinary user may make user and network namespaces" "$there" setpriv --reuid=65534 --regid=65534 --clear-groups \
		unshare --user --map-root-user --net true
	expect 1 "in a chroot not" unshare --mount bash -c "mount --bind /usr '$root/usr' && chroot --userspec=65534:65534 '$root' /usr/bin/unshare --user --map-root-user --net true"
	expect 0 "it has no other processes" "$there" sh -c 'ls -d /proc/[0-9]* | wc -l'
	holds "but its own few" test "$(cat "$WORK/stdout")" -lt 10
	holds "devices and terminals" "$there" sh -c 'echo x >/dev/null && test -c /dev/urandom && test -c /dev/ptmx && test -d /dev/shm'
	expect 3 "the exit status is the command's" "$there" sh -c 'echo "a line" >&2; exit 3'
	expect 0 "nothing of this environment" env SECRET=1 "$there" env
	holds "none" test -z "$(grep SECRET "$WORK/stdout")"
fi
finish
