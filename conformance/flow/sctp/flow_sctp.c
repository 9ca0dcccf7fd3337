/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP: packets and their chunks. */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

enum { ETHERNET_MTU = 1500 };

static bool is_rfc5043_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_SEGMENT || ppid == DDP_SCTP_PPID_CONTROL;
}

static bool is_draft_ppid(uint32_t ppid)
{
    return ppid == DDP_SCTP_PPID_DRAFT_SEGMENT || ppid == DDP_SCTP_PPID_DRAFT_CONTROL;
}

/*
 * User data of PPID 16 and 17 that are DDP's: a message of the registry with a length that it may have (RFC 5043 5.2.3,
 * RFC 6581 7), or a DDP Segment with the versions and an opcode of the texts. Other protocols use the numbers, too, and
 * without an indication of DDP nothing else shows it.
 */
static bool is_ddp_user(const struct sctp_data *data)
{
    struct ddp_sctp_message message;

    if (data->ppid == DDP_SCTP_PPID_SEGMENT)
        return data->user_have > DDP_SCTP_SSN_OCTETS && data->user_octets > DDP_SCTP_SSN_OCTETS &&
               flow_header_plausible(data->user + DDP_SCTP_SSN_OCTETS, data->user_have - DDP_SCTP_SSN_OCTETS,
                                     data->user_octets - DDP_SCTP_SSN_OCTETS, MPA_REV_1);
    if (data->user_have < DDP_SCTP_CONTROL_OCTETS)
        return false;
    (void)ddp_sctp_parse(data->ppid, data->user, data->user_have, &message);
    return message.row->name != NULL && data->user_octets <= DDP_SCTP_CONTROL_MAX &&
           (message.row->has_private || data->user_octets == DDP_SCTP_CONTROL_OCTETS);
}

/* ---- chunks ------------------------------------------------------------------------------------------------------ */

static void count(struct sctp_arrival *packet, enum flow_row row, uint64_t octets)
{
    sctp_octets(packet->sctp, row, octets);
    packet->counted += octets;
}

void sctp_emit_chunk(const struct sctp_arrival *packet, struct flow_sctp *reported)
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
    flow_event_send(packet->sctp->common, &event);
}

/* PPIDs 1 and 2 belong to others unless an indication says otherwise. */
static bool is_ddp_ppid(const struct sctp_association *association, uint32_t ppid)
{
    if (is_rfc5043_ppid(ppid))
        return true;
    return is_draft_ppid(ppid) && association->flow != NULL && association->flow->sctp->profile != IWARP_SCTP_RFC5043;
}

/* The capture cut a fragment, or a message within the octets that say what it is. */
static bool is_cut_short(const struct sctp_data *data)
{
    return data->user_have < data->user_octets &&
           (!data->first || !data->last || data->user_have < DDP_SCTP_CONTROL_OCTETS);
}

/* A new user message, or a fragment of one. */
static void receive_user(struct sctp_arrival *packet, const struct sctp_data *data)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];

    if (is_cut_short(data)) {
        side->lost = true;
        count(packet, FLOW_ROW_PART, data->user_have);
    } else if (data->first && data->last) {
        struct sctp_message message = {.tsn = data->tsn,
                                       .ppid = data->ppid,
                                       .sid = data->sid,
                                       .overtaken = side->acked_known && (int32_t)(side->acked - data->tsn) >= 0,
                                       .first_frame = association->frame,
                                       .frame = association->frame,
                                       .time_ns = association->time_ns,
                                       .acked_known = association->side[1 - packet->side].acked_known,
                                       .acked = association->side[1 - packet->side].acked,
                                       .heard_known = side->acked_known,
                                       .heard = side->acked,
                                       .count = data->user_octets,
                                       .have = data->user_have,
                                       .octets = data->user};

        packet->counted += data->user_have;
        sctp_order_receive(association, packet->side, &message);
    } else if (!data->interleaved) {
        packet->counted += data->user_have;
        sctp_receive_fragment(association, packet->side, data);
    } else { /* RFC 8260 numbers fragments otherwise; DDP's own limit makes them needless */
        side->lost = true;
        count(packet, FLOW_ROW_MESSAGE_PARTS, data->user_have);
    }
}

