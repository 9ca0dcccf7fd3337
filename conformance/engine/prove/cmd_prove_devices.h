/* SPDX-License-Identifier: BSD-2-Clause */
/* warpcheck prove --devices N, and prove --choices CHOICES. */
#ifndef CONFORMANCE_ENGINE_CMD_PROVE_DEVICES_H
#define CONFORMANCE_ENGINE_CMD_PROVE_DEVICES_H

#include <stdbool.h>

#include "conformance/engine/prove/prove_devices.h"

/* Loads the choices, fills in the callbacks, and prints. Returns the exit status. */
int cmd_prove_devices(struct prove_devices_config *config, bool jsonl);

#endif
