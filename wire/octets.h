/* SPDX-License-Identifier: BSD-2-Clause */
/* Network-order loads and stores at any alignment: iWARP headers are packed, and hosts may not be. */
#ifndef WIRE_OCTETS_H
#define WIRE_OCTETS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline uint16_t octets_get16(const uint8_t *octets)
{
    uint16_t value;

    memcpy(&value, octets, sizeof(value));
    return be16toh(value);
}

static inline uint32_t octets_get32(const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return be32toh(value);
}

static inline uint64_t octets_get64(const uint8_t *octets)
{
    uint64_t value;

    memcpy(&value, octets, sizeof(value));
    return be64toh(value);
}

static inline void octets_put16(uint8_t *octets, uint16_t value)
{
    value = htobe16(value);
    memcpy(octets, &value, sizeof(value));
}

static inline void octets_put32(uint8_t *octets, uint32_t value)
{
    value = htobe32(value);
    memcpy(octets, &value, sizeof(value));
}

static inline void octets_put64(uint8_t *octets, uint64_t value)
{
    value = htobe64(value);
    memcpy(octets, &value, sizeof(value));
}

/* The FPDU's CRC is stored least significant octet first (RFC 5044 4.4, Figures 5 and 6). */
static inline uint32_t octets_get32_little(const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return le32toh(value);
}

static inline void octets_put32_little(uint8_t *octets, uint32_t value)
{
    value = htole32(value);
    memcpy(octets, &value, sizeof(value));
}

#ifdef __cplusplus
}
#endif

#endif
