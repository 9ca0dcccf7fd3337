/* SPDX-License-Identifier: BSD-2-Clause */
/* MPA start-up frames (RFC 5044 7.1), and what both sides' frames agree upon. */
#include "conformance/flow/mpa/flow_mpa_internal.h"
#include "conformance/flow/mpa/flow_streaming.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_PREFIX = 7 }; /* "MPA ID ": what a bad Key has to share with a good one to be taken for a start-up frame */

/* ---- what both start-up frames agree upon ------------------------------------------------------------------------ */

bool flow_mpa_blocked(const struct flow_connection *connection, unsigned index)
{
    const struct flow_side *side = &connection->side[index];

    return (side->state == SIDE_WAIT || side->waiting) && !side->impatient && !connection->side[1 - index].start_done;
}

void flow_mpa_go_on(struct flow_connection *connection, unsigned index)
{
    struct flow_side *side = &connection->side[index];

    side->impatient = true;
    side->waiting = false;
    if (side->state == SIDE_WAIT)
        side->state = side->lost_in_wait ? SIDE_LATE : SIDE_GUESS;
}

void flow_side_ends(struct flow_side *side, enum flow_reason reason)
{
    side->state = SIDE_DEAD;
    side->dead_reason = reason;
    side->dead_reported = false;
}

/* Both frames are there and good: RFC 5044 7.1.1 for M and C, appendix C for Rev 0, where both are always on. */
static void agree(struct flow_connection *connection)
{
    struct flow *flow = connection->flow;
    const struct iwarp_mpa_start *request = &flow->tcp->start[IWARP_MPA_REQUEST].frame;
    const struct iwarp_mpa_start *reply = &flow->tcp->start[IWARP_MPA_REPLY].frame;
    bool rdmac = reply->revision == MPA_REV_RDMAC;

    flow->revision = reply->revision;
    flow->rejected = reply->rejected;
    flow->full_operation = !reply->rejected;
    flow->tcp->crc = request->crc || reply->crc || rdmac;
    for (unsigned i = 0; i < 2; i++) {
        struct flow_side *side = &connection->side[i];
        struct flow_half *half = side->half;

        if (flow->rejected) {
            flow_side_ends(side, FLOW_REASON_REJECTED);
            continue;
        }
        if (side->state == SIDE_DEAD &&
            side->dead_reason == FLOW_REASON_REJECTED) { /* which the second Reply takes back */
            side->state = side->dead_reported ? SIDE_LATE : SIDE_WAIT;
            side->position = 0;
        }
        if (side->start_lost || side->state == SIDE_LATE)
            continue;
        side->framing.crc = flow->tcp->crc;
        side->framing.markers =
            rdmac || (flow_direction_of(connection, i) == FLOW_FROM_INITIATOR ? reply->markers : request->markers);
        if (side->state == SIDE_WAIT || side->state == SIDE_GUESS) {
            side->state = side->lost_in_wait ? SIDE_RESYNC : SIDE_FPDU;
            half->tcp->in_sync = !side->lost_in_wait;
        }
        half->tcp->framing_known = true;
        half->start_known = true;
        half->tcp->framing = side->framing;
        half->tcp->framing.position = (uint32_t)side->position;
        half->position = side->position;
    }
}

/* The frame's octets are gone after its event. */
static void keep_private(struct flow_start *kept)
{
    const uint8_t *octets = kept->frame.private_data;

    kept->private_copy = NULL;
    kept->frame.private_data = NULL;
    if (octets == NULL || kept->frame.private_octets == 0)
        return;
    kept->private_copy = malloc(kept->frame.private_octets);
    if (kept->private_copy == NULL) {
        out_of_memory_note();
        return;
    }
    memcpy(kept->private_copy, octets, kept->frame.private_octets);
    kept->frame.private_data = kept->private_copy;
}

