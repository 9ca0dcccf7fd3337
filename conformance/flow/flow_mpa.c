/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA's stream: FPDUs (RFC 5044 4). Units are cut out of pieces of any size; one that lies wholly in a
 * piece is parsed where it lies.
 */
#include "conformance/flow/flow_internal.h"

#include <stdlib.h>
#include <string.h>

#include "wire/marker.h"

enum {
    BUFFER_LEAST = 1024,
    BUFFER_KEPT = 4096, /* larger ones are given back between units */
    HINTS_NEEDED = 2,
    NONSENSE_MAX = 3, /* FPDUs in a row that nobody would send: the boundary is wrong */
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

static void unit_done(struct flow_decoder *decoder, struct flow_side *side)
{
    side->have = side->need = 0;
    if (side->room > BUFFER_KEPT)
        flow_mpa_release(decoder, side);
}

size_t flow_mpa_partial(const struct flow_side *side)
{
    return side->skip != 0 ? 0 : side->have;
}

/* ---- FPDUs ------------------------------------------------------------------------------------------------------- */

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
    side->half->in_sync = false;
    side->half->resyncs++;
    flow_undecoded(decoder, connection, index, FLOW_REASON_SYNC_LOST, frame, time_ns);
    connection->flow->gap = true;
    flow_rdmap_gap(connection->flow, flow_direction_of(connection, index));
}

/* The guess was wrong (or right without the flow being known yet): it took so many octets. */
static void guess_failed(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                         size_t octets)
{
    struct flow_side *side = &connection->side[index];

    side->tentative = false;
    side->state = side->half != NULL && side->half->framing_known ? SIDE_RESYNC : SIDE_LATE;
    flow_octets(decoder, connection, side->state == SIDE_RESYNC ? FLOW_ROW_SYNC_LOST : FLOW_ROW_LATE, octets);
    unit_done(decoder, side);
}

/* A guess in mid-stream was verified. False: without memory. */
static bool guess_verified(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                           uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];

    side->tentative = false;
    if (!flow_recognise(decoder, connection, connection->first_side, false))
        return false;
    if (!side->half->framing_known) {
        side->half->framing_known = true;
        side->half->framing = side->framing;
        side->half->position = side->position;
        connection->flow->crc = connection->flow->crc || side->framing.crc;
        connection->flow->late = !connection->side[0].start_done && !connection->side[1].start_done;
        connection->flow->gap = true;
        flow_undecoded(decoder, connection, index, FLOW_REASON_LATE, frame, time_ns);
    }
    return true;
}

/*
 * A guess whose FPDU the capture cut has no CRC to be verified by: the header makes sense, and its length `fits` into
 * what the segment had on the wire, best of all `exactly`. True: it is believed.
 */
static bool guess_by_length(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool fits,
                            bool exactly, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];

    if (!fits)
        return false;
    if (side->half == NULL || !side->half->framing_known) {
        if (!exactly || ++side->hints < HINTS_NEEDED)
            return false;
        side->framing.crc = false; /* not known */
    }
    return guess_verified(decoder, connection, index, frame, time_ns);
}

