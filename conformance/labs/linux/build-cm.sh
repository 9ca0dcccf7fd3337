#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-cm.sh OUT SERIES HEADERS PATCH: for build-image.sh, whose image is in OUT: the kernel's ib_cm and rdma_cm, built from its source
# package with that patch (-p1, from the kernel's root), as a second archive after the image's. The last line of output is the folder.
# What did not change since another patch is not compiled again.
set -euo pipefail
out=$1 series=$2 headers=$3 patch=$4
core=drivers/infiniband/core
folder=$out/patched-$(sha256sum "$patch" | cut -c 1-16)
if [ "$folder/initrd.gz" -nt "$out/initrd.gz" ] && [ "$folder/initrd.gz" -nt "$patch" ]; then
	echo "$folder"
	exit
fi

if [ ! -s "$out/pristine-cm/$core/cma.c" ]; then
	rm -rf "$out/pristine-cm" "$out/pristine-cm.new"
	mkdir -p "$out/pristine-cm.new"
	tar -C "$out/pristine-cm.new" -xf "/usr/src/linux-source-$series.tar.xz" --strip-components=1 --wildcards "*/$core/*.[ch]"
	mv "$out/pristine-cm.new" "$out/pristine-cm"
fi
rm -rf "$out/wanted-cm" "$folder"
cp -r "$out/pristine-cm" "$out/wanted-cm"
patch -s -d "$out/wanted-cm" -p1 --no-backup-if-mismatch <"$patch" >&2
# Outside of the kernel's tree the tracepoints are beside their source.
sed -i "s|TRACE_INCLUDE_PATH ../../$core|TRACE_INCLUDE_PATH .|" "$out/wanted-cm/$core/cm_trace.h"
mkdir -p "$out/cm"
for file in "$out/wanted-cm/$core"/*.h "$out/wanted-cm/$core"/{cm,cma,cm_trace,cma_trace,cma_configfs}.c; do
	cmp -s "$file" "$out/cm/${file##*/}" || cp "$file" "$out/cm/"
done
cat >"$out/cm/Makefile" <<'END'
obj-m := ib_cm.o rdma_cm.o
ib_cm-y := cm.o cm_trace.o
rdma_cm-y := cma.o cma_trace.o
rdma_cm-$(CONFIG_INFINIBAND_ADDR_TRANS_CONFIGFS) += cma_configfs.o
ccflags-y += -I$(src)
END
make -C "$headers" M="$out/cm" modules >"$out/make-cm.log" 2>&1 || {
	tail -n 20 "$out/make-cm.log" >&2
	exit 1
}
mkdir -p "$folder/root/modules"
for module in ib_cm rdma_cm; do
	strip -g -o "$folder/root/modules/$(cat "$out/$module-name")" "$out/cm/$module.ko"
done
(cd "$folder/root" && find . -type f | cpio -o -H newc --quiet | gzip -1) >"$folder/more.gz"
ln -f "$out/vmlinuz" "$folder/vmlinuz"
cat "$out/initrd.gz" "$folder/more.gz" >"$folder/initrd.new"
rm -rf "$folder/root" "$folder/more.gz"
mv "$folder/initrd.new" "$folder/initrd.gz"
echo "$folder"
