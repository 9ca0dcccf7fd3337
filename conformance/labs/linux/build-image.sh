#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-image.sh [SERIES]: a kernel and an initrd with Linux siw, from Debian packages, as build/lab/SERIES/{vmlinuz,initrd.gz}
# (SERIES 6.1, what Debian 12 has; 6.12 is in its security archive). The last line of output is that folder. What is there and
# newer than its parts is left alone. Debian builds no siw (CONFIG_RDMA_SIW is not set): the module is made from the
# kernel's source package. LAB=DIR is another folder than build/lab; LAB_MODULES='nvme_rdma ...' puts more of the kernel's
# modules in. With SIW_PATCH=FILE siw is built with that patch (-p1, from the kernel's root), and the folder is one beside, for
# that patch alone; a patch that applies with fuzz is refused. SIW_SOURCE=DIR builds the siw of another tree (DIR is a kernel's root, or the
# folder of siw's source) against the headers of this series. CM_PATCH=FILE is the same for the kernel's ib_cm and rdma_cm (build-cm.sh). LAB_PEER=PROGRAM adds the
# kernel's SCTP and that program, an iwarp-peer (build-sctp.sh). LAB_IPSEC=1 adds the kernel's ESP and strongSwan (build-ipsec.sh),
# LAB_INSIDE_IMAGE=1 what inside.sh needs. LAB_TREE=DIR: the kernel and the modules of that tree in place of Debian's, and of SIW_SOURCE siw (build-tree.sh).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=conformance/labs/linux
series=${1:-6.1}
out=${LAB:-${B:-build}/lab}/$series
[ "${out#/}" != "$out" ] || out=$PWD/$out
case $series in
6.1) meta=linux-image-amd64 ;;
6.*) meta=linux-image-$series-amd64 ;;
*) echo "build-image.sh: unknown kernel series '$series': expected 6.1 or 6.12" >&2; exit 2 ;;
esac

fresh() {
	local part
	[ -s "$out/vmlinuz" ] && [ -s "$out/initrd.gz" ] || return 1
	for part in "$here"/build-image.sh "$here"/init "$here"/agent/*.[ch] upper-tester/*.[ch] base/sentence.h base/exit_status.h; do
		[ ! "$part" -nt "$out/initrd.gz" ] || return 1
	done
	[ -s "$out/siw/siw.ko" ] && [ -s "$out/module-name" ] && [ "$(cat "$out/modules" 2>/dev/null)" = "${LAB_MODULES:-}" ]
}

# siw's source in $out/source, as the package has it or with the patch; what did not change is not compiled again.
siw_made() {
	local file packed=/usr/src/linux-source-$series.tar.xz folder=drivers/infiniband/sw/siw
	if [ ! -s "$out/pristine/$folder/siw_cm.c" ]; then
		rm -rf "$out/pristine.new"
		mkdir -p "$out/pristine.new"
		tar -C "$out/pristine.new" -xf "$packed" --strip-components=1 --wildcards "*/$folder/*"
		rm -rf "$out/pristine"
		mv "$out/pristine.new" "$out/pristine"
	fi
	rm -rf "$out/wanted"
	cp -r "$out/pristine" "$out/wanted"
	[ -z "${1:-}" ] || patch -s -F 0 -d "$out/wanted" -p1 --no-backup-if-mismatch <"$1" >&2 || return 1
	if [ -n "${SIW_SOURCE:-}" ]; then
		rm -rf "${out:?}/wanted/$folder"
		cp -r "$(source_folder)" "$out/wanted/$folder"
		find "$out/wanted/$folder" ! -name '*.[chS]' ! -name Makefile ! -name Kconfig -type f -delete
		rm -rf "$out/siw" # with headers that this tree may lack
	fi
	mkdir -p "$out/siw"
	for file in "$out/wanted/$folder"/*; do
		cmp -s "$file" "$out/siw/${file##*/}" || cp "$file" "$out/siw/"
	done
	make -C "$headers" M="$out/siw" CONFIG_RDMA_SIW=m modules >"$out/make.log" 2>&1 || {
		tail -n 20 "$out/make.log" >&2
		return 1
	}
}

# Where siw's source is in SIW_SOURCE.
source_folder() {
	if [ -s "$SIW_SOURCE/siw_main.c" ]; then echo "$SIW_SOURCE"; else echo "$SIW_SOURCE/drivers/infiniband/sw/siw"; fi
}