/* The frame's consequences for the flow. */
static void apply_start(const struct flow_context *context, const struct flow_start *start)
{
    struct flow *flow = context->connection->flow;
    struct flow_start *kept = &flow->tcp->start[start->frame.kind];

    free(kept->private_copy);
    *kept = *start;
    kept->octets = NULL;
    keep_private(kept);
    context->side->start_done = true;
    if (!flow->tcp->start[IWARP_MPA_REPLY].seen)
        flow->revision = start->frame.revision;
    if (flow->tcp->start[IWARP_MPA_REQUEST].seen && flow->tcp->start[IWARP_MPA_REPLY].seen) {
        if (flow->tcp->start[IWARP_MPA_REQUEST].result == WIRE_OK &&
            flow->tcp->start[IWARP_MPA_REPLY].result == WIRE_OK && !flow->tcp->unmatched)
            agree(context->connection);
        else
            for (unsigned i = 0; i < 2; i++)
                if (context->connection->side[i].state == SIDE_WAIT)
                    flow_mpa_go_on(context->connection, i);
    }
}

/* The greatest sequence number of the side that was captured, and one more; its start-up frame is. */
static uint64_t highest(const struct flow_side *side, const struct flow_start *start)
{
    uint64_t captured = side->waiting_end != 0 ? side->waiting_end : side->next;

    return captured > start->end ? captured : start->end;
}

/* The SYN, ACK answers the SYN, and both start-up frames are what follows these. */
static bool begin_with_syns(const struct flow_side *initiator, const struct flow_side *responder,
                            const struct flow_start *request, const struct flow_start *reply)
{
    return initiator->syn.seen && responder->syn.seen && responder->syn.ack &&
           responder->syn.acked == initiator->syn.isn + 1 && request->octet == initiator->floor &&
           reply->octet == responder->floor;
}

/*
 * Request and Reply are of one connection: each side had received what the other had sent by then, and no more. Where
 * the SYNs of another life of the addresses and ports were not captured, their numbers decide.
 */
static bool match(const struct flow_connection *connection, const struct flow_start *request,
                  const struct flow_start *reply)
{
    const struct flow_side *initiator = &connection->side[connection->swap];
    const struct flow_side *responder = &connection->side[1 - connection->swap];

    if (begin_with_syns(initiator, responder, request, reply))
        return true;
    return reply->received >= request->octet && reply->received <= highest(initiator, request) &&
           request->received <= highest(responder, reply) &&
           (request->received >= reply->octet || (!responder->has_holes && request->received >= responder->floor));
}

/* What a retransmission is compared with. */
static void keep_sent(struct flow_side *side, size_t octets)
{
    struct flow_sent *sent = flow_sent_add(side->half);

    if (sent == NULL)
        return;
    *sent = (struct flow_sent){.at = side->unit_at, .crc = (uint32_t)octets, .flags = FLOW_SENT_START};
    sent->head_octets = (uint8_t)(octets < FLOW_SENT_HEAD ? octets : FLOW_SENT_HEAD);
    memcpy(sent->head, side->buffer, sent->head_octets);
}

