#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A device that protects its streams with IPsec (docs/ipsec.md): each check of its rows decides, nothing of the secret is in any output,
# and devices that are configured wrongly are caught (ipsec-faults.tsv; the ones for each run, with WHOLE=1 all of a user's). A device
# that does not answer, one that has another key, and a strongSwan that is not there: one line, exit status 4.
# The tester's ESP is made in user space here; with MAKER=kernel, which ipsec-kernel.sh says, by the kernel, and so is the device's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/e2e/expect.bash
source tests/e2e/expect.bash

cannot() {
	echo "$1: nothing was tested"
	exit 77
}
for program in charon-systemd swanctl pki ss; do
	PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || cannot "$program is not installed (tools/deps.sh ipsec)"
done
[ -e /usr/lib/ipsec/plugins/libstrongswan-kernel-libipsec.so ] || cannot "strongSwan has no kernel-libipsec (tools/deps.sh ipsec)"
[ -w /dev/net/tun ] || cannot "/dev/net/tun cannot be opened"
unshare -rn ip link add name try0 type veth peer name try1 2>/dev/null || cannot "no network namespace with a veth pair can be made"
unshare -rn bash -c 'ip link add name try0 type veth peer name try1 && ip link add link try0 name try2 type macvlan mode bridge' 2>/dev/null ||
	cannot "the kernel has no macvlan"

# WORK, device_conf's words, options of iwarp-peer after "peer=", then what is run.
cat >"$WORK/inside.sh" <<'INSIDE'
source tests/e2e/ipsec-device.bash
words=() peer_options=() more="\"esp_by\": \"$MAKER\""
for word in $HOW; do
	case $word in
	keyless) : ;; # below
	peer=*) peer_options=("${word#peer=}") ;;
	updown=closes) words+=("updown=$WORK/closes") ;;
	ike=*) words+=("$word") more+=", \"ike\": \"${word#ike=}\"" ;;
	*) words+=("$word") ;;
	esac
done
printf '#!/bin/sh\ncase $PLUTO_VERB in down-*) ss -K dst 10.99.1.3 ;; esac\n' >"$WORK/closes" && chmod +x "$WORK/closes" || exit 99
device_network && device_certificates && device_conf "${words[@]}" || exit 99
[ "$HOW" = silent ] || [ "$HOW" = missing ] || device_ike || exit 99
device_peer "${peer_options[@]}" && device_profile "$more" || exit 99
[ "$HOW" != keyless ] || : >"$WORK/key" || exit 99
[ "$HOW" != missing ] || mount --bind /dev/null "$(command -v swanctl)" || exit 99
status=0
"$WARPCHECK" run --dut "$WORK/ipsec.json" "$@" || status=$?
device_ends
exit "$status"
INSIDE
: "${MAKER:=strongswan}"
export WORK WARPCHECK IWARP_PEER MAKER
namespaces=(unshare -rn --pid --fork --kill-child --mount-proc bash "$WORK/inside.sh")
device() { HOW=$1 "${namespaces[@]}" "${@:2}"; }

# The verdicts of checks, "ID=VERDICT" a line.
verdicts() { jq -r 'select(.type == "result" and .by == "check") | "\(.id)=\(.verdict)"' "$1/results.jsonl" | sort; }

echo "== a good device"
# shellcheck disable=SC2034 # expect.bash looks at it
passes=any lines=any
all=(MPA-9.3-01 MPA-9.3-02 'MPA-9.4-0[1-4]' 'RDMAP-8.2.2-*')
good='' two=MPA-9.4-04=AMBIGUOUS made=strongSwan
chosen=("${all[@]}")
if [ "$MAKER" = kernel ]; then # the rows that depend on who makes ESP
	good='esp_by=kernel esp=aes128-sha1-esn-noesn,null-sha1,3des-sha1' two='' made='its kernel'
	chosen=(MPA-9.3-02 MPA-9.4-04 RDMAP-8.2.2-02 RDMAP-8.2.2-03)
