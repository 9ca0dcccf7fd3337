/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzz targets share. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that holds for every input; one for which it does not is kept by the fuzzer. */
#define FUZZ_HOLDS(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A copy of exactly `count` octets, so that the sanitizer sees a step past its end; the caller frees it. */
static inline uint8_t *fuzz_copy(const uint8_t *octets, size_t count)
{
    uint8_t *copy = malloc(count != 0 ? count : 1);

    if (copy == NULL)
        abort();
    if (count != 0)
        memcpy(copy, octets, count);
    return copy;
}

#endif
