/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/infiniband.h"

#include <string.h>

WIRE_LAYOUT_DEFINE(lrh, LRH_FIELDS, "InfiniBand Local Route Header", "IBTA 7.7", LRH_OCTETS);
WIRE_LAYOUT_DEFINE(bth, BTH_FIELDS, "InfiniBand Base Transport Header", "IBTA 9.2", BTH_OCTETS);
WIRE_LAYOUT_DEFINE(deth, DETH_FIELDS, "InfiniBand Datagram Extended Transport Header", "IBTA 9.3", DETH_OCTETS);
WIRE_LAYOUT_DEFINE(mad, MAD_FIELDS, "InfiniBand MAD header", "IBTA 13.4.3", MAD_HEADER_OCTETS);

/* CRC of each nibble under the reflected polynomial 0xEDB88320. CM messages are few: no faster way is needed. */
static const uint32_t nibble_table[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

uint32_t icrc_update(uint32_t state, const uint8_t *octets, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        state ^= octets[i];
        state = state >> 4 ^ nibble_table[state & 0xF];
        state = state >> 4 ^ nibble_table[state & 0xF];
    }
    return state;
}

/* BTH with its variant octet (resv8a) masked, and what follows it. */
static uint32_t icrc_bth(uint32_t state, const uint8_t *bth, size_t count)
{
    uint8_t masked[BTH_OCTETS];

    if (count < BTH_OCTETS)
        return state;
    memcpy(masked, bth, sizeof(masked));
    masked[4] = 0xFF;
    state = icrc_update(state, masked, sizeof(masked));
    return icrc_update(state, bth + BTH_OCTETS, count - BTH_OCTETS);
}

static void mask_global(uint8_t header[GRH_OCTETS])
{
    header[0] |= 0x0F; /* traffic class, flow label, hop limit */
    header[1] = header[2] = header[3] = 0xFF;
    header[7] = 0xFF;
}

uint32_t icrc_roce_v2(const uint8_t *ip, unsigned family, const uint8_t *udp, size_t count)
{
    static const uint8_t ones[LRH_OCTETS] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    uint8_t masked[GRH_OCTETS], udp_masked[8];
    uint32_t state = icrc_update(ICRC_START, ones, sizeof(ones));

    if (family == 4) {
        memcpy(masked, ip, 20);
        masked[1] = 0xFF; /* TOS, TTL, header checksum */
        masked[8] = masked[10] = masked[11] = 0xFF;
        state = icrc_update(state, masked, 20);
    } else {
        memcpy(masked, ip, GRH_OCTETS);
        mask_global(masked);
        state = icrc_update(state, masked, GRH_OCTETS);
    }
    if (count < sizeof(udp_masked))
        return ~state;
    memcpy(udp_masked, udp, sizeof(udp_masked));
    udp_masked[6] = udp_masked[7] = 0xFF;
    state = icrc_update(state, udp_masked, sizeof(udp_masked));
    return ~icrc_bth(state, udp + sizeof(udp_masked), count - sizeof(udp_masked));
}

uint32_t icrc_native(const uint8_t *lrh, size_t count)
{
    uint8_t masked[GRH_OCTETS];
    uint32_t state = ICRC_START;
    bool global;

    if (count < LRH_OCTETS)
        return ~state;
    global = lrh_get_LNH(lrh) == LRH_LNH_GLOBAL;
    memcpy(masked, lrh, LRH_OCTETS);
    masked[0] |= 0xF0; /* virtual lane */
    /* In a packet that may leave its subnet the whole LRH is variant. */
    if (global)
        memset(masked, 0xFF, LRH_OCTETS);
    state = icrc_update(state, masked, LRH_OCTETS);
    lrh += LRH_OCTETS;
    count -= LRH_OCTETS;
    if (global && count >= GRH_OCTETS) {
        memcpy(masked, lrh, GRH_OCTETS);
        mask_global(masked);
        state = icrc_update(state, masked, GRH_OCTETS);
        lrh += GRH_OCTETS;
        count -= GRH_OCTETS;
    }
    return ~icrc_bth(state, lrh, count);
}
