/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pieces in stream order. A piece waits for one of three things:
 *
 *     octets before it: a hole. It is given up when the receiver has acknowledged what lies after it (so it had those
 *         octets, and the capture does not), or when too much waits and the receiver is silent.
 *     the other side's start-up frame, which says how the octets are framed (flow_mpa_blocked()).
 *     octets of the other side that the piece's segment acknowledges: they were there first, however late the capture
 *     has
 *         them (flow_queue_ahead()). Two taps, or a frame that came late, put the directions out of step.
 *
 * Each wait has a limit in time and room; what is given up for it is noted where rules can see it.
 */
#include "conformance/flow/ddp/flow_ddp.h"
#include "conformance/flow/tcp/flow_tcp_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNKS_MAX = 512,            /* queued for one direction */
    HOLE_CHUNKS = 8,             /* chunks after a hole that the receiver has acknowledged: it will not be filled */
    HOLE_NS = 100 * 1000 * 1000, /* and the time after which */
    WAIT_CHUNKS = 128,           /* chunks held for the other side's start-up frame */
    WAIT_OCTETS = 64 << 10,
    REQUEST_CHUNKS = 4,            /* the same for a Reply that waits for its Request */
    ORDER_CHUNKS = CHUNKS_MAX / 2, /* held for octets of the other side */
    ORDER_NS = 100 * 1000 * 1000,
};

/* Octets of the side that have come in order, from `at` on: how far; negative when they came before. */
static int64_t ahead_of(const struct flow_side *side, uint64_t at)
{
    return (int64_t)(at - side->next);
}

static bool is_older(const struct flow_common *common, uint64_t since_ns, int64_t limit_ns)
{
    return (int64_t)(common->now_ns - since_ns) > limit_ns;
}

/* ---- the queue of what came too early ---------------------------------------------------------------------------- */

/* The last chunk that waits is another one; NULL: none waits. */
static void set_tail(struct flow_side *side, struct flow_chunk *tail)
{
    side->tcp->queue_tail = tail;
    side->waiting_end = tail != NULL ? tail->piece.at + tail->piece.length : 0;
}

static void free_chunk(struct flow_common *common, struct flow_side *side, struct flow_chunk *chunk)
{
    side->tcp->queued -= chunk->piece.captured;
    side->tcp->queued_chunks--;
    side->octets.held -= chunk->piece.length;
    common->held -= chunk->piece.captured + sizeof(*chunk);
    free(chunk);
}

/* Takes the first one out; the caller frees it. */
static struct flow_chunk *pop(const struct flow_common *common, struct flow_side *side)
{
    struct flow_chunk *chunk = side->tcp->queue;

    side->tcp->queue = chunk->next;
    if (side->tcp->queue == NULL)
        set_tail(side, NULL);
    side->tcp->hole_ns = common->now_ns;
    return chunk;
}

void flow_tcp_release(struct flow_common *common, struct flow_side *side)
{
    while (side->tcp->queue != NULL)
        free_chunk(common, side, pop(common, side));
}

struct flow_piece flow_piece_part(const struct flow_piece *piece, size_t from, size_t to)
{
    struct flow_piece part = *piece;
    size_t captured_to = to < piece->captured ? to : piece->captured;

    part.captured = captured_to > from ? captured_to - from : 0;
    part.octets = part.captured > 0 ? piece->octets + from : piece->octets;
    part.length = to - from;
    part.at += from;
    part.at_start = piece->at_start && from == 0;
    part.at_end = piece->at_end && to == piece->length;
    return part;
}

/* Puts a copy of the piece before `*link`'s chunk. False: there is no memory for it. */
static bool insert_chunk(struct flow_common *common, struct flow_side *side, struct flow_chunk **link,
                         const struct flow_piece *piece, bool beyond)
{
    struct flow_chunk *chunk = malloc(sizeof(*chunk) + piece->captured);

    if (chunk == NULL)
        return false;
    chunk->beyond = beyond;
    chunk->piece = *piece;
    memcpy(chunk->octets, piece->octets, piece->captured);
    chunk->piece.octets = chunk->octets;
    if (side->tcp->queue == NULL)
        side->tcp->hole_ns = common->now_ns;
    chunk->next = *link;
    *link = chunk;
    if (chunk->next == NULL)
        set_tail(side, chunk);
    side->tcp->queued += piece->captured;
    side->tcp->queued_chunks++;
    side->octets.held += piece->length;
    common->held += piece->captured + sizeof(*chunk);
    return true;
}