static void tell_fpdu(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                      struct flow_fpdu *fpdu, const struct flow_piece *piece, uint64_t first_frame)
{
    struct flow_side *side = &connection->side[index];
    struct flow_half *half;
    struct flow_event event;
    bool sensible;

    fpdu->framing = side->framing;
    if (side->tentative) {
        if (fpdu->result == TERM_MPA_CRC) {
            guess_failed(decoder, connection, index, fpdu->fpdu.octets);
            side->position += fpdu->fpdu.octets;
            return;
        }
        if (!guess_verified(decoder, connection, index, piece->frame, piece->time_ns)) {
            flow_octets(decoder, connection, FLOW_ROW_MEMORY, fpdu->cut ? side->have : fpdu->fpdu.octets);
            flow_side_ends(side, FLOW_REASON_NO_FPDU);
            return;
        }
    }
    half = side->half;
    if (half == NULL) /* FPDUs are looked for in flows only, and a guess that is verified makes one */
        return;
    if (fpdu->cut)
        decoder->totals.account.row[FLOW_ROW_PART].octets += side->have;
    else
        decoder->totals.account.row[FLOW_ROW_IWARP].octets += fpdu->fpdu.octets;
    if (!half->in_sync) {
        half->in_sync = true;
        half->position = side->position;
        half->framing.position = (uint32_t)side->position;
    }
    fpdu->resynced = side->resynced;
    fpdu->segment_octets = piece->segment_octets;
    fpdu->index = half->fpdus;
    side->resynced = false;
    decoder->totals.fpdus++;
    if (side->framing.crc && !fpdu->cut) {
        decoder->totals.crc_checked++;
        decoder->totals.crc_errors += !fpdu->fpdu.crc_ok;
    }
    decoder->totals.marker_errors += fpdu->result == TERM_MPA_MARKER;
    event = flow_event_make(connection, index, FLOW_FPDU, piece->frame, piece->time_ns);
    event.first_frame = first_frame;
    if (first_frame > event.frame) { /* its last octets were captured before its first */
        event.frame = first_frame;
        event.time_ns = decoder->now_ns;
    }
    event.position = side->position;
    flow_rdmap_fpdu(decoder, connection->flow, fpdu, &event);

    side->position += fpdu->fpdu.octets;
    half->position = side->position;
    half->framing.position = (uint32_t)side->position;
    half->fpdus++;
    half->crc_errors += fpdu->result == TERM_MPA_CRC;
    half->marker_errors += fpdu->result == TERM_MPA_MARKER;
    if (event.direction == FLOW_FROM_INITIATOR && connection->flow->reply_fpdu_gate == 0)
        connection->flow->reply_fpdu_gate = piece->frame;

    sensible =
        (side->framing.crc && !fpdu->cut && fpdu->result != TERM_MPA_CRC) ||
        flow_lock_plausible(fpdu->fpdu.ulpdu, fpdu->ulpdu_have, fpdu->fpdu.ulpdu_length, connection->flow->revision);
    side->nonsense = sensible ? 0 : side->nonsense + 1;
}

/* Appends octets of the piece to the unit's buffer up to `to` octets; returns how many. */
static size_t append(struct flow_side *side, const struct flow_piece *piece, size_t used, size_t to)
{
    size_t left = piece->captured - used;
    size_t count = to - side->have < left ? to - side->have : left;

    memcpy(side->buffer + side->have, piece->octets + used, count);
    side->have += count;
    return count;
}

static bool ends_segment(const struct flow_piece *piece, size_t used)
{
    return piece->at_end && used == piece->captured && piece->captured == piece->length;
}

/* An FPDU begins at `used`: parses it in place when it is whole, else begins to gather it. */
static size_t fpdu_begin(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                         const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    const uint8_t *at = piece->octets + used, *p = at;
    size_t left = piece->captured - used;
    struct flow_fpdu fpdu;

    if (side->doubtful)
        flow_lock_doubt(decoder, side, piece, used);
    side->framing.position = (uint32_t)side->position;
    fpdu.result = fpdu_parse(&p, at + left, &side->framing, decoder->scratch, &fpdu.fpdu);
    side->unit_at_start = piece->at_start && used == 0;
    if (fpdu.result != WIRE_MORE) {
        used += fpdu.fpdu.octets;
        fpdu.cut = fpdu.unverified = false;
        fpdu.ulpdu_have = fpdu.fpdu.ulpdu_length;
        fpdu.at_segment_start = side->unit_at_start;
        fpdu.at_segment_end = ends_segment(piece, used);
        fpdu.segments = 1;
        tell_fpdu(decoder, connection, index, &fpdu, piece, piece->frame);
        return fpdu.fpdu.octets;
    }
    side->unit_frame = piece->frame;
    side->unit_segments = 1;
    side->need = fpdu.fpdu.octets;
    if (!flow_mpa_reserve(decoder, side, side->need != 0 ? side->need : MARKER_OCTETS + FPDU_LENGTH_OCTETS)) {
        flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
        return 0;
    }
    return append(side, piece, used, side->have + left);
}

