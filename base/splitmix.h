/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers that look random and come from a seed (splitmix64): sparse, and the same for the same seed. */
#ifndef BASE_SPLITMIX_H
#define BASE_SPLITMIX_H

#include <stdint.h>

/* The next number. `state` begins with the seed, any number. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

#endif
