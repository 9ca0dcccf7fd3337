/* SPDX-License-Identifier: BSD-2-Clause */
/* How devices that are drawn by seed cover the choice points of a layer, and the pairs of them. */
#ifndef CONFORMANCE_ENGINE_DEVICES_COVERAGE_H
#define CONFORMANCE_ENGINE_DEVICES_COVERAGE_H

#include "conformance/engine/prove/prove_devices.h"

/* Of all devices of the configuration, whatever its shard. 0, or -1 with a sentence: memory. */
int devices_coverage_find(const struct prove_devices_config *config, struct devices_coverage *coverage,
                          struct iwarp_sentence *error);

#endif
