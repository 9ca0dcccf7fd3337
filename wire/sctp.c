/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/sctp.h"

#include <string.h>

#define CHUNK_NAME_(id, type, name, section) {type, name},
const struct wire_name sctp_chunk_names[] = {SCTP_CHUNKS(CHUNK_NAME_){0, NULL}};

WIRE_LAYOUT_DEFINE(sctp_common, SCTP_COMMON_FIELDS, "SCTP common header", "RFC 9260 3.1", SCTP_COMMON_OCTETS);
WIRE_LAYOUT_DEFINE(sctp_chunk, SCTP_CHUNK_FIELDS, "SCTP chunk header", "RFC 9260 3.2", SCTP_CHUNK_OCTETS);
WIRE_LAYOUT_DEFINE(sctp_data, SCTP_DATA_FIELDS, "SCTP DATA chunk", "RFC 9260 3.3.1", SCTP_DATA_OCTETS);
WIRE_LAYOUT_DEFINE(sctp_init, SCTP_INIT_FIELDS, "SCTP INIT and INIT ACK chunk", "RFC 9260 3.3.2", SCTP_INIT_OCTETS);
WIRE_LAYOUT_DEFINE(sctp_adaptation, SCTP_ADAPTATION_FIELDS, "SCTP Adaptation Layer Indication", "RFC 5061 4.2.6",
                   SCTP_ADAPTATION_OCTETS);
WIRE_LAYOUT_DEFINE(sctp_sack, SCTP_SACK_FIELDS, "SCTP SACK chunk", "RFC 9260 3.3.4", 16);

/* Chunks and parameters are both type, flags or more type, length, value, pad. */
static wire_result part_parse(const uint8_t **p, const uint8_t *end, struct sctp_chunk *chunk)
{
    const uint8_t *start = *p;
    size_t left = (size_t)(end - start), padded;

    memset(chunk, 0, sizeof(*chunk));
    if (left < SCTP_CHUNK_OCTETS)
        return WIRE_MORE;
    chunk->start = start;
    chunk->length = octets_get16(start + 2);
    if (chunk->length < SCTP_CHUNK_OCTETS)
        return TERM_DDP_CATASTROPHIC;
    if (chunk->length > left) {
        chunk->octets = left;
        *p = end;
        return WIRE_MORE;
    }
    chunk->octets = chunk->length;
    padded = ((size_t)chunk->length + 3) & ~(size_t)3;
    *p = padded < left ? start + padded : end;
    return WIRE_OK;
}

wire_result sctp_chunk_parse(const uint8_t **p, const uint8_t *end, struct sctp_chunk *chunk)
{
    const uint8_t *start = *p;
    wire_result result = part_parse(p, end, chunk);

    if (chunk->start != NULL) {
        chunk->type = start[0];
        chunk->flags = start[1];
    }
    return result;
}

wire_result sctp_parameter_parse(const uint8_t **p, const uint8_t *end, struct sctp_chunk *parameter)
{
    const uint8_t *start = *p;
    wire_result result = part_parse(p, end, parameter);

    if (parameter->start != NULL)
        parameter->type = octets_get16(start);
    return result;
}

wire_result sctp_data_parse(const struct sctp_chunk *chunk, struct sctp_data *data)
{
    const uint8_t *start = chunk->start;
    size_t header = chunk->type == SCTP_IDATA ? SCTP_IDATA_OCTETS : SCTP_DATA_OCTETS;

    memset(data, 0, sizeof(*data));
    data->interleaved = chunk->type == SCTP_IDATA;
    if (chunk->length < header || chunk->octets < header)
        return WIRE_MORE;
    data->unordered = (chunk->flags & SCTP_FLAG_U) != 0;
    data->first = (chunk->flags & SCTP_FLAG_B) != 0;
    data->last = (chunk->flags & SCTP_FLAG_E) != 0;
    data->reserved = chunk->flags >> 4;
    data->tsn = octets_get32(start + 4);
    data->sid = octets_get16(start + 8);
    if (data->interleaved) {
        data->mid = octets_get32(start + 12);
        data->ppid = data->first ? octets_get32(start + 16) : 0;
    } else {
        data->ssn = octets_get16(start + 10);
        data->ppid = octets_get32(start + 12);
    }
    data->user = start + header;
    data->user_octets = chunk->length - header;
    data->user_have = chunk->octets - header;
    return WIRE_OK;
}

static void parse_parameter(const struct sctp_chunk *parameter, struct sctp_init *init)
{
    const uint8_t *value = parameter->start + SCTP_PARAMETER_OCTETS;

    switch (parameter->type) {
    case SCTP_PARAMETER_ADAPTATION:
        if (init->adaptations++ != 0)
            return;
        init->adaptation_at = parameter->start;
        init->adaptation_length = parameter->length;
        if (parameter->octets < SCTP_ADAPTATION_OCTETS)
            return;
        init->has_adaptation = true;
        init->adaptation = octets_get32(value);
        return;
    case SCTP_PARAMETER_IPV4:
    case SCTP_PARAMETER_IPV6:
        if (parameter->octets != SCTP_PARAMETER_OCTETS + (parameter->type == SCTP_PARAMETER_IPV4 ? 4u : 16u))
            return;
        if (init->addresses < SCTP_ADDRESSES_MAX) {
            init->address[init->addresses].family = parameter->type == SCTP_PARAMETER_IPV4 ? 4 : 6;
            init->address[init->addresses].octets = value;
        }
        init->addresses++;
        return;
    case SCTP_PARAMETER_ZERO_CHECKSUM: init->zero_checksum = true; return;
    case SCTP_PARAMETER_HOST_NAME: init->host_name = true; return;
    default: return;
    }
}

wire_result sctp_init_parse(const struct sctp_chunk *chunk, struct sctp_init *init)
{
    const uint8_t *start = chunk->start;
    const uint8_t *p, *end;
    struct sctp_chunk parameter;

    memset(init, 0, sizeof(*init));
    if (chunk->octets < SCTP_INIT_OCTETS)
        return WIRE_MORE;
    init->tag = (uint32_t)sctp_init_get_InitiateTag(start);
    init->window = (uint32_t)sctp_init_get_a_rwnd(start);
    init->outbound = (uint16_t)sctp_init_get_OS(start);
    init->inbound = (uint16_t)sctp_init_get_MIS(start);
    init->initial_tsn = (uint32_t)sctp_init_get_InitialTSN(start);
    p = start + SCTP_INIT_OCTETS;
    end = start + chunk->octets;
    while (p < end && sctp_parameter_parse(&p, end, &parameter) == WIRE_OK)
        parse_parameter(&parameter, init);
    return WIRE_OK;
}

uint32_t sctp_checksum(const uint8_t *packet, size_t octets)
{
    static const uint8_t zero[4];
    uint32_t state = 0xFFFFFFFF, crc;

    state = crc32c_update(state, packet, SCTP_CHECKSUM_AT);
    state = crc32c_update(state, zero, sizeof(zero));
    state = crc32c_update(state, packet + SCTP_COMMON_OCTETS, octets - SCTP_COMMON_OCTETS);
    crc = ~state;
    return crc >> 24 | (crc >> 8 & 0xFF00) | (crc << 8 & 0xFF0000) | crc << 24;
}

uint32_t sctp_adler32(const uint8_t *packet, size_t octets)
{
    uint32_t a = 1, b = 0;

    for (size_t i = 0; i < octets; i++) {
        bool inside = i >= SCTP_CHECKSUM_AT && i < SCTP_COMMON_OCTETS;

        a = (a + (inside ? 0u : packet[i])) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}
