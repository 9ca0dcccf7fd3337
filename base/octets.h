/* SPDX-License-Identifier: BSD-2-Clause */
/* Network-order loads and stores at any alignment: iWARP headers are packed, and hosts may not be. */
#ifndef BASE_OCTETS_H
#define BASE_OCTETS_H

#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Conversions between host order and network order. <endian.h> declares such functions only outside strict ISO C, and
 * users may compile their programs with cc -std=c17.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OCTETS_BIG16(value)    __builtin_bswap16(value)
#define OCTETS_BIG32(value)    __builtin_bswap32(value)
#define OCTETS_BIG64(value)    __builtin_bswap64(value)
#define OCTETS_LITTLE32(value) (value)
#else
#define OCTETS_BIG16(value)    (value)
#define OCTETS_BIG32(value)    (value)
#define OCTETS_BIG64(value)    (value)
#define OCTETS_LITTLE32(value) __builtin_bswap32(value)
#endif

static inline uint16_t octets_get16(const uint8_t *octets)
{
    uint16_t value;

    memcpy(&value, octets, sizeof(value));
    return OCTETS_BIG16(value);
}

static inline uint32_t octets_get32(const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return OCTETS_BIG32(value);
}

static inline uint64_t octets_get64(const uint8_t *octets)
{
    uint64_t value;

    memcpy(&value, octets, sizeof(value));
    return OCTETS_BIG64(value);
}

static inline void octets_put16(uint8_t *octets, uint16_t value)
{
    const uint16_t ordered = OCTETS_BIG16(value);

    memcpy(octets, &ordered, sizeof(ordered));
}

static inline void octets_put32(uint8_t *octets, uint32_t value)
{
    const uint32_t ordered = OCTETS_BIG32(value);

    memcpy(octets, &ordered, sizeof(ordered));
}

static inline void octets_put64(uint8_t *octets, uint64_t value)
{
    const uint64_t ordered = OCTETS_BIG64(value);

    memcpy(octets, &ordered, sizeof(ordered));
}

/* Least significant octet first, as other protocols have it. */
static inline uint16_t octets_get16_little(const uint8_t *octets)
{
    return (uint16_t)(octets[0] | octets[1] << 8);
}

/* The FPDU's CRC is stored least significant octet first (RFC 5044 4.4, Figures 5 and 6). */
static inline uint32_t octets_get32_little(const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return OCTETS_LITTLE32(value);
}

static inline void octets_put32_little(uint8_t *octets, uint32_t value)
{
    const uint32_t ordered = OCTETS_LITTLE32(value);

    memcpy(octets, &ordered, sizeof(ordered));
}

#undef OCTETS_BIG16
#undef OCTETS_BIG32
#undef OCTETS_BIG64
#undef OCTETS_LITTLE32

#ifdef __cplusplus
}
#endif

#endif
