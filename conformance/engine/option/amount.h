/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that are an amount with a unit: sizes and times. */
#ifndef CONFORMANCE_ENGINE_AMOUNT_H
#define CONFORMANCE_ENGINE_AMOUNT_H

#include <stdint.h>

#include "base/sentence.h"

/*
 * "512M": octets, with K, M or G for 2^10, 2^20 or 2^30 of them. 0, or -1 with a sentence that names the option and what
 * was expected: `expected` is "octets from 1M to 1024G were expected, such as 512M or 4G".
 */
int amount_octets(const char *option, const char *value, uint64_t least, uint64_t most, const char *expected,
                  uint64_t *octets, struct iwarp_sentence *error);

/* Of --memory, for which struct flow_config has the least. */
#define AMOUNT_MEMORY_MOST     (UINT64_C(1) << 40)
#define AMOUNT_MEMORY_EXPECTED "octets from 1M to 1024G were expected, such as 512M or 4G"

/* "90s", "30m", "24h", "7d"; seconds without a unit. 0, or -1 with a sentence. */
int amount_seconds(const char *option, const char *value, uint64_t least, uint64_t most, uint64_t *seconds,
                   struct iwarp_sentence *error);

#endif
