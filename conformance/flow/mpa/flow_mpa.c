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

bool flow_mpa_reserve(struct flow_decoder *decoder, struct flow_side *side, size_t octets)
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
    decoder->held += room - side->room;
    side->buffer = buffer;
    side->room = room;
    return true;
}

void flow_mpa_release(struct flow_decoder *decoder, struct flow_side *side)
{
    decoder->held -= side->room;
    free(side->buffer);
    side->buffer = NULL;
    side->room = side->have = side->need = 0;
}

void flow_mpa_unit_done(struct flow_decoder *decoder, struct flow_side *side)
{
    side->have = side->need = 0;
    if (side->room > BUFFER_KEPT)
        flow_mpa_release(decoder, side);
}

size_t flow_mpa_partial(const struct flow_side *side)
{
    return side->skip != 0 ? 0 : side->have;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

void flow_mpa_lose_sync(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                        uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];

    side->state = SIDE_RESYNC;
    side->tentative = false;
    side->skip = 0;
    side->nonsense = 0;
    flow_octets(decoder, connection, FLOW_ROW_SYNC_LOST, side->have);
    flow_mpa_release(decoder, side);
    if (side->half == NULL)
        return;
    side->half->tcp->in_sync = false;
    side->half->tcp->resyncs++;
    flow_undecoded(decoder, connection, index, FLOW_REASON_SYNC_LOST, frame, time_ns);
    connection->flow->gap = true;
    flow_rdmap_gap(connection->flow, flow_direction_of(connection, index));
}

/* The row of octets that are not decoded any more. */
static enum flow_row row_of(enum flow_reason reason)
{
    return reason == FLOW_REASON_REJECTED          ? FLOW_ROW_ULP
           : reason == FLOW_REASON_START_MALFORMED ? FLOW_ROW_START_MALFORMED
           : reason == FLOW_REASON_NO_MEMORY       ? FLOW_ROW_MEMORY
                                                   : FLOW_ROW_LATE;
}

static size_t dead_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                          const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];

    /* After a rejection the octets are the ULP's, unless MPA goes on. */
    if (side->dead_reason == FLOW_REASON_REJECTED && used == 0 && piece->at_start &&
        (flow_start_again(connection, index, piece) || flow_lock_begin(decoder, side, piece)))
        return 0;
    flow_octets(decoder, connection, row_of(side->dead_reason), piece->captured - used);
    if (!side->dead_reported)
        flow_undecoded(decoder, connection, index, side->dead_reason, piece->frame, piece->time_ns);
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

size_t flow_mpa_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                       const struct flow_piece *piece)
{
    struct flow_side *side = &connection->side[index];
    const struct flow_side *other = &connection->side[1 - index];
    size_t used = 0, passed;

    while (used < piece->captured) {
        switch (side->state) {
        case SIDE_FPDU: used += flow_fpdu_octets(decoder, connection, index, piece, used); break;
        case SIDE_FRESH:
        case SIDE_START:
            used += flow_start_octets(decoder, connection, index, piece, used);
            if (side->waiting || (side->start_done && (other->queue != NULL || piece->received > other->next)))
                return used; /* what the other side sent before comes before what follows */
            break;
        case SIDE_WAIT:
            if (flow_mpa_blocked(connection, index))
                return used;
            flow_mpa_go_on(connection, index);
            break;
        case SIDE_GUESS: flow_lock_guess(decoder, connection, index, piece, used); break;
        case SIDE_RESYNC:
            passed = flow_lock_resync(decoder, connection, index, piece, used);
            flow_octets(decoder, connection, FLOW_ROW_SYNC_LOST, passed);
            used += passed;
            break;
        case SIDE_LATE:
            passed = flow_lock_late(decoder, connection, index, piece, used);
            flow_octets(decoder, connection, row_of_late(connection, side), passed);
            used += passed;
            break;
        case SIDE_STREAMING:
            passed = flow_start_streaming(decoder, connection, index, piece, used);
            flow_octets(decoder, connection, FLOW_ROW_ULP, passed);
            used += passed;
            break;
        case SIDE_DEAD: used += dead_octets(decoder, connection, index, piece, used); break;
        }
    }
    return used;
}

