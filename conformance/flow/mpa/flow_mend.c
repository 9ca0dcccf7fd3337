/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units that are no FPDU by the text, or do not end where they say: what follows them is compared with them, and the
 * mistake is looked for that explains both (flow_reading.c). Without one the FPDU boundary is lost.
 */
#include <string.h>

#include "conformance/flow/mpa/flow_unit.h"

/* How the octets after a whole unit look. */
enum follower {
    FOLLOWER_UNKNOWN, /* too few of them */
    FOLLOWER_NONE,    /* the segment ends there */
    FOLLOWER_GOOD,
    FOLLOWER_BAD, /* no FPDU begins so */
};

static enum follower follower_of(const struct flow_connection *connection, const struct flow_side *side,
                                 const struct fpdu *fpdu, const uint8_t *octets, size_t count, bool exact)
{
    size_t lead = flow_unit_lead_at(side, side->position + fpdu->octets, side->half->fpdus + 1);

    if (count == 0)
        return exact ? FOLLOWER_NONE : FOLLOWER_UNKNOWN;
    if (count < lead + FPDU_LENGTH_OCTETS +
                    2) /* what is left in its segment may be of the unit, if its sender has done right now */
        return exact && !fpdu_reading_is_text(&side->reading) ? FOLLOWER_BAD : FOLLOWER_UNKNOWN;
    return flow_header_faults_at(octets + lead, count - lead, connection->flow->revision) > 1 ? FOLLOWER_BAD
                                                                                              : FOLLOWER_GOOD;
}

/* Both headers have the same bits where the texts have constant ones: a mistake that their sender always makes. */
static bool same_mistake(const uint8_t *ulpdu, const uint8_t *next)
{
    return (ulpdu[0] & 0x3F) == (next[FPDU_LENGTH_OCTETS] & 0x3F) &&
           (ulpdu[1] & 0xF0) == (next[FPDU_LENGTH_OCTETS + 1] & 0xF0);
}

/* The unit of a stream without CRCs is one in spite of its header, or is none. */
static bool is_garbage(const struct flow_connection *connection, const struct fpdu *fpdu, enum follower follower,
                       const uint8_t *next, size_t lead)
{
    unsigned faults =
        flow_header_faults(fpdu->ulpdu, fpdu->ulpdu_length, fpdu->ulpdu_length, connection->flow->revision);

    if (faults <= 1 || (faults == 2 && (follower == FOLLOWER_NONE || follower == FOLLOWER_GOOD)))
        return false;
    return faults > 2 || follower == FOLLOWER_UNKNOWN || fpdu->ulpdu_length < 2 ||
           !same_mistake(fpdu->ulpdu, next + lead);
}

/* Something is wrong with the whole unit, or with where it ends: the readings are to be tried. */
bool flow_unit_is_suspect(const struct flow_connection *connection, const struct flow_side *side, wire_result result,
                          const struct fpdu *fpdu, const uint8_t *next, size_t count, bool exact, bool *end_proven)
{
    enum follower follower;

    *end_proven = side->framing.crc && result != TERM_MPA_CRC;
    if (result != WIRE_OK || side->framing.crc || side->half == NULL)
        return result != WIRE_OK;
    follower = follower_of(connection, side, fpdu, next, count, exact);
    *end_proven = follower == FOLLOWER_GOOD || follower == FOLLOWER_NONE;
    return follower == FOLLOWER_BAD ||
           is_garbage(connection, fpdu, follower, next,
                      flow_unit_lead_at(side, side->position + fpdu->octets, side->half->fpdus + 1));
}

/* The header of a unit without CRC that is not whole yet: no FPDU begins so. */
bool flow_unit_begins_badly(const struct flow_connection *connection, const struct flow_side *side,
                            const uint8_t *octets, size_t count)
{
    size_t lead = flow_unit_lead(side);

    return !side->framing.crc && count >= lead + FPDU_LENGTH_OCTETS + 2 &&
           flow_header_faults_at(octets + lead, count - lead, connection->flow->revision) > 1;
}

/*
 * The buffer begins where an FPDU should, and none does: the one before may have ended elsewhere. True: it is put
 * right.
 */
static bool mend_begin(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct fpdu_reading reading;
    size_t octets;
    int later;

    if (!flow_unit_begins_badly(context->connection, side, side->buffer, side->have) ||
        !flow_reading_before(context, side->buffer, side->have, &reading, &later))
        return false;
    side->before = reading;
    side->reading = reading;
    if (reading.pad == FPDU_PAD_COUNT) /* that was of the FPDU before alone */
        side->reading = (struct fpdu_reading){0};
    side->before_known = false;
    octets = (size_t)(later < 0 ? -later : later);
    if (later > 0) {
        flow_octets(context, FLOW_ROW_IWARP, octets - side->borrowed);
        side->borrowed = 0;
        memmove(side->buffer, side->buffer + octets, side->have - octets);
        side->have -= octets;
        side->position += octets;
        side->unit_at += octets;
        return true;
    }
    if (!flow_mpa_reserve(context->common, side, side->have + octets))
        return false;
    memmove(side->buffer + octets, side->buffer, side->have);
    memcpy(side->buffer, side->last + side->last_count - octets, octets);
    side->have += octets;
    side->borrowed += octets;
    side->position -= octets;
    side->unit_at -= octets;
    side->unit_received = 0; /* of the segment before, which is not known any more */
    return true;
}

