/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of a capture file, which has this machine's order of octets, or (`swapped`) the other one: its magic number says which
 * (draft-ietf-opsawg-pcap 4, draft-ietf-opsawg-pcapng 4.1).
 */
#ifndef CONFORMANCE_ENGINE_CAPTURE_OCTETS_H
#define CONFORMANCE_ENGINE_CAPTURE_OCTETS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t capture_get16(bool swapped, const uint8_t *octets)
{
    uint16_t value;

    memcpy(&value, octets, sizeof(value));
    return swapped ? __builtin_bswap16(value) : value;
}

static inline uint32_t capture_get32(bool swapped, const uint8_t *octets)
{
    uint32_t value;

    memcpy(&value, octets, sizeof(value));
    return swapped ? __builtin_bswap32(value) : value;
}

static inline uint64_t capture_get64(bool swapped, const uint8_t *octets)
{
    uint64_t value;

    memcpy(&value, octets, sizeof(value));
    return swapped ? __builtin_bswap64(value) : value;
}

#endif
