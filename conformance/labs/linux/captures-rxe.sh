#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# captures-rxe.sh DIR: connection set-up by the RDMA IP CM Service (IBTA Annex A11) between two guests with Linux rxe, captured on
# the bridge between them: rping over IPv4 and IPv6, ucmatose, a port without a listener. What
# pcaps/linux-rxe holds was made so. See two-guests.bash.
set -euo pipefail
: "${LAB:=${B:-build}/lab-rxe}"
LAB_MODULES='crc32_generic rdma_rxe'
# shellcheck source=conformance/labs/linux/two-guests.bash
source "$(dirname "${BASH_SOURCE[0]}")/two-guests.bash"

rxe='rdma link del siw0; rdma link add rxe0 type rxe netdev eth0; rdma link;'
server="$rxe"'
	rping -s -a 10.78.0.2 -p 7174 -v -C 2 -S 100 &
	rping -s -a fd78::2 -p 7175 -v -C 2 -S 100 &
	ucmatose -b 10.78.0.2 -p 7471 -C 2 -c 1 &
	echo LISTENING
	sleep 1000'
client="$rxe"'
	attempt() { for try in 1 2 3; do timeout 20 "$@" && return; sleep 1; done; echo "FAILED: $*"; }
	ping -c 3 10.78.0.2 >/dev/null
	sleep 6
	attempt rping -c -a 10.78.0.2 -p 7174 -v -C 2 -S 100
	attempt rping -c -a fd78::2 -p 7175 -v -C 2 -S 100
	attempt ucmatose -s 10.78.0.2 -p 7471 -C 2 -c 1
	timeout 20 rping -c -a 10.78.0.2 -p 12345 -C 1
	sleep 1
	echo FINISHED'

capture "$LAB_IMAGE/initrd.gz" "$server" "$client"
tshark -r "$work/all.pcap" -Y 'udp.port == 4791' -F pcap -w "$OUT/rxe-cm.pcap" 2>/dev/null
ls -l "$OUT"
