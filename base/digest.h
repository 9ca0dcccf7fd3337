/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Digests that are the same on every machine and in every version (FNV-1a, 64 bits): they name and compare things, and do
 * not resist who makes two of one digest. Begin with DIGEST_START, and add octets in their order.
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DIGEST_START UINT64_C(14695981039346656037)

static inline uint64_t digest_octets(uint64_t digest, const void *octets, size_t count)
{
    const unsigned char *at = octets;

    for (size_t i = 0; i < count; i++)
        digest = (digest ^ at[i]) * UINT64_C(1099511628211);
    return digest;
}

/* With its end, so that "ab" "c" and "a" "bc" differ. */
static inline uint64_t digest_text(uint64_t digest, const char *text)
{
    return digest_octets(digest, text, strlen(text) + 1);
}

/* In octets from the lowest to the highest, whatever the machine's order is. */
static inline uint64_t digest_number(uint64_t digest, uint64_t number)
{
    unsigned char octets[8];

    for (unsigned i = 0; i < sizeof(octets); i++)
        octets[i] = (unsigned char)(number >> 8 * i);
    return digest_octets(digest, octets, sizeof(octets));
}

#endif
