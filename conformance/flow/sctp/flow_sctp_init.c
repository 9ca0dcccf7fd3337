/* SPDX-License-Identifier: BSD-2-Clause */
/* SCTP: INIT and INIT ACK, and what they say when DDP is recognised later. */
#include "conformance/flow/sctp/flow_sctp_internal.h"

#include <stdlib.h>
#include <string.h>

static bool is_ddp_indication(uint32_t indication)
{
    return indication == DDP_SCTP_INDICATION_DDP || indication == DDP_SCTP_INDICATION_DDP_RDMA;
}

static void learn_init(const struct sctp_arrival *packet, const struct sctp_init *init, bool ack, bool whole)
{
    struct sctp_association *association = packet->association;
    struct sctp_side *side = &association->side[packet->side];

    if (!association->has_initiator)
        association->initiator = ack ? 1 - packet->side : packet->side;
    association->has_initiator = true;
    if (!side->init_seen) {
        side->init_seen = true;
        side->init_whole = whole;
        side->tag = init->tag;
        side->has_indication = init->has_adaptation;
        side->indication = init->adaptation;
        sctp_learn_first_tsn(side, init->initial_tsn, association->started && !association->start_lost);
        association->started = true;
        sctp_addresses_learn(association, packet->side, init);
        sctp_association_learn_tag(packet->sctp, association, packet->side, init->tag);
    }
}

/* Updates the state that rules compare with; called after the INIT's event was delivered. */
static void update_init(struct sctp_association *association, unsigned side, const struct sctp_init *init,
                        const struct flow_sctp *reported)
{
    unsigned direction = side ^ association->swap;
    struct flow_sctp_state *state = association->flow->sctp;

    state->init_seen[direction] =
        reported->chunk.octets == reported->chunk.length; /* what was cut may be the indication */
    state->has_indication[direction] = init->has_adaptation;
    state->indication[direction] = init->adaptation;
    state->outbound[direction] = init->outbound;
    state->inbound[direction] = init->inbound;
    if (init->has_adaptation && init->adaptation == DDP_SCTP_INDICATION_DDP_RDMA)
        state->profile = IWARP_SCTP_DRAFT02;
}

/*
 * The INIT (ACK) is reported when DDP is recognised. Without memory its rules do not see it; what it said is known all
 * the same.
 */
static void keep_init(const struct sctp_arrival *packet, const struct sctp_chunk *chunk)
{
    struct sctp_side *side = &packet->association->side[packet->side];
    struct sctp_kept_init *kept;

    if (side->init != NULL)
        return;
    kept = malloc(sizeof(*kept) + chunk->octets);
    if (kept == NULL) {
        out_of_memory_note();
        return;
    }
    *kept = (struct sctp_kept_init){.frame = packet->association->frame,
                                    .time_ns = packet->association->time_ns,
                                    .checksum = packet->checksum,
                                    .packet_octets = packet->datagram->length,
                                    .network_octets = packet->datagram->ip_octets,
                                    .length = chunk->length,
                                    .count = chunk->octets};
    memcpy(kept->octets, chunk->start, chunk->octets);
    side->init = kept;
}

static void emit_kept_init(struct sctp_association *association, unsigned side)
{
    const struct sctp_kept_init *kept = association->side[side].init;
    struct flow_event event;
    struct flow_sctp reported = {0};
    struct sctp_init init;
    const uint8_t *p;

    if (kept == NULL)
        return;
    p = kept->octets;
    (void)sctp_chunk_parse(&p, p + kept->count, &reported.chunk);
    if (sctp_init_parse(&reported.chunk, &init) != WIRE_OK)
        return;
    event = sctp_event(association->flow, side ^ association->swap, FLOW_SCTP, kept->frame, kept->time_ns);
    reported.init = &init;
    reported.name = wire_name_of(sctp_chunk_names, reported.chunk.type);
    reported.checksum = kept->checksum;
    reported.packet_octets = kept->packet_octets;
    reported.network_octets = kept->network_octets;
    event.sctp = &reported;
    flow_event_send(association->sctp->common, &event);
    update_init(association, side, &init, &reported);
}

bool sctp_recognise(struct sctp_association *association, unsigned initiator, enum iwarp_sctp_profile profile)
{
    if (association->flow != NULL)
        return true;
    if (!sctp_association_recognise(association, initiator))
        return false;
    association->flow->sctp->profile = profile;
    emit_kept_init(association, initiator);
    emit_kept_init(association, 1 - initiator);
    sctp_association_forget_init(association);
    return true;
}

void sctp_receive_init(struct sctp_arrival *packet, struct flow_sctp *reported)
{
    struct sctp_init init;

    if (sctp_init_parse(&reported->chunk, &init) != WIRE_OK) {
        sctp_emit_chunk(packet, reported);
        return;
    }
    reported->init = &init;
    learn_init(packet, &init, reported->chunk.type == SCTP_INIT_ACK, reported->chunk.octets == reported->chunk.length);
    if (init.has_adaptation && is_ddp_indication(init.adaptation))
        sctp_recognise(packet->association, packet->association->initiator,
                       init.adaptation == DDP_SCTP_INDICATION_DDP_RDMA ? IWARP_SCTP_DRAFT02 : IWARP_SCTP_UNDECIDED);
    if (packet->association->flow != NULL) {
        sctp_emit_chunk(packet, reported);
        update_init(packet->association, packet->side, &init, reported);
    } else {
        keep_init(packet, &reported->chunk);
    }
    reported->init = NULL;
}