/* Takes out the chunk at `*link`, for which the receiver had no room. */
static void drop_chunk(const struct flow_context *context, struct flow_chunk **link)
{
    struct flow_side *side = context->side;
    struct flow_chunk *chunk = *link;

    *link = chunk->next;
    flow_tcp_refuse(context, FLOW_REFUSED_WINDOW, &chunk->piece);
    free_chunk(context->common, side, chunk);
    for (chunk = side->tcp->queue; chunk != NULL && chunk->next != NULL;)
        chunk = chunk->next;
    set_tail(side, chunk);
}

/* The chunk came before the receiver had room for it, and no acknowledgment covers it: it has to come again. */
static bool is_unaccepted(const struct flow_context *context, const struct flow_chunk *chunk)
{
    return chunk->beyond && context->side->acked <= chunk->piece.at && flow_tcp_edge(context) != UINT64_MAX;
}

void flow_queue_add(const struct flow_context *context, const struct flow_piece *piece)
{
    struct flow_side *side = context->side;
    struct flow_chunk **link = &side->tcp->queue;
    bool beyond = piece->at > side->next && piece->at >= flow_tcp_edge(context);
    size_t from = 0;

    if (side->tcp->queue_tail != NULL &&
        piece->at >= side->tcp->queue_tail->piece.at + side->tcp->queue_tail->piece.length)
        link = &side->tcp->queue_tail->next;
    while (from < piece->length) {
        struct flow_chunk *chunk = *link;
        uint64_t at = piece->at + from;
        struct flow_piece part;
        size_t to = piece->length;

        if (chunk != NULL && chunk->piece.at + chunk->piece.length <= at) {
            link = &chunk->next;
            continue;
        }
        if (chunk != NULL && chunk->piece.at <= at) { /* held already, as far as that chunk reaches */
            uint64_t end = chunk->piece.at + chunk->piece.length;

            to = end - at < to - from ? from + (size_t)(end - at) : to;
            part = flow_piece_part(piece, from, to);
            if (!beyond && is_unaccepted(context, chunk) && flow_retransmission_differs(chunk, &part)) {
                drop_chunk(context, link);
                continue;
            }
            chunk->beyond = chunk->beyond && beyond;
            flow_retransmission_held(context, chunk, &part);
            from = to;
            continue;
        }
        if (chunk != NULL && chunk->piece.at - at < to - from)
            to = from + (size_t)(chunk->piece.at - at);
        part = flow_piece_part(piece, from, to);
        if (side->tcp->queued_chunks < CHUNKS_MAX * 2 && insert_chunk(context->common, side, link, &part, beyond))
            link = &(*link)->next;
        else
            flow_tcp_refuse(context,
                            side->tcp->queued_chunks < CHUNKS_MAX * 2 ? FLOW_REFUSED_MEMORY : FLOW_REFUSED_ROOM, &part);
        from = to;
    }
}

/* ---- delivery ---------------------------------------------------------------------------------------------------- */

void flow_queue_rest(const struct flow_context *context, const struct flow_piece *piece, size_t used)
{
    struct flow_side *side = context->side;
    uint64_t missing = piece->length - piece->captured;

    if (used < piece->captured) {
        struct flow_piece rest = flow_piece_part(piece, used, piece->length);

        flow_queue_add(context, &rest);
        return;
    }
    side->next += missing;
    side->octets.cut += missing;
    flow_mpa_lost(context, missing, true);
}

bool flow_queue_ahead(const struct flow_context *context, uint64_t received)
{
    const struct flow_side *side = context->side, *other = flow_other_side(context);

    /* When the other side waits, it waits for a start-up frame of this side. */
    return received > other->next && other->seq_known && (side->tcp->waived == 0 || other->next >= side->tcp->waived) &&
           !flow_mpa_blocked(context->connection, 1 - context->index);
}

static bool is_full(const struct flow_common *common, const struct flow_side *side)
{
    return side->tcp->queued_chunks > CHUNKS_MAX || side->tcp->queued > common->config.half_buffer_max ||
           common->held > common->config.buffer_max;
}

