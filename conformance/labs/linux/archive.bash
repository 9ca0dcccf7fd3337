# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2034,SC2154 # out and esp_modules: variables of those who source it
#
# A second archive after the lab's image, with more of its kernel's modules and more programs: for build-ipsec.sh, build-sctp.sh and inside.sh. To be
# sourced, with the image's folder in $out.
#
#   archive_begin NAME TEXT    $folder is $out/NAME, $root what is packed. Where it is there and was made of the same TEXT: prints it and ends
#   archive_modules MODULE...  and what they need, after those of the image, whose numbers are below 200; what is built in has no file
#   archive_libraries FILE...  what these need of the machine's libraries
#   archive_end                packs it, and prints $folder
#
# archive_path MODULE says where a module is; build-tree.sh has one of its own, and $vmlinuz and $modules_folder others than usual.
esp_modules=(aes_generic des_generic sha1_generic sha256_generic hmac cbc ctr gcm ghash_generic ecb sha512_generic jitterentropy_rng drbg ansi_cprng authenc
	authencesn seqiv echainiv xfrm_user esp4)

archive_begin() {
	folder=$out/$1
	stamp=$({ cat "${BASH_SOURCE[0]}"; echo "$2"; } | sha256sum | cut -c 1-64)
	if [ "$folder/initrd.gz" -nt "$out/initrd.gz" ] && [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
		echo "$folder"
		exit
	fi
	rm -rf "$folder"
	root=$folder/root modules=$out/kernel/lib/modules/$(cat "$out/version")
	mkdir -p "$root"/{bin,modules} "$root/lib/x86_64-linux-gnu"
	archive_order=()
}

archive_path() { find "$modules" -name "$1.ko" -o -name "${1//_/-}.ko" | sed -n 1p; }

archive_add() {
	local module=${1//-/_} path other
	[[ " ${archive_order[*]-} " != *" $module "* ]] || return 0
	path=$(archive_path "$module")
	[ -n "$path" ] || return 0
	for other in $(modinfo -F depends "$path" | tr , ' '); do archive_add "$other"; done
	archive_order+=("$module")
	strip -g -o "$root/${modules_folder:-modules}/$((200 + ${#archive_order[@]}))-$module.ko" "$path"
}

archive_modules() {
	local module present
	for module in "$@"; do archive_add "$module"; done
	mapfile -t present < <(zcat "$out/initrd.gz" | cpio -it --quiet 2>/dev/null | sed -n 's|^\(\./\)\?modules/[0-9]*-\(.*\)\.ko$|\2|p')
	for module in "${present[@]}"; do rm -f "$root"/modules/*-"$module".ko; done
}

archive_libraries() {
	for program in "$@"; do ldd "$program" 2>/dev/null || true; done | awk '{for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i}' | sort -u |
		while read -r library; do
			case $library in
			/lib64/*) ;; # the loader, which the image has
			*) cp -L "$library" "$root/lib/x86_64-linux-gnu/" ;;
			esac
		done
}

archive_end() {
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder/more.gz"
	if [ -n "${vmlinuz:-}" ]; then cp "$vmlinuz" "$folder/vmlinuz"; else ln -f "$out/vmlinuz" "$folder/vmlinuz"; fi
	cat "$out/initrd.gz" "$folder/more.gz" >"$folder/initrd.new"
	rm -rf "$root" "$folder/more.gz"
	echo "$stamp" >"$folder/stamp"
	mv "$folder/initrd.new" "$folder/initrd.gz"
	echo "$folder"
}
