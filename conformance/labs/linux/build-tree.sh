#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-tree.sh OUT TREE: for build-image.sh, whose image is in OUT: the same image with the kernel of TREE, as a second archive. TREE is a kernel's
# built tree, or its O= folder (arch/x86/boot/bzImage, modules where make left them), or what packages and `make install modules_install`
# leave (boot/vmlinuz-VERSION, lib/modules/VERSION). With SIW_SOURCE=DIR siw is built from there, against TREE. The last line of output is the
# folder; its file "machine" says what machine the kernel's options want: memory (MiB), processors, whether it is slow, and whether it looks for
# leaks. An option that is missing is named (docs/lab-kernels.md).
set -euo pipefail
# shellcheck source=conformance/labs/linux/archive.bash
source "$(dirname "${BASH_SOURCE[0]}")/archive.bash"
out=$1 tree=$(realpath "$2")
complain() {
	echo "build-tree.sh: $tree: $1" >&2
	exit 1
}

if [ -s "$tree/arch/x86/boot/bzImage" ]; then
	vmlinuz=$tree/arch/x86/boot/bzImage config=$tree/.config headers=$tree lib=$tree
else
	shopt -s nullglob
	kernels=("$tree"/boot/vmlinuz-*)
	shopt -u nullglob
	[ ${#kernels[@]} -ne 0 ] || complain "neither arch/x86/boot/bzImage nor boot/vmlinuz-VERSION is there"
	[ ${#kernels[@]} -eq 1 ] || complain "several kernels are in boot/, one was expected"
	vmlinuz=${kernels[0]} version=${kernels[0]##*/vmlinuz-}
	lib=$tree/lib/modules/$version
	[ -d "$lib" ] || lib=$tree/usr/lib/modules/$version
	[ -d "$lib" ] || complain "lib/modules/$version is missing"
	config=$tree/boot/config-$version headers=$tree/usr/src/linux-headers-$version
	[ -d "$headers" ] || headers=/usr/src/linux-headers-$version
fi

built_in() { grep -qs "/${1//_/[-_]}\.ko$" "$lib/modules.builtin"; }
has() { [ -s "$config" ] && grep -qx "CONFIG_$1=y" "$config"; }
folders=("$lib/")
[ ! -L "$lib/kernel" ] || folders+=("$lib/kernel/")
find "${folders[@]}" -name '*.ko' -o -name '*.ko.xz' -o -name '*.ko.zst' -o -name '*.ko.gz' >"$out/tree-modules.$$"
trap 'rm -f "$out/tree-modules.$$"' EXIT
source_folder=''
if [ -n "${SIW_SOURCE:-}" ]; then
	source_folder=$SIW_SOURCE
	[ -s "$source_folder/siw_main.c" ] || source_folder=$SIW_SOURCE/drivers/infiniband/sw/siw
	! built_in siw || complain "siw is built into this kernel: --siw-source needs CONFIG_RDMA_SIW=m there"
fi
archive_begin "tree-$(printf '%s' "$tree" | sha256sum | cut -c 1-8)" "$({
	cat "${BASH_SOURCE[0]}"
	echo "${LAB_MODULES:-} ${SIW_SOURCE:-}"
	[ -z "${LAB_PEER:-}" ] || sha256sum "$LAB_PEER"
	stat -L -c '%n %s %Y' "$vmlinuz"
	xargs -r -d '\n' stat -c '%n %s %Y' <"$out/tree-modules.$$"
	[ -z "$source_folder" ] || cat "$source_folder"/*.[ch]
} | sha256sum)"
modules_folder=tree # that of the image is left alone
mkdir -p "$root/tree" "$folder/unpacked"

# archive.bash asks it. Packed modules are unpacked first. A module that is built in has none: a file of it was left by another
# configuration of the same tree, and the kernel would refuse it.
archive_path() {
	local found
	! built_in "$1" || return 0
	if [ "$1" = siw ] && [ -s "$folder/siw/siw.ko" ]; then
		echo "$folder/siw/siw.ko"
		return
	fi
	found=$(grep -E "/${1//_/[-_]}\.ko(\.[a-z]+)?$" "$out/tree-modules.$$" | sed -n 1p) || true
	case $found in
	*.xz) xz -dc "$found" >"$folder/unpacked/$1.ko" ;;
	*.zst) zstd -qdc "$found" >"$folder/unpacked/$1.ko" ;;
	*.gz) gzip -dc "$found" >"$folder/unpacked/$1.ko" ;;
	*) echo "$found" && return ;;
	esac
	echo "$folder/unpacked/$1.ko"
}

if [ -n "$source_folder" ]; then
	[ -s "$headers/Makefile" ] || complain "siw cannot be built: neither the tree nor $headers has what modules are built with"
	mkdir -p "$folder/siw"
	cp "$source_folder"/*.[ch] "$source_folder/Makefile" "$folder/siw/"
	make -C "$headers" M="$folder/siw" CONFIG_RDMA_SIW=m modules >"$folder/make.log" 2>&1 || {
		tail -n 20 "$folder/make.log" >&2
		complain "siw of $source_folder was not built"
	}
fi

# needs MODULE OPTION: a module, or built in.
needs() {
	[ -z "$(archive_path "$1")" ] && ! built_in "$1" || return 0
	complain "no $1 is there: the kernel needs $2 (docs/lab-kernels.md)"
}
if [ -s "$lib/modules.builtin" ] || [ -s "$out/tree-modules.$$" ]; then
	needs virtio_pci CONFIG_VIRTIO_PCI
	needs virtio_net CONFIG_VIRTIO_NET
	if [ -n "${LAB_PEER:-}" ]; then
		needs sctp CONFIG_IP_SCTP
	else
		needs ib_uverbs CONFIG_INFINIBAND_USER_ACCESS
		needs rdma_ucm 'CONFIG_INFINIBAND_USER_ACCESS and CONFIG_INFINIBAND_ADDR_TRANS'
		if [[ " ${LAB_MODULES:-} " = *' rdma_rxe '* ]]; then needs rdma_rxe CONFIG_RDMA_RXE; else needs siw 'CONFIG_RDMA_SIW, or --siw-source'; fi
	fi
fi
sctp=()
[ -z "${LAB_PEER:-}" ] || sctp=(sctp sch_netem sch_prio sch_ingress cls_u32 act_mirred ifb)
for module in crc32c_generic crc32c libcrc32c virtio_pci virtio_net ipv6 siw rdma_ucm ib_uverbs ${LAB_MODULES:-} "${sctp[@]}"; do archive_add "$module"; done
for module in "${archive_order[@]}"; do
	for other in $(modinfo -F depends "$(archive_path "$module")" | tr , ' '); do
		[[ " ${archive_order[*]} " = *" ${other//-/_} "* ]] || complain "$module needs $other, which is not there"
	done
done

if [ -n "${LAB_PEER:-}" ]; then
	cp "$LAB_PEER" "$root/bin/iwarp-peer"
	cp "$(command -v tc)" "$root/bin/tc"
	archive_libraries "$root"/bin/*
fi
memory=768 processors=1 slow=no
if has PROVE_LOCKING || has DEBUG_OBJECTS || has DEBUG_KMEMLEAK; then memory=1536 slow=yes; fi
if has KCSAN; then memory=1536 processors=2 slow=yes; fi
if has KASAN; then memory=2048 slow=yes; fi
leaks=no
! has DEBUG_KMEMLEAK || leaks=yes
printf 'memory=%d processors=%d slow=%s leaks=%s\n' "$memory" "$processors" "$slow" "$leaks" >"$folder/machine"
archive_end
