/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA's stream: which part of it is a start-up frame, FPDUs, or neither, and what a hole in it means. Units are cut out
 * of pieces of any size.
 */
#include "conformance/flow/mpa/flow_mpa_internal.h"
#include "conformance/flow/mpa/flow_search.h"

#include <stdlib.h>

#include "conformance/flow/mpa/flow_unit.h"
#include "conformance/flow/mpa/flow_streaming.h"

enum {
    BUFFER_LEAST = 1024,
    BUFFER_KEPT = 4096, /* larger ones are given back between units */
};

/* ---- the buffer of a unit ---------------------------------------------------------------------------------------- */

bool flow_mpa_reserve(struct flow_common *common, struct flow_side *side, size_t octets)
{
    size_t room = side->room < BUFFER_LEAST ? BUFFER_LEAST : side->room;
    uint8_t *buffer;

    if (octets <= side->room)
        return true;
    while (room < octets)
        room *= 2;
    buffer = realloc(side->buffer, room);
    if (buffer == NULL)
        return false;
    common->held += room - side->room;
    side->buffer = buffer;
    side->room = room;
    return true;
}

void flow_mpa_release(struct flow_common *common, struct flow_side *side)
{
    common->held -= side->room;
    free(side->buffer);
    side->buffer = NULL;
    side->room = side->have = side->need = 0;
}

void flow_mpa_unit_done(struct flow_common *common, struct flow_side *side)
{
    side->have = side->need = 0;
    if (side->room > BUFFER_KEPT)
        flow_mpa_release(common, side);
}

