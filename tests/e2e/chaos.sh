#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A short `make chaos`: of the faster subjects some moments and some calls, always the same ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
MOMENTS=1 FAULTS=1 SEED=7 exec tools/chaos.sh run ${WHOLE:+workers monitor bridge} audit report merge gen new course disk
