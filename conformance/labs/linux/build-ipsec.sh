#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-ipsec.sh OUT: for build-image.sh, whose image is in OUT: the kernel's ESP with its ciphers, and strongSwan's charon with what it
# loads, as a second archive after the image's. The last line of output is the folder.
set -euo pipefail
out=$1
folder=$out/ipsec
plugins=/usr/lib/ipsec/plugins
PATH=$PATH:/usr/sbin
for program in charon-systemd swanctl; do
	command -v "$program" >/dev/null || { echo "build-ipsec.sh: $program is not installed (tools/deps.sh ipsec)" >&2; exit 1; }
done
charon=$(command -v charon-systemd) swanctl=$(command -v swanctl)
stamp=$(sha256sum "$charon" "${BASH_SOURCE[0]}" | cut -c 1-64 | tr '\n' ' ')
if [ "$folder/initrd.gz" -nt "$out/initrd.gz" ] && [ "$(cat "$folder/stamp" 2>/dev/null)" = "$stamp" ]; then
	echo "$folder"
	exit
fi
modules=$out/kernel/lib/modules/$(cat "$out/version")
rm -rf "$folder"
root=$folder/root lib=$folder/root/lib/x86_64-linux-gnu
mkdir -p "$root"/{bin,modules,run,etc} "$root$plugins" "$lib"

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
for module in aes_generic des_generic sha1_generic sha256_generic hmac cbc ctr gcm ghash_generic ecb sha512_generic jitterentropy_rng drbg ansi_cprng authenc seqiv echainiv xfrm_user esp4; do add "$module"; done
mapfile -t present < <(zcat "$out/initrd.gz" | cpio -it --quiet 2>/dev/null | sed -n 's|^\(\./\)\?modules/[0-9]*-\(.*\)\.ko$|\2|p')
for module in "${present[@]}"; do rm -f "$root"/modules/*-"$module".ko; done

cp "$charon" "$swanctl" "$root/bin/"
for plugin in random nonce drbg kdf aes sha1 sha2 md5 hmac xcbc gcm gmp openssl x509 revocation constraints pubkey pkcs1 pkcs8 pem kernel-netlink \
	socket-default updown vici; do
	[ ! -e "$plugins/libstrongswan-$plugin.so" ] || cp "$plugins/libstrongswan-$plugin.so" "$root$plugins/"
done
for program in "$root"/bin/* "$root$plugins"/*; do ldd "$program" 2>/dev/null || true; done | awk '{for (i = 1; i <= NF; i++) if ($i ~ /^\//) print $i}' | sort -u |
	while read -r library; do
		case $library in
		/lib64/*) ;; # the loader, which the image has
		*) cp -L "$library" "$lib/" ;;
		esac
	done
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$folder/more.gz"
ln -f "$out/vmlinuz" "$folder/vmlinuz"
cat "$out/initrd.gz" "$folder/more.gz" >"$folder/initrd.new"
rm -rf "$root" "$folder/more.gz"
echo "$stamp" >"$folder/stamp"
mv "$folder/initrd.new" "$folder/initrd.gz"
echo "$folder"
