#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-ipsec.sh OUT: for build-image.sh, whose image is in OUT: the kernel's ESP with its ciphers, and strongSwan's charon with what it
# loads, as a second archive after the image's (archive.bash). The last line of output is the folder.
set -euo pipefail
# shellcheck source=conformance/labs/linux/archive.bash
source "$(dirname "${BASH_SOURCE[0]}")/archive.bash"
out=$1
plugins=/usr/lib/ipsec/plugins
PATH=$PATH:/usr/sbin
for program in charon-systemd swanctl; do
	command -v "$program" >/dev/null || { echo "build-ipsec.sh: $program is not installed (tools/deps.sh ipsec)" >&2; exit 1; }
done
charon=$(command -v charon-systemd) swanctl=$(command -v swanctl)
archive_begin ipsec "$(sha256sum "$charon" "${BASH_SOURCE[0]}")"
mkdir -p "$root"/{run,etc} "$root$plugins"
archive_modules "${esp_modules[@]}"
cp "$charon" "$swanctl" "$root/bin/"
for plugin in random nonce drbg kdf aes sha1 sha2 md5 hmac xcbc gcm gmp openssl x509 revocation constraints pubkey pkcs1 pkcs8 pem kernel-netlink \
	socket-default updown vici; do
	[ ! -e "$plugins/libstrongswan-$plugin.so" ] || cp "$plugins/libstrongswan-$plugin.so" "$root$plugins/"
done
archive_libraries "$root"/bin/* "$root$plugins"/*
archive_end