/* A whole unit at the buffer's beginning is reported, and what follows it becomes the next. */
static void emit_buffered(const struct flow_context *context, struct found_fpdu *fpdu, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    size_t octets = fpdu->mpa.fpdu.octets;

    fpdu->ulpdu.cut = fpdu->ulpdu.unverified = false;
    fpdu->ulpdu.have = fpdu->mpa.fpdu.ulpdu_length;
    fpdu->mpa.at_segment_start = side->unit_at_start;
    fpdu->mpa.at_segment_end = octets == side->have && piece->at_end;
    fpdu->mpa.here = side->have;
    fpdu->mpa.segments = side->unit_segments;
    flow_unit_emit(context, fpdu, piece, side->unit_frame);
    memmove(side->buffer, side->buffer + octets, side->have - octets);
    side->have -= octets;
    side->need = 0;
    side->unit_at += octets;
    side->unit_received = piece->received;
    side->unit_frame = piece->frame;
    side->unit_at_start = false;
    side->unit_segments = 1;
}

/*
 * The unit has another end than it says, and its CRC, which is wrong there, shows where: the stream goes on after it.
 */
static void find_end_by_crc(const struct flow_side *side, struct fpdu *fpdu)
{
    size_t octets = flow_reading_end_by_crc(side->buffer, side->have);

    if (octets != 0)
        fpdu->octets = octets;
}

/*
 * The buffer holds octets from the beginning of a unit on, perhaps of several: reports those that are whole. Where
 * octets are no FPDU by the text, the mistake is looked for that explains them. False: there is none, and no FPDU
 * begins where one should.
 */
static bool drain_buffer(const struct flow_context *context, const struct flow_piece *piece, bool exact)
{
    struct flow_side *side = context->side;
    bool searched = false; /* for the unit that the buffer begins with */

    while (side->have != 0 && side->state == SIDE_FPDU) {
        struct fpdu_reading reading;
        struct found_fpdu fpdu;
        const uint8_t *p;

        if (flow_reading_may_look(context) && mend_begin(context))
            continue;
        p = side->buffer;
        fpdu.ulpdu.result = flow_unit_parse(context->common, side, &p, p + side->have, &fpdu.mpa.fpdu);
        if (fpdu.ulpdu.result == WIRE_MORE) {
            if (flow_unit_begins_badly(context->connection, side, side->buffer, side->have))
                return false;
            side->need = side->have < flow_unit_lead(side) + FLOW_UNIT_HEADER ? 0 : fpdu.mpa.fpdu.octets;
            return side->need == 0 || flow_mpa_reserve(context->common, side, side->need);
        }
        if (flow_unit_is_suspect(context->connection, side, fpdu.ulpdu.result, &fpdu.mpa.fpdu,
                                 side->buffer + fpdu.mpa.fpdu.octets, side->have - fpdu.mpa.fpdu.octets, exact,
                                 &fpdu.mpa.end_proven) &&
            !searched && flow_reading_may_look(context)) {
            searched = true;
            if (flow_reading_find(context, side->buffer, side->have, exact, &reading)) {
                side->reading = reading;
                continue;
            }
            p = side->buffer; /* the search has used the decoder's scratch octets */
            fpdu.ulpdu.result = flow_unit_parse(context->common, side, &p, p + side->have, &fpdu.mpa.fpdu);
            if (fpdu.ulpdu.result == TERM_MPA_CRC)
                find_end_by_crc(side, &fpdu.mpa.fpdu);
            else if (flow_unit_begins_badly(context->connection, side, side->buffer, side->have))
                return false;
        }
        emit_buffered(context, &fpdu, piece);
        searched = false;
    }
    return true;
}

/* Takes the whole rest of the piece into the buffer, and reports what is there; returns how many octets were taken. */
size_t flow_unit_append_rest(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t left = piece->captured - used, over;

    if (!flow_mpa_reserve(context->common, side, side->have + left)) {
        flow_mpa_lose_sync(context);
        return 0;
    }
    (void)flow_unit_append(side, piece, used, side->have + left);
    if (drain_buffer(context, piece, piece->at_end && piece->captured == piece->length)) {
        if (side->have == 0)
            flow_mpa_unit_done(context->common, side);
        return left;
    }
    /* What is left is looked through for an FPDU, as far as it is of this piece. */
    over = side->have - side->borrowed < left ? side->have - side->borrowed : left;
    side->have -= over + side->borrowed;
    side->position += side->have + side->borrowed;
    side->borrowed = 0;
    flow_mpa_lose_sync(context);
    return left - over;
}

void flow_fpdu_end(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct flow_context last = flow_context_in(context, context->connection->last_frame, context->connection->last_ns);
    struct flow_piece piece = {.frame = last.frame, .time_ns = last.time_ns, .at_end = true};
    struct fpdu_reading reading;

    if (side->state != SIDE_FPDU || side->skip != 0 || side->have == 0 || !flow_reading_may_look(context))
        return;
    if (flow_reading_at_end(side, side->buffer, side->have, &reading)) {
        side->half->tcp->last_reading = reading;
        side->half->tcp->last_length = side->before_length;
        flow_octets(context, FLOW_ROW_IWARP, side->have - side->borrowed);
        side->borrowed = 0;
        side->position += side->have;
        flow_mpa_unit_done(context->common, side);
    } else if (flow_reading_find(context, side->buffer, side->have, true, &reading)) {
        side->reading = reading;
        (void)drain_buffer(&last, &piece, true);
    }
}