/* A TSN that came before, or that nothing can be said of. */
static void receive_repeated_data(struct sctp_arrival *packet, const struct sctp_data *data, enum sctp_tsn tsn)
{
    static const enum flow_row rows[] = {
        [SCTP_TSN_NEW] = FLOW_ROW_IWARP,        [SCTP_TSN_AGAIN] = FLOW_ROW_AGAIN,
        [SCTP_TSN_DIFFERS] = FLOW_ROW_CONFLICT, [SCTP_TSN_UNKNOWN] = FLOW_ROW_UNCOMPARED,
        [SCTP_TSN_LATE] = FLOW_ROW_OVERTAKEN,   [SCTP_TSN_AHEAD] = FLOW_ROW_SCTP_AHEAD,
    };

    if (tsn == SCTP_TSN_DIFFERS)
        sctp_emit_undecoded(packet->association, packet->side, FLOW_REASON_CONFLICT);
    count(packet, rows[tsn], data->user_have);
}

/* How long a message is that comes in fragments, and what packets have carried it. */
static void follow_fragments(const struct sctp_arrival *packet, const struct sctp_data *data,
                             struct flow_sctp *reported)
{
    struct sctp_side *side = &packet->association->side[packet->side];
    size_t octets = packet->datagram->put_together ? 0 : packet->datagram->ip_octets;

    if (data->first || data->tsn != side->cut_tsn + 1) {
        side->cut_known = data->first;
        side->cut_octets = side->cut_network = 0;
    }
    side->cut_tsn = data->tsn;
    side->cut_octets += data->user_octets;
    side->cut_network = octets > side->cut_network ? octets : side->cut_network;
    if (side->cut_known && data->last && !data->first) {
        reported->message_octets = side->cut_octets;
        reported->message_network_octets = side->cut_network;
    }
}

static void receive_data(struct sctp_arrival *packet, struct flow_sctp *reported)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];
    enum sctp_tsn tsn = SCTP_TSN_NEW;
    struct sctp_data data;

    if (sctp_data_parse(&reported->chunk, &data) != WIRE_OK) {
        side->lost = true;
        sctp_emit_chunk(packet, reported);
        return;
    }
    if (data.user_octets != 0) /* else its receiver ends the association, and takes nothing of it (RFC 9260 6.2) */
        tsn = sctp_tsn_note(association, packet->side, data.tsn, sctp_contents(&data, packet->sctp->common->secret));
    reported->duplicate = tsn != SCTP_TSN_NEW;
    association->draft_ppids |= is_draft_ppid(data.ppid);
    if (association->flow == NULL &&
        (!is_rfc5043_ppid(data.ppid) || !data.first || !is_ddp_user(&data) ||
         !sctp_recognise(association, association->has_initiator ? association->initiator : packet->side,
                         IWARP_SCTP_RFC5043))) {
        if (is_rfc5043_ppid(data.ppid)) {
            association->doubted += data.user_have;
            packet->counted += data.user_have;
        }
        sctp_association_forget_init(association);
        return;
    }
    reported->data = &data;
    reported->foreign = data.first && !is_ddp_ppid(association, data.ppid);
    if (!reported->duplicate)
        follow_fragments(packet, &data, reported);
    sctp_emit_chunk(packet, reported);
    if (data.first && !reported->foreign && association->flow->sctp->profile == IWARP_SCTP_UNDECIDED)
        association->flow->sctp->profile = is_rfc5043_ppid(data.ppid) ? IWARP_SCTP_RFC5043 : IWARP_SCTP_DRAFT02;
    if (reported->foreign)
        count(packet, FLOW_ROW_SCTP_DATA, data.user_have);
    else if (reported->duplicate)
        receive_repeated_data(packet, &data, tsn);
    else if (data.user_octets != 0)
        receive_user(packet, &data);
}

/*
 * The packet's sender acknowledges the other side's TSNs up to this one, and up to `apart` some. `sack` has more to say
 * (NULL: nothing).
 */
static void receive_ack(const struct sctp_arrival *packet, uint32_t cumulative, uint32_t apart,
                        const struct sctp_chunk *sack)
{
    sctp_tsns_acked(&packet->association->side[1 - packet->side], cumulative, apart, packet->association->frame);
    if (packet->association->early_pending != 0)
        sctp_early_acknowledged(packet->association, 1 - packet->side, cumulative, sack);
}

