# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash disable=SC2154 # work, address, own: variables of run.sh
#
# The lab's guest with IPsec below siw (run.sh --ipsec, docs/ipsec.md); to be sourced by run.sh. The guest's charon has a key, a certificate
# and a list of revoked ones that are made for this run alone, and ESP is its kernel's.
#
#   ipsec_files INITRD     $work/initrd.gz: that image with the files of the guest's charon; what the tester needs is in $work/pki
#   ipsec_profile FILE     puts "ipsec" into this profile
#   ipsec_start            what the guest runs before its agent
#
# LAB_IPSEC_FAULT is what is wrong with the guest, a fault of tests/e2e/ipsec-faults.tsv: no-replay-window, encryption-only, gcm-only.
ipsec_certificates() {
	local name pki=$work/pki
	mkdir -p "$pki"
	pki --gen --type ecdsa --size 256 --outform pem >"$pki/ca.key" &&
		pki --self --ca --type ecdsa --in "$pki/ca.key" --dn "CN=warpcheck lab" --outform pem >"$pki/ca.pem" || return 1
	for name in device tester revoked; do
		pki --gen --type ecdsa --size 256 --outform pem >"$pki/$name.key" &&
			pki --pub --type ecdsa --in "$pki/$name.key" | pki --issue --cacert "$pki/ca.pem" --cakey "$pki/ca.key" --dn "CN=$name" \
				--san "$name.lab" --outform pem >"$pki/$name.pem" || return 1
	done
	pki --signcrl --cacert "$pki/ca.pem" --cakey "$pki/ca.key" --reason key-compromise --cert "$pki/revoked.pem" --outform pem >"$pki/ca.crl" &&
		head -c 18 /dev/urandom | base64 >"$pki/key"
} 2>"$work/pki.error"

ipsec_connection() { # NAME VERSION AGGRESSIVE AUTH
	local esp=aes128-sha1-esn-noesn,null-sha1,aes128gcm16,3des-sha1 window=32
	case ${LAB_IPSEC_FAULT:-} in
	no-replay-window) window=0 ;;
	encryption-only) esp=aes128,$esp ;;
	gcm-only) esp=aes128gcm16 ;;
	esac
	cat <<-CONF
		  $1 {
		    version = $2
		    aggressive = $3
		    local_addrs = $address
		    proposals = aes128-sha1-modp2048,aes128-sha1-modp1024
		    local {
		      auth = $4
		      $([ "$4" = psk ] || echo "certs = /ipsec/swanctl/x509/device.pem")
		    }
		    remote {
		      auth = $4
		      $([ "$4" = psk ] || echo "revocation = strict")
		    }
		    children {
		      stream {
		        local_ts = $address/32
		        remote_ts = $own/32
		        esp_proposals = $esp
		        replay_window = $window
		      }
		    }
		  }
	CONF
}

ipsec_files() {
	local root=$work/ipsec-root folder=$work/ipsec-root/ipsec
	ipsec_certificates || return 1
	mkdir -p "$folder/swanctl/"{private,x509,x509ca,x509crl}
	cp "$work/pki/device.key" "$folder/swanctl/private/"
	cp "$work/pki/device.pem" "$folder/swanctl/x509/"
	cp "$work/pki/ca.pem" "$folder/swanctl/x509ca/"
	cp "$work/pki/ca.crl" "$folder/swanctl/x509crl/"
	cat >"$folder/strongswan.conf" <<-CONF
		charon-systemd {
		  load = random nonce drbg kdf aes des sha1 sha2 md5 hmac xcbc gcm gmp openssl x509 revocation constraints pubkey pkcs1 pkcs8 pem kernel-netlink socket-default updown vici
		  i_dont_care_about_security_and_use_aggressive_mode_psk = yes
		  journal {
		    default = -1
		  }
		  filelog {
		    device {
		      path = /ipsec/log
		      default = 1
		      flush_line = yes
		    }
		  }
		  plugins {
		    vici {
		      socket = unix:///ipsec/vici
		    }
		  }
		}
	CONF
	{
		echo "connections {"
		ipsec_connection modern-key 2 no psk
		ipsec_connection main-key 1 no psk
		ipsec_connection aggressive-key 1 yes psk
		ipsec_connection modern-certificate 2 no pubkey
		ipsec_connection main-certificate 1 no pubkey
		ipsec_connection aggressive-certificate 1 yes pubkey
		printf '}\nsecrets {\n  ike-key {\n    secret = "%s"\n  }\n}\n' "$(cat "$work/pki/key")"
	} >"$folder/swanctl/swanctl.conf"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/ipsec.gz"
	cat "$1" "$work/ipsec.gz" >"$work/initrd.gz"
	rm -rf "$root" "$work/ipsec.gz"
}

ipsec_start() {
	cat <<-'GUEST'
		export STRONGSWAN_CONF=/ipsec/strongswan.conf; mkdir -p /run /var/run
		charon-systemd >/ipsec/output 2>&1 &
		for try in $(seq 1 150); do swanctl --load-all --noprompt --file /ipsec/swanctl/swanctl.conf --uri unix:///ipsec/vici >/ipsec/load 2>&1 && break; sleep 0.2; done
		grep -q '^successfully loaded' /ipsec/load || { cat /ipsec/output; tail -n 5 /ipsec/load; }
	GUEST
}

ipsec_profile() {
	jq --arg work "$work" '.replay += " --ipsec" | .capabilities.ipsec = "yes" | .ipsec = { address: "10.78.0.4", secret_file: ($work + "/pki/key"),
		certificate_file: ($work + "/pki/tester.pem"), key_file: ($work + "/pki/tester.key"), ca_file: ($work + "/pki/ca.pem"),
		revoked_certificate_file: ($work + "/pki/revoked.pem"), revoked_key_file: ($work + "/pki/revoked.key") }' "$1" >"$1.ipsec" && mv "$1.ipsec" "$1"
}