/* The receiver has acknowledged octets after the hole in front of the queue: it had those in the hole. */
static bool is_confirmed(const struct flow_side *side)
{
    return side->acked_known && side->acked >= side->tcp->queue->piece.at;
}

/* More waits than there is room for, and the receiver says that it waits, too: what lies farthest ahead goes. */
static void make_room(const struct flow_context *context)
{
    struct flow_side *side = context->side;

    while (is_full(context->common, side) && side->tcp->queue->next != NULL) {
        struct flow_chunk *before = side->tcp->queue, *last;

        while (before->next->next != NULL)
            before = before->next;
        last = before->next;
        before->next = NULL;
        set_tail(side, before);
        flow_tcp_refuse(context, FLOW_REFUSED_ROOM, &last->piece);
        free_chunk(context->common, side, last);
    }
}

/* Whether octets missing in front of the queue will not come any more. */
static bool hole_is_lost(const struct flow_context *context)
{
    struct flow_side *side = context->side;

    if (is_full(context->common, side)) {
        if (is_confirmed(side) || flow_tcp_edge(context) == UINT64_MAX)
            return true;
        make_room(context);
        return false;
    }
    return is_confirmed(side) &&
           (side->tcp->queued_chunks >= HOLE_CHUNKS || is_older(context->common, side->tcp->hole_ns, HOLE_NS));
}

static void give_up_hole(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    const struct flow_chunk *chunk = side->tcp->queue;
    struct flow_context after = flow_context_in(context, chunk->piece.frame, chunk->piece.time_ns);
    uint64_t missing = chunk->piece.at - side->next;

    flow_retransmission_in_hole(side, side->next, chunk->piece.at);
    side->next = chunk->piece.at;
    side->octets.lost += missing;
    flow_mpa_lost(&after, missing, false);
}

static bool waited_for_order(const struct flow_common *common, const struct flow_side *side)
{
    return side->tcp->queued_chunks >= ORDER_CHUNKS || side->tcp->queued > common->config.half_buffer_max / 2 ||
           common->held > common->config.buffer_max || is_older(common, side->tcp->hole_ns, ORDER_NS);
}

static bool waited_for_start(const struct flow_common *common, const struct flow_side *side,
                             const struct flow_side *other)
{
    if (common->held > common->config.buffer_max)
        return true;
    if (side->waiting)
        return side->tcp->queued_chunks >= REQUEST_CHUNKS;
    if (!other->seq_known && common->config.one_way_segments != 0 &&
        side->tcp->segments >= common->config.one_way_segments)
        return true;
    if (other->seq_known && side->tcp->queue->piece.received > other->next) /* it is on its way */
        return waited_for_order(common, side);
    return side->tcp->queued_chunks >= WAIT_CHUNKS || side->tcp->queued >= WAIT_OCTETS;
}

/*
 * The other side's octets up to `received` will not come, or too late. A single octet that no unit waits for is the
 * FIN's sequence number.
 */
static void give_up_order(const struct flow_context *context, uint64_t received)
{
    struct flow_side *side = context->side, *other = flow_other_side(context);

    side->tcp->waived = received;
    if (received - other->next == 1 && other->have == 0 && other->tcp->queue == NULL)
        return;
    context->connection->unordered = true;
    if (context->connection->flow != NULL)
        flow_rdmap_unordered(context->connection->flow);
}

/* The first one that waits has nothing to wait for any more. */
static void deliver_first(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct flow_chunk *chunk = pop(context->common, side);
    uint64_t before = side->next - chunk->piece.at;

    if (before > chunk->piece.length)
        before = chunk->piece.length;
    side->octets.again += before;
    flow_octets(context, FLOW_ROW_AGAIN, before < chunk->piece.captured ? before : chunk->piece.captured);
    if (before < chunk->piece.length) {
        struct flow_piece part = flow_piece_part(&chunk->piece, (size_t)before, chunk->piece.length);

        struct flow_context place = flow_context_in(context, part.frame, part.time_ns);

        flow_queue_deliver(&place, &part);
    }
    free_chunk(context->common, side, chunk);
}

