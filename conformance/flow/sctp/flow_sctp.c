/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP: packets and their chunks. */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ETHERNET_MTU = 1500 };

static bool is_ddp_indication(uint32_t indication)
{
    return indication == DDP_SCTP_INDICATION_DDP || indication == DDP_SCTP_INDICATION_DDP_RDMA;
}

static bool is_rfc5043_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_SEGMENT || ppid == DDP_SCTP_PPID_CONTROL;
}

static bool is_draft_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_DRAFT_SEGMENT || ppid == DDP_SCTP_PPID_DRAFT_CONTROL;
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

struct packet {
    const struct flow_datagram *datagram;
    struct sctp_association *association;
    unsigned side;
    enum flow_checksum checksum;
    uint64_t counted; /* octets whose rows are known: user messages, and what could not be read */
};

static void count(struct flow_decoder *decoder, struct packet *packet, enum flow_row row, uint64_t octets)
{
    sctp_octets(decoder, row, octets);
    packet->counted += octets;
}

static void emit_chunk(struct flow_decoder *decoder, const struct packet *packet, struct flow_sctp *reported)
{
    const struct sctp_association *association = packet->association;
    struct flow_event event = sctp_event(association->flow, packet->side ^ association->swap, FLOW_SCTP,
                                         association->frame, association->time_ns);

    if (association->flow == NULL)
        return;
    reported->name = wire_name_of(sctp_chunk_names, reported->chunk.type);
    reported->checksum = packet->checksum;
    reported->packet_octets = packet->datagram->length;
    reported->network_octets = packet->datagram->ip_octets;
    reported->free_octets = reported->network_octets != 0 && reported->network_octets < ETHERNET_MTU
                                ? ETHERNET_MTU - reported->network_octets
                                : 0;
    event.sctp = reported;
    flow_event_send(decoder, &event);
}

/* True when this INIT (ACK) begins another life of the same addresses and ports. */
static bool is_new_life(const struct sctp_association *association, unsigned side, const struct sctp_init *init)
{
    const struct sctp_side *from = &association->side[side];

    return (from->init_seen && from->tag != init->tag) ||
           (!from->init_seen && from->tsn_known && !association->started);
}

static void learn_init(struct flow_decoder *decoder, const struct packet *packet, const struct sctp_init *init,
                       bool ack)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];
    unsigned initiator = ack ? 1 - packet->side : packet->side;

    if (!side->init_seen) {
        side->init_seen = true;
        side->tag = init->tag;
        side->has_indication = init->has_adaptation;
        side->indication = init->adaptation;
        sctp_learn_first_tsn(side, init->initial_tsn, association->started && !association->start_lost);
        association->started = true;
        sctp_association_learn_tag(decoder->sctp, association, packet->side, init->tag);
    }
    if (init->has_adaptation && is_ddp_indication(init->adaptation))
        sctp_association_recognise(decoder, association, initiator);
}

/* What rules compare with holds the frame's consequence only after its event. */
static void keep_init(const struct packet *packet, const struct sctp_init *init, const struct flow_sctp *reported)
{
    struct sctp_association *association = packet->association;
    unsigned direction = packet->side ^ association->swap;
    struct flow_sctp_state *state;

    if (association->flow == NULL)
        return;
    state = association->flow->sctp;
    state->init_seen[direction] =
        reported->chunk.octets == reported->chunk.length; /* what was cut may be the indication */
    state->has_indication[direction] = init->has_adaptation;
    state->indication[direction] = init->adaptation;
    state->outbound[direction] = init->outbound;
    state->inbound[direction] = init->inbound;
    if (init->has_adaptation && init->adaptation == DDP_SCTP_INDICATION_DDP_RDMA)
        state->profile = DDP_SCTP_DRAFT02;
}

