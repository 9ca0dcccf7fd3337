#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-inside.sh OUT: for build-image.sh, whose image is in OUT: what inside.sh needs of the kernel, as a second archive after the image's
# (archive.bash): this machine's files (9p), network devices of namespaces, and ESP. The last line of output is the folder.
set -euo pipefail
# shellcheck source=conformance/labs/linux/archive.bash
source "$(dirname "${BASH_SOURCE[0]}")/archive.bash"
out=$1
archive_begin inside "$(sha256sum "${BASH_SOURCE[0]}")"
archive_modules 9pnet_virtio 9p veth macvlan tun xfrm_interface "${esp_modules[@]}"
archive_end
