# SPDX-License-Identifier: BSD-2-Clause
#
# A device that protects its streams with IPsec, for scripts that run inside a network namespace of their own: iwarp-peer in
# another namespace, above a strongSwan of its own whose ESP is in user space. To be sourced; it lays the cable.
#
#   device_network                   the device's namespace, $device its process: 10.99.0.2 on the cable, 10.98.0.2 in the tunnel
#   device_certificates              an authority, the device's and the tester's certificates, and a revoked one, below $WORK/pki
#   device_conf [NAME=VALUE...]      swanctl.conf of the device as $WORK/device/swanctl/swanctl.conf, a good one but for these: main, aggressive,
#                                    modern ("no": no such connection), ike, esp (proposals), secret, certificates, crl, certreq ("no"),
#                                    updown (a program that is run when an SA comes and goes), esp_by (kernel), window (of replay, in packets)
#   device_ike                       starts its charon with that
#   device_peer [OPTION...]          starts iwarp-peer
#   device_profile [MEMBERS]         its profile as $WORK/ipsec.json, with more members of "ipsec"
#   device_ends                      ends all of it
#
# 10.99.0.4 is the address of the tester's IKE, 10.99.1.3 that of its streams; $WORK/ipsec.json is the device's profile.
set -u
source tests/e2e/cable.bash
source tests/e2e/wait.bash
standing=()
device_secret='correct horse battery'

inside() { nsenter --net="/proc/$device/ns/net" "$@"; }

device_network() {
	unshare -n bash -c 'echo READY; exec sleep infinity' >"$WORK/network.out" &
	device=$!
	standing+=("$device")
	prints "$device" "$WORK/network.out" READY || return 1
	cable tester0 device0 10.99.0.1/24 && ip link set device0 netns "$device" || return 1
	inside bash -c 'source tests/e2e/cable.bash; plain_segments device0 && ip link set lo up && ip link set device0 up &&
		ip addr add 10.99.0.2/24 dev device0 && ip addr add 10.98.0.2/32 dev lo'
}

# device_folder: what charon reads; its own paths, so that several run on one machine.
device_folder() {
	rm -rf "$WORK/device"
	mkdir -p "$WORK/device/swanctl/"{private,x509,x509ca,x509crl}
	cat >"$WORK/device/strongswan.conf" <<-CONF
		charon-systemd {
			load = random nonce drbg kdf aes des sha1 sha2 md5 hmac cmac xcbc ctr ccm gcm mgf1 gmp curve25519 openssl x509 revocation constraints pubkey pkcs1 pkcs8 pem $([ "$esp_by" = kernel ] || echo kernel-libipsec) kernel-netlink socket-default files updown vici
			install_routes = no
			i_dont_care_about_security_and_use_aggressive_mode_psk = yes
			filelog {
				device {
					path = $WORK/device/log
					default = 1
					flush_line = yes
				}
			}
			journal {
				default = -1
			}
			plugins {
				vici {
					socket = unix://$WORK/device/vici
				}
				kernel-libipsec {
					allow_peer_ts = yes
				}
			}
		}
	CONF
}

# The test's authority, with a list of what it has revoked.
device_certificates() {
	local name pki=$WORK/pki
	mkdir -p "$pki"
	pki --gen --type ecdsa --size 256 --outform pem >"$pki/ca.key" &&
		pki --self --ca --type ecdsa --in "$pki/ca.key" --dn "CN=warpcheck test authority" --outform pem >"$pki/ca.pem" || return 1
	for name in device tester revoked; do
		pki --gen --type ecdsa --size 256 --outform pem >"$pki/$name.key" &&
			pki --pub --type ecdsa --in "$pki/$name.key" | pki --issue --cacert "$pki/ca.pem" --cakey "$pki/ca.key" --dn "CN=$name" \
				--san "$name.test" --outform pem >"$pki/$name.pem" || return 1
	done
	pki --signcrl --cacert "$pki/ca.pem" --cakey "$pki/ca.key" --reason key-compromise --cert "$pki/revoked.pem" --outform pem >"$pki/ca.crl"
} 2>"$WORK/pki.error"

