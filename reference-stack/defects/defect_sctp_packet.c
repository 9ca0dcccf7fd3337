/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults of SCTP itself, below the adaptation: in the packets that the device's SCTP has made. */
#include <string.h>

#include "reference-stack/defects/defect_internal.h"
#include "reference-stack/defects/peer_faults.h"
#include "base/octets.h"
#include "wire/sctp.h"

enum { ADDRESS_OCTETS = SCTP_PARAMETER_OCTETS + 4, MORE_ADDRESSES = 2 };

/* RFC 5737: a network for documents. */
#define FIRST_ADDRESS UINT32_C(0xC0000201)

/* The packet's only chunk. False: it has none, or several. */
static bool only_chunk(const uint8_t *packet, size_t octets, struct sctp_chunk *chunk)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS;
    struct sctp_chunk next;

    return octets >= SCTP_COMMON_OCTETS && sctp_chunk_parse(&p, packet + octets, chunk) == WIRE_OK &&
           sctp_chunk_parse(&p, packet + octets, &next) != WIRE_OK;
}

/*
 * INIT and INIT ACK are the only chunks of their packets (RFC 9260 3.3.2): addresses follow the parameters that they
 * have (3.3.2.1).
 */
static size_t list_addresses(uint8_t *packet, size_t octets, size_t room, const struct sctp_chunk *chunk)
{
    uint8_t *init = packet + SCTP_COMMON_OCTETS;
    size_t own = (chunk->octets + 3) / 4 * 4; /* parameters begin at multiples of 4 */
    size_t more = (size_t)MORE_ADDRESSES * ADDRESS_OCTETS;

    if ((chunk->type != SCTP_INIT && chunk->type != SCTP_INIT_ACK) || SCTP_COMMON_OCTETS + own + more > room)
        return octets;
    for (size_t i = chunk->octets; i < own; i++)
        init[i] = 0;
    octets_put16(init + 2, (uint16_t)(own + more));
    for (unsigned i = 0; i < MORE_ADDRESSES; i++) {
        uint8_t *parameter = init + own + (size_t)i * ADDRESS_OCTETS;

        octets_put16(parameter, SCTP_PARAMETER_IPV4);
        octets_put16(parameter + 2, ADDRESS_OCTETS);
        octets_put32(parameter + SCTP_PARAMETER_OCTETS, FIRST_ADDRESS + i);
    }
    return SCTP_COMMON_OCTETS + own + more;
}

/* --- What SCTP may do by itself ----------------------------------------------------------------------------------- */

enum { SID_AT = 8, SSN_AT = 10, ANY_SSN = 0xBEEF, TSN_AT = 4, TSN_OCTETS = 4, PACKET_MOST = 2048 };

/*
 * Two chunks that follow one another, of `before` and `octets` octets with their pads, change places, and their TSNs do
 * not.
 */
static void swap_chunks(uint8_t *first, size_t before, size_t octets)
{
    uint8_t kept[PACKET_MOST], tsn[2][TSN_OCTETS];

    memcpy(tsn[0], first + TSN_AT, TSN_OCTETS);
    memcpy(tsn[1], first + before + TSN_AT, TSN_OCTETS);
    memcpy(kept, first, before);
    memmove(first, first + before, octets);
    memcpy(first + octets, kept, before);
    memcpy(first + TSN_AT, tsn[0], TSN_OCTETS);
    memcpy(first + octets + TSN_AT, tsn[1], TSN_OCTETS);
}

static void variant_sctp_leaving(const struct defect_set *set, uint8_t *packet, size_t octets)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS, *end = packet + octets, *at = p;
    struct sctp_chunk chunk;
    uint8_t *before = NULL;
    uint16_t sid = 0;

    while (p < end && sctp_chunk_parse(&p, end, &chunk) == WIRE_OK) {
        uint8_t *start = packet + (at - packet);
        size_t whole = (size_t)(p - at);

        at = p;
        if (chunk.type != SCTP_DATA || chunk.octets < SCTP_DATA_OCTETS) {
            before = NULL;
            continue;
        }
        if (defect_behaves(set, DEFECT_SCTP_SSN_FIELD))
            octets_put16(start + SSN_AT, ANY_SSN);
        if (defect_behaves(set, DEFECT_SCTP_SACK_AT_ONCE))
            start[1] |= SCTP_FLAG_I;
        if (before != NULL && octets_get16(start + SID_AT) == sid && octets <= PACKET_MOST && whole % 4 == 0 &&
            defect_behaves(set, DEFECT_SCTP_BUNDLE_REVERSED)) {
            swap_chunks(before, (size_t)(start - before), whole);
            before = NULL;
            continue;
        }
        before = start;
        sid = octets_get16(start + SID_AT);
    }
}

size_t hook_sctp_leaving(const struct defect_set *set, uint8_t *packet, size_t octets, size_t room)
{
    struct sctp_chunk chunk;

    variant_sctp_leaving(set, packet, octets);
    if (!only_chunk(packet, octets, &chunk))
        return octets;
    if ((chunk.type == SCTP_SACK && defect_behaves(set, DEFECT_SCTP_SACK_WITHHELD)) ||
        (chunk.type == SCTP_ABORT && defect_behaves(set, DEFECT_SCTP_ABORT_WITHHELD)))
        return 0;
    return defect_behaves(set, DEFECT_SCTP_ADDRESSES_LISTED) ? list_addresses(packet, octets, room, &chunk) : octets;
}
