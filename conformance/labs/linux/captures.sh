#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# captures.sh DIR: real ULPs between two guests with Linux siw, captured on the bridge between them, one file a ULP:
# rping (IPv4, IPv6), rdma_server, perftest's Write, Read and Send, NVMe over RDMA from the kernel's own modules. What
# pcaps/linux-siw holds was made so. See two-guests.bash.
set -euo pipefail
: "${LAB:=${B:-build}/lab-ulp}"
LAB_MODULES='nvmet_rdma nvme_rdma null_blk'
# shellcheck source=conformance/labs/linux/two-guests.bash
source "$(dirname "${BASH_SOURCE[0]}")/two-guests.bash"

# Ports tell the ULPs apart. Each server serves once.
server='
	nvmet() {
		mount -t configfs none /sys/kernel/config && cd /sys/kernel/config/nvmet || return
		mkdir subsystems/warp && echo 1 >subsystems/warp/attr_allow_any_host
		mkdir subsystems/warp/namespaces/1 && echo -n /dev/nullb0 >subsystems/warp/namespaces/1/device_path
		echo 1 >subsystems/warp/namespaces/1/enable
		mkdir ports/1 && echo rdma >ports/1/addr_trtype && echo ipv4 >ports/1/addr_adrfam
		echo 10.78.0.2 >ports/1/addr_traddr && echo 4420 >ports/1/addr_trsvcid
		ln -s /sys/kernel/config/nvmet/subsystems/warp ports/1/subsystems/warp
	}
	nvmet
	rping -s -a 10.78.0.2 -p 7174 -v -C 4 -S 1000 &
	rping -s -a fd78::2 -p 7175 -v -C 2 -S 100 &
	while true; do rdma_server -p 7471; done &
	ib_write_bw -R -p 18515 -n 6 -s 16384 -F &
	ib_read_bw -R -p 18516 -n 6 -s 16384 -o 4 -F &
	ib_send_bw -R -p 18517 -n 6 -s 4000 -F &
	echo LISTENING
	sleep 1000'
client='
	attempt() { for try in 1 2 3; do "$@" && return; sleep 1; done; echo "FAILED: $*"; }
	limited() { attempt timeout 20 "$@"; }
	ping -c 3 10.78.0.2 >/dev/null
	sleep 6
	limited rping -c -a 10.78.0.2 -p 7174 -v -C 4 -S 1000
	limited rping -c -a fd78::2 -p 7175 -v -C 2 -S 100
	limited rdma_client -s 10.78.0.2 -p 7471
	limited ib_write_bw -R -p 18515 -n 6 -s 16384 -F 10.78.0.2
	limited ib_read_bw -R -p 18516 -n 6 -s 16384 -o 4 -F 10.78.0.2
	limited ib_send_bw -R -p 18517 -n 6 -s 4000 -F 10.78.0.2
	connect() {
		echo "transport=rdma,traddr=10.78.0.2,trsvcid=4420,nqn=warp,nr_io_queues=1,queue_size=16" >/dev/nvme-fabrics
	}
	attempt connect
	sleep 1
	dd if=/dev/nvme0n1 of=/dev/null bs=8192 count=4 iflag=direct
	dd if=/dev/zero of=/dev/nvme0n1 bs=8192 count=4 oflag=direct
	sleep 1
	echo 1 >/sys/class/nvme/nvme0/delete_controller
	echo FINISHED'

capture "$LAB_IMAGE/initrd.gz" "$server" "$client"
for ulp in rping:7174 rping-ipv6:7175 rdma-server:7471 write-bw:18515 read-bw:18516 send-bw:18517 nvme:4420; do
	tshark -r "$work/all.pcap" -Y "tcp.port == ${ulp#*:}" -F pcap -w "$OUT/siw-${ulp%:*}.pcap" 2>/dev/null
done
ls -l "$OUT"