/* What the receiver has and the capture has not will not come any more. */
static void receive_sack(const struct sctp_arrival *packet, const struct sctp_chunk *chunk)
{
    enum { BLOCK_END_AT = 2 };
    uint32_t cumulative, apart = 0;
    size_t blocks, at;

    if (chunk->octets < sctp_sack_layout.octets)
        return;
    cumulative = (uint32_t)sctp_sack_get_Cumulative(chunk->start);
    blocks = (size_t)sctp_sack_get_Gaps(chunk->start);
    at = sctp_sack_layout.octets + blocks * SCTP_GAP_BLOCK_OCTETS;
    if (blocks != 0 && at <= chunk->octets) /* the last one lies furthest (RFC 9260 3.3.4) */
        apart = octets_get16(chunk->start + at - SCTP_GAP_BLOCK_OCTETS + BLOCK_END_AT);
    receive_ack(packet, cumulative, cumulative + apart, chunk);
}

/* A SHUTDOWN acknowledges, too, and says who ends the association. */
static void receive_shutdown(const struct sctp_arrival *packet, const struct sctp_chunk *chunk)
{
    uint32_t cumulative;

    if (!packet->association->shut_down)
        packet->association->shut_down_by = packet->side;
    packet->association->shut_down = true;
    if (chunk->octets < SCTP_SHUTDOWN_OCTETS)
        return;
    cumulative = octets_get32(chunk->start + SCTP_CHUNK_OCTETS);
    receive_ack(packet, cumulative, cumulative, NULL);
}

static bool is_silent(unsigned type)
{
    return type == SCTP_SACK || type == SCTP_HEARTBEAT || type == SCTP_HEARTBEAT_ACK || type == SCTP_FORWARD_TSN;
}

/*
 * A chunk that its receiver may not know, of a type that makes it leave the packet's rest alone (RFC 9260 3.2): nobody
 * can say whether that counts. INIT and INIT ACK stand alone in a packet (6.10): after others they count for nothing.
 */
static bool stops_reading(const struct sctp_chunk *chunk)
{
    if (chunk->type == SCTP_INIT || chunk->type == SCTP_INIT_ACK)
        return true;
    return wire_name_of(sctp_chunk_names, chunk->type) == NULL && (chunk->type & SCTP_UNKNOWN_SKIPPED) == 0;
}

static void leave_rest(struct sctp_arrival *packet, enum flow_reason reason, enum flow_row row, uint64_t octets)
{
    packet->association->side[packet->side].lost = true;
    if (octets == 0)
        return;
    sctp_unread(packet, row, octets);
    if (packet->association->flow != NULL)
        sctp_emit_undecoded(packet->association, packet->side, reason);
}

/* False: the rest of the packet is not read. */
static bool receive_chunk(struct sctp_arrival *packet, const uint8_t **p, const uint8_t *end)
{
    struct flow_sctp reported = {0};
    const uint8_t *start = *p;
    wire_result result = sctp_chunk_parse(p, end, &reported.chunk);
    bool cut = packet->datagram->captured < packet->datagram->length;

    if (reported.chunk.start == NULL || wire_is_error(result) || (result == WIRE_MORE && !cut)) {
        leave_rest(packet, FLOW_REASON_CHUNK, FLOW_ROW_SCTP_CHUNK, cut ? 0 : (uint64_t)(end - start));
        return false;
    }
    switch (reported.chunk.type) {
    case SCTP_INIT:
    case SCTP_INIT_ACK:
        if (start == packet->datagram->octets + SCTP_COMMON_OCTETS)
            sctp_receive_init(packet, &reported);
        break;
    case SCTP_DATA:
    case SCTP_IDATA: receive_data(packet, &reported); break;
    case SCTP_SACK: receive_sack(packet, &reported.chunk); break;
    case SCTP_SHUTDOWN:
        receive_shutdown(packet, &reported.chunk);
        sctp_emit_chunk(packet, &reported);
        break;
    case SCTP_ASCONF: packet->association->side[packet->side].any_address = true; /* fall through */
    default:
        if (!is_silent(reported.chunk.type))
            sctp_emit_chunk(packet, &reported);
        break;
    }
    if (stops_reading(&reported.chunk)) {
        if (*p < end)
            leave_rest(packet, FLOW_REASON_CHUNK_UNKNOWN, FLOW_ROW_SCTP_STOPPED, (uint64_t)(end - *p));
        return false;
    }
    if (reported.chunk.type == SCTP_ABORT || reported.chunk.type == SCTP_SHUTDOWN_COMPLETE)
        packet->association->finished = true;
    return result == WIRE_OK;
}