static void take_init(struct flow_decoder *decoder, struct packet *packet, struct flow_sctp *reported)
{
    struct sctp_init init;
    struct flow_key key = packet->association->key;

    if (sctp_init_parse(&reported->chunk, &init) != WIRE_OK) {
        emit_chunk(decoder, packet, reported);
        return;
    }
    if (is_new_life(packet->association, packet->side, &init)) {
        uint64_t frame = packet->association->frame, time_ns = packet->association->time_ns;

        sctp_association_end(decoder, packet->association, true, FLOW_REASON_COUNT);
        packet->association = sctp_association_make(decoder, &key, frame, time_ns);
        if (packet->association == NULL)
            return;
        packet->association->frame = frame;
        packet->association->time_ns = time_ns;
    }
    reported->init = &init;
    learn_init(decoder, packet, &init, reported->chunk.type == SCTP_INIT_ACK);
    emit_chunk(decoder, packet, reported);
    keep_init(packet, &init, reported);
}

/* PPIDs 1 and 2 belong to others unless an indication says otherwise. */
static bool is_ddp_ppid(const struct sctp_association *association, uint32_t ppid)
{
    if (is_rfc5043_ppid(ppid))
        return true;
    return is_draft_ppid(ppid) && association->flow != NULL && association->flow->sctp->profile != DDP_SCTP_RFC5043;
}

/* The capture cut a fragment, or a message within the octets that say what it is. */
static bool is_cut_short(const struct sctp_data *data)
{
    return data->user_have < data->user_octets &&
           (!data->first || !data->last || data->user_have < DDP_SCTP_CONTROL_OCTETS);
}

/* A new user message, or a fragment of one. */
static void take_user(struct flow_decoder *decoder, struct packet *packet, const struct sctp_data *data)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];

    if (is_cut_short(data)) {
        side->lost = true;
        count(decoder, packet, FLOW_ROW_PART, data->user_have);
    } else if (data->first && data->last) {
        struct sctp_message message = {.tsn = data->tsn,
                                       .ppid = data->ppid,
                                       .sid = data->sid,
                                       .first_frame = association->frame,
                                       .frame = association->frame,
                                       .time_ns = association->time_ns,
                                       .count = data->user_octets,
                                       .have = data->user_have,
                                       .octets = data->user};

        packet->counted += data->user_have;
        sctp_order_take(decoder, association, packet->side, &message);
    } else if (!data->interleaved) {
        packet->counted += data->user_have;
        sctp_take_fragment(decoder, association, packet->side, data);
    } else { /* RFC 8260 numbers fragments otherwise; DDP's own limit makes them needless */
        side->lost = true;
        count(decoder, packet, FLOW_ROW_MESSAGE_PARTS, data->user_have);
    }
}

static void take_data(struct flow_decoder *decoder, struct packet *packet, struct flow_sctp *reported)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];
    struct sctp_data data;

    if (sctp_data_parse(&reported->chunk, &data) != WIRE_OK) {
        side->lost = true;
        emit_chunk(decoder, packet, reported);
        return;
    }
    reported->duplicate = !sctp_tsn_is_new(side, data.tsn);
    association->draft_ppids |= is_draft_ppid(data.ppid);
    if (association->flow == NULL) {
        if (!is_rfc5043_ppid(data.ppid) || !data.first)
            return;
        sctp_association_recognise(decoder, association,
                                   association->side[1 - packet->side].init_seen ? 1 - packet->side : packet->side);
    }
    if (association->flow == NULL)
        return;
    reported->data = &data;
    reported->foreign = data.first && !is_ddp_ppid(association, data.ppid);
    emit_chunk(decoder, packet, reported);
    if (data.first && !reported->foreign && association->flow->sctp->profile == DDP_SCTP_UNDECIDED)
        association->flow->sctp->profile = is_rfc5043_ppid(data.ppid) ? DDP_SCTP_RFC5043 : DDP_SCTP_DRAFT02;
    if (reported->duplicate)
        count(decoder, packet, FLOW_ROW_AGAIN, data.user_have);
    else if (reported->foreign)
        count(decoder, packet, FLOW_ROW_SCTP_DATA, data.user_have);
    else
        take_user(decoder, packet, &data);
}

