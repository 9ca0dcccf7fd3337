#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# build-sctp.sh OUT PROGRAM: for build-image.sh, whose image is in OUT: the kernel's SCTP, what worsens its packets and PROGRAM
# (iwarp-peer) with the libraries that it needs, as a second archive after the image's (archive.bash). The last line of output is the folder.
set -euo pipefail
# shellcheck source=conformance/labs/linux/archive.bash
source "$(dirname "${BASH_SOURCE[0]}")/archive.bash"
out=$1 program=$2
archive_begin sctp "$(sha256sum "$program" "${BASH_SOURCE[0]}")"
archive_modules crc32c_generic sctp sch_netem sch_prio sch_ingress cls_u32 act_mirred ifb
cp "$program" "$root/bin/iwarp-peer"
cp "$(command -v tc)" "$root/bin/tc"
archive_libraries "$root"/bin/*
archive_end