/*
 * Packets that begin an association that is worth following: INIT (ACK), or DATA with DDP's own PPIDs: FLOW_ROW_IWARP.
 * Else the row of a packet of an association that is not followed. DATA with PPIDs that the draft shares with other
 * protocols may be DDP, and with DDP's in the wrong order of octets is; and a SACK says that there were DATA: only the
 * association's start would show it.
 */
static enum flow_row row_of_stray(const struct flow_datagram *datagram)
{
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    enum flow_row row = FLOW_ROW_SCTP;
    bool acks = false, others = false;
    struct sctp_chunk chunk;
    struct sctp_data data;

    while (p < end) {
        if (sctp_chunk_parse(&p, end, &chunk) != WIRE_OK)
            return datagram->captured < datagram->length ? FLOW_ROW_CUT_HEADERS : FLOW_ROW_SCTP_CHUNK;
        if (chunk.type == SCTP_INIT || chunk.type == SCTP_INIT_ACK)
            return FLOW_ROW_IWARP;
        acks = acks || chunk.type == SCTP_SACK;
        if ((chunk.type == SCTP_DATA || chunk.type == SCTP_IDATA) && sctp_data_parse(&chunk, &data) == WIRE_OK) {
            if (is_rfc5043_ppid(data.ppid) && (!data.first || is_ddp_user(&data)))
                return FLOW_ROW_IWARP;
            if (is_rfc5043_ppid(data.ppid) || is_draft_ppid(data.ppid) || is_rfc5043_ppid(__builtin_bswap32(data.ppid)))
                row = FLOW_ROW_SCTP_UNKNOWN;
            others = true;
        }
    }
    return acks && !others ? FLOW_ROW_SCTP_UNKNOWN : row;
}

static bool begins_association(const struct flow_datagram *datagram)
{
    return datagram->captured > SCTP_COMMON_OCTETS && datagram->octets[SCTP_COMMON_OCTETS] == SCTP_INIT;
}

/* The association of the packet, a new one if need be. NULL: there is none, and the packet is counted. */
static struct sctp_association *association_of(struct sctp_arrival *packet, const struct flow_carrier_frames *carrier)
{
    struct sctp_decoder *sctp = packet->sctp;
    struct sctp_association *association;
    struct flow_key key;
    enum flow_row row;

    sctp_association_key(&key, packet->datagram, &packet->side);
    association = sctp_association_find(sctp, packet->datagram, &key, &packet->side);
    if (association != NULL)
        return association;
    if (flow_removed_returns(sctp->common, &key, sizeof(key), begins_association(packet->datagram)))
        flow_removed_count(sctp->common, &key, sizeof(key));
    row = row_of_stray(packet->datagram);
    if (row == FLOW_ROW_IWARP && packet->checksum == FLOW_CHECKSUM_BAD) {
        row = FLOW_ROW_SCTP_CHECKSUM;
        sctp->common->totals.sctp_bad_checksums++;
    } else if (row == FLOW_ROW_IWARP) {
        association = sctp_association_make(sctp, &key, carrier->frame->number, carrier->frame->time_ns);
        if (association != NULL)
            return association;
        row = FLOW_ROW_MEMORY;
    }
    flow_account_count(&sctp->common->totals.account, row, carrier->frames, carrier->octets);
    return NULL;
}

/* Counts what is left of the packet: headers, chunks that carry no user message. */
static void count_rest(const struct sctp_arrival *packet, uint64_t octets)
{
    if (packet->association == NULL) /* a new life of it, and no memory */
        sctp_octets(packet->sctp, FLOW_ROW_MEMORY, octets - packet->counted);
    else if (packet->association->flow == NULL)
        packet->association->octets += octets - packet->counted;
    else
        sctp_octets(packet->sctp, FLOW_ROW_HEADERS, octets - packet->counted);
}

