/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator/sctp/sctp.h"

#include <string.h>

#include "generator/packet/packet_internal.h"

enum { DEFAULT_HOP_LIMIT = 64, COOKIE_OCTETS = 16 };

size_t packet_build_ip(uint8_t *frame, size_t capacity, const struct packet_ip *fields, const uint8_t *payload,
                       size_t octets)
{
    bool four = fields->source.family == 4;
    size_t header = four ? PACKET_IPV4_OCTETS : PACKET_IPV6_OCTETS;
    uint8_t *p = frame + PACKET_ETHERNET_OCTETS;
    uint8_t hops = fields->hop_limit != 0 ? fields->hop_limit : DEFAULT_HOP_LIMIT;

    if (fields->source.family != fields->destination.family || (!four && fields->source.family != 6) ||
        octets > UINT16_MAX - header || PACKET_ETHERNET_OCTETS + header + octets > capacity)
        return 0;
    memcpy(frame, fields->ethernet_destination, 6);
    memcpy(frame + 6, fields->ethernet_source, 6);
    octets_put16(frame + 12, four ? PACKET_ETHERTYPE_IPV4 : PACKET_ETHERTYPE_IPV6);
    memset(p, 0, header);
    if (four) {
        p[0] = 0x45;
        octets_put16(p + 2, (uint16_t)(header + octets));
        octets_put16(p + 4, fields->identification);
        octets_put16(p + 6, 0x4000); /* DF */
        p[8] = hops;
        p[9] = fields->protocol;
        memcpy(p + 12, fields->source.octets, 4);
        memcpy(p + 16, fields->destination.octets, 4);
        octets_put16(p + 10, packet_checksum(p, PACKET_IPV4_OCTETS, 0));
    } else {
        p[0] = 0x60;
        octets_put16(p + 4, (uint16_t)octets);
        p[6] = fields->protocol;
        p[7] = hops;
        memcpy(p + 8, fields->source.octets, 16);
        memcpy(p + 24, fields->destination.octets, 16);
    }
    if (octets != 0)
        memcpy(p + header, payload, octets);
    return PACKET_ETHERNET_OCTETS + header + octets;
}

void sctp_packet_begin(struct sctp_packet *packet, uint16_t source_port, uint16_t destination_port, uint32_t tag)
{
    memset(packet->octets, 0, SCTP_COMMON_OCTETS);
    sctp_common_set_SourcePort(packet->octets, source_port);
    sctp_common_set_DestinationPort(packet->octets, destination_port);
    sctp_common_set_VerificationTag(packet->octets, tag);
    packet->count = SCTP_COMMON_OCTETS;
    packet->full = false;
}

/* Type and flags of a chunk are the 16-bit type of a parameter. */
static size_t write_tlv(uint8_t *out, uint16_t type, const void *value, size_t octets)
{
    size_t padded = (SCTP_CHUNK_OCTETS + octets + 3) & ~(size_t)3;

    memset(out, 0, padded);
    octets_put16(out, type);
    octets_put16(out + 2, (uint16_t)(SCTP_CHUNK_OCTETS + octets));
    if (value != NULL && octets != 0)
        memcpy(out + SCTP_CHUNK_OCTETS, value, octets);
    return padded;
}

uint8_t *sctp_packet_chunk(struct sctp_packet *packet, enum sctp_chunk_type type, uint8_t flags, const void *value,
                           size_t octets)
{
    uint8_t *chunk = packet->octets + packet->count;

    if (octets > SCTP_PACKET_MAX || packet->count + SCTP_CHUNK_OCTETS + octets + 3 > SCTP_PACKET_MAX) {
        packet->full = true;
        return NULL;
    }
    packet->count += write_tlv(chunk, (uint16_t)((unsigned)type << 8 | flags), value, octets);
    return chunk;
}

uint8_t *sctp_packet_init(struct sctp_packet *packet, bool ack, const struct sctp_init *init)
{
    uint8_t value[512] = {0}, chunk[SCTP_INIT_OCTETS] = {0}, indication[4];
    size_t at = SCTP_INIT_OCTETS - SCTP_CHUNK_OCTETS;

    sctp_init_set_InitiateTag(chunk, init->tag);
    sctp_init_set_a_rwnd(chunk, init->window);
    sctp_init_set_OS(chunk, init->outbound);
    sctp_init_set_MIS(chunk, init->inbound);
    sctp_init_set_InitialTSN(chunk, init->initial_tsn);
    memcpy(value, chunk + SCTP_CHUNK_OCTETS, at);
    for (unsigned i = 0; i < init->addresses && i < SCTP_ADDRESSES_MAX; i++)
        at += write_tlv(value + at, init->address[i].family == 4 ? SCTP_PARAMETER_IPV4 : SCTP_PARAMETER_IPV6,
                        init->address[i].octets, init->address[i].family == 4 ? 4 : 16);
    if (ack)
        at += write_tlv(value + at, SCTP_PARAMETER_COOKIE, NULL, COOKIE_OCTETS);
    octets_put32(indication, init->adaptation);
    if (init->has_adaptation)
        at += write_tlv(value + at, SCTP_PARAMETER_ADAPTATION, indication, sizeof(indication));
    return sctp_packet_chunk(packet, ack ? SCTP_INIT_ACK : SCTP_INIT, 0, value, at);
}

uint8_t *sctp_packet_data(struct sctp_packet *packet, const struct sctp_data *data)
{
    uint8_t flags = (uint8_t)((data->unordered ? SCTP_FLAG_U : 0) | (data->first ? SCTP_FLAG_B : 0) |
                              (data->last ? SCTP_FLAG_E : 0));
    uint8_t *chunk =
        sctp_packet_chunk(packet, SCTP_DATA, flags, NULL, SCTP_DATA_OCTETS - SCTP_CHUNK_OCTETS + data->user_octets);

    if (chunk == NULL)
        return NULL;
    sctp_data_set_TSN(chunk, data->tsn);
    sctp_data_set_SID(chunk, data->sid);
    sctp_data_set_SSN(chunk, data->ssn);
    sctp_data_set_PPID(chunk, data->ppid);
    if (data->user_octets != 0)
        memcpy(chunk + SCTP_DATA_OCTETS, data->user, data->user_octets);
    return chunk;
}

uint8_t *sctp_packet_sack(struct sctp_packet *packet, uint32_t cumulative, uint32_t window)
{
    uint8_t value[12] = {0};

    octets_put32(value, cumulative);
    octets_put32(value + 4, window);
    return sctp_packet_chunk(packet, SCTP_SACK, 0, value, sizeof(value));
}

void sctp_packet_close(struct sctp_packet *packet)
{
    sctp_common_set_Checksum(packet->octets, sctp_checksum(packet->octets, packet->count));
}