size_t flow_mpa_partial(const struct flow_side *side)
{
    return side->skip != 0 ? 0 : side->have;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

void flow_mpa_lose_sync(const struct flow_context *context)
{
    struct flow_side *side = context->side;

    side->state = SIDE_RESYNC;
    side->tentative = false;
    side->skip = 0;
    side->nonsense = 0;
    flow_octets(context, FLOW_ROW_SYNC_LOST, side->have);
    flow_mpa_release(context->common, side);
    if (side->half == NULL)
        return;
    side->half->tcp->in_sync = false;
    side->half->tcp->resyncs++;
    flow_undecoded(context, FLOW_REASON_SYNC_LOST);
    context->connection->flow->gap = true;
    flow_rdmap_gap(context->connection->flow, flow_direction_of(context->connection, context->index));
}

/* The row of octets that are not decoded any more. */
static enum flow_row row_of(enum flow_reason reason)
{
    return reason == FLOW_REASON_REJECTED          ? FLOW_ROW_ULP
           : reason == FLOW_REASON_START_MALFORMED ? FLOW_ROW_START_MALFORMED
           : reason == FLOW_REASON_NO_MEMORY       ? FLOW_ROW_MEMORY
                                                   : FLOW_ROW_LATE;
}

static size_t dead_octets(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;

    /* After a rejection the octets are the ULP's, unless MPA goes on. */
    if (side->dead_reason == FLOW_REASON_REJECTED && used == 0 && piece->at_start &&
        (flow_start_repeated(context, piece) || flow_lock_begin(context->common, side, piece)))
        return 0;
    flow_octets(context, row_of(side->dead_reason), piece->captured - used);
    if (!side->dead_reported)
        flow_undecoded(context, side->dead_reason);
    side->dead_reported = true;
    return piece->captured - used;
}

/* The row of octets that are passed over because nothing says how they are framed. */
static enum flow_row row_of_late(const struct flow_connection *connection, const struct flow_side *side)
{
    const struct flow *flow = connection->flow;

    if (connection->foreign && flow == NULL)
        return FLOW_ROW_ULP;
    return flow != NULL && side->start_done && wire_is_error(flow->tcp->start[side->kind].result)
               ? FLOW_ROW_START_MALFORMED
               : FLOW_ROW_LATE;
}

static size_t octets_decode(const struct flow_context *context, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    const struct flow_side *other = flow_other_side(context);
    size_t used = 0, passed;

    while (used < piece->captured) {
        switch (side->state) {
        case SIDE_FPDU: used += flow_fpdu_octets(context, piece, used); break;
        case SIDE_FRESH:
        case SIDE_START:
            used += flow_start_octets(context, piece, used);
            if (side->waiting || (side->start_done && (other->waiting_end != 0 || piece->received > other->next)))
                return used; /* what the other side sent before comes before what follows */
            break;
        case SIDE_WAIT:
            if (flow_mpa_blocked(context->connection, context->index))
                return used;
            flow_mpa_go_on(context->connection, context->index);
            break;
        case SIDE_GUESS: flow_lock_guess(context, piece, used); break;
        case SIDE_RESYNC:
            passed = flow_lock_resync(context, piece, used);
            flow_octets(context, FLOW_ROW_SYNC_LOST, passed);
            used += passed;
            break;
        case SIDE_LATE:
            passed = flow_lock_late(context, piece, used);
            flow_octets(context, row_of_late(context->connection, side), passed);
            used += passed;
            break;
        case SIDE_STREAMING:
            passed = flow_start_streaming(context, piece, used);
            flow_octets(context, FLOW_ROW_ULP, passed);
            used += passed;
            break;
        case SIDE_DEAD: used += dead_octets(context, piece, used); break;
        }
    }
    return used;
}

size_t flow_mpa_octets(const struct flow_context *context, const struct flow_piece *piece)
{
    size_t used = octets_decode(context, piece);

    if (context->side->half != NULL)
        context->side->half->tcp->begun = flow_mpa_partial(context->side);
    return used;
}

void flow_mpa_lost(const struct flow_context *context, uint64_t count, bool cut)
{
    struct flow_side *side = context->side;
    struct flow_gap gap = {.octets = count, .in_sync = true};
    uint64_t position = side->position + side->have;
    bool was_tentative = side->tentative;

    if (side->state != SIDE_STREAMING && side->dead_reason != FLOW_REASON_REJECTED)
        flow_octets(context, cut ? FLOW_ROW_SNAPPED : FLOW_ROW_GAP, count);
    flow_search_break(side);
    flow_records_lost(side, count);
    flow_proof_release(side);
    if (side->half != NULL && !cut) {
        side->half->gaps++;
        context->common->totals.gaps++;
    }
    switch (side->state) {
    case SIDE_FPDU: gap.in_sync = flow_fpdu_lost(context, count, cut); break;
    case SIDE_FRESH:
    case SIDE_START: flow_start_cut(context, FLOW_ROW_PART); break;
    case SIDE_WAIT:
        side->lost_in_wait = true;
        side->position += count;
        break;
    case SIDE_GUESS:
        side->state = SIDE_LATE;
        side->position += count;
        break;
    default: side->position += count; break;
    }
    if (context->connection->flow == NULL || (gap.in_sync && side->state != SIDE_WAIT && (cut || was_tentative)))
        return;
    struct flow_event event = flow_event_make(context, FLOW_GAP);

    event.gap = &gap;
    event.position = position;
    flow_event_send(context->common, &event);
    context->connection->flow->gap = true;
    flow_rdmap_gap(context->connection->flow, flow_direction_of(context->connection, context->index));
    if (!gap.in_sync)
        flow_mpa_lose_sync(context);
}

uint64_t flow_mpa_position(const struct flow_side *side, uint64_t at)
{
    /* The next octet lies after what is held of a unit; what is skipped of one is counted already. */
    return side->position + side->have - side->skip - (side->next - at);
}

void flow_mpa_rewind(const struct flow_context *context, uint64_t octets)
{
    struct flow_side *side = context->side;
    uint64_t position = flow_mpa_position(side, side->next - octets);
    bool in_fpdus = side->state == SIDE_FPDU || side->state == SIDE_RESYNC;

    side->tentative = false;
    if (in_fpdus && side->half != NULL) {
        flow_mpa_lose_sync(context);
        side->position = position;
        return;
    }
    flow_octets(context, FLOW_ROW_LATE, side->have);
    flow_mpa_release(context->common, side);
    side->skip = 0;
    if (side->state != SIDE_DEAD) {
        side->state = SIDE_LATE;
        side->waiting = false;
    }
}

/*
 * The row of a unit that was begun, at the end: what it would have become nobody knows, whatever ended the connection.
 */
static enum flow_row row_of_rest(const struct flow_connection *connection)
{
    return connection->flow == NULL ? FLOW_ROW_LATE : FLOW_ROW_UNFINISHED;
}

/* Nothing will come after the octets that are held of an FPDU: its header is judged as far as it is there. */
static bool tell_rest(const struct flow_context *context)
{
    const struct flow_side *side = context->side;
    bool over = side->closed || side->reset || flow_other_side(context)->reset;
    struct flow_context begun;
    size_t lead;

    if (side->state != SIDE_FPDU || side->skip != 0 || side->have == 0 || side->tentative || !side->half->start_known)
        return false;
    lead = flow_unit_lead(side);
    side->half->unfinished_faults = side->have > lead ? flow_header_faults_at(side->buffer + lead, side->have - lead,
                                                                              context->connection->flow->revision)
                                                      : 0;
    /* Where CRCs are in use nothing verifies this FPDU: even its ULPDU_Length may be damaged. */
    if (!over || side->framing.crc || side->half->unfinished_faults > 1 ||
        side->have < lead + FPDU_LENGTH_OCTETS + DDP_TAGGED_OCTETS)
        return false;
    begun = flow_context_in(context, side->unit_frame, context->time_ns);
    flow_fpdu_cut(&begun, false, FLOW_ROW_UNFINISHED);
    return true;
}

void flow_mpa_end(const struct flow_context *context)
{
    struct flow_side *side = context->side;

    if (context->connection->flow != NULL && side->state == SIDE_START)
        flow_start_cut(context, row_of_rest(context->connection));
    if (context->connection->flow == NULL) {
        flow_octets(context, row_of_rest(context->connection), flow_mpa_partial(side));
        return;
    }
    side->half->unfinished = flow_mpa_partial(side);
    side->half->unfinished_octets = side->half->unfinished != 0 ? side->buffer : NULL;
    if (!tell_rest(context))
        flow_octets(context, row_of_rest(context->connection), side->half->unfinished - side->borrowed);
    side->half->tail_unknown = side->acked_known && side->seq_known && side->acked > side->next + side->fin_known;
    if (side->half->fpdus == 0 && side->half->segments != 0 &&
        (side->state == SIDE_LATE || side->state == SIDE_RESYNC || side->state == SIDE_GUESS))
        flow_undecoded(context, FLOW_REASON_NO_FPDU);
}
