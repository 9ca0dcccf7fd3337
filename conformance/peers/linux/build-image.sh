#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-image.sh [SERIES]: a kernel and an initrd with Linux siw, from Debian packages, as build/lab/SERIES/{vmlinuz,initrd.gz}
# (SERIES 6.1, what Debian 12 has; 6.12 is in its security archive). The last line of output is that folder. What is there and
# newer than its parts is left alone. Debian builds no siw (CONFIG_RDMA_SIW is not set): the module is made from the
# kernel's source package. SIW_PATCH=FILE patches it first (-p1, from the kernel's root); LAB=DIR is another folder than
# build/lab.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=conformance/peers/linux
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
	for part in "$here"/build-image.sh "$here"/init "$here"/agent/*.[ch] ${SIW_PATCH:+"$SIW_PATCH"}; do
		[ ! "$part" -nt "$out/initrd.gz" ] || return 1
	done
	[ "$(cat "$out/patch" 2>/dev/null)" = "${SIW_PATCH:-}" ]
}
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
if fresh; then
	echo "$out"
	exit 0
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
	(cd "$work" && apt-get download -qq "$kernel" && dpkg -x ./*.deb kernel && rm ./*.deb)
	find "$work/kernel/lib/modules" -name '*.ko.xz' -exec xz -d {} +
	mv "$work/kernel" "$root"
fi
modules=$root/lib/modules/$version
headers=/usr/src/linux-headers-$version
[ -d "$headers" ] || { echo "build-image.sh: $headers is missing: headers and image of different versions" >&2; exit 1; }

tar -C "$work" -xf "/usr/src/linux-source-$series.tar.xz" --wildcards '*/drivers/infiniband/sw/siw/*'
siw=$work/linux-source-$series/drivers/infiniband/sw/siw
[ -z "${SIW_PATCH:-}" ] || patch -s -d "$work/linux-source-$series" -p1 <"$SIW_PATCH" >&2
make -C "$headers" M="$siw" CONFIG_RDMA_SIW=m modules >"$work/make.log" 2>&1 || {
	tail -n 20 "$work/make.log" >&2
	exit 1
}

path_of() {
	if [ "$1" = siw ]; then echo "$siw/siw.ko"; else find "$modules" -name "$1.ko" -o -name "${1//_/-}.ko" | head -n 1; fi
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
for module in crc32c_generic virtio_pci virtio_net siw rdma_ucm ib_uverbs; do add "$module"; done

lib=/usr/lib/x86_64-linux-gnu
mkdir -p "$image"/{bin,modules,proc,sys,dev,tmp,lib64,etc/libibverbs.d} "$image/lib/x86_64-linux-gnu" "$image$lib/libibverbs"
number=100
for module in "${order[@]}"; do
	cp "$(path_of "$module")" "$image/modules/$number-$module.ko"
	strip -g "$image/modules/$number-$module.ko"
	number=$((number + 1))
done
"${CC:-gcc}" -std=gnu17 -O1 -g -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -I. -o "$image/bin/warpcheck-agent" "$here"/agent/*.c -lrdmacm -libverbs -ljansson
for program in busybox ip rdma rping ucmatose rdma_server rdma_client ib_write_bw ib_read_bw ib_send_bw ib_send_lat; do
	cp "$(command -v "$program")" "$image/bin/"
done
cp /etc/libibverbs.d/siw.driver "$image/etc/libibverbs.d/"
cp "$lib"/libibverbs/libsiw* "$image$lib/libibverbs/"
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
echo "${SIW_PATCH:-}" >"$out/patch"
echo "$out"
