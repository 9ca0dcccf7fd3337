/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CONFORMANCE_ENGINE_CMD_PROVE_VARIANTS_H
#define CONFORMANCE_ENGINE_CMD_PROVE_VARIANTS_H

#include <stdbool.h>

#include "conformance/engine/prove/prove_variants.h"

/*
 * warpcheck prove --variants [VARIANT...]: runs them and prints, in text or in lines of JSON. The callbacks and the
 * list of variants are set here. 0 when each is reported as it should be, 1 when not, 2 for an unknown name, 4 where
 * the suite could not run.
 */
int cmd_prove_variants(struct prove_variants_config *config, bool jsonl);

#endif
