/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock by which processes wait: nobody sets it, and it begins anywhere (CLOCK_MONOTONIC). */
#ifndef BASE_MONOTONIC_H
#define BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t monotonic_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Signed, for what is left until a time. */
static inline int64_t monotonic_ms(void)
{
    return (int64_t)(monotonic_ns() / 1000000);
}

#endif
