/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/crc32c.h"

#include <string.h>

#ifndef WARPCHECK_NO_ISAL
#include <isa-l/crc.h>
#endif

/*
 * CRC of each nibble under the reflected polynomial 0x82F63B78: small enough to be a constant, so that no start-up code
 * and no global state is needed.
 */
static const uint32_t nibble_table[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t crc32c_update_portable(uint32_t state, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        state ^= octets[i];
        state = state >> 4 ^ nibble_table[state & 0xF];
        state = state >> 4 ^ nibble_table[state & 0xF];
    }
    return state;
}

#ifndef WARPCHECK_NO_ISAL
/*
 * Of pieces of more octets than this ISA-L fetches ahead what will be used but once (PREFETCHNTA): they are in no cache
 * then when TCP or a placement copies them, or when the same memory is sent again.
 */
enum { RUN = 6144 };

static uint32_t update_run(uint32_t state, const uint8_t *octets, size_t count)
{
    unsigned char *from;

    memcpy(&from, &octets, sizeof(from)); /* ISA-L does not write through its pointer */
    return crc32_iscsi(from, (int)count, state);
}
#endif

uint32_t crc32c_update(uint32_t state, const uint8_t *octets, size_t count)
{
#ifndef WARPCHECK_NO_ISAL
    for (; count > RUN; octets += RUN, count -= RUN)
        state = update_run(state, octets, RUN);
    return update_run(state, octets, count);
#else
    return crc32c_update_portable(state, octets, count);
#endif
}