connection() { # NAME VERSION AGGRESSIVE AUTH: of the device
	cat <<-CONF
		  $1 {
		    version = $2
		    aggressive = $3
		    local_addrs = 10.99.0.2
		    proposals = $ike
		    send_certreq = $certreq
		    local {
		      auth = $4
		      $([ "$4" = psk ] || echo "certs = $WORK/pki/device.pem")
		      $([ "$4" = psk ] || echo "id = device.test")
		    }
		    remote {
		      auth = $4
		      $([ "$4" = psk ] || [ "$crl" = no ] || echo "revocation = strict")
		      $([ "$4" = psk ] || echo "cacerts = $WORK/pki/ca.pem")
		    }
		    children {
		      stream {
		        local_ts = 10.98.0.2/32
		        remote_ts = 10.99.1.0/24
		        esp_proposals = $esp
		        mode = tunnel
		        replay_window = $window
		        updown = $updown
		      }
		    }
		  }
	CONF
}

# shellcheck disable=SC2034 # set by the caller's words
device_conf() {
	local main=yes aggressive=yes modern=yes secret=$device_secret certificates=yes crl=yes certreq=yes updown='' window=32 esp_by=strongswan word
	local ike=aes128-sha1-modp2048,aes128-sha1-modp1024,3des-sha1-modp2048 esp=aes128-sha1,null-sha1,aes128gcm16
	for word in "$@"; do local "$word"; done
	device_esp_by=$esp_by
	device_folder
	cp "$WORK/pki/device.key" "$WORK/device/swanctl/private/"
	cp "$WORK/pki/ca.pem" "$WORK/device/swanctl/x509ca/"
	[ $crl = no ] || cp "$WORK/pki/ca.crl" "$WORK/device/swanctl/x509crl/"
	{
		echo "connections {"
		[ -z "$secret" ] || [ $modern = no ] || connection modern-key 2 no psk
		[ -z "$secret" ] || [ $main = no ] || connection main-key 1 no psk
		[ -z "$secret" ] || [ $aggressive = no ] || connection aggressive-key 1 yes psk
		[ $certificates = no ] || [ $modern = no ] || connection modern-certificate 2 no pubkey
		[ $certificates = no ] || [ $main = no ] || connection main-certificate 1 no pubkey
		[ $certificates = no ] || [ $aggressive = no ] || connection aggressive-certificate 1 yes pubkey
		printf '}\nsecrets {\n  ike-key {\n    secret = "%s"\n  }\n}\n' "$secret"
	} | sed '/^[[:space:]]*$/d; /updown = $/d' >"$WORK/device/swanctl/swanctl.conf"
}

device_ike() {
	rm -f "$WORK/device/log"
	STRONGSWAN_CONF=$WORK/device/strongswan.conf inside charon-systemd >"$WORK/device/output" 2>&1 &
	charon=$!
	standing+=("$charon")
	if [ "$device_esp_by" = kernel ]; then # its policies take what goes to the tester's streams
		inside ip route add 10.99.1.0/24 via 10.99.0.4 src 10.98.0.2 || return 1
	else
		eventually "$charon" inside ip link show ipsec0 >/dev/null 2>&1 || { cat "$WORK/device/output" "$WORK/device/log" >&2; return 1; }
		inside ip route add 10.99.1.0/24 dev ipsec0 src 10.98.0.2 || return 1
	fi
	eventually "$charon" device_swanctl --load-all --noprompt --file "$WORK/device/swanctl/swanctl.conf" >"$WORK/device/load" 2>&1 || { cat "$WORK/device/load" >&2; return 1; }
}

device_swanctl() {
	STRONGSWAN_CONF=$WORK/device/strongswan.conf SWANCTL_DIR=$WORK/device/swanctl inside swanctl "$@" --uri "unix://$WORK/device/vici"
}

device_peer() {
	rm -f "$WORK/peer.out"
	inside "$IWARP_PEER" --bind 0.0.0.0 --listen 9999 --control 10.99.0.2:7471 "$@" >"$WORK/peer.out" 2>&1 &
	peer=$!
	standing+=("$peer")
	prints "$peer" "$WORK/peer.out" READY
}

device_profile() {
	echo "$device_secret" >"$WORK/key"
	jq -n --arg work "$WORK" --argjson more "{${1:-}}" '{ address: "10.98.0.2", port: 9999, interface: "tester0", own_address: "10.99.1.3",
		control: "10.99.0.2:7471", ipsec: ({ address: "10.99.0.4", peer: "10.99.0.2", secret_file: ($work + "/key"),
			certificate_file: ($work + "/pki/tester.pem"), key_file: ($work + "/pki/tester.key"), ca_file: ($work + "/pki/ca.pem"),
			revoked_certificate_file: ($work + "/pki/revoked.pem"), revoked_key_file: ($work + "/pki/revoked.key") } + $more) }' >"$WORK/ipsec.json"
}

device_ends() {
	{
		kill -KILL "${standing[@]}"
		wait "${standing[@]}"
	} 2>/dev/null
}