/* What the receiver has and the capture has not will not come any more. */
static void take_sack(const struct packet *packet, const struct sctp_chunk *chunk)
{
    struct sctp_side *sender = &packet->association->side[1 - packet->side];
    uint32_t cumulative;

    if (chunk->octets < sctp_sack_layout.octets)
        return;
    cumulative = (uint32_t)sctp_sack_get_Cumulative(chunk->start);
    if (!sender->acked_known || (int32_t)(cumulative - sender->acked) > 0)
        sender->acked = cumulative;
    sender->acked_known = true;
    sender->acked_frame = packet->association->frame;
}

static bool is_silent(unsigned type)
{
    return type == SCTP_SACK || type == SCTP_HEARTBEAT || type == SCTP_HEARTBEAT_ACK || type == SCTP_FORWARD_TSN;
}

/* False: the rest of the packet is not read. */
static bool take_chunk(struct flow_decoder *decoder, struct packet *packet, const uint8_t **p, const uint8_t *end)
{
    struct flow_sctp reported = {0};
    const uint8_t *start = *p;
    wire_result result = sctp_chunk_parse(p, end, &reported.chunk);
    bool cut = packet->datagram->captured < packet->datagram->length;

    if (reported.chunk.start == NULL || wire_is_error(result) || (result == WIRE_MORE && !cut)) {
        if (packet->association->flow != NULL && !cut) {
            sctp_emit_undecoded(decoder, packet->association, packet->side, FLOW_REASON_CHUNK);
            count(decoder, packet, FLOW_ROW_SCTP_CHUNK, (uint64_t)(end - start));
        }
        packet->association->side[packet->side].lost = true;
        return false;
    }
    switch (reported.chunk.type) {
    case SCTP_INIT:
    case SCTP_INIT_ACK: take_init(decoder, packet, &reported); break;
    case SCTP_DATA:
    case SCTP_IDATA: take_data(decoder, packet, &reported); break;
    case SCTP_SACK: take_sack(packet, &reported.chunk); break;
    default:
        if (!is_silent(reported.chunk.type))
            emit_chunk(decoder, packet, &reported);
        break;
    }
    if (packet->association == NULL)
        return false;
    if (reported.chunk.type == SCTP_ABORT || reported.chunk.type == SCTP_SHUTDOWN_COMPLETE)
        packet->association->finished = true;
    return result == WIRE_OK;
}

static enum flow_checksum check(const struct flow_datagram *datagram)
{
    uint32_t there = (uint32_t)sctp_common_get_Checksum(datagram->octets);

    if (datagram->captured < datagram->length || there == 0)
        return FLOW_CHECKSUM_UNCHECKED;
    if (there == sctp_checksum(datagram->octets, datagram->length))
        return FLOW_CHECKSUM_GOOD;
    return there == sctp_adler32(datagram->octets, datagram->length) ? FLOW_CHECKSUM_ADLER32 : FLOW_CHECKSUM_BAD;
}

/*
 * Packets that begin an association that is worth following: INIT (ACK), or DATA with DDP's own PPIDs: FLOW_ROW_IWARP. Else
 * the row of a packet of an association that is not followed. DATA with PPIDs that the draft shares with other protocols
 * may be DDP: only the association's start would tell.
 */
static enum flow_row row_of_stray(const struct flow_datagram *datagram)
{
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    enum flow_row row = FLOW_ROW_SCTP;
    struct sctp_chunk chunk;
    struct sctp_data data;

    while (p < end) {
        if (sctp_chunk_parse(&p, end, &chunk) != WIRE_OK)
            return datagram->captured < datagram->length ? FLOW_ROW_CUT_HEADERS : FLOW_ROW_SCTP_CHUNK;
        if (chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK)
            return FLOW_ROW_IWARP;
        if ((chunk.type == SCTP_DATA || chunk.type == SCTP_IDATA) && sctp_data_parse(&chunk, &data) == WIRE_OK) {
            if (is_rfc5043_ppid(data.ppid))
                return FLOW_ROW_IWARP;
            row = is_draft_ppid(data.ppid) ? FLOW_ROW_SCTP_UNKNOWN : row;
        }
    }
    return row;
}

