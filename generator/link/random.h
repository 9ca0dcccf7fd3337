/* SPDX-License-Identifier: BSD-2-Clause */
/* A small seeded generator (SplitMix64, the finaliser of MurmurHash3's 64-bit mixer): the same seed, the same run. */
#ifndef GENERATOR_RANDOM_H
#define GENERATOR_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

static inline void random_seed(struct random *random, uint64_t seed)
{
    random->state = seed;
}

/* The next 64 random bits. */
static inline uint64_t random_next(struct random *random)
{
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number in [0, bound); 0 for bound 0. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
    return bound == 0 ? 0 : random_next(random) % bound;
}

/* True with the given probability (0.0 never, 1.0 always). */
static inline bool random_chance(struct random *random, double probability)
{
    return probability > 0 && (double)(random_next(random) >> 11) * 0x1.0p-53 < probability;
}

#endif