void flow_queue_close(const struct flow_context *context, bool reset, bool with_data)
{
    struct flow_side *side = context->side;
    struct flow_close close = {reset, 0, false, with_data};
    struct flow_event event = flow_event_make(context, FLOW_TCP_CLOSE);

    if (context->connection->flow != NULL && !reset)
        flow_fpdu_end(context);
    close.partial_fpdu = flow_mpa_partial(side);
    close.unsound = close.partial_fpdu != 0 && flow_lock_unsound(context);
    event.close = &close;
    event.position = side->position;
    if (side->half != NULL && reset)
        side->half->tcp->rst_seen = true;
    else if (side->half != NULL)
        side->half->tcp->fin_seen = true;
    flow_event_send(context->common, &event);
}

/* The stream ends with its FIN; octets that are missing in front of it will not come. */
static void end_stream(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct flow_context fin = flow_context_in(context, side->tcp->fin_frame, side->tcp->fin_ns);
    uint64_t missing = side->tcp->fin_at - side->next;

    side->closed = true;
    if (ahead_of(side, side->tcp->fin_at) > 0) {
        flow_retransmission_in_hole(side, side->next, side->tcp->fin_at);
        side->next = side->tcp->fin_at;
        side->octets.lost += missing;
        flow_mpa_lost(&fin, missing, false);
    }
    side->next = side->tcp->fin_at + 1; /* the FIN has a number, too */
    flow_queue_close(&fin, false, side->tcp->fin_with_data);
}

/* Delivers what need not wait any more. */
static void drain(const struct flow_context *context)
{
    struct flow_side *side = context->side;

    while (side->tcp->queue != NULL) {
        uint64_t received = side->tcp->queue->piece.received;

        if (flow_mpa_blocked(context->connection, context->index)) {
            if (!waited_for_start(context->common, side, flow_other_side(context)))
                return;
            flow_mpa_go_on(context->connection, context->index);
        }
        if (ahead_of(side, side->tcp->queue->piece.at) > 0) {
            if (!hole_is_lost(context))
                return;
            give_up_hole(context);
        }
        if (is_unaccepted(context, side->tcp->queue))
            return;
        if (flow_queue_ahead(context, received)) {
            if (!waited_for_order(context->common, side))
                return;
            give_up_order(context, received);
        }
        deliver_first(context);
    }
    if (side->fin_known && !side->closed && side->next == side->tcp->fin_at)
        end_stream(context);
}

/* Each side's octets can set the other's free. */
void flow_queue_drain(const struct flow_context *first)
{
    struct flow_context second = flow_context_other(first);
    const struct flow_side *one = first->side, *two = second.side;
    uint64_t before;

    do {
        before = one->next + two->next;
        drain(first);
        drain(&second);
    } while (one->next + two->next != before && (one->tcp->queue != NULL || two->tcp->queue != NULL));
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Gives up the hole in front of a side's queue; octets that the receiver has no room for are no proof of one. */
static bool force_hole(const struct flow_context *context)
{
    struct flow_side *side = context->side;
    struct flow_chunk *chunk = side->tcp->queue;

    if (chunk == NULL)
        return false;
    if (!is_unaccepted(context, chunk)) {
        if (ahead_of(side, chunk->piece.at) <= 0)
            return false;
        give_up_hole(context);
        return true;
    }
    drop_chunk(context, &side->tcp->queue);
    return true;
}

/* Lets the first one go that waits for the other side. */
static bool force_first(const struct flow_context *context)
{
    const struct flow_side *side = context->side;

    if (side->tcp->queue == NULL)
        return false;
    if (flow_mpa_blocked(context->connection, context->index))
        flow_mpa_go_on(context->connection, context->index);
    if (flow_queue_ahead(context, side->tcp->queue->piece.received))
        give_up_order(context, side->tcp->queue->piece.received);
    deliver_first(context);
    return true;
}

void flow_tcp_flush(const struct flow_context *first)
{
    struct flow_context second = flow_context_other(first);

    /* One step by force, then all that follows from it without: that may deliver what waits. */
    do
        flow_queue_drain(first);
    while (force_hole(first) || force_hole(&second) || force_first(first) || force_first(&second));
    if (first->side->fin_known && !first->side->closed)
        end_stream(first);
    if (second.side->fin_known && !second.side->closed)
        end_stream(&second);
}
