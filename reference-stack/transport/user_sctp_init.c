/* SPDX-License-Identifier: BSD-2-Clause */
#include "reference-stack/transport/user_sctp_init.h"

#include <string.h>

#include "wire/octets.h"
#include "wire/sctp.h"

enum { ADDRESS_OCTETS = SCTP_PARAMETER_OCTETS + 4 };

/* RFC 5737: a network for documents. */
#define FIRST_ADDRESS UINT32_C(0xC0000201)

/* The last chunk of the packet, where that is an INIT or INIT ACK; NULL: it is another. */
static const uint8_t *last_init(const uint8_t *packet, size_t octets, size_t *chunk_octets)
{
    const uint8_t *p = packet + SCTP_COMMON_OCTETS, *found = NULL;
    struct sctp_chunk chunk;

    while (octets >= SCTP_COMMON_OCTETS && sctp_chunk_parse(&p, packet + octets, &chunk) == WIRE_OK) {
        found = chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK ? chunk.start : NULL;
        *chunk_octets = chunk.octets;
    }
    return found;
}

size_t user_sctp_list_addresses(const uint8_t *packet, size_t octets, unsigned addresses, uint8_t *listed)
{
    size_t chunk_octets = 0, room = (size_t)addresses * ADDRESS_OCTETS;
    const uint8_t *init = last_init(packet, octets, &chunk_octets);
    size_t begins = init != NULL ? (size_t)(init - packet) : 0;
    size_t end = begins + (chunk_octets + 3) / 4 * 4; /* parameters begin at multiples of 4 */
    uint8_t *p = listed + end;

    if (init == NULL || end + room > USER_SCTP_INIT_ROOM)
        return 0;
    memset(listed, 0, end);
    memcpy(listed, packet, octets < end ? octets : end);
    octets_put16(listed + begins + 2, (uint16_t)(end - begins + room));
    for (unsigned i = 0; i < addresses; i++, p += ADDRESS_OCTETS) {
        octets_put16(p, SCTP_PARAMETER_IPV4);
        octets_put16(p + 2, ADDRESS_OCTETS);
        octets_put32(p + SCTP_PARAMETER_OCTETS, FIRST_ADDRESS + i);
    }
    return end + room;
}