fi
expect 0 "each row is decided" env HOW="$good" "${namespaces[@]}" "${chosen[@]}" -o "$WORK/good" --evidence all
holds "none but the row with two readings, where there is no 3DES, is other than PASS" test "$(verdicts "$WORK/good" | grep -v =PASS)" = "$two"
holds "the evidence says who makes ESP" grep -rqaF "the tester's ESP is made by $made" "$WORK/good"
holds "each active row has a verdict" test "$("$WARPCHECK" list "${chosen[@]}" --format jsonl |
	jq -r 'select(.observability == "active") | .id' | sort)" = "$(verdicts "$WORK/good" | cut -d = -f 1)"
lacks() { ! grep -rqaF -e 'correct horse battery' -e "$(printf 'correct horse battery' | base64)" -e 'PRIVATE KEY' "$1"; }
holds "no output has the secret" lacks "$WORK/good"
holds "the tester's files are gone" test -z "$(find /tmp -maxdepth 1 -name 'warpcheck-ipsec.*' -newer "$WORK/inside.sh" 2>/dev/null)"

echo "== faults"
while IFS=$'\t' read -r fault kind how rows; do
	case "$kind-${WHOLE:-}" in *always-* | *-1) ;; *) continue ;; esac
	case $MAKER-$kind in kernel-kernel* | strongswan-always | strongswan-user) ;; *) continue ;; esac
	ids=() wanted=''
	for row in $rows; do
		[[ $row = DDP-* ]] && [ "${WHOLE:-}" != 1 ] && continue # the same check decides RDMAP's row
		ids+=("${row%=*}")
		wanted+="$row"$'\n'
	done
	device "$how" "${ids[@]}" -o "$WORK/$fault" >"$WORK/$fault.out" 2>&1 || true
	holds "$fault" test "$(verdicts "$WORK/$fault")" = "$(sort <<<"${wanted%$'\n'}")"
done < <(grep -v '^#' tests/e2e/ipsec-faults.tsv)
caught() { grep -v '^#' tests/e2e/ipsec-faults.tsv | cut -f 4 | tr ' ' '\n' | sed 's/=.*//' | sort -u; }
holds "each configured row has a fault" test -z "$(comm -23 <(grep -P '^[A-Z].*\tconfigured: ' reference-stack/defects/defects-none.tsv | cut -f 1 | sort) <(caught))"
[ "$MAKER" = strongswan ] || { finish; exit; }

echo "== no verdict"
expect 4 "a device without IKE" env HOW=silent "${namespaces[@]}" MPA-9.3-01
complains '^warpcheck run: IPsec: the device at 10.99.0.2 does not answer IKE$'
expect 4 "a tester without strongSwan" env HOW=missing "${namespaces[@]}" MPA-9.3-01
complains '^warpcheck run: IPsec: swanctl is not installed \(Debian: strongswan-swanctl\)'
expect 4 "a file without a key" env HOW=keyless "${namespaces[@]}" MPA-9.3-01
complains '^warpcheck run: IPsec: .* is empty, a pre-shared key was expected$'
expect 4 "a device with another key" env HOW='secret=another certificates=no' "${namespaces[@]}" MPA-9.3-01
complains '^warpcheck run: IPsec: the device at 10.99.0.2 agrees to nothing'
sa=(src 192.0.2.1 dst 192.0.2.2 proto esp spi 0x100 mode tunnel auth-trunc 'hmac(sha1)' 0x00 96 enc 'cbc(aes)' 0x00000000000000000000000000000000)
if ! unshare -rn bash -c 'ip link add x type xfrm dev lo if_id 1 && ip xfrm state add "$@"' x "${sa[@]}" 2>/dev/null; then
	expect 4 "a kernel without ESP, which the profile asks for" env MAKER=kernel HOW= "${namespaces[@]}" MPA-9.3-01
	complains '^warpcheck run: IPsec: the kernel makes no ESP \("esp_by" of the profile\): .'
fi
expect 2 "checks side by side" "$WARPCHECK" run --dut "$WORK/ipsec.json" -j 2 MPA-9.3-01
complains 'reached through IPsec, and checks side by side would change each other'
expect 2 "--ipsec is for the lab" "$WARPCHECK" run --ipsec MPA-9.3-01
complains "a device's profile has a member \"ipsec\""
jq 'del(.ipsec) | .capabilities = { ipsec: "no" }' "$WORK/ipsec.json" >"$WORK/without.json"
expect 0 "a device without the capability" "$WARPCHECK" run --dut "$WORK/without.json" --dry-run "${all[@]}"
says 'SKIP: .*ipsec'
finish
