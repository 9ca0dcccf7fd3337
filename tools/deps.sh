#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# deps.sh GROUP...: makes sure that the Debian packages of the groups are installed; silent when they are.
# Groups: build (compile and run, what `make demo` needs), plugin (what the Wireshark plugin needs), test, bench, lint,
# page (a browser for the test of the pages, with axe-core from npm in build/axe), course, cluster, packages, suites, arch, abi, ipsec, all, and cross-ARCH
# (what make ARCH= needs in addition to build, for arm64, s390x, i386 and others). Only make, git, bash and apt are presumed. As an ordinary user
# the installation goes through sudo.
set -euo pipefail

# gcc only recommends libc6-dev, and recommendations are not installed.
build='gcc libc6-dev pkg-config libpcap-dev libnet1-dev libisal-dev liblua5.4-dev libuv1-dev libjansson-dev libxml2-dev
       libseccomp-dev zlib1g-dev libzstd-dev liblz4-dev libminizip-dev libmd-dev uthash-dev libusrsctp-dev libsystemd-dev iproute2'
test='lld zstd lz4 xz-utils libxml2-utils dpkg-dev debhelper strace debootstrap check perl python3 clang libclang-rt-dev llvm tshark jq xxd procps valgrind zsh fish
      man-db groff-base mandoc'
bench='tcpdump tshark jq procps time'
plugin='gcc libc6-dev pkg-config libisal-dev uthash-dev libwireshark-dev libglib2.0-dev'
# shellcheck disable=SC2034 # named by the group
lab='qemu-system-x86 busybox-static cpio kmod xz-utils patch make gcc libc6-dev bc libelf-dev iproute2 ethtool libjansson-dev
     libibverbs-dev librdmacm-dev ibverbs-providers rdmacm-utils perftest'
lab61='linux-headers-amd64 linux-source-6.1'
lab612='linux-headers-6.12-amd64 linux-source-6.12'
# a whole kernel, for build-kernel.sh of the lab
lab_kernel='flex bison bc libelf-dev make gcc libc6-dev linux-source-6.12'
# libabigail compares the library's binary interface with the one that is kept
# shellcheck disable=SC2034 # named by the group
abi='abigail-tools'
# one node, for the test of packaging/slurm
# shellcheck disable=SC2034 # named by the group
cluster='slurmctld slurmd slurm-client'
# shellcheck disable=SC2034 # named by the group
packages='build-essential dpkg-dev debhelper fakeroot lintian debootstrap rpm libibverbs-dev librdmacm-dev'
# a fresh Debian of another suite, for tools/wireshark-check.sh
# shellcheck disable=SC2034 # named by the group
suites='debootstrap'
# a whole system of another processor, for tools/arch.sh
# shellcheck disable=SC2034 # named by the group
arch='debootstrap qemu-system-arm cpio kmod xz-utils'
# Of another architecture: the libraries of `build`, by names that begin the packages' names...
cross_libraries='libc6-dev libpcap-dev liblua5.4-dev libuv1-dev libjansson-dev libxml2-dev libseccomp-dev zlib1g-dev libzstd-dev
       liblz4-dev libminizip-dev libmd-dev libusrsctp-dev libnet1 check'
# ... and those that Debian cannot have for two architectures at once: they are unpacked into SYSROOT, and nothing that is installed goes.
cross_unpacked='libnet1-dev libisal-dev libisal2'
# ... and of its packages: the plugin's and the agent's
cross_packages='libwireshark-dev libglib2.0-dev libibverbs-dev librdmacm-dev'
# the headers of the agent of the labs, which clang-tidy reads, too
lint='check clang clang-tidy clang-format cppcheck shellcheck libibverbs-dev librdmacm-dev'

# IKE and ESP of the tester, and of the devices that its test judges (docs/ipsec.md). Their service is not started: policy-rc.d below
# shellcheck disable=SC2034 # named by the group
ipsec='charon-systemd strongswan-swanctl libcharon-extra-plugins libstrongswan-standard-plugins strongswan-pki iproute2'
# shellcheck disable=SC2034 # named by the group
course='cmark-gfm'
# shellcheck disable=SC2034 # named by the group
page='chromium fonts-dejavu-core cmark-gfm'
command -v npm >/dev/null || page+=' nodejs npm'

# cross_wanted ARCH: compiler, emulator and libraries.
cross_wanted() {
	local gnu name
	case $1 in
	amd64) gnu=x86-64-linux-gnu ;;
	arm64) gnu=aarch64-linux-gnu ;;
	armhf) gnu=arm-linux-gnueabihf ;;
	i386) gnu=i686-linux-gnu ;;
	ppc64el) gnu=powerpc64le-linux-gnu ;;
	riscv64) gnu=riscv64-linux-gnu ;;
	s390x) gnu=s390x-linux-gnu ;;
	*) echo "deps.sh: unknown architecture '$1': expected amd64, arm64, armhf, i386, ppc64el, riscv64 or s390x" >&2; exit 2 ;;
	esac
	foreign+=" $1" wanted+=" gcc-$gnu gcc libc6-dev pkg-config uthash-dev qemu-user-static"
	for name in $cross_libraries; do wanted+=" $name:$1"; done
	for name in $cross_unpacked; do
		[[ $1 = i386 && $name = libisal* ]] || [ -e "${SYSROOT:=build/$1/sysroot}/.$name" ] || unpacked+=" $name:$1" # Debian has no ISA-L for i386
	done
}

