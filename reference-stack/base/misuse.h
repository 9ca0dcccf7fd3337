/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the public functions say to programs that use them wrongly. They look once, on entry; after that, and in all
 * that goes on by itself, pointers are what they should be.
 */
#ifndef REFERENCE_STACK_MISUSE_H
#define REFERENCE_STACK_MISUSE_H

#include <stdint.h>

#include "base/sentence.h"

/* NULL for what the function cannot do without. */
static inline int misuse_null(struct iwarp_sentence *sentence, const char *function, const char *expected)
{
    return iwarp_sentence_set(sentence, "%s: expected %s, got NULL", function, expected);
}

/* A time that no clock reaches, rather than one in the past. */
static inline uint64_t time_after(uint64_t now, uint64_t limit)
{
    return limit > UINT64_MAX - now ? UINT64_MAX : now + limit;
}

#endif
