/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC32C (polynomial 0x1EDC6F41), as MPA uses it (RFC 5044 4.4). The state is the register before the final
 * complement: begin with CRC32C_START, feed octets in stream order, finish with crc32c_value().
 */
#ifndef WIRE_CRC32C_H
#define WIRE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CRC32C_START UINT32_C(0xFFFFFFFF)

/* ISA-L's implementation, chosen by the CPU at run time. */
uint32_t crc32c_update(uint32_t state, const uint8_t *octets, size_t count);

/* The same in portable C (a nibble at a time): for builds without ISA-L, and to check the other implementation. */
uint32_t crc32c_update_portable(uint32_t state, const uint8_t *octets, size_t count);

static inline uint32_t crc32c_value(uint32_t state)
{
    return ~state;
}

/* CRC of one run of octets. On the wire it stands least significant octet first: octets_put32_little(). */
static inline uint32_t crc32c(const uint8_t *octets, size_t count)
{
    return crc32c_value(crc32c_update(CRC32C_START, octets, count));
}

#ifdef __cplusplus
}
#endif

#endif