static void emit_start(const struct flow_context *context, struct iwarp_mpa_start *frame, wire_result result,
                       size_t octets, size_t trailing, const struct flow_piece *last)
{
    struct flow_side *side = context->side;
    struct flow *flow = context->connection->flow;
    struct flow_start start = {
        .seen = true,
        .frame = *frame,
        .result = result,
        .first_octet_frame = side->unit_frame,
        .frame_number = last->frame,
        .time_ns = last->time_ns,
        .octet = side->unit_at,
        .end = side->unit_at + octets,
        .received = side->unit_received,
        .octets = side->buffer,
        .octet_count = octets,
        .trailing = trailing,
        .trailing_received = last->received,
    };
    struct flow_event event = flow_event_make(context, FLOW_MPA_START);

    if (side->unit_frame > last->frame) { /* its last octets were captured before its first */
        event.frame = start.frame_number = side->unit_frame;
        event.time_ns = start.time_ns = context->common->now_ns;
    }
    if (frame->kind == IWARP_MPA_REPLY ? flow->tcp->start[IWARP_MPA_REQUEST].seen
                                       : flow->tcp->start[IWARP_MPA_REPLY].seen)
        flow->tcp->unmatched = frame->kind == IWARP_MPA_REPLY
                                   ? !match(context->connection, &flow->tcp->start[IWARP_MPA_REQUEST], &start)
                                   : !match(context->connection, &start, &flow->tcp->start[IWARP_MPA_REPLY]);
    event.start = &start;
    event.first_frame = side->unit_frame;
    event.octet = side->unit_at;
    event.end = start.end;
    event.received = side->unit_received;
    context->common->totals.start_frames++;
    flow_event_send(context->common, &event);
    keep_sent(side, octets);
    side->state = result == WIRE_OK ? SIDE_WAIT : SIDE_LATE;
    side->position = 0;
    apply_start(context, &start);
    if (wire_is_error(result))
        flow_undecoded(context, FLOW_REASON_START_MALFORMED);
}

/* ---- start-up frames --------------------------------------------------------------------------------------------- */

/*
 * After other octets of the same stream: a header of the text's values, and nothing after the frame in its segment,
 * since its sender waits for an answer. Else it may be a text about MPA, or a capture on its way.
 */
static bool stands_alone(const uint8_t *octets, size_t count, const struct flow_piece *piece)
{
    return count >= MPA_START_OCTETS && (octets[16] & 0x0F) == 0 && octets[17] <= MPA_REV_2 &&
           octets_get16(octets + 18) <= IWARP_MPA_PRIVATE_DATA_MAX &&
           (count > MPA_START_OCTETS + (size_t)octets_get16(octets + 18)
                ? false
                : count < MPA_START_OCTETS + (size_t)octets_get16(octets + 18) ||
                      (piece->at_end && piece->captured == piece->length));
}

/* Whether the octets held begin a start-up frame: 1 yes, 0 no, -1 too few to decide. Sets side->kind. */
static int looks_like_start(struct flow_side *side, const struct flow_piece *piece)
{
    size_t prefix = side->inside ? MPA_KEY_OCTETS : KEY_PREFIX;
    size_t count = side->have < prefix ? side->have : prefix;
    bool reply = side->have > FLOW_KEY_KIND && side->buffer[FLOW_KEY_KIND] == MPA_KEY_REPLY[FLOW_KEY_KIND];

    if (side->expects && !side->inside)
        return 1;
    if (memcmp(side->buffer, reply ? MPA_KEY_REPLY : MPA_KEY_REQUEST, count) != 0)
        return 0;
    if (side->have <= FLOW_KEY_KIND || (side->inside && side->have < MPA_START_OCTETS))
        return -1;
    if (side->inside && (!stands_alone(side->buffer, side->have, piece) ||
                         (side->expects && side->kind != (reply ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST))))
        return 0;
    side->kind = reply ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST;
    return 1;
}

/* No start-up frame begins the piece, and one ends it. */
static bool has_key_later(const struct flow_side *side, const struct flow_piece *piece)
{
    const uint8_t *octets = side->buffer;
    size_t count = side->have, at;

    if (side->inside || count != piece->captured || memcmp(octets, MPA_KEY_REQUEST, KEY_PREFIX) == 0)
        return false;
    at = flow_start_key(octets, count);
    return at < count && mpa_start_kind_of(octets + at, count - at) == (int)side->kind &&
           stands_alone(octets + at, count - at, piece);
}

/*
 * The stream's first octets have the form of a start-up frame, but for the Key: whether they are one the other side's
 * answer decides.
 */
static bool is_shaped(const struct flow_side *side, const struct flow_piece *piece)
{
    const uint8_t *octets = side->buffer;

    return side->have == piece->captured && piece->captured == piece->length && piece->at_start && piece->at_end &&
           side->have >= MPA_START_OCTETS && (octets[16] & 0x0F) == 0 && octets[17] <= MPA_REV_2 &&
           side->have == MPA_START_OCTETS + (size_t)octets_get16(octets + 18);
}

