#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-kernel.sh [--kernel-config NAME]... [--out DIR] TREE: builds a kernel for the lab out of TREE, a kernel's source: `make tinyconfig`
# with config/base.config and each config/NAME.config (plain, kasan, kcsan, lockdep, ubsan, kmemleak; a file with another name is taken too). TREE stays as
# it is: everything is in DIR (build/lab/kernels/NAME...), which is the last line of output, and what `run --dut linux-siw --kernel-tree` takes. What
# did not change is not compiled again. An option that the tree does not take is named: exit status 1. CC, MAKEFLAGS: as for the kernel.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${KERNEL_JOBS:=$(nproc)}"
names=() fragments=("$here/config/base.config") out=''
complain() {
	echo "build-kernel.sh: $1" >&2
	exit "${2:-1}"
}
while [ $# -gt 0 ]; do
	case $1 in
	--kernel-config | --kernel-config=*)
		[[ $1 != *=* ]] || set -- "${1%%=*}" "${1#*=}" "${@:2}"
		[ $# -ge 2 ] || complain "--kernel-config needs a name" 2
		if [ -e "$here/config/$2.config" ]; then
			fragments+=("$here/config/$2.config")
		elif [ -f "$2" ]; then
			fragments+=("$(realpath "$2")")
		else
			complain "--kernel-config $2: neither a file nor one of $(cd "$here/config" && printf '%s ' *.config | sed 's/base.config //; s/\.config//g; s/ $//; s/ /, /g')" 2
		fi
		names+=("$(basename "$2" .config)")
		shift
		;;
	--out) out=${2:?--out needs a folder} && shift ;;
	-*) complain "unknown option $1" 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -eq 1 ] || complain "one folder with a kernel's source was expected" 2
tree=$(realpath "$1")
[ -s "$tree/scripts/kconfig/merge_config.sh" ] || complain "$1: no kernel's source is there" 2
[ ${#names[@]} -gt 0 ] || names=(plain)
[ -n "$out" ] || out=${LAB:-${B:-$here/../../../build}/lab}/kernels/$(printf '%s-' "${names[@]}")$(echo "$tree" | sha256sum | cut -c 1-8)
mkdir -p "$out"
out=$(cd "$out" && pwd)
build=(make -C "$tree" O="$out" ${CC:+CC="$CC"})
log=$out/build.log

if [ ! -s "$out/.config" ] || ! cat "${fragments[@]}" | cmp -s - "$out/asked.config"; then
	"${build[@]}" tinyconfig >"$log" 2>&1 || { tail -n 20 "$log" >&2; complain "$tree: make tinyconfig"; }
	(cd "$tree" && scripts/kconfig/merge_config.sh -m -O "$out" "$out/.config" "${fragments[@]}") >>"$log" 2>&1
	"${build[@]}" olddefconfig >>"$log" 2>&1 || { tail -n 20 "$log" >&2; complain "$tree: make olddefconfig"; }
	cat "${fragments[@]}" >"$out/asked.config"
fi
# Debug options have other names, or none, in other trees: only what names the machine or a sanitiser decides.
missing=$(grep -h '^CONFIG_' "${fragments[@]}" | sort -u | grep -vxFf "$out/.config" | paste -sd ' ') || true
[ -z "$missing" ] || complain "$tree does not take: $missing"
"${build[@]}" -j "$KERNEL_JOBS" bzImage modules >>"$log" 2>&1 || { grep -aE 'error|Error' "$log" | tail -n 10 >&2; complain "$tree was not built: see $log"; }
echo "$out"