static void receive_chunks(struct sctp_arrival *packet)
{
    const struct flow_datagram *datagram = packet->datagram;
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    struct sctp_association *association = packet->association;

    while (p < end && receive_chunk(packet, &p, end))
        continue;
    if (association->flow == NULL)
        return;
    if (datagram->captured < datagram->length) {
        association->side[packet->side].lost = true;
        sctp_octets(packet->sctp, FLOW_ROW_SNAPPED, datagram->length - datagram->captured);
    }
    association->flow->last_frame = association->frame;
    association->flow->last_ns = association->time_ns;
    sctp_order_drain(association);
    sctp_streams_drain(association);
}

void sctp_replay_init(struct sctp_association *association, unsigned side, const struct flow_datagram *datagram)
{
    struct sctp_arrival arrival = {.sctp = association->sctp,
                                   .datagram = datagram,
                                   .association = association,
                                   .side = side,
                                   .checksum = sctp_checksum_of(datagram)};
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS;
    struct flow_sctp reported = {0};

    if (sctp_chunk_parse(&p, datagram->octets + datagram->captured, &reported.chunk) == WIRE_OK ||
        reported.chunk.start != NULL)
        sctp_receive_init(&arrival, &reported);
}

void sctp_relearn_init_ack(struct sctp_association *association, unsigned index, const struct flow_datagram *datagram)
{
    struct sctp_side *side = &association->side[index];

    sctp_association_forget_tag(association->sctp, association, index);
    free(side->init);
    side->init = NULL;
    side->init_seen = side->tag_heard = false;
    side->tsn_known = side->begun = false;
    sctp_window_free(side);
    sctp_replay_init(association, index, datagram);
}

/* The user messages in a packet that its receiver does not take; the rest of it are headers. */
static uint64_t user_octets(const struct flow_datagram *datagram)
{
    const uint8_t *p = datagram->octets + SCTP_COMMON_OCTETS, *end = datagram->octets + datagram->captured;
    struct sctp_chunk chunk;
    struct sctp_data data;
    uint64_t octets = 0;

    while (p < end && sctp_chunk_parse(&p, end, &chunk) == WIRE_OK)
        if ((chunk.type == SCTP_DATA || chunk.type == SCTP_IDATA) && sctp_data_parse(&chunk, &data) == WIRE_OK)
            octets += data.user_have;
    return octets;
}

/* A packet that the receiver does not take. */
static void refuse(struct sctp_arrival *packet, enum flow_row row)
{
    bool damaged = row == FLOW_ROW_SCTP_CHECKSUM;
    uint64_t octets = damaged ? packet->datagram->captured : user_octets(packet->datagram);

    packet->sctp->common->totals.sctp_bad_checksums += damaged;
    if (packet->association == NULL || octets == 0)
        return;
    if (row == FLOW_ROW_HEADERS) /* chunks after an INIT (ACK) count for nothing */
        row = FLOW_ROW_SCTP_STOPPED;
    sctp_unread(packet, row, octets);
    if (packet->association->flow != NULL)
        sctp_emit_undecoded(packet->association, packet->side, damaged ? FLOW_REASON_CHECKSUM : FLOW_REASON_STRANGER);
}

void flow_sctp_packet(struct sctp_decoder *sctp, const struct flow_datagram *datagram,
                      const struct flow_carrier_frames *carrier)
{
    struct sctp_arrival packet = {.sctp = sctp, .datagram = datagram};
    struct sctp_association *association;
    enum flow_row row;

    if (datagram->captured < SCTP_COMMON_OCTETS) {
        flow_account_count(&sctp->common->totals.account,
                           datagram->length < SCTP_COMMON_OCTETS ? FLOW_ROW_SCTP_HEADER : FLOW_ROW_CUT_HEADERS,
                           carrier->frames, carrier->octets);
        return;
    }
    sctp->common->totals.sctp_packets++;
    packet.checksum = sctp_checksum_of(datagram);
    association = association_of(&packet, carrier);
    if (association == NULL)
        return;
    association->frame = carrier->frame->number;
    association->time_ns = carrier->frame->time_ns;
    association->frames += carrier->frames;
    packet.association = association;
    row = sctp_packet_row(&packet);
    if (row == FLOW_ROWS)
        receive_chunks(&packet);
    else
        refuse(&packet, row);
    count_rest(&packet, carrier->octets);
    if (packet.association != NULL)
        sctp_association_list(sctp, packet.association);
}