void flow_mpa_lost(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, uint64_t count,
                   bool cut, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    struct flow_gap gap = {.octets = count, .in_sync = true};
    uint64_t position = side->position + side->have;
    bool was_tentative = side->tentative;

    if (side->state != SIDE_STREAMING && side->dead_reason != FLOW_REASON_REJECTED)
        flow_octets(decoder, connection, cut ? FLOW_ROW_SNAPPED : FLOW_ROW_GAP, count);
    flow_search_break(side);
    flow_records_lost(side, count);
    flow_proof_release(side);
    if (side->half != NULL && !cut) {
        side->half->gaps++;
        decoder->totals.gaps++;
    }
    switch (side->state) {
    case SIDE_FPDU: gap.in_sync = flow_fpdu_lost(decoder, connection, index, count, cut, frame, time_ns); break;
    case SIDE_FRESH:
    case SIDE_START: flow_start_cut(decoder, connection, index, FLOW_ROW_PART, frame, time_ns); break;
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
    if (connection->flow == NULL || (gap.in_sync && side->state != SIDE_WAIT && (cut || was_tentative)))
        return;
    struct flow_event event = flow_event_make(connection, index, FLOW_GAP, frame, time_ns);

    event.gap = &gap;
    event.position = position;
    flow_event_send(decoder, &event);
    connection->flow->gap = true;
    flow_rdmap_gap(connection->flow, flow_direction_of(connection, index));
    if (!gap.in_sync)
        flow_mpa_lose_sync(decoder, connection, index, frame, time_ns);
}

uint64_t flow_mpa_position(const struct flow_side *side, uint64_t at)
{
    /* The next octet lies after what is held of a unit; what is skipped of one is counted already. */
    return side->position + side->have - side->skip - (side->next - at);
}

void flow_mpa_rewind(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, uint64_t octets,
                     uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    uint64_t position = flow_mpa_position(side, side->next - octets);
    bool in_fpdus = side->state == SIDE_FPDU || side->state == SIDE_RESYNC;

    side->tentative = false;
    if (in_fpdus && side->half != NULL) {
        flow_mpa_lose_sync(decoder, connection, index, frame, time_ns);
        side->position = position;
        return;
    }
    flow_octets(decoder, connection, FLOW_ROW_LATE, side->have);
    flow_mpa_release(decoder, side);
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
static bool tell_rest(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index)
{
    const struct flow_side *side = &connection->side[index];
    bool over = side->closed || side->reset || connection->side[1 - index].reset;
    size_t lead;

    if (side->state != SIDE_FPDU || side->skip != 0 || side->have == 0 || side->tentative || !side->half->start_known)
        return false;
    lead = flow_unit_lead(side);
    side->half->unfinished_faults =
        side->have > lead ? flow_header_faults_at(side->buffer + lead, side->have - lead, connection->flow->revision)
                          : 0;
    /* Where CRCs are in use nothing verifies it: its very length may be damage. */
    if (!over || side->framing.crc || side->half->unfinished_faults > 1 ||
        side->have < lead + FPDU_LENGTH_OCTETS + DDP_TAGGED_OCTETS)
        return false;
    flow_fpdu_cut(decoder, connection, index, false, FLOW_ROW_UNFINISHED, side->unit_frame, connection->last_ns);
    return true;
}

void flow_mpa_end(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index)
{
    struct flow_side *side = &connection->side[index];

    if (connection->flow != NULL && side->state == SIDE_START)
        flow_start_cut(decoder, connection, index, row_of_rest(connection), connection->last_frame,
                       connection->last_ns);
    if (connection->flow == NULL) {
        flow_octets(decoder, connection, row_of_rest(connection), flow_mpa_partial(side));
        return;
    }
    side->half->unfinished = flow_mpa_partial(side);
    side->half->unfinished_octets = side->half->unfinished != 0 ? side->buffer : NULL;
    if (!tell_rest(decoder, connection, index))
        flow_octets(decoder, connection, row_of_rest(connection), side->half->unfinished - side->borrowed);
    side->half->tail_unknown = side->acked_known && side->seq_known && side->acked > side->next + side->fin_known;
    if (side->half->fpdus == 0 && side->half->segments != 0 &&
        (side->state == SIDE_LATE || side->state == SIDE_RESYNC || side->state == SIDE_GUESS))
        flow_undecoded(decoder, connection, index, FLOW_REASON_NO_FPDU, connection->last_frame, connection->last_ns);
}
