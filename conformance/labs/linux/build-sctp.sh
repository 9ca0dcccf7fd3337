#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-sctp.sh OUT PROGRAM: for build-image.sh, whose image is in OUT: the kernel's SCTP, what worsens its packets and PROGRAM
# (iwarp-peer) with the libraries that it needs, as a second archive after the image's. The last line of output is the folder.
set -euo pipefail
out=$1 program=$2
folder=$out/sctp
stamp=$(sha256sum "$program" "${BASH_SOURCE[0]}" | cut -c 1-64 | tr '\n' ' ')
if [ "$folder/initrd.gz" -nt "$out/initrd.gz" ] && [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
	echo "$folder"
	exit
fi
modules=$out/kernel/lib/modules/$(cat "$out/version")
rm -rf "$folder"
root=$folder/root lib=$folder/root/lib/x86_64-linux-gnu
mkdir -p "$root"/{bin,modules} "$lib"

# After those of the image, whose numbers are below 200; what is built in has no file.
order=()
add() {
	local module=${1//-/_} path other
	[[ " ${order[*]-} " != *" $module "* ]] || return 0
	path=$(find "$modules" -name "$module.ko" -o -name "${module//_/-}.ko" | sed -n 1p)
	[ -n "$path" ] || return 0
	for other in $(modinfo -F depends "$path" | tr , ' '); do add "$other"; done
	order+=("$module")
	strip -g -o "$root/modules/$((200 + ${#order[@]}))-$module.ko" "$path"
}
for module in crc32c_generic sctp sch_netem sch_prio sch_ingress cls_u32 act_mirred ifb; do add "$module"; done
mapfile -t present < <(zcat "$out/initrd.gz" | cpio -it --quiet 2>/dev/null | sed -n 's|^\(\./\)\?modules/[0-9]*-\(.*\)\.ko$|\2|p')
for module in "${present[@]}"; do rm -f "$root"/modules/*-"$module".ko; done

cp "$program" "$root/bin/iwarp-peer"
cp "$(command -v tc)" "$root/bin/tc"
for program in "$root"/bin/*; do ldd "$program"; done | awk '{for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i}' | sort -u |
	while read -r library; do
		case $library in
		/lib64/*) ;; # the loader, which the image has
		*) cp -L "$library" "$lib/" ;;
		esac
	done
(cd "$root" && find . -type f | cpio -o -H newc --quiet | gzip -1) >"$folder/more.gz"
ln -f "$out/vmlinuz" "$folder/vmlinuz"
cat "$out/initrd.gz" "$folder/more.gz" >"$folder/initrd.new"
rm -rf "$root" "$folder/more.gz"
echo "$stamp" >"$folder/stamp"
mv "$folder/initrd.new" "$folder/initrd.gz"
echo "$folder"
