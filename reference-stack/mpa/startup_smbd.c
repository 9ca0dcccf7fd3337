/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Depths in frames without the enhanced word, as SMB Direct on Windows sends them ([MS-SMBD]): the first eight octets
 * of the Private Data are IRD and ORD, 32 bits each, big-endian. A frame does not show whether these octets are depths
 * or data of the ULP. So they are read as depths only if both ULPs agree (config.smbd), and never in frames with the
 * word of RFC 6581.
 */
#include <string.h>

#include "reference-stack/mpa/mpa.h"

/* The greatest depth that is a number (RFC 6581 9.1). */
static uint16_t depth(uint32_t value)
{
    return value < DEPTH_NOT_NEGOTIATED ? (uint16_t)value : DEPTH_NOT_NEGOTIATED - 1;
}

static uint32_t number(uint16_t value, uint32_t own)
{
    return value == DEPTH_NOT_NEGOTIATED ? own : value;
}

void smbd_write(const struct iwarp_stream *stream, struct iwarp_mpa_start *start, uint16_t ird, uint16_t ord,
                uint8_t *room)
{
    size_t octets = start->private_octets;

    if (!stream->config.smbd || (start->enhanced && start->revision >= MPA_REV_2))
        return;
    if (octets > IWARP_MPA_PRIVATE_DATA_MAX - SMBD_OCTETS)
        octets = IWARP_MPA_PRIVATE_DATA_MAX - SMBD_OCTETS;
    octets_put32(room, number(ird, stream->agreed.ird));
    octets_put32(room + 4, number(ord, stream->agreed.ord));
    if (octets != 0)
        memcpy(room + SMBD_OCTETS, start->private_data, octets);
    start->private_data = room;
    start->private_octets = (uint16_t)(octets + SMBD_OCTETS);
}

bool smbd_has(const struct iwarp_stream *stream, const struct iwarp_mpa_start *start)
{
    return stream->config.smbd && !iwarp_mpa_start_has_word(start) && start->private_octets >= SMBD_OCTETS;
}

void smbd_parse(struct iwarp_mpa_start *start)
{
    start->ird = depth(octets_get32(start->private_data));
    start->ord = depth(octets_get32(start->private_data + 4));
    start->private_data += SMBD_OCTETS;
    start->private_octets -= SMBD_OCTETS;
}