# The image with another siw.ko: a second archive after the first, whose files the kernel puts over those of the first.
patched() {
	local folder work
	folder=$out/patched-$({ cat ${SIW_PATCH:+"$SIW_PATCH"} && { [ -z "${SIW_SOURCE:-}" ] || cat "$(source_folder)"/*.[ch]; }; } </dev/null | sha256sum | cut -c 1-16)
	if [ ! "$folder/initrd.gz" -nt "$out/initrd.gz" ] || { [ -n "${SIW_PATCH:-}" ] && [ ! "$folder/initrd.gz" -nt "$SIW_PATCH" ]; }; then
		rm -rf "$folder"
		siw_made "${SIW_PATCH:-}" || return 1
		mkdir -p "$folder/root/modules"
		strip -g -o "$folder/root/modules/$(cat "$out/module-name")" "$out/siw/siw.ko"
		(cd "$folder/root" && find . -type f | cpio -o -H newc --quiet | gzip -1) >"$folder/more.gz"
		ln -f "$out/vmlinuz" "$folder/vmlinuz"
		cat "$out/initrd.gz" "$folder/more.gz" >"$folder/initrd.new"
		rm -rf "$folder/root" "$folder/more.gz"
		mv "$folder/initrd.new" "$folder/initrd.gz"
	fi
	echo "$folder"
}

made() {
	if [ -n "${LAB_TREE:-}" ]; then
		"$here/build-tree.sh" "$out" "$LAB_TREE"
	elif [ -n "${SIW_PATCH:-}${SIW_SOURCE:-}" ]; then
		patched
	elif [ -n "${CM_PATCH:-}" ]; then
		"$here/build-cm.sh" "$out" "$series" "$headers" "$CM_PATCH"
	elif [ -n "${LAB_IPSEC:-}" ]; then
		"$here/build-ipsec.sh" "$out"
	elif [ -n "${LAB_INSIDE_IMAGE:-}" ]; then
		"$here/build-inside.sh" "$out"
	elif [ -n "${LAB_PEER:-}" ]; then
		"$here/build-sctp.sh" "$out" "$LAB_PEER"
	else
		echo "$out"
	fi
}

[ -z "${SIW_PATCH:-}" ] || [ -z "${LAB_TREE:-}" ] || { echo "build-image.sh: SIW_PATCH and LAB_TREE exclude each other" >&2; exit 2; }
[ -z "${SIW_PATCH:-}" ] || [ -z "${SIW_SOURCE:-}" ] || { echo "build-image.sh: SIW_PATCH and SIW_SOURCE exclude each other" >&2; exit 2; }
[ -z "${SIW_SOURCE:-}" ] || [ -s "$(source_folder)/siw_main.c" ] || { echo "build-image.sh: SIW_SOURCE=$SIW_SOURCE: no source of siw is there" >&2; exit 2; }
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
if fresh; then
	headers=/usr/src/linux-headers-$(cat "$out/version")
	made
	exit
fi

[ "$(uname -m)" = x86_64 ] || { echo "build-image.sh: the lab's kernel is for x86_64, this machine is $(uname -m)" >&2; exit 1; }
tools/deps.sh lab "lab-$series" >&2
work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$out/kernel image=$work/initrd

# The kernel's package is unpacked, not installed: nothing of this machine's own start-up changes. It is kept.
kernel=$(apt-cache depends "$meta" | awk '/Depends: linux-image/{print $2; exit}')
version=${kernel#linux-image-}
if [ ! -s "$root/boot/vmlinuz-$version" ]; then
	rm -rf "$root"
	(cd "$work" && apt-get -o APT::Sandbox::User=root download -qq "$kernel" && dpkg -x ./*.deb kernel && rm ./*.deb)
	find "$work/kernel/lib/modules" -name '*.ko.xz' -exec xz -d {} +
	mv "$work/kernel" "$root"
fi
modules=$root/lib/modules/$version
headers=/usr/src/linux-headers-$version
[ -d "$headers" ] || { echo "build-image.sh: $headers is missing: headers and image of different versions" >&2; exit 1; }

SIW_SOURCE='' siw_made
path_of() {
	if [ "$1" = siw ]; then echo "$out/siw/siw.ko"; else find "$modules" -name "$1.ko" -o -name "${1//_/-}.ko" | sed -n 1p; fi
}
order=()
add() {
	local module=${1//-/_} path other
	[[ " ${order[*]-} " != *" $module "* ]] || return 0
	path=$(path_of "$module")
	[ -n "$path" ] || return 0 # built in, or not of this series
	for other in $(modinfo -F depends "$path" | tr , ' '); do add "$other"; done
	order+=("$module")
}
for module in crc32c_generic virtio_pci virtio_net siw rdma_ucm ib_uverbs ${LAB_MODULES:-}; do add "$module"; done

lib=/usr/lib/x86_64-linux-gnu
mkdir -p "$image"/{bin,modules,proc,sys,dev,tmp,lib64,etc/libibverbs.d} "$image/lib/x86_64-linux-gnu" "$image$lib/libibverbs"
number=100
for module in "${order[@]}"; do
	cp "$(path_of "$module")" "$image/modules/$number-$module.ko"
	strip -g "$image/modules/$number-$module.ko"
	[ "$module" != siw ] || echo "$number-siw.ko" >"$out/module-name"
	case $module in ib_cm | rdma_cm) echo "$number-$module.ko" >"$out/$module-name" ;; esac
	number=$((number + 1))
done
${CC:-gcc} -std=gnu17 -O1 -g -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -I. -o "$image/bin/warpcheck-agent" "$here"/agent/*.c upper-tester/*.c -lrdmacm -libverbs -ljansson
for program in busybox ip rdma rping ucmatose rdma_server rdma_client ib_write_bw ib_read_bw ib_send_bw ib_send_lat; do
	cp "$(command -v "$program")" "$image/bin/"
done
for provider in siw rxe; do # the second for LAB_MODULES=rdma_rxe
	cp "/etc/libibverbs.d/$provider.driver" "$image/etc/libibverbs.d/"
	cp "$lib/libibverbs/lib$provider"* "$image$lib/libibverbs/"
done
# pthread_exit() loads libgcc_s, which no program names.
{
	echo "$lib/libgcc_s.so.1"
	for program in "$image"/bin/* "$image$lib"/libibverbs/*; do ldd "$program" 2>/dev/null || true; done |
		awk '{for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i}'
} | sort -u | while read -r library; do
	case $library in
	/lib64/*) cp -L "$library" "$image/lib64/" ;;
	*) cp -L "$library" "$image/lib/x86_64-linux-gnu/" ;;
	esac
done
cp "$here/init" "$image/init"
chmod +x "$image/init"
(cd "$image" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"
cp "$root/boot/vmlinuz-$version" "$out/vmlinuz"
mv "$work/initrd.gz" "$out/initrd.gz"
echo "$version" >"$out/version"
echo "${LAB_MODULES:-}" >"$out/modules"
rm -rf "$out"/patched-*
made