/* More octets of an FPDU that was begun. */
static size_t fpdu_continue(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                            const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    size_t lead = side->framing.markers && marker_distance(side->framing.position) == 0 ? MARKER_OCTETS : 0;
    const uint8_t *p;
    struct flow_fpdu fpdu;
    size_t count = 0;

    if (used == 0)
        side->unit_segments++;
    if (side->need == 0) {
        count = append(side, piece, used, lead + FPDU_LENGTH_OCTETS);
        if (side->have < lead + FPDU_LENGTH_OCTETS)
            return count;
        side->need =
            fpdu_octets(fpdu_get_ULPDU_Length(side->buffer + lead), side->framing.markers, side->framing.position);
        if (!flow_mpa_reserve(decoder, side, side->need)) {
            flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
            return count;
        }
    }
    count += append(side, piece, used + count, side->need);
    if (side->have < side->need)
        return count;
    p = side->buffer;
    fpdu.result = fpdu_parse(&p, p + side->have, &side->framing, decoder->scratch, &fpdu.fpdu);
    fpdu.cut = fpdu.unverified = false;
    fpdu.ulpdu_have = fpdu.fpdu.ulpdu_length;
    fpdu.at_segment_start = side->unit_at_start;
    fpdu.at_segment_end = ends_segment(piece, used + count);
    fpdu.segments = side->unit_segments;
    tell_fpdu(decoder, connection, index, &fpdu, piece, side->unit_frame);
    unit_done(decoder, side);
    return count;
}

static size_t fpdu_take(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                        const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = &connection->side[index];
    size_t count;

    if (side->skip != 0) {
        count = side->skip < piece->captured - used ? (size_t)side->skip : piece->captured - used;
        side->skip -= count;
        decoder->totals.account.row[FLOW_ROW_PART].octets += count;
        return count;
    }
    count = side->have == 0 ? fpdu_begin(decoder, connection, index, piece, used)
                            : fpdu_continue(decoder, connection, index, piece, used);
    if (side->nonsense >= NONSENSE_MAX && side->state == SIDE_FPDU)
        flow_mpa_lose_sync(decoder, connection, index, piece->frame, piece->time_ns);
    return count;
}

/*
 * An FPDU that was begun will not be whole: its headers are told of as far as they are there. `cut`: because the capture
 * cut the frame. Else octets are missing, perhaps far behind its end: with a damaged ULPDU_Length, which only its CRC would
 * have shown, it reaches over FPDUs that were whole.
 */
static void cut_fpdu(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index, bool cut,
                     uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    struct flow_piece piece = {.frame = frame, .time_ns = time_ns};
    struct flow_fpdu fpdu;
    size_t lead = side->framing.markers && marker_distance(side->framing.position) == 0 ? MARKER_OCTETS : 0;
    size_t count = flow_lock_gather(side->buffer, side->have, &side->framing, decoder->scratch, FPDU_SCRATCH_OCTETS);

    memset(&fpdu, 0, sizeof(fpdu));
    fpdu.fpdu.ulpdu_length = (uint16_t)fpdu_get_ULPDU_Length(side->buffer + lead);
    fpdu.fpdu.start = side->buffer;
    fpdu.fpdu.octets = side->need;
    fpdu.fpdu.ulpdu = decoder->scratch + FPDU_LENGTH_OCTETS;
    fpdu.fpdu.bad_marker = SIZE_MAX;
    fpdu.fpdu.pad_zero = true;
    fpdu.fpdu.crc_ok = true;
    fpdu.ulpdu_have = count - FPDU_LENGTH_OCTETS;
    if (fpdu.ulpdu_have > fpdu.fpdu.ulpdu_length)
        fpdu.ulpdu_have = fpdu.fpdu.ulpdu_length;
    fpdu.result = WIRE_MORE;
    fpdu.cut = true;
    fpdu.unverified = !cut && side->framing.crc;
    fpdu.at_segment_start = side->unit_at_start;
    fpdu.segments = side->unit_segments;
    tell_fpdu(decoder, connection, index, &fpdu, &piece, side->unit_frame);
    unit_done(decoder, side);
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

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

    flow_octets(decoder, connection, row_of(side->dead_reason), piece->captured - used);

    if (!side->told_dead)
        flow_undecoded(decoder, connection, index, side->dead_reason, piece->frame, piece->time_ns);
    side->told_dead = true;
    return piece->captured - used;
}