/* The association of the packet, a new one if need be. NULL: there is none, and the packet is counted. */
static struct sctp_association *association_of(struct flow_decoder *decoder, struct packet *packet,
                                               const struct flow_carrier_frames *carrier)
{
    struct sctp_association *association;
    enum flow_row row = FLOW_ROW_MEMORY;
    struct flow_key key;

    if (decoder->sctp != NULL || (decoder->sctp = calloc(1, sizeof(*decoder->sctp))) != NULL) {
        sctp_association_key(&key, packet->datagram, &packet->side);
        association = sctp_association_find(decoder, packet->datagram, &key, &packet->side);
        if (association != NULL)
            return association;
        row = row_of_stray(packet->datagram);
        if (row == FLOW_ROW_IWARP) {
            association = sctp_association_make(decoder, &key, carrier->frame->number, carrier->frame->time_ns);
            if (association != NULL)
                return association;
            row = FLOW_ROW_MEMORY;
        }
    }
    flow_account_count(&decoder->totals.account, row, carrier->frames, carrier->octets);
    return NULL;
}

/* Counts what is left of the packet: headers, chunks that carry no user message. */
static void count_rest(struct flow_decoder *decoder, const struct packet *packet, uint64_t octets)
{
    if (packet->association == NULL) /* a new life of it, and no memory */
        sctp_octets(decoder, FLOW_ROW_MEMORY, octets - packet->counted);
    else if (packet->association->flow == NULL)
        packet->association->octets += octets - packet->counted;
    else
        sctp_octets(decoder, FLOW_ROW_HEADERS, octets - packet->counted);
}

static void take_chunks(struct flow_decoder *decoder, struct packet *packet)
{
    const struct flow_datagram *datagram = packet->datagram;
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    struct sctp_association *association = packet->association;

    packet->checksum = check(datagram);
    if (packet->checksum == FLOW_CHECKSUM_BAD) {
        decoder->totals.sctp_bad_checksums++;
        if (association->flow == NULL)
            return;
        sctp_emit_undecoded(decoder, association, packet->side, FLOW_REASON_CHECKSUM);
        count(decoder, packet, FLOW_ROW_SCTP_CHECKSUM, datagram->captured);
        return;
    }
    while (p < end && take_chunk(decoder, packet, &p, end))
        continue;
    association = packet->association;
    if (association == NULL || association->flow == NULL)
        return;
    if (datagram->captured < datagram->length) {
        association->side[packet->side].lost = true;
        sctp_octets(decoder, FLOW_ROW_SNAPPED, datagram->length - datagram->captured);
    }
    association->flow->last_frame = association->frame;
    association->flow->last_ns = association->time_ns;
    sctp_order_drain(decoder, association);
    sctp_streams_drain(decoder, association);
}

void flow_sctp_packet(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier)
{
    struct packet packet = {.datagram = datagram};
    struct sctp_association *association;

    if (datagram->captured < SCTP_COMMON_OCTETS) {
        flow_account_count(&decoder->totals.account,
                           datagram->length < SCTP_COMMON_OCTETS ? FLOW_ROW_SCTP_HEADER : FLOW_ROW_CUT_HEADERS,
                           carrier->frames, carrier->octets);
        return;
    }
    decoder->totals.sctp_packets++;
    association = association_of(decoder, &packet, carrier);
    if (association == NULL)
        return;
    DL_DELETE2(decoder->sctp->oldest, association, older, newer);
    DL_APPEND2(decoder->sctp->oldest, association, older, newer);
    association->frame = carrier->frame->number;
    association->time_ns = carrier->frame->time_ns;
    association->frames += carrier->frames;
    packet.association = association;
    take_chunks(decoder, &packet);
    count_rest(decoder, &packet, carrier->octets);
}
