#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `make demo` in a fresh Debian 13, as a new user has it (tools/systems.sh): a newer compiler, newer libraries and a checkout that nobody but
# root may enter. Without root, debootstrap or Debian's archive: a SKIP.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
: "${WORK:=$(mktemp -d)}"
status=0
STEPS=demo OUT=$WORK/logs timeout -k 10 1800 tools/systems.sh trixie 2>&1 | tee "$WORK/said" || status=${PIPESTATUS[0]}
[ "$status" -ne 77 ] || grep -v '^|' "$WORK/said" | tail -n 2 | paste -sd' '
exit "$status"