/* The row of octets that are passed over because nothing says how they are framed. */
static enum flow_row row_of_late(const struct flow_connection *connection, const struct flow_side *side)
{
    const struct flow *flow = connection->flow;

    if (connection->foreign && flow == NULL)
        return FLOW_ROW_ULP;
    return flow != NULL && side->start_done && wire_is_error(flow->start[side->kind].result) ? FLOW_ROW_START_MALFORMED
                                                                                             : FLOW_ROW_LATE;
}

size_t flow_mpa_octets(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                       const struct flow_piece *piece)
{
    struct flow_side *side = &connection->side[index];
    size_t used = 0, passed;

    while (used < piece->captured) {
        switch (side->state) {
        case SIDE_FPDU: used += fpdu_take(decoder, connection, index, piece, used); break;
        case SIDE_FRESH:
        case SIDE_START:
            used += flow_start_octets(decoder, connection, index, piece, used);
            if (side->waiting)
                return used;
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

/* Octets are missing among FPDUs. True: the next boundary is known all the same. */
static bool lost_in_fpdus(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index,
                          uint64_t count, bool cut, uint64_t frame, uint64_t time_ns)
{
    struct flow_side *side = &connection->side[index];
    uint64_t taken = 0;

    if (side->skip == 0 && side->have != 0 && side->need == 0) { /* not even its length is there */
        side->position += side->have + count;
        if (side->tentative)
            guess_failed(decoder, connection, index, side->have);
        return side->state != SIDE_FPDU; /* looking already */
    }
    if (side->skip == 0 && side->have != 0) {
        uint64_t missing = side->need - side->have;

        if (side->tentative &&
            !guess_by_length(decoder, connection, index, cut && missing <= count, missing == count, frame, time_ns)) {
            side->position += side->have + count;
            guess_failed(decoder, connection, index, side->have);
            return true;
        }
        cut_fpdu(decoder, connection, index, cut, frame, time_ns);
        side->skip = missing;
    }
    taken = side->skip < count ? side->skip : count;
    side->skip -= taken;
    side->position += count - taken;
    return taken == count && side->nonsense < NONSENSE_MAX;
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
    if (side->half != NULL && cut) {
        side->half->cut += count;
    } else if (side->half != NULL) {
        side->half->gaps++;
        side->half->lost += count;
        decoder->totals.gaps++;
    }
    switch (side->state) {
    case SIDE_FPDU: gap.in_sync = lost_in_fpdus(decoder, connection, index, count, cut, frame, time_ns); break;
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
    if (connection->flow == NULL || (gap.in_sync && (cut || was_tentative)))
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

/* The row of a unit that was begun, at the end. What a close cut short rules on the close saw, and a receiver drops it. */
static enum flow_row row_of_rest(const struct flow_connection *connection, unsigned index)
{
    const struct flow_side *side = &connection->side[index];

    if (connection->flow == NULL)
        return FLOW_ROW_LATE;
    return side->closed || side->reset || connection->side[1 - index].reset ? FLOW_ROW_NOT_ACCEPTED
                                                                            : FLOW_ROW_UNFINISHED;
}

void flow_mpa_end(struct flow_decoder *decoder, struct flow_connection *connection, unsigned index)
{
    struct flow_side *side = &connection->side[index];

    if (connection->flow != NULL && side->state == SIDE_START)
        flow_start_cut(decoder, connection, index, row_of_rest(connection, index), connection->last_frame,
                       connection->last_ns);
    flow_octets(decoder, connection, row_of_rest(connection, index), flow_mpa_partial(side));
    if (connection->flow == NULL)
        return;
    side->half->unfinished = flow_mpa_partial(side);
    if (side->half->fpdus == 0 && side->half->segments != 0 &&
        (side->state == SIDE_LATE || side->state == SIDE_RESYNC || side->state == SIDE_GUESS))
        flow_undecoded(decoder, connection, index, FLOW_REASON_NO_FPDU, connection->last_frame, connection->last_ns);
}
