/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP: packets to associations, chunks, TSNs, fragments. */
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

/* ---- events ------------------------------------------------------------------------------------------------------ */

struct flow_event sctp_event(const struct flow *flow, unsigned direction, enum flow_event_kind kind, uint64_t frame,
                             uint64_t time_ns)
{
    return (struct flow_event){
        .kind = kind,
        .direction = (enum flow_direction)direction,
        .flow = flow,
        .frame = frame,
        .first_frame = frame,
        .time_ns = time_ns,
        .reason = FLOW_REASON_COUNT,
    };
}

void sctp_tell_undecoded(struct flow_decoder *decoder, const struct sctp_association *association, unsigned side,
                         enum flow_reason reason)
{
    struct flow_event event = sctp_event(association->flow, side ^ association->swap, FLOW_UNDECODED,
                                         association->frame, association->time_ns);

    event.reason = reason;
    flow_event_send(decoder, &event);
}

/* ---- associations ------------------------------------------------------------------------------------------------ */

/* What became of the frames and of the octets that were kept back. */
static void settle(struct flow_decoder *decoder, const struct sctp_association *association, bool evicted)
{
    struct flow_account *account = &decoder->totals.account;
    bool unknown = !association->started && association->draft_ppids;

    if (association->flow == NULL) {
        flow_account_count(account, unknown ? FLOW_ROW_SCTP_UNKNOWN : FLOW_ROW_SCTP, association->frames,
                           association->octets);
        return;
    }
    flow_account_count(account, FLOW_ROW_IWARP, association->frames, 0);
    account->row[FLOW_ROW_EVICTED].items += evicted;
    for (unsigned i = 0; i < 2; i++)
        account->row[FLOW_ROW_GAP].items += sctp_count_missing(&association->side[i]);
}

static void end_association(struct flow_decoder *decoder, struct sctp_association *association, bool tell,
                            enum flow_reason reason)
{
    struct sctp_decoder *sctp = decoder->sctp;

    sctp_order_end(decoder, association, tell);
    sctp_streams_end(decoder, association, tell, reason);
    for (unsigned i = 0; i < 2; i++) {
        if (tell && association->flow != NULL && association->side[i].fragments != NULL)
            sctp_tell_undecoded(decoder, association, i, FLOW_REASON_MESSAGE_LONG);
        sctp_drop_fragments(decoder, &association->side[i]);
        if (association->tags[i].association != NULL)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): uthash: what is in the table has its neighbours */
            HASH_DEL(sctp->tags, &association->tags[i]);
    }
    if (tell)
        settle(decoder, association, reason == FLOW_REASON_EVICTED);
    if (tell && association->flow != NULL) {
        struct flow_event event = sctp_event(association->flow, FLOW_FROM_INITIATOR, FLOW_END,
                                             association->flow->last_frame, association->flow->last_ns);

        event.reason = reason;
        flow_event_send(decoder, &event);
    }
    HASH_DEL(sctp->associations, association);
    DL_DELETE2(sctp->oldest, association, older, newer);
    sctp->association_count--;
    flow_free(association->flow);
    free(association);
}

void flow_sctp_finish(struct flow_decoder *decoder, bool tell)
{
    if (decoder->sctp == NULL)
        return;
    while (decoder->sctp->oldest != NULL)
        end_association(decoder, decoder->sctp->oldest, tell, FLOW_REASON_COUNT);
    free(decoder->sctp);
    decoder->sctp = NULL;
}

/* Packets to a known tag find the association from any address (RFC 9260 6.4: multi-homing). */
static void learn_tag(struct sctp_decoder *sctp, struct sctp_association *association, unsigned receiver,
                      uint32_t value)
{
    struct sctp_tag *tag = &association->tags[receiver], *other;

    if (tag->association != NULL || value == 0)
        return;
    memset(&tag->key, 0, sizeof(tag->key));
    tag->key.tag = value;
    tag->key.to = association->key.port[receiver];
    tag->key.from = association->key.port[1 - receiver];
    HASH_FIND(hh, sctp->tags, &tag->key, sizeof(tag->key), other);
    if (other != NULL)
        return;
    HASH_ADD(hh, sctp->tags, key, sizeof(tag->key), tag);
    if (hash_lost(tag))
        return;
    tag->association = association;
    tag->side = 1 - receiver;
}

static void set_key(struct flow_key *key, const struct flow_datagram *datagram, unsigned *side)
{
    size_t octets = datagram->family == 4 ? 4 : 16;
    uint16_t from_port = (uint16_t)sctp_common_get_SourcePort(datagram->octets);
    uint16_t to_port = (uint16_t)sctp_common_get_DestinationPort(datagram->octets);
    int order = memcmp(datagram->source, datagram->destination, octets);

    if (order == 0)
        order = from_port < to_port ? -1 : 1;
    *side = order < 0 ? 0 : 1;
    memset(key, 0, sizeof(*key));
    memcpy(key->address[*side], datagram->source, octets);
    memcpy(key->address[1 - *side], datagram->destination, octets);
    key->port[*side] = from_port;
    key->port[1 - *side] = to_port;
    key->family = datagram->family;
}