/*
 * A Reply answers a Request, which its sender has acknowledged (RFC 5044 7.1.2): what the opener of the connection
 * sends first, with nothing acknowledged but the SYN, is a Request with the other Key. From the listener it is a Reply
 * too early.
 */
static bool answers_nothing(const struct flow_side *side, const struct flow_side *other)
{
    return side->syn.seen && !side->syn.ack && other->syn.seen && side->unit_received == other->floor;
}

/* This side's frame has a kind: so the other's has. */
bool flow_start_roles(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct flow_side *other = flow_other_side(context);

    if (!flow_recognise(context, side->kind == IWARP_MPA_REQUEST ? context->index : 1 - context->index, true))
        return false;
    side->expects = true;
    other->expects = true;
    other->kind = side->kind == IWARP_MPA_REQUEST ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST;
    return true;
}

/* The other side has still to say whether the side's first octets were a start-up frame. */
static bool may_be_answered(const struct flow_context *context)
{
    const struct flow_side *other = flow_other_side(context);

    return other->state == SIDE_FRESH || other->state == SIDE_START;
}

/*
 * The octets held are no start-up frame: the ULP's, in which one may begin later. Those of the piece are looked
 * through; returns how many of these are passed over.
 */
static size_t begin_streaming(const struct flow_context *context, size_t before)
{
    struct flow_side *side = context->side, *other = flow_other_side(context);
    size_t passed = side->inside && before == 0; /* the Key that stood here */

    side->state = SIDE_STREAMING;
    side->streamed = side->streamed || !side->inside;
    flow_octets(context, FLOW_ROW_ULP, before + passed);
    flow_start_look(context->connection, side->buffer, side->have);
    flow_settle_foreign(context->connection);
    flow_mpa_release(context->common, side);
    side->waiting = side->shaped = side->inside = false;
    if (other->waiting && other->shaped) /* for nothing */
        flow_mpa_go_on(context->connection, 1 - context->index);
    return passed;
}

/*
 * The first octets of a stream, `before` of them held already: do they begin a start-up frame? False: not, or not yet;
 * then *taken octets of the piece were.
 */
static bool begin_start(const struct flow_context *context, size_t before, const struct flow_piece *piece,
                        size_t *taken)
{
    struct flow_side *side = context->side;
    struct flow_side *other = flow_other_side(context);
    int looks = looks_like_start(side, piece);

    *taken = 0;
    if (looks > 0 && before == 0 && has_key_later(side, piece)) { /* octets of the ULP that were on their way */
        side->state = SIDE_STREAMING;
        flow_mpa_release(context->common, side);
        return false;
    }
    if (looks < 0) {
        *taken = side->have - before;
        return false;
    }
    if (looks == 0 && before == 0 && !side->inside && is_shaped(side, piece) && may_be_answered(context)) {
        if (other->waiting && other->have == 0 && other->kind == IWARP_MPA_REPLY && !other->shaped) {
            side->kind = IWARP_MPA_REQUEST; /* the Reply that waits for it says so */
            looks = 1;
        } else if (!side->impatient && !other->waiting) {
            side->have = before;
            side->waiting = side->shaped = true;
            return false;
        }
    }
    if (looks == 0) {
        *taken = begin_streaming(context, before);
        return false;
    }
    if (other->shaped && other->waiting) { /* it was a start-up frame, whatever its Key is */
        other->expects = true;
        other->kind = side->kind == IWARP_MPA_REQUEST ? IWARP_MPA_REPLY : IWARP_MPA_REQUEST;
        other->waiting = false;
    }
    if (side->kind == IWARP_MPA_REPLY && !side->expects && answers_nothing(side, other))
        side->kind = IWARP_MPA_REQUEST;
    if (side->kind == IWARP_MPA_REPLY && !other->start_done && other->syn.seen && !side->impatient &&
        (other->state == SIDE_FRESH || other->state == SIDE_START)) {
        side->have = before; /* the frames of the two directions came in another order than they were sent */
        side->waiting = true;
        return false;
    }
    if (!flow_start_roles(context)) {
        flow_octets(context, FLOW_ROW_MEMORY, before);
        flow_mpa_release(context->common, side);
        flow_side_ends(side, FLOW_REASON_NO_MEMORY);
        return false;
    }
    if (side->inside)
        flow_undecoded(context, FLOW_REASON_STREAMING);
    side->state = SIDE_START;
    side->waiting = side->inside = false;
    return true;
}