# unpack PACKAGE...: into SYSROOT, as they are.
unpack() {
	local place package
	place=$(mktemp -d)
	chmod 755 "$place"
	(cd "$place" && apt-get -qq -o APT::Sandbox::User=root download "$@") >>"$log" 2>&1 || { cat "$log" >&2; echo "deps.sh: apt-get could not download: $*" >&2; exit 1; }
	mkdir -p "$SYSROOT"
	for package in "$place"/*.deb; do dpkg-deb -x "$package" "$SYSROOT"; done
	for package in "$@"; do touch "$SYSROOT/.${package%:*}"; done
	rm -rf "$place"
}

wanted='' axe='' foreign='' unpacked=''
for group in "$@"; do
	case $group in
	build | test | bench | lint | plugin | lab | cluster | packages | suites | arch | abi | course | ipsec) wanted+=" ${!group}" ;;
	page) wanted+=" $page" axe=${B:-build}/axe ;;
	lab-6.1) wanted+=" $lab61" ;;
	lab-6.12) wanted+=" $lab612" ;;
	lab-kernel) wanted+=" $lab_kernel" ;;
	cross-packages-*) for name in $cross_packages; do wanted+=" $name:${group##*-}"; done ;;
	cross-*) cross_wanted "${group#cross-}" ;;
	all) wanted+=" $build $test $bench $lint $plugin" ;;
	*) echo "deps.sh: unknown group '$group': expected build, test, bench, lint, plugin, page, lab, lab-6.1, lab-6.12, lab-kernel, cluster, packages, suites, arch, abi, course, ipsec, cross-ARCH or all" >&2; exit 2 ;;
	esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	# Not Debian: the names are printed only if something that the build cannot do without is plainly missing.
	if ! command -v pkg-config >/dev/null || ! pkg-config --exists libpcap libseccomp zlib libzstd liblz4 minizip libmd libuv jansson libxml-2.0 libisal ||
		! { pkg-config --exists lua5.4 || pkg-config --exists 'lua >= 5.4 lua < 5.5'; }; then
		echo "deps.sh: no apt-get here; please install what these Debian packages hold:" $wanted >&2
		exit 1
	fi
	exit 0
fi

# One name a line, without repeats; a word list by intention.
# shellcheck disable=SC2086
wanted=$(printf '%s\n' $wanted | LC_ALL=C sort -u)
# shellcheck disable=SC2086
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package} ${Architecture}\n' $wanted 2>/dev/null |
	awk -v own="$(dpkg --print-architecture)" '$1 == "installed" { print $2 ":" $3 } $1 == "installed" && ($3 == own || $3 == "all") { print $2 }' |
	LC_ALL=C sort -u) || true
missing=$(LC_ALL=C comm -23 <(printf '%s\n' "$wanted") <(printf '%s\n' "$installed") | paste -sd ' ')
# npm's package for the test of the pages: nothing of it is committed, and none of its scripts runs.
fetch_axe() {
	[ -z "$axe" ] || [ -s "$axe/node_modules/axe-core/axe.min.js" ] ||
		timeout 120 npm install --prefix "$axe" --no-save --ignore-scripts --no-audit --no-fund --fetch-retries=1 --loglevel=error axe-core@4.14.1 >&2
}
[ -n "$missing$unpacked" ] || { fetch_axe; exit 0; }

as_root=
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "deps.sh: missing packages, and neither root nor sudo to install them; as root: apt-get install $missing" >&2
		exit 1
	fi
	as_root=sudo
fi

echo "Installing Debian packages: $missing$unpacked" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The log is shown only if something goes wrong.
apt_get() {
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
		-o Dpkg::Use-Pty=0 "$@" </dev/null >>"$log" 2>&1
}
# A foreign source that cannot be refreshed does not matter as long as the packages themselves are found.
# Nothing but a name: packages of that architecture can be installed afterwards.
for architecture in $foreign; do
	[[ " $(dpkg --print-architecture) $(dpkg --print-foreign-architectures | paste -sd' ') " == *" $architecture "* ]] || $as_root dpkg --add-architecture "$architecture"
done
apt_get update || echo "deps.sh: apt-get update failed; trying with the package lists that are here" >&2
# A test wants the programs of a service, never the service: on a system that starts services it would answer at the host's addresses.
policy=/usr/sbin/policy-rc.d
if [[ $missing = *charon-systemd* ]] && [ ! -e $policy ]; then
	trap '$as_root rm -f "$policy"; rm -f "$log"' EXIT
	printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
	$as_root chmod 755 $policy
fi
# Nothing that is there may go for it: a package of another architecture can stand in the way of this one's.
# shellcheck disable=SC2086
if [ -n "$missing" ] && ! apt_get install --no-install-recommends --no-remove -y $missing; then
	cat "$log" >&2
	echo "deps.sh: apt-get could not install: $missing (see above); check /etc/apt/sources.list and the network" >&2
	exit 1
fi
# shellcheck disable=SC2086
[ -z "$unpacked" ] || unpack $unpacked
fetch_axe