static struct sctp_association *find(struct flow_decoder *decoder, const struct flow_datagram *datagram,
                                     const struct flow_key *key, unsigned *side)
{
    struct sctp_association *association;
    struct sctp_tag_key by_tag;
    struct sctp_tag *tag;

    HASH_FIND(hh, decoder->sctp->associations, key, sizeof(*key), association);
    if (association != NULL)
        return association;
    memset(&by_tag, 0, sizeof(by_tag));
    by_tag.tag = (uint32_t)sctp_common_get_VerificationTag(datagram->octets);
    by_tag.to = (uint16_t)sctp_common_get_DestinationPort(datagram->octets);
    by_tag.from = (uint16_t)sctp_common_get_SourcePort(datagram->octets);
    HASH_FIND(hh, decoder->sctp->tags, &by_tag, sizeof(by_tag), tag);
    if (tag == NULL)
        return NULL;
    *side = tag->side;
    return tag->association;
}

static struct sctp_association *make(struct flow_decoder *decoder, const struct flow_key *key, uint64_t frame,
                                     uint64_t time_ns)
{
    struct sctp_decoder *sctp = decoder->sctp;
    struct sctp_association *association = calloc(1, sizeof(*association));

    if (association == NULL)
        return NULL;
    if (sctp->association_count >= decoder->config.flows_max) {
        end_association(decoder, sctp->oldest, true, sctp->oldest->finished ? FLOW_REASON_COUNT : FLOW_REASON_EVICTED);
    }
    association->key = *key;
    association->first_frame = frame;
    association->first_ns = time_ns;
    HASH_ADD(hh, sctp->associations, key, sizeof(association->key), association);
    if (hash_lost(association)) {
        free(association);
        return NULL;
    }
    DL_APPEND2(sctp->oldest, association, older, newer);
    sctp->association_count++;
    decoder->totals.connections++;
    return association;
}

static bool recognise(struct flow_decoder *decoder, struct sctp_association *association, unsigned initiator)
{
    struct flow *flow = association->flow;

    if (flow != NULL)
        return true;
    flow = flow_make(decoder, FLOW_ASSOCIATION, association->first_frame, association->first_ns);
    if (flow == NULL)
        return false;
    association->flow = flow;
    decoder->totals.account.row[FLOW_ROW_HEADERS].octets += association->octets;
    association->octets = 0;
    association->swap = initiator;
    flow->roles_known = association->started;
    flow->opener_known = association->started;
    flow->late = !association->started;
    flow->sctp->association = flow->number;
    for (unsigned i = 0; i < 2; i++) {
        struct flow_address *address = &flow->address[i ^ initiator];

        address->family = association->key.family;
        address->port = association->key.port[i];
        memcpy(address->octets, association->key.address[i], sizeof(address->octets));
    }
    return true;
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

static void tell_chunk(struct flow_decoder *decoder, const struct packet *packet, struct flow_sctp *told)
{
    const struct sctp_association *association = packet->association;
    struct flow_event event = sctp_event(association->flow, packet->side ^ association->swap, FLOW_SCTP,
                                         association->frame, association->time_ns);

    if (association->flow == NULL)
        return;
    told->name = wire_name_of(sctp_chunk_names, told->chunk.type);
    told->checksum = packet->checksum;
    told->packet_octets = packet->datagram->length;
    told->network_octets = packet->datagram->ip_octets;
    told->free_octets =
        told->network_octets != 0 && told->network_octets < ETHERNET_MTU ? ETHERNET_MTU - told->network_octets : 0;
    event.sctp = told;
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
        learn_tag(decoder->sctp, association, packet->side, init->tag);
    }
    if (init->has_adaptation && is_ddp_indication(init->adaptation))
        recognise(decoder, association, initiator);
}

/* What rules compare with holds the frame's consequence only behind its event. */
static void keep_init(const struct packet *packet, const struct sctp_init *init, const struct flow_sctp *told)
{
    struct sctp_association *association = packet->association;
    unsigned direction = packet->side ^ association->swap;
    struct flow_sctp_state *state;

    if (association->flow == NULL)
        return;
    state = association->flow->sctp;
    state->init_seen[direction] = told->chunk.octets == told->chunk.length; /* what was cut may be the indication */
    state->has_indication[direction] = init->has_adaptation;
    state->indication[direction] = init->adaptation;
    state->outbound[direction] = init->outbound;
    state->inbound[direction] = init->inbound;
    if (init->has_adaptation && init->adaptation == DDP_SCTP_INDICATION_DDP_RDMA)
        state->profile = DDP_SCTP_DRAFT02;
}