/* Takes octets of a start-up frame that begins at the stream's first octet (or where its Key was seen). */
size_t flow_start_octets(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    size_t left = piece->captured - used, before = side->have;
    size_t count = left < MPA_START_MAX - before ? left : MPA_START_MAX - before;
    struct iwarp_mpa_start frame;
    const uint8_t *p;
    wire_result result;
    size_t taken, judged;

    if (!flow_mpa_reserve(context->common, side, MPA_START_MAX)) {
        flow_side_ends(side, FLOW_REASON_NO_MEMORY);
        return 0;
    }
    if (before == 0) {
        side->unit_frame = piece->frame;
        side->unit_at = piece->at + used;
        side->unit_received = piece->received;
    }
    memcpy(side->buffer + before, piece->octets + used, count);
    side->have += count;
    if (side->state == SIDE_FRESH && !begin_start(context, before, piece, &taken))
        return taken;
    p = side->buffer;
    result = mpa_start_parse(&p, side->buffer + side->have, side->kind, &frame);
    if (result == WIRE_MORE)
        return count;
    taken = result == WIRE_OK ? (size_t)(p - side->buffer) : side->have;
    judged = result == WIRE_OK || taken < MPA_START_OCTETS ? taken : MPA_START_OCTETS;
    flow_octets(context, FLOW_ROW_IWARP, judged);
    if (result != WIRE_OK) /* where such a frame ends nobody knows */
        flow_octets(context, FLOW_ROW_START_MALFORMED, before + left - judged);
    emit_start(context, &frame, result, taken, result == WIRE_OK ? left - (taken - before) : 0, piece);
    flow_mpa_release(context->common, side);
    return result == WIRE_OK ? taken - before : left;
}

/* The octets after this will never come: reports the frame as far as it is there. */
void flow_start_cut(const struct flow_context *context, enum flow_row row)
{
    struct flow_side *side = context->side;
    const uint8_t *p = side->buffer;
    struct iwarp_mpa_start start;

    if (side->state == SIDE_START) {
        struct flow_piece last = {.frame = context->frame, .time_ns = context->time_ns};

        mpa_start_parse(&p, side->buffer + side->have, side->kind, &start);
        flow_octets(context, row, side->have);
        emit_start(context, &start, WIRE_MORE, side->have, 0, &last);
    } else {
        flow_octets(context, FLOW_ROW_LATE, side->have);
    }
    side->state = SIDE_LATE;
    side->waiting = false;
    flow_mpa_release(context->common, side);
}

bool flow_start_repeated(const struct flow_context *context, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    struct flow_start *reply = &context->connection->flow->tcp->start[IWARP_MPA_REPLY];
    int kind = mpa_start_kind_of(piece->octets, piece->captured);

    if (kind < 0 || (int)side->kind != kind)
        return false;
    side->state = SIDE_FRESH;
    side->start_done = false;
    if (kind == IWARP_MPA_REQUEST) { /* the ULP begins anew (RFC 5044 7.1): the Reply to it is awaited */
        free(reply->private_copy);
        *reply = (struct flow_start){0};
        flow_other_side(context)->start_done = false;
    }
    return true;
}