static void take_init(struct flow_decoder *decoder, struct packet *packet, struct flow_sctp *told)
{
    struct sctp_init init;
    struct flow_key key = packet->association->key;

    if (sctp_init_parse(&told->chunk, &init) != WIRE_OK) {
        tell_chunk(decoder, packet, told);
        return;
    }
    if (is_new_life(packet->association, packet->side, &init)) {
        uint64_t frame = packet->association->frame, time_ns = packet->association->time_ns;

        end_association(decoder, packet->association, true, FLOW_REASON_COUNT);
        packet->association = make(decoder, &key, frame, time_ns);
        if (packet->association == NULL)
            return;
        packet->association->frame = frame;
        packet->association->time_ns = time_ns;
    }
    told->init = &init;
    learn_init(decoder, packet, &init, told->chunk.type == SCTP_INIT_ACK);
    tell_chunk(decoder, packet, told);
    keep_init(packet, &init, told);
}

/* PPIDs 1 and 2 belong to others unless an indication says otherwise. */
static bool is_ddp_ppid(const struct sctp_association *association, uint32_t ppid)
{
    if (is_rfc5043_ppid(ppid))
        return true;
    return is_draft_ppid(ppid) && association->flow != NULL && association->flow->sctp->profile != DDP_SCTP_RFC5043;
}

/* A new user message, or a fragment of one. */
static void take_user(struct flow_decoder *decoder, struct packet *packet, const struct sctp_data *data)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];

    if (data->first && data->last) {
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
    } else if (data->user_have < data->user_octets) { /* the capture cut a fragment */
        side->lost = true;
        count(decoder, packet, FLOW_ROW_PART, data->user_have);
    } else if (!data->interleaved) {
        packet->counted += data->user_have;
        sctp_take_fragment(decoder, association, packet->side, data);
    } else { /* RFC 8260 numbers fragments otherwise; DDP's own limit makes them needless */
        side->lost = true;
        count(decoder, packet, FLOW_ROW_MESSAGE_PARTS, data->user_have);
    }
}

static void take_data(struct flow_decoder *decoder, struct packet *packet, struct flow_sctp *told)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];
    struct sctp_data data;

    if (sctp_data_parse(&told->chunk, &data) != WIRE_OK) {
        side->lost = true;
        tell_chunk(decoder, packet, told);
        return;
    }
    told->duplicate = !sctp_tsn_is_new(side, data.tsn);
    association->draft_ppids |= is_draft_ppid(data.ppid);
    if (association->flow == NULL) {
        if (!is_rfc5043_ppid(data.ppid) || !data.first)
            return;
        recognise(decoder, association,
                  association->side[1 - packet->side].init_seen ? 1 - packet->side : packet->side);
    }
    if (association->flow == NULL)
        return;
    told->data = &data;
    told->foreign = data.first && !is_ddp_ppid(association, data.ppid);
    tell_chunk(decoder, packet, told);
    if (data.first && !told->foreign && association->flow->sctp->profile == DDP_SCTP_UNDECIDED)
        association->flow->sctp->profile = is_rfc5043_ppid(data.ppid) ? DDP_SCTP_RFC5043 : DDP_SCTP_DRAFT02;
    if (told->duplicate)
        count(decoder, packet, FLOW_ROW_AGAIN, data.user_have);
    else if (told->foreign)
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
    struct flow_sctp told = {0};
    const uint8_t *start = *p;
    wire_result result = sctp_chunk_parse(p, end, &told.chunk);
    bool cut = packet->datagram->captured < packet->datagram->length;

    if (told.chunk.start == NULL || wire_is_error(result) || (result == WIRE_MORE && !cut)) {
        if (packet->association->flow != NULL && !cut) {
            sctp_tell_undecoded(decoder, packet->association, packet->side, FLOW_REASON_CHUNK);
            count(decoder, packet, FLOW_ROW_SCTP_CHUNK, (uint64_t)(end - start));
        }
        packet->association->side[packet->side].lost = true;
        return false;
    }
    switch (told.chunk.type) {
    case SCTP_INIT:
    case SCTP_INIT_ACK: take_init(decoder, packet, &told); break;
    case SCTP_DATA:
    case SCTP_IDATA: take_data(decoder, packet, &told); break;
    case SCTP_SACK: take_sack(packet, &told.chunk); break;
    default:
        if (!is_silent(told.chunk.type))
            tell_chunk(decoder, packet, &told);
        break;
    }
    if (packet->association == NULL)
        return false;
    if (told.chunk.type == SCTP_ABORT || told.chunk.type == SCTP_SHUTDOWN_COMPLETE)
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
        set_key(&key, packet->datagram, &packet->side);
        association = find(decoder, packet->datagram, &key, &packet->side);
        if (association != NULL)
            return association;
        row = row_of_stray(packet->datagram);
        if (row == FLOW_ROW_IWARP) {
            association = make(decoder, &key, carrier->frame->number, carrier->frame->time_ns);
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
        sctp_tell_undecoded(decoder, association, packet->side, FLOW_REASON_CHECKSUM);
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
